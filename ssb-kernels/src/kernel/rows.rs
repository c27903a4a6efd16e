//! Second pass: complex-to-real transform of the rows fused with the phase and its moments.

use cubecl::prelude::*;
use serde::Serialize;

use super::C32;
use super::layout::{Extent, ROW_BLOCK};
use super::nyquist::Folded;
use super::reduce::sum_of_cube;
use crate::line::{LinePlan, input_index, output_index, transform};
use ssb_core::trig::atan2;

/// Pairs of rows in a block of the intermediate; each pair is one complex line.
const PAIRS: usize = ROW_BLOCK / 2;

/// What is compiled into the second pass.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct RowPass {
    pub(crate) line: LinePlan,
    /// Pairs of rows in a cube; two make a block of four rows.
    pub(crate) lines: usize,
}

impl RowPass {
    pub(crate) fn units(&self) -> usize {
        self.lines * self.line.units
    }

    pub(crate) fn shared_floats(&self) -> usize {
        (self.lines * self.line.exchange_floats()).max(self.units())
    }
}

/// Transforms the rows of the pack's BF pixels and sums phases and their squares: a cube takes `lines`
/// pairs of rows of every BF pixel of its slot (second axis of cubes), candidates along the third. Sums
/// go to `[candidate][set][slot][row][column]`, squares to `[candidate][set][slot][tile]`, added to those of earlier
/// packs of the set when `again`. `over_cols` holds the Nyquist row's real term, `cols` values for each candidate and BF
/// pixel; `dc` is that of G.
#[cube(launch_unchecked)]
pub(crate) fn row_moments(
    intermediate: &Array<C32>,
    over_cols: &Array<f32>,
    table: &Array<C32>,
    sums: &mut Array<f32>,
    squares: &mut Array<f32>,
    pixels: u32,
    again: u32,
    set: u32,
    sets: u32,
    rows: u32,
    #[comptime] pass: RowPass,
) {
    let plan = comptime!(pass.line.clone());
    let mut shared = SharedMemory::<f32>::new(comptime!(pass.shared_floats()));
    let cols = comptime!(plan.n);
    let half = comptime!(plan.n / 2 + 1);
    let rows = rows as usize;
    let extent = Extent::new(rows, cols);
    let last = comptime!(plan.last());
    let unit = UNIT_POS as usize % comptime!(plan.units);
    let local = UNIT_POS as usize / comptime!(plan.units);
    let pair = CUBE_POS_X as usize * comptime!(pass.lines) + local;
    let at = local * comptime!(plan.exchange_floats());
    let row = 2 * pair;
    let active = row < rows;
    let both = row + 1 < rows;
    let second = select(both, 1.0, 0.0);
    let block =
        (pair / comptime!(PAIRS)) * comptime!(half * ROW_BLOCK) + (pair % comptime!(PAIRS)) * 2;
    let slots = CUBE_COUNT_Y as usize;
    let candidate = CUBE_POS_Z as usize;
    let outputs = comptime!(plan.passes(last) * plan.radices[last]);
    let mut upper = Array::<f32>::new(outputs);
    let mut lower = Array::<f32>::new(outputs);
    #[unroll]
    for i in 0..outputs {
        upper[i] = f32::new(0.0);
        lower[i] = f32::new(0.0);
    }
    let mut square = f32::new(0.0);
    let mut pixel = CUBE_POS_Y as usize;
    while pixel < pixels as usize {
        let which = candidate * pixels as usize + pixel;
        let from = which * extent.intermediate() + block;
        let mut re = Array::<f32>::new(comptime!(plan.registers()));
        let mut im = Array::<f32>::new(comptime!(plan.registers()));
        #[unroll]
        for t in 0..comptime!(plan.passes(0)) {
            #[unroll]
            for k in 0..comptime!(plan.radices[0]) {
                let slot = comptime!(t * plan.radices[0] + k);
                let v = input_index(unit, t, k, comptime!(plan.clone()));
                re[slot] = f32::new(0.0);
                im[slot] = f32::new(0.0);
                if active && v < cols {
                    let folded = Folded::new(v, cols);
                    let a = intermediate[from + folded.index * comptime!(ROW_BLOCK)];
                    re[slot] = a[0];
                    im[slot] = folded.sign * a[1];
                    if both {
                        let b = intermediate[from + folded.index * comptime!(ROW_BLOCK) + 1];
                        re[slot] -= folded.sign * b[1];
                        im[slot] += b[0];
                    }
                }
            }
        }
        // Short sums, of one BF pixel first.
        let mut part = f32::new(0.0);
        // Minus the imaginary part of the Nyquist column: its real term, alternating over the columns.
        let mut term_upper = f32::new(0.0);
        let mut term_lower = f32::new(0.0);
        if comptime!(plan.n % 2 == 0) && active {
            let edge = from + comptime!((half - 1) * ROW_BLOCK);
            term_upper = -intermediate[edge][1];
            if both {
                term_lower = -intermediate[edge + 1][1];
            }
        }
        transform(
            &mut re,
            &mut im,
            &mut shared,
            table,
            unit,
            at,
            comptime!(plan.clone()),
        );
        #[unroll]
        for t in 0..comptime!(plan.passes(last)) {
            #[unroll]
            for k in 0..comptime!(plan.radices[last]) {
                let slot = comptime!(t * plan.radices[last] + k);
                let col = output_index(unit, t, k, comptime!(plan.clone()));
                if active && col < cols {
                    let mut over = f32::new(0.0);
                    if extent.even_rows() {
                        over = over_cols[which * cols + col];
                    }
                    let sign = select(col & 1 == 0, 1.0, -1.0);
                    let a = atan2(re[slot], 1.0 + over + sign * term_upper);
                    let b = second * atan2(im[slot], 1.0 - over + sign * term_lower);
                    upper[slot] += a;
                    lower[slot] += b;
                    part += a * a + b * b;
                }
            }
        }
        square += part;
        pixel += slots;
    }
    let image = (((candidate * sets as usize + set as usize) * slots + CUBE_POS_Y as usize) * rows
        + row)
        * cols;
    #[unroll]
    for t in 0..comptime!(plan.passes(last)) {
        #[unroll]
        for k in 0..comptime!(plan.radices[last]) {
            let slot = comptime!(t * plan.radices[last] + k);
            let col = output_index(unit, t, k, comptime!(plan.clone()));
            if active && col < cols {
                let before = select(again == 1, sums[image + col], 0.0);
                sums[image + col] = before + upper[slot];
                if both {
                    let before = select(again == 1, sums[image + cols + col], 0.0);
                    sums[image + cols + col] = before + lower[slot];
                }
            }
        }
    }
    let total = sum_of_cube(&mut shared, square, comptime!(pass.units()));
    if UNIT_POS == 0 {
        let which = ((candidate * sets as usize + set as usize) * slots + CUBE_POS_Y as usize)
            * CUBE_COUNT_X as usize
            + CUBE_POS_X as usize;
        let before = select(again == 1, squares[which], 0.0);
        squares[which] = before + total;
    }
}
