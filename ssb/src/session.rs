//! A data set prepared on a backend: evaluate, fit, reconstruct.

use std::borrow::Borrow;
use std::sync::{Mutex, MutexGuard};

use ssb_core::ndarray::Array2;
use ssb_core::num_complex::{Complex32, Complex64};
use ssb_core::{
    Aberrations, Angle, Backend, BandPoint, BfDisk, Calibration, CalibrationHints, Candidate,
    Control, Evaluation, Evaluator, EvaluatorInfo, Geometry, Length, MeanPhase, PrepareOptions,
    SourceRecord,
};
use tracing::info_span;

use crate::acquisition::AcquisitionFacts;
use crate::{Acquisition, AcquisitionOptions, Error, REGISTRY, Source, spans};

/// Options of [`Session::reconstruct`].
#[derive(Debug, Clone, PartialEq)]
pub struct ReconstructOptions {
    /// Output sampling: 1, 2, 3, 4 or 8 times finer than the scan.
    pub upsample: usize,
    /// Specimen tilt (row, col) in mrad.
    pub tilt_mrad: [f64; 2],
    /// Depth spread in nm; 0 is the thin model.
    pub depth_spread_nm: f64,
}

impl Default for ReconstructOptions {
    fn default() -> Self {
        Self {
            upsample: 1,
            tilt_mrad: [0.0; 2],
            depth_spread_nm: 0.0,
        }
    }
}

impl ReconstructOptions {
    /// With an output 1, 2, 3, 4 or 8 times finer than the scan.
    #[must_use]
    pub fn with_upsample(mut self, upsample: usize) -> Self {
        self.upsample = upsample;
        self
    }

    /// With the thick model: specimen tilt (row, col) and depth spread.
    #[must_use]
    pub fn with_thickness(mut self, tilt: [Angle; 2], depth_spread: Length) -> Self {
        self.tilt_mrad = tilt.map(Angle::mrad);
        self.depth_spread_nm = depth_spread.nm();
        self
    }
}

/// A reconstruction.
#[derive(Debug, Clone)]
pub struct Image {
    /// The complex object `mean_b O_b` in counts, on the (finer) output grid.
    pub object: Array2<Complex64>,
    /// `mean_b arg O_b` in radians on the scan's grid; a different picture from the phase of
    /// [`Image::object`].
    pub mean_phase_rad: Array2<f64>,
    /// Exact loss and degenerate fraction of the candidate.
    pub evaluation: Evaluation,
    /// The candidate.
    pub candidate: Candidate,
    /// Step between samples of `object` (row, col) in Å.
    pub pixel_step_a: [f64; 2],
}

impl Image {
    /// `arg(object)` in radians.
    #[must_use]
    pub fn phase_rad(&self) -> Array2<f64> {
        self.object.mapv(Complex64::arg)
    }
}

/// A data set prepared on a backend that was chosen at run time.
///
/// ```
/// use ssb::{Backend, CalibrationHints, FitOptions, OpenOptions, ReconstructOptions, Session};
/// # use ssb_testkit::simulate::{Counts, Simulation};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("scan.h5");
/// # let simulation = Simulation { scan_shape: [32, 32], det_shape: [24, 24],
/// #     bf_center_px: [11.5, 11.5], ..Simulation::demo() };
/// # let scan = simulation.run(&ssb::Control::default())?;
/// # let ssb_io_layout = ssb_io::write::AcquisitionLayout::Plain;
/// # match &scan.counts {
/// #     Counts::U8(a) => ssb_io::write::write_acquisition(&path, ssb_io_layout, a.view(),
/// #         &scan.truth.calibration, &ssb::Control::default())?,
/// #     Counts::U16(a) => ssb_io::write::write_acquisition(&path, ssb_io_layout, a.view(),
/// #         &scan.truth.calibration, &ssb::Control::default())?,
/// #     Counts::U32(a) => ssb_io::write::write_acquisition(&path, ssb_io_layout, a.view(),
/// #         &scan.truth.calibration, &ssb::Control::default())?,
/// # };
/// let source = ssb::open(&path, &OpenOptions::default())?;
/// // Calibration comes from the file; values given here would win.
/// let session = Session::prepare(&source, CalibrationHints::default(), Backend::auto())?;
/// let fit = session.fit(&FitOptions { trials: 60, ..FitOptions::default() })?;
/// let image = session.reconstruct(&fit.aberrations, &ReconstructOptions::default())?;
/// assert_eq!(image.phase_rad().dim(), (source.shape()[0], source.shape()[1]));
/// assert!((image.evaluation.loss / fit.loss - 1.0).abs() < 1e-6);
/// # Ok::<(), ssb::Error>(())
/// ```
pub struct Session {
    evaluator: Mutex<Box<dyn Evaluator>>,
    info: EvaluatorInfo,
    facts: AcquisitionFacts,
    warnings: Vec<String>,
    reason: String,
    pub(crate) control: Control,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("info", &self.info)
            .finish_non_exhaustive()
    }
}

impl Session {
    /// Reads the counts of the bright-field disk and prepares them on a backend.
    ///
    /// # Errors
    /// As [`Acquisition::gather`] and [`Session::of`].
    pub fn prepare(
        source: impl Borrow<Source>,
        calibration: CalibrationHints,
        backend: Backend,
    ) -> Result<Self, Error> {
        let control = Control::default();
        let options = AcquisitionOptions {
            calibration,
            ..AcquisitionOptions::default()
        };
        let acquisition = Acquisition::gather(source.borrow(), &options, &control)?;
        Self::of(acquisition, &backend, &PrepareOptions::default(), &control)
    }

