//! Spectra of single BF pixels at chosen scan frequencies, as they are stored.

use cubecl::prelude::*;

use super::C32;
use super::fourier_sum::{COL_SHIFT, MASK};

/// Writes `[pixel][frequency]` for BF pixels `first..first + pixels` at the listed frequencies; a unit takes
/// one frequency, a row of cubes (second axis) one BF pixel.
#[cube(launch_unchecked)]
pub(crate) fn pick_spectra(
    g: &Array<C32>,
    list: &Array<u32>,
    picked: &mut Array<C32>,
    count: u32,
    first: u32,
    rows: u32,
    half: u32,
) {
    let index = CUBE_POS_X as usize * CUBE_DIM as usize + UNIT_POS as usize;
    if index < count as usize {
        let word = list[index];
        let row = (word & MASK) as usize;
        let col = ((word >> COL_SHIFT) & MASK) as usize;
        let stored = first as usize + CUBE_POS_Y as usize;
        picked[CUBE_POS_Y as usize * count as usize + index] =
            g[(stored * half as usize + col) * rows as usize + row];
    }
}
