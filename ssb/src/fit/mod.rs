//! Fitting aberrations on the exact phase variance: what is searched, the search, its result.

mod journal;
mod options;
mod outcome;
mod quantity;
mod search;
mod search_space;

pub use journal::Journal;
pub(crate) use journal::JournaledEvaluator;
pub use options::{FitOptions, Refine};
pub use outcome::{Fit, FitTrial};
pub use quantity::{Quantity, SearchRange, Setting};
pub use search::DEGENERATE_LIMIT;
pub(crate) use search::search;
