//! The one table of aberration terms (Krivanek notation, numerics section 1).
//!
//! A standard term is one row here and nothing else; a term with a formula of its own is one file and
//! one line of `own_terms`. Either is then parsed, fitted, reported and checked for parity like every
//! other.

use crate::own_terms::OWN;
use crate::{Error, joined};

/// The path of a term for a unit coefficient, from `(alpha_row, alpha_col)` and the term's angle, all in
/// radians.
pub type Wavefront = fn([f64; 2], f64) -> f64;

/// One aberration coefficient `C_nm` with its angle `phi_nm`.
///
/// Its phase is `(2 pi / lambda) C_nm / (n + 1) alpha^(n+1) cos(m (phi - phi_nm))`, or
/// `(2 pi / lambda) C w(alpha, phi_C)` for a term with a formula `w` of its own.
#[derive(Debug, Clone, Copy)]
pub struct Term {
    /// Krivanek name of the coefficient, e.g. `C12`.
    pub name: &'static str,
    /// Name of its angle, e.g. `phi12`; empty for a rotationally symmetric term.
    pub angle_name: &'static str,
    /// Order in the angle alpha, less one; 0 with an own formula.
    pub n: u32,
    /// Azimuthal symmetry; 0 for a term without an angle.
    pub m: u32,
    /// Another name that users type, or empty.
    pub alias: &'static str,
    /// What people call it.
    pub label: &'static str,
    /// The term's own formula; `None` for the standard polynomial.
    pub own: Option<Wavefront>,
}

impl PartialEq for Term {
    /// Names are unique.
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Term {}

impl Term {
    /// A term with a formula of its own: a coefficient in length like every other, an angle when `m` is
    /// not 0 (of period `2 pi / m`).
    #[must_use]
    pub const fn with_wavefront(
        name: &'static str,
        angle_name: &'static str,
        m: u32,
        label: &'static str,
        wavefront: Wavefront,
    ) -> Self {
        let mut own = term(name, angle_name, (0, m), "", label);
        own.own = Some(wavefront);
        own
    }

    /// Path for a unit coefficient at `(alpha_row, alpha_col)` in radians: `chi = (2 pi / lambda) C path`.
    #[must_use]
    pub fn path(&self, alpha_rad: [f64; 2], angle_rad: f64) -> f64 {
        if let Some(wavefront) = self.own {
            return wavefront(alpha_rad, angle_rad);
        }
        let (order, m) = (self.n + 1, f64::from(self.m));
        let phi = alpha_rad[1].atan2(alpha_rad[0]);
        alpha_rad[0].hypot(alpha_rad[1]).powi(order as i32) / f64::from(order)
            * (m * (phi - angle_rad)).cos()
    }

    /// The largest path, against the centre's, that a unit coefficient makes within an aperture of this
    /// semi-angle: `semiangle^(n+1) / (n+1)` for a standard term.
    #[must_use]
    pub fn largest_path(&self, semiangle_rad: f64) -> f64 {
        const RADII: u32 = 16;
        const DIRECTIONS: u32 = 48;
        let centre = self.path([0.0, 0.0], 0.0);
        let mut largest = 0.0_f64;
        for r in 1..=RADII {
            for direction in 0..DIRECTIONS {
                let phi = std::f64::consts::TAU * f64::from(direction) / f64::from(DIRECTIONS);
                let alpha = semiangle_rad * f64::from(r) / f64::from(RADII);
                let path = self.path([alpha * phi.cos(), alpha * phi.sin()], 0.0);
                largest = largest.max((path - centre).abs());
            }
        }
        largest
    }

    /// Coefficient in Å whose largest phase within the aperture, against the centre's, is `phase_rad`.
    #[must_use]
    pub fn magnitude_a(&self, phase_rad: f64, semiangle_rad: f64, wavelength_a: f64) -> f64 {
        let turns = phase_rad / std::f64::consts::TAU;
        turns * wavelength_a / self.largest_path(semiangle_rad)
    }

