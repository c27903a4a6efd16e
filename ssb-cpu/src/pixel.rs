//! One BF pixel under one candidate: its tables along both axes.

use std::ops::Range;

use pulp::Simd;
use ssb_core::EvenOdd;

use crate::aligned::Aligned;
use crate::candidate_tables::CandidateTables;
use crate::correct_line::GAMMA_FLOOR;
use crate::lanes::OpenPixel;
use crate::lattice::Lattice;
use crate::nyquist_line::LineScratch;
use crate::phase_terms::fill_wave;
use crate::reach::Disks;

pub const ROW: usize = 0;
pub const COL: usize = 1;

/// One BF pixel under one candidate.
pub struct Pixel<'a> {
    pub lattice: &'a Lattice,
    pub tables: &'a CandidateTables,
    /// G in the layout's order.
    pub g: &'a [f32],
    /// `k_b` in 1/Å.
    pub k: [f64; 2],
    /// `A(k_b)`.
    pub aperture: f64,
    pub parts: EvenOdd,
    pub disks: Disks,
    /// Whether `|Gamma|` may fall to its floor, or has weights, away from the apertures' edges.
    pub edges_only: bool,
}

/// What one axis contributes to every point, one value an index.
#[derive(Default)]
pub struct AxisTables {
    /// `2 k q`, plain and weighted with the squared detector step.
    pub x: Vec<f32>,
    pub x_steps: Vec<f32>,
    /// cos and sin of minus (a+b)/2 (quadratic phase only).
    pub wave: [Vec<f32>; 2],
    /// Shares of r1 t/2 and r2 t/2 in turns (thick model only).
    pub depth_turns: [Vec<f32>; 2],
}

impl AxisTables {
    fn new(n: usize) -> Self {
        let zeros = || vec![0.0; n];
        Self {
            x: zeros(),
            x_steps: zeros(),
            wave: [zeros(), zeros()],
            depth_turns: [zeros(), zeros()],
        }
    }
}

/// Tables of one pixel; one set a worker.
pub struct PixelScratch {
    /// Over the rows, in transform order.
    pub rows: AxisTables,
    /// Over the blocks' columns.
    pub cols: AxisTables,
    /// `|k|^2 + q_row^2`, plain and weighted with the squared detector steps.
    pub base: Vec<f32>,
    pub base_steps: Vec<f32>,
    /// One block's phases `[row][cos d, sin d, cos w, sin w]` when a term has a formula of its own.
    pub phases: Aligned,
    pub line: LineScratch,
}

impl PixelScratch {
    pub fn new(lattice: &Lattice) -> Self {
        let layout = &lattice.layout;
        Self {
            rows: AxisTables::new(layout.rows),
            cols: AxisTables::new(layout.blocks * layout.lanes),
            base: vec![0.0; layout.rows],
            base_steps: vec![0.0; layout.rows],
            phases: Aligned::new(layout.rows * 4 * layout.lanes),
            line: LineScratch::new(layout),
        }
    }
}

impl<'a> Pixel<'a> {
    pub fn new(
        lattice: &'a Lattice,
        tables: &'a CandidateTables,
        open: &OpenPixel<'a>,
        limit_per_a: f64,
    ) -> Self {
        let OpenPixel { g, k, aperture } = *open;
        // Hairs above the floor, so that rounding cannot matter.
        let floor = 1.001 * GAMMA_FLOOR / aperture;
        let least_both = tables
            .quadratic
            .as_ref()
            .map_or(f64::INFINITY, |t| 2.0 * f64::from(t.least_sin));
        Self {
            lattice,
            tables,
            g,
            k,
            aperture,
            parts: tables.chi.polynomial_about(k),
            disks: Disks {
                k,
                inner_per_a: lattice.inner_per_a,
                outer_per_a: lattice.outer_per_a,
                limit_per_a,
            },
            edges_only: floor >= 1.0
                || least_both <= floor
                || tables.thick.is_some()
                || !tables.chi.own().is_empty(),
        }
    }

    /// Number of blocks that the sidebands reach.
    #[inline(always)]
    pub fn occupied_blocks(&self) -> usize {
        let layout = &self.lattice.layout;
        self.disks
            .occupied_blocks(layout, self.lattice.spacing_per_a[COL])
    }

