//! The one table of aberration terms (Krivanek notation, numerics section 1).
//!
//! A standard term is one row here and nothing else: it is then parsed, fitted, reported and
//! checked for parity like every other.

use crate::Error;

/// One aberration coefficient `C_nm` with its angle `phi_nm`.
///
/// Its phase is `(2 pi / lambda) C_nm / (n + 1) alpha^(n+1) cos(m (phi - phi_nm))`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term {
    /// Krivanek name of the coefficient, e.g. `C12`.
    pub name: &'static str,
    /// Name of its angle, e.g. `phi12`; empty for a rotationally symmetric term.
    pub angle_name: &'static str,
    /// Order in the angle alpha, less one.
    pub n: u32,
    /// Azimuthal symmetry.
    pub m: u32,
    /// Another name that users type, or empty.
    pub alias: &'static str,
    /// What people call it.
    pub label: &'static str,
}

impl Term {
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
    }
}

/// Every aberration term, in the order in which a fit asks for them.
pub const TERMS: &[Term] = &[
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
            assert_eq!(t.name, format!("C{}{}", t.n, t.m));
            assert_eq!(t.angle_name.is_empty(), t.m == 0);
            if t.m > 0 {
                assert_eq!(t.angle_name, format!("phi{}{}", t.n, t.m));
                assert_eq!(term_by_name(t.angle_name).unwrap(), TermPart::Angle(i));
            }
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
}
