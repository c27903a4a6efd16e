//! Where a block's phases come from: a candidate's tables, the polynomial about `k`, or points.

use pulp::Simd;

use crate::correct_tile::{Block, turned};
use crate::phase_terms::{BlockPhases, series};
use crate::pixel::ROW;
use crate::vectors::{F, Z};

/// The phases of one block, row by row. `t` below is G times exp(-i (a+b)/2).
pub trait PhaseSource<S: Simd> {
    /// `d` as cos and sin, and `t`.
    fn edge(&self, row: usize) -> (Z<S>, Z<S>);
    /// `S` where one aperture is 1 (`A(k+q)` when `PLUS`) and the other 0.
    fn single<const PLUS: bool>(&self, row: usize) -> Z<S>;
    /// Where both apertures are 1: `t`, and 2 sin d.
    fn both(&self, row: usize) -> (Z<S>, F<S>);
    /// As [`Self::both`] where no `|Gamma|` is near its floor for sure, or `None`: `S` itself.
    fn both_far(&self, row: usize) -> Option<Z<S>>;
    /// As [`Self::both`], 2 sin d good near its zeros and of the right sign elsewhere.
    fn both_sign(&self, row: usize) -> (Z<S>, F<S>);
}

/// C10 and C12: d from the candidate's tables, a plane wave from factors.
pub struct Quadratic<'a, 'b, S: Simd>(pub &'a Block<'b, S>);

impl<S: Simd> Quadratic<'_, '_, S> {
    #[inline(always)]
    fn t(&self, row: usize) -> Z<S> {
        let block = self.0;
        let over_rows = &block.scratch.rows.wave;
        let wave = block
            .wave
            .times_all(block.simd, [over_rows[0][row], over_rows[1][row]]);
        Z::load(block.simd, &block.g[row]).times(wave)
    }

    #[inline(always)]
    fn d(&self, row: usize) -> Z<S> {
        Z::load(self.0.simd, &self.0.d[row])
    }
}

impl<S: Simd> PhaseSource<S> for Quadratic<'_, '_, S> {
    #[inline(always)]
    fn edge(&self, row: usize) -> (Z<S>, Z<S>) {
        (self.d(row), self.t(row))
    }

    #[inline(always)]
    fn single<const PLUS: bool>(&self, row: usize) -> Z<S> {
        let d = self.d(row);
        let real = if PLUS { -d.re } else { d.re };
        turned(self.t(row), real, d.im)
    }

    #[inline(always)]
    fn both(&self, row: usize) -> (Z<S>, F<S>) {
        let sin = self.d(row).im;
        (self.t(row), sin + sin)
    }

    #[inline(always)]
    fn both_far(&self, row: usize) -> Option<Z<S>> {
        let flip = self.d(row).im.sign().xor(F::splat(self.0.simd, -0.0));
        let t = self.t(row);
        Some(Z::new(t.re.xor(flip), t.im.xor(flip)))
    }

    #[inline(always)]
    fn both_sign(&self, row: usize) -> (Z<S>, F<S>) {
        self.both(row)
    }
}

/// Any polynomial: even and odd parts in float64.
pub struct Polynomial<'a, 'b, S: Simd> {
    pub block: &'a Block<'b, S>,
    pub parts: &'a BlockPhases<S>,
}

impl<S: Simd> Polynomial<'_, '_, S> {
    #[inline(always)]
    fn q_row(&self, row: usize) -> f64 {
        self.block.pixel.lattice.q_per_a[ROW][row]
    }

    #[inline(always)]
    fn g(&self, row: usize) -> Z<S> {
        Z::load(self.block.simd, &self.block.g[row])
    }

    #[inline(always)]
    fn t(&self, row: usize) -> Z<S> {
        let wave = self.parts.wave(&self.parts.odd, self.q_row(row));
        self.g(row).times(wave)
    }
}

impl<S: Simd> PhaseSource<S> for Polynomial<'_, '_, S> {
    #[inline(always)]
    fn edge(&self, row: usize) -> (Z<S>, Z<S>) {
        (self.parts.d(self.q_row(row)), self.t(row))
    }

    #[inline(always)]
    fn single<const PLUS: bool>(&self, row: usize) -> Z<S> {
        // Only chi(k) - chi(k-q), or chi(k+q) - chi(k), is left: one phase.
        let q_row = self.q_row(row);
        if PLUS {
            let wave = self.parts.wave(&self.parts.odd_plus_even, q_row);
            self.g(row).times(wave).times_i()
        } else {
            let wave = self.parts.wave(&self.parts.odd_minus_even, q_row);
            let z = self.g(row).times(wave);
            Z::new(z.im, -z.re)
        }
    }

    #[inline(always)]
    fn both(&self, row: usize) -> (Z<S>, F<S>) {
        let simd = self.block.simd;
        let sin = series(simd, self.parts.folded_d(self.q_row(row)));
        (self.t(row), sin + sin)
    }

    #[inline(always)]
    fn both_far(&self, _: usize) -> Option<Z<S>> {
        None
    }

    #[inline(always)]
    fn both_sign(&self, row: usize) -> (Z<S>, F<S>) {
        let folded = self.parts.folded_d(self.q_row(row));
        let twice_tau = F::splat(self.block.simd, 2.0 * std::f32::consts::TAU);
        (self.t(row), folded * twice_tau)
    }
}

/// Terms with a formula of their own: phases of every point, in tables; every stretch is an edge.
pub struct Own<'a, 'b, S: Simd>(pub &'a Block<'b, S>);

impl<S: Simd> PhaseSource<S> for Own<'_, '_, S> {
    #[inline(always)]
    fn edge(&self, row: usize) -> (Z<S>, Z<S>) {
        let block = self.0;
        let wave = Z::load(block.simd, &block.phases[2 * row + 1]);
        let t = Z::load(block.simd, &block.g[row]).times(wave);
        (Z::load(block.simd, &block.phases[2 * row]), t)
    }

    #[inline(always)]
    fn single<const PLUS: bool>(&self, row: usize) -> Z<S> {
        let (d, t) = self.edge(row);
        turned(t, if PLUS { -d.re } else { d.re }, d.im)
    }

    #[inline(always)]
    fn both(&self, row: usize) -> (Z<S>, F<S>) {
        let (d, t) = self.edge(row);
        (t, d.im + d.im)
    }

    #[inline(always)]
    fn both_far(&self, _: usize) -> Option<Z<S>> {
        None
    }

    #[inline(always)]
    fn both_sign(&self, row: usize) -> (Z<S>, F<S>) {
        self.both(row)
    }
}
