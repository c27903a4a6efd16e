//! Fitting aberrations on the exact phase variance: what is searched, the search, its result.

/// Name of the guided search.
const GUIDED: &str = "guided";

mod amount;
mod branch;
mod chart;
mod climb;
mod exact;
#[cfg(feature = "burn")]
mod gradient;
mod guided;
mod honest_limit;
mod journal;
mod of_session;
mod options;
mod outcome;
mod quantity;
mod search;
mod search_space;
mod setting;
mod tilt;

pub use amount::Amount;
pub use branch::Branch;
pub(crate) use guided::Clearness;
pub(crate) use honest_limit::{half_field_a, washed_out_a};
pub use journal::Journal;
pub use options::{FitOptions, Refine};
pub use outcome::{AgreementBest, Deviation, Fit, FitTrial};
pub use quantity::Quantity;
pub use search::DEGENERATE_LIMIT;
pub use setting::{SearchRange, Setting};
