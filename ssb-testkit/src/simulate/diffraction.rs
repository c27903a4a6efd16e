//! The intensity that every scan position sends to one point of the detector.
//!
//! A thin periodic object `o(r) = exp(i phase)` with Fourier coefficients `O_g` gives, exactly,
//!
//! ```text
//! Psi_k(R) = sum_g O_g P(k - g) exp(2 pi i g.R),      P(u) = A(u) exp(-i chi(u))
//! ```
//!
//! for any `k`, rotated and between pixels, so that no detector is interpolated. A thick specimen
//! is cut into slices of equal phase at depths `z_s` about mid-depth, downstream positive; with a
//! tilt `theta` the slice at `z` lies shifted by `z theta`. The beam is followed by multislice
//! (transmission, then Fresnel propagation `exp(-i pi lambda dz |u|^2)`), but backwards from the
//! detector: by reciprocity one pass over the slices serves all scan positions,
//!
//! ```text
//! v <- t_s v,    v_g <- v_g exp(-i pi lambda dz (|k - g|^2 - |k|^2)),    last to first slice,
//! Psi_k(R) = sum_g v_g exp(-i pi lambda z_1 (|k - g|^2 - |k|^2)) P(k - g) exp(2 pi i g.R)
//! ```
//!
//! where `t_s = exp(i phase / S)`. One slice at depth 0 is the thin object. A slice at `z` sees
//! `C10 + z`, as in numerics section 4.

use std::f64::consts::{PI, TAU};

use ndarray::Array2;
use rustfft::FftDirection;
use ssb_core::num_complex::Complex64;
use ssb_core::{Chi, aperture, ndarray};

use super::plane::{Scratch, Transform, coefficients, signed};

/// The optics and the field of view, in Å, 1/Å and radians.
#[derive(Debug, Clone)]
pub(super) struct Optics {
    pub(super) wavelength_a: f64,
    pub(super) semiangle_rad: f64,
    pub(super) det_step_rad: [f64; 2],
    pub(super) field_a: [f64; 2],
    pub(super) chi: Chi,
}

impl Optics {
    pub(super) fn aperture(&self, u: [f64; 2]) -> f64 {
        aperture(u, self.wavelength_a, self.semiangle_rad, self.det_step_rad)
    }

    /// Beyond this |u| in 1/Å the aperture is dark.
    pub(super) fn edge_per_a(&self) -> f64 {
        let step = self.det_step_rad[0].max(self.det_step_rad[1]);
        (self.semiangle_rad + step) / self.wavelength_a
    }
}

/// What the beam passes.
enum Matter {
    /// Fourier coefficients of the thin object.
    Thin(Array2<Complex64>),
    Thick(Slices),
}

/// Transmission functions of the slices, first to last, and how to go from one to the next.
struct Slices {
    transmissions: Vec<Vec<Complex64>>,
    shape: [usize; 2],
    distance_a: f64,
    first_depth_a: f64,
    forward: Transform,
    inverse: Transform,
}

/// The diffraction of one specimen in one scan.
pub(super) struct Diffraction {
    optics: Optics,
    scan_shape: [usize; 2],
    to_scan: Transform,
    matter: Matter,
}

/// Memory of one thread.
pub(super) struct Workspace {
    scan: Vec<Complex64>,
    scan_scratch: Scratch,
    slice: Vec<Complex64>,
    slice_scratch: Option<Scratch>,
}

impl Diffraction {
    /// `phase_rad` on any grid over the field of view; `thickness_a` above 0 needs 2 or more
    /// slices.
    pub(super) fn new(
        optics: Optics,
        scan_shape: [usize; 2],
        phase_rad: &Array2<f64>,
        (thickness_a, slices): (f64, usize),
        tilt_rad: [f64; 2],
    ) -> Self {
        let matter = if thickness_a > 0.0 && slices > 1 {
            Matter::Thick(Slices::new(
                phase_rad,
                optics.field_a,
                (thickness_a, slices),
                tilt_rad,
            ))
        } else {
            Matter::Thin(coefficients(&phase_rad.mapv(Complex64::cis)))
        };
        Self {
            optics,
            scan_shape,
            to_scan: Transform::new(scan_shape, FftDirection::Inverse),
            matter,
        }
    }

