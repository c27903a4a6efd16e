//! Butterflies of the inverse transform, `y_k = sum_j x_j exp(2 pi i j k / radix)`, in registers.

use std::f64::consts::TAU;

use cubecl::prelude::*;

/// In place over `radix` values from `at` on.
#[cube]
pub(super) fn butterfly(
    re: &mut Array<f32>,
    im: &mut Array<f32>,
    #[comptime] at: usize,
    #[comptime] radix: usize,
) {
    if comptime!(radix == 2) {
        two(re, im, at, comptime!(at + 1));
    } else if comptime!(radix == 4) {
        four(re, im, at, 1usize);
    } else if comptime!(radix == 8) {
        eight(re, im, at);
    } else if comptime!(radix > 1) {
        odd(re, im, at, radix);
    }
}

#[cube]
fn two(re: &mut Array<f32>, im: &mut Array<f32>, #[comptime] a: usize, #[comptime] b: usize) {
    let (a_re, a_im, b_re, b_im) = (re[a], im[a], re[b], im[b]);
    re[a] = a_re + b_re;
    im[a] = a_im + b_im;
    re[b] = a_re - b_re;
    im[b] = a_im - b_im;
}

/// Values at `at + step * j`; the results stay in order.
#[cube]
fn four(re: &mut Array<f32>, im: &mut Array<f32>, #[comptime] at: usize, #[comptime] step: usize) {
    let (b, c, d) = comptime!((at + step, at + 2 * step, at + 3 * step));
    let (sum_re, sum_im) = (re[at] + re[c], im[at] + im[c]);
    let (gap_re, gap_im) = (re[at] - re[c], im[at] - im[c]);
    let (odd_re, odd_im) = (re[b] + re[d], im[b] + im[d]);
    let (turn_re, turn_im) = (re[b] - re[d], im[b] - im[d]);
    re[at] = sum_re + odd_re;
    im[at] = sum_im + odd_im;
    re[b] = gap_re - turn_im;
    im[b] = gap_im + turn_re;
    re[c] = sum_re - odd_re;
    im[c] = sum_im - odd_im;
    re[d] = gap_re + turn_im;
    im[d] = gap_im - turn_re;
}

/// Two fours over the even and the odd values, turned by eighths, then four twos.
#[cube]
fn eight(re: &mut Array<f32>, im: &mut Array<f32>, #[comptime] at: usize) {
    four(re, im, at, 2usize);
    four(re, im, comptime!(at + 1), 2usize);
    let half = comptime!(std::f32::consts::FRAC_1_SQRT_2);
    // The odd results times exp(2 pi i k / 8).
    let (re3, im3) = (re[comptime!(at + 3)], im[comptime!(at + 3)]);
    re[comptime!(at + 3)] = (re3 - im3) * half;
    im[comptime!(at + 3)] = (re3 + im3) * half;
    let (re5, im5) = (re[comptime!(at + 5)], im[comptime!(at + 5)]);
    re[comptime!(at + 5)] = -im5;
    im[comptime!(at + 5)] = re5;
    let (re7, im7) = (re[comptime!(at + 7)], im[comptime!(at + 7)]);
    re[comptime!(at + 7)] = -(re7 + im7) * half;
    im[comptime!(at + 7)] = (re7 - im7) * half;
    #[unroll]
    for k in 0..4usize {
        two(re, im, comptime!(at + 2 * k), comptime!(at + 2 * k + 1));
    }
    // Results k and k + 4 lie at 2k and 2k + 1: put them in order.
    let mut from_re = Array::<f32>::new(8usize);
    let mut from_im = Array::<f32>::new(8usize);
    #[unroll]
    for k in 0..8usize {
        from_re[k] = re[comptime!(at + k)];
        from_im[k] = im[comptime!(at + k)];
    }
    #[unroll]
    for k in 0..4usize {
        re[comptime!(at + k)] = from_re[comptime!(2 * k)];
        im[comptime!(at + k)] = from_im[comptime!(2 * k)];
        re[comptime!(at + k + 4)] = from_re[comptime!(2 * k + 1)];
        im[comptime!(at + k + 4)] = from_im[comptime!(2 * k + 1)];
    }
}

/// Odd radices by sums and differences of the values j and `radix - j`.
#[cube]
fn odd(re: &mut Array<f32>, im: &mut Array<f32>, #[comptime] at: usize, #[comptime] radix: usize) {
    let pairs = comptime!((radix - 1) / 2);
    let mut sum_re = Array::<f32>::new(pairs);
    let mut sum_im = Array::<f32>::new(pairs);
    let mut gap_re = Array::<f32>::new(pairs);
    let mut gap_im = Array::<f32>::new(pairs);
    let (first_re, first_im) = (re[at], im[at]);
    let mut all_re = first_re;
    let mut all_im = first_im;
    #[unroll]
    for p in 0..pairs {
        let (a, b) = comptime!((at + p + 1, at + radix - p - 1));
        sum_re[p] = re[a] + re[b];
        sum_im[p] = im[a] + im[b];
        gap_re[p] = re[a] - re[b];
        gap_im[p] = im[a] - im[b];
        all_re += sum_re[p];
        all_im += sum_im[p];
    }
    re[at] = all_re;
    im[at] = all_im;
    #[unroll]
    for k in 0..pairs {
        let mut even_re = first_re;
        let mut even_im = first_im;
        let mut odd_re = f32::new(0.0);
        let mut odd_im = f32::new(0.0);
        #[unroll]
        for p in 0..pairs {
            let angle = comptime!(TAU * (((k + 1) * (p + 1)) % radix) as f64 / radix as f64);
            let cos = f32::new(comptime!(angle.cos() as f32));
            let sin = f32::new(comptime!(angle.sin() as f32));
            even_re += cos * sum_re[p];
            even_im += cos * sum_im[p];
            odd_re += sin * gap_re[p];
            odd_im += sin * gap_im[p];
        }
        let (a, b) = comptime!((at + k + 1, at + radix - k - 1));
        re[a] = even_re - odd_im;
        im[a] = even_im + odd_re;
        re[b] = even_re + odd_im;
        im[b] = even_im - odd_re;
    }
}
