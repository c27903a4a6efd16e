//! Wide float32 vectors, chosen at run time: arithmetic, complex cells, and the square transpose.
//!
//! One *cell* is a vector of real parts and one of imaginary parts. All tiles are slices of cells, so
//! that transforms and corrections are vertical: no shuffle but the one transpose between columns and
//! rows.

use std::ops::{Add, Mul, Neg, Sub};

use pulp::{Arch, Scalar128b, Simd, WithSimd, bytemuck};

/// Widest vector of any instruction set here; sizes arrays and pads what is planned.
pub const MOST_LANES: usize = 16;

/// The vectors that one evaluator is laid out for and computes with.
#[derive(Debug, Clone, Copy)]
pub struct Vectors {
    arch: Option<Arch>,
    pub name: &'static str,
    pub lanes: usize,
}

impl Vectors {
    /// The widest that this machine has.
    pub fn widest() -> Self {
        let arch = Arch::new();
        let text = format!("{arch:?}");
        match text.split(['(', ' ']).next().unwrap_or_default() {
            "V4" => Self::of(arch, "AVX-512", 16),
            "V3" => Self::of(arch, "AVX2", 8),
            "Neon" => Self::of(arch, "NEON", 4),
            _ => Self::baseline(),
        }
    }

    fn of(arch: Arch, name: &'static str, lanes: usize) -> Self {
        Self {
            arch: Some(arch),
            name,
            lanes,
        }
    }

    /// Plain Rust in groups of four, for processors with none of the sets above.
    pub fn baseline() -> Self {
        Self {
            arch: None,
            name: "baseline vectors",
            lanes: 4,
        }
    }

    /// AVX2, where the machine has it.
    #[cfg(target_arch = "x86_64")]
    pub fn avx2() -> Option<Self> {
        pulp::x86::V3::try_new().map(|simd| Self::of(Arch::V3(simd), "AVX2", 8))
    }

    /// AVX2 exists on x86-64 only.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn avx2() -> Option<Self> {
        None
    }

    /// Runs `work` compiled for these vectors. (`work` is a struct with `with_simd`, not a closure: a
    /// closure's call is not inlined into the function that has the wide vectors.)
    pub fn run<W: WithSimd>(self, work: W) -> W::Output {
        match self.arch {
            Some(arch) => arch.dispatch(work),
            None => Scalar128b.vectorize(work),
        }
    }
}

/// Real and imaginary vectors as they lie in memory.
pub type Cell<S> = [<S as Simd>::f32s; 2];

/// Floats as vectors; their number must be a multiple of the lanes.
#[inline(always)]
pub fn lines<S: Simd>(values: &[f32]) -> &[S::f32s] {
    bytemuck::cast_slice(values)
}

/// Floats as cells; their number must be a multiple of twice the lanes.
#[inline(always)]
pub fn cells<S: Simd>(values: &[f32]) -> &[Cell<S>] {
    bytemuck::cast_slice(values)
}

/// Floats as cells to write.
#[inline(always)]
pub fn cells_mut<S: Simd>(values: &mut [f32]) -> &mut [Cell<S>] {
    bytemuck::cast_slice_mut(values)
}

/// The lanes of one vector, in order.
#[inline(always)]
pub fn lanes_of<S: Simd>(vector: &S::f32s) -> &[f32] {
    bytemuck::cast_slice(std::slice::from_ref(vector))
}

/// One vector with the usual operators.
#[derive(Clone, Copy)]
pub struct F<S: Simd> {
    simd: S,
    pub v: S::f32s,
}

impl<S: Simd> F<S> {
    #[inline(always)]
    pub fn new(simd: S, v: S::f32s) -> Self {
        Self { simd, v }
    }

    #[inline(always)]
    pub fn splat(simd: S, value: f32) -> Self {
        Self::new(simd, simd.splat_f32s(value))
    }

    /// `self * b + c`, rounded once where the machine can.
    #[inline(always)]
    pub fn mul_add(self, b: Self, c: Self) -> Self {
        if portable::<S>() {
            return self * b + c;
        }
        Self::new(self.simd, self.simd.mul_add_e_f32s(self.v, b.v, c.v))
    }

    /// `c - self * b`.
    #[inline(always)]
    pub fn neg_mul_add(self, b: Self, c: Self) -> Self {
        if portable::<S>() {
            return c - self * b;
        }
        Self::new(self.simd, self.simd.negate_mul_add_e_f32s(self.v, b.v, c.v))
    }

    #[inline(always)]
    pub fn divided_by(self, b: Self) -> Self {
        Self::new(self.simd, self.simd.div_f32s(self.v, b.v))
    }

