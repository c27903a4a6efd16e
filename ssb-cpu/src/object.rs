//! The complex object: the mean of `C_b` first, then one inverse transform (numerics section 5).

use ndarray::Array2;
use num_complex::Complex64;
use rustfft::{FftDirection, FftPlanner};
use ssb_core::{Candidate, Control, Error, check_upsampling};

use crate::candidate_tables::Lattice;
use crate::evaluator::CpuEvaluator;
use crate::lanes::{self, LaneWork};
use crate::pixel::{Line, Pixel, PixelScratch};

/// One lane of `sum_b S_b` over the half plane `[half_cols][rows]` and the Nyquist row.
struct SpectrumLane {
    scratch: PixelScratch,
    rows: usize,
    /// Short sums, real and imaginary.
    short_plane: [Vec<f32>; 2],
    short_row: [Vec<f32>; 2],
    plane: Vec<Complex64>,
    row: Vec<Complex64>,
}

impl SpectrumLane {
    fn new(lattice: &Lattice) -> Self {
        let (cells, cols) = (lattice.rows * lattice.half_cols, lattice.cols);
        Self {
            scratch: PixelScratch::new(lattice),
            rows: lattice.rows,
            short_plane: [vec![0.0; cells], vec![0.0; cells]],
            short_row: [vec![0.0; cols], vec![0.0; cols]],
            plane: vec![Complex64::default(); cells],
            row: vec![Complex64::default(); cols],
        }
    }
}

impl LaneWork for SpectrumLane {
    type Sums = [Vec<Complex64>; 2];

    fn add(&mut self, pixel: &Pixel<'_>) {
        pulp::Arch::new().dispatch(AddSpectrum { lane: self, pixel });
    }

    fn flush(&mut self) {
        let plane = (&mut self.short_plane, &mut self.plane);
        let row = (&mut self.short_row, &mut self.row);
        for ([re, im], long) in [plane, row] {
            for (z, (re, im)) in long.iter_mut().zip(re.iter_mut().zip(im)) {
                *z += Complex64::new(f64::from(*re), f64::from(*im));
                (*re, *im) = (0.0, 0.0);
            }
        }
    }

    fn finish(self) -> Self::Sums {
        [self.plane, self.row]
    }
}

/// Adds one pixel's `S` to the sums, compiled for the widest vectors found at run time.
struct AddSpectrum<'a> {
    lane: &'a mut SpectrumLane,
    pixel: &'a Pixel<'a>,
}

impl pulp::WithSimd for AddSpectrum<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Self { lane, pixel } = self;
        let SpectrumLane {
            scratch,
            rows,
            short_plane,
            short_row,
            ..
        } = lane;
        pixel.fill_axes(scratch);
        pixel.correct::<true>(
            scratch,
            f64::INFINITY,
            #[inline(always)]
            |stretch| {
                let (sums, start) = match stretch.line {
                    Line::Column(col) => (&mut *short_plane, col * *rows + stretch.start),
                    Line::NyquistRow(_) => (&mut *short_row, stretch.start),
                };
                for (sum, s) in sums.iter_mut().zip(stretch.s) {
                    for (sum, s) in sum[start..].iter_mut().zip(s) {
                        *sum += s;
                    }
                }
            },
        );
    }
}

impl CpuEvaluator {
    pub(crate) fn fourier_sum(
        &mut self,
        candidate: &Candidate,
        upsample: usize,
        control: &Control,
    ) -> Result<Array2<Complex64>, Error> {
        check_upsampling(upsample)?;
        self.turn_to(candidate);
        let tables = self.tables(candidate);
        let lanes = self.over_lanes(&tables, control, || SpectrumLane::new(&self.lattice))?;
        let mut plane = vec![Complex64::default(); self.lattice.rows * self.lattice.half_cols];
        let mut row = vec![Complex64::default(); self.lattice.cols];
        for [lane_plane, lane_row] in lanes {
            lanes::add_to(&mut plane, lane_plane);
            lanes::add_to(&mut row, lane_row);
        }
        let spectrum = self.full_spectrum(&plane, &row);
        Ok(inverse(&padded(&spectrum, upsample), upsample))
    }

