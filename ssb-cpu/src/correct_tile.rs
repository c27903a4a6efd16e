//! The factored correction of one block of stored columns (numerics sections 3 and 4).
//!
//! `Gamma = A(k) exp(i (a+b)/2) [(W_m - W_p) cos d + i (W_m + W_p) sin d]`, output `S = -i C`. Where both
//! apertures are 1, `S` is `G` times the plane wave times the sign of sin d; where one is 1 and the other
//! 0 it is turned by d as well: no root and no division. Only stretches with an aperture's edge
//! evaluate the edge.

use pulp::Simd;

use crate::correct_line::{ApertureShape, GAMMA_FLOOR};
use crate::pixel::{Pixel, PixelScratch};
use crate::reach::Kind;
use crate::vectors::{Cell, F, Z, cells, lines};

/// What is fixed for one pixel, in every lane.
#[derive(Clone, Copy)]
struct Fixed<S: Simd> {
    aperture: F<S>,
    floor: F<S>,
    floor2: F<S>,
    zero: F<S>,
    one: F<S>,
}

/// One point of every lane, ready for the edge.
#[derive(Clone, Copy)]
struct Point<S: Simd> {
    /// G times the plane wave.
    t: Z<S>,
    /// cos d and sin d.
    d: Z<S>,
    /// `|k|^2 + |q|^2` and `2 k q`.
    sum: F<S>,
    x: F<S>,
    /// The same weighted with the squared detector steps (unequal steps only).
    sum_steps: F<S>,
    x_steps: F<S>,
    /// r1 t/2 and r2 t/2 in turns (thick model only).
    depth_turns: [F<S>; 2],
}

/// Where a block's results go.
pub trait Sink<S: Simd> {
    /// `S` of one row of the block and, when not normalised, `|Gamma|^2`.
    fn put(&mut self, row: usize, s: Z<S>, gamma2: F<S>);
    /// Rows at which `S` is exactly 0.
    fn skip(&mut self, rows: std::ops::Range<usize>);
}

impl Pixel<'_> {
    /// Corrects one block and hands every row but the Nyquist row to `sink`: `S`, or `-i G conj Gamma` when
    /// not `NORMALISED`. Returns the degenerate points of the whole plane at the block's edges, DC in.
    #[inline(always)]
    pub fn correct_block<S: Simd, const NORMALISED: bool>(
        &self,
        simd: S,
        block: usize,
        scratch: &mut PixelScratch,
        sink: &mut impl Sink<S>,
    ) -> u64 {
        let lattice = self.lattice;
        let stretches = self.disks.stretches(
            &lattice.layout,
            block,
            lattice.spacing_per_a,
            self.edges_only,
        );
        let mut count = F::splat(simd, 0.0);
        if self.tables.quadratic.is_none() {
            let coefficients = self.block_coefficients(block);
            let phases = scratch.phases.get_mut();
            for s in stretches.as_slice().iter().filter(|s| s.kind != Kind::None) {
                self.fill_phases::<S>(block, s.first..s.last, &coefficients, phases);
            }
        }
        for s in stretches.as_slice() {
            let rows = s.first..s.last;
            if s.kind == Kind::None {
                sink.skip(rows);
                continue;
            }
            let block = Block::new(simd, self, block, scratch);
            if self.tables.quadratic.is_some() {
                block.stretch::<NORMALISED, true>(s.kind, rows, sink, &mut count);
            } else {
                block.stretch::<NORMALISED, false>(s.kind, rows, sink, &mut count);
            }
        }
        // Columns that mirror onto others stand for two; column 0 is its own mirror image.
        let lanes = crate::vectors::lanes_of::<S>(&count.v);
        let valid = (lattice.layout.plane_cols - block * lanes.len()).min(lanes.len());
        let whole: f32 = lanes[..valid].iter().sum();
        let own = if block == 0 { lanes[0] } else { 0.0 };
        (2.0 * whole - own) as u64
    }
}

/// One block of one pixel.
struct Block<'a, S: Simd> {
    simd: S,
    pixel: &'a Pixel<'a>,
    scratch: &'a PixelScratch,
    fixed: Fixed<S>,
    g: &'a [Cell<S>],
    /// cos d and sin d, quadratic phase.
    d: &'a [Cell<S>],
    /// d and the plane wave, any other phase.
    phases: &'a [Cell<S>],
    wave: Z<S>,
    q2: F<S>,
    q2_steps: F<S>,
    x: F<S>,
    x_steps: F<S>,
    depth_turns: [F<S>; 2],
}

