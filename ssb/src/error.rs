//! The error of the library and the program, with its exit code and its machine-readable kind.

use std::path::PathBuf;

use thiserror::Error as ThisError;

use crate::figure::FigureError;

/// Everything that can stop `ssb`.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// Geometry, calibration, candidates or a backend.
    #[error(transparent)]
    Core(#[from] ssb_core::Error),
    /// A file that was read or a result file.
    #[error(transparent)]
    Io(#[from] ssb_io::IoError),
    /// The search space or an option of the search.
    #[error(transparent)]
    Optim(#[from] ssb_optim::OptimError),
    /// A picture.
    #[error(transparent)]
    Figure(#[from] FigureError),
    /// A candidate file that cannot be used.
    #[error("candidates {}: {problem}; {action}", path.display())]
    Candidates {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// What to do next.
        action: String,
    },
    /// A place that cannot be written to.
    #[error("output {}: {problem}; {action}", path.display())]
    Output {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong.
        problem: String,
        /// What to do next.
        action: String,
    },
    /// A journal of a fit that cannot be used.
    #[error("journal {}: {object}: {problem}; {action}", path.display())]
    Journal {
        /// The file.
        path: PathBuf,
        /// Which part of it: a line with its byte, the request, or the file itself.
        object: String,
        /// What is wrong.
        problem: String,
        /// What to do next.
        action: String,
    },
    /// Options that contradict each other or the data.
    #[error("{object}: {problem}; {action}")]
    Request {
        /// The option.
        object: String,
        /// What is wrong.
        problem: String,
        /// What to do next.
        action: String,
    },
}

impl Error {
    /// An option that contradicts another or the data.
    pub(crate) fn request(
        object: impl Into<String>,
        problem: impl Into<String>,
        action: impl Into<String>,
    ) -> Self {
        Self::Request {
            object: object.into(),
            problem: problem.into(),
            action: action.into(),
        }
    }

    /// A place that cannot be written to.
    pub(crate) fn output(
        path: impl Into<PathBuf>,
        problem: impl ToString,
        action: impl Into<String>,
    ) -> Self {
        Self::Output {
            path: path.into(),
            problem: problem.to_string(),
            action: action.into(),
        }
    }

    /// Whether the work was cancelled by the caller.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.kind() == "cancelled"
    }

    /// 1 for a request that cannot be carried out, 3 for a fault of the program or a device, 130
    /// when cancelled.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            _ if self.is_cancelled() => 130,
            Self::Core(e) | Self::Io(ssb_io::IoError::Core(e)) if !e.is_user_error() => 3,
            _ => 1,
        }
    }

    /// A short stable name of the kind of error; those of files are the words of the format
    /// fixtures, e.g. `truncated` or `needs_scan_shape`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Core(e) => e.kind(),
            Self::Io(e) => e.kind(),
            Self::Optim(_) => "bad_search",
            Self::Figure(_) => "figure",
            Self::Candidates { .. } => "bad_candidates",
            Self::Output { .. } => "output",
            Self::Journal { .. } => "journal",
            Self::Request { .. } => "bad_request",
        }
    }

    /// The file at fault, where the error knows it.
    #[must_use]
    pub fn file(&self) -> Option<String> {
        match self {
            Self::Io(e) => e.file().map(|f| f.display().to_string()),
            Self::Candidates { path, .. }
            | Self::Output { path, .. }
            | Self::Journal { path, .. } => Some(path.display().to_string()),
            _ => None,
        }
    }

    /// The object at fault: a dataset, an option, a named value.
    #[must_use]
    pub fn object(&self) -> Option<String> {
        match self {
            Self::Io(e) => Some(e.object().to_owned()).filter(|o| !o.is_empty()),
            Self::Core(
                ssb_core::Error::BadValue { object, .. }
                | ssb_core::Error::BadEvidence { object, .. },
            )
            | Self::Request { object, .. }
            | Self::Journal { object, .. } => Some(object.clone()),
            Self::Core(ssb_core::Error::UnknownTerm { name, .. }) => Some(name.clone()),
            Self::Core(ssb_core::Error::MissingCalibration { flags, .. }) => Some(flags.join(" ")),
            Self::Core(
                ssb_core::Error::Unsuitable { backend, .. }
                | ssb_core::Error::BackendUnavailable { backend, .. }
                | ssb_core::Error::OverBudget { backend, .. },
            ) => Some(format!("backend {backend}")),
            Self::Core(ssb_core::Error::NoDisk { .. }) => Some("bright-field disk".into()),
            _ => None,
        }
    }
}
