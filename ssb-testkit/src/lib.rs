//! What tests and `ssb parity` share: the independent reference data, the tolerances, synthetic
//! problems and the one conformance suite that every backend must pass.

pub mod candidates;
pub mod conditioning;
pub mod conformance;
pub mod error;
pub mod refdata;
pub mod simulate;
pub mod synthetic;
pub mod timed;
pub mod tolerances;

pub use error::Error;