/// The block's vector of a table over the columns.
#[inline(always)]
fn vector<S: Simd>(simd: S, block: usize, values: &[f32]) -> F<S> {
    F::new(simd, lines::<S>(values)[block])
}

impl<'a, S: Simd> Block<'a, S> {
    #[inline(always)]
    fn new(simd: S, pixel: &'a Pixel<'a>, block: usize, scratch: &'a PixelScratch) -> Self {
        let lattice = pixel.lattice;
        let rows = lattice.layout.rows;
        let cols = &scratch.cols;
        let floor = (GAMMA_FLOOR / pixel.aperture) as f32;
        Self {
            simd,
            pixel,
            scratch,
            fixed: Fixed {
                aperture: F::splat(simd, pixel.aperture as f32),
                floor: F::splat(simd, floor),
                floor2: F::splat(simd, floor * floor),
                zero: F::splat(simd, 0.0),
                one: F::splat(simd, 1.0),
            },
            g: &cells::<S>(&pixel.g[..lattice.layout.plane_floats()])[block * rows..][..rows],
            d: match &pixel.tables.quadratic {
                Some(tables) => &cells::<S>(tables.plane.get())[block * rows..][..rows],
                None => &[],
            },
            phases: cells::<S>(scratch.phases.get()),
            wave: Z::new(
                vector(simd, block, &cols.wave[0]),
                vector(simd, block, &cols.wave[1]),
            ),
            q2: vector(simd, block, lattice.block_q2[0].get()),
            q2_steps: vector(simd, block, lattice.block_q2[1].get()),
            x: vector(simd, block, &cols.x),
            x_steps: vector(simd, block, &cols.x_steps),
            depth_turns: [
                vector(simd, block, &cols.depth_turns[0]),
                vector(simd, block, &cols.depth_turns[1]),
            ],
        }
    }

    #[inline(always)]
    fn stretch<const NORMALISED: bool, const QUADRATIC: bool>(
        &self,
        kind: Kind,
        rows: std::ops::Range<usize>,
        sink: &mut impl Sink<S>,
        count: &mut F<S>,
    ) {
        let (lattice, thick) = (self.pixel.lattice, self.pixel.tables.thick.is_some());
        match kind {
            Kind::None => {}
            Kind::Both => self.both::<NORMALISED, QUADRATIC>(rows, sink, count),
            Kind::Minus => self.single::<NORMALISED, QUADRATIC, false>(rows, sink),
            Kind::Plus => self.single::<NORMALISED, QUADRATIC, true>(rows, sink),
            Kind::Edge => match (lattice.unequal_steps, thick) {
                (false, false) => {
                    self.edge::<NORMALISED, QUADRATIC, false, false>(rows, sink, count);
                }
                (false, true) => {
                    self.edge::<NORMALISED, QUADRATIC, false, true>(rows, sink, count);
                }
                (true, false) => {
                    self.edge::<NORMALISED, QUADRATIC, true, false>(rows, sink, count);
                }
                (true, true) => {
                    self.edge::<NORMALISED, QUADRATIC, true, true>(rows, sink, count);
                }
            },
        }
    }

    /// cos d and sin d, and G times the plane wave.
    #[inline(always)]
    fn phases<const QUADRATIC: bool>(&self, row: usize) -> (Z<S>, Z<S>) {
        let simd = self.simd;
        let g = Z::load(simd, &self.g[row]);
        if QUADRATIC {
            let over_rows = &self.scratch.rows.wave;
            let wave = self
                .wave
                .times_all(simd, [over_rows[0][row], over_rows[1][row]]);
            (Z::load(simd, &self.d[row]), g.times(wave))
        } else {
            let wave = Z::load(simd, &self.phases[2 * row + 1]);
            (Z::load(simd, &self.phases[2 * row]), g.times(wave))
        }
    }

