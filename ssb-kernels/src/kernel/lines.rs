//! Transforms of plain lines, for the stepwise topology and for tests.

use cubecl::prelude::*;

use super::C32;
use crate::line::{LinePlan, input_index, output_index, transform};

/// Inverse transform in place of `count` lines of `plan.n` values, one after the other. Not normalised. Each cube
/// takes `lines` of them; cubes along two axes, the first within a row of `CUBE_COUNT_X`.
#[cube(launch_unchecked)]
pub(crate) fn inverse_lines(
    values: &mut Array<C32>,
    table: &Array<C32>,
    count: u32,
    #[comptime] lines: usize,
    #[comptime] plan: LinePlan,
) {
    let mut shared =
        SharedMemory::<f32>::new(comptime!(1usize.max(lines * plan.exchange_floats())));
    let unit = UNIT_POS as usize % comptime!(plan.units);
    let place = UNIT_POS as usize / comptime!(plan.units);
    let cube = CUBE_POS_Y as usize * CUBE_COUNT_X as usize + CUBE_POS_X as usize;
    let line = cube * lines + place;
    let registers = comptime!(plan.registers());
    let mut re = Array::<f32>::new(registers);
    let mut im = Array::<f32>::new(registers);
    let active = line < count as usize;
    #[unroll]
    for t in 0..comptime!(plan.passes(0)) {
        #[unroll]
        for k in 0..comptime!(plan.radices[0]) {
            let slot = comptime!(t * plan.radices[0] + k);
            let i = input_index(unit, t, k, comptime!(plan.clone()));
            re[slot] = f32::new(0.0);
            im[slot] = f32::new(0.0);
            if active && i < comptime!(plan.n) {
                let z = values[line * comptime!(plan.n) + i];
                re[slot] = z[0];
                im[slot] = z[1];
            }
        }
    }
    let at = place * comptime!(plan.exchange_floats());
    transform(
        &mut re,
        &mut im,
        &mut shared,
        table,
        unit,
        at,
        comptime!(plan.clone()),
    );
    let last = comptime!(plan.last());
    #[unroll]
    for t in 0..comptime!(plan.passes(last)) {
        #[unroll]
        for k in 0..comptime!(plan.radices[last]) {
            let slot = comptime!(t * plan.radices[last] + k);
            let i = output_index(unit, t, k, comptime!(plan.clone()));
            if active && i < comptime!(plan.n) {
                let mut z = C32::empty();
                z[0] = re[slot];
                z[1] = im[slot];
                values[line * comptime!(plan.n) + i] = z;
            }
        }
    }
}
