//! The phase of `O_b` and its moments over the BF pixels (numerics sections 1 and 2).

use pulp::Simd;

use crate::vectors::{Cell, F, Z};

/// atan(t) / t over t^2 in [0, 1]: degree 8, error 5e-8 with these float32 coefficients.
const ATAN: [f32; 9] = [
    1.0,
    -0.333_330_66,
    0.199_924_84,
    -0.142_025_71,
    0.106_367_54,
    -0.074_954_46,
    0.042_587_608,
    -0.016_005_03,
    0.002_834_064_2,
];

/// Cells whose sizes are looked at together.
const CHUNK: usize = 4;

/// Cells whose squares are summed in float32.
const SHORT_SUM: usize = 32;

/// atan(t) within 2 ulp for |t| <= 1.
#[inline(always)]
fn atan_to_one<S: Simd>(simd: S, t: F<S>) -> F<S> {
    let s = t * t;
    let mut p = F::splat(simd, ATAN[8]);
    for c in ATAN[1..8].iter().rev() {
        p = p.mul_add(s, F::splat(simd, *c));
    }
    (p * s).mul_add(t, t)
}

/// `atan2(y, x)` within 2 ulp; 0 where both are 0.
#[inline(always)]
pub fn atan2<S: Simd>(simd: S, y: F<S>, x: F<S>) -> F<S> {
    let (ay, ax) = (y.abs(), x.abs());
    let steep = ax.less(ay);
    let large = ay.max(ax).max(F::splat(simd, f32::MIN_POSITIVE));
    let first = atan_to_one(simd, ay.min(ax).divided_by(large));
    let octant = (F::splat(simd, std::f32::consts::FRAC_PI_2) - first).where_or(steep, first);
    let half = (F::splat(simd, std::f32::consts::PI) - octant)
        .where_or(x.less(F::splat(simd, 0.0)), octant);
    half.xor(y.sign())
}

/// The terms of the Nyquist lines for one group of scan rows.
pub struct NyquistTerms<'a, S: Simd> {
    /// Of the Nyquist column, real and imaginary parts of its transform `u` at the even rows, then at the
    /// odd ones.
    pub over_rows: [Z<S>; 2],
    /// 1 at the even and the odd rows of the scan, 0 beyond its last row.
    pub within: [F<S>; 2],
    /// Of the Nyquist row, its transform at every scan column.
    pub over_cols: &'a [rustfft::num_complex::Complex32],
    /// Scan column of each slot.
    pub columns: &'a [u32],
}

/// Adds the phases of one group of scan rows, `s_b` of the even ones in the real and of the odd ones in the
/// imaginary parts, to `sums`; returns the sum of their squares. The real part of `O_b` is 1.
#[inline(always)]
pub fn accumulate<S: Simd>(simd: S, tile: &[Cell<S>], sums: &mut [Cell<S>]) -> f64 {
    let one = F::splat(simd, 1.0);
    let mut total = 0.0;
    let long = tile.chunks(SHORT_SUM).zip(sums.chunks_mut(SHORT_SUM));
    for (tile, sums) in long {
        let mut squares = [F::splat(simd, 0.0); 2];
        for (tile, sums) in tile.chunks(CHUNK).zip(sums.chunks_mut(CHUNK)) {
            let mut greatest = F::splat(simd, 0.0);
            for cell in tile {
                let z = Z::<S>::load(simd, cell);
                greatest = greatest.max(z.re.abs()).max(z.im.abs());
            }
            if greatest.greatest() <= 1.0 {
                for (cell, sum) in tile.iter().zip(sums) {
                    add(
                        simd,
                        cell,
                        sum,
                        &mut squares,
                        #[inline(always)]
                        |y| atan_to_one(simd, y),
                    );
                }
            } else {
                for (cell, sum) in tile.iter().zip(sums) {
                    add(
                        simd,
                        cell,
                        sum,
                        &mut squares,
                        #[inline(always)]
                        |y| atan2(simd, y, one),
                    );
                }
            }
        }
        total += squares[0].sum_f64() + squares[1].sum_f64();
    }
    total
}

#[inline(always)]
fn add<S: Simd>(
    simd: S,
    cell: &Cell<S>,
    sum: &mut Cell<S>,
    squares: &mut [F<S>; 2],
    phase: impl Fn(F<S>) -> F<S>,
) {
    for part in 0..2 {
        let p = phase(F::new(simd, cell[part]));
        sum[part] = simd.add_f32s(sum[part], p.v);
        squares[part] = p.mul_add(p, squares[part]);
    }
}

