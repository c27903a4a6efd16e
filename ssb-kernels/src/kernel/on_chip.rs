//! The whole half plane of one BF pixel in shared memory: correction, both transforms, phase and moments in
//! one kernel. Reads G once and writes no intermediate.

use cubecl::prelude::*;
use serde::Serialize;

use super::C32;
use super::columns::{ColumnPass, stage_column};
use super::correct::Place;
use super::layout::Extent;
use super::nyquist::Folded;
use super::reduce::sum_of_cube;
use super::rows::RowPass;
use crate::line::{input_index, output_index, take, transform};
use ssb_core::trig::atan2;

/// What is compiled in: both lines, and whether one round of lines covers all rows, so that the sums
/// stay in registers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct PlanePass {
    pub(crate) columns: ColumnPass,
    pub(crate) rows: RowPass,
}

impl PlanePass {
    pub(crate) fn units(&self) -> usize {
        self.columns.units().max(self.rows.units())
    }

    /// Floats through which lines are exchanged.
    pub(crate) fn scratch_floats(&self) -> usize {
        let columns = self.columns.lines * self.columns.line.staged_floats();
        let rows = self.rows.lines * self.rows.line.exchange_floats();
        columns.max(rows).max(self.units())
    }

    /// Values of the half plane.
    pub(crate) fn plane(&self) -> usize {
        self.columns.line.n * (self.rows.line.n / 2 + 1)
    }

    pub(crate) fn shared_floats(&self) -> usize {
        self.scratch_floats() + 2 * self.plane()
    }

    fn column_rounds(&self) -> usize {
        (self.rows.line.n / 2 + 1).div_ceil(self.columns.lines)
    }

    fn row_rounds(&self) -> usize {
        self.columns.line.n.div_ceil(2).div_ceil(self.rows.lines)
    }
}

