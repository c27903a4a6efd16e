//! The Nyquist row of an even number of scan rows (numerics section 2).
//!
//! `S(v) = -i C(v)` on it splits into its Hermitian part, which returns to the half plane, and
//! `i (S(v) - conj S(-v)) / 2`, whose transform is a real term of `O_b` that varies over the columns and alternates over
//! the rows. The Nyquist column needs no kernel: its Hermitian part becomes the real and minus its
//! real term the imaginary part of its transform.

use cubecl::prelude::*;

use super::C32;
use super::correct::{Place, Point, normalised, sides};
use super::layout::{Extent, Model};
use super::reduce::sum_of_cube;
use super::tables::complex;
use crate::line::{LinePlan, input_index, output_index, transform};

/// Separates the Nyquist rows of BF pixels `first..first + pixels`; one BF pixel a cube, candidates along the
/// second axis of cubes. The Hermitian part goes into the candidate's table, the spectrum of the real
/// term to `real`, `half` values for each candidate and BF pixel; degenerate points to `degenerate`, `stride`
/// values for each candidate, added to those of earlier packs when `again`.
#[cube(launch_unchecked)]
pub(crate) fn separate_row(
    g: &Array<C32>,
    acquisition: &Array<f32>,
    candidates: &mut Array<C32>,
    real: &mut Array<C32>,
    degenerate: &mut Array<f32>,
    first: u32,
    again: u32,
    stride: u32,
    pairs_per_candidate: u32,
    rows: u32,
    cols: u32,
    #[comptime] model: Model,
    #[comptime] units: usize,
) {
    let mut shared = SharedMemory::<f32>::new(units);
    let extent = Extent::new(rows as usize, cols as usize);
    let rows = extent.rows;
    let half = extent.half;
    let nyquist = rows / 2;
    let pixel = CUBE_POS_X as usize;
    let stored = first as usize + pixel;
    let candidate = CUBE_POS_Y as usize * pairs_per_candidate as usize;
    let place = Place {
        pixel: extent.pixel(stored, comptime!(model.unequal)),
        candidate,
        wave: extent.wave(candidate, pixel, comptime!(model.polynomial)),
    };
    let which = CUBE_POS_Y as usize * CUBE_COUNT_X as usize + pixel;
    let mut count = f32::new(0.0);
    let mut col = UNIT_POS as usize;
    while col < half {
        let z = g[(stored * half + col) * rows + nyquist];
        let plus = normalised(
            acquisition,
            place.pixel,
            z[0],
            z[1],
            sides(
                acquisition,
                candidates,
                place,
                Point {
                    row: nyquist,
                    col,
                    sign: 1.0,
                    phase: col * rows + nyquist,
                },
                extent,
                model,
            ),
        );
        // G is conjugate on the other side; column 0 and the corner are their own mirrors.
        let own = col == 0 || extent.nyquist_col(col);
        let minus = normalised(
            acquisition,
            place.pixel,
            z[0],
            select(own, z[1], -z[1]),
            sides(
                acquisition,
                candidates,
                place,
                Point {
                    row: nyquist,
                    col,
                    sign: select(own, 1.0, -1.0),
                    phase: select(own, col * rows + nyquist, extent.plane() + col),
                },
                extent,
                model,
            ),
        );
        count += plus.degenerate + select(own, 0.0, minus.degenerate);
        // The corner belongs to both lines; the column takes it whole.
        let corner = own && col > 0;
        let even_re = select(corner, plus.re, (plus.re + minus.re) * 0.5);
        let even_im = select(corner, plus.im, (plus.im - minus.im) * 0.5);
        let gap_re = (plus.re - minus.re) * 0.5;
        let gap_im = (plus.im + minus.im) * 0.5;
        candidates[place.wave + rows + half + col] = complex(even_re, even_im);
        real[which * half + col] =
            complex(select(corner, 0.0, -gap_im), select(corner, 0.0, gap_re));
        col += units;
    }
    let total = sum_of_cube(&mut shared, count, units);
    if UNIT_POS == 0 {
        let at = CUBE_POS_Y as usize * stride as usize + pixel;
        let before = select(again == 1, degenerate[at], 0.0);
        degenerate[at] = before + total;
    }
}

/// Transforms `count` Hermitian spectra into real lines of `plan.n` values, two in one complex transform. Value v
/// of line l lies at `(l / per) * block + l % per + v * stride`, v up to `n / 2`.
#[cube(launch_unchecked)]
pub(crate) fn real_lines(
    spectra: &Array<C32>,
    lines_out: &mut Array<f32>,
    table: &Array<C32>,
    count: u32,
    per: u32,
    block: u32,
    stride: u32,
    #[comptime] lines: usize,
    #[comptime] plan: LinePlan,
) {
    let mut shared =
        SharedMemory::<f32>::new(comptime!(1usize.max(lines * plan.exchange_floats())));
    let n = comptime!(plan.n);
    let unit = UNIT_POS as usize % comptime!(plan.units);
    let local = UNIT_POS as usize / comptime!(plan.units);
    let cube = CUBE_POS_Y as usize * CUBE_COUNT_X as usize + CUBE_POS_X as usize;
    let first = 2 * (cube * lines + local);
    let both = first + 1 < count as usize;
    let active = first < count as usize;
    let (per, block, stride) = (per as usize, block as usize, stride as usize);
    let from = (first / per) * block + first % per;
    let second = select(both, first + 1, first);
    let from_second = (second / per) * block + second % per;
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
            if active && v < n {
                let folded = Folded::new(v, n);
                let a = spectra[from + folded.index * stride];
                let b = spectra[from_second + folded.index * stride];
                re[slot] = a[0] - folded.sign * b[1];
                im[slot] = folded.sign * a[1] + b[0];
            }
        }
    }
    let at = local * comptime!(plan.exchange_floats());
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
            if active && i < n {
                lines_out[first * n + i] = re[slot];
                if both {
                    lines_out[(first + 1) * n + i] = im[slot];
                }
            }
        }
    }
}

/// Where a frequency of a whole line is found in the stored half, and the sign of the imaginary part:
/// -1 for the mirrored side, 0 where a Hermitian spectrum is real.
#[derive(CubeType, Clone, Copy)]
pub(crate) struct Folded {
    pub(crate) index: usize,
    pub(crate) sign: f32,
}

#[cube]
impl Folded {
    pub(crate) fn new(v: usize, #[comptime] n: usize) -> Folded {
        let mirrored = v > comptime!(n / 2);
        let alone = v == 0 || 2 * v == n;
        Folded {
            index: select(mirrored, n - v, v),
            sign: select(alone, 0.0, select(mirrored, -1.0, 1.0)),
        }
    }
}
