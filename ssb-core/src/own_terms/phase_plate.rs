//! A phase plate whose shift falls off smoothly from the beam's axis, like that of a Volta phase plate:
//! `w(alpha) = exp(-|alpha|^2 / (2 sigma^2))`, `sigma = 4 mrad`.

use crate::Term;

/// The term: its coefficient is the plate's path at the axis.
pub(super) const TERM: Term =
    Term::with_wavefront("Cplate", "", 0, "phase plate on the axis", wavefront);

const SIGMA_RAD: f64 = 4e-3;

fn wavefront(alpha_rad: [f64; 2], _: f64) -> f64 {
    let [row, col] = alpha_rad;
    (-(row * row + col * col) / (2.0 * SIGMA_RAD * SIGMA_RAD)).exp()
}

#[cfg(feature = "cube")]
pub(super) mod on_device {
    use cubecl::prelude::*;

    #[cube]
    pub fn wavefront(alpha_row_rad: f32, alpha_col_rad: f32, _angle_rad: f32) -> f32 {
        let squared = alpha_row_rad * alpha_row_rad + alpha_col_rad * alpha_col_rad;
        (-squared * 31_250.0).exp()
    }
}
