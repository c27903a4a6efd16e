//! The error type of this crate.

use thiserror::Error as ThisError;

/// What went wrong while building test data.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// A fixture of the reference data cannot be read.
    #[error("reference data {name}: {problem}; rerun ssb-testkit/refdata/convert.py")]
    Refdata {
        /// Name of the data set.
        name: String,
        /// What was expected and what was found.
        problem: String,
    },
    /// The core refused the data.
    #[error(transparent)]
    Core(#[from] ssb_core::Error),
}
