//! The degenerate fraction, numerics section 8: of the points (DC out) of BF pixels with
//! `A(k) > 0` where `A(k-q)` or `A(k+q)` is above 0, the share with `|Gamma| <= 1e-8`.

use crate::{GAMMA_FLOOR, Overlap};

/// Counts of supported and of degenerate points.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DegenerateCount {
    /// Points at which the double overlap could be non-zero.
    pub supported: u64,
    /// Those with `|Gamma| <= 1e-8`.
    pub degenerate: u64,
}

impl DegenerateCount {
    /// Adds the points of one BF pixel, DC first and left out.
    pub fn add(&mut self, overlaps: &[Overlap]) {
        for overlap in overlaps[1..].iter().filter(|o| o.supported) {
            self.supported += 1;
            self.degenerate += u64::from(overlap.gamma.norm() <= GAMMA_FLOOR);
        }
    }

    /// The share; 0 when no point is supported.
    #[must_use]
    pub fn fraction(&self) -> f64 {
        if self.supported == 0 {
            0.0
        } else {
            self.degenerate as f64 / self.supported as f64
        }
    }
}
