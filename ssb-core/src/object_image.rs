//! The complex object from the summed half plane: one inverse transform (numerics sections 2 and 5).

use ndarray::Array2;
use num_complex::Complex64;
use rustfft::{FftDirection, FftPlanner};

use crate::{Error, check_upsampling};

/// Lines of a square that stays in cache while it is transposed.
const TILE: usize = 16;

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
    let nyquist_row = row_is_even.then_some(nyquist_row);
    // C = i S, in counts, the mean over b, with the 1/N of the native grid.
    let scale = Complex64::i() * dc / (bf_pixels as f64 * (rows * cols) as f64);
    let mut spectrum = whole_plane(scan_shape, plane, nyquist_row, scale);
    spectrum[0] = Complex64::from(dc / (rows * cols) as f64);
    inverse(scan_shape, &spectrum, upsample)
}

/// `scale * C` over the whole plane as `[cols][rows]`: `C(-q) = -conj C(q)` away from the Nyquist lines,
/// which are stored whole.
fn whole_plane(
    [rows, cols]: [usize; 2],
    plane: &[Complex64],
    nyquist_row: Option<&[Complex64]>,
    scale: Complex64,
) -> Vec<Complex64> {
    let mut whole = Vec::with_capacity(rows * cols);
    whole.extend(plane[..rows * (cols / 2 + 1)].iter().map(|z| scale * z));
    for col in cols / 2 + 1..cols {
        let mirror = (cols - col) * rows;
        let value = |z: Complex64| -z.conj();
        whole.push(value(whole[mirror]));
        for row in 1..rows {
            whole.push(value(whole[mirror + rows - row]));
        }
    }
    if let Some(line) = nyquist_row {
        for (column, z) in whole.chunks_exact_mut(rows).zip(line) {
            column[rows / 2] = scale * z;
        }
    }
    whole
}

/// The unnormalised inverse of a spectrum `[cols][rows]`, zero-padded to `upsample` times its size: columns
/// first, where only the native ones hold anything, then rows. A Nyquist line is split in halves
/// between its two signs, so that every `upsample`-th sample equals the native one.
fn inverse(
    [rows, cols]: [usize; 2],
    spectrum: &[Complex64],
    upsample: usize,
) -> Result<Array2<Complex64>, Error> {
    let (fine_rows, fine_cols) = (rows * upsample, cols * upsample);
    let mut planner = FftPlanner::new();
    let mut columns = vec![Complex64::default(); cols * fine_rows];
    for (fine, column) in columns
        .chunks_exact_mut(fine_rows)
        .zip(spectrum.chunks_exact(rows))
    {
        let positive = rows.div_ceil(2);
        fine[..positive].copy_from_slice(&column[..positive]);
        fine[positive + fine_rows - rows..].copy_from_slice(&column[positive..]);
        if let Some([positive, negative]) = split_line(rows, upsample) {
            fine[negative] = fine[negative] * 0.5;
            fine[positive] = fine[negative];
        }
    }
    planner
        .plan_fft(fine_rows, FftDirection::Inverse)
        .process(&mut columns);
    let mut image = vec![Complex64::default(); fine_rows * fine_cols];
    let negative_start = cols.div_ceil(2);
    for first_row in (0..fine_rows).step_by(TILE) {
        for first_col in (0..cols).step_by(TILE) {
            for row in first_row..(first_row + TILE).min(fine_rows) {
                for col in first_col..(first_col + TILE).min(cols) {
                    let shift = if col < negative_start {
                        0
                    } else {
                        fine_cols - cols
                    };
                    image[row * fine_cols + col + shift] = columns[col * fine_rows + row];
                }
            }
        }
    }
    if let Some([positive, negative]) = split_line(cols, upsample) {
        for line in image.chunks_exact_mut(fine_cols) {
            line[negative] = line[negative] * 0.5;
            line[positive] = line[negative];
        }
    }
    planner
        .plan_fft(fine_cols, FftDirection::Inverse)
        .process(&mut image);
    Array2::from_shape_vec((fine_rows, fine_cols), image)
        .map_err(|e| Error::Internal(format!("the object's image: {e}")))
}

/// Where the two halves of the Nyquist line of an axis of `n` go on the finer axis.
fn split_line(n: usize, upsample: usize) -> Option<[usize; 2]> {
    (n.is_multiple_of(2) && upsample > 1).then_some([n / 2, n * upsample - n / 2])
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
