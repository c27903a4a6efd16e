//! Each kernel proves itself on one BF pixel before its first use on a device: CubeCL only logs a launch that
//! failed, and old data would pass for a result.
//!
//! The reference is the definition of numerics section 1 in float64 on the host, for one BF pixel and a candidate
//! that is neither flat nor degenerate.

use std::collections::BTreeSet;
use std::f64::consts::TAU;
use std::sync::{Mutex, PoisonError};

use cubecl::prelude::*;
use num_complex::Complex64;
use rayon::prelude::*;
use rustfft::{FftDirection, FftPlanner};
use ssb_core::own_terms::OWN_TERMS;
use ssb_core::{Angle, Candidate, Chi, Control, Error, Geometry, Length, TERMS, Term};

use super::KernelEvaluator;
use crate::kernel::fourier_sum::Summand;
use crate::kernel::layout::Model;

/// Largest relative error (of the root mean square) that passes: far above rounding, far below a fault.
const BOUND: f64 = 1e-3;

/// What has proved itself in this process: device, kernels and model.
static PROVED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// The one BF pixel that kernels are tried on.
pub(super) struct Proof {
    /// Its place among the stored pixels.
    pub(super) place: usize,
    /// Its counts.
    pub(super) counts: Vec<f64>,
}

/// What the kernels should find for one BF pixel.
struct Expected {
    /// `S = -i C` over the whole plane, rows by columns, in units of the DC value.
    spectrum: Vec<Complex64>,
    phase_rad: Vec<f64>,
}

impl<R: Runtime> KernelEvaluator<R> {
    /// Proves the kernels of the loss for a model, once a process and device.
    pub(super) fn prove_loss(&mut self, model: Model, control: &Control) -> Result<(), Error> {
        self.prove("phase", model, control, |evaluator, candidate, expected| {
            let candidates = std::slice::from_ref(candidate);
            let mut sums = evaluator.phase_sums_of(candidates, true, control)?;
            let got = evaluator.image_of(sums.remove(0).1)?;
            Ok(distance(&got, &expected.phase_rad, |v| v * v))
        })
    }

    /// Proves the sums over b for a model, once a process and device.
    pub(super) fn prove_sums(
        &mut self,
        model: Model,
        summand: Summand,
        control: &Control,
    ) -> Result<(), Error> {
        // The overlap is the corrected value times |Gamma|: both come from one kernel file, and the
        // corrected one is compared.
        let name = match summand {
            Summand::Corrected => "Fourier sum",
            Summand::Overlap => "agreement",
        };
        self.prove(name, model, control, |evaluator, candidate, expected| {
            let scan = evaluator.plan.request.scan;
            let list: Vec<u32> = (0..scan.half())
                .flat_map(|col| (0..scan.rows).map(move |row| super::sums::word(row, col, false)))
                .collect();
            let planes = evaluator.sums_over(candidate, &list, summand, true, control)?;
            let (mut got, mut wanted) = (Vec::new(), Vec::new());
            for (i, _) in list.iter().enumerate() {
                let (row, col) = (i % scan.rows, i / scan.rows);
                let s = Complex64::new(planes[0][i], planes[1][i]);
                let exact = expected.spectrum[row * scan.cols + col];
                // Overlap over |Gamma| A(k) is the corrected value where |Gamma| is not small.
                let scale = match summand {
                    Summand::Corrected => 1.0,
                    Summand::Overlap => planes[2][i].sqrt(),
                };
                if scale > 1e-3 {
                    got.push(s / scale);
                    wanted.push(exact);
                }
            }
            Ok(distance(&got, &wanted, |z| z.norm_sqr()))
        })
    }

    fn prove(
        &mut self,
        what: &str,
        model: Model,
        control: &Control,
        run: impl FnOnce(&mut Self, &Candidate, &Expected) -> Result<f64, Error>,
    ) -> Result<(), Error> {
        let key = format!(
            "{} {} {what} {model:?} {:?} {:?} {}",
            self.info.backend,
            self.info.device,
            self.plan.columns,
            self.plan.rows,
            self.plan.topology
        );
        let proved = || PROVED.lock().unwrap_or_else(PoisonError::into_inner);
        if proved().contains(&key) {
            return Ok(());
        }
        control.check()?;
        let candidate = trial_candidate(&self.geometry, model, self.frame.rotation_deg);
        let expected = self.expected(&candidate);
        let error = run(self, &candidate, &expected)?;
        if error.is_nan() || error > BOUND {
            return Err(Error::Internal(format!(
                "self-test of the {} backend on {}: the {what} kernels ({}, {model:?}) are off by {error:.1e} of the \
                 float64 value, at most {BOUND:.0e} is rounding; use another backend and report this",
                self.info.backend, self.info.device, self.plan.topology
            )));
        }
        tracing::info!("self-test: {what} {model:?} within {error:.1e}");
        proved().insert(key);
        Ok(())
    }