/// Sums of phases and their squares over every BF pixel of a slot (first axis of cubes), candidates along the
/// second: sums to `[candidate][set][slot][row][column]`, squares to `[candidate][set][slot]`, added to those of earlier
/// packs of the set when `again`; degenerate points to `[candidate][slot]`, added to earlier ones when `further`.
#[cube(launch_unchecked)]
pub(crate) fn plane_moments(
    g: &Array<C32>,
    acquisition: &Array<f32>,
    candidates: &Array<C32>,
    column_table: &Array<C32>,
    row_table: &Array<C32>,
    over_cols: &Array<f32>,
    sums: &mut Array<f32>,
    squares: &mut Array<f32>,
    degenerate: &mut Array<f32>,
    first: u32,
    pixels: u32,
    again: u32,
    further: u32,
    set: u32,
    sets: u32,
    pairs_per_candidate: u32,
    #[comptime] pass: PlanePass,
) {
    let columns = comptime!(pass.columns.clone());
    let column_line = comptime!(pass.columns.line.clone());
    let row_line = comptime!(pass.rows.line.clone());
    let mut shared = SharedMemory::<f32>::new(comptime!(pass.shared_floats()));
    let plane_re = comptime!(pass.scratch_floats());
    let plane_im = comptime!(pass.scratch_floats() + pass.plane());
    let rows = comptime!(column_line.n);
    let cols = comptime!(row_line.n);
    let extent = Extent::new(rows.runtime(), cols.runtime());
    let half = comptime!(row_line.n / 2 + 1);
    let slots = CUBE_COUNT_X as usize;
    let candidate = CUBE_POS_Y as usize;
    let table = candidate * pairs_per_candidate as usize;
    // Units left over from a round stand aside: their butterflies are out of range.
    let column_local = UNIT_POS as usize / comptime!(column_line.units);
    let column_spare = column_local >= comptime!(columns.lines);
    let column_unit = select(
        column_spare,
        comptime!(column_line.length.max(column_line.n)).runtime(),
        UNIT_POS as usize % comptime!(column_line.units),
    );
    let column_at =
        select(column_spare, 0usize, column_local) * comptime!(column_line.staged_floats());
    let row_local = UNIT_POS as usize / comptime!(row_line.units);
    let row_spare = row_local >= comptime!(pass.rows.lines);
    let row_unit = select(
        row_spare,
        comptime!(row_line.length.max(row_line.n)).runtime(),
        UNIT_POS as usize % comptime!(row_line.units),
    );
    let row_at = select(row_spare, 0usize, row_local) * comptime!(row_line.exchange_floats());
    let row_last = comptime!(row_line.last());
    let outputs = comptime!(row_line.passes(row_last) * row_line.radices[row_last]);
    let held = comptime!(pass.row_rounds() == 1);
    let place_of_set = (candidate * sets as usize + set as usize) * slots + CUBE_POS_X as usize;
    let image = place_of_set * comptime!(rows * cols);
    let mut upper = Array::<f32>::new(outputs);
    let mut lower = Array::<f32>::new(outputs);
    #[unroll]
    for i in 0..outputs {
        upper[i] = f32::new(0.0);
        lower[i] = f32::new(0.0);
    }
    let mut square = f32::new(0.0);
    let mut found = f32::new(0.0);
    let mut later = again;
    let mut pixel = CUBE_POS_X as usize;
    while pixel < pixels as usize {
        let stored = first as usize + pixel;
        let place = Place {
            pixel: extent.pixel(stored, comptime!(columns.model.unequal)),
            candidate: table,
            wave: extent.wave(table, pixel, comptime!(columns.model.polynomial)),
        };
        for round in 0..comptime!(pass.column_rounds()) {
            let col = round * comptime!(columns.lines) + column_local;
            let active = !column_spare && col < half;
            let line = (stored * half + col) * rows;
            let mut re = Array::<f32>::new(comptime!(column_line.registers()));
            let mut im = Array::<f32>::new(comptime!(column_line.registers()));
            if comptime!(column_line.split) {
                stage_column(
                    g,
                    acquisition,
                    candidates,
                    &mut shared,
                    place,
                    line,
                    col,
                    active,
                    column_unit,
                    column_at,
                    1u32,
                    extent,
                    comptime!(columns.clone()),
                );
                sync_cube();
                take(
                    &mut im,
                    &shared,
                    column_unit,
                    column_at,
                    comptime!(column_line.clone()),
                );
                sync_cube();
            }
            let count = stage_column(
                g,
                acquisition,
                candidates,
                &mut shared,
                place,
                line,
                col,
                active,
                column_unit,
                column_at,
                0u32,
                extent,
                comptime!(columns.clone()),
            );
            found += select(col == 0 || extent.nyquist_col(col), count, 2.0 * count);
            sync_cube();
            take(
                &mut re,
                &shared,
                column_unit,
                column_at,
                comptime!(column_line.clone()),
            );
            if comptime!(!column_line.split) {
                let imaginary = column_at + comptime!(column_line.length);
                take(
                    &mut im,
                    &shared,
                    column_unit,
                    imaginary,
                    comptime!(column_line.clone()),
                );
            }
            sync_cube();
            transform(
                &mut re,
                &mut im,
                &mut shared,
                column_table,
                column_unit,
                column_at,
                comptime!(column_line.clone()),
            );
            let last = comptime!(column_line.last());
            #[unroll]
            for t in 0..comptime!(column_line.passes(last)) {
                #[unroll]
                for k in 0..comptime!(column_line.radices[last]) {
                    let slot = comptime!(t * column_line.radices[last] + k);
                    let row = output_index(column_unit, t, k, comptime!(column_line.clone()));
                    if active && row < rows {
                        shared[plane_re + col * rows + row] = re[slot];
                        shared[plane_im + col * rows + row] = im[slot];
                    }
                }
            }
        }
        sync_cube();
        let which = (candidate * pixels as usize + pixel) * cols;
        for round in 0..comptime!(pass.row_rounds()) {
            let row = 2 * (round * comptime!(pass.rows.lines) + row_local);
            let active = !row_spare && row < rows;
            let both = row + 1 < rows;
            let second = select(both, 1.0, 0.0);
            let mut re = Array::<f32>::new(comptime!(row_line.registers()));
            let mut im = Array::<f32>::new(comptime!(row_line.registers()));
            #[unroll]
            for t in 0..comptime!(row_line.passes(0)) {
                #[unroll]
                for k in 0..comptime!(row_line.radices[0]) {
                    let slot = comptime!(t * row_line.radices[0] + k);
                    let v = input_index(row_unit, t, k, comptime!(row_line.clone()));
                    re[slot] = f32::new(0.0);
                    im[slot] = f32::new(0.0);
                    if active && v < cols {
                        let folded = Folded::new(v, cols);
                        let from = folded.index * rows + row;
                        re[slot] = shared[plane_re + from];
                        im[slot] = folded.sign * shared[plane_im + from];
                        if both {
                            re[slot] -= folded.sign * shared[plane_im + from + 1];
                            im[slot] += shared[plane_re + from + 1];
                        }
                    }
                }
            }
            // Short sums, of one round first.
            let mut part = f32::new(0.0);
            // Minus the imaginary part of the Nyquist column: its real term, alternating over the columns.
            let mut term_upper = f32::new(0.0);
            let mut term_lower = f32::new(0.0);
            if comptime!(row_line.n % 2 == 0) && active {
                let edge = comptime!((half - 1) * rows) + row;
                term_upper = -shared[plane_im + edge];
                if both {
                    term_lower = -shared[plane_im + edge + 1];
                }
            }
            transform(
                &mut re,
                &mut im,
                &mut shared,
                row_table,
                row_unit,
                row_at,
                comptime!(row_line.clone()),
            );
            #[unroll]
            for t in 0..comptime!(row_line.passes(row_last)) {
                #[unroll]
                for k in 0..comptime!(row_line.radices[row_last]) {
                    let slot = comptime!(t * row_line.radices[row_last] + k);
                    let col = output_index(row_unit, t, k, comptime!(row_line.clone()));
                    if active && col < cols {
                        let mut over = f32::new(0.0);
                        if comptime!(column_line.n % 2 == 0) {
                            over = over_cols[which + col];
                        }
                        let sign = select(col & 1 == 0, 1.0, -1.0);
                        let a = atan2(re[slot], 1.0 + over + sign * term_upper);
                        let b = second * atan2(im[slot], 1.0 - over + sign * term_lower);
                        part += a * a + b * b;
                        if comptime!(held) {
                            upper[slot] += a;
                            lower[slot] += b;
                        } else {
                            let at = image + row * cols + col;
                            sums[at] = select(later == 1, sums[at], 0.0) + a;
                            if both {
                                sums[at + cols] = select(later == 1, sums[at + cols], 0.0) + b;
                            }
                        }
                    }
                }
            }
            square += part;
        }
        sync_cube();
        later = 1;
        pixel += slots;
    }
    if comptime!(held) {
        let row = 2 * row_local;
        #[unroll]
        for t in 0..comptime!(row_line.passes(row_last)) {
            #[unroll]
            for k in 0..comptime!(row_line.radices[row_last]) {
                let slot = comptime!(t * row_line.radices[row_last] + k);
                let col = output_index(row_unit, t, k, comptime!(row_line.clone()));
                if !row_spare && row < rows && col < cols {
                    let at = image + row * cols + col;
                    sums[at] = select(again == 1, sums[at], 0.0) + upper[slot];
                    if row + 1 < rows {
                        sums[at + cols] = select(again == 1, sums[at + cols], 0.0) + lower[slot];
                    }
                }
            }
        }
    }
    if comptime!(!held) && CUBE_POS_X >= pixels && again == 0 {
        // A slot without a BF pixel leaves an image of zeros.
        let mut cell = UNIT_POS as usize;
        while cell < comptime!(rows * cols) {
            sums[image + cell] = f32::new(0.0);
            cell += comptime!(pass.units());
        }
    }
    let all_squares = sum_of_cube(&mut shared, square, comptime!(pass.units()));
    let all_found = sum_of_cube(&mut shared, found, comptime!(pass.units()));
    if UNIT_POS == 0 {
        let at = candidate * slots + CUBE_POS_X as usize;
        squares[place_of_set] = select(again == 1, squares[place_of_set], 0.0) + all_squares;
        degenerate[at] = select(further == 1, degenerate[at], 0.0) + all_found;
    }
}
