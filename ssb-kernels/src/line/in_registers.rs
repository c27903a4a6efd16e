//! The inverse transform of one line, registers to registers, exchanged through shared memory.
//!
//! Stockham's order: stage `s` reads the values `j + k * butterflies` and writes them so that the
//! last stage leaves the result in natural order at `j + k * butterflies`. Not normalised. The
//! forward transform is the same with real and imaginary parts swapped before and after.

use cubecl::prelude::*;

use super::butterfly::butterfly;
use super::plan::{LinePlan, Method};
use crate::kernel::C32;

/// Index along the line of the value that pass `t`, place `k` of the first stage expects; out of range
/// where the pass has no butterfly for the unit.
#[cube]
pub(crate) fn input_index(
    unit: usize,
    #[comptime] t: usize,
    #[comptime] k: usize,
    #[comptime] plan: LinePlan,
) -> usize {
    index(unit, t, k, 0usize, plan)
}

/// Index along the line of the result in pass `t`, place `k` of the last stage; out of range where the
/// pass has no butterfly for the unit.
#[cube]
pub(crate) fn output_index(
    unit: usize,
    #[comptime] t: usize,
    #[comptime] k: usize,
    #[comptime] plan: LinePlan,
) -> usize {
    index(unit, t, k, comptime!(plan.last()), plan)
}

#[cube]
fn index(
    unit: usize,
    #[comptime] t: usize,
    #[comptime] k: usize,
    #[comptime] s: usize,
    #[comptime] plan: LinePlan,
) -> usize {
    let j = unit + comptime!(t * plan.units);
    let butterflies = comptime!(plan.butterflies(s));
    select(
        j < butterflies,
        j + comptime!(k * butterflies),
        comptime!(plan.length.max(plan.n)).runtime(),
    )
}

/// Inverse transform of the values in `re` and `im`, which hold pass `t`, place `k` of the first stage at
/// `t * radix + k` (values beyond the line may be anything), and the result of the last stage likewise.
/// `unit` counts within the line; `at` is where the line's exchange begins in `shared`. Every unit of
/// the cube must call this.
#[cube]
pub(crate) fn transform(
    re: &mut Array<f32>,
    im: &mut Array<f32>,
    shared: &mut SharedMemory<f32>,
    table: &Array<C32>,
    unit: usize,
    at: usize,
    #[comptime] plan: LinePlan,
) {
    if comptime!(plan.method == Method::Radices) {
        stages(re, im, shared, table, unit, at, comptime!(plan.clone()));
    } else if comptime!(plan.method == Method::Bluestein) {
        bluestein(re, im, shared, table, unit, at, comptime!(plan.clone()));
    } else {
        direct(re, im, shared, table, unit, at, comptime!(plan.clone()));
    }
}

#[cube]
fn stages(
    re: &mut Array<f32>,
    im: &mut Array<f32>,
    shared: &mut SharedMemory<f32>,
    table: &Array<C32>,
    unit: usize,
    at: usize,
    #[comptime] plan: LinePlan,
) {
    #[unroll]
    for s in 0..comptime!(plan.radices.len()) {
        let radix = comptime!(plan.radices[s]);
        let done = comptime!(plan.done_before(s));
        let step = comptime!(plan.length / (done * radix));
        #[unroll]
        for t in 0..comptime!(plan.passes(s)) {
            if comptime!(s > 0) {
                let turned = (unit + comptime!(t * plan.units)) % done;
                #[unroll]
                for k in 1..radix {
                    let w = table[turned * comptime!(k * step)];
                    let (a, b) = (re[comptime!(t * radix + k)], im[comptime!(t * radix + k)]);
                    re[comptime!(t * radix + k)] = a * w[0] - b * w[1];
                    im[comptime!(t * radix + k)] = a * w[1] + b * w[0];
                }
            }
            butterfly(re, im, comptime!(t * radix), radix);
        }
        if comptime!(s < plan.last()) {
            exchange(
                re,
                im,
                shared,
                unit,
                at,
                s,
                comptime!(s + 1),
                comptime!(plan.clone()),
            );
        }
    }
}

/// Hands the results of stage `from` to stage `to`; from the last stage to the first for a second
/// transform of the same line.
#[cube]
fn exchange(
    re: &mut Array<f32>,
    im: &mut Array<f32>,
    shared: &mut SharedMemory<f32>,
    unit: usize,
    at: usize,
    #[comptime] from: usize,
    #[comptime] to: usize,
    #[comptime] plan: LinePlan,
) {
    put(re, shared, unit, at, from, comptime!(plan.clone()));
    if comptime!(!plan.split) {
        put(
            im,
            shared,
            unit,
            at + comptime!(plan.length),
            from,
            comptime!(plan.clone()),
        );
    }
    sync_cube();
    get(re, shared, unit, at, to, comptime!(plan.clone()));
    if comptime!(plan.split) {
        sync_cube();
        put(im, shared, unit, at, from, comptime!(plan.clone()));
        sync_cube();
        get(im, shared, unit, at, to, comptime!(plan.clone()));
    } else {
        get(
            im,
            shared,
            unit,
            at + comptime!(plan.length),
            to,
            comptime!(plan.clone()),
        );
    }
    sync_cube();
}

/// Reads what the first stage expects from a line that lies in order in shared memory, real parts
/// first; `split` lines call it for one part at a time. A barrier must stand on either side.
#[cube]
pub(crate) fn take(
    values: &mut Array<f32>,
    shared: &SharedMemory<f32>,
    unit: usize,
    at: usize,
    #[comptime] plan: LinePlan,
) {
    get(values, shared, unit, at, 0usize, plan);
}

