//! How far two answers are apart.

use std::f64::consts::TAU;

use ssb_core::ndarray::Array2;
use ssb_core::num_complex::Complex64;

/// `|a - b| / |b|`, and 0 when both are 0.
#[must_use]
pub fn relative(a: f64, b: f64) -> f64 {
    if a == b { 0.0 } else { (a - b).abs() / b.abs() }
}

/// Differences of two phase images in radians modulo 2 pi, ascending; one infinity where shapes
/// differ, and NaN counts as infinite.
#[must_use]
pub fn phase_rad(a: &Array2<f64>, b: &Array2<f64>) -> Vec<f64> {
    if a.dim() != b.dim() {
        return vec![f64::INFINITY];
    }
    let mut apart: Vec<f64> = a
        .iter()
        .zip(b)
        .map(|(a, b)| {
            let turns = (a - b) / TAU;
            let apart_rad = ((turns - turns.round()) * TAU).abs();
            if apart_rad.is_nan() {
                f64::INFINITY
            } else {
                apart_rad
            }
        })
        .collect();
    apart.sort_by(f64::total_cmp);
    apart
}

/// The value that `share` of an ascending list stays within.
#[must_use]
pub fn within_share(ascending: &[f64], share: f64) -> f64 {
    let count = (share * ascending.len() as f64).ceil() as usize;
    ascending[count.max(1) - 1]
}

/// `|a - b| / |b|` in the L2 norm; infinite where shapes differ.
#[must_use]
pub fn relative_l2(a: &Array2<Complex64>, b: &Array2<Complex64>) -> f64 {
    if a.dim() != b.dim() {
        return f64::INFINITY;
    }
    let apart: f64 = a.iter().zip(b).map(|(a, b)| (a - b).norm_sqr()).sum();
    let size: f64 = b.iter().map(Complex64::norm_sqr).sum();
    (apart / size).sqrt()
}

/// Number of values that differ in any bit.
#[must_use]
pub fn differing<'a>(
    a: impl ExactSizeIterator<Item = &'a f64>,
    b: impl ExactSizeIterator<Item = &'a f64>,
) -> f64 {
    if a.len() != b.len() {
        return f64::INFINITY;
    }
    a.zip(b).filter(|(a, b)| a.to_bits() != b.to_bits()).count() as f64
}

/// Number of complex values that differ in any bit.
#[must_use]
pub fn differing_complex(a: &Array2<Complex64>, b: &Array2<Complex64>) -> f64 {
    let bits = |v: &Complex64| (v.re.to_bits(), v.im.to_bits());
    if a.dim() != b.dim() {
        return f64::INFINITY;
    }
    a.iter().zip(b).filter(|(a, b)| bits(a) != bits(b)).count() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_compared_modulo_a_turn() {
        let a = Array2::from_elem((1, 2), 3.0);
        let mut b = a.clone();
        b[(0, 0)] -= TAU;
        b[(0, 1)] += 1e-3;
        let apart = phase_rad(&a, &b);
        assert!(apart[0] < 1e-15 && (apart[1] - 1e-3).abs() < 1e-12);
        b[(0, 0)] = f64::NAN;
        assert_eq!(phase_rad(&a, &b)[1], f64::INFINITY);
        assert_eq!(phase_rad(&a, &Array2::zeros((2, 1))), [f64::INFINITY]);
    }

    #[test]
    fn a_share_of_a_small_image_is_all_of_it() {
        let values: Vec<f64> = (0..64).map(f64::from).collect();
        assert_eq!(within_share(&values, 0.999), 63.0);
        let values: Vec<f64> = (0..4000).map(f64::from).collect();
        assert_eq!(within_share(&values, 0.999), 3995.0);
    }
}
