//! The prepared CPU evaluator.

use ndarray::Array2;
use num_complex::{Complex32, Complex64};
use ssb_core::{
    BandPoint, Candidate, Control, Error, Evaluation, Evaluator, EvaluatorInfo, Geometry, MeanPhase,
};

use crate::aligned::Aligned;
use crate::candidate_tables::CandidateTables;
use crate::half_plane::HalfPlane;
use crate::lattice::Lattice;
use crate::loss::Workspace;
use crate::reuse::Reuse;
use crate::store::Store;
use crate::support::Frame;
use crate::vectors::Vectors;

/// G with everything an evaluation needs.
pub struct CpuEvaluator {
    pub(crate) info: EvaluatorInfo,
    pub(crate) geometry: Geometry,
    pub(crate) lattice: Lattice,
    pub(crate) half_plane: HalfPlane,
    pub(crate) store: Store,
    pub(crate) frame: Frame,
    pub(crate) pool: rayon::ThreadPool,
    pub(crate) vectors: Vectors,
    pub(crate) lane_length: usize,
    pub(crate) workspaces: Reuse<Workspace>,
    pub(crate) images: Reuse<Aligned>,
    pub(crate) overlaps: Reuse<Aligned>,
    pub(crate) spectra: Reuse<Aligned>,
}

impl CpuEvaluator {
    /// Rotates the BF pixels into the frame that a candidate asks for.
    pub(crate) fn turn_to(&mut self, candidate: &Candidate) {
        let rotation_deg = self.geometry.rotation_of(candidate);
        if rotation_deg.to_bits() != self.frame.rotation_deg.to_bits() {
            let (geometry, outer) = (&self.geometry, self.lattice.outer_per_a);
            self.frame = self
                .pool
                .install(|| Frame::new(geometry, rotation_deg, outer));
        }
    }

    /// Builds a candidate's tables in this evaluator's pool.
    pub(crate) fn tables(&self, candidate: &Candidate) -> CandidateTables {
        self.pool
            .install(|| CandidateTables::new(&self.lattice, self.vectors, candidate))
    }

    /// Runs `work` on runs of candidates that ask for the same rotation, at most `most` at a time.
    pub(crate) fn together<T>(
        &mut self,
        candidates: &[Candidate],
        most: usize,
        mut work: impl FnMut(&mut Self, &[Candidate]) -> Result<Vec<T>, Error>,
    ) -> Result<Vec<T>, Error> {
        let mut found = Vec::with_capacity(candidates.len());
        let bits = |this: &Self, c: &Candidate| this.geometry.rotation_of(c).to_bits();
        let mut rest = candidates;
        while let Some(first) = rest.first() {
            let first = bits(self, first);
            let alike = rest.iter().take(most);
            let alike = alike.take_while(|c| bits(self, c) == first).count();
            let (now, later) = rest.split_at(alike);
            found.extend(work(self, now)?);
            rest = later;
        }
        Ok(found)
    }

    /// `k_b` and `A(k_b)` of the stored pixel at `index`, unless its aperture is 0 in the current frame.
    pub(crate) fn open(&self, index: usize) -> Option<([f64; 2], f64)> {
        let pixel = self.store.pixels[index];
        let aperture = self.frame.apertures[pixel];
        (aperture > 0.0).then(|| (self.frame.k_per_a[pixel], aperture))
    }
}

impl Evaluator for CpuEvaluator {
    fn info(&self) -> &EvaluatorInfo {
        &self.info
    }

    fn evaluate(
        &mut self,
        candidates: &[Candidate],
        control: &Control,
    ) -> Result<Vec<Evaluation>, Error> {
        self.evaluate_batch(candidates, control)
    }

    fn mean_phase(&mut self, candidate: &Candidate, control: &Control) -> Result<MeanPhase, Error> {
        self.mean_phase_of(candidate, control)
    }

    fn object(
        &mut self,
        candidate: &Candidate,
        upsample: usize,
        control: &Control,
    ) -> Result<Array2<Complex64>, Error> {
        self.fourier_sum(candidate, upsample, control)
    }

    fn agreements(
        &mut self,
        candidates: &[Candidate],
        control: &Control,
    ) -> Result<Vec<f64>, Error> {
        self.agreements_of(candidates, control)
    }

    fn spectra(
        &mut self,
        points: &[BandPoint],
        control: &Control,
    ) -> Result<Array2<Complex32>, Error> {
        self.spectra_at(points, control)
    }
}
