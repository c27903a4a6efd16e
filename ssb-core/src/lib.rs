//! What every part of `ssb` agrees on: units, calibration and geometry, the bright-field
//! disk, the one table of aberration terms, candidates, evidence, the [`Evaluator`] trait,
//! the backend registry, planning types, results and provenance.
//!
//! Axes are `(row, col)` everywhere. `R` is a scan position, `q` a scan frequency (1/Å), `k` a
//! detector coordinate (1/Å), `b` one bright-field (BF) pixel. Public lengths of aberrations are
//! nm, their angles radians, scan steps Å, detector steps and angles mrad, beam energy kV.

mod agreement;
mod backend;
mod bandwidth;
mod bf_disk;
mod calibration;
mod candidate;
mod chi;
mod control;
mod error;
mod evaluator;
mod evidence;
mod geometry;
mod joined;
mod object_image;
pub mod own_terms;
mod phase_sums;
mod plan;
mod provenance;
pub mod support;
mod terms;
#[cfg(feature = "cube")]
pub mod trig;
mod units;

pub use agreement::{BandPoint, agreement_band_points, agreement_of, band_points, check_points};
pub use backend::{
    Backend, BackendEntry, BackendKind, Device, PrepareOptions, Registry, Selection,
};
pub use bandwidth::copy_bandwidth;
pub use bf_disk::{BfDisk, BfOptions, select_bf};
pub use calibration::{Calibration, CalibrationHints, Sourced, merge_calibration, merge_hints};
pub use candidate::{Aberration, Aberrations, Candidate, MAX_DEPTH_SPREAD_NM};
pub use chi::{Chi, EvenOdd, OwnPhase, PHASE_DEGREE};
pub use control::{Control, Progress};
pub use error::Error;
pub use evaluator::{
    AgreementBand, Evaluation, Evaluator, EvaluatorInfo, MeanPhase, UPSAMPLINGS, check_upsampling,
};
pub use evidence::{Columns, Evidence, Sample};
pub use geometry::{Geometry, Problem, aperture, fft_frequencies, wavelength_a};
pub use joined::joined;
pub use object_image::object_image;
pub use phase_sums::PhaseSums;
pub use plan::{DeviceFamily, Footprint, Limits, Plan, Topology, Unsuitable};
pub use provenance::{NUMERICS_VERSION, Provenance, SourceRecord};
pub use terms::{TERMS, Term, TermPart, Wavefront, term_by_name};
pub use units::{Angle, Length};

/// The array crate of every public signature, re-exported.
pub use ndarray;
/// The complex number crate of every public signature, re-exported.
pub use num_complex;

/// `Result` with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
