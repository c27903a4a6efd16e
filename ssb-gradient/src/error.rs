//! What can be wrong with a request for gradients.

/// Everything that ssb-gradient can refuse; each variant says what to do next.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GradientError {
    /// Nothing moves.
    #[error("no coefficient moves; name at least one")]
    NothingMoves,
    /// Spectra of another shape than pixels and points.
    #[error(
        "spectra of {found:?} values, expected {expected:?} (BF pixels, points); ask the evaluator for these points"
    )]
    Shape {
        /// BF pixels and points.
        expected: [usize; 2],
        /// What came.
        found: [usize; 2],
    },
    /// A point with another number of coordinates.
    #[error("{found} coordinates, expected {expected}; give one a coordinate of the program")]
    Coordinates {
        /// Of the program.
        expected: usize,
        /// What came.
        found: usize,
    },
    /// Tensor data of another type or shape than asked for.
    #[error("tensor data of {found}, expected {expected}; convert the tensor first")]
    Data {
        /// What the call returns.
        expected: &'static str,
        /// What came.
        found: String,
    },
    /// The backend gave no gradient, or a value that is not finite.
    #[error(
        "the agreement came out as {value}, or without a gradient; check the spectra, or use another refinement"
    )]
    NoValue {
        /// What came.
        value: f64,
    },
}
