//! Single-sideband (SSB) ptychography of 4D-STEM data: from a file to a fitted, reconstructed
//! specimen on any machine.
//!
//! [`open()`] a data set, prepare a [`Session`] on a backend that is chosen at run time, [`fit`] the
//! aberrations on the exact phase variance, and reconstruct; see [`Session`] for a complete example.
//! Axes are `(row, col)` everywhere; aberration lengths are nm and their angles rad, scan steps Å,
//! detector steps mrad, beam energies kV.
//!
//! [`fit`]: Session::fit

mod acquisition;
mod backends;
#[doc(hidden)]
pub mod cli;
mod column_sign;
mod counts;
mod curl;
mod doubts;
mod error;
pub mod figure;
mod fit;
mod record;
mod replay;
mod result_figure;
mod session;
mod source;
#[cfg(feature = "view")]
mod view;

pub use acquisition::{Acquisition, AcquisitionOptions, HotPixels};
pub use backends::REGISTRY;
pub use column_sign::{ColumnSign, ColumnState, column_sign};
pub use counts::Counts;
pub use curl::RotationEstimate;
pub use error::Error;
pub use fit::{
    AgreementBest, Branch, DEGENERATE_LIMIT, Deviation, Fit, FitOptions, FitTrial, Journal,
    Quantity, Refine, SearchRange, Setting,
};
pub use record::{Estimator, document, expected_provenance};
pub use replay::ReplayOptions;
pub use result_figure::figure_data;
pub use session::{Image, ReconstructOptions, Session};
pub use source::{Source, open};

pub use ssb_core::ndarray;
pub use ssb_core::num_complex;
pub use ssb_core::{
    Aberrations, Angle, Backend, BfDisk, BfOptions, Calibration, CalibrationHints, Candidate,
    Control, Evaluation, Length, MeanPhase, PrepareOptions, Progress, Sourced, TERMS,
};
pub use ssb_io::result::ResultFile;
pub use ssb_io::{MaskChoice, OpenOptions, Region, ScanOrder};
