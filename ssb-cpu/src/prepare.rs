//! G(q) of every BF pixel that the aperture can reach (numerics sections 1 and 2).

use rustfft::num_complex::Complex32;
use ssb_core::{Control, Error, Evidence, Geometry};

use crate::candidate_tables::Lattice;
use crate::lanes;
use crate::transform::Transforms;

/// G of one BF pixel over the DC value; real and imaginary parts apart, so that the correction vectorises.
pub struct PixelSpectrum {
    /// Index of the BF pixel in the selection.
    pub pixel: usize,
    /// `[half_cols][re, im][rows]`.
    half: Vec<f32>,
    /// `[re, im][cols]` of the Nyquist row; empty for an odd number of rows.
    nyquist_row: Vec<f32>,
}

impl PixelSpectrum {
    /// Real and imaginary parts of stored column `col`.
    #[inline(always)]
    pub fn column(&self, col: usize, rows: usize) -> [&[f32]; 2] {
        let (re, im) = self.half[2 * col * rows..][..2 * rows].split_at(rows);
        [re, im]
    }

    /// Real and imaginary parts of the Nyquist row over all columns.
    #[inline(always)]
    pub fn nyquist_row(&self) -> [&[f32]; 2] {
        let (re, im) = self.nyquist_row.split_at(self.nyquist_row.len() / 2);
        [re, im]
    }
}

/// Transforms the BF columns, in units of the DC value. The mean of each is taken out first (in float64,
/// from exact sums), so that float32 spends its digits on the signal; `G(0)` is left at 0. With the DC
/// value 1, its rounding cannot bias every phase alike (seen: 1.5e-7 of the loss).
pub fn spectra(
    geometry: &Geometry,
    evidence: &Evidence,
    lattice: &Lattice,
    transforms: &Transforms,
    pool: &rayon::ThreadPool,
    control: &Control,
) -> Result<Vec<PixelSpectrum>, Error> {
    // Unequal detector steps make the aperture depend on the rotation: keep what any rotation reaches.
    let reachable: Vec<usize> = geometry
        .k_per_a(0.0)
        .iter()
        .enumerate()
        .filter(|(_, k)| k[0].hypot(k[1]) < lattice.outer_per_a)
        .map(|(b, _)| b)
        .collect();
    let scan = lattice.rows * lattice.cols;
    let scale = 1.0 / evidence.dc();
    let finished = std::sync::atomic::AtomicU64::new(0);
    let total = reachable.len() as u64;
    let lanes = lanes::run(pool, reachable.len(), 8, control, |range| {
        let mut scratch = transforms.scratch();
        let mut image = vec![0.0_f32; scan];
        let mut half = vec![Complex32::default(); lattice.rows * lattice.half_cols];
        let mut spectra = Vec::with_capacity(range.len());
        for &pixel in &reachable[range] {
            control.check()?;
            evidence.read(pixel, evidence.sum(pixel) / scan as f64, scale, &mut image);
            transforms.forward(&image, &mut half, &mut scratch);
            half[0] = Complex32::default();
            spectra.push(split(pixel, &half, lattice));
            let done = finished.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
            control.report("transform bright-field columns", done, total);
        }
        Ok(spectra)
    })?;
    Ok(lanes.into_iter().flatten().collect())
}

fn split(pixel: usize, half: &[Complex32], lattice: &Lattice) -> PixelSpectrum {
    let rows = lattice.rows;
    let mut parts = Vec::with_capacity(2 * half.len());
    for column in half.chunks_exact(rows) {
        parts.extend(column.iter().map(|z| z.re));
        parts.extend(column.iter().map(|z| z.im));
    }
    let nyquist_row = lattice.nyquist_row().map_or_else(Vec::new, |row| {
        // G(-q) = conj G(q): the Nyquist row's negative columns come from its positive ones.
        let line = |part: fn(&Complex32) -> f32, mirror: f32| {
            (0..lattice.cols).map(move |col| {
                if col < lattice.half_cols {
                    part(&half[col * rows + row])
                } else {
                    mirror * part(&half[(lattice.cols - col) * rows + row])
                }
            })
        };
        line(|z| z.re, 1.0).chain(line(|z| z.im, -1.0)).collect()
    });
    PixelSpectrum {
        pixel,
        half: parts,
        nyquist_row,
    }
}
