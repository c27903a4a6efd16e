//! The aberration phase as a polynomial, and its even and odd parts about one `k`
//! (numerics section 3).
//!
//! Every standard term is `|u|^(n+1-m) Re[(u_row + i u_col)^m exp(-i m phi_nm)]` times a constant,
//! a real polynomial in `(u_row, u_col)`. For fixed `k`, `chi(k + q)` is a polynomial in `q`; with
//! `E` its even part without the constant and `O` its odd part,
//! `chi(k) - (chi(k-q) + chi(k+q)) / 2 = -E(q)` and `(chi(k+q) - chi(k-q)) / 2 = O(q)`:
//! nothing large is ever subtracted. A term with a formula of its own is evaluated at `k`, `k-q` and `k+q`
//! ([`OwnPhase`]).

use std::f64::consts::TAU;

use crate::{Aberrations, TERMS, Wavefront};

/// Highest total degree of the phase polynomial: `n + 1` of the fifth-order terms.
pub const PHASE_DEGREE: usize = 6;

const SIZE: usize = PHASE_DEGREE + 1;

/// `coefficients[i][j]` belongs to `u_row^i u_col^j`.
type Coefficients = [[f64; SIZE]; SIZE];

/// chi(u) in turns (radians / 2 pi) for `u` in 1/Å: a polynomial, and the terms with a formula of their own.
#[derive(Debug, Clone)]
pub struct Chi {
    turns: Coefficients,
    own: OwnPhase,
}

/// The part of chi that terms with a formula of their own make.
#[derive(Debug, Clone)]
pub struct OwnPhase {
    /// Formula, coefficient in turns, angle in radians.
    terms: Vec<(Wavefront, f64, f64)>,
    wavelength_a: f64,
}

/// The phase about one `k`: `even` without its constant, and `odd`, in turns over `q` in 1/Å.
#[derive(Debug, Clone, PartialEq)]
pub struct EvenOdd {
    even: Coefficients,
    odd: Coefficients,
}

fn multiply(a: &Coefficients, b: &Coefficients) -> Coefficients {
    let mut out = Coefficients::default();
    for (i, j, value) in terms(a) {
        for (k, l, other) in terms(b) {
            if i + k < SIZE && j + l < SIZE {
                out[i + k][j + l] += value * other;
            }
        }
    }
    out
}

fn terms(c: &Coefficients) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
    c.iter()
        .enumerate()
        .flat_map(|(i, row)| row.iter().enumerate().map(move |(j, v)| (i, j, *v)))
        .filter(|(.., v)| *v != 0.0)
}

fn power(x: f64, exponent: usize) -> f64 {
    x.powi(exponent as i32)
}