    #[inline(always)]
    pub fn sqrt(self) -> Self {
        Self::new(self.simd, self.simd.sqrt_f32s(self.v))
    }

    #[inline(always)]
    pub fn abs(self) -> Self {
        Self::new(self.simd, self.simd.abs_f32s(self.v))
    }

    #[inline(always)]
    pub fn max(self, b: Self) -> Self {
        Self::new(self.simd, self.simd.max_f32s(self.v, b.v))
    }

    #[inline(always)]
    pub fn min(self, b: Self) -> Self {
        Self::new(self.simd, self.simd.min_f32s(self.v, b.v))
    }

    /// The bits of both, exclusive or.
    #[inline(always)]
    pub fn xor(self, b: Self) -> Self {
        Self::new(self.simd, self.simd.xor_f32s(self.v, b.v))
    }

    /// Its sign bit alone.
    #[inline(always)]
    pub fn sign(self) -> Self {
        let bit = self.simd.splat_f32s(-0.0);
        Self::new(self.simd, self.simd.and_f32s(self.v, bit))
    }

    #[inline(always)]
    pub fn less(self, b: Self) -> S::m32s {
        self.simd.less_than_f32s(self.v, b.v)
    }

    #[inline(always)]
    pub fn at_most(self, b: Self) -> S::m32s {
        self.simd.less_than_or_equal_f32s(self.v, b.v)
    }

    /// `self` where the mask holds, `b` elsewhere.
    #[inline(always)]
    pub fn where_or(self, mask: S::m32s, b: Self) -> Self {
        Self::new(self.simd, self.simd.select_f32s(mask, self.v, b.v))
    }

    /// The greatest lane.
    #[inline(always)]
    pub fn greatest(self) -> f32 {
        self.simd.reduce_max_f32s(self.v)
    }

    /// The lanes' sum in float64, in lane order.
    #[inline(always)]
    pub fn sum_f64(self) -> f64 {
        lanes_of::<S>(&self.v).iter().map(|v| f64::from(*v)).sum()
    }
}

/// Whether `S` is plain Rust, whose fused multiply-add would be a call.
#[inline(always)]
fn portable<S: Simd>() -> bool {
    std::any::TypeId::of::<S>() == std::any::TypeId::of::<Scalar128b>()
}

impl<S: Simd> Add for F<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self::new(self.simd, self.simd.add_f32s(self.v, b.v))
    }
}

impl<S: Simd> Sub for F<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self::new(self.simd, self.simd.sub_f32s(self.v, b.v))
    }
}

impl<S: Simd> Mul for F<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        Self::new(self.simd, self.simd.mul_f32s(self.v, b.v))
    }
}

impl<S: Simd> Neg for F<S> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::new(self.simd, self.simd.neg_f32s(self.v))
    }
}

/// A vector of complex numbers.
#[derive(Clone, Copy)]
pub struct Z<S: Simd> {
    pub re: F<S>,
    pub im: F<S>,
}

impl<S: Simd> Z<S> {
    #[inline(always)]
    pub fn new(re: F<S>, im: F<S>) -> Self {
        Self { re, im }
    }

    #[inline(always)]
    pub fn load(simd: S, cell: &Cell<S>) -> Self {
        Self::new(F::new(simd, cell[0]), F::new(simd, cell[1]))
    }

    #[inline(always)]
    pub fn cell(self) -> Cell<S> {
        [self.re.v, self.im.v]
    }

    #[inline(always)]
    pub fn times(self, b: Self) -> Self {
        Self::new(
            self.re.mul_add(b.re, -(self.im * b.im)),
            self.re.mul_add(b.im, self.im * b.re),
        )
    }

    /// Times a complex number that is the same in every lane.
    #[inline(always)]
    pub fn times_all(self, simd: S, [re, im]: [f32; 2]) -> Self {
        let (re, im) = (F::splat(simd, re), F::splat(simd, im));
        Self::new(
            self.im.neg_mul_add(im, self.re * re),
            self.re.mul_add(im, self.im * re),
        )
    }

    /// Times i.
    #[inline(always)]
    pub fn times_i(self) -> Self {
        Self::new(-self.im, self.re)
    }
}

impl<S: Simd> Add for Z<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self::new(self.re + b.re, self.im + b.im)
    }
}

impl<S: Simd> Sub for Z<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self::new(self.re - b.re, self.im - b.im)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Every set of vectors that this machine can run.
    pub fn all() -> Vec<Vectors> {
        let mut all = vec![Vectors::widest(), Vectors::baseline()];
        all.extend(Vectors::avx2());
        all
    }
}
