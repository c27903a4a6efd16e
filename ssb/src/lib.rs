//! Single-sideband (SSB) ptychography of 4D-STEM data: from a file to a fitted, reconstructed
//! specimen on any machine.
//!
//! [`open()`] a data set, prepare a [`Session`] on a backend that is chosen at run time, [`fit`](Session::fit) the
//! aberrations on the exact phase variance, and reconstruct; see [`Session`] for a complete example.
//! Axes are `(row, col)` everywhere; aberration lengths are nm and their angles rad, scan steps Å,
//! detector steps mrad, beam energies kV.
//!
//! The names at the top are all that this takes; what they hold and what goes beyond lies in the modules:
//! [`acquisition`] (how counts are chosen), [`backends`] (what can compute, and what it returns), [`fit`](mod@fit) (what is
//! searched and found), [`record`] (results as files, documents, reports), [`figure`], [`units`].

pub mod acquisition;
pub mod backends;
#[doc(hidden)]
pub mod cli;
mod column_sign;
mod counts;
mod curl;
mod digits;
mod doubts;
mod error;
pub mod figure;
pub mod fit;
pub mod record;
mod replay;
mod report;
mod result_figure;
mod session;
mod source;
mod spans;
#[cfg(feature = "view")]
mod view;

pub use error::Error;
pub use fit::{Fit, FitOptions};
pub use session::{Image, ReconstructOptions, Session};
pub use source::{Source, open};
pub use ssb_core::{Aberrations, Backend, CalibrationHints, Candidate, Control};
pub use ssb_io::OpenOptions;
pub use ssb_io::result::ResultFile;

pub use ssb_core::ndarray;

/// Lengths and angles that carry their unit, and the one table of aberration terms.
pub mod units {
    pub use ssb_core::{Angle, Length, TERMS, Term};
}

// What the modules of this crate share.
pub(crate) use acquisition::{Acquisition, AcquisitionOptions, HotPixels};
pub(crate) use backends::REGISTRY;
pub(crate) use column_sign::{ColumnSign, ColumnState};
pub(crate) use counts::Counts;
pub(crate) use fit::{
    DEGENERATE_LIMIT, Deviation, Journal, Quantity, Refine, SearchRange, Setting,
};
pub(crate) use replay::ReplayOptions;

/// The programs in the documentation compile, and those that can run do.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../README.md")]
    struct Readme;
    #[doc = include_str!("../../docs/backends.md")]
    struct Backends;
}
