//! The probe in reciprocal space, numerics section 1: `P(u) = A(u) exp(-i chi(u))`.

use ssb_core::num_complex::Complex64;
use ssb_core::{Aberrations, Geometry};

use crate::{aperture, chi};

/// P(u) for `u` in 1/Å.
#[must_use]
pub fn probe(u: [f64; 2], geometry: &Geometry, aberrations: &Aberrations) -> Complex64 {
    let open = aperture(u, geometry);
    if open == 0.0 {
        return Complex64::ZERO;
    }
    Complex64::from_polar(open, -chi(u, aberrations, geometry.wavelength_a))
}
