//! The complex object from the summed half plane: one inverse transform (numerics sections 2 and 5).

use ndarray::Array2;
use num_complex::Complex64;
use rustfft::{FftDirection, FftPlanner};

use crate::{Error, check_upsampling};

/// Columns that stay in cache while they are transformed and turned into rows.
const BLOCK: usize = 16;

/// `mean_b O_b` in counts, sampled `upsample` times finer on both axes.
///
/// # Shape
/// `scan_shape` is (rows, cols), the object that times `upsample`. `plane` is `sum_b S_b` with
/// `S_b = -i C_b` over the half plane, `[cols / 2 + 1][rows]` in transform order; `nyquist_row` is the same
/// sum over the Nyquist row of an even number of rows, all `cols` of it, and stands in place of the
/// plane's own (for an odd number it is not read).
///
/// # Units
/// The sums are in units of `dc`, the DC value in counts. The mean of the object is `dc / N`.
///
/// # Errors
/// [`Error::BadValue`] unless `upsample` is 1, 2, 3, 4 or 8; [`Error::Internal`] for sums of another
/// length.
///
/// ```
/// use ssb_core::num_complex::Complex64;
/// // Nothing but DC: the object is flat.
/// let none = vec![Complex64::default(); 3 * 4];
/// let object = ssb_core::object_image([4, 4], &none, &none[..4], 32.0, 1, 2)?;
/// assert_eq!(object.dim(), (8, 8));
/// assert!(object.iter().all(|z| (z - 2.0).norm() < 1e-12));
/// # Ok::<(), ssb_core::Error>(())
/// ```
pub fn object_image(
    scan_shape: [usize; 2],
    plane: &[Complex64],
    nyquist_row: &[Complex64],
    dc: f64,
    bf_pixels: usize,
    upsample: usize,
) -> Result<Array2<Complex64>, Error> {
    check_upsampling(upsample)?;
    let [rows, cols] = scan_shape;
    let row_is_even = rows.is_multiple_of(2);
    if plane.len() != rows * (cols / 2 + 1) || (row_is_even && nyquist_row.len() != cols) {
        return Err(Error::Internal(format!(
            "sums of {} and {} scan frequencies for the object of a {rows} x {cols} scan",
            plane.len(),
            nyquist_row.len()
        )));
    }
    let sums = Sums {
        scan_shape,
        plane,
        nyquist_row: row_is_even.then_some(nyquist_row),
        // C = i S, in counts, the mean over b, with the 1/N of the native grid.
        scale: Complex64::i() * dc / (bf_pixels as f64 * (rows * cols) as f64),
        mean: Complex64::from(dc / (rows * cols) as f64),
    };
    let fine = [rows * upsample, cols * upsample];
    let mut image = vec![Complex64::default(); fine[0] * fine[1]];
    let mut planner = FftPlanner::new();
    let along_cols = planner.plan_fft(fine[0], FftDirection::Inverse);
    // The native columns are all that hold anything: a few at a time, turned into rows while in cache.
    let mut block = vec![Complex64::default(); BLOCK * fine[0]];
    for first in (0..cols).step_by(BLOCK) {
        let count = BLOCK.min(cols - first);
        let columns = &mut block[..count * fine[0]];
        for (i, column) in columns.chunks_exact_mut(fine[0]).enumerate() {
            sums.fill_column(first + i, column);
        }
        along_cols.process(columns);
        for (row, line) in image.chunks_exact_mut(fine[1]).enumerate() {
            for i in 0..count {
                line[place(first + i, cols, fine[1])] = columns[i * fine[0] + row];
            }
        }
    }
    for line in image.chunks_exact_mut(fine[1]) {
        split_nyquist(cols, line);
    }
    planner
        .plan_fft(fine[1], FftDirection::Inverse)
        .process(&mut image);
    Array2::from_shape_vec((fine[0], fine[1]), image)
        .map_err(|e| Error::Internal(format!("the object's image: {e}")))
}

/// The sums over b of one object.
struct Sums<'a> {
    scan_shape: [usize; 2],
    plane: &'a [Complex64],
    nyquist_row: Option<&'a [Complex64]>,
    scale: Complex64,
    mean: Complex64,
}

impl Sums<'_> {
    /// One column of `scale * C`, zero-padded to the length of `column`: `C(-q) = -conj C(q)` away from
    /// the Nyquist lines, which are stored whole.
    fn fill_column(&self, col: usize, column: &mut [Complex64]) {
        let [rows, cols] = self.scan_shape;
        let stored = |col: usize| &self.plane[col * rows..][..rows];
        let fine_rows = column.len();
        column.fill(Complex64::default());
        if col <= cols / 2 {
            for (row, z) in stored(col).iter().enumerate() {
                column[place(row, rows, fine_rows)] = self.scale * z;
            }
        } else {
            for (row, z) in stored(cols - col).iter().enumerate() {
                let mirror = if row == 0 { 0 } else { rows - row };
                column[place(mirror, rows, fine_rows)] = -(self.scale * z).conj();
            }
        }
        if let Some(line) = self.nyquist_row {
            column[place(rows / 2, rows, fine_rows)] = self.scale * line[col];
        }
        if col == 0 {
            column[0] = self.mean;
        }
        split_nyquist(rows, column);
    }
}

