//! What tests and `ssb parity` share: the independent reference data, the tolerances, synthetic
//! problems and the one conformance suite that every backend must pass.

pub mod error;
pub mod refdata;

pub use error::Error;
