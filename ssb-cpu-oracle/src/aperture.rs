//! The soft aperture, numerics section 1: `A(u) = clip((semiangle - alpha)/e + 1/2, 0, 1)` with
//! `e = sqrt((cos phi dalpha_row)^2 + (sin phi dalpha_col)^2)`, one detector pixel wide.

use ssb_core::Geometry;

/// A(u), from 0 (dark) to 1 (open), for `u` in 1/Å.
#[must_use]
pub fn aperture(u: [f64; 2], geometry: &Geometry) -> f64 {
    let alpha = geometry.wavelength_a * u[0].hypot(u[1]);
    let phi = u[1].atan2(u[0]);
    let [row_rad, col_rad] = geometry.det_step_rad;
    let edge_rad = ((phi.cos() * row_rad).powi(2) + (phi.sin() * col_rad).powi(2)).sqrt();
    ((geometry.semiangle_rad - alpha) / edge_rad + 0.5).clamp(0.0, 1.0)
}
