//! The double overlap, numerics section 1: `Gamma_b(q) = P(k-q) P*(k) - P*(k+q) P(k)`, and its two
//! weights for a thick, tilted specimen, numerics section 4: `sinc(r t/2)` with
//! `r1 = -(pi/lambda)(alpha(k-q)^2 - alpha(k)^2) - 2 pi q.theta` and
//! `r2 = +(pi/lambda)(alpha(k+q)^2 - alpha(k)^2) - 2 pi q.theta`.

use std::f64::consts::{PI, TAU};

use ssb_core::num_complex::Complex64;
use ssb_core::{Candidate, Geometry};

use crate::probe;

/// Gamma of one BF pixel and one candidate, as a function of `q`.
#[derive(Debug, Clone)]
pub struct Gamma<'a> {
    geometry: &'a Geometry,
    candidate: &'a Candidate,
    k_per_a: [f64; 2],
    probe_k: Complex64,
}

/// Gamma at one scan frequency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overlap {
    /// `Gamma_b(q)`.
    pub gamma: Complex64,
    /// Whether `A(k) > 0` and `A(k-q)` or `A(k+q)` is above 0.
    pub supported: bool,
}

/// `sin x / x`, 1 at 0.
fn sinc(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { x.sin() / x }
}

impl<'a> Gamma<'a> {
    /// Gamma of the BF pixel at `k_per_a` in 1/Å (rotated into the scan frame).
    #[must_use]
    pub fn new(geometry: &'a Geometry, candidate: &'a Candidate, k_per_a: [f64; 2]) -> Self {
        Self {
            geometry,
            candidate,
            k_per_a,
            probe_k: probe(k_per_a, geometry, &candidate.aberrations),
        }
    }

    /// Gamma(q) for `q` in 1/Å.
    #[must_use]
    pub fn at(&self, q: [f64; 2]) -> Overlap {
        let k = self.k_per_a;
        let (minus, plus) = ([k[0] - q[0], k[1] - q[1]], [k[0] + q[0], k[1] + q[1]]);
        let ab = &self.candidate.aberrations;
        let probe_minus = probe(minus, self.geometry, ab);
        let probe_plus = probe(plus, self.geometry, ab);
        let (weight_minus, weight_plus) = self.depth_weights(q, minus, plus);
        Overlap {
            gamma: probe_minus * self.probe_k.conj() * weight_minus
                - probe_plus.conj() * self.probe_k * weight_plus,
            // |P| = A: no sideband reaches a point where both apertures are dark.
            supported: self.probe_k != Complex64::ZERO
                && (probe_minus != Complex64::ZERO || probe_plus != Complex64::ZERO),
        }
    }

    /// The averages over depth of the two sidebands; both are 1 for a thin specimen.
    fn depth_weights(&self, q: [f64; 2], minus: [f64; 2], plus: [f64; 2]) -> (f64, f64) {
        let lambda_a = self.geometry.wavelength_a;
        let half_depth_a = self.candidate.depth_spread_nm * 10.0 / 2.0;
        let tilt_rad = self.candidate.tilt_mrad.map(|t| t * 1e-3);
        let alpha_squared = |u: [f64; 2]| lambda_a * lambda_a * (u[0] * u[0] + u[1] * u[1]);
        let alpha_squared_k = alpha_squared(self.k_per_a);
        let shift = TAU * (q[0] * tilt_rad[0] + q[1] * tilt_rad[1]);
        let r1 = -(PI / lambda_a) * (alpha_squared(minus) - alpha_squared_k) - shift;
        let r2 = (PI / lambda_a) * (alpha_squared(plus) - alpha_squared_k) - shift;
        (sinc(r1 * half_depth_a), sinc(r2 * half_depth_a))
    }

    /// Gamma over the whole plane of scan frequencies, row-major in transform order.
    #[must_use]
    pub fn plane(&self) -> Vec<Overlap> {
        let cols = self.geometry.q_col_per_a();
        self.geometry
            .q_row_per_a()
            .into_iter()
            .flat_map(|row| cols.iter().map(move |col| [row, *col]))
            .map(|q| self.at(q))
            .collect()
    }
}
