//! Spectra of single BF pixels at chosen scan frequencies.

use ndarray::Array2;
use num_complex::Complex32;
use rayon::prelude::*;
use ssb_core::{BandPoint, Control, Error, check_points};

use crate::evaluator::CpuEvaluator;

impl CpuEvaluator {
    pub(crate) fn spectra_at(
        &self,
        points: &[BandPoint],
        control: &Control,
    ) -> Result<Array2<Complex32>, Error> {
        check_points(points, &self.geometry)?;
        let (layout, dc) = (self.lattice.layout, self.info.dc as f32);
        let lanes = layout.lanes;
        let places: Vec<usize> = (points.iter())
            .map(|p| ((p.col / lanes) * layout.rows + p.row) * 2 * lanes + p.col % lanes)
            .collect();
        let picked: Result<Vec<Vec<Complex32>>, Error> = self.pool.install(|| {
            (0..self.store.pixels.len())
                .into_par_iter()
                .with_min_len(8)
                .map_init(
                    || None,
                    |made, index| {
                        control.check()?;
                        let g = self.store.g(&self.half_plane, self.vectors, index, made);
                        let at = |place: &usize| Complex32::new(g[*place], g[*place + lanes]) * dc;
                        Ok(places.iter().map(at).collect())
                    },
                )
                .collect()
        });
        let mut spectra = Array2::zeros((self.info.bf_pixels, points.len()));
        for (pixel, picked) in self.store.pixels.iter().zip(picked?) {
            for (to, z) in spectra.row_mut(*pixel).iter_mut().zip(picked) {
                *to = z;
            }
        }
        Ok(spectra)
    }
}
