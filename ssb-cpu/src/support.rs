//! The BF pixels in the scan frame of one rotation.

use rayon::prelude::*;
use ssb_core::Geometry;
use ssb_core::support::supported_points;

/// What one rotation decides.
pub struct Frame {
    pub rotation_deg: f64,
    /// `k_b` in 1/Å of every selected pixel.
    pub k_per_a: Vec<[f64; 2]>,
    /// `A(k_b)` of every selected pixel.
    pub apertures: Vec<f64>,
    /// Points of the whole plane, DC out, of pixels with `A(k) > 0`, where `A(k-q)` or `A(k+q)` is
    /// above 0.
    pub supported: u64,
}

impl Frame {
    /// Rotates the pixels and counts their support in float64; `outer_per_a` bounds the aperture.
    pub fn new(geometry: &Geometry, rotation_deg: f64, outer_per_a: f64) -> Self {
        let k_per_a = geometry.k_per_a(rotation_deg);
        let apertures: Vec<f64> = k_per_a.iter().map(|k| geometry.aperture(*k)).collect();
        let supported = k_per_a
            .par_iter()
            .map(|k| supported_points(geometry, *k, outer_per_a))
            .sum();
        Self {
            rotation_deg,
            k_per_a,
            apertures,
            supported,
        }
    }
}
