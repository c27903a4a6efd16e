//! Wavelength, scan frequencies, detector coordinates and the soft aperture (numerics section 1).

use crate::{AgreementBand, BfDisk, Calibration, Candidate, Error, Evidence};

const PLANCK_J_S: f64 = 6.626_070_15e-34;
const ELECTRON_MASS_KG: f64 = 9.109_383_701_5e-31;
const ELECTRON_CHARGE_C: f64 = 1.602_176_634e-19;
const LIGHT_SPEED_M_PER_S: f64 = 299_792_458.0;

/// Relativistic electron wavelength in Å: `h / sqrt(2 m e V (1 + eV / 2mc^2))`.
///
/// ```
/// assert!((ssb_core::wavelength_a(300.0) - 0.019_687_489_006_849).abs() < 1e-15);
/// ```
#[must_use]
pub fn wavelength_a(voltage_kv: f64) -> f64 {
    let volts = voltage_kv * 1e3;
    let relativistic =
        1.0 + ELECTRON_CHARGE_C * volts / (2.0 * ELECTRON_MASS_KG * LIGHT_SPEED_M_PER_S.powi(2));
    1e10 * PLANCK_J_S / (2.0 * ELECTRON_MASS_KG * ELECTRON_CHARGE_C * volts * relativistic).sqrt()
}

/// Frequencies of an `n`-point discrete Fourier transform in 1/Å, in its output order
/// (`0, 1, .., -2, -1` over `n * step`; an even length counts its Nyquist line as negative).
#[must_use]
pub fn fft_frequencies(n: usize, step_a: f64) -> Vec<f64> {
    let scale = 1.0 / (n as f64 * step_a);
    (0..n)
        .map(|i| {
            if i < n.div_ceil(2) {
                i as f64 * scale
            } else {
                (i as f64 - n as f64) * scale
            }
        })
        .collect()
}

/// The soft aperture `A(u)`, one detector pixel wide at its edge.
///
/// `u` in 1/Å, `det_step_rad` and `semiangle_rad` in radians; from 0 (dark) to 1 (open).
#[must_use]
pub fn aperture(u: [f64; 2], wavelength_a: f64, semiangle_rad: f64, det_step_rad: [f64; 2]) -> f64 {
    let r = u[0].hypot(u[1]);
    let edge = if r > 0.0 {
        (u[0] * det_step_rad[0]).hypot(u[1] * det_step_rad[1]) / r
    } else {
        det_step_rad[0]
    };
    ((semiangle_rad - r * wavelength_a) / edge + 0.5).clamp(0.0, 1.0)
}

/// The calibrated acquisition with its BF pixels, in Å, 1/Å and radians.
#[derive(Debug, Clone, PartialEq)]
pub struct Geometry {
    /// Electron wavelength in Å.
    pub wavelength_a: f64,
    /// Convergence semi-angle in radians.
    pub semiangle_rad: f64,
    /// Detector step (row, col) in radians per pixel.
    pub det_step_rad: [f64; 2],
    /// Scan step (row, col) in Å.
    pub scan_step_a: [f64; 2],
    /// Scan positions (rows, cols).
    pub scan_shape: [usize; 2],
    /// Scan-detector rotation in degrees.
    pub rotation_deg: f64,
    /// Detector coordinates of the BF pixels in 1/Å before the rotation.
    unrotated_k_per_a: Vec<[f64; 2]>,
}

impl Geometry {
    /// Places the BF pixels of `disk` in reciprocal space.
    ///
    /// # Errors
    /// [`Error::BadEvidence`] for a scan with an axis below 2 or an empty disk.
    pub fn new(
        calibration: &Calibration,
        scan_shape: [usize; 2],
        disk: &BfDisk,
    ) -> Result<Self, Error> {
        if scan_shape.iter().any(|n| *n < 2) || disk.pixels.is_empty() {
            return Err(Error::BadEvidence {
                object: "scan and bright-field disk".into(),
                expected: "a scan of at least 2 x 2 positions and at least one BF pixel".into(),
                found: format!(
                    "{} x {} positions, {} BF pixels",
                    scan_shape[0],
                    scan_shape[1],
                    disk.pixels.len()
                ),
                action: "check --scan-shape and the bright-field disk".into(),
            });
        }
        let wavelength_a = wavelength_a(calibration.voltage_kv.value);
        let det_step_rad = calibration.det_step_mrad.value.map(|s| s * 1e-3);
        let unrotated_k_per_a = disk
            .pixels
            .iter()
            .map(|p| {
                [0, 1].map(|axis| {
                    (f64::from(p[axis]) - disk.center_px[axis])
                        * (det_step_rad[axis] / wavelength_a)
                })
            })
            .collect();
        Ok(Self {
            wavelength_a,
            semiangle_rad: calibration.semiangle_mrad.value * 1e-3,
            det_step_rad,
            scan_step_a: calibration.scan_step_a.value,
            scan_shape,
            rotation_deg: calibration.rotation_deg.value,
            unrotated_k_per_a,
        })
    }

    /// Number of BF pixels.
    #[must_use]
    pub fn bf_pixels(&self) -> usize {
        self.unrotated_k_per_a.len()
    }

    /// The rotation that a candidate is evaluated with, in degrees.
    #[must_use]
    pub fn rotation_of(&self, candidate: &Candidate) -> f64 {
        candidate.rotation_deg.unwrap_or(self.rotation_deg)
    }

