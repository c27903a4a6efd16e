//! Inverse transforms (sign +i, not normalised) of as many lines at once as a vector has lanes.
//!
//! A tile holds one cell an index of the lines. Lengths of small prime factors are transformed in
//! place, decimated in frequency, and are left in digit-reversed order: [`LineTransform::slots`] says
//! where each frequency lies. Other lengths become a convolution with a chirp (Bluestein) of
//! power-of-two length. A forward transform is the same with real and imaginary parts exchanged.

use std::f64::consts::TAU;

use pulp::Simd;

use crate::butterfly::{radix_2, radix_4, radix_8, radix_16, radix_odd};
use crate::vectors::{Cell, F, Z};

/// One pass: `radix` points, `stride` apart, in every block of `radix * stride`.
struct Stage {
    radix: usize,
    stride: usize,
    /// exp(2 pi i j k / (radix stride)), `[j - 1][k - 1]` for j from 1.
    twiddles: Vec<[f32; 2]>,
    /// cos and sin of 2 pi j / radix, for odd radices.
    roots: Vec<[f32; 2]>,
}

/// In-place passes for one length.
struct Passes {
    stages: Vec<Stage>,
    /// Slot of each frequency.
    slots: Vec<u32>,
}

/// The chirp of a length with a large prime factor.
struct Chirp {
    passes: Passes,
    length: usize,
    /// exp(pi i n^2 / N).
    chirp: Vec<[f32; 2]>,
    /// Transform of the conjugate chirp over the length, in slot order.
    kernel: Vec<[f32; 2]>,
}

enum Kind {
    Passes(Passes),
    Chirp(Chirp),
}

/// Planned transforms of one length.
pub struct LineTransform {
    kind: Kind,
    slots: Vec<u32>,
    points: usize,
}

fn root(numerator: usize, denominator: usize) -> [f64; 2] {
    let (sin, cos) = (TAU * (numerator % denominator) as f64 / denominator as f64).sin_cos();
    [cos, sin]
}

fn narrow(z: [f64; 2]) -> [f32; 2] {
    z.map(|v| v as f32)
}

/// The radices of a length, or `None` when it has a prime factor above 7.
fn radices(points: usize, widest: usize) -> Option<Vec<usize>> {
    let mut rest = points;
    let mut found = Vec::new();
    for radix in [7, 5, 3] {
        while rest.is_multiple_of(radix) {
            found.push(radix);
            rest /= radix;
        }
    }
    if !rest.is_power_of_two() {
        return None;
    }
    let mut bits = rest.trailing_zeros();
    while bits > 0 {
        // The widest first, but no pass of 2 while two passes of 4 or 8 do.
        let take = match bits {
            1..=3 => bits,
            4 if widest >= 16 => 4,
            4 => 2,
            _ if widest >= 16 && bits != 9 && (bits.is_multiple_of(4) || bits > 6) => 4,
            _ => 3,
        };
        found.push(1 << take);
        bits -= take;
    }
    found.sort_unstable_by(|a, b| b.cmp(a));
    Some(found)
}

impl Passes {
    fn new(points: usize, radices: &[usize]) -> Self {
        let mut stages = Vec::new();
        let mut block = points;
        for radix in radices {
            let stride = block / radix;
            let twiddles = (1..stride)
                .flat_map(|j| (1..*radix).map(move |k| narrow(root(j * k, block))))
                .collect();
            let roots = (0..*radix).map(|j| narrow(root(j, *radix))).collect();
            stages.push(Stage {
                radix: *radix,
                stride,
                twiddles,
                roots,
            });
            block = stride;
        }
        let slots = (0..points)
            .map(|frequency| {
                let (mut rest, mut slot) = (frequency, 0);
                for stage in &stages {
                    slot += (rest % stage.radix) * stage.stride;
                    rest /= stage.radix;
                }
                slot as u32
            })
            .collect();
        Self { stages, slots }
    }

    #[inline(always)]
    fn run<S: Simd>(&self, simd: S, tile: &mut [Cell<S>]) {
        for stage in &self.stages {
            match stage.radix {
                2 => pass::<S, Two>(simd, tile, stage),
                3 => pass::<S, Three>(simd, tile, stage),
                4 => pass::<S, Four>(simd, tile, stage),
                5 => pass::<S, Five>(simd, tile, stage),
                7 => pass::<S, Seven>(simd, tile, stage),
                8 => pass::<S, Eight>(simd, tile, stage),
                _ => pass::<S, Sixteen>(simd, tile, stage),
            }
        }
    }
}

