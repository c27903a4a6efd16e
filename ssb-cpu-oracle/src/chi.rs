//! The aberration phase, numerics section 1:
//! `chi(u) = (2 pi / lambda) sum_nm C_nm / (n+1) alpha^(n+1) cos(m (phi - phi_nm))`, or `C w(alpha)` in the
//! sum for a term with a formula `w` of its own.

use std::f64::consts::TAU;

use ssb_core::{Aberrations, TERMS};

/// chi(u) in radians, for `u` in 1/Å and a wavelength in Å.
#[must_use]
pub fn chi(u: [f64; 2], aberrations: &Aberrations, wavelength_a: f64) -> f64 {
    let alpha = wavelength_a * u[0].hypot(u[1]);
    let phi = u[1].atan2(u[0]);
    let sum: f64 = TERMS
        .iter()
        .zip(aberrations.values())
        .filter(|(_, c)| c.magnitude_a != 0.0)
        .map(|(term, c)| {
            if let Some(path) = term.own {
                return c.magnitude_a * path(u.map(|u| u * wavelength_a), c.angle_rad);
            }
            let order = term.n + 1;
            c.magnitude_a / f64::from(order)
                * alpha.powi(order as i32)
                * (f64::from(term.m) * (phi - c.angle_rad)).cos()
        })
        .sum();
    TAU / wavelength_a * sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssb_core::{Angle, Length};

    #[test]
    fn defocus_and_astigmatism_have_their_closed_form() {
        let (lambda, c10, c12, phi12) = (0.0197_f64, 150.0, 60.0, 0.5_f64);
        let ab = Aberrations::default()
            .with(0, Length::from_a(c10), Angle::default())
            .with(1, Length::from_a(c12), Angle::from_rad(phi12));
        let u = [0.7, -1.1];
        let (row2, col2, cross) = (u[0] * u[0], u[1] * u[1], 2.0 * u[0] * u[1]);
        let expected = std::f64::consts::PI
            * lambda
            * (c10 * (row2 + col2)
                + c12 * ((2.0 * phi12).cos() * (row2 - col2) + (2.0 * phi12).sin() * cross));
        assert!((chi(u, &ab, lambda) - expected).abs() < 1e-12 * expected.abs());
    }

    #[test]
    fn parity_under_reversal_is_that_of_m() {
        for (index, term) in TERMS.iter().enumerate().filter(|(_, t)| t.own.is_none()) {
            let ab = Aberrations::default().with(index, Length::from_a(1e4), Angle::from_rad(0.3));
            let (plus, minus) = (chi([0.7, -1.1], &ab, 0.02), chi([-0.7, 1.1], &ab, 0.02));
            let sign = if term.m % 2 == 0 { 1.0 } else { -1.0 };
            assert!(plus.abs() > 1e-9 && (plus - sign * minus).abs() < 1e-9 * plus.abs());
        }
    }
}
