//! The agreement S at a few strong scan frequencies, fast enough for a whole grid of C10 and C12.
//!
//! With `M = [[C10 + a, b], [b, C10 - a]]` (`a = C12 cos 2 phi12`, `b = C12 sin 2 phi12`), C10 and C12 add
//! `2 pi lambda k.Mq` to the odd part of `chi(k + q)` and `pi lambda q.Mq` to its even part (numerics section 3). So at
//! one `q`, for everything else held, `sum_b G_b conj Gamma_b` is `cos d T_1(Mq) + sin d T_2(Mq)` with
//! `d = -pi lambda q.Mq`, where `T_1` and `T_2` are Fourier sums over the detector: no phase is evaluated per BF
//! pixel and candidate. The model is the exact S at its frequencies, in float32.

use std::f64::consts::{PI, TAU};

use rayon::prelude::*;
use ssb_core::ndarray::Array2;
use ssb_core::num_complex::{Complex32, Complex64};
use ssb_core::{BandPoint, Candidate, Chi, Geometry};

/// Spectra of the BF pixels at chosen frequencies, in units of the DC value; shape (BF pixels, points).
pub(in crate::fit) struct BandSpectra {
    pub points: Vec<BandPoint>,
    pub spectra: Array2<Complex32>,
}

/// A symmetric `M` in Å: `C10`, `C12 cos 2 phi12`, `C12 sin 2 phi12`.
pub(super) type Quadratic = [f64; 3];

/// Sums over a detector's rectangle at one frequency.
struct Frequency {
    q: [f64; 2],
    weight: f64,
    /// `G A conj(Gamma part)` of both parts, real and imaginary: four planes of the rectangle.
    planes: Vec<f32>,
    /// `sum |X_1|^2`, `sum |X_2|^2`, `Re sum X_1 conj X_2`.
    powers: [f64; 3],
    /// `sum_b |G_b|^2` over the open pixels.
    energy: f64,
}

/// The agreement at a few frequencies as a function of C10 and C12.
pub(super) struct BandModel {
    /// Strongest first.
    frequencies: Vec<Frequency>,
    wavelength_a: f64,
    /// Rows and columns of the rectangle.
    shape: [usize; 2],
    /// First pixel of the rectangle in pixels from the optic axis.
    first: [f64; 2],
    /// A detector step along rows and along columns in the scan frame, in 1/Å.
    step_per_a: [[f64; 2]; 2],
    open: usize,
    floor: f64,
}

