//! Two-dimensional Fourier transforms of periodic fields.

use std::sync::Arc;

use ndarray::Array2;
use rustfft::{Fft, FftDirection, FftPlanner};
use ssb_core::ndarray;
use ssb_core::num_complex::Complex64;

/// An unnormalised transform over rows and columns.
pub(super) struct Transform {
    shape: [usize; 2],
    along_row: Arc<dyn Fft<f64>>,
    along_col: Arc<dyn Fft<f64>>,
}

/// Memory of a [`Transform`], one a thread.
pub(super) struct Scratch {
    turned: Vec<Complex64>,
    scratch: Vec<Complex64>,
}

impl Transform {
    pub(super) fn new(shape: [usize; 2], direction: FftDirection) -> Self {
        let mut planner = FftPlanner::new();
        Self {
            shape,
            along_row: planner.plan_fft(shape[1], direction),
            along_col: planner.plan_fft(shape[0], direction),
        }
    }

    pub(super) fn scratch(&self) -> Scratch {
        let zero = Complex64::default();
        let length = self
            .along_row
            .get_inplace_scratch_len()
            .max(self.along_col.get_inplace_scratch_len());
        Scratch {
            turned: vec![zero; self.shape[0] * self.shape[1]],
            scratch: vec![zero; length],
        }
    }

    /// Transforms `field` (row-major) in place.
    pub(super) fn run(&self, field: &mut [Complex64], memory: &mut Scratch) {
        let [rows, cols] = self.shape;
        let Scratch { turned, scratch } = memory;
        self.along_row.process_with_scratch(field, scratch);
        turn(field, turned, rows, cols);
        self.along_col.process_with_scratch(turned, scratch);
        turn(turned, field, cols, rows);
    }
}

/// Transposes `rows x cols` in tiles that stay in cache.
fn turn(from: &[Complex64], to: &mut [Complex64], rows: usize, cols: usize) {
    const TILE: usize = 16;
    for r0 in (0..rows).step_by(TILE) {
        for c0 in (0..cols).step_by(TILE) {
            for r in r0..(r0 + TILE).min(rows) {
                for c in c0..(c0 + TILE).min(cols) {
                    to[c * rows + r] = from[r * cols + c];
                }
            }
        }
    }
}

/// Fourier coefficients `1/N sum f(r) exp(-2 pi i g.r)` of a periodic field.
pub(super) fn coefficients(field: &Array2<Complex64>) -> Array2<Complex64> {
    let (rows, cols) = field.dim();
    let transform = Transform::new([rows, cols], FftDirection::Forward);
    let mut values: Vec<Complex64> = field.iter().copied().collect();
    transform.run(&mut values, &mut transform.scratch());
    let norm = 1.0 / values.len() as f64;
    let mut values = values.into_iter();
    Array2::from_shape_simple_fn((rows, cols), || values.next().unwrap_or_default() * norm)
}

/// The signed frequency of transform index `i` of `n`, in periods.
pub(super) fn signed(i: usize, n: usize) -> i64 {
    if i < n.div_ceil(2) {
        i as i64
    } else {
        i as i64 - n as i64
    }
}

/// A real periodic field on another grid over the same period, by its Fourier series.
///
/// A Nyquist line of an even axis counts half at either sign, which leaves the field real. Exact
/// subsampling where the new grid is a subset of the old one.
pub(super) fn resample(field: &Array2<f64>, shape: [usize; 2]) -> Array2<f64> {
    let (rows, cols) = field.dim();
    if [rows, cols] == shape {
        return field.clone();
    }
    let spectrum = coefficients(&field.mapv(Complex64::from));
    let mut values = vec![Complex64::default(); shape[0] * shape[1]];
    for ((i, j), value) in spectrum.indexed_iter() {
        for (g_row, row_share) in split(i, rows) {
            for (g_col, col_share) in split(j, cols) {
                let r = g_row.rem_euclid(shape[0] as i64) as usize;
                let c = g_col.rem_euclid(shape[1] as i64) as usize;
                values[r * shape[1] + c] += value * row_share * col_share;
            }
        }
    }
    let transform = Transform::new(shape, FftDirection::Inverse);
    transform.run(&mut values, &mut transform.scratch());
    let mut values = values.into_iter();
    Array2::from_shape_simple_fn(shape, || values.next().unwrap_or_default().re)
}

/// The frequencies, with their shares, that transform index `i` of `n` stands for.
fn split(i: usize, n: usize) -> Vec<(i64, f64)> {
    let g = signed(i, n);
    if n.is_multiple_of(2) && i == n / 2 {
        vec![(g, 0.5), (-g, 0.5)]
    } else {
        vec![(g, 1.0)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_are_those_of_the_definition() {
        let field = Array2::from_shape_fn((6, 5), |(r, c)| {
            Complex64::new((r * 3 + c) as f64, (c * c) as f64 - r as f64)
        });
        let got = coefficients(&field);
        for ((i, j), value) in got.indexed_iter() {
            let want: Complex64 = field
                .indexed_iter()
                .map(|((r, c), f)| {
                    let turns = (i * r) as f64 / 6.0 + (j * c) as f64 / 5.0;
                    f * Complex64::cis(-std::f64::consts::TAU * turns)
                })
                .sum();
            assert!((value - want / 30.0).norm() < 1e-12);
        }
    }

    #[test]
    fn resampling_interpolates() {
        let wave = |r: f64, c: f64| {
            (std::f64::consts::TAU * (2.0 * r - c)).cos() + (std::f64::consts::TAU * 3.0 * c).sin()
        };
        let on = |shape: [usize; 2]| {
            Array2::from_shape_fn(shape, |(r, c)| {
                wave(r as f64 / shape[0] as f64, c as f64 / shape[1] as f64)
            })
        };
        for (from, to) in [([16, 14], [8, 7]), ([9, 10], [24, 21]), ([9, 8], [9, 11])] {
            let got = resample(&on(from), to);
            assert!((got - on(to)).iter().all(|d| d.abs() < 1e-12), "{from:?}");
        }
    }
}
