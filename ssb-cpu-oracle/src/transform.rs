//! The two-dimensional discrete Fourier transforms over the scan, numerics section 1:
//! `G_b = FFT2 I(R, k_b)` unnormalised, and `O_b = IFFT2 C_b` with `1/N`.

use std::fmt;
use std::sync::Arc;

use ssb_core::num_complex::Complex64;

use rustfft::{Fft, FftDirection, FftPlanner};

/// Transforms of one shape, any lengths, row-major.
pub struct Transform {
    shape: [usize; 2],
    forward: [Arc<dyn Fft<f64>>; 2],
    inverse: [Arc<dyn Fft<f64>>; 2],
}

impl fmt::Debug for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transform")
            .field("shape", &self.shape)
            .finish_non_exhaustive()
    }
}

impl Transform {
    /// Plans transforms over `(rows, cols)` points.
    #[must_use]
    pub fn new(shape: [usize; 2]) -> Self {
        let mut planner = FftPlanner::new();
        let mut along = |direction| shape.map(|n| planner.plan_fft(n, direction));
        Self {
            shape,
            forward: along(FftDirection::Forward),
            inverse: along(FftDirection::Inverse),
        }
    }

    /// `X(q) = sum_R x(R) exp(-2 pi i q.R)`, unnormalised, in place.
    pub fn forward(&self, data: &mut [Complex64]) {
        self.both_axes(data, &self.forward);
    }

    /// `x(R) = (1/N) sum_q X(q) exp(2 pi i q.R)`, in place.
    pub fn inverse(&self, data: &mut [Complex64]) {
        self.both_axes(data, &self.inverse);
        let points = data.len() as f64;
        for value in data {
            *value /= points;
        }
    }

    fn both_axes(&self, data: &mut [Complex64], along: &[Arc<dyn Fft<f64>>; 2]) {
        let [rows, cols] = self.shape;
        for row in data.chunks_exact_mut(cols) {
            along[1].process(row);
        }
        let mut column = vec![Complex64::default(); rows];
        for c in 0..cols {
            for (r, value) in column.iter_mut().enumerate() {
                *value = data[r * cols + c];
            }
            along[0].process(&mut column);
            for (r, value) in column.iter().enumerate() {
                data[r * cols + c] = *value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    fn naive(data: &[Complex64], [rows, cols]: [usize; 2], sign: f64) -> Vec<Complex64> {
        let mut out = vec![Complex64::default(); rows * cols];
        for (i, value) in out.iter_mut().enumerate() {
            let (qr, qc) = (i / cols, i % cols);
            for (j, x) in data.iter().enumerate() {
                let (r, c) = (j / cols, j % cols);
                let turns =
                    (qr * r % rows) as f64 / rows as f64 + (qc * c % cols) as f64 / cols as f64;
                *value += x * Complex64::from_polar(1.0, sign * TAU * turns);
            }
        }
        out
    }

    #[test]
    fn both_directions_equal_the_naive_sums() {
        for shape in [[2, 2], [3, 2], [2, 7], [8, 6], [9, 7], [13, 17], [11, 1]] {
            let data: Vec<Complex64> = (0..shape[0] * shape[1])
                .map(|i| {
                    let x = i as f64;
                    Complex64::new((x * 1.7).sin() + 0.3, (x * x * 0.9).cos())
                })
                .collect();
            let transform = Transform::new(shape);
            let mut spectrum = data.clone();
            transform.forward(&mut spectrum);
            for (a, b) in spectrum.iter().zip(naive(&data, shape, -1.0)) {
                assert!((a - b).norm() < 1e-11, "{shape:?}");
            }
            let mut image = data.clone();
            transform.inverse(&mut image);
            let points = data.len() as f64;
            for (a, b) in image.iter().zip(naive(&data, shape, 1.0)) {
                assert!((a - b / points).norm() < 1e-12, "{shape:?}");
            }
        }
    }
}