fn binomial(n: usize, k: usize) -> f64 {
    (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
}

impl OwnPhase {
    /// Whether no such term is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Turns at `u` in 1/Å.
    #[must_use]
    pub fn turns(&self, u: [f64; 2]) -> f64 {
        let alpha_rad = u.map(|u| u * self.wavelength_a);
        let turns = |(path, turns, angle): &(Wavefront, f64, f64)| turns * path(alpha_rad, *angle);
        self.terms.iter().map(turns).sum()
    }

    /// What these terms add to the even part (without its constant) and to the odd part of `chi(k + q)` in
    /// `q`, in turns.
    #[must_use]
    pub fn about(&self, k: [f64; 2], q: [f64; 2]) -> [f64; 2] {
        let plus = self.turns([k[0] + q[0], k[1] + q[1]]);
        let minus = self.turns([k[0] - q[0], k[1] - q[1]]);
        [0.5 * (plus + minus) - self.turns(k), 0.5 * (plus - minus)]
    }
}

impl Chi {
    /// The phase of these aberrations at this wavelength.
    #[must_use]
    pub fn new(aberrations: &Aberrations, wavelength_a: f64) -> Self {
        let mut turns = Coefficients::default();
        let mut own = OwnPhase {
            terms: Vec::new(),
            wavelength_a,
        };
        for (term, value) in TERMS.iter().zip(aberrations.values()) {
            if value.magnitude_a == 0.0 {
                continue;
            }
            if let Some(path) = term.own {
                own.terms
                    .push((path, value.magnitude_a / wavelength_a, value.angle_rad));
                continue;
            }
            // Re[(u_row + i u_col)^m exp(-i m phi)]: binomials with the phase of i^j.
            let m = term.m as usize;
            let mut azimuthal = Coefficients::default();
            for j in 0..=m {
                // cos(j pi/2 - m phi), without the rounding of pi/2.
                let (sin, cos) = (f64::from(term.m) * value.angle_rad).sin_cos();
                let real = [cos, sin, -cos, -sin][j % 4];
                azimuthal[m - j][j] = binomial(m, j) * real;
            }
            let mut squared_radius = Coefficients::default();
            squared_radius[2][0] = 1.0;
            squared_radius[0][2] = 1.0;
            for _ in 0..(term.n as usize + 1 - m) / 2 {
                azimuthal = multiply(&azimuthal, &squared_radius);
            }
            let scale =
                value.magnitude_a / f64::from(term.n + 1) * power(wavelength_a, term.n as usize);
            for (i, j, v) in terms(&azimuthal) {
                turns[i][j] += scale * v;
            }
        }
        Self { turns, own }
    }

    /// Whether only C10 and C12 are set, so that `E` does not depend on `k` and `O` is linear.
    #[must_use]
    pub fn is_quadratic(&self) -> bool {
        self.own.is_empty() && terms(&self.turns).all(|(i, j, _)| i + j <= 2)
    }

    /// The terms with a formula of their own.
    #[must_use]
    pub fn own(&self) -> &OwnPhase {
        &self.own
    }

    /// chi(u) in radians, `u` in 1/Å.
    #[must_use]
    pub fn radians(&self, u: [f64; 2]) -> f64 {
        let polynomial: f64 = terms(&self.turns)
            .map(|(i, j, v)| v * power(u[0], i) * power(u[1], j))
            .sum();
        TAU * (polynomial + self.own.turns(u))
    }

    /// The even part (without its constant) and the odd part of the polynomial's `chi(k + q)` in `q`;
    /// [`OwnPhase::about`] has the rest.
    #[must_use]
    pub fn polynomial_about(&self, k: [f64; 2]) -> EvenOdd {
        let mut even = Coefficients::default();
        let mut odd = Coefficients::default();
        for (i, j, v) in terms(&self.turns) {
            for p in 0..=i {
                for s in 0..=j {
                    let shifted = v
                        * binomial(i, p)
                        * binomial(j, s)
                        * power(k[0], i - p)
                        * power(k[1], j - s);
                    match (p + s) % 2 {
                        1 => odd[p][s] += shifted,
                        _ if p + s > 0 => even[p][s] += shifted,
                        _ => {}
                    }
                }
            }
        }
        EvenOdd { even, odd }
    }
}

impl EvenOdd {
    /// The coefficients `[i][j]` of `q_row^i q_col^j` in turns: the even part, then the odd one.
    #[must_use]
    pub fn coefficients(&self) -> [&[[f64; PHASE_DEGREE + 1]; PHASE_DEGREE + 1]; 2] {
        [&self.even, &self.odd]
    }

    /// The coefficients in `q_row` (ascending powers, turns) of both parts at a fixed `q_col`.
    #[must_use]
    pub fn at_col(&self, q_col: f64) -> ([f64; SIZE], [f64; SIZE]) {
        let fix =
            |c: &Coefficients| c.map(|row| row.iter().rev().fold(0.0, |sum, v| sum * q_col + v));
        (fix(&self.even), fix(&self.odd))
    }

    /// The coefficients in `q_col` (ascending powers, turns) of both parts at a fixed `q_row`.
    #[must_use]
    pub fn at_row(&self, q_row: f64) -> ([f64; SIZE], [f64; SIZE]) {
        let fix = |c: &Coefficients| {
            std::array::from_fn(|j| c.iter().rev().fold(0.0, |sum, row| sum * q_row + row[j]))
        };
        (fix(&self.even), fix(&self.odd))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Angle, Length};

    const WAVELENGTH_A: f64 = 0.0197;

    /// The definition of chi by alpha and phi, term by term.
    fn literal(ab: &Aberrations, u: [f64; 2]) -> f64 {
        let alpha_rad = u.map(|u| u * WAVELENGTH_A);
        let terms = TERMS.iter().zip(ab.values());
        terms
            .map(|(t, v)| TAU / WAVELENGTH_A * v.magnitude_a * t.path(alpha_rad, v.angle_rad))
            .sum()
    }

    /// A term of a few radians at the aperture's edge.
    fn one_term(index: usize) -> Aberrations {
        let a = TERMS[index].magnitude_a(3.0, 0.03, WAVELENGTH_A);
        Aberrations::default().with(index, Length::from_a(a), Angle::from_rad(0.3))
    }

    #[test]
    fn every_row_of_the_table_has_its_polynomial() {
        for (index, term) in TERMS.iter().enumerate() {
            let ab = one_term(index);
            let chi = Chi::new(&ab, WAVELENGTH_A);
            assert_eq!(chi.is_quadratic(), index < 2);
            for u in [
                [0.7, -1.1],
                [-0.2, 0.9],
                [1.3, 0.4],
                [0.0, 0.5],
                [-1.0, 0.0],
            ] {
                let (a, b) = (chi.radians(u), literal(&ab, u));
                assert!(
                    (a - b).abs() < 1e-12 * (1.0 + b.abs()),
                    "{}: {a} {b}",
                    term.name
                );
            }
        }
    }

    #[test]
    fn even_and_odd_parts_rebuild_the_phase_differences() {
        let mut ab = Aberrations::default();
        for index in 0..TERMS.len() {
            *ab.get_mut(index) = one_term(index).get(index);
        }
        let chi = Chi::new(&ab, WAVELENGTH_A);
        let (k, q) = ([0.4, -0.8], [0.31, 0.57]);
        let (even, odd) = chi.polynomial_about(k).at_col(q[1]);
        let own = chi.own().about(k, q).map(|turns| TAU * turns);
        let at = |c: [f64; SIZE]| TAU * c.iter().rev().fold(0.0, |s, v| s * q[0] + v);
        let plus = chi.radians([k[0] + q[0], k[1] + q[1]]);
        let minus = chi.radians([k[0] - q[0], k[1] - q[1]]);
        assert!((at(odd) + own[1] - (plus - minus) / 2.0).abs() < 1e-10);
        assert!((-at(even) - own[0] - (chi.radians(k) - (plus + minus) / 2.0)).abs() < 1e-10);
        let (even_row, odd_row) = chi.polynomial_about(k).at_row(q[0]);
        let at_row = |c: [f64; SIZE]| TAU * c.iter().rev().fold(0.0, |s, v| s * q[1] + v);
        assert!((at_row(odd_row) - at(odd)).abs() < 1e-10);
        assert!((at_row(even_row) - at(even)).abs() < 1e-10);
    }
}