    pub(super) fn workspace(&self) -> Workspace {
        let zero = Complex64::default();
        let (slice, slice_scratch) = match &self.matter {
            Matter::Thin(_) => (Vec::new(), None),
            Matter::Thick(s) => (
                vec![zero; s.shape[0] * s.shape[1]],
                Some(s.forward.scratch()),
            ),
        };
        Workspace {
            scan: vec![zero; self.scan_shape[0] * self.scan_shape[1]],
            scan_scratch: self.to_scan.scratch(),
            slice,
            slice_scratch,
        }
    }

    /// Adds `weight |Psi_k(R)|^2` for every scan position, row-major, to `intensity`.
    ///
    /// `negligible` is an intensity below which a whole detector point may be left out.
    pub(super) fn add_intensity(
        &self,
        k: [f64; 2],
        weight: f64,
        negligible: f64,
        memory: &mut Workspace,
        intensity: &mut [f64],
    ) {
        let Workspace {
            scan,
            scan_scratch,
            slice,
            slice_scratch,
        } = memory;
        scan.fill(Complex64::default());
        let bound = match (&self.matter, slice_scratch) {
            (Matter::Thin(object), _) => {
                let shape = [object.nrows(), object.ncols()];
                self.gather(k, 0.0, shape, |i, j| object[(i, j)], scan)
            }
            (Matter::Thick(slices), Some(scratch)) => {
                slices.backwards(k, &self.optics, slice, scratch);
                let cols = slices.shape[1];
                self.gather(
                    k,
                    slices.first_depth_a,
                    slices.shape,
                    |i, j| slice[i * cols + j],
                    scan,
                )
            }
            (Matter::Thick(_), None) => return,
        };
        if bound * bound * weight < negligible {
            return;
        }
        self.to_scan.run(scan, scan_scratch);
        for (sum, psi) in intensity.iter_mut().zip(scan.iter()) {
            *sum += weight * psi.norm_sqr();
        }
    }

    /// Adds `v_g P(k - g)`, with the specimen `depth_a` from the lens's reference plane, at the
    /// scan frequencies that `g` falls on; returns a bound of |Psi|.
    fn gather(
        &self,
        k: [f64; 2],
        depth_a: f64,
        shape: [usize; 2],
        coefficient: impl Fn(usize, usize) -> Complex64,
        scan: &mut [Complex64],
    ) -> f64 {
        let optics = &self.optics;
        let edge = optics.edge_per_a();
        // All g with |k - g| inside the aperture that the specimen's grid can hold.
        let [rows, cols] = [0, 1].map(|axis| {
            let n = shape[axis] as i64;
            let low = ((k[axis] - edge) * optics.field_a[axis]).ceil() as i64;
            let high = ((k[axis] + edge) * optics.field_a[axis]).floor() as i64;
            low.max(-(n / 2))..=high.min((n - 1) / 2)
        });
        let depth_turns = 0.5 * optics.wavelength_a * depth_a;
        let (about, own) = (optics.chi.polynomial_about(k), optics.chi.own());
        let mut bound = 0.0;
        for g_row in rows {
            let row_per_a = g_row as f64 / optics.field_a[0];
            let (even, odd) = about.at_row(row_per_a);
            let at = g_row.rem_euclid(self.scan_shape[0] as i64) as usize * self.scan_shape[1];
            let i = g_row.rem_euclid(shape[0] as i64) as usize;
            for g_col in cols.clone() {
                let col_per_a = g_col as f64 / optics.field_a[1];
                let open = optics.aperture([k[0] - row_per_a, k[1] - col_per_a]);
                if open == 0.0 {
                    continue;
                }
                // chi(k - g) - chi(k): the constant is a phase common to all R.
                let mut turns = even
                    .iter()
                    .zip(&odd)
                    .rev()
                    .fold(0.0, |sum, (e, o)| sum * col_per_a + (e - o));
                if !own.is_empty() {
                    turns += own.turns([k[0] - row_per_a, k[1] - col_per_a]) - own.turns(k);
                }
                let depth = depth_turns * beyond(k, [row_per_a, col_per_a]);
                let j = g_col.rem_euclid(shape[1] as i64) as usize;
                let value = coefficient(i, j) * open;
                bound += value.l1_norm();
                let column = g_col.rem_euclid(self.scan_shape[1] as i64) as usize;
                scan[at + column] += value * Complex64::cis(-TAU * (turns + depth));
            }
        }
        bound
    }
}