    /// The whole plane of `mean_b C_b`, DC included: `C = i S`, and `C(-q) = -conj C(q)` away from the
    /// Nyquist lines, which are stored whole.
    fn full_spectrum(&self, plane: &[Complex64], row: &[Complex64]) -> Array2<Complex64> {
        let (rows, cols) = (self.lattice.rows, self.lattice.cols);
        // Back to counts: G is stored in units of the DC value.
        let scale = Complex64::i() * self.info.dc / self.info.bf_pixels as f64;
        let half = |r: usize, c: usize| scale * plane[c * rows + r];
        let mut full = Array2::from_shape_fn((rows, cols), |(r, c)| {
            if self.lattice.nyquist_row() == Some(r) {
                scale * row[c]
            } else if c < self.lattice.half_cols {
                half(r, c)
            } else {
                -half((rows - r) % rows, cols - c).conj()
            }
        });
        full[(0, 0)] = Complex64::new(self.info.dc, 0.0);
        full
    }
}

/// Pads the spectrum to `upsample` times its size; a Nyquist line is split in halves between its two
/// signs. Scaled so that every `upsample`-th sample of the inverse equals the native one.
fn padded(spectrum: &Array2<Complex64>, upsample: usize) -> Array2<Complex64> {
    if upsample == 1 {
        return spectrum.clone();
    }
    let (rows, cols) = spectrum.dim();
    let mut out = Array2::zeros((rows * upsample, cols * upsample));
    for ((r, c), z) in spectrum.indexed_iter() {
        let (to_rows, to_cols) = (places(r, rows, upsample), places(c, cols, upsample));
        let share = 1.0 / (to_rows.len() * to_cols.len()) as f64;
        for &to_row in &to_rows {
            for &to_col in &to_cols {
                out[(to_row, to_col)] = *z * share;
            }
        }
    }
    out
}

/// Where index `i` of an axis of `n` goes on the finer axis.
fn places(i: usize, n: usize, upsample: usize) -> Vec<usize> {
    let negative = i + n * (upsample - 1);
    if n.is_multiple_of(2) && i == n / 2 {
        vec![i, negative]
    } else if i < n.div_ceil(2) {
        vec![i]
    } else {
        vec![negative]
    }
}

/// The inverse transform with 1/N of the native grid.
fn inverse(spectrum: &Array2<Complex64>, upsample: usize) -> Array2<Complex64> {
    let (rows, cols) = spectrum.dim();
    let native = (rows * cols / (upsample * upsample)) as f64;
    let mut planner = FftPlanner::new();
    let by_rows = planner.plan_fft(cols, FftDirection::Inverse);
    let by_cols = planner.plan_fft(rows, FftDirection::Inverse);
    let mut image: Vec<Complex64> = spectrum.iter().copied().collect();
    by_rows.process(&mut image);
    let mut column = vec![Complex64::default(); rows];
    for c in 0..cols {
        for (r, z) in column.iter_mut().enumerate() {
            *z = image[r * cols + c];
        }
        by_cols.process(&mut column);
        for (r, z) in column.iter().enumerate() {
            image[r * cols + c] = *z / native;
        }
    }
    Array2::from_shape_fn((rows, cols), |(r, c)| image[r * cols + c])
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssb_core::UPSAMPLINGS;

    #[test]
    fn native_samples_are_kept_by_every_upsampling() {
        for (rows, cols) in [(8, 9), (9, 8), (8, 8), (9, 11)] {
            let spectrum = Array2::from_shape_fn((rows, cols), |(r, c)| {
                Complex64::new(
                    ((r * 31 + c * 17) % 13) as f64 - 6.0,
                    ((r * 7 + c * 5) % 11) as f64,
                )
            });
            let native = inverse(&spectrum, 1);
            for u in UPSAMPLINGS {
                let fine = inverse(&padded(&spectrum, u), u);
                for ((r, c), z) in native.indexed_iter() {
                    assert!(
                        (fine[(r * u, c * u)] - z).norm() < 1e-10,
                        "{rows}x{cols} x{u}"
                    );
                }
            }
        }
    }
}