    #[inline(always)]
    fn both<const NORMALISED: bool, const QUADRATIC: bool>(
        &self,
        rows: std::ops::Range<usize>,
        sink: &mut impl Sink<S>,
        count: &mut F<S>,
    ) {
        let simd = self.simd;
        let minus = F::splat(simd, -0.0);
        let Fixed {
            aperture,
            floor,
            zero,
            one,
            ..
        } = self.fixed;
        let per_floor = F::splat(simd, (self.pixel.aperture / GAMMA_FLOOR) as f32);
        for row in rows {
            let (d, t) = self.phases::<QUADRATIC>(row);
            if !QUADRATIC {
                let imag = d.im + d.im;
                *count = *count + one.where_or(imag.abs().at_most(floor), zero);
                if NORMALISED {
                    let unit = (imag * per_floor).max(-one).min(one);
                    sink.put(row, Z::new(-(t.re * unit), -(t.im * unit)), aperture);
                    continue;
                }
            }
            if NORMALISED {
                let flip = d.im.sign().xor(minus);
                sink.put(row, Z::new(t.re.xor(flip), t.im.xor(flip)), aperture);
            } else {
                let size = aperture * (d.im + d.im);
                sink.put(row, Z::new(-(t.re * size), -(t.im * size)), size * size);
            }
        }
    }

    #[inline(always)]
    fn single<const NORMALISED: bool, const QUADRATIC: bool, const PLUS: bool>(
        &self,
        rows: std::ops::Range<usize>,
        sink: &mut impl Sink<S>,
    ) {
        let aperture = self.fixed.aperture;
        for row in rows {
            let (d, t) = self.phases::<QUADRATIC>(row);
            // real = +-cos d, imag = sin d
            let real = if PLUS { -d.re } else { d.re };
            let s = turned(t, real, d.im);
            if NORMALISED {
                sink.put(row, s, aperture);
            } else {
                let s = Z::new(s.re * aperture, s.im * aperture);
                sink.put(row, s, aperture * aperture);
            }
        }
    }

    #[inline(always)]
    fn edge<
        const NORMALISED: bool,
        const QUADRATIC: bool,
        const UNEQUAL: bool,
        const THICK: bool,
    >(
        &self,
        rows: std::ops::Range<usize>,
        sink: &mut impl Sink<S>,
        count: &mut F<S>,
    ) {
        let simd = self.simd;
        let tables = &self.scratch.rows;
        let shape = &self.pixel.lattice.aperture;
        for row in rows {
            let (d, t) = self.phases::<QUADRATIC>(row);
            let mut point = Point {
                t,
                d,
                sum: self.q2 + F::splat(simd, self.scratch.base[row]),
                x: self.x + F::splat(simd, tables.x[row]),
                sum_steps: self.fixed.zero,
                x_steps: self.fixed.zero,
                depth_turns: [self.fixed.zero; 2],
            };
            if UNEQUAL {
                point.sum_steps = self.q2_steps + F::splat(simd, self.scratch.base_steps[row]);
                point.x_steps = self.x_steps + F::splat(simd, tables.x_steps[row]);
            }
            if THICK {
                point.depth_turns = [
                    self.depth_turns[0] + F::splat(simd, tables.depth_turns[0][row]),
                    self.depth_turns[1] + F::splat(simd, tables.depth_turns[1][row]),
                ];
            }
            let (s, gamma2, degenerate) =
                at_edge::<S, NORMALISED, UNEQUAL, THICK>(simd, shape, &self.fixed, &point);
            *count = *count + degenerate;
            sink.put(row, s, gamma2);
        }
    }
}

/// -i t (real - i imag).
#[inline(always)]
fn turned<S: Simd>(t: Z<S>, real: F<S>, imag: F<S>) -> Z<S> {
    Z::new(
        t.re.neg_mul_add(imag, t.im * real),
        -(t.re.mul_add(real, t.im * imag)),
    )
}

#[inline(always)]
fn clip<S: Simd>(fixed: &Fixed<S>, v: F<S>) -> F<S> {
    v.max(fixed.zero).min(fixed.one)
}

/// `S`, `|Gamma|^2`, and 1 in every degenerate lane.
#[inline(always)]
fn at_edge<S: Simd, const NORMALISED: bool, const UNEQUAL: bool, const THICK: bool>(
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

/// sin(2 pi r) over r in [-1/4, 1/4] as r times a polynomial in r^2, error 3e-11 before rounding.
const SIN: [f32; 6] = [
    std::f32::consts::TAU,
    -41.341_702,
    81.605_226,
    -76.704_28,
    42.009_806,
    -14.394_135,
];

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
    let s = rest * rest;
    let mut series = F::splat(simd, SIN[5]);
    for c in SIN[..5].iter().rev() {
        series = series.mul_add(s, F::splat(simd, *c));
    }
    let sine = series * rest;
    sine * (F::splat(simd, 1.0) - (odd + odd))
}