/// `|k - g|^2 - |k|^2`.
fn beyond(k: [f64; 2], g: [f64; 2]) -> f64 {
    g[0] * (g[0] - 2.0 * k[0]) + g[1] * (g[1] - 2.0 * k[1])
}

impl Slices {
    fn new(
        phase_rad: &Array2<f64>,
        field_a: [f64; 2],
        (thickness_a, count): (f64, usize),
        tilt_rad: [f64; 2],
    ) -> Self {
        let shape = [phase_rad.nrows(), phase_rad.ncols()];
        let forward = Transform::new(shape, FftDirection::Forward);
        let inverse = Transform::new(shape, FftDirection::Inverse);
        let mut scratch = inverse.scratch();
        let spectrum = coefficients(&phase_rad.mapv(Complex64::from));
        let distance_a = thickness_a / count as f64;
        let first_depth_a = 0.5 * (distance_a - thickness_a);
        let transmissions = (0..count)
            .map(|s| {
                let depth_a = first_depth_a + s as f64 * distance_a;
                let shift_a = tilt_rad.map(|t| depth_a * t);
                let mut slice: Vec<Complex64> = spectrum
                    .indexed_iter()
                    .map(|((i, j), value)| {
                        let turns = signed(i, shape[0]) as f64 * shift_a[0] / field_a[0]
                            + signed(j, shape[1]) as f64 * shift_a[1] / field_a[1];
                        value * Complex64::cis(-TAU * turns)
                    })
                    .collect();
                inverse.run(&mut slice, &mut scratch);
                for value in &mut slice {
                    *value = Complex64::cis(value.re / count as f64);
                }
                slice
            })
            .collect();
        Self {
            transmissions,
            shape,
            distance_a,
            first_depth_a,
            forward,
            inverse,
        }
    }

    /// Leaves in `field` the coefficients `v_g` before the first slice.
    fn backwards(
        &self,
        k: [f64; 2],
        optics: &Optics,
        field: &mut [Complex64],
        scratch: &mut Scratch,
    ) {
        let [rows, cols] = self.shape;
        let norm = 1.0 / (rows * cols) as f64;
        // The propagator is a product of a row and a column factor.
        let factors = [0, 1].map(|axis| -> Vec<Complex64> {
            let n = self.shape[axis];
            (0..n)
                .map(|i| {
                    let g = signed(i, n) as f64 / optics.field_a[axis];
                    let angle = -PI * optics.wavelength_a * self.distance_a;
                    Complex64::cis(angle * g * (g - 2.0 * k[axis]))
                })
                .collect()
        });
        field.fill(Complex64::from(1.0));
        for (passed, transmission) in self.transmissions.iter().rev().enumerate() {
            if passed > 0 {
                for (row, along) in field.chunks_exact_mut(cols).zip(&factors[0]) {
                    for (value, across) in row.iter_mut().zip(&factors[1]) {
                        *value *= along * across;
                    }
                }
                self.inverse.run(field, scratch);
            }
            for (value, t) in field.iter_mut().zip(transmission) {
                *value *= t * norm;
            }
            self.forward.run(field, scratch);
        }
    }
}
