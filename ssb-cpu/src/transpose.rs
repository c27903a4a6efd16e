//! The square transpose between columns and rows of vectors: the one place where lanes are shuffled.

use std::any::Any;

use pulp::{Simd, bytemuck};

use crate::vectors::MOST_LANES;

/// As many vectors as there are lanes, on whole cache lines. (An array of vectors alone is aligned like its
/// floats, and a vector on the stack that straddles two lines costs twice.)
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Square<S: Simd>(pub [S::f32s; MOST_LANES]);

impl<S: Simd> Square<S> {
    #[inline(always)]
    pub fn zero(simd: S) -> Self {
        Self([simd.splat_f32s(0.0); MOST_LANES])
    }
}

/// Transposes the square of the first `lanes` vectors.
#[inline(always)]
pub fn transpose<S: Simd>(simd: S, square: &mut Square<S>) {
    let square = &mut square.0;
    #[cfg(target_arch = "x86_64")]
    {
        let any: &dyn Any = &simd;
        if let Some(simd) = any.downcast_ref::<pulp::x86::V4>() {
            return transpose_16(*simd, bytemuck::cast_mut(square));
        }
        if let Some(simd) = any.downcast_ref::<pulp::x86::V3>() {
            let [half, _]: &mut [[pulp::f32x8; 8]; 2] = bytemuck::cast_mut(square);
            return transpose_8(*simd, half);
        }
    }
    let _: &dyn Any = &simd;
    let n = S::F32_LANES;
    let copy = *square;
    let from: &[f32] = bytemuck::cast_slice(&copy[..n]);
    let to: &mut [f32] = bytemuck::cast_slice_mut(&mut square[..n]);
    for i in 0..n {
        for j in 0..n {
            to[i * n + j] = from[j * n + i];
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn transpose_8(simd: pulp::x86::V3, m: &mut [pulp::f32x8; 8]) {
    use std::arch::x86_64::{__m256, __m256d};
    let avx = simd.avx;
    let mut t: [__m256; 8] = [pulp::cast(m[0]); 8];
    for i in 0..4 {
        let (a, b): (__m256, __m256) = (pulp::cast(m[2 * i]), pulp::cast(m[2 * i + 1]));
        t[2 * i] = avx._mm256_unpacklo_ps(a, b);
        t[2 * i + 1] = avx._mm256_unpackhi_ps(a, b);
    }
    let mut u = t;
    for i in 0..2 {
        for j in 0..2 {
            let (a, b): (__m256d, __m256d) =
                (pulp::cast(t[4 * i + j]), pulp::cast(t[4 * i + j + 2]));
            u[4 * i + 2 * j] = pulp::cast(avx._mm256_unpacklo_pd(a, b));
            u[4 * i + 2 * j + 1] = pulp::cast(avx._mm256_unpackhi_pd(a, b));
        }
    }
    for i in 0..4 {
        m[i] = pulp::cast(avx._mm256_permute2f128_ps::<0x20>(u[i], u[i + 4]));
        m[i + 4] = pulp::cast(avx._mm256_permute2f128_ps::<0x31>(u[i], u[i + 4]));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn transpose_16(simd: pulp::x86::V4, m: &mut [pulp::f32x16; MOST_LANES]) {
    use std::arch::x86_64::{__m512, __m512d};
    let avx = simd.avx512f;
    let mut t: [__m512; MOST_LANES] = [pulp::cast(m[0]); MOST_LANES];
    for i in 0..8 {
        let (a, b): (__m512, __m512) = (pulp::cast(m[2 * i]), pulp::cast(m[2 * i + 1]));
        t[2 * i] = avx._mm512_unpacklo_ps(a, b);
        t[2 * i + 1] = avx._mm512_unpackhi_ps(a, b);
    }
    // u[4 i + c] holds, in its quarter l, column 4 l + c of rows 4 i to 4 i + 3.
    let mut u = t;
    for i in 0..4 {
        for j in 0..2 {
            let (a, b): (__m512d, __m512d) =
                (pulp::cast(t[4 * i + j]), pulp::cast(t[4 * i + j + 2]));
            u[4 * i + 2 * j] = pulp::cast(avx._mm512_unpacklo_pd(a, b));
            u[4 * i + 2 * j + 1] = pulp::cast(avx._mm512_unpackhi_pd(a, b));
        }
    }
    for c in 0..4 {
        let (a, b) = (u[c], u[4 + c]);
        let (p, q) = (u[8 + c], u[12 + c]);
        let even_ab = avx._mm512_shuffle_f32x4::<0x88>(a, b);
        let odd_ab = avx._mm512_shuffle_f32x4::<0xdd>(a, b);
        let even_pq = avx._mm512_shuffle_f32x4::<0x88>(p, q);
        let odd_pq = avx._mm512_shuffle_f32x4::<0xdd>(p, q);
        m[c] = pulp::cast(avx._mm512_shuffle_f32x4::<0x88>(even_ab, even_pq));
        m[8 + c] = pulp::cast(avx._mm512_shuffle_f32x4::<0xdd>(even_ab, even_pq));
        m[4 + c] = pulp::cast(avx._mm512_shuffle_f32x4::<0x88>(odd_ab, odd_pq));
        m[12 + c] = pulp::cast(avx._mm512_shuffle_f32x4::<0xdd>(odd_ab, odd_pq));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::{lines, tests::all};
    use pulp::WithSimd;

    struct Transposed<'a>(&'a mut [f32]);

    impl WithSimd for Transposed<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let mut square = Square::zero(simd);
            square.0[..S::F32_LANES].copy_from_slice(lines::<S>(self.0));
            transpose(simd, &mut square);
            self.0
                .copy_from_slice(bytemuck::cast_slice(&square.0[..S::F32_LANES]));
        }
    }

    #[test]
    fn transposes() {
        for vectors in all() {
            let n = vectors.lanes;
            let mut square: Vec<f32> = (0..n * n).map(|i| i as f32).collect();
            vectors.run(Transposed(&mut square));
            for (i, v) in square.iter().enumerate() {
                assert_eq!(*v, ((i % n) * n + i / n) as f32, "{}", vectors.name);
            }
        }
    }
}
