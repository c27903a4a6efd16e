//! The phase of `O_b` and its moments over the BF pixels (numerics sections 1 and 2).

use rustfft::num_complex::Complex32;

/// Columns handled together; partial sums of squares are kept per column of the group.
const GROUP: usize = 16;

/// atan(t) / t over t^2 in [0, 1], minimax of degree 10, error 4e-10 before rounding.
const ATAN: [f32; 11] = [
    1.0,
    -0.333_333_25,
    0.199_996_31,
    -0.142_794_93,
    0.110_566_75,
    -0.088_069_074,
    0.067_346_34,
    -0.044_618_545,
    0.022_496_583,
    -0.007_304_101,
    0.001_112_078_7,
];

/// `atan2(y, x)` within 2 ulp; 0 where both are 0.
#[inline(always)]
pub fn atan2(y: f32, x: f32) -> f32 {
    let (ay, ax) = (y.abs(), x.abs());
    let (small, large) = if ay > ax { (ax, ay) } else { (ay, ax) };
    let t = small
        / if large > f32::MIN_POSITIVE {
            large
        } else {
            f32::MIN_POSITIVE
        };
    let s = t * t;
    let mut p = ATAN[10];
    for c in ATAN[..10].iter().rev() {
        p = p * s + c;
    }
    let first = p * t;
    let octant = if ay > ax {
        std::f32::consts::FRAC_PI_2 - first
    } else {
        first
    };
    let half = if x < 0.0 {
        std::f32::consts::PI - octant
    } else {
        octant
    };
    half.copysign(y)
}

/// One scan row's share of the real part of `O_b`: `dc + alt_row h_row(col) + alt_col h_col`.
#[derive(Clone, Copy)]
pub struct RealPart<'a> {
    /// `dc +- h_row(col)` for this row's parity.
    pub base: &'a [f32],
    /// `h_col(row)`, which enters with the sign of the column's parity.
    pub col_term: f32,
}

impl RealPart<'_> {
    #[inline(always)]
    fn at(&self, col: usize) -> f32 {
        let sign = if col.is_multiple_of(2) {
            self.col_term
        } else {
            -self.col_term
        };
        self.base[col] + sign
    }
}

/// Adds the phases of two scan rows, `s` in the real and imaginary parts of `line`, to `sums` and
/// returns the sum of their squares. `rows[1]` is absent for the last row of an odd scan.
#[inline(always)]
pub fn accumulate(
    line: &[Complex32],
    real: [RealPart<'_>; 2],
    first: &mut [f32],
    second: Option<&mut [f32]>,
) -> f64 {
    let mut squares = [0.0_f32; GROUP];
    accumulate_row(line, |z| z.re, real[0], first, &mut squares);
    if let Some(second) = second {
        accumulate_row(line, |z| z.im, real[1], second, &mut squares);
    }
    squares.iter().map(|v| f64::from(*v)).sum()
}

#[inline(always)]
fn accumulate_row(
    line: &[Complex32],
    part: impl Fn(&Complex32) -> f32,
    real: RealPart<'_>,
    sums: &mut [f32],
    squares: &mut [f32; GROUP],
) {
    let n = line.len();
    let base = &real.base[..n];
    let sums = &mut sums[..n];
    let whole = n - n % GROUP;
    for start in (0..whole).step_by(GROUP) {
        let line = &line[start..start + GROUP];
        let base = &base[start..start + GROUP];
        let sums = &mut sums[start..start + GROUP];
        // Local arrays cannot overlap, which lets every loop below become a few wide instructions.
        let (mut y, mut x, mut phase) = ([0.0_f32; GROUP], [0.0_f32; GROUP], [0.0_f32; GROUP]);
        for i in 0..GROUP {
            y[i] = part(&line[i]);
            x[i] = base[i]
                + if i.is_multiple_of(2) {
                    real.col_term
                } else {
                    -real.col_term
                };
        }
        for i in 0..GROUP {
            phase[i] = atan2(y[i], x[i]);
        }
        for i in 0..GROUP {
            sums[i] += phase[i];
            squares[i] += phase[i] * phase[i];
        }
    }
    for col in whole..n {
        let phase = atan2(part(&line[col]), real.at(col));
        sums[col] += phase;
        squares[col % GROUP] += phase * phase;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atan2_is_within_two_ulp_in_every_octant() {
        for i in 0..200_000 {
            let angle = std::f64::consts::TAU * (f64::from(i) / 200_000.0 - 0.5) * 0.999_999;
            let radius = f64::from(i % 17 + 1) * 37.5;
            let (y, x) = ((radius * angle.sin()) as f32, (radius * angle.cos()) as f32);
            let exact = f64::from(y).atan2(f64::from(x));
            let ulp = f64::from(f32::EPSILON) * exact.abs();
            let got = f64::from(atan2(y, x));
            assert!((got - exact).abs() <= 2.0 * ulp, "{y} {x}: {got} {exact}");
        }
        assert_eq!(atan2(0.0, 0.0), 0.0);
        assert_eq!(atan2(0.0, 3.0), 0.0);
        assert!((atan2(0.0, -3.0) - std::f32::consts::PI).abs() < 1e-6);
    }

    #[test]
    fn moments_of_rows_that_are_no_multiple_of_the_group() {
        for n in [8, 16, 17, 31, 40] {
            let line: Vec<Complex32> = (0..n)
                .map(|c| Complex32::new(c as f32 - 5.0, 2.0 * c as f32))
                .collect();
            let base: Vec<f32> = (0..n).map(|c| 20.0 + c as f32).collect();
            let real = RealPart {
                base: &base,
                col_term: 1.5,
            };
            let (mut a, mut b) = (vec![0.0; n], vec![0.0; n]);
            let squares = accumulate(&line, [real, real], &mut a, Some(&mut b));
            let mut expected = 0.0;
            for c in 0..n {
                let x = 20.0 + c as f64 + if c % 2 == 0 { 1.5 } else { -1.5 };
                let (p, q) = ((c as f64 - 5.0).atan2(x), (2.0 * c as f64).atan2(x));
                expected += p * p + q * q;
                assert!((f64::from(a[c]) - p).abs() < 1e-6 && (f64::from(b[c]) - q).abs() < 1e-6);
            }
            assert!((squares / expected - 1.0).abs() < 1e-6);
        }
    }
}
