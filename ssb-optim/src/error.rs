//! What can be wrong with a search: its space, its options, or what it was told.

/// Everything that ssb-optim can refuse; each variant says what to do next.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OptimError {
    /// A space has no dimension.
    #[error("the search space has no dimension; give at least one")]
    EmptySpace,
    /// Two dimensions share a name.
    #[error("the search space names '{name}' twice; give each dimension once")]
    RepeatedName {
        /// The repeated name.
        name: String,
    },
    /// A bound is infinite or not a number, or the range overflows.
    #[error("bounds of '{name}' must be finite, got {low} to {high}; give two finite numbers")]
    BoundsNotFinite {
        /// Dimension.
        name: String,
        /// Lower bound, in the unit of the dimension.
        low: f64,
        /// Upper bound, in the unit of the dimension.
        high: f64,
    },
    /// The lower bound is not below the upper one.
    #[error(
        "bounds of '{name}' must rise, got {low} to {high}; swap them, or leave the dimension \
         out to hold it fixed"
    )]
    BoundsReversed {
        /// Dimension.
        name: String,
        /// Lower bound, in the unit of the dimension.
        low: f64,
        /// Upper bound, in the unit of the dimension.
        high: f64,
    },
    /// A period is not positive and finite, or shorter than the range.
    #[error(
        "period of '{name}' must be finite and at least its range {range}, got {period}; \
         narrow the bounds or correct the period"
    )]
    PeriodInvalid {
        /// Dimension.
        name: String,
        /// Upper minus lower bound, in the unit of the dimension.
        range: f64,
        /// Period, in the unit of the dimension.
        period: f64,
    },
    /// A sign twin points to no other dimension, or its bounds include negative values.
    #[error(
        "sign twin of '{name}' must name another periodic dimension and have a lower bound of 0 or \
         more, got dimension {angle} of {dims} and lower bound {low}; correct the twin or the bound"
    )]
    TwinInvalid {
        /// Dimension that carries the twin.
        name: String,
        /// Index of the dimension that turns with the sign.
        angle: usize,
        /// Number of dimensions.
        dims: usize,
        /// Lower bound, in the unit of the dimension.
        low: f64,
    },
    /// No sampler has this name.
    #[error("no sampler is called '{name}'; choose one of {known}")]
    UnknownSampler {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A list has another length than the space has dimensions.
    #[error("{object} must hold {expected} numbers, one a dimension, got {received}")]
    WrongDimension {
        /// What was given.
        object: &'static str,
        /// Number of dimensions.
        expected: usize,
        /// Length given.
        received: usize,
    },
    /// A coordinate is infinite or not a number.
    #[error("coordinate '{name}' of a point must be finite, got {value}; propose another point")]
    PointNotFinite {
        /// Dimension.
        name: String,
        /// Coordinate received.
        value: f64,
    },
    /// A told value is infinite or not a number.
    #[error(
        "trial {number}: a told value must be finite, got {value}; tell a finite value with \
         eligible = false for a candidate that cannot be compared"
    )]
    ValueNotFinite {
        /// Trial, or for Nelder-Mead its evaluation.
        number: usize,
        /// Value received.
        value: f64,
    },
    /// A value was told for a trial that does not wait for one.
    #[error("trial {number} waits for no value; tell each asked trial once")]
    NotWaiting {
        /// Trial.
        number: usize,
    },
    /// The number of told values differs from the number of asked points.
    #[error("{expected} points wait for a value, got {received}; tell all of them in asked order")]
    WrongCount {
        /// Points asked.
        expected: usize,
        /// Values received.
        received: usize,
    },
    /// A Nelder-Mead option is outside its domain.
    #[error("Nelder-Mead option {option} must be {expected}, got {received}")]
    OptionInvalid {
        /// Field of the options.
        option: &'static str,
        /// What it must be.
        expected: String,
        /// What it is.
        received: f64,
    },
}
