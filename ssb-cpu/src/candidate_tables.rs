//! Tables of the scan lattice and of one candidate, built in float64 and stored in float32.

use rayon::prelude::*;
use ssb_core::support::outer_per_a;
use ssb_core::{Candidate, Chi, Geometry};

use crate::correct::ApertureShape;
use crate::turns::fill_cos_sin;

/// Scan frequencies and what depends on the acquisition alone.
pub struct Lattice {
    pub rows: usize,
    pub cols: usize,
    pub half_cols: usize,
    /// Scan frequencies in 1/Å, all rows and all columns, in transform order.
    pub q_per_a: [Vec<f64>; 2],
    /// Their squares.
    pub q2: [Vec<f32>; 2],
    /// Their squares times the squared detector step in rad^2.
    pub q2_steps: [Vec<f32>; 2],
    /// Spacing of the scan frequencies in 1/Å.
    pub spacing_per_a: [f64; 2],
    pub wavelength_a: f64,
    pub det_step_rad: [f64; 2],
    pub aperture: ApertureShape,
    /// Beyond this `|u|` in 1/Å the aperture is 0 in every direction.
    pub outer_per_a: f64,
    /// Whether the detector steps differ between rows and columns.
    pub unequal_steps: bool,
}

impl Lattice {
    pub fn new(geometry: &Geometry) -> Self {
        let [rows, cols] = geometry.scan_shape;
        let q_per_a = [geometry.q_row_per_a(), geometry.q_col_per_a()];
        let step = geometry.det_step_rad;
        let squares = |axis: usize, weight: f64| -> Vec<f32> {
            q_per_a[axis]
                .iter()
                .map(|q| (q * q * weight) as f32)
                .collect()
        };
        Self {
            rows,
            cols,
            half_cols: cols / 2 + 1,
            q2: [squares(0, 1.0), squares(1, 1.0)],
            q2_steps: [squares(0, step[0] * step[0]), squares(1, step[1] * step[1])],
            spacing_per_a: [
                1.0 / (rows as f64 * geometry.scan_step_a[0]),
                1.0 / (cols as f64 * geometry.scan_step_a[1]),
            ],
            wavelength_a: geometry.wavelength_a,
            det_step_rad: step,
            aperture: ApertureShape::new(geometry.semiangle_rad, geometry.wavelength_a, step),
            outer_per_a: outer_per_a(geometry),
            unequal_steps: step[0] != step[1],
            q_per_a,
        }
    }

    /// Whether the rows axis has a Nyquist line.
    pub fn nyquist_row(&self) -> Option<usize> {
        self.rows.is_multiple_of(2).then_some(self.rows / 2)
    }

    /// Whether the columns axis has a Nyquist line.
    pub fn nyquist_col(&self) -> Option<usize> {
        self.cols.is_multiple_of(2).then_some(self.cols / 2)
    }
}

/// Tilt in radians and half the depth spread in Å (numerics section 4).
#[derive(Debug, Clone, Copy)]
pub struct Thick {
    pub half_depth_a: f64,
    pub tilt_rad: [f64; 2],
}

/// cos d and sin d of a quadratic phase, which does not depend on the BF pixel.
pub struct QuadraticTables {
    /// `[half_cols][rows]`.
    pub plane: [Vec<f32>; 2],
    /// The Nyquist row over all columns; empty for an odd number of rows.
    pub nyquist_row: [Vec<f32>; 2],
}

/// One candidate, ready for every BF pixel.
pub struct CandidateTables {
    pub chi: Chi,
    /// Present when only C10 and C12 are set.
    pub quadratic: Option<QuadraticTables>,
    pub thick: Option<Thick>,
}

impl CandidateTables {
    pub fn new(lattice: &Lattice, candidate: &Candidate) -> Self {
        let chi = Chi::new(&candidate.aberrations, lattice.wavelength_a);
        let quadratic = chi
            .is_quadratic()
            .then(|| QuadraticTables::new(lattice, &chi));
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
    fn new(lattice: &Lattice, chi: &Chi) -> Self {
        let parts = chi.about([0.0, 0.0]);
        let (rows, cells) = (lattice.rows, lattice.rows * lattice.half_cols);
        let mut plane = [vec![0.0; cells], vec![0.0; cells]];
        let [cos, sin] = &mut plane;
        cos.par_chunks_mut(rows)
            .zip(sin.par_chunks_mut(rows))
            .enumerate()
            .for_each(|(col, (cos, sin))| {
                let (even, _) = parts.at_col(lattice.q_per_a[1][col]);
                let q = &lattice.q_per_a[0];
                pulp::Arch::new().dispatch(FillColumn {
                    cos,
                    sin,
                    even: &even[..3],
                    q,
                });
            });
        let mut nyquist_row = [Vec::new(), Vec::new()];
        if let Some(row) = lattice.nyquist_row() {
            let (even, _) = parts.at_row(lattice.q_per_a[0][row]);
            nyquist_row = [vec![0.0; lattice.cols], vec![0.0; lattice.cols]];
            let [cos, sin] = &mut nyquist_row;
            fill_cos_sin(cos, sin, |i| -polynomial(&even[..3], lattice.q_per_a[1][i]));
        }
        Self { plane, nyquist_row }
    }
}

/// One stored column of the quadratic tables, compiled for the widest vectors found at run time.
struct FillColumn<'a> {
    cos: &'a mut [f32],
    sin: &'a mut [f32],
    even: &'a [f64],
    q: &'a [f64],
}

impl pulp::WithSimd for FillColumn<'_> {
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
