//! The aberration correction, numerics section 1: `C_b(q) = G_b conj(Gamma) / max(|Gamma|, 1e-8)`,
//! with `C_b(0)` replaced by the mean over all BF pixels of `G_b(0)`.

use ssb_core::num_complex::Complex64;

use crate::Overlap;

/// The floor under `|Gamma|`: at or below it, a point counts as degenerate.
pub const GAMMA_FLOOR: f64 = 1e-8;

/// C_b over the plane, from G_b, Gamma_b and the DC value in counts.
#[must_use]
pub fn corrected(g: &[Complex64], overlaps: &[Overlap], dc: f64) -> Vec<Complex64> {
    let mut c: Vec<Complex64> = g
        .iter()
        .zip(overlaps)
        .map(|(g, Overlap { gamma, .. })| g * gamma.conj() / gamma.norm().max(GAMMA_FLOOR))
        .collect();
    c[0] = Complex64::new(dc, 0.0);
    c
}