/// Where index `i` of an axis of `n` goes on one of `fine` points.
fn place(i: usize, n: usize, fine: usize) -> usize {
    if i < n.div_ceil(2) { i } else { i + fine - n }
}

/// Splits the Nyquist value of an even axis of `n` in halves between its two signs, so that every sample of
/// the native grid stays what it was.
fn split_nyquist(n: usize, fine: &mut [Complex64]) {
    if n.is_multiple_of(2) && fine.len() > n {
        let negative = fine.len() - n / 2;
        fine[negative] *= 0.5;
        fine[n / 2] = fine[negative];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::UPSAMPLINGS;

    fn value(r: usize, c: usize) -> Complex64 {
        let re = ((r * 31 + c * 17) % 13) as f64 - 6.0;
        Complex64::new(re, ((r * 7 + c * 5) % 11) as f64)
    }

    /// The definition: full plane of C, then the sum of waves.
    fn literal(
        [rows, cols]: [usize; 2],
        plane: &[Complex64],
        line: &[Complex64],
    ) -> Array2<Complex64> {
        let c_at = |r: usize, c: usize| {
            if (r, c) == (0, 0) {
                Complex64::from(50.0)
            } else if 2 * r == rows {
                Complex64::i() * 50.0 / 4.0 * line[c]
            } else if c <= cols / 2 {
                Complex64::i() * 50.0 / 4.0 * plane[c * rows + r]
            } else {
                -(Complex64::i() * 50.0 / 4.0 * plane[(cols - c) * rows + (rows - r) % rows]).conj()
            }
        };
        Array2::from_shape_fn((rows, cols), |(y, x)| {
            let mut sum = Complex64::default();
            for r in 0..rows {
                for c in 0..cols {
                    let turns = (r * y) as f64 / rows as f64 + (c * x) as f64 / cols as f64;
                    sum += c_at(r, c) * Complex64::cis(std::f64::consts::TAU * turns);
                }
            }
            sum / (rows * cols) as f64
        })
    }

    #[test]
    fn the_object_is_the_sum_of_waves_and_every_upsampling_keeps_it() {
        for [rows, cols] in [[8, 9], [9, 8], [8, 8], [9, 11], [2, 2], [34, 21]] {
            let half = cols / 2 + 1;
            let plane: Vec<_> = (0..half * rows)
                .map(|i| value(i % rows, i / rows))
                .collect();
            let line: Vec<_> = (0..cols).map(|c| value(c + 3, 1)).collect();
            let expected = literal([rows, cols], &plane, &line);
            for u in UPSAMPLINGS {
                let fine = object_image([rows, cols], &plane, &line, 50.0, 4, u).unwrap();
                assert_eq!(fine.dim(), (rows * u, cols * u));
                for ((r, c), z) in expected.indexed_iter() {
                    let apart = (fine[(r * u, c * u)] - z).norm();
                    assert!(apart < 1e-9, "{rows}x{cols} x{u}: {apart}");
                }
            }
        }
    }

    #[test]
    fn a_real_wave_stays_real_between_the_samples() {
        // The Nyquist wave of the columns: its two halves must meet in a cosine.
        let mut plane = vec![Complex64::default(); 5 * 8];
        plane[4 * 8] = -Complex64::i();
        let none = vec![Complex64::default(); 8];
        let fine = object_image([8, 8], &plane, &none, 64.0, 1, 4).unwrap();
        for ((_, c), z) in fine.indexed_iter() {
            let expected = 1.0 + (std::f64::consts::PI * c as f64 / 4.0).cos();
            assert!((z - expected).norm() < 1e-12, "{c}: {z}");
        }
    }

    #[test]
    fn sums_of_another_length_are_refused() {
        let sums = vec![Complex64::default(); 64];
        assert!(object_image([8, 8], &sums[..40], &sums[..8], 1.0, 1, 1).is_ok());
        assert!(object_image([8, 8], &sums[..39], &sums[..8], 1.0, 1, 1).is_err());
        assert!(object_image([8, 8], &sums[..40], &sums[..7], 1.0, 1, 1).is_err());
        assert!(object_image([8, 8], &sums[..40], &sums[..8], 1.0, 1, 5).is_err());
    }
}
