//! The soft edge of the two apertures, and the thick model's weights (numerics sections 3 and 4).

use pulp::Simd;

use crate::correct_line::ApertureShape;
use crate::correct_tile::turned;
use crate::phase_terms::series;
use crate::vectors::{F, Z};

/// What is fixed for one pixel, in every lane.
#[derive(Clone, Copy)]
pub struct Fixed<S: Simd> {
    pub aperture: F<S>,
    pub floor: F<S>,
    pub floor2: F<S>,
    pub zero: F<S>,
    pub one: F<S>,
}

/// One point of every lane, ready for the edge.
#[derive(Clone, Copy)]
pub struct Point<S: Simd> {
    /// G times the plane wave.
    pub t: Z<S>,
    /// cos d and sin d.
    pub d: Z<S>,
    /// `|k|^2 + |q|^2` and `2 k q`.
    pub sum: F<S>,
    pub x: F<S>,
    /// The same weighted with the squared detector steps (unequal steps only).
    pub sum_steps: F<S>,
    pub x_steps: F<S>,
    /// r1 t/2 and r2 t/2 in turns (thick model only).
    pub depth_turns: [F<S>; 2],
}

#[inline(always)]
fn clip<S: Simd>(fixed: &Fixed<S>, v: F<S>) -> F<S> {
    v.max(fixed.zero).min(fixed.one)
}

/// `S`, `|Gamma|^2`, and 1 in every degenerate lane.
#[inline(always)]
pub fn at_edge<S: Simd, const NORMALISED: bool, const UNEQUAL: bool, const THICK: bool>(
    simd: S,
    shape: &ApertureShape,
    fixed: &Fixed<S>,
    point: &Point<S>,
) -> (Z<S>, F<S>, F<S>) {
    // Never |k-q| and |k+q| apart: the two weights must agree exactly where these are equal.
    let um2 = (point.sum - point.x).max(fixed.zero);
    let up2 = (point.sum + point.x).max(fixed.zero);
    let (am, ap) = if UNEQUAL {
        let nm = (point.sum_steps - point.x_steps).max(fixed.zero);
        let np = (point.sum_steps + point.x_steps).max(fixed.zero);
        (
            oval(simd, shape, fixed, um2, nm),
            oval(simd, shape, fixed, up2, np),
        )
    } else {
        (
            round(simd, shape, fixed, um2),
            round(simd, shape, fixed, up2),
        )
    };
    let (wm, wp) = if THICK {
        let [m, p] = sincs(simd, point.depth_turns);
        (am * m, ap * p)
    } else {
        (am, ap)
    };
    let real = (wm - wp) * point.d.re;
    let imag = (wm + wp) * point.d.im;
    let g2 = real.mul_add(real, imag * imag);
    let supported = fixed.zero.less(am + ap);
    let low = g2.at_most(fixed.floor2);
    let degenerate = fixed
        .one
        .where_or(low, fixed.zero)
        .where_or(supported, fixed.zero);
    let scale = if NORMALISED {
        fixed.one.divided_by(g2.sqrt().max(fixed.floor))
    } else {
        fixed.aperture
    };
    let s = turned(point.t, real, imag);
    (
        Z::new(s.re * scale, s.im * scale),
        g2 * fixed.aperture * fixed.aperture,
        degenerate,
    )
}

/// Equal steps: the edge is as wide in every direction.
#[inline(always)]
fn round<S: Simd>(simd: S, shape: &ApertureShape, fixed: &Fixed<S>, u2: F<S>) -> F<S> {
    let offset = F::splat(simd, shape.offset);
    let v = u2.sqrt().neg_mul_add(F::splat(simd, shape.slope), offset);
    clip(fixed, v)
}

/// Unequal steps: `e(u) = sqrt(n) / |u|`.
#[inline(always)]
fn oval<S: Simd>(simd: S, shape: &ApertureShape, fixed: &Fixed<S>, u2: F<S>, n: F<S>) -> F<S> {
    let edge_times_u = n.sqrt().max(F::splat(simd, 1e-30));
    let inside =
        u2.sqrt() * F::splat(simd, shape.semiangle) - u2 * F::splat(simd, shape.wavelength);
    let a = clip(fixed, inside.divided_by(edge_times_u) + F::splat(simd, 0.5));
    fixed
        .one
        .where_or(u2.at_most(F::splat(simd, shape.inner)), a)
}

/// sin y / y of both phases, given in turns; one division for both.
#[inline(always)]
fn sincs<S: Simd>(simd: S, turns: [F<S>; 2]) -> [F<S>; 2] {
    // sinc is even, and 1 to float32 below this.
    let [m, p] = [
        turns[0].abs().max(F::splat(simd, 1e-5)),
        turns[1].abs().max(F::splat(simd, 1e-5)),
    ];
    let inverse = F::splat(simd, 1.0).divided_by(m * p);
    let per_radian = F::splat(simd, 1.0 / std::f32::consts::TAU) * inverse;
    [
        sine(simd, m) * p * per_radian,
        sine(simd, p) * m * per_radian,
    ]
}

/// sin(2 pi t) for t of at most some thousands.
#[inline(always)]
fn sine<S: Simd>(simd: S, t: F<S>) -> F<S> {
    // Half turns beside the nearest integer, folded to a quarter.
    let magic = F::splat(simd, 12_582_912.0);
    let half_turns = t + t;
    let nearest = (half_turns + magic) - magic;
    let rest = (half_turns - nearest) * F::splat(simd, 0.5);
    // The sign alternates with the half turn: parity of `nearest`.
    let pairs = (nearest * F::splat(simd, 0.5) + magic) - magic;
    let odd = (nearest - (pairs + pairs)).abs();
    let sine = series(simd, rest);
    sine * (F::splat(simd, 1.0) - (odd + odd))
}
