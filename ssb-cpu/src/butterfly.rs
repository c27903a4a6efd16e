//! Short inverse transforms (sign +i) of vectors of lines: radices 2, 4, 8, 16 and odd ones.

use std::f32::consts::FRAC_1_SQRT_2;

use pulp::Simd;

use crate::vectors::{F, Z};

#[inline(always)]
pub fn radix_2<S: Simd>([a, b]: [Z<S>; 2]) -> [Z<S>; 2] {
    [a + b, a - b]
}

#[inline(always)]
pub fn radix_4<S: Simd>([a, b, c, d]: [Z<S>; 4]) -> [Z<S>; 4] {
    let (p, q) = (a + c, a - c);
    let (r, s) = (b + d, b - d);
    // q +- i s without a multiplication
    [
        p + r,
        Z::new(q.re - s.im, q.im + s.re),
        p - r,
        Z::new(q.re + s.im, q.im - s.re),
    ]
}

/// Times exp(i pi/4).
#[inline(always)]
fn eighth<S: Simd>(simd: S, z: Z<S>) -> Z<S> {
    let h = F::splat(simd, FRAC_1_SQRT_2);
    Z::new((z.re - z.im) * h, (z.re + z.im) * h)
}

/// Times exp(3 i pi/4).
#[inline(always)]
fn three_eighths<S: Simd>(simd: S, z: Z<S>) -> Z<S> {
    let h = F::splat(simd, FRAC_1_SQRT_2);
    let minus_h = F::splat(simd, -FRAC_1_SQRT_2);
    Z::new((z.re + z.im) * minus_h, (z.re - z.im) * h)
}

#[inline(always)]
pub fn radix_8<S: Simd>(simd: S, x: [Z<S>; 8]) -> [Z<S>; 8] {
    let e = radix_4([x[0], x[2], x[4], x[6]]);
    let o = radix_4([x[1], x[3], x[5], x[7]]);
    let o1 = eighth(simd, o[1]);
    let o3 = three_eighths(simd, o[3]);
    [
        e[0] + o[0],
        e[1] + o1,
        Z::new(e[2].re - o[2].im, e[2].im + o[2].re),
        e[3] + o3,
        e[0] - o[0],
        e[1] - o1,
        Z::new(e[2].re + o[2].im, e[2].im - o[2].re),
        e[3] - o3,
    ]
}

/// cos and sin of pi/8.
const C8: f32 = 0.923_879_5;
const S8: f32 = 0.382_683_43;

#[inline(always)]
pub fn radix_16<S: Simd>(simd: S, x: [Z<S>; 16]) -> [Z<S>; 16] {
    // 16 = 4 x 4: transforms over i of x[i' + 4 i], turned by exp(2 pi i i' k / 16), then over i'.
    let a = radix_4([x[0], x[4], x[8], x[12]]);
    let b = radix_4([x[1], x[5], x[9], x[13]]);
    let c = radix_4([x[2], x[6], x[10], x[14]]);
    let d = radix_4([x[3], x[7], x[11], x[15]]);
    let r0 = radix_4([a[0], b[0], c[0], d[0]]);
    let r1 = radix_4([
        a[1],
        b[1].times_all(simd, [C8, S8]),
        eighth(simd, c[1]),
        d[1].times_all(simd, [S8, C8]),
    ]);
    let r2 = radix_4([
        a[2],
        eighth(simd, b[2]),
        c[2].times_i(),
        three_eighths(simd, d[2]),
    ]);
    let r3 = radix_4([
        a[3],
        b[3].times_all(simd, [S8, C8]),
        three_eighths(simd, c[3]),
        d[3].times_all(simd, [-C8, -S8]),
    ]);
    [
        r0[0], r1[0], r2[0], r3[0], r0[1], r1[1], r2[1], r3[1], r0[2], r1[2], r2[2], r3[2], r0[3],
        r1[3], r2[3], r3[3],
    ]
}

/// An odd radix; `roots[j]` holds cos and sin of `2 pi j / R`.
#[inline(always)]
pub fn radix_odd<S: Simd, const R: usize>(simd: S, roots: &[[f32; 2]], x: [Z<S>; R]) -> [Z<S>; R] {
    let mut y = [x[0]; R];
    for i in 1..=R / 2 {
        y[0] = y[0] + (x[i] + x[R - i]);
    }
    for k in 1..=R / 2 {
        let mut even = x[0];
        let mut odd = Z::new(F::splat(simd, 0.0), F::splat(simd, 0.0));
        for i in 1..=R / 2 {
            let [cos, sin] = roots[(i * k) % R].map(|v| F::splat(simd, v));
            let (sum, difference) = (x[i] + x[R - i], x[i] - x[R - i]);
            even = Z::new(sum.re.mul_add(cos, even.re), sum.im.mul_add(cos, even.im));
            odd = Z::new(
                difference.re.mul_add(sin, odd.re),
                difference.im.mul_add(sin, odd.im),
            );
        }
        y[k] = even + odd.times_i();
        y[R - k] = even - odd.times_i();
    }
    y
}
