//! `tracing` spans around every call of a backend, written once for all of them.

use ssb_core::ndarray::Array2;
use ssb_core::num_complex::{Complex32, Complex64};
use ssb_core::{BackendEntry, EvaluatorInfo, PrepareOptions, Problem};
use ssb_core::{BandPoint, Candidate, Control, Error, Evaluation, Evaluator, MeanPhase};
use tracing::info_span;

/// An evaluator whose calls are spans.
struct Spanned(Box<dyn Evaluator>);

/// Prepares a problem on a backend; preparing and every later call are spans.
pub(crate) fn prepare(
    entry: &BackendEntry,
    problem: Problem,
    options: &PrepareOptions,
    control: &Control,
) -> Result<Box<dyn Evaluator>, Error> {
    let [rows, cols] = problem.geometry().scan_shape;
    let pixels = problem.geometry().bf_pixels();
    let _span = info_span!("prepare", backend = %entry.name, rows, cols, pixels).entered();
    Ok(Box::new(Spanned((entry.prepare)(
        problem, options, control,
    )?)))
}

impl Evaluator for Spanned {
    fn info(&self) -> &EvaluatorInfo {
        self.0.info()
    }

    fn evaluate(
        &mut self,
        candidates: &[Candidate],
        control: &Control,
    ) -> Result<Vec<Evaluation>, Error> {
        let _span = info_span!("exact loss", candidates = candidates.len()).entered();
        self.0.evaluate(candidates, control)
    }

    fn mean_phase(&mut self, candidate: &Candidate, control: &Control) -> Result<MeanPhase, Error> {
        let _span = info_span!("mean phase").entered();
        self.0.mean_phase(candidate, control)
    }

    fn object(
        &mut self,
        candidate: &Candidate,
        upsample: usize,
        control: &Control,
    ) -> Result<Array2<Complex64>, Error> {
        let _span = info_span!("object", upsample).entered();
        self.0.object(candidate, upsample, control)
    }

    fn agreements(
        &mut self,
        candidates: &[Candidate],
        control: &Control,
    ) -> Result<Vec<f64>, Error> {
        let _span = info_span!("agreement", candidates = candidates.len()).entered();
        self.0.agreements(candidates, control)
    }

    fn spectra(
        &mut self,
        points: &[BandPoint],
        control: &Control,
    ) -> Result<Array2<Complex32>, Error> {
        let _span = info_span!("spectra", points = points.len()).entered();
        self.0.spectra(points, control)
    }
}
