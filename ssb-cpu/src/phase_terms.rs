//! Phases of any polynomial, and of terms with a formula of their own, over one block of columns.
//!
//! Turns come from float64; what enters a sine is reduced there. The remainder of whole turns is good to
//! 1e-7 rad in float32; the sine of d keeps its relative precision near all its zeros because it is folded
//! to a quarter turn before it is rounded.

use pulp::{Simd, bytemuck};
use ssb_core::{EvenOdd, PHASE_DEGREE};

use crate::pixel::{COL, Pixel, ROW};
use crate::transpose::Square;
use crate::turns::fill_cos_sin;
use crate::vectors::{F, MOST_LANES, Z};

/// float64 vectors that hold one float32 vector's lanes.
type Doubles<S> = [<S as Simd>::f64s; 2];

/// One part of the phase over a block: coefficients of `q_row^i` at every column, in turns.
#[derive(Clone, Copy)]
pub struct Part<S: Simd> {
    coefficients: [Doubles<S>; PHASE_DEGREE + 1],
}

/// Even and odd part about the pixel's `k`, with their sum and difference.
pub struct BlockPhases<S: Simd> {
    simd: S,
    /// The highest power that occurs.
    degree: usize,
    pub even: Part<S>,
    pub odd: Part<S>,
    pub odd_minus_even: Part<S>,
    pub odd_plus_even: Part<S>,
}

/// Adding this and taking it away again rounds to an integer.
const MAGIC: f64 = 6_755_399_441_055_744.0;

impl<S: Simd> BlockPhases<S> {
    /// Of the columns `q_cols`, as many as there are lanes.
    #[inline(always)]
    pub fn new(simd: S, parts: &EvenOdd, q_cols: &[f64]) -> Self {
        let lanes = S::F32_LANES;
        let mut values = [[[0.0_f64; MOST_LANES]; PHASE_DEGREE + 1]; 2];
        let mut degree = 0;
        for (part, coefficients) in parts.coefficients().into_iter().enumerate() {
            for power in 0..=PHASE_DEGREE {
                let row = &coefficients[power];
                let found = &mut values[part][power][..lanes];
                for (value, q) in found.iter_mut().zip(q_cols) {
                    let mut sum = row[PHASE_DEGREE];
                    for c in row[..PHASE_DEGREE].iter().rev() {
                        sum = sum * q + c;
                    }
                    *value = sum;
                }
                if row.iter().any(|c| *c != 0.0) {
                    degree = degree.max(power);
                }
            }
        }
        let zero = [simd.splat_f64s(0.0); 2];
        let none = Part {
            coefficients: [zero; PHASE_DEGREE + 1],
        };
        let mut found = Self {
            simd,
            degree,
            even: none,
            odd: none,
            odd_minus_even: none,
            odd_plus_even: none,
        };
        let [even, odd] = &values;
        for (power, (even, odd)) in even.iter().zip(odd).enumerate().take(degree + 1) {
            let (even, odd) = (doubles::<S>(even), doubles::<S>(odd));
            found.even.coefficients[power] = even;
            found.odd.coefficients[power] = odd;
            for half in 0..2 {
                found.odd_minus_even.coefficients[power][half] =
                    simd.sub_f64s(odd[half], even[half]);
                found.odd_plus_even.coefficients[power][half] =
                    simd.add_f64s(odd[half], even[half]);
            }
        }
        found
    }

    /// A part at one `q_row`, in turns.
    #[inline(always)]
    fn turns(&self, part: &Part<S>, q_row: f64) -> Doubles<S> {
        let simd = self.simd;
        let q = simd.splat_f64s(q_row);
        let mut sum = part.coefficients[self.degree];
        for c in part.coefficients[..self.degree].iter().rev() {
            sum[0] = simd.mul_add_e_f64s(sum[0], q, c[0]);
            sum[1] = simd.mul_add_e_f64s(sum[1], q, c[1]);
        }
        sum
    }

    /// exp(-2 pi i turns) of a part at one `q_row`.
    #[inline(always)]
    pub fn wave(&self, part: &Part<S>, q_row: f64) -> Z<S> {
        let rest = narrow(self.simd, whole(self.simd, self.turns(part, q_row)));
        Z::new(cosine(self.simd, rest), -sine(self.simd, rest))
    }

    /// Turns whose sine is that of d, folded to a quarter either side of 0, for d minus the even part.
    #[inline(always)]
    pub fn folded_d(&self, q_row: f64) -> F<S> {
        let rest = whole(self.simd, self.turns(&self.even, q_row));
        -narrow(self.simd, folded(self.simd, rest))
    }

    /// cos d and sin d, for d minus the even part.
    #[inline(always)]
    pub fn d(&self, q_row: f64) -> Z<S> {
        let simd = self.simd;
        let rest = whole(simd, self.turns(&self.even, q_row));
        let cos = cosine(simd, narrow(simd, rest));
        Z::new(cos, -series(simd, narrow(simd, folded(simd, rest))))
    }
}

