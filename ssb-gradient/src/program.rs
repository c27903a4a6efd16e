//! The program: tensors of geometry, spectra and basis phases, in blocks of BF pixels.

use std::f64::consts::{PI, TAU};

use burn_autodiff::Autodiff;
use burn_ndarray::NdArray;
use burn_tensor::backend::AutodiffBackend;
use burn_tensor::{Tensor, TensorData};
use ssb_core::ndarray::Array2;
use ssb_core::num_complex::Complex32;
use ssb_core::{BandPoint, Candidate, Chi, Geometry, TERMS};

use crate::GradientError;

/// The backend of the host: float64.
pub type Host = Autodiff<NdArray<f64>>;

/// One coefficient that moves, in nm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Coordinate {
    /// `C cos(m phi)` of a standard term; its sine is [`Coordinate::Sine`].
    Cosine(usize),
    /// `C sin(m phi)` of a standard term.
    Sine(usize),
    /// The coefficient of any term at a held angle in rad.
    Along(usize, f64),
}

impl Coordinate {
    /// Index of its term.
    #[must_use]
    pub fn term(self) -> usize {
        match self {
            Self::Cosine(term) | Self::Sine(term) | Self::Along(term, _) => term,
        }
    }

    /// Path of 1 Å at `u` in 1/Å.
    fn path(self, u: [f64; 2], wavelength_a: f64) -> f64 {
        let term = &TERMS[self.term()];
        let angle = match self {
            Self::Cosine(_) => 0.0,
            Self::Sine(_) => PI / (2.0 * f64::from(term.m)),
            Self::Along(_, angle) => angle,
        };
        term.path(u.map(|u| u * wavelength_a), angle)
    }
}

/// Constants of a block of BF pixels, each a row of (pixels x points) values.
struct Block<B: AutodiffBackend> {
    pixels: usize,
    /// Basis of the odd part and of `d`: (coordinates, pixels x points).
    basis: [Tensor<B, 2>; 2],
    held: [Tensor<B, 2>; 2],
    /// `A (W_m - W_p)` and `A (W_m + W_p)`.
    weights: [Tensor<B, 2>; 2],
    /// Real and imaginary part of `G_b`.
    g: [Tensor<B, 2>; 2],
}

/// S at chosen scan frequencies as a function of coefficients.
///
/// Shape: one tensor of coordinates in, a scalar out. Units: coordinates in nm, S in the squared unit of the spectra.
/// Normalisation and source: numerics section 4 over the given points, with the depth spread and tilt of `held`.
pub struct AgreementProgram<B: AutodiffBackend> {
    blocks: Vec<Block<B>>,
    weight: Tensor<B, 2>,
    floor: f64,
    coordinates: usize,
    device: B::Device,
}

impl<B: AutodiffBackend> std::fmt::Debug for AgreementProgram<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgreementProgram")
            .field("coordinates", &self.coordinates)
            .field("blocks", &self.blocks.len())
            .finish_non_exhaustive()
    }
}

/// `sin x / x`.
fn sinc(x: f64) -> f64 {
    if x.abs() < 1e-8 { 1.0 } else { x.sin() / x }
}

impl<B: AutodiffBackend> AgreementProgram<B> {
    /// The program at these points, with every coefficient but `moved` as `held` has it.
    ///
    /// `spectra` has shape (BF pixels, points), as `ssb_core::Evaluator::spectra` gives them; `block` BF pixels are one
    /// set of tensors.
    ///
    /// # Errors
    /// Nothing moves, or spectra of another shape.
    pub fn new(
        geometry: &Geometry,
        (points, spectra): (&[BandPoint], &Array2<Complex32>),
        held: &Candidate,
        moved: &[Coordinate],
        block: usize,
        device: &B::Device,
    ) -> Result<Self, GradientError> {
        if moved.is_empty() {
            return Err(GradientError::NothingMoves);
        }
        let (expected, found) = (
            [geometry.bf_pixels(), points.len()],
            [spectra.nrows(), spectra.ncols()],
        );
        if expected != found {
            return Err(GradientError::Shape { expected, found });
        }
        let mut still = held.clone();
        for coordinate in moved {
            still.aberrations.get_mut(coordinate.term()).magnitude_a = 0.0;
        }
        let rotation_deg = geometry.rotation_of(held);
        let k = geometry.k_per_a(rotation_deg);
        let apertures = geometry.apertures(rotation_deg);
        let open: Vec<usize> = (0..k.len()).filter(|b| apertures[*b] > 0.0).collect();
        let chi = Chi::new(&still.aberrations, geometry.wavelength_a);
        let (q_row, q_col) = (geometry.q_row_per_a(), geometry.q_col_per_a());
        let row = |values: Vec<f64>, rows: usize| -> Tensor<B, 2> {
            let shape = [rows, values.len() / rows.max(1)];
            Tensor::from_data(TensorData::new(values, shape), device)
        };
        // 10 Å a nm.
        let scale = 10.0 * TAU / geometry.wavelength_a;
        let blocks = open
            .chunks(block.max(1))
            .map(|pixels| {
                let mut basis = [Vec::new(), Vec::new()];
                let (mut phases, mut weights, mut g) = (
                    [Vec::new(), Vec::new()],
                    [Vec::new(), Vec::new()],
                    [Vec::new(), Vec::new()],
                );
                let sides = |b: usize, point: &BandPoint| {
                    let q = [q_row[point.row], q_col[point.col]];
                    let side = |s: f64| [k[b][0] + s * q[0], k[b][1] + s * q[1]];
                    (q, side(1.0), side(-1.0))
                };
                for b in pixels {
                    for (i, point) in points.iter().enumerate() {
                        let (q, plus, minus) = sides(*b, point);
                        let at = |u| chi.radians(u);
                        let (p, m) = (at(plus), at(minus));
                        phases[0].push(0.5 * (p - m));
                        phases[1].push(at(k[*b]) - 0.5 * (p + m));
                        let thick = Thick::new(geometry, held, k[*b], q);
                        let [w_plus, w_minus] = [(plus, 1.0), (minus, -1.0)]
                            .map(|(u, sign)| geometry.aperture(u) * thick.sinc(u, sign));
                        weights[0].push(apertures[*b] * (w_minus - w_plus));
                        weights[1].push(apertures[*b] * (w_minus + w_plus));
                        let z = spectra[(*b, i)];
                        g[0].push(f64::from(z.re));
                        g[1].push(f64::from(z.im));
                    }
                }
                for coordinate in moved {
                    for b in pixels {
                        for point in points {
                            let (_, plus, minus) = sides(*b, point);
                            let at = |u| scale * coordinate.path(u, geometry.wavelength_a);
                            let (p, m) = (at(plus), at(minus));
                            basis[0].push(0.5 * (p - m));
                            basis[1].push(at(k[*b]) - 0.5 * (p + m));
                        }
                    }
                }
                Block {
                    pixels: pixels.len(),
                    basis: basis.map(|v| row(v, moved.len())),
                    held: phases.map(|v| row(v, 1)),
                    weights: weights.map(|v| row(v, 1)),
                    g: g.map(|v| row(v, 1)),
                }
            })
            .collect();
        let weight = points.iter().map(|p| f64::from(p.weight)).collect();
        Ok(Self {
            blocks,
            weight: row(weight, 1),
            floor: 1e-12 * geometry.bf_pixels() as f64,
            coordinates: moved.len(),
            device: device.clone(),
        })
    }

