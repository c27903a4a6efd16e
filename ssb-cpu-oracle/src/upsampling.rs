//! Finer sampling of the object, numerics section 5: zero-padding of the full spectrum in which each
//! Nyquist line of an even axis is split in halves between `+N/2` and `-N/2` (the corner in
//! quarters), scaled by `u^2`.

use ssb_core::num_complex::Complex64;

/// Where the frequency index `i` of `n` goes among `n * u`, with its weights.
fn places(i: usize, n: usize, u: usize) -> Vec<(usize, f64)> {
    if u > 1 && 2 * i == n {
        vec![(i, 0.5), (n * u - i, 0.5)]
    } else if 2 * i < n {
        vec![(i, 1.0)]
    } else {
        vec![(n * u - (n - i), 1.0)]
    }
}

/// Pads a spectrum of `shape` to `u` times as many points on both axes, times `u^2`, so that every
/// `u`-th sample of its inverse transform equals the native one.
#[must_use]
pub fn padded_spectrum(spectrum: &[Complex64], shape: [usize; 2], u: usize) -> Vec<Complex64> {
    let [rows, cols] = shape;
    let mut padded = vec![Complex64::default(); rows * cols * u * u];
    let scale = (u * u) as f64;
    for (i, value) in spectrum.iter().enumerate() {
        for (row, row_weight) in places(i / cols, rows, u) {
            for (col, col_weight) in places(i % cols, cols, u) {
                padded[row * cols * u + col] += value * (row_weight * col_weight * scale);
            }
        }
    }
    padded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Transform;
    use ssb_core::UPSAMPLINGS;

    #[test]
    fn every_uth_sample_is_the_native_one_and_real_images_stay_real() {
        for shape in [[2, 2], [4, 6], [5, 6], [8, 7], [9, 3]] {
            let image: Vec<Complex64> = (0..shape[0] * shape[1])
                .map(|i| Complex64::new((i as f64 * 2.3).sin(), 0.0))
                .collect();
            let mut spectrum = image.clone();
            Transform::new(shape).forward(&mut spectrum);
            for u in UPSAMPLINGS {
                let mut fine = padded_spectrum(&spectrum, shape, u);
                Transform::new(shape.map(|n| n * u)).inverse(&mut fine);
                assert!(fine.iter().all(|v| v.im.abs() < 1e-12), "{shape:?} x{u}");
                for (i, native) in image.iter().enumerate() {
                    let (r, c) = (i / shape[1], i % shape[1]);
                    let there = fine[r * u * shape[1] * u + c * u];
                    assert!((there - native).norm() < 1e-12, "{shape:?} x{u}");
                }
            }
        }
    }
}
