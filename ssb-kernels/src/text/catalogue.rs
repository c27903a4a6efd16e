//! The kernels whose texts `cargo xtask kernels` reports on.

use super::record::RecordedKernel;

/// The texts of every kernel and plan.
pub fn catalogue() -> Vec<RecordedKernel> {
    Vec::new()
}