    /// The scan frequencies of a block's columns in 1/Å.
    #[inline(always)]
    pub fn block_columns(&self, block: usize) -> &[f64] {
        let lanes = self.lattice.layout.lanes;
        &self.lattice.block_q_per_a[block * lanes..][..lanes]
    }

    /// Indices along an axis that the sidebands reach, in transform order: those of `q >= 0` and those of `q < 0`,
    /// both in whole vectors.
    #[inline(always)]
    fn reached(&self, axis: usize, lanes: usize, n: usize) -> [Range<usize>; 2] {
        let most = self.disks.reach(axis) / self.lattice.spacing_per_a[axis];
        // A hair more: rounding cannot leave a point out.
        let last = (most * (1.0 + 1e-6)).floor() as usize;
        let (rising, falling) = (
            (last + 1).next_multiple_of(lanes),
            last.next_multiple_of(lanes),
        );
        if axis == COL {
            [0..rising.min(n), n..n]
        } else if rising + falling >= n {
            [0..n, n..n]
        } else {
            [0..rising, n - falling..n]
        }
    }

    /// Fills the tables along both axes, where the sidebands reach; elsewhere is what was there.
    #[inline(always)]
    pub fn fill_axes<S: Simd>(&self, simd: S, scratch: &mut PixelScratch) {
        let lattice = self.lattice;
        let k2 = self.k[ROW].powi(2) + self.k[COL].powi(2);
        let step2 = lattice.det_step_rad.map(|s| s * s);
        let k2_steps = self.k[ROW].powi(2) * step2[ROW] + self.k[COL].powi(2) * step2[COL];
        let q_row = &lattice.q_per_a[ROW][..];
        let rows = self.reached(ROW, S::F32_LANES, q_row.len());
        for rows in &rows {
            let q_row = &q_row[rows.clone()];
            for (base, q) in scratch.base[rows.clone()].iter_mut().zip(q_row) {
                *base = (k2 + q * q) as f32;
            }
            if lattice.unequal_steps {
                let base_steps = &mut scratch.base_steps[rows.clone()];
                for (base, q) in base_steps.iter_mut().zip(q_row) {
                    *base = (k2_steps + q * q * step2[ROW]) as f32;
                }
            }
        }
        for rows in rows {
            self.fill_axis(simd, ROW, rows, &mut scratch.rows);
        }
        let [cols, _] = self.reached(COL, S::F32_LANES, lattice.block_q_per_a.len());
        self.fill_axis(simd, COL, cols, &mut scratch.cols);
    }

    #[inline(always)]
    fn fill_axis<S: Simd>(
        &self,
        simd: S,
        axis: usize,
        range: Range<usize>,
        tables: &mut AxisTables,
    ) {
        let q = match axis {
            ROW => &self.lattice.q_per_a[ROW][range.clone()],
            _ => &self.lattice.block_q_per_a[range.clone()],
        };
        let k = self.k[axis];
        for (x, q) in tables.x[range.clone()].iter_mut().zip(q) {
            *x = (2.0 * k * q) as f32;
        }
        if self.lattice.unequal_steps {
            let weight = self.lattice.det_step_rad[axis].powi(2);
            for (x, q) in tables.x_steps[range.clone()].iter_mut().zip(q) {
                *x = (2.0 * k * q * weight) as f32;
            }
        }
        if self.tables.quadratic.is_some() {
            // (a+b)/2 of a quadratic phase is linear in q: a plane wave, a factor for each axis.
            let slope = if axis == ROW {
                self.parts.at_col(0.0).1[1]
            } else {
                self.parts.at_row(0.0).1[1]
            };
            let [cos, sin] = &mut tables.wave;
            fill_wave(
                simd,
                -slope,
                q,
                [&mut cos[range.clone()], &mut sin[range.clone()]],
            );
        }
        if let Some(thick) = self.tables.thick {
            let curvature = 0.5 * self.lattice.wavelength_a * thick.half_depth_a;
            let shift = thick.tilt_rad[axis] * thick.half_depth_a;
            let [minus, plus] = &mut tables.depth_turns;
            let shares = minus[range.clone()].iter_mut().zip(&mut plus[range]);
            for ((m, p), q) in shares.zip(q) {
                *m = (curvature * (2.0 * k * q - q * q) - shift * q) as f32;
                *p = (curvature * (2.0 * k * q + q * q) - shift * q) as f32;
            }
        }
    }
}
