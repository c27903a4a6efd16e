//! Tables of one candidate, built in float64 and stored in float32.

use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use ssb_core::{Candidate, Chi, EvenOdd};

use crate::aligned::Aligned;
use crate::lattice::Lattice;
use crate::phase_terms::BlockPhases;
use crate::vectors::{Vectors, cells_mut};

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
    pub chi: Chi,
    /// Present when only C10 and C12 are set.
    pub quadratic: Option<QuadraticTables>,
    pub thick: Option<Thick>,
}

impl CandidateTables {
    pub fn new(lattice: &Lattice, vectors: Vectors, candidate: &Candidate) -> Self {
        let chi = Chi::new(&candidate.aberrations, lattice.wavelength_a);
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
    fn new(lattice: &Lattice, vectors: Vectors, chi: &Chi) -> Self {
        let parts = chi.polynomial_about([0.0, 0.0]);
        let layout = &lattice.layout;
        let (rows, lanes) = (layout.rows, layout.lanes);
        let mut plane = Aligned::new(layout.plane_floats());
        let least_sin = plane
            .get_mut()
            .par_chunks_mut(rows * 2 * lanes)
            .enumerate()
            .map(|(block, tile)| {
                let q_cols = &lattice.block_q_per_a[block * lanes..][..lanes];
                vectors.run(FillBlock {
                    parts: &parts,
                    q_rows: &lattice.q_per_a[0],
                    q_cols,
                    tile,
                });
                let mut least = f32::INFINITY;
                for (row, cells) in tile.chunks_exact(2 * lanes).enumerate() {
                    let first = usize::from(block == 0 && row == 0);
                    let sin = &cells[lanes + first..];
                    least = sin.iter().fold(least, |l, s| l.min(s.abs()));
                }
                least
            })
            .reduce(|| f32::INFINITY, f32::min);
        Self { plane, least_sin }
    }
}

/// One block of the quadratic tables.
struct FillBlock<'a> {
    parts: &'a EvenOdd,
    q_rows: &'a [f64],
    q_cols: &'a [f64],
    tile: &'a mut [f32],
}

impl WithSimd for FillBlock<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let phases = BlockPhases::new(simd, self.parts, self.q_cols);
        for (cell, q_row) in cells_mut::<S>(self.tile).iter_mut().zip(self.q_rows) {
            *cell = phases.d(*q_row).cell();
        }
    }
}

/// Horner's rule, ascending powers.
#[inline(always)]
pub fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}
