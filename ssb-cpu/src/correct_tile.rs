//! The factored correction of one block of stored columns (numerics sections 3 and 4).
//!
//! `Gamma = A(k) exp(i (a+b)/2) [(W_m - W_p) cos d + i (W_m + W_p) sin d]`, output `S = -i C`. Where both
//! apertures are 1, `S` is `G` times the plane wave times the sign of sin d; where one is 1 and the other
//! 0 it is turned by d as well: no root and no division. Only stretches with an aperture's edge
//! evaluate the edge.

use pulp::Simd;

use crate::correct_line::GAMMA_FLOOR;
use crate::edge::{Fixed, Point, at_edge};
use crate::phase_source::{Own, PhaseSource, Polynomial, Quadratic};
use crate::phase_terms::BlockPhases;
use crate::pixel::{Pixel, PixelScratch};
use crate::reach::{Kind, Stretches};
use crate::vectors::{Cell, F, Z, cells, lines};

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
        let own = !self.tables.chi.own().is_empty();
        if own {
            let phases = scratch.phases.get_mut();
            let reached = stretches.as_slice().iter();
            for s in reached.filter(|s| s.kind != Kind::None) {
                self.fill_own_phases(block, s.first..s.last, phases);
            }
        }
        let view = Block::new(simd, self, block, scratch);
        if self.tables.quadratic.is_some() {
            let phases = Quadratic(&view);
            view.stretches::<NORMALISED>(&phases, &stretches, sink, &mut count);
        } else if own {
            let phases = Own(&view);
            view.stretches::<NORMALISED>(&phases, &stretches, sink, &mut count);
        } else {
            let phases = Polynomial {
                block: &view,
                parts: &BlockPhases::new(simd, &self.parts, self.block_columns(block)),
            };
            view.stretches::<NORMALISED>(&phases, &stretches, sink, &mut count);
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
pub struct Block<'a, S: Simd> {
    pub simd: S,
    pub pixel: &'a Pixel<'a>,
    pub scratch: &'a PixelScratch,
    fixed: Fixed<S>,
    pub g: &'a [Cell<S>],
    /// cos d and sin d, quadratic phase.
    pub d: &'a [Cell<S>],
    /// d and the plane wave, terms with a formula of their own.
    pub phases: &'a [Cell<S>],
    pub wave: Z<S>,
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
    fn stretches<const NORMALISED: bool>(
        &self,
        phases: &impl PhaseSource<S>,
        stretches: &Stretches,
        sink: &mut impl Sink<S>,
        count: &mut F<S>,
    ) {
        for s in stretches.as_slice() {
            let rows = s.first..s.last;
            if s.kind == Kind::None {
                sink.skip(rows);
            } else {
                self.stretch::<NORMALISED>(phases, s.kind, rows, sink, count);
            }
        }
    }

    #[inline(always)]
    fn stretch<const NORMALISED: bool>(
        &self,
        phases: &impl PhaseSource<S>,
        kind: Kind,
        rows: std::ops::Range<usize>,
        sink: &mut impl Sink<S>,
        count: &mut F<S>,
    ) {
        let thick = self.pixel.tables.thick.is_some();
        match kind {
            Kind::None => {}
            Kind::Both => self.both::<NORMALISED>(phases, rows, sink, count),
            Kind::Minus => self.single::<NORMALISED, false>(phases, rows, sink),
            Kind::Plus => self.single::<NORMALISED, true>(phases, rows, sink),
            Kind::Edge => match (self.pixel.lattice.unequal_steps, thick) {
                (false, false) => {
                    self.edge::<NORMALISED, false, false>(phases, rows, sink, count);
                }
                (false, true) => {
                    self.edge::<NORMALISED, false, true>(phases, rows, sink, count);
                }
                (true, false) => {
                    self.edge::<NORMALISED, true, false>(phases, rows, sink, count);
                }
                (true, true) => {
                    self.edge::<NORMALISED, true, true>(phases, rows, sink, count);
                }
            },
        }
    }

    #[inline(always)]
    fn both<const NORMALISED: bool>(
        &self,
        phases: &impl PhaseSource<S>,
        rows: std::ops::Range<usize>,
        sink: &mut impl Sink<S>,
        count: &mut F<S>,
    ) {
        let simd = self.simd;
        let Fixed {
            aperture,
            floor,
            zero,
            one,
            ..
        } = self.fixed;
        let per_floor = F::splat(simd, (self.pixel.aperture / GAMMA_FLOOR) as f32);
        for row in rows {
            if !NORMALISED {
                let (t, imag) = phases.both(row);
                let size = aperture * imag;
                sink.put(row, Z::new(-(t.re * size), -(t.im * size)), size * size);
            } else if let Some(s) = phases.both_far(row) {
                sink.put(row, s, aperture);
            } else {
                let (t, imag) = phases.both_sign(row);
                *count = *count + one.where_or(imag.abs().at_most(floor), zero);
                let unit = (imag * per_floor).max(-one).min(one);
                sink.put(row, Z::new(-(t.re * unit), -(t.im * unit)), aperture);
            }
        }
    }

    #[inline(always)]
    fn single<const NORMALISED: bool, const PLUS: bool>(
        &self,
        phases: &impl PhaseSource<S>,
        rows: std::ops::Range<usize>,
        sink: &mut impl Sink<S>,
    ) {
        let aperture = self.fixed.aperture;
        for row in rows {
            let s = phases.single::<PLUS>(row);
            if NORMALISED {
                sink.put(row, s, aperture);
            } else {
                let s = Z::new(s.re * aperture, s.im * aperture);
                sink.put(row, s, aperture * aperture);
            }
        }
    }

    #[inline(always)]
    fn edge<const NORMALISED: bool, const UNEQUAL: bool, const THICK: bool>(
        &self,
        phases: &impl PhaseSource<S>,
        rows: std::ops::Range<usize>,
        sink: &mut impl Sink<S>,
        count: &mut F<S>,
    ) {
        let simd = self.simd;
        let tables = &self.scratch.rows;
        let shape = &self.pixel.lattice.aperture;
        for row in rows {
            let (d, t) = phases.edge(row);
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
pub fn turned<S: Simd>(t: Z<S>, real: F<S>, imag: F<S>) -> Z<S> {
    Z::new(
        t.re.neg_mul_add(imag, t.im * real),
        -(t.re.mul_add(real, t.im * imag)),
    )
}
