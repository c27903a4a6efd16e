//! Seeded synthetic problems: a random weak phase object under random aberrations, with counting
//! noise, over any scan shape.
//!
//! The mean counts of BF pixel b follow the weak-phase model
//! `I_b(R) = I_0 [A(k_b)^2 + background + Re IFFT2(i phi(q) Gamma_b(q))]`, the model that the
//! correction inverts, so that phases carry structure and not noise alone.

use ssb_core::ndarray::Array2;
use ssb_core::num_complex::Complex64;
use ssb_core::{
    BfDisk, Calibration, Candidate, Columns, Evidence, Geometry, Problem, Sample, Sourced,
};
use ssb_cpu_oracle::{Gamma, Transform};

use crate::Error;
use crate::candidates;
use crate::conditioning::has_marginal_point;
use crate::simulate::draw::Draws;

mod benchmark;
mod problems;

pub use benchmark::benchmark_problem;
pub use problems::{LARGE_PROBLEMS, PROBLEMS};

/// The type in which the counts are stored, and what makes it special.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// Counts as `uint8`.
    U8,
    /// Counts as `uint16`.
    U16,
    /// Counts as `uint32`.
    U32,
    /// Counts less a dark level of 3, as `int16`: some are negative.
    I16,
    /// Counts times a gain of 0.37 plus read-out noise, as `float32`.
    F32,
    /// The noiseless mean, as `float64`.
    F64,
}

/// A recipe for one problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Synthetic {
    /// Name in reports.
    pub name: &'static str,
    /// Seed of object, aberrations, noise and sub-pixel centre.
    pub seed: u64,
    /// Scan positions (rows, cols).
    pub scan_shape: [usize; 2],
    /// Scan step (row, col) in Å.
    pub scan_step_a: [f64; 2],
    /// Beam energy in kV.
    pub voltage_kv: f64,
    /// Convergence semi-angle in mrad.
    pub semiangle_mrad: f64,
    /// Detector step (row, col) in mrad per pixel.
    pub det_step_mrad: [f64; 2],
    /// Whether the disk's centre lies exactly between pixels; otherwise it is drawn.
    pub symmetric: bool,
    /// Radius of the selected disk in pixels; beyond the aperture's it holds dark pixels.
    pub radius_px: f64,
    /// Scan-detector rotation in degrees.
    pub rotation_deg: f64,
    /// Counts `I_0` of an open pixel at one position.
    pub counts: f64,
    /// How the counts are stored.
    pub stored: Stored,
}

/// Draws of the sub-pixel centre, or of a candidate, before a recipe is called faulty.
pub(crate) const MAX_DRAWS: u64 = 64;

impl Synthetic {
    fn calibration(&self) -> Calibration {
        let one = |value| Sourced::new(value, "synthetic");
        let two = |value| Sourced::new(value, "synthetic");
        Calibration {
            voltage_kv: one(self.voltage_kv),
            semiangle_mrad: one(self.semiangle_mrad),
            scan_step_a: two(self.scan_step_a),
            det_step_mrad: two(self.det_step_mrad),
            rotation_deg: one(self.rotation_deg),
        }
    }

    /// The disk with its centre shifted by `offset_px` from the middle of the detector.
    fn disk(&self, offset_px: [f64; 2]) -> BfDisk {
        let half = self.radius_px.ceil() as u32 + 1;
        let center_px = offset_px.map(|o| f64::from(half) - 0.5 + o);
        let all = (0..2 * half).flat_map(|r| (0..2 * half).map(move |c| [r, c]));
        let inside = |p: &[u32; 2]| {
            (f64::from(p[0]) - center_px[0]).hypot(f64::from(p[1]) - center_px[1]) <= self.radius_px
        };
        BfDisk {
            center_px,
            radius_px: self.radius_px,
            pixels: all.filter(inside).collect(),
        }
    }

    /// A geometry at which none of the fixed candidates meets a marginal point.
    fn geometry(&self) -> Result<Geometry, Error> {
        for draw in 0..MAX_DRAWS {
            let mut random = Draws::new(self.seed, 1 + draw);
            let offset_px = if self.symmetric {
                [0.0; 2]
            } else {
                [random.between(-0.5, 0.5), random.between(-0.5, 0.5)]
            };
            let geometry =
                Geometry::new(&self.calibration(), self.scan_shape, &self.disk(offset_px))?;
            if !candidates::fixed()
                .iter()
                .any(|c| has_marginal_point(&geometry, &c.candidate))
            {
                return Ok(geometry);
            }
            if self.symmetric {
                break;
            }
        }
        Err(Error::Marginal {
            problem: self.name.into(),
            object: "the fixed candidates".into(),
        })
    }

