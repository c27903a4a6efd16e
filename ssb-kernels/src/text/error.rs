//! What can go wrong between a kernel, its text and its run on the host.

use std::path::PathBuf;

/// An error of a text runtime. It reaches the caller as the reason of a CubeCL `ServerError`.
#[derive(Clone, Debug, thiserror::Error)]
pub enum TextError {
    /// There is no C++ compiler.
    #[error(
        "running kernel texts needs a C++ compiler; none of {tried} answers. Install g++ or clang++, or set CXX"
    )]
    NoCompiler {
        /// The commands that were tried.
        tried: String,
    },
    /// CubeCL refuses the kernel.
    #[error("kernel {kernel} has no text: {reason}")]
    NoText {
        /// The kernel's name.
        kernel: String,
        /// CubeCL's words.
        reason: String,
    },
    /// The text is not valid C++ of its language.
    #[error("the text of kernel {kernel} does not compile:\n{message}\nThe text is in {}", text.display())]
    Compile {
        /// The kernel's name.
        kernel: String,
        /// The compiler's first lines.
        message: String,
        /// Where the text was left.
        text: PathBuf,
    },
    /// The run found a fault: out of bounds, a data race, a divergent barrier.
    #[error("kernel {kernel}: {message}")]
    Run {
        /// The kernel's name.
        kernel: String,
        /// What was found, and where.
        message: String,
    },
    /// The launch does not fit the text or the device.
    #[error("kernel {kernel} cannot be launched: {reason}")]
    Launch {
        /// The kernel's name.
        kernel: String,
        /// What does not fit.
        reason: String,
    },
    /// The folder of compiled texts cannot be used.
    #[error("{what} {}: {reason}", path.display())]
    File {
        /// What was tried.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
}

impl TextError {
    /// For `map_err` on a file operation.
    pub(super) fn file<E: std::fmt::Display>(
        what: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(E) -> TextError {
        let path = path.into();
        move |error| TextError::File {
            what,
            path,
            reason: error.to_string(),
        }
    }
}
