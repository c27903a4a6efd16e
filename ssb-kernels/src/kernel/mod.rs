//! The kernels, written once for every target.
//!
//! Shapes are in complex values unless said; `layout` says where things lie in the shared buffers.

pub(crate) mod columns;
pub(crate) mod correct;
pub(crate) mod fourier_sum;
pub(crate) mod launch;
pub(crate) mod layout;
pub(crate) mod lines;
pub(crate) mod moments;
pub(crate) mod nyquist;
pub(crate) mod on_chip;
pub(crate) mod prepare;
pub(crate) mod reduce;
pub(crate) mod rows;
pub(crate) mod spectra;
pub(crate) mod stepwise;
pub(crate) mod tables;
#[cfg(test)]
mod tests;

use cubecl::prelude::*;

/// A complex number: real and imaginary part.
pub(crate) type C32 = Vector<f32, Const<2>>;
