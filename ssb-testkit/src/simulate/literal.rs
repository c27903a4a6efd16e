//! The image formation written out from its definition, to hold the simulator against.

use std::f64::consts::{PI, TAU};

use ndarray::Array2;
use ssb_core::num_complex::Complex64;
use ssb_core::{TERMS, ndarray, wavelength_a};

use super::Simulation;

/// A simulation with its sums written out.
pub(super) struct Literal {
    simulation: Simulation,
    pub(super) wavelength_a: f64,
}

impl Literal {
    pub(super) fn new(simulation: &Simulation) -> Self {
        let wavelength_a = wavelength_a(simulation.calibration.voltage_kv.value);
        Self {
            simulation: simulation.clone(),
            wavelength_a,
        }
    }

    pub(super) fn k(&self, pixel: [usize; 2]) -> [f64; 2] {
        let c = &self.simulation.calibration;
        let [r, s] = [0, 1].map(|i| {
            (pixel[i] as f64 - self.simulation.bf_center_px[i]) * c.det_step_mrad.value[i] * 1e-3
                / self.wavelength_a
        });
        let t = c.rotation_deg.value * PI / 180.0;
        [r * t.cos() - s * t.sin(), r * t.sin() + s * t.cos()]
    }

    fn open(&self, u: [f64; 2]) -> f64 {
        let c = &self.simulation.calibration;
        let alpha = self.wavelength_a * u[0].hypot(u[1]);
        let phi = u[1].atan2(u[0]);
        let edge =
            (phi.cos() * c.det_step_mrad.value[0]).hypot(phi.sin() * c.det_step_mrad.value[1]);
        ((c.semiangle_mrad.value - 1e3 * alpha) / edge + 0.5).clamp(0.0, 1.0)
    }

    /// `P(u)` by the definition of numerics section 1.
    pub(super) fn probe(&self, u: [f64; 2]) -> Complex64 {
        let alpha = self.wavelength_a * u[0].hypot(u[1]);
        let phi = u[1].atan2(u[0]);
        let chi: f64 = TERMS
            .iter()
            .zip(self.simulation.aberrations.values())
            .map(|(t, v)| {
                if let Some(path) = t.own {
                    return v.magnitude_a * path(u.map(|u| u * self.wavelength_a), v.angle_rad);
                }
                v.magnitude_a / f64::from(t.n + 1)
                    * alpha.powi(t.n as i32 + 1)
                    * (f64::from(t.m) * (phi - v.angle_rad)).cos()
            })
            .sum();
        Complex64::from_polar(self.open(u), -TAU / self.wavelength_a * chi)
    }

    /// `|A|^2` summed over a detector large enough for the whole beam.
    pub(super) fn beam(&self) -> f64 {
        let mut sum = 0.0;
        let mut wide = self.simulation.clone();
        wide.bf_center_px = self.simulation.bf_center_px.map(|c| c + 100.0);
        let wide = Self::new(&wide);
        for r in 0..200 {
            for c in 0..200 {
                sum += self.open(wide.k([r, c])).powi(2);
            }
        }
        sum
    }

    pub(super) fn field_a(&self) -> [f64; 2] {
        let step = self.simulation.calibration.scan_step_a.value;
        [0, 1].map(|i| self.simulation.scan_shape[i] as f64 * step[i])
    }

    /// `sum_g O_g P(k - g) exp(2 pi i g.R)` with `O_g` from the phase at the given samples.
    pub(super) fn intensity(&self, phase: &Array2<f64>, pixel: [usize; 2], at: [usize; 2]) -> f64 {
        let (rows, cols) = phase.dim();
        let field = self.field_a();
        let [shape_r, shape_c] = self.simulation.scan_shape;
        let k = self.k(pixel);
        let mut psi = Complex64::default();
        for g_row in -(rows as i64 / 2)..(rows as i64 + 1) / 2 {
            for g_col in -(cols as i64 / 2)..(cols as i64 + 1) / 2 {
                let p = self.probe([
                    k[0] - g_row as f64 / field[0],
                    k[1] - g_col as f64 / field[1],
                ]);
                if p.norm() == 0.0 {
                    continue;
                }
                let coefficient: Complex64 = phase
                    .indexed_iter()
                    .map(|((r, c), v)| {
                        let turns = g_row as f64 * r as f64 / rows as f64
                            + g_col as f64 * c as f64 / cols as f64;
                        Complex64::cis(v - TAU * turns)
                    })
                    .sum::<Complex64>()
                    / (rows * cols) as f64;
                let turns = g_row as f64 * at[0] as f64 / shape_r as f64
                    + g_col as f64 * at[1] as f64 / shape_c as f64;
                psi += coefficient * p * Complex64::cis(TAU * turns);
            }
        }
        psi.norm_sqr() * self.simulation.electrons_per_pattern / self.beam()
    }
}
