//! The object and the agreement: sums over the BF pixels at scan frequencies (numerics sections 4, 5).

use cubecl::prelude::*;
use ndarray::Array2;
use num_complex::Complex64;
use ssb_core::{
    Candidate, Control, Error, agreement_band_points, agreement_of, check_upsampling, object_image,
};

use super::{KernelEvaluator, candidate_lists};
use crate::device::DeviceArray;
use crate::kernel::fourier_sum::{COL_SHIFT, MIRROR_SHIFT, Summand, sum_pixels};
use crate::kernel::launch::launch;
use crate::plan::SUM_UNITS;

pub(super) fn word(row: usize, col: usize, mirrored: bool) -> u32 {
    row as u32 | (col as u32) << COL_SHIFT | u32::from(mirrored) << MIRROR_SHIFT
}

impl<R: Runtime> KernelEvaluator<R> {
    pub(super) fn fourier_sum(
        &mut self,
        candidate: &Candidate,
        upsample: usize,
        control: &Control,
    ) -> Result<Array2<Complex64>, Error> {
        check_upsampling(upsample)?;
        let scan = self.plan.request.scan;
        let (rows, cols, half) = (scan.rows, scan.cols, scan.half());
        let mut list: Vec<u32> = (0..half)
            .flat_map(|col| (0..rows).map(move |row| word(row, col, false)))
            .collect();
        if scan.even_rows() {
            list.extend((1..cols.div_ceil(2)).map(|col| word(rows / 2, col, true)));
        }
        let planes = self.sums_over_pixels(candidate, &list, Summand::Corrected, control)?;
        let at = |i: usize| Complex64::new(planes[0][i], planes[1][i]);
        let plane: Vec<_> = (0..scan.plane()).map(at).collect();
        let nyquist_row: Vec<_> = if scan.even_rows() {
            (0..cols)
                .map(|col| {
                    if col < half {
                        plane[col * rows + rows / 2]
                    } else {
                        at(scan.plane() + cols - col - 1)
                    }
                })
                .collect()
        } else {
            Vec::new()
        };
        object_image(
            self.geometry.scan_shape,
            &plane,
            &nyquist_row,
            self.info.dc,
            self.info.bf_pixels,
            upsample,
        )
    }

    pub(super) fn agreement(
        &mut self,
        candidate: &Candidate,
        control: &Control,
    ) -> Result<f64, Error> {
        let points = agreement_band_points(&self.geometry);
        let list: Vec<u32> = points.iter().map(|p| word(p.row, p.col, false)).collect();
        let planes = if list.is_empty() {
            vec![Vec::new(); 3]
        } else {
            self.sums_over_pixels(candidate, &list, Summand::Overlap, control)?
        };
        let overlap: Vec<_> = planes[0]
            .iter()
            .zip(&planes[1])
            .map(|(re, im)| Complex64::new(*re, *im))
            .collect();
        let band = self.info.band;
        let agreement = agreement_of(&points, &overlap, &planes[2], self.info.bf_pixels, band)?;
        // Back to counts squared: G is stored in units of the DC value.
        let agreement = agreement * self.info.dc * self.info.dc;
        if agreement.is_finite() && agreement > 0.0 {
            return Ok(agreement);
        }
        Err(Error::Internal(format!(
            "the agreement came out as {agreement}; that is a fault of the {} backend",
            self.info.backend
        )))
    }

    /// Sums over b at the listed frequencies, one vector a plane.
    fn sums_over_pixels(
        &mut self,
        candidate: &Candidate,
        list: &[u32],
        summand: Summand,
        control: &Control,
    ) -> Result<Vec<Vec<f64>>, Error> {
        self.turn_to(candidate);
        self.prove_sums(
            candidate_lists::model(&self.geometry, candidate),
            summand,
            control,
        )?;
        self.sums_over(candidate, list, summand, false, control)
    }

    /// The same over every stored BF pixel, or over the one of the self-test.
    pub(super) fn sums_over(
        &mut self,
        candidate: &Candidate,
        list: &[u32],
        summand: Summand,
        only_proof: bool,
        control: &Control,
    ) -> Result<Vec<Vec<f64>>, Error> {
        let batch = self.upload(std::slice::from_ref(candidate))?;
        let words = DeviceArray::uploaded(&self.device.client, list);
        let slots = self.plan.slots[2];
        self.over_packs(&batch, only_proof, control, &mut |evaluator, pack| {
            let scan = evaluator.plan.request.scan;
            launch!(
                R,
                sum_pixels,
                pack.client,
                CubeCount::Static(list.len().div_ceil(SUM_UNITS) as u32, slots as u32, 1),
                CubeDim::new_1d(SUM_UNITS as u32),
                pack.g.vectors(2),
                pack.acquisition.arg(),
                evaluator.buffers.candidates.vectors(2),
                words.arg(),
                evaluator.buffers.spectrum.arg(),
                list.len() as u32,
                pack.first(),
                pack.pixels(),
                pack.again(),
                scan.rows as u32,
                scan.cols as u32,
                pack.model,
                summand,
            );
            Ok(())
        })?;
        let values = self.read(&self.buffers.spectrum)?;
        let planes = summand.planes();
        Ok((0..planes)
            .map(|plane| {
                let mut sums = vec![0.0; list.len()];
                for slot in 0..slots {
                    let from = (slot * planes + plane) * list.len();
                    for (sum, value) in sums.iter_mut().zip(&values[from..]) {
                        *sum += f64::from(*value);
                    }
                }
                sums
            })
            .collect())
    }
}
