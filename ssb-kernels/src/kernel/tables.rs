//! Tables of a candidate, built on the device from short lists made in float64 (numerics section 3).
//!
//! Phases are in turns. A product of a coefficient and an index is kept exact: the coefficient, over
//! whole turns, comes in a coarse part of 12 bits, whose product with an index below 4096 is exact in
//! float32, and a fine rest.

use cubecl::prelude::*;

use super::C32;
use super::layout::{COEFFICIENT_PAIRS, Extent, HEAD_FLOATS, HEAD_PAIRS, WAVE_FLOATS};
use ssb_core::trig::{reduced, turn};

/// Complex number from its parts.
#[cube]
pub(crate) fn complex(re: f32, im: f32) -> C32 {
    let mut z = C32::empty();
    z[0] = re;
    z[1] = im;
    z
}

/// Turns of `coefficient * index`, whole turns left out.
#[cube]
fn product(coarse: f32, fine: f32, index: f32) -> f32 {
    reduced(coarse * index) + fine * index
}

/// The head of the table ([`HEAD_FLOATS`]) and the quadratic phase of one candidate a cube row: for every point of
/// the half plane, then for the negative columns of the Nyquist row, cos d and sin d, or d in turns
/// when `polynomial`.
///
/// `lists`, for each candidate: the head, `-chi` along rows (`rows`), along columns (`half`), the cross
/// term's coefficient of every row, coarse (`rows`) and fine (`rows`).
#[cube(launch_unchecked)]
pub(crate) fn phase_table(
    lists: &Array<f32>,
    table: &mut Array<C32>,
    pairs_per_candidate: u32,
    rows: u32,
    cols: u32,
    #[comptime] polynomial: bool,
) {
    let extent = Extent::new(rows as usize, cols as usize);
    let rows = extent.rows;
    let half = extent.half;
    let candidate = CUBE_POS_Y as usize;
    let at = candidate * pairs_per_candidate as usize;
    let list = candidate * (comptime!(HEAD_FLOATS) + 3 * rows + half);
    let cell = CUBE_POS_X as usize * CUBE_DIM as usize + UNIT_POS as usize;
    if cell < comptime!(HEAD_PAIRS) {
        table[at + cell] = complex(lists[list + 2 * cell], lists[list + 2 * cell + 1]);
    }
    if cell < extent.plane() + half {
        let mirrored = cell >= extent.plane();
        let col = select(mirrored, cell - extent.plane(), cell / rows);
        let row = select(mirrored, rows / 2, cell % rows);
        let along = list + comptime!(HEAD_FLOATS);
        let cross = along + rows + half;
        // The column of the Nyquist line has its negative frequency.
        let nyquist = extent.nyquist_col(col);
        let index = select(
            mirrored || nyquist,
            -f32::cast_from(col),
            f32::cast_from(col),
        );
        let turns = lists[along + row]
            + lists[along + rows + col]
            + product(lists[cross + row], lists[cross + rows + row], index);
        if comptime!(polynomial) {
            table[at + comptime!(HEAD_PAIRS) + cell] = complex(reduced(turns), 0.0);
        } else {
            let d = turn(turns);
            table[at + comptime!(HEAD_PAIRS) + cell] = complex(d.cos, d.sin);
        }
    }
}

/// The plane waves `exp(-i (a+b)/2)` of BF pixels `first..first + pixels` along both axes, and their
/// coefficients when `polynomial`; one BF pixel a cube, candidates along the second axis of cubes.
///
/// `lists`: `WAVE_FLOATS` for each candidate and BF pixel of the whole set of `all`.
#[cube(launch_unchecked)]
pub(crate) fn wave_table(
    lists: &Array<f32>,
    table: &mut Array<C32>,
    first: u32,
    all: u32,
    pairs_per_candidate: u32,
    rows: u32,
    cols: u32,
    #[comptime] polynomial: bool,
) {
    let extent = Extent::new(rows as usize, cols as usize);
    let rows = extent.rows;
    let half = extent.half;
    let pixel = CUBE_POS_X as usize;
    let candidate = CUBE_POS_Y as usize;
    let list = (candidate * all as usize + first as usize + pixel) * comptime!(WAVE_FLOATS);
    let at = extent.wave(candidate * pairs_per_candidate as usize, pixel, polynomial);
    let mut i = UNIT_POS as usize;
    while i < rows + half {
        let across = i >= rows;
        let from = list + select(across, 2usize, 0usize);
        // Rows from the middle on are negative frequencies.
        let row = select(
            i < rows.div_ceil(2usize),
            f32::cast_from(i),
            -f32::cast_from(rows - i),
        );
        // The column of the Nyquist line, like the row, has its negative frequency.
        let col = i - select(across, rows, 0usize);
        let nyquist = extent.nyquist_col(col);
        let signed = select(nyquist, -f32::cast_from(col), f32::cast_from(col));
        let circle = turn(product(
            lists[from],
            lists[from + 1],
            select(across, signed, row),
        ));
        table[at + i] = complex(circle.cos, -circle.sin);
        i += CUBE_DIM as usize;
    }
    if comptime!(polynomial) && UNIT_POS < comptime!(COEFFICIENT_PAIRS as u32) {
        let k = UNIT_POS as usize;
        let from = list + comptime!(4usize) + 2 * k;
        // The last pair has one number only.
        let second = select(k + 1 < comptime!(COEFFICIENT_PAIRS), from + 1, from);
        table[at + rows + 2 * half + k] = complex(lists[from], lists[second]);
    }
}
