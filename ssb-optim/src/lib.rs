//! Minimisation of expensive functions, asked and told: vectors and numbers, no physics.
//!
//! A [`Study`] owns a [`Space`], the history and a memo of candidates equal in float32, and asks
//! the next candidates of one of the [`SAMPLERS`]: `tpe`, `random` or `grid`. [`NelderMead`]
//! and [`QuadraticDescent`] refine a start with the same ask and tell, and [`distinct_starts`] chooses the starts.
//!
//! Neither kept crate does what the specification asks. `argmin` 0.11 drives Nelder-Mead itself
//! instead of being asked and told, and stops on the standard deviation of the values alone,
//! without tolerances of the coordinates, bounds or a limit of evaluations a start; `tpe` 0.3
//! weighs observations of any age alike, lets the prior be their neighbour where Optuna 4 does
//! not, and takes its functions from the platform, whose last bits differ.

mod cholesky;
mod error;
mod nelder_mead;
mod quadratic;
mod samplers;
mod space;
mod starts;
mod study;

pub use cholesky::inverse_of_positive;
pub use error::OptimError;
pub use nelder_mead::{NelderMead, NelderMeadOptions, Stop};
pub use quadratic::{QuadraticDescent, QuadraticOptions};
pub use samplers::{SAMPLERS, Sampler, sampler};
pub use space::{Dim, SignTwin, Space};
pub use starts::{StartOptions, distinct_starts, leads_clearly};
pub use study::{Score, Study, Trial};
