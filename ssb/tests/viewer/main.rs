//! `ssb view` as its users run it, in a real browser, and as those meet it who should not.

#![cfg(feature = "view")]
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod browser;
mod client;
mod page;
mod refused;
mod serving;
