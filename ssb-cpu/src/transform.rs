//! Transforms of the half spectrum: stored columns over `q_row`, then two scan rows at a time.
//!
//! Forward (preparing G): two real rows are packed into one complex line and separated by symmetry.
//! Inverse: the Hermitian spectra of two rows are packed into one complex line, whose real and
//! imaginary parts are the two real rows. Both take any length. Nothing is normalised.

use std::sync::Arc;

use rustfft::num_complex::Complex32;
use rustfft::{Fft, FftDirection, FftPlanner};

/// Row pairs unpacked together: eight rows of one column are one cache line.
const PAIRS: usize = 4;

/// Planned lines for one scan shape.
pub struct Transforms {
    rows: usize,
    cols: usize,
    column_forward: Arc<dyn Fft<f32>>,
    column_inverse: Arc<dyn Fft<f32>>,
    row_forward: Arc<dyn Fft<f32>>,
    row_inverse: Arc<dyn Fft<f32>>,
}

/// Scratch of one worker.
pub struct TransformScratch {
    fft: Vec<Complex32>,
    lines: Vec<Complex32>,
}

impl Transforms {
    /// Plans the lines of a `rows x cols` scan.
    pub fn new([rows, cols]: [usize; 2]) -> Self {
        let mut planner = FftPlanner::new();
        let mut plan = |n, direction| planner.plan_fft(n, direction);
        Self {
            rows,
            cols,
            column_forward: plan(rows, FftDirection::Forward),
            column_inverse: plan(rows, FftDirection::Inverse),
            row_forward: plan(cols, FftDirection::Forward),
            row_inverse: plan(cols, FftDirection::Inverse),
        }
    }

    /// Stored columns: `cols / 2 + 1`.
    pub fn half_cols(&self) -> usize {
        self.cols / 2 + 1
    }

    /// Scratch for one worker.
    pub fn scratch(&self) -> TransformScratch {
        let longest = [
            &self.column_forward,
            &self.column_inverse,
            &self.row_forward,
            &self.row_inverse,
        ]
        .map(|f| f.get_inplace_scratch_len())
        .into_iter()
        .max()
        .unwrap_or(0);
        TransformScratch {
            fft: vec![Complex32::default(); longest],
            lines: vec![Complex32::default(); PAIRS * self.cols],
        }
    }

    /// The half spectrum `[half_cols][rows]` of a real image `[rows][cols]`.
    pub fn forward(&self, image: &[f32], half: &mut [Complex32], scratch: &mut TransformScratch) {
        let (rows, cols) = (self.rows, self.cols);
        let line = &mut scratch.lines[..cols];
        for row in (0..rows).step_by(2) {
            let first = &image[row * cols..][..cols];
            let second = (row + 1 < rows).then(|| &image[(row + 1) * cols..][..cols]);
            for (col, z) in line.iter_mut().enumerate() {
                *z = Complex32::new(first[col], second.map_or(0.0, |s| s[col]));
            }
            self.row_forward
                .process_with_scratch(line, &mut scratch.fft);
            for col in 0..self.half_cols() {
                let (z, mirror) = (line[col], line[(cols - col) % cols].conj());
                half[col * rows + row] = (z + mirror) * 0.5;
                if row + 1 < rows {
                    // (z - mirror) / 2i
                    let d = (z - mirror) * 0.5;
                    half[col * rows + row + 1] = Complex32::new(d.im, -d.re);
                }
            }
        }
        self.column_forward
            .process_with_scratch(half, &mut scratch.fft);
    }

    /// Inverse transforms of the first stored columns, in place; `columns` is `[n][rows]`.
    pub fn columns_inverse(&self, columns: &mut [Complex32], scratch: &mut TransformScratch) {
        if !columns.is_empty() {
            self.column_inverse
                .process_with_scratch(columns, &mut scratch.fft);
        }
    }

