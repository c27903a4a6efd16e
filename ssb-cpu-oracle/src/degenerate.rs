//! The degenerate fraction, numerics section 8: of the points (DC out) of BF pixels with
//! `A(k) > 0` where `A(k-q)` or `A(k+q)` is above 0, the share with `|Gamma| <= 1e-8`.

use ssb_core::Geometry;
use ssb_core::num_complex::Complex64;

use crate::{GAMMA_FLOOR, Gamma};

/// Counts of supported and of degenerate points.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DegenerateCount {
    /// Points at which the double overlap could be non-zero.
    pub supported: u64,
    /// Those with `|Gamma| <= 1e-8`.
    pub degenerate: u64,
}

impl DegenerateCount {
    /// Adds the points of one BF pixel, whose Gamma over the plane is `plane`.
    pub fn add(&mut self, geometry: &Geometry, gamma: &Gamma<'_>, plane: &[Complex64]) {
        let cols = geometry.q_col_per_a();
        let rows = geometry.q_row_per_a();
        for (i, value) in plane.iter().enumerate().skip(1) {
            let q = [rows[i / cols.len()], cols[i % cols.len()]];
            if gamma.is_supported(q) {
                self.supported += 1;
                self.degenerate += u64::from(value.norm() <= GAMMA_FLOOR);
            }
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
