//! Transforms of lines of any length in shared memory (numerics sections 2 and 5).

mod butterfly;
mod in_registers;
mod plan;
#[cfg(test)]
mod tests;

pub(crate) use in_registers::{input_index, output_index, take, transform};
pub use plan::{LONGEST_LINE, LinePlan, Method};
