//! Aberration terms with a formula of their own: one file here and its name in the list below.
//!
//! A file has three items: `TERM`, a [`Term::with_wavefront`](crate::Term::with_wavefront); its formula in
//! float64, for the oracle and the CPU; and the same formula for devices, the `#[cube]` function
//! `on_device::wavefront`. `docs/adding.md` has a worked example, which CI builds and tests.

use crate::Term;

macro_rules! own_terms {
    ($($name:ident),* $(,)?) => {
        $(mod $name;)*

        /// The registered terms.
        pub(crate) const OWN: &[Term] = &[$($name::TERM),*];

        /// Number of terms with a formula of their own: the last ones of [`TERMS`](crate::TERMS).
        pub const OWN_TERMS: usize = OWN.len();

        #[cfg(feature = "cube")]
        #[allow(missing_docs, reason = "what `#[cube]` generates has no documentation")]
        mod on_device {
            use cubecl::prelude::*;

            #[allow(unused_imports)]
            use super::*;

            /// The path of own term `which` for a unit coefficient, on a device.
            #[cube]
            #[allow(unused_variables, unused_mut)]
            pub fn own_path(
                alpha_row_rad: f32,
                alpha_col_rad: f32,
                angle_rad: f32,
                #[comptime] which: usize,
            ) -> f32 {
                let mut path = 0.0;
                $(
                    if comptime!(OWN[which].name == $name::TERM.name) {
                        path = $name::on_device::wavefront(alpha_row_rad, alpha_col_rad, angle_rad);
                    }
                )*
                path
            }
        }
        #[cfg(feature = "cube")]
        pub use on_device::own_path;
    };
}

// The registry: one line for each file of this folder.
own_terms!();