    /// S of the coordinates in nm; differentiable.
    pub fn agreement(&self, coordinates: Tensor<B, 1>) -> Tensor<B, 1> {
        let x = coordinates.reshape([1, self.coordinates]);
        let mut sums: Option<[Tensor<B, 2>; 3]> = None;
        for block in &self.blocks {
            let phase = |i: usize| block.held[i].clone() + x.clone().matmul(block.basis[i].clone());
            let (odd, d) = (phase(0), phase(1));
            let (cos, sin) = (odd.clone().cos(), odd.sin());
            let [re, im] = block.g.clone();
            let turned_re = re.clone() * cos.clone() + im.clone() * sin.clone();
            let turned_im = im * cos - re * sin;
            let u = block.weights[0].clone() * d.clone().cos();
            let v = block.weights[1].clone() * d.sin();
            let points = self.weight.dims()[1];
            let over_pixels = |t: Tensor<B, 2>| t.reshape([block.pixels, points]).sum_dim(0);
            let now = [
                over_pixels(turned_re.clone() * u.clone() + turned_im.clone() * v.clone()),
                over_pixels(turned_im * u.clone() - turned_re * v.clone()),
                over_pixels(u.clone() * u + v.clone() * v),
            ];
            sums = Some(match sums {
                None => now,
                Some([a, b, c]) => {
                    let [d, e, f] = now;
                    [a + d, b + e, c + f]
                }
            });
        }
        match sums {
            Some([re, im, power]) => {
                let fitted = (re.clone() * re + im.clone() * im) / power.clamp_min(self.floor);
                (fitted * self.weight.clone()).sum()
            }
            None => x.sum() * 0.0,
        }
    }

    /// S and its derivatives with respect to each coordinate, per nm.
    ///
    /// # Errors
    /// Another number of coordinates, or a value that is not finite.
    pub fn value_and_gradient(&self, at: &[f64]) -> Result<(f64, Vec<f64>), GradientError> {
        if at.len() != self.coordinates {
            return Err(GradientError::Coordinates {
                expected: self.coordinates,
                found: at.len(),
            });
        }
        let data = TensorData::new(at.to_vec(), [at.len()]);
        let x = Tensor::<B, 1>::from_data(data, &self.device).require_grad();
        let value = self.agreement(x.clone());
        let gradients = value.backward();
        let read = |data: TensorData| -> Vec<f64> { data.iter::<f64>().collect() };
        let value = read(value.into_data()).first().copied().unwrap_or(f64::NAN);
        let gradient = x.grad(&gradients).map(|g| read(g.into_data()));
        match gradient {
            Some(gradient) if value.is_finite() && gradient.iter().all(|g| g.is_finite()) => {
                Ok((value, gradient))
            }
            _ => Err(GradientError::NoValue { value }),
        }
    }
}

/// The weights of the thick model (numerics section 4).
struct Thick {
    half_depth_a: f64,
    tilt: f64,
    wavelength_a: f64,
    k2: f64,
}

impl Thick {
    fn new(geometry: &Geometry, candidate: &Candidate, k: [f64; 2], q: [f64; 2]) -> Self {
        Self {
            half_depth_a: 5.0 * candidate.depth_spread_nm,
            tilt: (0..2).map(|i| q[i] * candidate.tilt_mrad[i] * 1e-3).sum(),
            wavelength_a: geometry.wavelength_a,
            k2: k[0] * k[0] + k[1] * k[1],
        }
    }

    fn sinc(&self, u: [f64; 2], sign: f64) -> f64 {
        let bend = 0.5 * self.wavelength_a * (u[0] * u[0] + u[1] * u[1] - self.k2);
        sinc(TAU * self.half_depth_a * (sign * bend - self.tilt))
    }
}