/// A short transform of one radix. (Not a closure: see [`crate::vectors::Vectors::run`]. Loads and stores are
/// written out: a loop over sixteen points is not unrolled, and then the points go through memory.)
trait Butterfly<S: Simd> {
    const RADIX: usize;
    /// Transforms the points `first + stride i` of a block and turns them by the twiddles, if any.
    fn apply(
        simd: S,
        stage: &Stage,
        block: &mut [Cell<S>],
        first: usize,
        twiddles: Option<&[[f32; 2]]>,
    );
}

macro_rules! butterfly {
    ($name:ident, $radix:literal, [$($i:literal)*], $simd:ident, $stage:ident, $x:ident => $y:expr) => {
        struct $name;

        impl<S: Simd> Butterfly<S> for $name {
            const RADIX: usize = $radix;

            #[inline(always)]
            fn apply(
                $simd: S,
                $stage: &Stage,
                block: &mut [Cell<S>],
                first: usize,
                twiddles: Option<&[[f32; 2]]>,
            ) {
                let stride = $stage.stride;
                let $x = [
                    Z::load($simd, &block[first]),
                    $(Z::load($simd, &block[first + stride * $i]),)*
                ];
                let y: [Z<S>; $radix] = $y;
                block[first] = y[0].cell();
                match twiddles {
                    None => {
                        $(block[first + stride * $i] = y[$i].cell();)*
                    }
                    Some(twiddles) => {
                        let twiddles = &twiddles[..$radix - 1];
                        $(block[first + stride * $i] =
                            y[$i].times_all($simd, twiddles[$i - 1]).cell();)*
                    }
                }
            }
        }
    };
}

butterfly!(Two, 2, [1], simd, stage, x => radix_2(x));
butterfly!(Three, 3, [1 2], simd, stage, x => radix_odd(simd, &stage.roots, x));
butterfly!(Four, 4, [1 2 3], simd, stage, x => radix_4(x));
butterfly!(Five, 5, [1 2 3 4], simd, stage, x => radix_odd(simd, &stage.roots, x));
butterfly!(Seven, 7, [1 2 3 4 5 6], simd, stage, x => radix_odd(simd, &stage.roots, x));
butterfly!(Eight, 8, [1 2 3 4 5 6 7], simd, stage, x => radix_8(simd, x));
butterfly!(
    Sixteen, 16, [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15],
    simd, stage, x => radix_16(simd, x)
);

#[inline(always)]
fn pass<S: Simd, B: Butterfly<S>>(simd: S, tile: &mut [Cell<S>], stage: &Stage) {
    let stride = stage.stride;
    for block in tile.chunks_exact_mut(B::RADIX * stride) {
        B::apply(simd, stage, block, 0, None);
        for j in 1..stride {
            let twiddles = &stage.twiddles[(j - 1) * (B::RADIX - 1)..][..B::RADIX - 1];
            B::apply(simd, stage, block, j, Some(twiddles));
        }
    }
}

impl LineTransform {
    /// Plans lines of `points` for vectors of so many lanes.
    pub fn new(points: usize, lanes: usize) -> Self {
        // Sixteen points fill the 32 registers of the widest vectors, and more than the others' 16.
        let widest = if lanes >= 16 { 16 } else { 8 };
        match radices(points, widest) {
            Some(radices) => {
                let passes = Passes::new(points, &radices);
                Self {
                    slots: passes.slots.clone(),
                    kind: Kind::Passes(passes),
                    points,
                }
            }
            None => Self {
                slots: (0..points as u32).collect(),
                kind: Kind::Chirp(Chirp::new(points, widest)),
                points,
            },
        }
    }

    /// Where each frequency lies in the tile after the transform.
    pub fn slots(&self) -> &[u32] {
        &self.slots
    }

    /// Cells of work space that [`Self::inverse`] needs beside the tile.
    pub fn work_cells(&self) -> usize {
        match &self.kind {
            Kind::Passes(_) => 0,
            Kind::Chirp(chirp) => 2 * chirp.length,
        }
    }

    /// Transforms the first `points` cells of the tile in place.
    #[inline(always)]
    pub fn inverse<S: Simd>(&self, simd: S, tile: &mut [Cell<S>], work: &mut [Cell<S>]) {
        let tile = &mut tile[..self.points];
        match &self.kind {
            Kind::Passes(passes) => passes.run(simd, tile),
            Kind::Chirp(chirp) => chirp.run(simd, tile, work),
        }
    }
}

