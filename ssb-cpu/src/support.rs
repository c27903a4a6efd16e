//! How many scan frequencies the two sidebands of each BF pixel reach (numerics section 8).

use rayon::prelude::*;
use ssb_core::Geometry;

/// The BF pixels in the scan frame of one rotation.
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
        let q_col = geometry.q_col_per_a();
        let rows = Axis::new(geometry.scan_shape[0], geometry.scan_step_a[0]);
        let supported = k_per_a
            .par_iter()
            .zip(&apertures)
            .filter(|(_, a)| **a > 0.0)
            .map(|(k, _)| {
                let points: u64 = q_col
                    .iter()
                    .map(|q| {
                        let disk = |sign: f64| {
                            rows.inside(
                                sign * k[0],
                                outer_per_a,
                                |q_row| geometry.aperture([sign * k[0] - q_row, sign * k[1] - q]),
                                sign * k[1] - q,
                            )
                        };
                        union(disk(1.0), disk(-1.0))
                    })
                    .sum();
                points - 1
            })
            .sum();
        Self {
            rotation_deg,
            k_per_a,
            apertures,
            supported,
        }
    }
}

struct Axis {
    first: i64,
    last: i64,
    spacing_per_a: f64,
}

impl Axis {
    fn new(n: usize, step_a: f64) -> Self {
        let n = n as i64;
        Self {
            first: -(n / 2),
            last: (n - 1) / 2,
            spacing_per_a: 1.0 / (n as f64 * step_a),
        }
    }

    /// The signed indices (ends in) at which the aperture around `center` is above 0, on a line at
    /// distance `offset` from the centre: the outer circle's chord, shortened to the exact edge.
    fn inside(
        &self,
        center: f64,
        outer: f64,
        aperture: impl Fn(f64) -> f64,
        offset: f64,
    ) -> Option<(i64, i64)> {
        let (mut lo, mut hi) = chord(center, offset, outer, self.spacing_per_a)?;
        lo = lo.max(self.first);
        hi = hi.min(self.last);
        let open = |i: i64| aperture(i as f64 * self.spacing_per_a) > 0.0;
        while lo <= hi && !open(lo) {
            lo += 1;
        }
        while lo <= hi && !open(hi) {
            hi -= 1;
        }
        (lo <= hi).then_some((lo, hi))
    }
}

/// Signed indices whose frequency lies within `outer` of a centre that is `offset` away from the line.
#[inline(always)]
pub fn chord(center: f64, offset: f64, outer: f64, spacing: f64) -> Option<(i64, i64)> {
    let half2 = outer * outer - offset * offset;
    if half2 < 0.0 {
        return None;
    }
    let half = half2.sqrt();
    let lo = ((center - half) / spacing).ceil() as i64;
    let hi = ((center + half) / spacing).floor() as i64;
    (lo <= hi).then_some((lo, hi))
}

fn union(a: Option<(i64, i64)>, b: Option<(i64, i64)>) -> u64 {
    let length = |(lo, hi): (i64, i64)| (hi - lo + 1).max(0) as u64;
    match (a, b) {
        (None, None) => 0,
        (Some(i), None) | (None, Some(i)) => length(i),
        (Some(i), Some(j)) => {
            let both = (i.0.max(j.0), i.1.min(j.1));
            length(i) + length(j) - length(both)
        }
    }
}
