//! First pass: correction fused with the inverse transform of the stored columns over the rows.

use cubecl::prelude::*;
use serde::Serialize;

use super::C32;
use super::correct::{Place, Point, normalised, sides};
use super::layout::{Model, ROW_BLOCK, Scan};
use super::reduce::sum_of_cube;
use super::tables::complex;
use crate::line::{LinePlan, input_index, output_index, transform};

/// What is compiled into the first pass.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct ColumnPass {
    pub(crate) scan: Scan,
    pub(crate) model: Model,
    pub(crate) line: LinePlan,
    /// Columns of one BF pixel in a cube.
    pub(crate) lines: usize,
    /// Candidates that share one read of G.
    pub(crate) candidates: usize,
}

impl ColumnPass {
    pub(crate) fn units(&self) -> usize {
        self.lines * self.line.units
    }

    pub(crate) fn shared_floats(&self) -> usize {
        (self.lines * self.line.exchange_floats()).max(self.units())
    }

    pub(crate) fn tiles(&self) -> usize {
        self.scan.half().div_ceil(self.lines)
    }
}

/// Corrects and transforms columns of BF pixels `first..first + pixels`: a cube takes `lines` columns of
/// every BF pixel of its slot (second axis of cubes; slot s takes s, s + slots, ...), and writes
/// `[candidate][pixel of the pack][row / 4][column][row % 4]`. Counts degenerate points of slot and tile,
/// mirrored columns twice, after those of earlier packs when `again`.
#[cube(launch)]
pub(crate) fn correct_columns(
    g: &Array<C32>,
    acquisition: &Array<f32>,
    candidates: &Array<C32>,
    table: &Array<C32>,
    intermediate: &mut Array<C32>,
    degenerate: &mut Array<f32>,
    first: u32,
    pixels: u32,
    again: u32,
    pairs_per_candidate: u32,
    #[comptime] pass: ColumnPass,
) {
    let scan = comptime!(pass.scan);
    let model = comptime!(pass.model);
    let plan = comptime!(pass.line.clone());
    let mut shared = SharedMemory::<f32>::new(comptime!(pass.shared_floats()));
    let rows = comptime!(scan.rows);
    let half = comptime!(scan.half());
    let unit = UNIT_POS as usize % comptime!(plan.units);
    let local = UNIT_POS as usize / comptime!(plan.units);
    let col = CUBE_POS_X as usize * comptime!(pass.lines) + local;
    let at = local * comptime!(plan.exchange_floats());
    let active = col < half;
    let nyquist_col = comptime!(scan.even_cols()) && col == half - 1;
    let weight = select(col == 0 || nyquist_col, 1.0, 2.0);
    let registers = comptime!(plan.registers());
    let slots = CUBE_COUNT_Y as usize;
    let mut counts = Array::<f32>::new(comptime!(pass.candidates));
    #[unroll]
    for m in 0..comptime!(pass.candidates) {
        counts[m] = f32::new(0.0);
    }
    let mut pixel = CUBE_POS_Y as usize;
    while pixel < pixels as usize {
        let stored = first as usize + pixel;
        let line = (stored * half + col) * rows;
        let mut g_re = Array::<f32>::new(registers);
        let mut g_im = Array::<f32>::new(registers);
        #[unroll]
        for t in 0..comptime!(plan.passes(0)) {
            #[unroll]
            for k in 0..comptime!(plan.radices[0]) {
                let slot = comptime!(t * plan.radices[0] + k);
                let row = input_index(unit, t, k, comptime!(plan.clone()));
                g_re[slot] = f32::new(0.0);
                g_im[slot] = f32::new(0.0);
                if active && row < rows {
                    let z = g[line + row];
                    g_re[slot] = z[0];
                    g_im[slot] = z[1];
                }
            }
        }
        #[unroll]
        for m in 0..comptime!(pass.candidates) {
            let candidate = m * pairs_per_candidate as usize;
            let place = Place {
                pixel: comptime!(scan.pixels())
                    + stored * comptime!(scan.pixel_floats(model.unequal)),
                candidate,
                wave: candidate
                    + comptime!(2 + scan.phase_pairs())
                    + pixel * comptime!(scan.wave_pairs(model.polynomial)),
            };
            let mut re = Array::<f32>::new(registers);
            let mut im = Array::<f32>::new(registers);
            #[unroll]
            for t in 0..comptime!(plan.passes(0)) {
                #[unroll]
                for k in 0..comptime!(plan.radices[0]) {
                    let slot = comptime!(t * plan.radices[0] + k);
                    let row = input_index(unit, t, k, comptime!(plan.clone()));
                    re[slot] = f32::new(0.0);
                    im[slot] = f32::new(0.0);
                    if active && row < rows {
                        let point = Point {
                            row,
                            col,
                            sign: 1.0,
                            phase: col * rows + row,
                        };
                        let found = normalised(
                            acquisition,
                            place.pixel,
                            g_re[slot],
                            g_im[slot],
                            sides(acquisition, candidates, place, point, scan, model),
                        );
                        re[slot] = found.re;
                        im[slot] = found.im;
                        if comptime!(scan.even_rows()) && row == comptime!(scan.rows / 2) {
                            let z = candidates[place.wave + rows + half + col];
                            re[slot] = z[0];
                            im[slot] = z[1];
                        } else if row + col > 0 {
                            counts[m] += found.degenerate;
                        }
                    }
                }
            }
            transform(&mut re, &mut im, &mut shared, table, unit, at, comptime!(plan.clone()));
            let out = (m * pixels as usize + pixel) * comptime!(scan.intermediate());
            let last = comptime!(plan.last());
            #[unroll]
            for t in 0..comptime!(plan.passes(last)) {
                #[unroll]
                for k in 0..comptime!(plan.radices[last]) {
                    let slot = comptime!(t * plan.radices[last] + k);
                    let row = output_index(unit, t, k, comptime!(plan.clone()));
                    if active && row < rows {
                        let block = (row / comptime!(ROW_BLOCK)) * half + col;
                        intermediate[out + block * comptime!(ROW_BLOCK) + row % comptime!(ROW_BLOCK)] =
                            complex(re[slot], im[slot]);
                    }
                }
            }
        }
        pixel += slots;
    }
    #[unroll]
    for m in 0..comptime!(pass.candidates) {
        let total = sum_of_cube(&mut shared, counts[m] * weight, comptime!(pass.units()));
        if UNIT_POS == 0 {
            let which = (m * slots + CUBE_POS_Y as usize) * CUBE_COUNT_X as usize
                + CUBE_POS_X as usize;
            let before = select(again == 1, degenerate[which], 0.0);
            degenerate[which] = before + total;
        }
    }
}