    /// Inverse row transforms after [`Self::columns_inverse`]: `consume(row, line)` receives row `row`
    /// in the real and row `row + 1` in the imaginary part (absent after the last odd row). Columns
    /// from `occupied` on are taken as 0.
    #[inline(always)]
    pub fn rows_inverse(
        &self,
        columns: &[Complex32],
        occupied: usize,
        scratch: &mut TransformScratch,
        mut consume: impl FnMut(usize, &[Complex32]),
    ) {
        let (rows, cols) = (self.rows, self.cols);
        for start in (0..rows).step_by(2 * PAIRS) {
            let pairs = (rows - start).div_ceil(2).min(PAIRS);
            scratch.lines[..pairs * cols].fill(Complex32::default());
            for col in 0..occupied {
                let column = &columns[col * rows..][..rows];
                let mirror = (cols - col) % cols;
                for pair in 0..pairs {
                    let row = start + 2 * pair;
                    let a = column[row];
                    let b = if row + 1 < rows {
                        column[row + 1]
                    } else {
                        Complex32::default()
                    };
                    let line = &mut scratch.lines[pair * cols..][..cols];
                    if mirror == col {
                        line[col] = Complex32::new(a.re, b.re);
                    } else {
                        line[col] = Complex32::new(a.re - b.im, a.im + b.re);
                        line[mirror] = Complex32::new(a.re + b.im, b.re - a.im);
                    }
                }
            }
            // col = 0 and, for an even length, the Nyquist column mirror onto themselves.
            self.row_inverse
                .process_with_scratch(&mut scratch.lines[..pairs * cols], &mut scratch.fft);
            for pair in 0..pairs {
                consume(start + 2 * pair, &scratch.lines[pair * cols..][..cols]);
            }
        }
    }

    /// The real part of the inverse transform of a Hermitian line of either length.
    pub fn line_inverse(&self, line: &mut [Complex32], scratch: &mut TransformScratch) {
        let plan = if line.len() == self.rows {
            &self.column_inverse
        } else {
            &self.row_inverse
        };
        plan.process_with_scratch(line, &mut scratch.fft);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Naive real-to-complex transform, `[col][row]`.
    fn naive(image: &[f32], rows: usize, cols: usize, qr: usize, qc: usize) -> [f64; 2] {
        let mut sum = [0.0; 2];
        for r in 0..rows {
            for c in 0..cols {
                let turns = (qr * r) as f64 / rows as f64 + (qc * c) as f64 / cols as f64;
                let (sin, cos) = (-std::f64::consts::TAU * turns.fract()).sin_cos();
                let v = f64::from(image[r * cols + c]);
                sum[0] += v * cos;
                sum[1] += v * sin;
            }
        }
        sum
    }

    #[test]
    fn forward_equals_the_naive_transform_and_inverse_returns() {
        for (rows, cols) in [(8, 8), (9, 8), (8, 9), (11, 13), (12, 10), (18, 16)] {
            let image: Vec<f32> = (0..rows * cols)
                .map(|i| ((i * 7919) % 101) as f32 / 101.0 - 0.4)
                .collect();
            let t = Transforms::new([rows, cols]);
            let mut scratch = t.scratch();
            let mut half = vec![Complex32::default(); rows * t.half_cols()];
            t.forward(&image, &mut half, &mut scratch);
            for qc in 0..t.half_cols() {
                for qr in 0..rows {
                    let z = half[qc * rows + qr];
                    let [re, im] = naive(&image, rows, cols, qr, qc);
                    assert!(
                        (f64::from(z.re) - re).abs() < 2e-5,
                        "{rows}x{cols} {qr} {qc}"
                    );
                    assert!(
                        (f64::from(z.im) - im).abs() < 2e-5,
                        "{rows}x{cols} {qr} {qc}"
                    );
                }
            }
            t.columns_inverse(&mut half, &mut scratch);
            let mut seen = 0;
            let scale = 1.0 / (rows * cols) as f32;
            t.rows_inverse(&half, t.half_cols(), &mut scratch, |row, line| {
                for (c, z) in line.iter().enumerate() {
                    assert!((z.re * scale - image[row * cols + c]).abs() < 1e-6);
                    seen += 1;
                    if row + 1 < rows {
                        assert!((z.im * scale - image[(row + 1) * cols + c]).abs() < 1e-6);
                        seen += 1;
                    }
                }
            });
            assert_eq!(seen, rows * cols);
        }
    }
}
