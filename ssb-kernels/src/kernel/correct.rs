//! The factored correction at one point (numerics sections 3 and 4).
//!
//! `Gamma = A(k) exp(i (a+b)/2) [(W_m - W_p) cos d + i (W_m + W_p) sin d]`; the result is `S = -i C`, the
//! spectrum of the real image `s_b` of section 2. Tables: see `layout`.

use cubecl::prelude::*;

use super::C32;
use ssb_core::own_terms::{OWN_TERMS, own_path};
use ssb_core::trig::{Turn, sinc, turn};

use super::layout::{Extent, HEAD_PAIRS, Model, PIXEL_FLOATS, SHAPE_FLOATS};

/// One BF pixel under one candidate: where its values begin in the two tables.
#[derive(CubeType, Clone, Copy)]
pub(crate) struct Place {
    /// The BF pixel in the table of the acquisition.
    pub(crate) pixel: usize,
    /// The candidate in its table.
    pub(crate) candidate: usize,
    /// The BF pixel in the table of the candidate.
    pub(crate) wave: usize,
}

/// A scan frequency: row, stored column, and the sign of the column.
#[derive(CubeType, Clone, Copy)]
pub(crate) struct Point {
    pub(crate) row: usize,
    pub(crate) col: usize,
    /// 1, or -1 for the negative columns of the Nyquist row.
    pub(crate) sign: f32,
    /// Index of the quadratic phase.
    pub(crate) phase: usize,
}

/// `Gamma / A(k)` apart from the plane wave: `re = (W_m - W_p) cos d`, `im = (W_m + W_p) sin d`.
#[derive(CubeType, Clone, Copy)]
pub(crate) struct Sides {
    pub(crate) re: f32,
    pub(crate) im: f32,
    /// `exp(-i (a+b)/2)`.
    pub(crate) wave: Turn,
    /// 1 where a sideband's aperture is open, else 0.
    pub(crate) open: f32,
}

/// A corrected value and whether it counts as degenerate.
#[derive(CubeType, Clone, Copy)]
pub(crate) struct Corrected {
    pub(crate) re: f32,
    pub(crate) im: f32,
    /// 1 where `|Gamma| <= 1e-8` though a sideband's aperture is open, else 0.
    pub(crate) degenerate: f32,
}

#[cube]
fn clip(v: f32) -> f32 {
    min(max(v, 0.0), 1.0)
}

/// Equal detector steps: the edge is as wide in every direction.
#[cube]
fn round_aperture(acquisition: &Array<f32>, u2: f32) -> f32 {
    clip(acquisition[0] - acquisition[1] * u2.sqrt())
}

/// Unequal steps: `e(u) = sqrt(n) / |u|`, `n = (u_row dalpha_row)^2 + (u_col dalpha_col)^2`.
#[cube]
fn oval_aperture(acquisition: &Array<f32>, u2: f32, n: f32) -> f32 {
    let edge = max(n.sqrt(), 1e-30);
    let a = clip((acquisition[2] * u2.sqrt() - acquisition[3] * u2) / edge + 0.5);
    select(u2 <= acquisition[4], 1.0, a)
}

/// The sidebands' apertures and phases at one point.
#[cube]
pub(crate) fn sides(
    acquisition: &Array<f32>,
    candidates: &Array<C32>,
    place: Place,
    point: Point,
    extent: Extent,
    #[comptime] model: Model,
) -> Sides {
    let (row, col, sign) = (point.row, point.col, point.sign);
    let row_axis = comptime!(SHAPE_FLOATS);
    let col_axis = extent.col_axis();
    let rows = extent.rows;
    let half = extent.half;
    let q2 = acquisition[row_axis + rows + row] + acquisition[col_axis + half + col];
    let sum = acquisition[place.pixel] + q2;
    let shift = place.pixel + comptime!(PIXEL_FLOATS);
    let x = acquisition[shift + row] + sign * acquisition[shift + rows + col];
    let minus2 = max(sum - x, 0.0);
    let plus2 = max(sum + x, 0.0);
    let mut minus = round_aperture(acquisition, minus2);
    let mut plus = round_aperture(acquisition, plus2);
    if comptime!(model.unequal) {
        let q2_steps =
            acquisition[row_axis + 2 * rows + row] + acquisition[col_axis + 2 * half + col];
        let sum_steps = acquisition[place.pixel + 1] + q2_steps;
        let steps = shift + rows + half;
        let x_steps = acquisition[steps + row] + sign * acquisition[steps + rows + col];
        minus = oval_aperture(acquisition, minus2, max(sum_steps - x_steps, 0.0));
        plus = oval_aperture(acquisition, plus2, max(sum_steps + x_steps, 0.0));
    }
    let open = select(minus + plus > 0.0, acquisition[place.pixel + 2], 0.0);
    if comptime!(model.thick) {
        let bend = candidates[place.candidate][0];
        let tilt_row = candidates[place.candidate][1];
        let tilt_col = candidates[place.candidate + 1][0];
        let tilt =
            tilt_row * acquisition[row_axis + row] + sign * tilt_col * acquisition[col_axis + col];
        minus *= sinc(-bend * (q2 - x) - tilt);
        plus *= sinc(bend * (q2 + x) - tilt);
    }
    let across = candidates[place.wave + rows + col];
    let along = candidates[place.wave + row];
    let mut wave_cos = along[0] * across[0] - along[1] * sign * across[1];
    let mut wave_sin = along[0] * sign * across[1] + along[1] * across[0];
    let table = candidates[place.candidate + comptime!(HEAD_PAIRS) + point.phase];
    let mut cos = table[0];
    let mut sin = table[1];
    if comptime!(model.polynomial) {
        let q_row = acquisition[row_axis + row];
        let q_col = sign * acquisition[col_axis + col];
        let at = place.wave + rows + 2 * half;
        let mut even = even_part(candidates, at, q_row, q_col);
        let mut odd = odd_part(candidates, at, q_row, q_col);
        if comptime!(model.own) {
            let own = own_parts(acquisition, candidates, place, q_row, q_col);
            even += own.even;
            odd += own.odd;
        }
        let d = turn(table[0] - even);
        cos = d.cos;
        sin = d.sin;
        let bent = turn(-odd);
        let straight = wave_cos;
        wave_cos = straight * bent.cos - wave_sin * bent.sin;
        wave_sin = straight * bent.sin + wave_sin * bent.cos;
    }
    Sides {
        re: (minus - plus) * cos,
        im: (minus + plus) * sin,
        wave: Turn {
            cos: wave_cos,
            sin: wave_sin,
        },
        open,
    }
}

