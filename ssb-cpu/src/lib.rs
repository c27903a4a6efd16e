//! The production CPU backend: float32, half spectrum, factored correction, all cores.
//!
//! What is computed is numerics section 1; how is sections 2 (half spectrum, Nyquist lines
//! included), 3 (factored correction with aperture tables) and 4 (thick model). The work over BF
//! pixels is cut into a fixed number of lanes, each summed in a fixed order and combined in order, so
//! that results do not depend on the number of threads and repeat to the bit on one machine.

mod agreement;
mod bandwidth;
mod candidate_tables;
mod correct;
mod entry;
mod evaluator;
mod lanes;
mod nyquist;
mod object;
mod phase;
mod pixel;
mod plan;
mod prepare;
mod support;
mod transform;
mod turns;

pub use entry::CPU;
pub use plan::HALF_PLANE;