    /// Detector coordinates `k_b` in 1/Å, rotated into the scan frame by `rotation_deg`.
    #[must_use]
    pub fn k_per_a(&self, rotation_deg: f64) -> Vec<[f64; 2]> {
        let (sin, cos) = rotation_deg.to_radians().sin_cos();
        self.unrotated_k_per_a
            .iter()
            .map(|[row, col]| [row * cos - col * sin, row * sin + col * cos])
            .collect()
    }

    /// Scan frequencies along the rows axis in 1/Å, in transform order.
    #[must_use]
    pub fn q_row_per_a(&self) -> Vec<f64> {
        fft_frequencies(self.scan_shape[0], self.scan_step_a[0])
    }

    /// Scan frequencies along the columns axis in 1/Å, in transform order.
    #[must_use]
    pub fn q_col_per_a(&self) -> Vec<f64> {
        fft_frequencies(self.scan_shape[1], self.scan_step_a[1])
    }

    /// The soft aperture at `u` in 1/Å.
    #[must_use]
    pub fn aperture(&self, u: [f64; 2]) -> f64 {
        aperture(u, self.wavelength_a, self.semiangle_rad, self.det_step_rad)
    }

    /// `A(k_b)` of every BF pixel for a rotation in degrees; 0 marks an inactive pixel.
    #[must_use]
    pub fn apertures(&self, rotation_deg: f64) -> Vec<f64> {
        self.k_per_a(rotation_deg)
            .into_iter()
            .map(|k| self.aperture(k))
            .collect()
    }

    /// BF pixels with a non-zero aperture at the acquisition's rotation.
    #[must_use]
    pub fn bf_active(&self) -> usize {
        self.apertures(self.rotation_deg)
            .iter()
            .filter(|a| **a > 0.0)
            .count()
    }

    /// The band of `|q|` over which the agreement S sums (numerics section 4), in 1/Å.
    #[must_use]
    pub fn agreement_band(&self) -> AgreementBand {
        let nyquist = 0.5 / self.scan_step_a[0].max(self.scan_step_a[1]);
        let hi = (0.9_f64)
            .min(1.8 * self.semiangle_rad / self.wavelength_a)
            .min(0.9 * nyquist);
        AgreementBand {
            lo_per_a: (0.2_f64).min(hi / 4.0),
            hi_per_a: hi,
        }
    }
}

/// What a backend prepares: geometry and the counts of its BF pixels.
#[derive(Debug, Clone)]
pub struct Problem {
    geometry: Geometry,
    evidence: Evidence,
}

impl Problem {
    /// Joins geometry and evidence.
    ///
    /// # Errors
    /// [`Error::BadEvidence`] when they disagree on the scan or the number of BF pixels, or when
    /// the mean count of the disk is not positive.
    pub fn new(geometry: Geometry, evidence: Evidence) -> Result<Self, Error> {
        let bad = |object: &str, expected: String, found: String| Error::BadEvidence {
            object: object.into(),
            expected,
            found,
            action: "check the scan shape and the bright-field disk".into(),
        };
        if geometry.scan_shape != evidence.scan_shape() || geometry.bf_pixels() != evidence.len() {
            return Err(bad(
                "bright-field columns",
                format!(
                    "{} pixels over {:?}",
                    geometry.bf_pixels(),
                    geometry.scan_shape
                ),
                format!("{} pixels over {:?}", evidence.len(), evidence.scan_shape()),
            ));
        }
        let dc = evidence.dc();
        if !(dc.is_finite() && dc > 0.0) {
            return Err(bad(
                "sum of the bright-field counts",
                "a positive mean".into(),
                format!("{dc}"),
            ));
        }
        if geometry.bf_active() == 0 {
            return Err(Error::NoDisk {
                problem: format!(
                    "none of the {} selected pixels lies inside the {} mrad aperture",
                    geometry.bf_pixels(),
                    geometry.semiangle_rad * 1e3
                ),
                action: "check --det-step-mrad, --semiangle-mrad and --bf-center".into(),
            });
        }
        Ok(Self { geometry, evidence })
    }

    /// The acquisition's geometry.
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The counts.
    #[must_use]
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// Splits into geometry and counts, so that a backend can free the latter.
    #[must_use]
    pub fn into_parts(self) -> (Geometry, Evidence) {
        (self.geometry, self.evidence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wavelengths_of_common_voltages() {
        for (kv, a) in [
            (80.0, 0.041_757_160_772_834),
            (200.0, 0.025_079_340_450_548),
            (300.0, 0.019_687_489_006_849),
        ] {
            assert!((wavelength_a(kv) - a).abs() < 1e-15, "{kv} kV");
        }
    }

    #[test]
    fn frequencies_follow_the_transform_order() {
        assert_eq!(fft_frequencies(4, 0.5), [0.0, 0.5, -1.0, -0.5]);
        assert_eq!(fft_frequencies(5, 0.2), [0.0, 1.0, 2.0, -2.0, -1.0]);
    }

    #[test]
    fn aperture_is_half_at_the_semi_angle() {
        let (l, s) = (0.02, 20e-3);
        assert!((aperture([s / l, 0.0], l, s, [1e-3, 2e-3]) - 0.5).abs() < 1e-12);
        assert!((aperture([0.0, (s + 0.5e-3) / l], l, s, [1e-3, 2e-3]) - 0.25).abs() < 1e-12);
        assert_eq!(aperture([0.0, 0.0], l, s, [1e-3, 2e-3]), 1.0);
        assert_eq!(aperture([2.0, 0.0], l, s, [1e-3, 1e-3]), 0.0);
    }
}