    /// Prepares gathered counts on a backend; `control` stops and watches all later work too.
    ///
    /// # Errors
    /// A backend that is not usable or refuses the problem, a plan over its memory budget, a
    /// fault of the backend, or cancelled.
    pub fn of(
        mut acquisition: Acquisition,
        backend: &Backend,
        options: &PrepareOptions,
        control: &Control,
    ) -> Result<Self, Error> {
        let selection = REGISTRY.select(backend, options.device)?;
        let warnings = std::mem::take(&mut acquisition.warnings);
        let (problem, facts) = acquisition.into_problem()?;
        let options = PrepareOptions {
            device: Some(selection.device.index),
            ..options.clone()
        };
        let evaluator = spans::prepare(&selection.entry, problem, &options, control)?;
        Ok(Self {
            info: evaluator.info().clone(),
            evaluator: Mutex::new(evaluator),
            facts,
            warnings,
            reason: selection.reason,
            control: control.clone(),
        })
    }

    pub(crate) fn evaluator(&self) -> Result<MutexGuard<'_, Box<dyn Evaluator>>, Error> {
        self.evaluator
            .lock()
            .map_err(|_| ssb_core::Error::Internal("an earlier evaluation panicked".into()).into())
    }

    /// What the backend is and holds.
    #[must_use]
    pub fn info(&self) -> &EvaluatorInfo {
        &self.info
    }

    /// Why this backend was chosen, in one sentence.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Sentences for people about the data and their calibration.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The bright-field disk.
    #[must_use]
    pub fn disk(&self) -> &BfDisk {
        &self.facts.disk
    }

    /// The calibration with the origin of each value.
    #[must_use]
    pub fn calibration(&self) -> &Calibration {
        &self.facts.calibration
    }

    /// Geometry in Å, 1/Å and radians.
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        &self.facts.geometry
    }

    /// Mean counts of each detector pixel.
    #[must_use]
    pub fn mean_pattern(&self) -> &Array2<f64> {
        &self.facts.mean_pattern
    }

    /// Good detector pixels; `None` when all are.
    #[must_use]
    pub fn mask(&self) -> Option<&Array2<bool>> {
        self.facts.mask.as_ref()
    }

    /// The data that went in, with their hash.
    #[must_use]
    pub fn record(&self) -> &SourceRecord {
        &self.facts.record
    }

    /// The exact loss of each candidate, in order.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`].
    pub fn evaluate(&self, candidates: &[Candidate]) -> Result<Vec<Evaluation>, Error> {
        Ok(self.evaluator()?.evaluate(candidates, &self.control)?)
    }

    /// The agreement S of each candidate, in order; larger is better.
    ///
    /// # Errors
    /// As [`Evaluator::agreements`].
    pub fn agreements(&self, candidates: &[Candidate]) -> Result<Vec<f64>, Error> {
        Ok(self.evaluator()?.agreements(candidates, &self.control)?)
    }

    /// The spectra `G_b(q)` of every BF pixel at chosen scan frequencies, in counts; shape (BF pixels, points).
    ///
    /// # Errors
    /// As [`Evaluator::spectra`].
    pub fn spectra(&self, points: &[BandPoint]) -> Result<Array2<Complex32>, Error> {
        Ok(self.evaluator()?.spectra(points, &self.control)?)
    }

    /// The mean phase of one candidate with its loss.
    ///
    /// # Errors
    /// As [`Evaluator::mean_phase`].
    pub fn mean_phase(&self, candidate: &Candidate) -> Result<MeanPhase, Error> {
        Ok(self.evaluator()?.mean_phase(candidate, &self.control)?)
    }

    /// The complex object of one candidate, `upsample` times finer.
    ///
    /// # Errors
    /// As [`Evaluator::object`].
    pub fn object(
        &self,
        candidate: &Candidate,
        upsample: usize,
    ) -> Result<Array2<Complex64>, Error> {
        Ok(self
            .evaluator()?
            .object(candidate, upsample, &self.control)?)
    }

    /// Reconstructs with given aberrations; nothing is fitted.
    ///
    /// # Errors
    /// As [`Evaluator::object`].
    pub fn reconstruct(
        &self,
        aberrations: &Aberrations,
        options: &ReconstructOptions,
    ) -> Result<Image, Error> {
        let candidate = Candidate {
            aberrations: aberrations.clone(),
            tilt_mrad: options.tilt_mrad,
            depth_spread_nm: options.depth_spread_nm,
            rotation_deg: None,
        };
        self.image(candidate, options.upsample, &self.control)
    }

    pub(crate) fn image(
        &self,
        candidate: Candidate,
        upsample: usize,
        control: &Control,
    ) -> Result<Image, Error> {
        let _span = info_span!("reconstruct").entered();
        let mut evaluator = self.evaluator()?;
        let object = evaluator.object(&candidate, upsample, control)?;
        let mean = evaluator.mean_phase(&candidate, control)?;
        Ok(Image {
            object,
            mean_phase_rad: mean.phase_rad,
            evaluation: mean.evaluation,
            candidate,
            pixel_step_a: self.facts.geometry.scan_step_a.map(|s| s / upsample as f64),
        })
    }
}
