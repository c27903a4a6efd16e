//! The stages of the loss, one kernel each: correction and phases (the transforms are in `lines` and
//! `nyquist`).

use cubecl::prelude::*;

use super::C32;
use super::correct::{Place, Point, normalised, sides};
use super::layout::{Extent, Model};
use super::reduce::sum_of_cube;
use super::tables::complex;
use ssb_core::trig::atan2;

/// Corrects BF pixels `first..first + pixels` into `[candidate][pixel][column][row]`; a cube takes `lines` columns
/// of every BF pixel of its slot (second axis of cubes), candidates along the third. Counts degenerate
/// points as the fused pass does.
#[cube(launch_unchecked)]
pub(crate) fn correct_points(
    g: &Array<C32>,
    acquisition: &Array<f32>,
    candidates: &Array<C32>,
    corrected: &mut Array<C32>,
    degenerate: &mut Array<f32>,
    first: u32,
    pixels: u32,
    again: u32,
    pairs_per_candidate: u32,
    rows: u32,
    cols: u32,
    lines: u32,
    #[comptime] model: Model,
    #[comptime] units: usize,
) {
    let mut shared = SharedMemory::<f32>::new(units);
    let extent = Extent::new(rows as usize, cols as usize);
    let rows = extent.rows;
    let half = extent.half;
    let start = CUBE_POS_X as usize * lines as usize;
    let end = min(start + lines as usize, half);
    let candidate = CUBE_POS_Z as usize * pairs_per_candidate as usize;
    let mut count = f32::new(0.0);
    let mut pixel = CUBE_POS_Y as usize;
    while pixel < pixels as usize {
        let stored = first as usize + pixel;
        let place = Place {
            pixel: extent.pixel(stored, comptime!(model.unequal)),
            candidate,
            wave: extent.wave(candidate, pixel, comptime!(model.polynomial)),
        };
        let out = (CUBE_POS_Z as usize * pixels as usize + pixel) * extent.plane();
        let mut cell = start * rows + UNIT_POS as usize;
        while cell < end * rows {
            let col = cell / rows;
            let row = cell % rows;
            let z = g[stored * extent.plane() + cell];
            let point = Point {
                row,
                col,
                sign: 1.0,
                phase: cell,
            };
            let found = normalised(
                acquisition,
                place.pixel,
                z[0],
                z[1],
                sides(acquisition, candidates, place, point, extent, model),
            );
            let mut re = found.re;
            let mut im = found.im;
            if 2 * row == rows {
                let z = candidates[place.wave + rows + half + col];
                re = z[0];
                im = z[1];
            } else if cell > 0 {
                let weight = select(col == 0 || extent.nyquist_col(col), 1.0, 2.0);
                count += weight * found.degenerate;
            }
            corrected[out + cell] = complex(re, im);
            cell += units;
        }
        pixel += CUBE_COUNT_Y as usize;
    }
    let total = sum_of_cube(&mut shared, count, units);
    if UNIT_POS == 0 {
        let which = (CUBE_POS_Z as usize * CUBE_COUNT_Y as usize + CUBE_POS_Y as usize)
            * CUBE_COUNT_X as usize
            + CUBE_POS_X as usize;
        let before = select(again == 1, degenerate[which], 0.0);
        degenerate[which] = before + total;
    }
}

/// Phases and their moments from the real images `[candidate][pixel][row][column]` and the transformed columns,
/// whose Nyquist one carries a real term; a cube takes `lines` pairs of rows of every BF pixel of its
/// slot, as the fused pass does.
#[cube(launch_unchecked)]
pub(crate) fn phase_moments(
    images: &Array<f32>,
    columns: &Array<C32>,
    over_cols: &Array<f32>,
    sums: &mut Array<f32>,
    squares: &mut Array<f32>,
    pixels: u32,
    again: u32,
    set: u32,
    sets: u32,
    rows: u32,
    cols: u32,
    lines: u32,
    #[comptime] units: usize,
) {
    let mut shared = SharedMemory::<f32>::new(units);
    let extent = Extent::new(rows as usize, cols as usize);
    let rows = extent.rows;
    let cols = extent.cols;
    let candidate = CUBE_POS_Z as usize;
    let slots = CUBE_COUNT_Y as usize;
    let start = CUBE_POS_X as usize * 2 * lines as usize;
    let end = min(start + 2 * lines as usize, rows);
    let mut square = f32::new(0.0);
    let mut cell = start * cols + UNIT_POS as usize;
    while cell < end * cols {
        let row = cell / cols;
        let col = cell % cols;
        let mut sum = f32::new(0.0);
        let mut part = f32::new(0.0);
        let mut pixel = CUBE_POS_Y as usize;
        while pixel < pixels as usize {
            let which = candidate * pixels as usize + pixel;
            let mut real = f32::new(1.0);
            if extent.nyquist_col(extent.half - 1) {
                let edge = which * extent.plane() + (extent.half - 1) * rows + row;
                real -= select(col & 1 == 0, 1.0, -1.0) * columns[edge][1];
            }
            if extent.even_rows() {
                real += select(row & 1 == 0, 1.0, -1.0) * over_cols[which * cols + col];
            }
            let phase = atan2(images[which * rows * cols + cell], real);
            sum += phase;
            part += phase * phase;
            pixel += slots;
        }
        square += part;
        let at = ((candidate * sets as usize + set as usize) * slots + CUBE_POS_Y as usize)
            * rows
            * cols
            + cell;
        let before = select(again == 1, sums[at], 0.0);
        sums[at] = before + sum;
        cell += units;
    }
    let total = sum_of_cube(&mut shared, square, units);
    if UNIT_POS == 0 {
        let which = ((candidate * sets as usize + set as usize) * slots + CUBE_POS_Y as usize)
            * CUBE_COUNT_X as usize
            + CUBE_POS_X as usize;
        let before = select(again == 1, squares[which], 0.0);
        squares[which] = before + total;
    }
}
