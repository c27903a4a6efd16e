//! What depends on the acquisition alone: scan frequencies and the soft aperture, as tables.

use ssb_core::Geometry;
use ssb_core::support::outer_per_a;

use crate::aligned::Aligned;
use crate::correct_line::ApertureShape;
use crate::layout::Layout;

/// Scan frequencies and the aperture.
pub struct Lattice {
    pub layout: Layout,
    /// Scan frequencies in 1/Å, all rows and all columns, in transform order.
    pub q_per_a: [Vec<f64>; 2],
    /// Those of the blocks' columns; lanes beyond the last stored column go on rising.
    pub block_q_per_a: Vec<f64>,
    /// Squares of `block_q_per_a`, and those times the squared detector step in rad^2.
    pub block_q2: [Aligned; 2],
    /// Squares of `q_per_a`.
    pub q2: [Vec<f32>; 2],
    /// Squares of `q_per_a` times the squared detector step in rad^2.
    pub q2_steps: [Vec<f32>; 2],
    /// Spacing of the scan frequencies in 1/Å.
    pub spacing_per_a: [f64; 2],
    pub wavelength_a: f64,
    pub det_step_rad: [f64; 2],
    pub aperture: ApertureShape,
    /// Beyond this `|u|` in 1/Å the aperture is 0 in every direction.
    pub outer_per_a: f64,
    /// Within this `|u|` in 1/Å the aperture is 1 in every direction; below 0 if it is nowhere.
    pub inner_per_a: f64,
    /// Whether the detector steps differ between rows and columns.
    pub unequal_steps: bool,
}

impl Lattice {
    pub fn new(geometry: &Geometry, lanes: usize) -> Self {
        let layout = Layout::new(geometry.scan_shape, lanes);
        let [rows, cols] = geometry.scan_shape;
        let q_per_a = [geometry.q_row_per_a(), geometry.q_col_per_a()];
        let step = geometry.det_step_rad;
        let squares = |axis: usize, weight: f64| -> Vec<f32> {
            q_per_a[axis]
                .iter()
                .map(|q| (q * q * weight) as f32)
                .collect()
        };
        let spacing_per_a = [
            1.0 / (rows as f64 * geometry.scan_step_a[0]),
            1.0 / (cols as f64 * geometry.scan_step_a[1]),
        ];
        let block_q_per_a: Vec<f64> = (0..layout.blocks * lanes)
            .map(|col| col as f64 * spacing_per_a[1])
            .collect();
        let block_q2 = [1.0, step[1] * step[1]].map(|weight| {
            let mut squares = Aligned::new(block_q_per_a.len());
            for (square, q) in squares.get_mut().iter_mut().zip(&block_q_per_a) {
                *square = (q * q * weight) as f32;
            }
            squares
        });
        Self {
            layout,
            block_q_per_a,
            block_q2,
            q2: [squares(0, 1.0), squares(1, 1.0)],
            q2_steps: [squares(0, step[0] * step[0]), squares(1, step[1] * step[1])],
            spacing_per_a,
            wavelength_a: geometry.wavelength_a,
            det_step_rad: step,
            aperture: ApertureShape::new(geometry.semiangle_rad, geometry.wavelength_a, step),
            outer_per_a: outer_per_a(geometry),
            inner_per_a: (geometry.semiangle_rad - 0.5 * step[0].max(step[1]))
                / geometry.wavelength_a
                * (1.0 - 1e-6),
            unequal_steps: step[0] != step[1],
            q_per_a,
        }
    }
}
