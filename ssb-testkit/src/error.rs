//! The error type of this crate.

use thiserror::Error as ThisError;

use crate::synthetic::Stored;

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
    /// Every draw met a point that no float32 evaluation can get right.
    #[error(
        "synthetic problem {problem}: {object} met a marginal point at every draw; change its \
         seed or geometry"
    )]
    Marginal {
        /// The recipe.
        problem: String,
        /// What was drawn.
        object: String,
    },
    /// A synthetic count does not fit its type.
    #[error("synthetic count {value} does not fit {stored:?}; lower the counts of the recipe")]
    OutOfRange {
        /// The type.
        stored: Stored,
        /// The count.
        value: f64,
    },
    /// The core refused the data.
    #[error(transparent)]
    Core(#[from] ssb_core::Error),
}
