//! The scan-detector rotation from the curl of the centre of mass.
//!
//! The centre of mass of a bright-field disk moves, to first order, along the gradient of a phase, whose curl is zero.
//! With `c(q) = sum_b k_b G_b(q)` in the detector's frame, turning it by `t` mixes curl and divergence:
//! `curl_t = cos t (q_row c_col - q_col c_row) + sin t (q_row c_row + q_col c_col)`. The sum of `|curl_t|^2` over
//! frequencies is least at a closed-form angle; the other extreme lies 90 degrees away, and 180 degrees stay open: the
//! column sign decides those.

use ssb_core::num_complex::Complex64;
use ssb_core::{BandPoint, agreement_band_points};

use crate::{Error, Session};

/// Values of spectra asked at a time.
const MOST_VALUES: usize = 1 << 21;

/// A ratio of curl and divergence above this says nothing.
const LEAST_CONTRAST: f64 = 0.5;

/// The rotation that leaves the least curl.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct RotationEstimate {
    /// The angle in deg, from -90 to 90; 180 degrees away is equally good.
    pub rotation_deg: f64,
    /// `sum |curl|^2` there over the same 90 degrees away: 0 is a perfect gradient field, 1 says nothing.
    pub curl_ratio: f64,
}

impl RotationEstimate {
    /// Whether the curl says where the rotation is.
    #[must_use]
    pub fn is_clear(&self) -> bool {
        self.curl_ratio <= LEAST_CONTRAST
    }
}

impl Session {
    /// Estimates the scan-detector rotation from the curl of the centre of mass of the bright-field disk.
    ///
    /// Good to a few degrees, and only where the centre of mass follows a phase gradient: near focus, in a thin
    /// specimen. A fit that searches the rotation around it is far more accurate.
    ///
    /// # Errors
    /// As [`ssb_core::Evaluator::spectra`], or a scan without a frequency to look at.
    pub fn rotation_from_curl(&self) -> Result<RotationEstimate, Error> {
        let geometry = self.geometry();
        let points: Vec<BandPoint> = agreement_band_points(geometry);
        let k = geometry.k_per_a(0.0);
        let apertures = geometry.apertures(0.0);
        let (q_row, q_col) = (geometry.q_row_per_a(), geometry.q_col_per_a());
        let (mut curl2, mut divergence2, mut both) = (0.0, 0.0, 0.0);
        for points in points.chunks((MOST_VALUES / k.len()).max(1)) {
            let spectra = self.spectra(points)?;
            for (point, column) in points.iter().zip(spectra.columns()) {
                let mut centre = [Complex64::default(); 2];
                for ((z, k), a) in column.iter().zip(&k).zip(&apertures) {
                    if *a > 0.0 {
                        let z = Complex64::new(f64::from(z.re), f64::from(z.im));
                        centre[0] += z * k[0];
                        centre[1] += z * k[1];
                    }
                }
                let q = [q_row[point.row], q_col[point.col]];
                let curl = centre[1] * q[0] - centre[0] * q[1];
                let divergence = centre[0] * q[0] + centre[1] * q[1];
                let weight = f64::from(point.weight) / (q[0] * q[0] + q[1] * q[1]);
                curl2 += weight * curl.norm_sqr();
                divergence2 += weight * divergence.norm_sqr();
                both += weight * (curl * divergence.conj()).re;
            }
        }
        if curl2 + divergence2 <= 0.0 {
            return Err(Error::request(
                "rotation",
                "no scan frequency of the band tells curl from divergence",
                "scan a larger field, or give --rotation-deg",
            ));
        }
        // |cos t curl + sin t divergence|^2 = mean + (curl2 - divergence2)/2 cos 2t + both sin 2t.
        let mean = 0.5 * (curl2 + divergence2);
        let swing = (0.5 * (curl2 - divergence2)).hypot(both);
        let least = 0.5 * (both.atan2(0.5 * (curl2 - divergence2)) + std::f64::consts::PI);
        let rotation_deg = least.to_degrees();
        Ok(RotationEstimate {
            rotation_deg: rotation_deg - 180.0 * (rotation_deg / 180.0).round(),
            curl_ratio: (mean - swing).max(0.0) / (mean + swing),
        })
    }
}
