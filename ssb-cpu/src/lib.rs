//! The production CPU backend: float32, half spectrum, factored correction, all cores.
//!
//! What is computed is numerics section 1; how is sections 2 (half spectrum, Nyquist lines
//! included), 3 (factored correction with aperture tables) and 4 (thick model). Transforms and corrections run
//! over tiles of vectors, without shuffles but for one transpose. The work over BF
//! pixels is cut into a fixed number of lanes, each summed in a fixed order and combined in order, so
//! that results do not depend on the number of threads and repeat to the bit on one machine.

mod agreement;
mod aligned;
mod bandwidth;
mod butterfly;
mod candidate_tables;
mod correct_line;
mod correct_tile;
mod edge;
mod entry;
mod evaluator;
mod half_plane;
mod lanes;
mod lattice;
mod layout;
mod line_transform;
mod loss;
mod nyquist_line;
mod object;
mod phase;
mod phase_source;
mod phase_terms;
mod pixel;
mod plan;
mod reach;
mod reuse;
mod spectra;
mod store;
mod support;
mod transpose;
mod turns;
mod vectors;

pub use entry::CPU;
pub use plan::HALF_PLANE;