    /// The problem.
    ///
    /// # Errors
    /// [`Error::Marginal`] when no centre keeps the fixed candidates off marginal points;
    /// [`Error::Core`] for an impossible recipe.
    pub fn problem(&self) -> Result<Problem, Error> {
        let geometry = self.geometry()?;
        let mut random = Draws::new(self.seed, 0);
        let truth = candidates::low_order(&mut random);
        let spectrum = self.object_spectrum(&mut random);
        let points = self.scan_shape[0] * self.scan_shape[1];
        let mut values = Array2::zeros((geometry.bf_pixels(), points));
        for (b, k) in geometry
            .k_per_a(geometry.rotation_deg)
            .into_iter()
            .enumerate()
        {
            let mean = self.mean_counts(&geometry, &truth, k, &spectrum);
            for (to, mean) in values.row_mut(b).iter_mut().zip(mean) {
                *to = self.stored.sample(mean, &mut random);
            }
        }
        let evidence = Evidence::new(self.scan_shape, self.stored.columns(&values)?)?;
        Ok(Problem::new(geometry, evidence)?)
    }

    /// The transform of a real random phase of some 0.15 rad, smooth over a few Å.
    fn object_spectrum(&self, random: &mut Draws) -> Vec<Complex64> {
        let [rows, cols] = self.scan_shape;
        let transform = Transform::new(self.scan_shape);
        let mut field: Vec<Complex64> = (0..rows * cols)
            .map(|_| Complex64::from(random.normal()))
            .collect();
        transform.forward(&mut field);
        for (i, value) in field.iter_mut().enumerate() {
            let along = |i: usize, n: usize, step: f64| i.min(n - i) as f64 / (n as f64 * step);
            let q_per_a = along(i / cols, rows, self.scan_step_a[0]).hypot(along(
                i % cols,
                cols,
                self.scan_step_a[1],
            ));
            *value *= (-(q_per_a / 0.8).powi(2)).exp();
        }
        field[0] = Complex64::ZERO;
        let power: f64 = field.iter().map(Complex64::norm_sqr).sum();
        let rms_rad = power.sqrt() / (rows * cols) as f64;
        field.iter().map(|v| v * (0.15 / rms_rad)).collect()
    }

    fn mean_counts(
        &self,
        geometry: &Geometry,
        truth: &Candidate,
        k: [f64; 2],
        spectrum: &[Complex64],
    ) -> Vec<f64> {
        let overlaps = Gamma::new(geometry, truth, k).plane();
        let mut image: Vec<Complex64> = overlaps
            .iter()
            .zip(spectrum)
            .map(|(overlap, phase)| Complex64::i() * phase * overlap.gamma)
            .collect();
        Transform::new(self.scan_shape).inverse(&mut image);
        let open = ssb_cpu_oracle::aperture(k, geometry).powi(2) + 0.03;
        image
            .iter()
            .map(|signal| self.counts * (open + signal.re).max(0.01))
            .collect()
    }
}

impl Stored {
    fn sample(self, mean: f64, random: &mut Draws) -> f64 {
        match self {
            Self::U8 | Self::U16 | Self::U32 => random.poisson(mean) as f64,
            Self::I16 => random.poisson(mean) as f64 - 3.0,
            Self::F32 => 0.37 * random.poisson(mean) as f64 + 0.1 * random.normal(),
            Self::F64 => mean,
        }
    }

    fn columns(self, values: &Array2<f64>) -> Result<Columns, Error> {
        let (lo, hi) = match self {
            Self::U8 => (0.0, f64::from(u8::MAX)),
            Self::U16 => (0.0, f64::from(u16::MAX)),
            Self::U32 => (0.0, f64::from(u32::MAX)),
            Self::I16 => (f64::from(i16::MIN), f64::from(i16::MAX)),
            Self::F32 | Self::F64 => (f64::MIN, f64::MAX),
        };
        if let Some(value) = values.iter().find(|v| !(lo..=hi).contains(*v)) {
            return Err(Error::OutOfRange {
                stored: self,
                value: *value,
            });
        }
        Ok(match self {
            Self::U8 => u8::columns(values.mapv(|v| v as u8)),
            Self::U16 => u16::columns(values.mapv(|v| v as u16)),
            Self::U32 => u32::columns(values.mapv(|v| v as u32)),
            Self::I16 => i16::columns(values.mapv(|v| v as i16)),
            Self::F32 => f32::columns(values.mapv(|v| v as f32)),
            Self::F64 => f64::columns(values.clone()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_cover_what_they_are_meant_to() {
        let mut dark_somewhere = 0;
        for recipe in PROBLEMS.iter().chain(LARGE_PROBLEMS) {
            let problem = recipe.problem().unwrap();
            let (b, active) = (
                problem.geometry().bf_pixels(),
                problem.geometry().bf_active(),
            );
            assert!((30..=120).contains(&b), "{}: {b} BF pixels", recipe.name);
            dark_somewhere += usize::from(active < b);
        }
        assert!(dark_somewhere >= PROBLEMS.len() / 2);
    }

    #[test]
    fn the_same_seed_gives_the_same_counts() {
        let (a, b) = (
            PROBLEMS[2].problem().unwrap(),
            PROBLEMS[2].problem().unwrap(),
        );
        assert_eq!(a.geometry(), b.geometry());
        for i in 0..a.evidence().len() {
            assert_eq!(a.evidence().sum(i), b.evidence().sum(i));
        }
    }

    #[test]
    fn a_type_too_narrow_for_the_counts_is_refused() {
        let narrow = Synthetic {
            counts: 1e4,
            stored: Stored::U8,
            ..PROBLEMS[2].clone()
        };
        assert!(matches!(narrow.problem(), Err(Error::OutOfRange { .. })));
    }
}
