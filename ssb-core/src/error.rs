//! The error type shared by the core, the evaluators and the backends.

use thiserror::Error as ThisError;

/// What went wrong in geometry, candidates, planning or an evaluation.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// A value with a unit did not parse.
    #[error("{object}: expected {expected}, found `{found}`; {action}")]
    BadValue {
        /// What was being read, e.g. `aberration C10`.
        object: String,
        /// What would have been right, with units.
        expected: String,
        /// What was there.
        found: String,
        /// What to do next.
        action: String,
    },
    /// A name is not in the table of aberration terms.
    #[error("unknown aberration `{name}`: known names are {known}")]
    UnknownTerm {
        /// The name as given.
        name: String,
        /// Names that exist.
        known: String,
    },
    /// Calibration values that are neither in the file nor given.
    #[error("calibration is missing {}: give {}", names.join(", "), flags.join(" "))]
    MissingCalibration {
        /// Names of the missing quantities with units.
        names: Vec<String>,
        /// The arguments that supply them.
        flags: Vec<String>,
    },
    /// No bright-field disk could be found, or none fits.
    #[error("bright-field disk: {problem}; {action}")]
    NoDisk {
        /// What was found instead of a disk.
        problem: String,
        /// What to do next.
        action: String,
    },
    /// The evidence contradicts itself or the geometry.
    #[error("{object}: expected {expected}, found {found}; {action}")]
    BadEvidence {
        /// Which array or pixel.
        object: String,
        /// What was expected.
        expected: String,
        /// What was found.
        found: String,
        /// What to do next.
        action: String,
    },
    /// A request that this backend cannot carry out.
    #[error("backend {backend} cannot do this: {reason}")]
    Unsuitable {
        /// Backend name.
        backend: String,
        /// Why, and what to do.
        reason: String,
    },
    /// A named backend or device does not exist or cannot run here.
    #[error("backend `{backend}` is not usable: {reason}")]
    BackendUnavailable {
        /// Backend name as asked for.
        backend: String,
        /// The missing thing and the next action.
        reason: String,
    },
    /// The plan does not fit into the memory budget.
    #[error(
        "memory: {backend} needs {needed_bytes} bytes for this problem, the budget is \
         {budget_bytes} bytes; raise --max-memory or use fewer bright-field pixels"
    )]
    OverBudget {
        /// Backend name.
        backend: String,
        /// Bytes the plan asks for.
        needed_bytes: u64,
        /// Bytes allowed.
        budget_bytes: u64,
    },
    /// The caller asked to stop.
    #[error("cancelled")]
    Cancelled,
    /// An evaluation gave a value that cannot be right.
    #[error("internal fault: {0}")]
    Internal(String),
}

impl Error {
    /// Whether the caller's request, data or machine is at fault rather than this library.
    ///
    /// ```
    /// assert!(!ssb_core::Error::Internal("loss is NaN".into()).is_user_error());
    /// ```
    #[must_use]
    pub fn is_user_error(&self) -> bool {
        !matches!(self, Self::Internal(_) | Self::Cancelled)
    }

    /// A short stable name of the kind of error, for machine-readable output.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::BadValue { .. } => "bad_value",
            Self::UnknownTerm { .. } => "unknown_aberration",
            Self::MissingCalibration { .. } => "missing_calibration",
            Self::NoDisk { .. } => "no_bf_disk",
            Self::BadEvidence { .. } => "bad_evidence",
            Self::Unsuitable { .. } => "unsuitable",
            Self::BackendUnavailable { .. } => "backend_unavailable",
            Self::OverBudget { .. } => "over_budget",
            Self::Cancelled => "cancelled",
            Self::Internal(_) => "internal",
        }
    }
}
