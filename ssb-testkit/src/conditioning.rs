//! Which points of a problem no float32 evaluation can be asked to get right.
//!
//! The definition has jumps. `C_b = G_b conj(Gamma) / |Gamma|` turns around where Gamma passes through
//! 0, which happens on lines of `q` (for C10 and C12: on the zeros of `sin chi(q)`), and it switches
//! on where the last dark aperture opens. A grid point that lies on such a line within float32 rounding
//! has no float32 answer: one such point in 10^5 shifts every pixel of the mean phase by some 1e-5 rad.
//! In generic data the expected number of such points is well below one a candidate, so synthetic
//! problems are drawn without any, and the bounds of numerics section 6 then hold as they stand. The
//! exact zeros of the degenerate starts (Gamma = 0 by symmetry) are not marginal: a backend has to get
//! them.

use ssb_core::{Candidate, Geometry};
use ssb_cpu_oracle::{GAMMA_FLOOR, Gamma};

/// Relative size of Gamma, `|Gamma| / (A(k) (A(k-q) + A(k+q)))`, below which its sign is in doubt:
/// some ten float32 roundings of a phase of a few radians.
pub const GAMMA_MARGIN: f64 = 4e-6;

/// Relative size of Gamma below which it is 0 by symmetry and only float64 rounding is left.
pub const GAMMA_EXACT_ZERO: f64 = 1e-11;

/// Distance of the unclipped aperture from 0 below which open or dark is in doubt: the float32
/// rounding of alpha over an edge of a few hundredths of it.
pub const APERTURE_MARGIN: f64 = 4e-6;

/// The aperture before clipping, negative where dark.
fn unclipped(u: [f64; 2], geometry: &Geometry) -> f64 {
    let radius = u[0].hypot(u[1]);
    if radius == 0.0 {
        return f64::INFINITY;
    }
    let [row_rad, col_rad] = geometry.det_step_rad;
    let edge_rad = (u[0] * row_rad).hypot(u[1] * col_rad) / radius;
    (geometry.semiangle_rad - geometry.wavelength_a * radius) / edge_rad + 0.5
}

/// Whether any point of any BF pixel is marginal for this candidate.
#[must_use]
pub fn has_marginal_point(geometry: &Geometry, candidate: &Candidate) -> bool {
    let (rows, cols) = (geometry.q_row_per_a(), geometry.q_col_per_a());
    let ks = geometry.k_per_a(geometry.rotation_of(candidate));
    ks.into_iter().any(|k| {
        let open_k = unclipped(k, geometry);
        if open_k.abs() < APERTURE_MARGIN {
            return true;
        }
        if open_k < 0.0 {
            return false;
        }
        let gamma = Gamma::new(geometry, candidate, k);
        let points = rows
            .iter()
            .flat_map(|row| cols.iter().map(move |col| [*row, *col]));
        points.skip(1).any(|q| {
            let minus = unclipped([k[0] - q[0], k[1] - q[1]], geometry);
            let plus = unclipped([k[0] + q[0], k[1] + q[1]], geometry);
            let most = minus.max(plus);
            if most.abs() < APERTURE_MARGIN {
                return true;
            }
            if most < 0.0 {
                return false;
            }
            let size = gamma.at(q).gamma.norm();
            let scale = open_k.min(1.0) * (minus.clamp(0.0, 1.0) + plus.clamp(0.0, 1.0));
            let relative = size / scale;
            let turning = relative > GAMMA_EXACT_ZERO && relative < GAMMA_MARGIN;
            let at_floor = size > 0.5 * GAMMA_FLOOR && size < 2.0 * GAMMA_FLOOR;
            turning || at_floor
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::PROBLEMS;
    use ssb_core::{Angle, Length};

    #[test]
    fn a_candidate_with_gamma_near_zero_is_marginal() {
        let problem = PROBLEMS[3].problem().unwrap();
        let geometry = problem.geometry();
        // pi lambda q^2 C10 = pi (1 + 1e-7) at the first frequency along the rows.
        let q_per_a = geometry.q_row_per_a()[1];
        let c10_a = (1.0 + 1e-7) / (geometry.wavelength_a * q_per_a * q_per_a);
        let with = |c10_a: f64| {
            let mut candidate = Candidate::default();
            candidate.aberrations =
                candidate
                    .aberrations
                    .with(0, Length::from_a(c10_a), Angle::default());
            candidate
        };
        assert!(has_marginal_point(geometry, &with(c10_a)));
        assert!(!has_marginal_point(geometry, &with(0.731 * c10_a)));
    }
}
