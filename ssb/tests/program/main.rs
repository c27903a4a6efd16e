//! The `ssb` program as its users run it: processes, exit codes, one JSON document, files.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod bad_input;
#[cfg(unix)]
mod cancel;
mod looking;
mod machine;
mod pains;
mod results;
mod scores;
mod simulated;
