//! Tables of one candidate, built in float64 and stored in float32.

use rayon::prelude::*;
use ssb_core::{Candidate, ChiPolynomial};

use crate::aligned::Aligned;
use crate::lattice::Lattice;
use crate::turns::fill_cos_sin;
use crate::vectors::Vectors;

/// Tilt in radians and half the depth spread in Å (numerics section 4).
#[derive(Debug, Clone, Copy)]
pub struct Thick {
    pub half_depth_a: f64,
    pub tilt_rad: [f64; 2],
}

/// cos d and sin d of a quadratic phase, which does not depend on the BF pixel.
pub struct QuadraticTables {
    /// Tiles `[block][row][cos, sin]`.
    pub plane: Aligned,
    /// The smallest `|sin d|` at any stored point but DC.
    pub least_sin: f32,
}

/// One candidate, ready for every BF pixel.
pub struct CandidateTables {
    pub chi: ChiPolynomial,
    /// Present when only C10 and C12 are set.
    pub quadratic: Option<QuadraticTables>,
    pub thick: Option<Thick>,
}

impl CandidateTables {
    pub fn new(lattice: &Lattice, vectors: Vectors, candidate: &Candidate) -> Self {
        let chi = ChiPolynomial::new(&candidate.aberrations, lattice.wavelength_a);
        let quadratic = chi
            .is_quadratic()
            .then(|| QuadraticTables::new(lattice, vectors, &chi));
        let thick = (candidate.depth_spread_nm != 0.0).then(|| Thick {
            half_depth_a: candidate.depth_spread_nm * 10.0 / 2.0,
            tilt_rad: candidate.tilt_mrad.map(|t| t * 1e-3),
        });
        Self {
            chi,
            quadratic,
            thick,
        }
    }
}

impl QuadraticTables {
    /// d = -chi(q): the even part is chi itself, whatever `k`.
    fn new(lattice: &Lattice, vectors: Vectors, chi: &ChiPolynomial) -> Self {
        let parts = chi.about([0.0, 0.0]);
        let layout = &lattice.layout;
        let (rows, lanes) = (layout.rows, layout.lanes);
        let mut plane = Aligned::new(layout.plane_floats());
        let least_sin = plane
            .get_mut()
            .par_chunks_mut(rows * 2 * lanes)
            .enumerate()
            .map(|(block, tile)| {
                let q = &lattice.block_q_per_a[block * lanes..][..lanes];
                let mut least = f32::INFINITY;
                for (row, cells) in tile.chunks_exact_mut(2 * lanes).enumerate() {
                    let (even, _) = parts.at_row(lattice.q_per_a[0][row]);
                    let (cos, sin) = cells.split_at_mut(lanes);
                    vectors.run(FillRow {
                        cos,
                        sin,
                        even: &even[..3],
                        q,
                    });
                    let first = usize::from(block == 0 && row == 0);
                    least = sin[first..].iter().fold(least, |l, s| l.min(s.abs()));
                }
                least
            })
            .reduce(|| f32::INFINITY, f32::min);
        Self { plane, least_sin }
    }
}

/// One row of one block of the quadratic tables.
struct FillRow<'a> {
    cos: &'a mut [f32],
    sin: &'a mut [f32],
    even: &'a [f64],
    q: &'a [f64],
}

impl pulp::WithSimd for FillRow<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Self { cos, sin, even, q } = self;
        fill_cos_sin(cos, sin, |i| -polynomial(even, q[i]));
    }
}

/// Horner's rule, ascending powers.
#[inline(always)]
pub fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}
