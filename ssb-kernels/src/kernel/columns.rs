//! First pass: correction fused with the inverse transform of the stored columns over the rows.

use cubecl::prelude::*;
use serde::Serialize;

use super::C32;
use super::correct::{Place, Point, normalised, sides};
use super::layout::{Extent, Model, ROW_BLOCK};
use super::reduce::sum_of_cube;
use super::tables::complex;
use crate::line::{LinePlan, output_index, take, transform};

/// What is compiled into the first pass.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct ColumnPass {
    pub(crate) model: Model,
    pub(crate) line: LinePlan,
    /// Columns of one BF pixel in a cube.
    pub(crate) lines: usize,
}

impl ColumnPass {
    pub(crate) fn units(&self) -> usize {
        self.lines * self.line.units
    }

    pub(crate) fn shared_floats(&self) -> usize {
        (self.lines * self.line.staged_floats()).max(self.units())
    }
}

/// Corrects and transforms columns of BF pixels `first..first + pixels` under `count` candidates (1 or 2), which
/// share what is read of G: a cube takes `lines` columns of every BF pixel of its slot (second axis of cubes;
/// slot s takes s, s + slots, ...), and writes `[candidate][pixel of the pack][row / 4][column][row % 4]`. Counts
/// degenerate points of slot and tile, mirrored columns twice, after those of earlier packs when `again`.
#[cube(launch_unchecked)]
pub(crate) fn correct_columns(
    g: &Array<C32>,
    acquisition: &Array<f32>,
    candidates: &Array<C32>,
    table: &Array<C32>,
    intermediate: &mut Array<C32>,
    degenerate: &mut Array<f32>,
    first: u32,
    pixels: u32,
    count: u32,
    again: u32,
    pairs_per_candidate: u32,
    cols: u32,
    #[comptime] pass: ColumnPass,
) {
    let plan = comptime!(pass.line.clone());
    let mut shared = SharedMemory::<f32>::new(comptime!(pass.shared_floats()));
    let rows = comptime!(plan.n).runtime();
    let extent = Extent::new(rows, cols as usize);
    let half = extent.half;
    let unit = UNIT_POS as usize % comptime!(plan.units);
    let local = UNIT_POS as usize / comptime!(plan.units);
    let col = CUBE_POS_X as usize * comptime!(pass.lines) + local;
    let at = local * comptime!(plan.staged_floats());
    let active = col < half;
    let registers = comptime!(plan.registers());
    let slots = CUBE_COUNT_Y as usize;
    let mut found_first = f32::new(0.0);
    let mut found_second = f32::new(0.0);
    let mut pixel = CUBE_POS_Y as usize;
    while pixel < pixels as usize {
        let mut m = 0usize;
        while m < count as usize {
            let candidate = m * pairs_per_candidate as usize;
            let place = Place {
                pixel: extent.pixel(first as usize + pixel, comptime!(pass.model.unequal)),
                candidate,
                wave: extent.wave(candidate, pixel, comptime!(pass.model.polynomial)),
            };
            let line = ((first as usize + pixel) * half + col) * rows;
            let mut re = Array::<f32>::new(registers);
            let mut im = Array::<f32>::new(registers);
            if comptime!(plan.split) {
                // Half the memory: corrected once for each part.
                stage_column(
                    g,
                    acquisition,
                    candidates,
                    &mut shared,
                    place,
                    line,
                    col,
                    active,
                    unit,
                    at,
                    1u32,
                    extent,
                    comptime!(pass.clone()),
                );
                sync_cube();
                take(&mut im, &shared, unit, at, comptime!(plan.clone()));
                sync_cube();
            }
            let found = stage_column(
                g,
                acquisition,
                candidates,
                &mut shared,
                place,
                line,
                col,
                active,
                unit,
                at,
                0u32,
                extent,
                comptime!(pass.clone()),
            );
            sync_cube();
            take(&mut re, &shared, unit, at, comptime!(plan.clone()));
            if comptime!(!plan.split) {
                take(
                    &mut im,
                    &shared,
                    unit,
                    at + comptime!(plan.length),
                    comptime!(plan.clone()),
                );
            }
            sync_cube();
            found_first += select(m == 0, found, 0.0);
            found_second += select(m == 0, 0.0, found);
            transform(
                &mut re,
                &mut im,
                &mut shared,
                table,
                unit,
                at,
                comptime!(plan.clone()),
            );
            let out = (m * pixels as usize + pixel) * extent.intermediate();
            let last = comptime!(plan.last());
            #[unroll]
            for t in 0..comptime!(plan.passes(last)) {
                #[unroll]
                for k in 0..comptime!(plan.radices[last]) {
                    let slot = comptime!(t * plan.radices[last] + k);
                    let row = output_index(unit, t, k, comptime!(plan.clone()));
                    if active && row < rows {
                        let block = (row / comptime!(ROW_BLOCK)) * half + col;
                        intermediate
                            [out + block * comptime!(ROW_BLOCK) + row % comptime!(ROW_BLOCK)] =
                            complex(re[slot], im[slot]);
                    }
                }
            }
            m += 1;
        }
        pixel += slots;
    }
    let weight = select(col == 0 || extent.nyquist_col(col), 1.0, 2.0);
    let mut m = 0usize;
    while m < count as usize {
        let mine = select(m == 0, found_first, found_second);
        let total = sum_of_cube(&mut shared, mine * weight, comptime!(pass.units()));
        if UNIT_POS == 0 {
            let which =
                (m * slots + CUBE_POS_Y as usize) * CUBE_COUNT_X as usize + CUBE_POS_X as usize;
            let before = select(again == 1, degenerate[which], 0.0);
            degenerate[which] = before + total;
        }
        m += 1;
    }
}

/// Corrects one column of one BF pixel into shared memory: both parts, or for a split line the real
/// (`part` 0) or imaginary one. Returns this unit's degenerate points.
#[cube]
pub(crate) fn stage_column(
    g: &Array<C32>,
    acquisition: &Array<f32>,
    candidates: &Array<C32>,
    shared: &mut SharedMemory<f32>,
    place: Place,
    line: usize,
    col: usize,
    active: bool,
    unit: usize,
    at: usize,
    part: u32,
    extent: Extent,
    #[comptime] pass: ColumnPass,
) -> f32 {
    let rows = extent.rows;
    let half = extent.half;
    let mut degenerate = f32::new(0.0);
    let mut row = unit;
    while row < rows {
        let mut re = f32::new(0.0);
        let mut im = f32::new(0.0);
        if active {
            let z = g[line + row];
            let point = Point {
                row,
                col,
                sign: 1.0,
                phase: col * rows + row,
            };
            let found = normalised(
                acquisition,
                place.pixel,
                z[0],
                z[1],
                sides(
                    acquisition,
                    candidates,
                    place,
                    point,
                    extent,
                    comptime!(pass.model),
                ),
            );
            re = found.re;
            im = found.im;
            if 2 * row == rows {
                let z = candidates[place.wave + rows + half + col];
                re = z[0];
                im = z[1];
            } else if row + col > 0 {
                degenerate += found.degenerate;
            }
        }
        if comptime!(pass.line.split) {
            shared[at + row] = select(part == 0, re, im);
        } else {
            shared[at + row] = re;
            shared[at + comptime!(pass.line.length) + row] = im;
        }
        row += comptime!(pass.line.units);
    }
    degenerate
}
