//! Sine and cosine of a phase in turns: reduced in float64, evaluated in float32.
//!
//! The reduction to an eighth of a turn is exact, so a phase of thousands of radians keeps full
//! relative precision near the zeros of its sine. Minimax polynomials of degree 4 in the squared
//! argument, error below 5e-11 before rounding to float32.

const SIN: [f32; 5] = [
    std::f32::consts::TAU,
    -41.341_7,
    81.605_2,
    -76.697_87,
    41.472_95,
];
const COS: [f32; 5] = [1.0, -19.739_209, 64.939_32, -85.442_85, 59.220_41];

/// `(sin, cos)` of `2 pi turns`.
#[inline(always)]
pub fn sin_cos_turns(turns: f64) -> (f32, f32) {
    let quarters = (4.0 * turns).round_ties_even();
    let rest = (turns - 0.25 * quarters) as f32;
    // The quadrant in -2..=2, still as a float so that the loop vectorises.
    let quadrant = (quarters - 4.0 * (0.25 * quarters).round_ties_even()) as f32;
    let s = rest * rest;
    let sine = rest * (SIN[0] + s * (SIN[1] + s * (SIN[2] + s * (SIN[3] + s * SIN[4]))));
    let cosine = COS[0] + s * (COS[1] + s * (COS[2] + s * (COS[3] + s * COS[4])));
    let odd = quadrant.abs() == 1.0;
    let (a, b) = if odd { (cosine, sine) } else { (sine, cosine) };
    let half_turn = quadrant.abs() == 2.0;
    let sin = if half_turn || quadrant == -1.0 { -a } else { a };
    let cos = if half_turn || quadrant == 1.0 { -b } else { b };
    (sin, cos)
}

/// Fills `cos` and `sin` with those of the phases `turns(i)`.
#[inline(always)]
pub fn fill_cos_sin(cos: &mut [f32], sin: &mut [f32], turns: impl Fn(usize) -> f64) {
    for (i, (c, s)) in cos.iter_mut().zip(sin.iter_mut()).enumerate() {
        (*s, *c) = sin_cos_turns(turns(i));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn within_two_ulp_everywhere() {
        let two_ulp = 2.0 * f64::from(f32::EPSILON);
        for i in -40_000..40_000 {
            let turns = f64::from(i) * 0.013_7;
            let (sin, cos) = sin_cos_turns(turns);
            let (s, c) = (std::f64::consts::TAU * (turns - turns.round())).sin_cos();
            assert!(
                (f64::from(sin) - s).abs() <= two_ulp * s.abs().max(1e-3),
                "{turns}: {sin} {s}"
            );
            assert!(
                (f64::from(cos) - c).abs() <= two_ulp * c.abs().max(1e-3),
                "{turns}: {cos} {c}"
            );
        }
    }

    #[test]
    fn zeros_are_exact_and_their_neighbourhood_keeps_relative_precision() {
        for half_turns in -9..9 {
            let turns = f64::from(half_turns) / 2.0;
            assert_eq!(sin_cos_turns(turns).0, 0.0);
            let tiny = sin_cos_turns(turns + 1e-9).0.abs();
            assert!((tiny / 6.283_185e-9 - 1.0).abs() < 1e-6, "{tiny}");
        }
        assert_eq!(sin_cos_turns(0.25).1, 0.0);
    }
}
