//! The agreement S (numerics section 4) as a differentiable program on Burn tensors.
//!
//! Every term is linear in its coefficient, so at chosen scan frequencies the phases are a matrix times the coordinates:
//! `(chi(k+q) - chi(k-q)) / 2 = o_0 + sum_j x_j o_j` and likewise for `d`. A term that a researcher adds is in it with the
//! formula of its one file. [`AgreementProgram::agreement`] is written for any Burn backend that differentiates;
//! [`ascend`] climbs it on the host in float64. [`complex_data`], [`array_data`], [`columns_data`] and their inverses move prepared
//! data and results between `ndarray` and Burn.

mod ascent;
mod error;
mod interchange;
mod program;

pub use ascent::{Ascended, AscentOptions, ascend};
pub use error::GradientError;
pub use interchange::{array_data, columns_data, complex_data, data_array, data_complex};
pub use program::{AgreementProgram, Coordinate, Host};
