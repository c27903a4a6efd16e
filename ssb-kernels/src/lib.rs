//! Single-sideband ptychography kernels, written once in CubeCL for CUDA, Metal, Vulkan and WebGPU.
//!
//! What is computed is numerics section 1, in the forms of sections 2 to 5. The folders `device` and
//! `text` know no ptychography: a second family of kernels can use them as they are.

pub mod backend;
pub mod device;
mod evaluator;
mod kernel;
pub mod line;
pub mod plan;
#[cfg(feature = "texts")]
pub mod text;

pub use evaluator::{SHORTEST_AXIS, prepare};
