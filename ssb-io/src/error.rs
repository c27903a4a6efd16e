//! The error type of reading: what kind, which file and object, what was expected and found, and
//! what to do next.

use std::fmt;
use std::path::{Path, PathBuf};

use thiserror::Error as ThisError;

/// Where something went wrong and what would have been right.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fault {
    /// The file concerned.
    pub file: PathBuf,
    /// The object inside the file; empty when the whole file is meant.
    pub object: String,
    /// What would have been right.
    pub expected: String,
    /// What is there.
    pub found: String,
    /// What to do next.
    pub action: String,
    /// Frames found and expected, where they could be counted.
    pub frames: Option<[usize; 2]>,
}

impl Fault {
    /// A fault of a file, to be completed.
    pub(crate) fn of(file: &Path) -> Box<Self> {
        Box::new(Self {
            file: file.to_owned(),
            ..Self::default()
        })
    }

    pub(crate) fn object(mut self: Box<Self>, object: impl Into<String>) -> Box<Self> {
        self.object = object.into();
        self
    }

    pub(crate) fn expected(mut self: Box<Self>, expected: impl Into<String>) -> Box<Self> {
        self.expected = expected.into();
        self
    }

    pub(crate) fn found(mut self: Box<Self>, found: impl Into<String>) -> Box<Self> {
        self.found = found.into();
        self
    }

    pub(crate) fn action(mut self: Box<Self>, action: impl Into<String>) -> Box<Self> {
        self.action = action.into();
        self
    }

    pub(crate) fn frames(mut self: Box<Self>, found: usize, expected: usize) -> Box<Self> {
        self.frames = Some([found, expected]);
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if !self.object.is_empty() {
            write!(f, ", {}", self.object)?;
        }
        write!(f, ": expected {}, found {}", self.expected, self.found)?;
        if !self.action.is_empty() {
            write!(f, "; {}", self.action)?;
        }
        Ok(())
    }
}

macro_rules! io_errors {
    ($($(#[doc = $doc:literal])+ $variant:ident, $kind:literal, $message:literal;)*) => {
        /// Why a file could not be read.
        #[derive(Debug, ThisError)]
        #[non_exhaustive]
        pub enum IoError {
            $($(#[doc = $doc])+ #[error($message)] $variant(Box<Fault>),)*
            /// A fault of the evidence, or the request to stop.
            #[error(transparent)]
            Core(#[from] ssb_core::Error),
        }

        impl IoError {
            /// A short stable name of the kind of error, for machine-readable output.
            #[must_use]
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $kind,)*
                    Self::Core(error) => error.kind(),
                }
            }

            /// The place and the facts, unless the error is one of `ssb_core`.
            #[must_use]
            pub fn fault(&self) -> Option<&Fault> {
                match self {
                    $(Self::$variant(fault) => Some(fault),)*
                    Self::Core(_) => None,
                }
            }
        }
    };
}

io_errors! {
    /// The path does not exist.
    NotFound, "not_found", "no such file: {0}";
    /// The path is not a readable data file, e.g. a folder without exactly one master.
    NotAFile, "not_a_file", "not a data file: {0}";
    /// The operating system refused.
    System, "io", "the file could not be read or written: {0}";
    /// The file is of no known format.
    NotHdf5, "not_hdf5", "unknown format: {0}";
    /// The file has 0 bytes.
    EmptyFile, "empty_file", "the file is empty: {0}";
    /// The file ends before its data does.
    Truncated, "truncated", "the file is truncated: {0}";
    /// A file named by a link or a virtual dataset is not there.
    MissingExternalFile, "missing_external_file", "a linked file is missing: {0}";
    /// A chunk does not decode.
    CorruptChunk, "corrupt_chunk", "a chunk is corrupt: {0}";
    /// A filter that is not decoded.
    UnsupportedFilter, "unsupported_filter", "unsupported filter: {0}";
    /// The number of frames does not fit the scan shape.
    FrameCountMismatch, "frame_count_mismatch", "the frames do not fit the scan: {0}";
    /// Data files disagree on detector shape or type.
    InconsistentFrames, "inconsistent_frames", "the data files disagree: {0}";
    /// An axis of length 0.
    ZeroSize, "zero_size", "there are no data: {0}";
    /// No dataset of 3 or 4 dimensions.
    No4dData, "no_4d_data", "no 4D-STEM data: {0}";
    /// Samples that are neither integers nor real numbers of a supported width.
    UnsupportedDtype, "unsupported_dtype", "unsupported sample type: {0}";
    /// A storage layout that is not read.
    UnsupportedLayout, "unsupported_layout", "unsupported layout: {0}";
    /// NaN or infinity among the values.
    NonFinite, "non_finite", "the data hold NaN or infinity: {0}";
    /// A header does not parse.
    BadHeader, "bad_header", "the header does not parse: {0}";
    /// Several datasets fit and none was named.
    AmbiguousDataset, "ambiguous_dataset", "several datasets fit: {0}";
    /// A stack of frames whose scan shape is not in the file and was not given.
    NeedsScanShape, "needs_scan_shape", "the scan shape is unknown: {0}";
    /// An option that does not fit the data.
    BadOption, "bad_option", "an option does not fit: {0}";
    /// The plan exceeds the memory budget that was given.
    OverBudget, "over_budget", "the plan exceeds the memory budget: {0}";
    /// The data do not fit into memory.
    OutOfMemory, "out_of_memory", "not enough memory: {0}";
    /// The file is not a result of this program.
    NotAResult, "not_a_result", "not a result file: {0}";
    /// A part of a result file is missing or does not fit the others.
    BadResult, "bad_result", "the result file is damaged: {0}";
}

impl IoError {
    /// Columns of a companion whose hash is not the one that was written with them.
    #[must_use]
    pub fn corrupt_columns(file: &Path, stated_sha256: &str) -> Self {
        Self::CorruptChunk(
            Fault::of(file)
                .object("/columns")
                .expected(format!("columns with the hash {stated_sha256}"))
                .found("others: the file was damaged")
                .action("make the companion again with ssb convert"),
        )
    }

    /// The file concerned.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.fault().map(|fault| fault.file.as_path())
    }

    /// The object inside the file; empty when the whole file is meant.
    #[must_use]
    pub fn object(&self) -> &str {
        self.fault().map_or("", |fault| fault.object.as_str())
    }

    /// Frames found and expected, for errors that counted them.
    #[must_use]
    pub fn frames(&self) -> Option<[usize; 2]> {
        self.fault().and_then(|fault| fault.frames)
    }

    /// Wraps a failure of the operating system.
    pub(crate) fn system(file: &Path, error: &std::io::Error) -> Self {
        let fault = Fault::of(file).found(error.to_string());
        match error.kind() {
            std::io::ErrorKind::NotFound => Self::NotFound(
                fault
                    .expected("a file")
                    .found("nothing")
                    .action("check the path"),
            ),
            std::io::ErrorKind::UnexpectedEof => Self::Truncated(
                fault
                    .expected("more bytes")
                    .found("the end of the file")
                    .action("copy the file again"),
            ),
            _ => Self::System(
                fault
                    .expected("access to the file")
                    .action("check permissions and the disk"),
            ),
        }
    }
}