impl BandModel {
    /// The model with `held` as it is, its C10 and C12 included: the quadratic part is added to them.
    pub fn new(geometry: &Geometry, band: &BandSpectra, held: &Candidate) -> Self {
        let rotation_deg = geometry.rotation_of(held);
        let (sin, cos) = rotation_deg.to_radians().sin_cos();
        let k = geometry.k_per_a(rotation_deg);
        let dk = geometry.det_step_rad.map(|s| s / geometry.wavelength_a);
        // In pixels from the axis; whole numbers apart from the centre's fraction.
        let place: Vec<[f64; 2]> = (geometry.k_per_a(0.0).iter())
            .map(|k| [k[0] / dk[0], k[1] / dk[1]])
            .collect();
        let end = |axis: usize, pick: fn(f64, f64) -> f64, start: f64| {
            place.iter().map(|p| p[axis]).fold(start, pick)
        };
        let first = [0, 1].map(|axis| end(axis, f64::min, f64::INFINITY));
        let last = [0, 1].map(|axis| end(axis, f64::max, f64::NEG_INFINITY));
        let shape = [0, 1].map(|axis| (last[axis] - first[axis]).round() as usize + 1);
        let at: Vec<usize> = (place.iter())
            .map(|p| {
                let [row, col] = [0, 1].map(|axis| (p[axis] - first[axis]).round() as usize);
                row * shape[1] + col
            })
            .collect();
        let apertures = geometry.apertures(rotation_deg);
        let chi = Chi::new(&held.aberrations, geometry.wavelength_a);
        let open: Vec<usize> = (0..k.len()).filter(|b| apertures[*b] > 0.0).collect();
        let (q_row, q_col) = (geometry.q_row_per_a(), geometry.q_col_per_a());
        let plane = shape[0] * shape[1];
        let frequency = |(index, point): (usize, &BandPoint)| {
            let q = [q_row[point.row], q_col[point.col]];
            let mut planes = vec![0.0; 4 * plane];
            let (mut powers, mut energy) = ([0.0; 3], 0.0);
            for b in &open {
                let (k, a) = (k[*b], apertures[*b]);
                let [plus, minus] = [1.0, -1.0].map(|s| [k[0] + s * q[0], k[1] + s * q[1]]);
                let [w_plus, w_minus] = [plus, minus].map(|u| geometry.aperture(u));
                let g = band.spectra[(*b, index)];
                let g = Complex64::new(f64::from(g.re), f64::from(g.im));
                energy += g.norm_sqr();
                if w_plus == 0.0 && w_minus == 0.0 {
                    continue;
                }
                let [p, m] = [plus, minus].map(|u| chi.radians(u));
                let (odd, d) = (0.5 * (p - m), chi.radians(k) - 0.5 * (p + m));
                let (sin, cos) = d.sin_cos();
                let (difference, sum) = (a * (w_minus - w_plus), a * (w_minus + w_plus));
                let parts = [
                    Complex64::new(difference * cos, sum * sin),
                    Complex64::new(-difference * sin, sum * cos),
                ];
                powers[0] += parts[0].norm_sqr();
                powers[1] += parts[1].norm_sqr();
                powers[2] += (parts[0] * parts[1].conj()).re;
                let turned = g * Complex64::from_polar(1.0, -odd);
                for (i, part) in parts.into_iter().enumerate() {
                    let u = turned * part.conj();
                    planes[2 * i * plane + at[*b]] = u.re as f32;
                    planes[(2 * i + 1) * plane + at[*b]] = u.im as f32;
                }
            }
            Frequency {
                q,
                weight: f64::from(point.weight),
                planes,
                powers,
                energy,
            }
        };
        let mut frequencies: Vec<Frequency> =
            band.points.iter().enumerate().map(frequency).collect();
        frequencies.sort_by(|a, b| b.energy.total_cmp(&a.energy));
        Self {
            frequencies,
            wavelength_a: geometry.wavelength_a,
            shape,
            first,
            step_per_a: [[dk[0] * cos, dk[0] * sin], [-dk[1] * sin, dk[1] * cos]],
            open: open.len(),
            floor: 1e-12 * geometry.bf_pixels() as f64,
        }
    }

    /// The agreement of each `M`, in units of the squared DC value.
    pub fn agreements(&self, quadratics: &[Quadratic]) -> Vec<f64> {
        self.agreements_at(self.frequencies.len(), quadratics)
    }

    /// The same at the strongest frequencies alone.
    pub fn agreements_at(&self, strongest: usize, quadratics: &[Quadratic]) -> Vec<f64> {
        let frequencies = &self.frequencies[..strongest.min(self.frequencies.len())];
        quadratics
            .par_iter()
            .map_init(
                || Scratch::new(self.shape),
                |scratch, m| {
                    let fit = |f: &Frequency| f.weight * self.fitted(f, m, scratch);
                    frequencies.iter().map(fit).sum()
                },
            )
            .collect()
    }