    /// The definition in float64 for the one BF pixel.
    fn expected(&self, candidate: &Candidate) -> Expected {
        let scan = self.plan.request.scan;
        let (rows, cols) = (scan.rows, scan.cols);
        let k = self.frame.k_per_a[self.proof.place];
        let open = self.frame.apertures[self.proof.place] > 0.0;
        let (q_row, q_col) = (self.geometry.q_row_per_a(), self.geometry.q_col_per_a());
        let mut plane: Vec<Complex64> = self
            .proof
            .counts
            .iter()
            .map(|v| Complex64::from(v / self.info.dc))
            .collect();
        transform(&mut plane, rows, cols, FftDirection::Forward);
        let chi = Chi::new(&candidate.aberrations, self.geometry.wavelength_a);
        plane.par_iter_mut().enumerate().for_each(|(i, z)| {
            let q = [q_row[i / cols], q_col[i % cols]];
            let gamma = gamma(&self.geometry, &chi, candidate, k, q);
            *z = if open && i > 0 {
                *z * gamma.conj() / gamma.norm().max(1e-8)
            } else {
                Complex64::default()
            };
        });
        let spectrum = plane.iter().map(|z| -Complex64::i() * z).collect();
        plane[0] = Complex64::from(1.0);
        transform(&mut plane, rows, cols, FftDirection::Inverse);
        Expected {
            spectrum,
            phase_rad: plane.iter().map(|z| z.arg()).collect(),
        }
    }
}

/// Gamma of numerics sections 1 and 4.
fn gamma(
    geometry: &Geometry,
    chi: &Chi,
    candidate: &Candidate,
    k: [f64; 2],
    q: [f64; 2],
) -> Complex64 {
    let half_depth_a = candidate.depth_spread_nm * 5.0;
    let tilt: f64 = (0..2).map(|i| q[i] * candidate.tilt_mrad[i] * 1e-3).sum();
    let square = |u: [f64; 2]| u[0] * u[0] + u[1] * u[1];
    let side = |sign: f64| {
        let u = [k[0] + sign * q[0], k[1] + sign * q[1]];
        let bend = 0.5 * geometry.wavelength_a * (square(u) - square(k));
        let y = TAU * half_depth_a * (sign * bend - tilt);
        let sinc = if y.abs() < 1e-6 { 1.0 } else { y.sin() / y };
        let phase = sign * (chi.radians(u) - chi.radians(k));
        Complex64::from_polar(geometry.aperture(u) * sinc, phase)
    };
    geometry.aperture(k) * (side(-1.0) - side(1.0))
}

fn transform(plane: &mut [Complex64], rows: usize, cols: usize, direction: FftDirection) {
    let mut planner = FftPlanner::new();
    planner.plan_fft(cols, direction).process(plane);
    let by_rows = planner.plan_fft(rows, direction);
    let mut column = vec![Complex64::default(); rows];
    for c in 0..cols {
        for (r, z) in column.iter_mut().enumerate() {
            *z = plane[r * cols + c];
        }
        by_rows.process(&mut column);
        for (r, z) in column.iter().enumerate() {
            plane[r * cols + c] = *z;
        }
    }
}

/// A few radians of every kind that the model has, at the edge of the aperture.
fn trial_candidate(geometry: &Geometry, model: Model, rotation_deg: f64) -> Candidate {
    let length = |term: &Term, edge_rad: f64| {
        Length::from_a(term.magnitude_a(edge_rad, geometry.semiangle_rad, geometry.wavelength_a))
    };
    let mut candidate = Candidate {
        rotation_deg: Some(rotation_deg),
        ..Candidate::default()
    };
    let terms = match (model.polynomial, model.own) {
        (false, _) => 2,
        (true, false) => TERMS.len() - OWN_TERMS,
        (true, true) => TERMS.len(),
    };
    for (index, term) in TERMS.iter().enumerate().take(terms) {
        let angle = Angle::from_rad(if term.m == 0 { 0.0 } else { 0.3 });
        let edge_rad = if index < 2 { 2.3 - index as f64 } else { 0.4 };
        candidate.aberrations = candidate
            .aberrations
            .with(index, length(term, edge_rad), angle);
    }
    if model.thick {
        candidate.depth_spread_nm = 8.0;
        candidate.tilt_mrad = [3.0, -2.0];
    }
    candidate
}

/// Root mean square of the differences over that of the exact values; NaN when there is nothing.
fn distance<T: Copy + std::ops::Sub<Output = T>>(
    got: &[T],
    exact: &[T],
    square: impl Fn(T) -> f64,
) -> f64 {
    let wrong: f64 = got.iter().zip(exact).map(|(a, b)| square(*a - *b)).sum();
    let size: f64 = exact.iter().map(|v| square(*v)).sum();
    (wrong / size).sqrt()
}
