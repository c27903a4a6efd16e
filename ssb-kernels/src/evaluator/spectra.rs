//! Spectra of single BF pixels, read back for searches that run on the host.

use cubecl::prelude::*;
use ndarray::Array2;
use num_complex::{Complex32, Complex64};
use ssb_core::{BandPoint, Control, Error, check_points};

use super::KernelEvaluator;
use super::sums::word;
use crate::device::DeviceArray;
use crate::kernel::launch::launch;
use crate::kernel::spectra::pick_spectra;
use crate::plan::SUM_UNITS;

/// Complex values read back at a time.
const MOST_VALUES: usize = 1 << 20;

/// Frequencies at which one BF pixel is held against its float64 transform.
const PROVED: usize = 16;

/// Largest error there, relative to the largest value: far above rounding, far below a fault.
const BOUND: f64 = 1e-3;

impl<R: Runtime> KernelEvaluator<R> {
    pub(super) fn spectra_at(
        &mut self,
        points: &[BandPoint],
        control: &Control,
    ) -> Result<Array2<Complex32>, Error> {
        control.check()?;
        check_points(points, &self.geometry)?;
        let mut spectra = Array2::zeros((self.info.bf_pixels, points.len()));
        if points.is_empty() {
            return Ok(spectra);
        }
        let scan = self.plan.request.scan;
        let list: Vec<u32> = points.iter().map(|p| word(p.row, p.col, false)).collect();
        let words = DeviceArray::uploaded(&self.device.client, &list);
        let most = (MOST_VALUES / points.len()).clamp(1, 0xffff);
        for part in 0..self.store.parts() {
            let range = self.store.range(part);
            let g = self.store.part(part, control)?;
            for first in range.clone().step_by(most) {
                control.check()?;
                let pixels = most.min(range.end - first);
                let client = &self.device.client;
                let picked = DeviceArray::<f32>::reserved(client, 2 * pixels * points.len());
                launch!(
                    R,
                    pick_spectra,
                    client,
                    CubeCount::Static(points.len().div_ceil(SUM_UNITS) as u32, pixels as u32, 1),
                    CubeDim::new_1d(SUM_UNITS as u32),
                    g.vectors(2),
                    words.arg(),
                    picked.vectors(2),
                    points.len() as u32,
                    (first - range.start) as u32,
                    scan.rows as u32,
                    scan.half() as u32,
                );
                let values = self.read(&picked)?;
                let dc = self.info.dc as f32;
                for (row, values) in values.chunks_exact(2 * points.len()).enumerate() {
                    let pixel = self.stored[first + row];
                    let found = values.chunks_exact(2);
                    for (to, z) in spectra.row_mut(pixel).iter_mut().zip(found) {
                        *to = Complex32::new(z[0], z[1]) * dc;
                    }
                }
            }
        }
        self.prove_spectra(points, &spectra)?;
        Ok(spectra)
    }

    /// Holds the spectrum of one BF pixel against its transform in float64: a launch that failed is only
    /// logged by CubeCL.
    fn prove_spectra(
        &self,
        points: &[BandPoint],
        spectra: &Array2<Complex32>,
    ) -> Result<(), Error> {
        let [rows, cols] = self.geometry.scan_shape;
        let pixel = self.stored[self.proof.place];
        let (mut worst, mut largest) = (0.0_f64, 0.0_f64);
        for (index, point) in points.iter().enumerate().take(PROVED) {
            let exact: Complex64 = (self.proof.counts.iter().enumerate())
                .map(|(i, counts)| {
                    let turns = (point.row * (i / cols)) as f64 / rows as f64
                        + (point.col * (i % cols)) as f64 / cols as f64;
                    Complex64::from_polar(*counts, -std::f64::consts::TAU * turns)
                })
                .sum();
            let found = spectra[(pixel, index)];
            let found = Complex64::new(f64::from(found.re), f64::from(found.im));
            // NaN must not pass.
            let error = (found - exact).norm();
            worst = if error.is_nan() {
                f64::INFINITY
            } else {
                worst.max(error)
            };
            largest = largest.max(exact.norm());
        }
        // Noise of counting: below it a relative error says nothing.
        let scale = largest.max(self.proof.counts.iter().sum::<f64>().sqrt());
        if worst <= BOUND * scale {
            return Ok(());
        }
        Err(Error::Internal(format!(
            "self-test of the {} backend on {}: the spectrum of one BF pixel is off by {worst:.1e} of {scale:.1e} counts; \
             use another backend and report this",
            self.info.backend, self.info.device
        )))
    }
}