    /// The full period of the term's angle, `2 pi / m`; 0 for a symmetric term.
    #[must_use]
    pub fn angle_period_rad(&self) -> f64 {
        if self.m == 0 {
            0.0
        } else {
            std::f64::consts::TAU / f64::from(self.m)
        }
    }
}

const fn term(
    name: &'static str,
    angle_name: &'static str,
    (n, m): (u32, u32),
    alias: &'static str,
    label: &'static str,
) -> Term {
    Term {
        name,
        angle_name,
        n,
        m,
        alias,
        label,
        own: None,
    }
}

const STANDARD: [Term; 14] = [
    term("C10", "", (1, 0), "", "defocus (C10 = -defocus)"),
    term(
        "C12",
        "phi12",
        (1, 2),
        "astigmatism",
        "two-fold astigmatism",
    ),
    term("C21", "phi21", (2, 1), "coma", "axial coma"),
    term("C23", "phi23", (2, 3), "", "three-fold astigmatism"),
    term("C30", "", (3, 0), "Cs", "spherical aberration"),
    term("C32", "phi32", (3, 2), "", "axial star aberration"),
    term("C34", "phi34", (3, 4), "", "four-fold astigmatism"),
    term("C41", "phi41", (4, 1), "", "fourth-order axial coma"),
    term("C43", "phi43", (4, 3), "", "three-lobe aberration"),
    term("C45", "phi45", (4, 5), "", "five-fold astigmatism"),
    term("C50", "", (5, 0), "", "fifth-order spherical aberration"),
    term("C52", "phi52", (5, 2), "", "fifth-order axial star"),
    term("C54", "phi54", (5, 4), "", "fifth-order rosette"),
    term("C56", "phi56", (5, 6), "", "six-fold astigmatism"),
];

static ALL: [Term; STANDARD.len() + OWN.len()] = joined(&STANDARD, OWN);

/// Every aberration term, in the order in which a fit asks for them: the standard ones, then those with
/// a formula of their own.
pub static TERMS: &[Term] = &ALL;

/// What a name that users type stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TermPart {
    /// The coefficient of the term with this index in [`TERMS`], times the sign.
    Magnitude(usize, f64),
    /// The angle of the term with this index.
    Angle(usize),
}

/// Finds a coefficient, an angle or an alias by name.
///
/// `defocus` is C10 with its sign flipped.
///
/// # Errors
/// [`Error::UnknownTerm`] listing the known names.
pub fn term_by_name(name: &str) -> Result<TermPart, Error> {
    if name == "defocus" {
        return Ok(TermPart::Magnitude(0, -1.0));
    }
    for (index, term) in TERMS.iter().enumerate() {
        if name == term.name || (!term.alias.is_empty() && name == term.alias) {
            return Ok(TermPart::Magnitude(index, 1.0));
        }
        if !term.angle_name.is_empty() && name == term.angle_name {
            return Ok(TermPart::Angle(index));
        }
    }
    let mut known: Vec<&str> = TERMS.iter().map(|t| t.name).collect();
    known.extend(TERMS.iter().map(|t| t.angle_name).filter(|n| !n.is_empty()));
    known.extend(TERMS.iter().map(|t| t.alias).filter(|n| !n.is_empty()));
    known.push("defocus");
    Err(Error::UnknownTerm {
        name: name.into(),
        known: known.join(" "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_unique() {
        for (i, t) in TERMS.iter().enumerate() {
            assert_eq!(term_by_name(t.name).unwrap(), TermPart::Magnitude(i, 1.0));
            assert_eq!(t.angle_name.is_empty(), t.m == 0);
            if t.m > 0 {
                assert_eq!(term_by_name(t.angle_name).unwrap(), TermPart::Angle(i));
            }
            if t.own.is_some() {
                continue;
            }
            assert_eq!(t.name, format!("C{}{}", t.n, t.m));
            assert!(t.m == 0 || t.angle_name == format!("phi{}{}", t.n, t.m));
            assert_eq!((t.n + 1 + t.m) % 2, 0, "{}: not a polynomial", t.name);
        }
        assert_eq!(term_by_name("Cs").unwrap(), term_by_name("C30").unwrap());
        assert_eq!(
            term_by_name("defocus").unwrap(),
            TermPart::Magnitude(0, -1.0)
        );
        assert!(term_by_name("C11").unwrap_err().to_string().contains("C56"));
        assert!(term_by_name("phi10").is_err());
        assert!(term_by_name("").is_err());
    }

    #[test]
    fn the_largest_path_is_at_the_edge_and_makes_the_phase_asked_for() {
        let (semiangle, wavelength) = (0.03, 0.0197);
        for t in TERMS {
            let edge = semiangle_power(t, semiangle);
            let largest = t.largest_path(semiangle);
            assert!(
                t.own.is_some() || (largest / edge - 1.0).abs() < 1e-12,
                "{}",
                t.name
            );
            let a = t.magnitude_a(0.4, semiangle, wavelength);
            assert!((std::f64::consts::TAU / wavelength * a * largest - 0.4).abs() < 1e-12);
        }
    }

    fn semiangle_power(t: &Term, semiangle: f64) -> f64 {
        let order = t.n as i32 + 1;
        semiangle.powi(order) / f64::from(order)
    }
}
