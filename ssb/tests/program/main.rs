//! The `ssb` program as its users run it: processes, exit codes, one JSON document, files.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod bad_input;
mod bad_output;
mod basins;
#[cfg(unix)]
mod cancel;
mod fits;
#[cfg(feature = "gpu")]
mod gpu;
mod looking;
mod machine;
mod pains;
mod reference;
mod region;
mod replay;
mod report;
mod results;
mod resume;
mod scores;
mod series;
mod simulated;
mod tutorial;
