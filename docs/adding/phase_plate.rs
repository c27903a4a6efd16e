//! A phase plate whose path falls off smoothly from the beam's axis, as that of a Volta phase plate does:
//! `w(alpha) = exp(-|alpha|^2 / (2 sigma^2))`, `sigma = 10 mrad`. Its coefficient is the path at the axis.

use crate::Term;

pub(super) const TERM: Term =
    Term::with_wavefront("Cplate", "", 0, "phase plate on the axis", wavefront);

/// `1 / (2 sigma^2)` in rad^-2.
const FALL_OFF: f64 = 5000.0;

fn wavefront([row, col]: [f64; 2], _: f64) -> f64 {
    (-FALL_OFF * (row * row + col * col)).exp()
}

#[cfg(feature = "cube")]
pub(super) mod on_device {
    use cubecl::prelude::*;

    const FALL_OFF: f32 = super::FALL_OFF as f32;

    #[cube]
    pub fn wavefront(row: f32, col: f32, _angle_rad: f32) -> f32 {
        (-FALL_OFF * (row * row + col * col)).exp()
    }
}
