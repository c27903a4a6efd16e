//! Sums over the BF pixels at chosen scan frequencies: the object's spectrum and the agreement
//! (numerics sections 4 and 5). One read of G.

use cubecl::prelude::*;
use serde::Serialize;

use super::C32;
use super::correct::{Place, Point, normalised, sides};
use super::layout::{Extent, Model};

/// A scan frequency in a list: row, stored column and side in one word.
pub(crate) const COL_SHIFT: u32 = 13;
/// See [`COL_SHIFT`].
pub(crate) const MIRROR_SHIFT: u32 = 26;
/// See [`COL_SHIFT`].
pub(crate) const MASK: u32 = (1 << COL_SHIFT) - 1;

/// What is summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub(crate) enum Summand {
    /// `S_b`: two planes, real and imaginary.
    Corrected,
    /// `-i G_b conj Gamma_b` and `|Gamma_b|^2`: three planes.
    Overlap,
}

impl Summand {
    pub(crate) fn planes(self) -> usize {
        match self {
            Self::Corrected => 2,
            Self::Overlap => 3,
        }
    }
}

/// Sums over BF pixels `first..first + pixels` at the listed frequencies; a unit takes one frequency and
/// every BF pixel of its slot (second axis of cubes). Writes `[slot][plane][frequency]`, added to what earlier
/// packs left when `again`.
#[cube(launch_unchecked)]
pub(crate) fn sum_pixels(
    g: &Array<C32>,
    acquisition: &Array<f32>,
    candidates: &Array<C32>,
    list: &Array<u32>,
    sums: &mut Array<f32>,
    count: u32,
    first: u32,
    pixels: u32,
    again: u32,
    rows: u32,
    cols: u32,
    #[comptime] model: Model,
    #[comptime] summand: Summand,
) {
    let extent = Extent::new(rows as usize, cols as usize);
    let rows = extent.rows;
    let half = extent.half;
    let index = CUBE_POS_X as usize * CUBE_DIM as usize + UNIT_POS as usize;
    let points = count as usize;
    if index < points {
        let word = list[index];
        let row = (word & MASK) as usize;
        let col = ((word >> COL_SHIFT) & MASK) as usize;
        let mirrored = (word >> MIRROR_SHIFT) == 1;
        let point = Point {
            row,
            col,
            sign: select(mirrored, -1.0, 1.0),
            phase: select(mirrored, extent.plane() + col, col * rows + row),
        };
        let conjugate = select(mirrored, -1.0, 1.0);
        let mut re = f32::new(0.0);
        let mut im = f32::new(0.0);
        let mut power = f32::new(0.0);
        let mut pixel = CUBE_POS_Y as usize;
        while pixel < pixels as usize {
            let stored = first as usize + pixel;
            let place = Place {
                pixel: extent.pixel(stored, comptime!(model.unequal)),
                candidate: 0usize,
                wave: extent.wave(0usize, pixel, comptime!(model.polynomial)),
            };
            let z = g[(stored * half + col) * rows + row];
            let (g_re, g_im) = (z[0], conjugate * z[1]);
            let found = sides(acquisition, candidates, place, point, extent, model);
            if comptime!(summand == Summand::Corrected) {
                let s = normalised(acquisition, place.pixel, g_re, g_im, found);
                re += s.re;
                im += s.im;
            } else {
                let aperture = acquisition[place.pixel + 4];
                let t_re = (g_re * found.wave.cos - g_im * found.wave.sin) * aperture;
                let t_im = (g_re * found.wave.sin + g_im * found.wave.cos) * aperture;
                re += t_im * found.re - t_re * found.im;
                im -= t_re * found.re + t_im * found.im;
                power += (found.re * found.re + found.im * found.im) * aperture * aperture;
            }
            pixel += CUBE_COUNT_Y as usize;
        }
        let at = CUBE_POS_Y as usize * comptime!(summand.planes()) * points + index;
        let before_re = select(again == 1, sums[at], 0.0);
        let before_im = select(again == 1, sums[at + points], 0.0);
        sums[at] = before_re + re;
        sums[at + points] = before_im + im;
        if comptime!(summand == Summand::Overlap) {
            let before = select(again == 1, sums[at + 2 * points], 0.0);
            sums[at + 2 * points] = before + power;
        }
    }
}