    /// `|sum_b G_b conj Gamma_b|^2 / sum_b |Gamma_b|^2` at one frequency; 0 where no Gamma is left.
    fn fitted(&self, f: &Frequency, m: &Quadratic, scratch: &mut Scratch) -> f64 {
        let [c10, a, b] = *m;
        let mq = [
            (c10 + a) * f.q[0] + b * f.q[1],
            b * f.q[0] + (c10 - a) * f.q[1],
        ];
        let d = -PI * self.wavelength_a * (f.q[0] * mq[0] + f.q[1] * mq[1]);
        let (sin, cos) = d.sin_cos();
        let [p1, p2, p12] = f.powers;
        let power = cos * cos * p1 + sin * sin * p2 + 2.0 * sin * cos * p12;
        if power <= self.floor {
            return 0.0;
        }
        let turns = |step: [f64; 2]| self.wavelength_a * (step[0] * mq[0] + step[1] * mq[1]);
        let [t1, t2] = scratch.sums(self, &f.planes, self.step_per_a.map(turns));
        (t1 * cos + t2 * sin).norm_sqr() / power
    }

    /// What the model explains of `|G|^2` at `M`, and what it leaves, beside counting noise of this variance of one `G_b` in
    /// units of the squared DC value.
    pub fn residue(&self, m: &Quadratic, counting: f64) -> Residue {
        let mut scratch = Scratch::new(self.shape);
        let (mut left, mut free, mut explained, mut signal) = (0.0, 0.0, 0.0, 0.0);
        let open = self.open as f64;
        for f in &self.frequencies {
            let fitted = self.fitted(f, m, &mut scratch);
            left += f.energy - fitted;
            free += open - 1.0;
            explained += fitted - counting;
            signal += f.energy - open * counting;
        }
        let deviation = counting * (open * self.frequencies.len() as f64).sqrt();
        Residue {
            noise: left / free.max(1.0),
            explained: explained / signal,
            seen: signal / deviation,
        }
    }
}

/// What a model explains of the data, and what it leaves.
pub(super) struct Residue {
    /// The variance of the noise of one `G_b`, in units of the squared DC value: what is left, per degree of freedom.
    pub noise: f64,
    /// The share of the signal that is explained: of what `|G|^2` and S have above counting noise.
    pub explained: f64,
    /// The signal in standard deviations of counting noise.
    pub seen: f64,
}

/// Work space of one worker.
struct Scratch {
    /// Real and imaginary sums over the rows of both parts, one a column.
    sums: [Vec<f32>; 4],
    cols: Vec<Complex64>,
}

impl Scratch {
    fn new(shape: [usize; 2]) -> Self {
        Self {
            sums: std::array::from_fn(|_| vec![0.0; shape[1]]),
            cols: vec![Complex64::default(); shape[1]],
        }
    }

    /// `sum_b U_b exp(-2 pi i (row turns_row + col turns_col))` of both parts.
    fn sums(&mut self, model: &BandModel, planes: &[f32], turns: [f64; 2]) -> [Complex64; 2] {
        let [rows, cols] = model.shape;
        let step = Complex64::from_polar(1.0, -TAU * turns[1]);
        let mut phase = Complex64::from_polar(1.0, -TAU * turns[1] * model.first[1]);
        for col in &mut self.cols {
            *col = phase;
            phase *= step;
        }
        self.sums.iter_mut().for_each(|sums| sums.fill(0.0));
        let step = Complex64::from_polar(1.0, -TAU * turns[0]);
        let mut phase = Complex64::from_polar(1.0, -TAU * turns[0] * model.first[0]);
        for row in 0..rows {
            let (c, s) = (phase.re as f32, phase.im as f32);
            for (part, sums) in self.sums.chunks_exact_mut(2).enumerate() {
                let at = |plane: usize| &planes[((2 * part + plane) * rows + row) * cols..][..cols];
                let [re, im] = sums else { continue };
                let terms = at(0).iter().zip(at(1));
                for ((re, im), (x, y)) in re.iter_mut().zip(im).zip(terms) {
                    *re += x * c - y * s;
                    *im += x * s + y * c;
                }
            }
            phase *= step;
        }
        let mut totals = [Complex64::default(); 2];
        for (total, sums) in totals.iter_mut().zip(self.sums.chunks_exact(2)) {
            for ((re, im), col) in sums[0].iter().zip(&sums[1]).zip(&self.cols) {
                *total += Complex64::new(f64::from(*re), f64::from(*im)) * col;
            }
        }
        totals
    }
}