impl Chirp {
    fn new(points: usize, widest: usize) -> Self {
        let length = (2 * points - 1).next_power_of_two();
        let passes = Passes::new(length, &radices(length, widest).unwrap_or_default());
        let exact: Vec<[f64; 2]> = (0..points)
            .map(|n| root(n * n % (2 * points), 2 * points))
            .collect();
        // sum over n of conj(chirp(n)) exp(+2 pi i n f / length), divided by the length.
        let mut kernel = vec![[0.0_f32; 2]; length];
        let planner = &mut rustfft::FftPlanner::<f64>::new();
        let mut line = vec![rustfft::num_complex::Complex64::default(); length];
        for (n, [re, im]) in exact.iter().enumerate() {
            let value = rustfft::num_complex::Complex64::new(*re, -im) / length as f64;
            line[n] = value;
            line[(length - n) % length] = value;
        }
        planner.plan_fft_inverse(length).process(&mut line);
        for (z, slot) in line.iter().zip(&passes.slots) {
            kernel[*slot as usize] = [z.re as f32, z.im as f32];
        }
        Self {
            passes,
            length,
            chirp: exact.into_iter().map(narrow).collect(),
            kernel,
        }
    }

    #[inline(always)]
    fn run<S: Simd>(&self, simd: S, tile: &mut [Cell<S>], work: &mut [Cell<S>]) {
        let (first, second) = work.split_at_mut(self.length);
        let second = &mut second[..self.length];
        let zero = F::splat(simd, 0.0);
        for ((to, from), chirp) in first.iter_mut().zip(tile.iter()).zip(&self.chirp) {
            *to = Z::load(simd, from).times_all(simd, *chirp).cell();
        }
        first[tile.len()..].fill(Z::new(zero, zero).cell());
        self.passes.run(simd, first);
        for (frequency, slot) in self.passes.slots.iter().enumerate() {
            let slot = *slot as usize;
            let z = Z::load(simd, &first[slot]).times_all(simd, self.kernel[slot]);
            // Parts exchanged: the transform back has the other sign.
            second[frequency] = [z.im.v, z.re.v];
        }
        self.passes.run(simd, second);
        for (n, (to, chirp)) in tile.iter_mut().zip(&self.chirp).enumerate() {
            let [im, re] = second[self.passes.slots[n] as usize];
            *to = Z::load(simd, &[re, im]).times_all(simd, *chirp).cell();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aligned::Aligned;
    use crate::vectors::{cells_mut, tests::all};

    struct Run<'a> {
        plan: &'a LineTransform,
        tile: &'a mut [f32],
        work: &'a mut [f32],
    }

    impl pulp::WithSimd for Run<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            self.plan
                .inverse(simd, cells_mut::<S>(self.tile), cells_mut::<S>(self.work));
        }
    }

    #[test]
    fn every_length_equals_the_plain_sum() {
        for vectors in all() {
            let lanes = vectors.lanes;
            for points in (1..=50).chain([60, 61, 64, 74, 75, 96, 97, 100, 121, 125, 128, 256, 512])
            {
                let plan = LineTransform::new(points, lanes);
                let mut tile = Aligned::new(points * 2 * lanes);
                let mut work = Aligned::new(plan.work_cells() * 2 * lanes);
                let value = |n: usize, lane: usize, part: usize| {
                    ((n * 7919 + lane * 31 + part * 17) % 101) as f64 / 101.0 - 0.4
                };
                for n in 0..points {
                    for lane in 0..lanes {
                        for part in 0..2 {
                            tile.get_mut()[(2 * n + part) * lanes + lane] =
                                value(n, lane, part) as f32;
                        }
                    }
                }
                vectors.run(Run {
                    plan: &plan,
                    tile: tile.get_mut(),
                    work: work.get_mut(),
                });
                for frequency in [0, 1, points / 3, points / 2, points - 1] {
                    let frequency = frequency % points;
                    for lane in [0, lanes - 1] {
                        let mut sum = [0.0; 2];
                        for n in 0..points {
                            let [cos, sin] = root(n * frequency, points);
                            let [re, im] = [value(n, lane, 0), value(n, lane, 1)];
                            sum[0] += re * cos - im * sin;
                            sum[1] += re * sin + im * cos;
                        }
                        let slot = plan.slots()[frequency] as usize;
                        for (part, sum) in sum.into_iter().enumerate() {
                            let found = f64::from(tile.get()[(2 * slot + part) * lanes + lane]);
                            assert!(
                                (found - sum).abs() < 1.5e-6 * (points as f64).sqrt(),
                                "{} points, {}: {found} {}",
                                points,
                                vectors.name,
                                sum
                            );
                        }
                    }
                }
            }
        }
    }
}
