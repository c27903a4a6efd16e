//! The result file: object, images, trials and provenance in one HDF5 file.
//!
//! It is written under a temporary name and moved into place, and reading it back gives every
//! value to the bit. No device is needed for either.

mod candidate_columns;
mod read;
mod stack;
#[cfg(test)]
mod tests;
mod write;

use std::path::Path;

use ndarray::Array2;
use num_complex::Complex32;
use serde_json::Value;
use ssb_core::{Candidate, Provenance, ndarray};

use crate::IoError;
pub use stack::PhaseStack;

/// Root attribute that marks a result file, and the version it holds.
const MARK: &str = "ssb_result_version";
const VERSION: i64 = 1;
/// Column of the trials: 1 where the candidate brought its rotation, 0 where it is the acquisition's.
const ROTATION_GIVEN: &str = "rotation_given";

/// A reconstruction or a fit with all that is needed to look at it and to repeat it.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultFile {
    /// The complex object, in counts of one BF pixel at one scan position, `upsample` times the scan shape.
    pub object: Array2<Complex32>,
    /// The phase that is shown, in radians; the shape of the object, or of the scan for the
    /// mean-phase estimator.
    pub phase_rad: Array2<f32>,
    /// Modulus of the object, in counts.
    pub amplitude: Array2<f32>,
    /// Mean over the bright-field pixels of each pixel's phase, in radians, scan shape.
    pub mean_phase_rad: Option<Array2<f32>>,
    /// Phase in radians on the other branch of the rotation, 180 degrees away, where it was computed; scan shape.
    pub other_branch_phase_rad: Option<Array2<f32>>,
    /// Mean counts of every detector pixel.
    pub mean_pattern: Array2<f32>,
    /// What was found.
    pub outcome: Outcome,
    /// Every trial of a fit, in order; none for a reconstruction from known aberrations.
    pub trials: Vec<Trial>,
    /// How the result was made. Its disk is also stored as `/bf_pixels`.
    pub provenance: Provenance,
}

/// What a fit or a reconstruction found.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The best candidate, or the given one.
    pub best: Candidate,
    /// Exact phase variance of the best candidate in rad².
    pub loss: f64,
    /// Share of points with |Gamma| <= 1e-8 at the best candidate.
    pub degenerate_fraction: f64,
    /// Agreement S of the best candidate, where it was computed.
    pub agreement: Option<f64>,
    /// S of the joint fit over S of the best fit without tilt, where there was one.
    pub gain: Option<f64>,
    /// Whether the candidate was fitted; otherwise it was taken as given.
    pub fitted: bool,
    /// Whether the fit was stopped before its end.
    pub cancelled: bool,
    /// `phase-of-mean` or `mean-phase`.
    pub estimator: String,
    /// Object samples for each scan position along an axis.
    pub upsample: usize,
    /// Anything else worth keeping: start, search ranges, column sign, numbers of evaluations.
    pub details: Value,
}

/// One evaluated candidate of a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Position in the order of asking, from 0.
    pub number: u64,
    /// Who asked for it, e.g. `start`, `tpe`, `nelder-mead`.
    pub method: String,
    /// What was evaluated.
    pub candidate: Candidate,
    /// Phase variance in rad²; NaN where the search went by the agreement alone.
    pub loss: f64,
    /// The agreement S in counts², where the search went by it.
    pub agreement: Option<f64>,
    /// Share of points with |Gamma| <= 1e-8; NaN as for the loss.
    pub degenerate_fraction: f64,
    /// Whether the trial may be returned as a best fit.
    pub eligible: bool,
}

impl Trial {
    /// What the search went by at this trial: `phase-variance` or `agreement`.
    #[must_use]
    pub fn objective(&self) -> &'static str {
        if self.loss.is_nan() && self.agreement.is_some() {
            "agreement"
        } else {
            "phase-variance"
        }
    }
}

impl ResultFile {
    /// Writes the file; an older one under the same name is replaced only by a complete one.
    ///
    /// # Errors
    /// [`IoError::System`] when the disk refuses; the target is then as it was.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), IoError> {
        write::write(self, path.as_ref())
    }

    /// Reads a result file.
    ///
    /// # Errors
    /// [`IoError::NotFound`], [`IoError::EmptyFile`], [`IoError::NotHdf5`],
    /// [`IoError::Truncated`], [`IoError::NotAResult`] for HDF5 of another kind or version,
    /// [`IoError::BadResult`] for a missing or damaged part.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, IoError> {
        read::read(path.as_ref())
    }

    /// Reads the provenance alone, without touching any array.
    ///
    /// # Errors
    /// As [`ResultFile::read`].
    pub fn read_provenance(path: impl AsRef<Path>) -> Result<Provenance, IoError> {
        read::read_provenance(path.as_ref())
    }
}