/// Fills `cos` and `sin` with those of the phases `turns_per_a * q`, good to 1e-7.
#[inline(always)]
pub fn fill_wave<S: Simd>(simd: S, turns_per_a: f64, q_per_a: &[f64], [cos, sin]: [&mut [f32]; 2]) {
    let lanes = S::F32_LANES;
    let slope = simd.splat_f64s(turns_per_a);
    let whole_vectors = q_per_a.len() / lanes * lanes;
    let chunks = q_per_a.chunks_exact(lanes);
    let out = cos.chunks_exact_mut(lanes).zip(sin.chunks_exact_mut(lanes));
    for (q, (cos, sin)) in chunks.zip(out) {
        let q: &[S::f64s] = bytemuck::cast_slice(q);
        let turns = [simd.mul_f64s(slope, q[0]), simd.mul_f64s(slope, q[1])];
        let rest = narrow(simd, whole(simd, turns));
        let (c, s) = (cosine(simd, rest), sine(simd, rest));
        cos.copy_from_slice(crate::vectors::lanes_of::<S>(&c.v));
        sin.copy_from_slice(crate::vectors::lanes_of::<S>(&s.v));
    }
    fill_cos_sin(
        &mut cos[whole_vectors..q_per_a.len()],
        &mut sin[whole_vectors..q_per_a.len()],
        |i| turns_per_a * q_per_a[whole_vectors + i],
    );
}

#[inline(always)]
fn doubles<S: Simd>(values: &[f64; MOST_LANES]) -> Doubles<S> {
    let vectors: &[S::f64s] = bytemuck::cast_slice(&values[..S::F32_LANES]);
    [vectors[0], vectors[1]]
}

#[inline(always)]
fn narrow<S: Simd>(simd: S, values: Doubles<S>) -> F<S> {
    let wide: &[f64] = bytemuck::cast_slice(&values);
    let mut lanes = Square::zero(simd);
    let floats: &mut [f32] = bytemuck::cast_slice_mut(&mut lanes.0[..1]);
    for (float, value) in floats.iter_mut().zip(wide) {
        *float = *value as f32;
    }
    F::new(simd, lanes.0[0])
}

/// Turns less the nearest integer, in [-1/2, 1/2].
#[inline(always)]
fn whole<S: Simd>(simd: S, turns: Doubles<S>) -> Doubles<S> {
    let magic = simd.splat_f64s(MAGIC);
    let mut rest = turns;
    for i in 0..2 {
        let nearest = simd.sub_f64s(simd.add_f64s(turns[i], magic), magic);
        rest[i] = simd.sub_f64s(turns[i], nearest);
    }
    rest
}

/// Turns in [-1/2, 1/2] to those in [-1/4, 1/4] of the same sine: exact, zeros at half a turn too.
#[inline(always)]
fn folded<S: Simd>(simd: S, rest: Doubles<S>) -> Doubles<S> {
    let mut found = rest;
    for i in 0..2 {
        let size = simd.abs_f64s(rest[i]);
        let least = simd.min_f64s(size, simd.sub_f64s(simd.splat_f64s(0.5), size));
        let sign = simd.and_f64s(rest[i], simd.splat_f64s(-0.0));
        found[i] = simd.xor_f64s(least, sign);
    }
    found
}

/// sin(2 pi r) / r over r^2 in [0, 1/16], error 3e-11 before rounding.
const SIN: [f32; 6] = [
    std::f32::consts::TAU,
    -41.341_7,
    81.605_226,
    -76.704_28,
    42.009_806,
    -14.394_135,
];

/// sin(2 pi r) for |r| <= 1/4.
#[inline(always)]
pub fn series<S: Simd>(simd: S, r: F<S>) -> F<S> {
    let s = r * r;
    let mut sum = F::splat(simd, SIN[5]);
    for c in SIN[..5].iter().rev() {
        sum = sum.mul_add(s, F::splat(simd, *c));
    }
    sum * r
}

/// cos(2 pi r) for |r| <= 1/2.
#[inline(always)]
fn cosine<S: Simd>(simd: S, r: F<S>) -> F<S> {
    series(simd, F::splat(simd, 0.25) - r.abs())
}

/// sin(2 pi r) for |r| <= 1/2, to 1e-7.
#[inline(always)]
fn sine<S: Simd>(simd: S, r: F<S>) -> F<S> {
    let size = r.abs();
    let folded = size.min(F::splat(simd, 0.5) - size);
    series(simd, folded).xor(r.sign())
}

impl Pixel<'_> {
    /// Fills one block's phases over `rows` with terms that have a formula of their own: cos and sin of d,
    /// and of minus (a+b)/2.
    pub fn fill_own_phases(&self, block: usize, rows: std::ops::Range<usize>, phases: &mut [f32]) {
        let lanes = self.lattice.layout.lanes;
        let q_cols = &self.lattice.block_q_per_a[block * lanes..][..lanes];
        let own = self.tables.chi.own();
        for row in rows {
            let q_row = self.lattice.q_per_a[ROW][row];
            let (even, odd) = self.parts.at_row(q_row);
            let mut turns = [[0.0; MOST_LANES]; 2];
            for (lane, q_col) in q_cols.iter().enumerate() {
                let mut q = [q_row; 2];
                q[COL] = *q_col;
                let added = own.about(self.k, q);
                for (part, coefficients) in [&even, &odd].into_iter().enumerate() {
                    let polynomial = coefficients.iter().rev().fold(0.0, |s, c| s * q_col + c);
                    turns[part][lane] = polynomial + added[part];
                }
            }
            let cells = &mut phases[row * 4 * lanes..][..4 * lanes];
            for (turns, out) in turns.iter().zip(cells.chunks_exact_mut(2 * lanes)) {
                let (cos, sin) = out.split_at_mut(lanes);
                fill_cos_sin(cos, sin, |i| -turns[i]);
            }
        }
    }
}