/// Writes the results of stage `s` in their order along the line.
#[cube]
fn put(
    values: &Array<f32>,
    shared: &mut SharedMemory<f32>,
    unit: usize,
    at: usize,
    #[comptime] s: usize,
    #[comptime] plan: LinePlan,
) {
    let radix = comptime!(plan.radices[s]);
    let done = comptime!(plan.done_before(s));
    #[unroll]
    for t in 0..comptime!(plan.passes(s)) {
        let j = unit + comptime!(t * plan.units);
        if j < comptime!(plan.butterflies(s)) {
            let first = at + (j / done) * comptime!(done * radix) + j % done;
            #[unroll]
            for k in 0..radix {
                shared[first + comptime!(k * done)] = values[comptime!(t * radix + k)];
            }
        }
    }
}

/// Reads what stage `s` expects.
#[cube]
fn get(
    values: &mut Array<f32>,
    shared: &SharedMemory<f32>,
    unit: usize,
    at: usize,
    #[comptime] s: usize,
    #[comptime] plan: LinePlan,
) {
    let radix = comptime!(plan.radices[s]);
    #[unroll]
    for t in 0..comptime!(plan.passes(s)) {
        let j = unit + comptime!(t * plan.units);
        if j < comptime!(plan.butterflies(s)) {
            #[unroll]
            for k in 0..radix {
                values[comptime!(t * radix + k)] =
                    shared[at + j + comptime!(k * plan.butterflies(s))];
            }
        }
    }
}

/// With `c_m = exp(pi i m^2 / n)`: `y_k = c_k sum_m (x_m c_m) conj c_(k-m)`, a circular convolution.
#[cube]
fn bluestein(
    re: &mut Array<f32>,
    im: &mut Array<f32>,
    shared: &mut SharedMemory<f32>,
    table: &Array<C32>,
    unit: usize,
    at: usize,
    #[comptime] plan: LinePlan,
) {
    let chirp = comptime!(plan.length);
    let kernel = comptime!(plan.length + plan.n);
    #[unroll]
    for t in 0..comptime!(plan.passes(0)) {
        #[unroll]
        for k in 0..comptime!(plan.radices[0]) {
            let slot = comptime!(t * plan.radices[0] + k);
            let i = input_index(unit, t, k, comptime!(plan.clone()));
            let (a, b) = (re[slot], im[slot]);
            re[slot] = f32::new(0.0);
            im[slot] = f32::new(0.0);
            if i < comptime!(plan.n) {
                let w = table[chirp + i];
                re[slot] = a * w[0] - b * w[1];
                im[slot] = a * w[1] + b * w[0];
            }
        }
    }
    stages(re, im, shared, table, unit, at, comptime!(plan.clone()));
    let last = comptime!(plan.last());
    #[unroll]
    for t in 0..comptime!(plan.passes(last)) {
        #[unroll]
        for k in 0..comptime!(plan.radices[last]) {
            let slot = comptime!(t * plan.radices[last] + k);
            let i = output_index(unit, t, k, comptime!(plan.clone()));
            if i < comptime!(plan.length) {
                let w = table[kernel + i];
                let (a, b) = (re[slot], im[slot]);
                re[slot] = a * w[0] - b * w[1];
                im[slot] = a * w[1] + b * w[0];
            }
        }
    }
    exchange(
        re,
        im,
        shared,
        unit,
        at,
        last,
        0usize,
        comptime!(plan.clone()),
    );
    // Forward: parts swapped.
    stages(im, re, shared, table, unit, at, comptime!(plan.clone()));
    #[unroll]
    for t in 0..comptime!(plan.passes(last)) {
        #[unroll]
        for k in 0..comptime!(plan.radices[last]) {
            let slot = comptime!(t * plan.radices[last] + k);
            let i = output_index(unit, t, k, comptime!(plan.clone()));
            if i < comptime!(plan.n) {
                let w = table[chirp + i];
                let (a, b) = (re[slot], im[slot]);
                re[slot] = a * w[0] - b * w[1];
                im[slot] = a * w[1] + b * w[0];
            }
        }
    }
}

/// The sum as it is defined, the real parts of the line first, then the imaginary ones.
#[cube]
fn direct(
    re: &mut Array<f32>,
    im: &mut Array<f32>,
    shared: &mut SharedMemory<f32>,
    table: &Array<C32>,
    unit: usize,
    at: usize,
    #[comptime] plan: LinePlan,
) {
    let passes = comptime!(plan.passes(0));
    put(re, shared, unit, at, 0usize, comptime!(plan.clone()));
    sync_cube();
    let mut sum_re = Array::<f32>::new(passes);
    let mut sum_im = Array::<f32>::new(passes);
    #[unroll]
    for t in 0..passes {
        let mut a = f32::new(0.0);
        let mut b = f32::new(0.0);
        let step = unit + comptime!(t * plan.units);
        let mut m = 0usize;
        for i in 0..comptime!(plan.n) {
            let w = table[m];
            let x = shared[at + i];
            a += x * w[0];
            b += x * w[1];
            m = (m + step) % comptime!(plan.n);
        }
        sum_re[t] = a;
        sum_im[t] = b;
    }
    sync_cube();
    put(im, shared, unit, at, 0usize, comptime!(plan.clone()));
    sync_cube();
    #[unroll]
    for t in 0..passes {
        let mut a = f32::new(0.0);
        let mut b = f32::new(0.0);
        let step = unit + comptime!(t * plan.units);
        let mut m = 0usize;
        for i in 0..comptime!(plan.n) {
            let w = table[m];
            let x = shared[at + i];
            a += x * w[1];
            b += x * w[0];
            m = (m + step) % comptime!(plan.n);
        }
        re[t] = sum_re[t] - a;
        im[t] = sum_im[t] + b;
    }
    sync_cube();
}
