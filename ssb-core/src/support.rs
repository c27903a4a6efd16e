//! How many scan frequencies the two sidebands of a BF pixel reach (numerics section 8).

use crate::Geometry;

/// Beyond this `|u|` in 1/Å the aperture is 0 in every direction.
#[must_use]
pub fn outer_per_a(geometry: &Geometry) -> f64 {
    let [row_rad, col_rad] = geometry.det_step_rad;
    (geometry.semiangle_rad + 0.5 * row_rad.max(col_rad)) / geometry.wavelength_a * (1.0 + 1e-9)
}

/// Signed indices, both ends in, whose frequency lies within `outer` of a centre that is `offset` away
/// from the line; all in 1/Å, `spacing` between neighbours.
///
/// ```
/// assert_eq!(ssb_core::support::chord(1.0, 3.0, 5.0, 1.0), Some((-3, 5)));
/// assert_eq!(ssb_core::support::chord(1.0, 6.0, 5.0, 1.0), None);
/// ```
#[inline(always)]
#[must_use]
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

/// Points of the whole plane, DC out, at which `A(k-q)` or `A(k+q)` is above 0, for a pixel with
/// `A(k) > 0`; 0 for any other. `outer` is [`outer_per_a`].
#[must_use]
pub fn supported_points(geometry: &Geometry, k: [f64; 2], outer: f64) -> u64 {
    if geometry.aperture(k) <= 0.0 {
        return 0;
    }
    let rows = Axis::new(geometry.scan_shape[0], geometry.scan_step_a[0]);
    let points: u64 = geometry
        .q_col_per_a()
        .iter()
        .map(|q| {
            let disk = |sign: f64| {
                let offset = sign * k[1] - q;
                let aperture = |q_row: f64| geometry.aperture([sign * k[0] - q_row, offset]);
                rows.inside(sign * k[0], outer, aperture, offset)
            };
            union(disk(1.0), disk(-1.0))
        })
        .sum();
    points - 1
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BfDisk, Calibration, Sourced};

    #[test]
    fn the_count_is_that_of_every_point() {
        let source = |v| Sourced::new(v, "test");
        for (scan_shape, det_step_mrad) in [([12, 15], [4.0, 4.0]), ([9, 16], [3.1, 5.3])] {
            let calibration = Calibration {
                voltage_kv: Sourced::new(200.0, "test"),
                semiangle_mrad: Sourced::new(21.0, "test"),
                scan_step_a: source([0.4, 0.33]),
                det_step_mrad: source(det_step_mrad),
                rotation_deg: Sourced::new(17.0, "test"),
            };
            let disk = BfDisk {
                center_px: [7.2, 7.4],
                radius_px: 7.0,
                pixels: (0..15).flat_map(|r| (0..15).map(move |c| [r, c])).collect(),
            };
            let geometry = Geometry::new(&calibration, scan_shape, &disk).unwrap();
            let outer = outer_per_a(&geometry);
            for k in geometry.k_per_a(17.0) {
                let mut points = 0;
                for q_row in geometry.q_row_per_a() {
                    for q_col in geometry.q_col_per_a() {
                        let open = |s: f64| geometry.aperture([k[0] - s * q_row, k[1] - s * q_col]);
                        let reached = open(1.0) > 0.0 || open(-1.0) > 0.0;
                        points += u64::from(reached && (q_row, q_col) != (0.0, 0.0));
                    }
                }
                if geometry.aperture(k) <= 0.0 {
                    points = 0;
                }
                assert_eq!(supported_points(&geometry, k, outer), points, "{k:?}");
            }
        }
    }
}