/// Coefficient `index` of those packed in pairs from `at` on.
#[cube]
fn coefficient(candidates: &Array<C32>, at: usize, #[comptime] index: usize) -> f32 {
    candidates[at + comptime!(index / 2)][comptime!(index % 2)]
}

/// The homogeneous polynomial of `degree` whose coefficients, by ascending power of `q_row`, begin at
/// `first`.
#[cube]
fn homogeneous(
    candidates: &Array<C32>,
    at: usize,
    q_row: f32,
    q_col: f32,
    #[comptime] first: usize,
    #[comptime] degree: usize,
) -> f32 {
    // Horner in q_row; the powers of q_col grow as those of q_row fall.
    let mut sum = coefficient(candidates, at, comptime!(first + degree));
    let mut power = q_col;
    #[unroll]
    for i in 0..degree {
        let next = coefficient(candidates, at, comptime!(first + degree - 1 - i));
        sum = sum * q_row + next * power;
        power *= q_col;
    }
    sum
}

#[cube]
fn even_part(candidates: &Array<C32>, at: usize, q_row: f32, q_col: f32) -> f32 {
    homogeneous(candidates, at, q_row, q_col, 0usize, 2usize)
        + homogeneous(candidates, at, q_row, q_col, 3usize, 4usize)
        + homogeneous(candidates, at, q_row, q_col, 8usize, 6usize)
}

#[cube]
fn odd_part(candidates: &Array<C32>, at: usize, q_row: f32, q_col: f32) -> f32 {
    homogeneous(candidates, at, q_row, q_col, 15usize, 3usize)
        + homogeneous(candidates, at, q_row, q_col, 19usize, 5usize)
}

/// What the terms with a formula of their own add to the even and odd parts, in turns.
#[derive(CubeType, Clone, Copy)]
struct OwnParts {
    even: f32,
    odd: f32,
}

#[cube]
fn own_parts(
    acquisition: &Array<f32>,
    candidates: &Array<C32>,
    place: Place,
    q_row: f32,
    q_col: f32,
) -> OwnParts {
    let k_row = acquisition[place.pixel + 5];
    let k_col = acquisition[place.pixel + 6];
    let centre = own_turns(acquisition, candidates, place.candidate, k_row, k_col);
    let (row, col) = (k_row + q_row, k_col + q_col);
    let plus = own_turns(acquisition, candidates, place.candidate, row, col);
    let (row, col) = (k_row - q_row, k_col - q_col);
    let minus = own_turns(acquisition, candidates, place.candidate, row, col);
    OwnParts {
        even: 0.5 * (plus + minus) - centre,
        odd: 0.5 * (plus - minus),
    }
}

/// Turns of the terms with a formula of their own at `(u_row, u_col)` in 1/Å.
#[cube]
fn own_turns(
    acquisition: &Array<f32>,
    candidates: &Array<C32>,
    candidate: usize,
    u_row: f32,
    u_col: f32,
) -> f32 {
    let wavelength_a = acquisition[3];
    let (row, col) = (wavelength_a * u_row, wavelength_a * u_col);
    let mut sum = 0.0;
    #[unroll]
    for which in 0..OWN_TERMS {
        let term = candidates[candidate + comptime!(2 + which)];
        sum += term[0] * own_path(row, col, term[1], which);
    }
    sum
}

/// `S = -i G conj(Gamma) / max(|Gamma|, 1e-8)`.
#[cube]
pub(crate) fn normalised(
    acquisition: &Array<f32>,
    pixel: usize,
    g_re: f32,
    g_im: f32,
    sides: Sides,
) -> Corrected {
    let size = (sides.re * sides.re + sides.im * sides.im).sqrt();
    let floor = acquisition[pixel + 3];
    let scale = acquisition[pixel + 2] / max(size, floor);
    let t_re = g_re * sides.wave.cos - g_im * sides.wave.sin;
    let t_im = g_re * sides.wave.sin + g_im * sides.wave.cos;
    Corrected {
        re: (t_im * sides.re - t_re * sides.im) * scale,
        im: -(t_re * sides.re + t_im * sides.im) * scale,
        degenerate: select(size <= floor, sides.open, 0.0),
    }
}
