//! The one production trait: what every backend can be asked for.

use ndarray::Array2;
use num_complex::{Complex32, Complex64};
use serde::Serialize;

use crate::{BandPoint, Candidate, Control, Error, Plan};

/// The band of scan frequencies over which the agreement S sums, both ends in, in 1/Å.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AgreementBand {
    /// Lower end.
    pub lo_per_a: f64,
    /// Upper end.
    pub hi_per_a: f64,
}

/// Upsampling factors that an object can be asked for (numerics section 5).
pub const UPSAMPLINGS: [usize; 5] = [1, 2, 3, 4, 8];

/// Refuses an upsampling that is not offered.
///
/// # Errors
/// [`Error::BadValue`].
pub fn check_upsampling(upsample: usize) -> Result<(), Error> {
    if UPSAMPLINGS.contains(&upsample) {
        return Ok(());
    }
    Err(Error::BadValue {
        object: "upsampling of the object".into(),
        expected: "1, 2, 3, 4 or 8".into(),
        found: upsample.to_string(),
        action: "choose one of these".into(),
    })
}

/// What a prepared evaluator is and holds.
#[derive(Debug, Clone, Serialize)]
pub struct EvaluatorInfo {
    /// Name of the backend in the registry.
    pub backend: &'static str,
    /// Name of the device.
    pub device: String,
    /// Whether the device is a software emulation of a GPU.
    pub software_adapter: bool,
    /// `float32` or `float64`.
    pub precision: &'static str,
    /// Worker threads on the host.
    pub threads: usize,
    /// Selected BF pixels, `B`; every mean over b runs over these.
    pub bf_pixels: usize,
    /// BF pixels with a non-zero aperture.
    pub bf_active: usize,
    /// The DC value, `mean_b G_b(0)`, in counts.
    pub dc: f64,
    /// The band of the agreement S.
    pub band: AgreementBand,
    /// How the work is laid out.
    pub plan: Plan,
}

/// The exact objective at one candidate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Evaluation {
    /// Phase variance, `mean_R [mean_b phi_b^2 - (mean_b phi_b)^2]`, in rad^2 (numerics section 1).
    pub loss: f64,
    /// Share of the supported points at which `|Gamma| <= 1e-8` (numerics section 8). A value far
    /// above the generic one marks a candidate whose loss is not comparable.
    pub degenerate_fraction: f64,
}

/// The mean phase with the loss it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct MeanPhase {
    /// `mean_b arg O_b(R)` in radians, shape (scan rows, scan cols).
    pub phase_rad: Array2<f64>,
    /// Loss and degenerate fraction of the same pass.
    pub evaluation: Evaluation,
}

/// A prepared data set on a backend chosen at run time.
///
/// All quantities are those of numerics sections 1, 4 and 5; results of one evaluator are equal to
/// the bit from run to run on one device. Each method returns [`Error::Cancelled`] within a second
/// of [`Control::cancel`].
pub trait Evaluator: Send {
    /// What this evaluator is and holds.
    fn info(&self) -> &EvaluatorInfo;

    /// The exact objective of each candidate, in order; a batch may share one read of G.
    ///
    /// # Errors
    /// [`Error::Cancelled`], [`Error::Internal`] for a loss that is not a positive finite number,
    /// or the backend's own fault.
    fn evaluate(
        &mut self,
        candidates: &[Candidate],
        control: &Control,
    ) -> Result<Vec<Evaluation>, Error>;

    /// The mean phase and the loss of one candidate.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`].
    fn mean_phase(&mut self, candidate: &Candidate, control: &Control) -> Result<MeanPhase, Error>;

    /// The complex object `mean_b O_b`, sampled `upsample` times finer on both axes.
    ///
    /// Every `upsample`-th sample equals the native object (numerics section 5). Values are counts:
    /// the inverse transform carries 1/N and the mean is `dc / N`.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`], and [`Error::BadValue`] unless `upsample` is 1, 2, 3, 4 or 8.
    fn object(
        &mut self,
        candidate: &Candidate,
        upsample: usize,
        control: &Control,
    ) -> Result<Array2<Complex64>, Error>;

    /// The agreement S of each candidate (numerics section 4); larger is better.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`], and [`Error::BadEvidence`] when the band holds fewer than 16
    /// usable points.
    fn agreements(
        &mut self,
        candidates: &[Candidate],
        control: &Control,
    ) -> Result<Vec<f64>, Error>;

    /// The spectra `G_b(q)` in counts, unnormalised (numerics section 1), of every BF pixel at chosen scan
    /// frequencies, for searches that run on the host. They do not depend on the rotation.
    ///
    /// Shape (BF pixels, points); a pixel whose aperture is closed may come as 0.
    ///
    /// # Errors
    /// [`Error::Cancelled`], [`Error::BadValue`] for a point at DC, on a Nyquist line or outside the stored half
    /// plane, or the backend's own fault.
    fn spectra(
        &mut self,
        points: &[BandPoint],
        control: &Control,
    ) -> Result<Array2<Complex32>, Error>;
}
