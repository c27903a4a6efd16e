//! Development checks.
fn main() {}