/// As [`accumulate`], for a pixel whose sidebands reach a Nyquist line.
#[inline(always)]
pub fn accumulate_with<S: Simd>(
    simd: S,
    terms: &NyquistTerms<'_, S>,
    tile: &[Cell<S>],
    sums: &mut [Cell<S>],
) -> f64 {
    let one = F::splat(simd, 1.0);
    let tiny = F::splat(simd, f32::MIN_POSITIVE);
    let mut total = 0.0;
    let tiles = tile.chunks(SHORT_SUM).zip(terms.columns.chunks(SHORT_SUM));
    for ((tile, columns), sums) in tiles.zip(sums.chunks_mut(SHORT_SUM)) {
        let mut squares = F::splat(simd, 0.0);
        for ((cell, col), sum) in tile.iter().zip(columns).zip(sums) {
            let across = terms.over_cols[*col as usize];
            let alternating = if col.is_multiple_of(2) { 1.0 } else { -1.0 };
            let alternating = F::splat(simd, alternating);
            let [even, odd] = terms.over_rows;
            let (u_re, u_im) = (F::splat(simd, across.re), F::splat(simd, across.im));
            let s = Z::<S>::load(simd, cell);
            let y = [
                even.re.mul_add(alternating, s.re + u_re),
                odd.re.mul_add(alternating, s.im - u_re),
            ];
            let x = [
                even.im.neg_mul_add(alternating, one - u_im),
                odd.im.neg_mul_add(alternating, one + u_im),
            ];
            // As a rule both are within 45 degrees of the real axis.
            let least = (x[0] - y[0].abs()).min(x[1] - y[1].abs());
            let p = if (-least).greatest() <= 0.0 {
                [
                    atan_to_one(simd, y[0].divided_by(x[0].max(tiny))),
                    atan_to_one(simd, y[1].divided_by(x[1].max(tiny))),
                ]
            } else {
                [atan2(simd, y[0], x[0]), atan2(simd, y[1], x[1])]
            };
            for part in 0..2 {
                let p = p[part] * terms.within[part];
                sum[part] = simd.add_f32s(sum[part], p.v);
                squares = p.mul_add(p, squares);
            }
        }
        total += squares.sum_f64();
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aligned::Aligned;
    use crate::vectors::{cells, cells_mut, lines, tests::all};

    struct Atan2<'a>(&'a [f32], &'a [f32], &'a mut Vec<f32>);

    impl pulp::WithSimd for Atan2<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            for (y, x) in lines::<S>(self.0).iter().zip(lines::<S>(self.1)) {
                let p = atan2(simd, F::new(simd, *y), F::new(simd, *x));
                self.2.extend(crate::vectors::lanes_of::<S>(&p.v));
            }
        }
    }

    #[test]
    fn atan2_is_within_two_ulp_in_every_octant() {
        let n = 160_000;
        let of = |part: fn(f64) -> f64| -> Vec<f32> {
            (0..n)
                .map(|i| {
                    let angle = std::f64::consts::TAU * (f64::from(i) / f64::from(n) - 0.5);
                    (f64::from(i % 17 + 1) * 37.5 * part(angle * 0.999_999)) as f32
                })
                .collect()
        };
        let (mut y, mut x) = (of(f64::sin), of(f64::cos));
        let special = [(0.0, 0.0), (0.0, 3.0), (0.0, -3.0), (1.0, 0.0)];
        for (i, (a, b)) in special.into_iter().enumerate() {
            (y[i], x[i]) = (a, b);
        }
        for vectors in all() {
            let mut found = Vec::new();
            vectors.run(Atan2(&y, &x, &mut found));
            for ((y, x), found) in y.iter().zip(&x).zip(found) {
                let exact = f64::from(*y).atan2(f64::from(*x));
                let error = (f64::from(found) - exact).abs();
                let ulp = f64::from(f32::EPSILON) * exact.abs();
                assert!(error <= 2.0 * ulp, "{y} {x}: {found} {exact}");
            }
        }
    }

    struct Moments<'a> {
        tile: &'a [f32],
        sums: &'a mut [f32],
        columns: &'a [u32],
        across: &'a [rustfft::num_complex::Complex32],
        terms: bool,
    }

    impl pulp::WithSimd for Moments<'_> {
        type Output = f64;
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> f64 {
            let (tile, sums) = (cells::<S>(self.tile), cells_mut::<S>(self.sums));
            let all = |v: f32| F::splat(simd, v);
            let terms = NyquistTerms {
                over_rows: [Z::new(all(0.1), all(0.2)), Z::new(all(0.3), all(0.4))],
                within: [all(1.0); 2],
                over_cols: self.across,
                columns: self.columns,
            };
            if self.terms {
                accumulate_with(simd, &terms, tile, sums)
            } else {
                accumulate(simd, tile, sums)
            }
        }
    }

    #[test]
    fn moments_with_and_without_the_nyquist_lines() {
        let n = 37;
        let across: Vec<_> = (0..n)
            .map(|c| rustfft::num_complex::Complex32::new(0.01 * c as f32, 0.02 * c as f32))
            .collect();
        let columns: Vec<u32> = (0..n as u32).rev().collect();
        for vectors in all() {
            for (terms, scale) in [(false, 0.01), (false, 1.0), (true, 0.1)] {
                let lanes = vectors.lanes;
                let mut tile = Aligned::new(n * 2 * lanes);
                for (i, v) in tile.get_mut().iter_mut().enumerate() {
                    *v = scale * ((i * 31 % 97) as f32 / 30.0 - 1.4);
                }
                let mut sums = Aligned::new(n * 2 * lanes);
                let squares = vectors.run(Moments {
                    tile: tile.get(),
                    sums: sums.get_mut(),
                    columns: &columns,
                    across: &across,
                    terms,
                });
                let mut expected = 0.0;
                for (i, (v, sum)) in tile.get().iter().zip(sums.get()).enumerate() {
                    let (slot, odd) = (i / (2 * lanes), (i / lanes) % 2);
                    let (mut y, mut x) = (f64::from(*v), 1.0);
                    if terms {
                        let col = columns[slot] as usize;
                        let alternating = if col.is_multiple_of(2) { 1.0 } else { -1.0 };
                        let sign = if odd == 0 { 1.0 } else { -1.0 };
                        let u = [[0.1, 0.2], [0.3, 0.4]][odd];
                        y += alternating * u[0] + sign * f64::from(across[col].re);
                        x -= alternating * u[1] + sign * f64::from(across[col].im);
                    }
                    let p = y.atan2(x);
                    expected += p * p;
                    assert!((f64::from(*sum) - p).abs() < 2e-6, "{sum} {p}");
                }
                assert!((squares / expected - 1.0).abs() < 1e-6);
            }
        }
    }
}
