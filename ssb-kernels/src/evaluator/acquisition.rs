//! Tables of the acquisition, made in float64 and stored in float32 (numerics section 3).

use rayon::prelude::*;
use ssb_core::{Geometry, support};

use crate::kernel::layout::{PIXEL_FLOATS, SHAPE_FLOATS, Scan};

/// `|Gamma|` below this is not normalised up to 1.
const GAMMA_FLOOR: f64 = 1e-8;

/// Stands for an infinite floor: nothing of a closed aperture is normalised.
const CLOSED: f32 = 1e30;

/// The BF pixels in the scan frame of one rotation.
pub(super) struct Frame {
    pub(super) rotation_deg: f64,
    /// `k_b` in 1/Å of the stored pixels.
    pub(super) k_per_a: Vec<[f64; 2]>,
    /// `A(k_b)` of the stored pixels.
    pub(super) apertures: Vec<f64>,
    /// Supported points of all of them ([`support::supported_points`]).
    pub(super) supported: u64,
}

impl Frame {
    /// Rotates the stored pixels.
    pub(super) fn new(geometry: &Geometry, stored: &[usize], rotation_deg: f64) -> Self {
        let all = geometry.k_per_a(rotation_deg);
        let k_per_a: Vec<_> = stored.iter().map(|b| all[*b]).collect();
        let apertures: Vec<_> = k_per_a.iter().map(|k| geometry.aperture(*k)).collect();
        let outer = support::outer_per_a(geometry);
        let supported = k_per_a
            .par_iter()
            .zip(&apertures)
            .filter(|(_, aperture)| **aperture > 0.0)
            .map(|(k, _)| support::supported_points(geometry, *k, outer))
            .sum();
        Self {
            rotation_deg,
            k_per_a,
            apertures,
            supported,
        }
    }

    /// The table of stored pixels `range`, laid out as `layout` says.
    pub(super) fn table(
        &self,
        geometry: &Geometry,
        scan: Scan,
        range: std::ops::Range<usize>,
    ) -> Vec<f32> {
        let unequal = unequal_steps(geometry);
        let step = geometry.det_step_rad;
        let q = [geometry.q_row_per_a(), geometry.q_col_per_a()];
        let q = [&q[0][..], &q[1][..scan.half()]];
        let mut table = shape(geometry);
        for axis in [0, 1] {
            let weight = step[axis] * step[axis];
            table.extend(q[axis].iter().map(|q| *q as f32));
            table.extend(q[axis].iter().map(|q| (q * q) as f32));
            table.extend(q[axis].iter().map(|q| (q * q * weight) as f32));
        }
        let head = table.len();
        let each = scan.pixel_floats(unequal);
        table.resize(head + each * range.len(), 0.0);
        table[head..]
            .par_chunks_mut(each)
            .zip(
                self.k_per_a[range.clone()]
                    .par_iter()
                    .zip(&self.apertures[range]),
            )
            .for_each(|(out, (k, aperture))| {
                let open = *aperture > 0.0;
                out[0] = (k[0] * k[0] + k[1] * k[1]) as f32;
                out[1] = ((k[0] * step[0]).powi(2) + (k[1] * step[1]).powi(2)) as f32;
                out[2] = if open { 1.0 } else { 0.0 };
                out[3] = if open {
                    (GAMMA_FLOOR / aperture) as f32
                } else {
                    CLOSED
                };
                out[4] = *aperture as f32;
                out[5] = k[0] as f32;
                out[6] = k[1] as f32;
                let mut rest = out[PIXEL_FLOATS..].iter_mut();
                for weighted in [false, true].into_iter().take(if unequal { 2 } else { 1 }) {
                    for axis in [0, 1] {
                        let weight = if weighted {
                            step[axis] * step[axis]
                        } else {
                            1.0
                        };
                        for (q, to) in q[axis].iter().zip(rest.by_ref()) {
                            *to = (2.0 * k[axis] * q * weight) as f32;
                        }
                    }
                }
            });
        table
    }
}

/// Whether the aperture's edge depends on direction.
pub(super) fn unequal_steps(geometry: &Geometry) -> bool {
    geometry.det_step_rad[0] != geometry.det_step_rad[1]
}

/// BF pixels that some rotation gives a non-zero aperture.
pub(super) fn stored_pixels(geometry: &Geometry) -> Vec<usize> {
    let outer = support::outer_per_a(geometry);
    geometry
        .k_per_a(0.0)
        .iter()
        .enumerate()
        .filter(|(_, k)| k[0].hypot(k[1]) < outer)
        .map(|(b, _)| b)
        .collect()
}

fn shape(geometry: &Geometry) -> Vec<f32> {
    let step = geometry.det_step_rad;
    let (e, widest) = (step[0], step[0].max(step[1]));
    let (semiangle, wavelength) = (geometry.semiangle_rad, geometry.wavelength_a);
    let inner = ((semiangle - 0.5 * widest) / wavelength).max(0.0);
    let mut shape = vec![
        (semiangle / e + 0.5) as f32,
        (wavelength / e) as f32,
        semiangle as f32,
        wavelength as f32,
        (inner * inner) as f32,
    ];
    shape.resize(SHAPE_FLOATS, 0.0);
    shape
}
