//! One number that a fit can move, hold or start from: a coefficient in nm, its angle in rad, the scan-detector
//! rotation in deg, a component of the specimen's tilt in mrad, or the depth spread in nm.

use serde::{Serialize, Serializer};
use ssb_core::{Angle, Candidate, Length, TERMS, Term, TermPart, term_by_name};

use crate::Error;

/// What a fit can move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// The coefficient (nm) of the term with this index in [`TERMS`].
    Magnitude(usize),
    /// The angle (rad) of the term with this index in [`TERMS`].
    Angle(usize),
    /// The scan-detector rotation, in deg.
    Rotation,
    /// The specimen's tilt along the scan rows, in mrad.
    TiltRow,
    /// The specimen's tilt along the scan columns, in mrad.
    TiltCol,
    /// The depth spread of the thick model, in nm.
    DepthSpread,
}

/// Names and units of what is no term.
const BESIDE_TERMS: [(Quantity, &str, &str); 4] = [
    (Quantity::Rotation, "rotation", "deg"),
    (Quantity::TiltRow, "tilt_row", "mrad"),
    (Quantity::TiltCol, "tilt_col", "mrad"),
    (Quantity::DepthSpread, "depth_spread", "nm"),
];

impl Quantity {
    /// Finds a quantity by the name of a coefficient, an angle, an alias, or `rotation`, `tilt_row`, `tilt_col`,
    /// `depth_spread`; with the sign that the name carries (`defocus` is `-C10`).
    ///
    /// # Errors
    /// [`ssb_core::Error::UnknownTerm`].
    pub fn by_name(name: &str) -> Result<(Self, f64), Error> {
        if let Some((quantity, ..)) = BESIDE_TERMS.iter().find(|(_, known, _)| *known == name) {
            return Ok((*quantity, 1.0));
        }
        Ok(match term_by_name(name)? {
            TermPart::Magnitude(term, sign) => (Self::Magnitude(term), sign),
            TermPart::Angle(term) => (Self::Angle(term), 1.0),
        })
    }

    /// The row of the table of terms; `None` for rotation, tilt and depth spread.
    #[must_use]
    pub fn term(self) -> Option<&'static Term> {
        self.term_index().map(|index| &TERMS[index])
    }

    /// Index of the term in [`TERMS`]; `None` for rotation, tilt and depth spread.
    #[must_use]
    pub fn term_index(self) -> Option<usize> {
        match self {
            Self::Magnitude(term) | Self::Angle(term) => Some(term),
            _ => None,
        }
    }

    /// Whether it is the angle of a term.
    #[must_use]
    pub fn is_angle(self) -> bool {
        matches!(self, Self::Angle(_))
    }

    /// Whether it belongs to the thick model, which the phase variance does not reward (numerics section 4).
    #[must_use]
    pub fn is_thick(self) -> bool {
        matches!(self, Self::TiltRow | Self::TiltCol | Self::DepthSpread)
    }

    /// The period of an angle or of the rotation, in the quantity's own unit.
    #[must_use]
    pub fn period(self) -> Option<f64> {
        match self {
            Self::Angle(term) => Some(TERMS[term].angle_period_rad()),
            Self::Rotation => Some(360.0),
            _ => None,
        }
    }

    /// How far two of its values lie apart, the short way round where it has a period.
    #[must_use]
    pub(super) fn distance(self, a: f64, b: f64) -> f64 {
        let distance = (a - b).abs();
        match self.period() {
            Some(period) => {
                let turned = distance.rem_euclid(period);
                turned.min(period - turned)
            }
            None => distance,
        }
    }

    /// Place in the order asked: the terms in the order of their table, each coefficient before its angle; then rotation,
    /// tilt and depth spread.
    pub(super) fn rank(self) -> usize {
        match self {
            Self::Magnitude(term) => 2 * term,
            Self::Angle(term) => 2 * term + 1,
            Self::Rotation => usize::MAX - 3,
            Self::TiltRow => usize::MAX - 2,
            Self::TiltCol => usize::MAX - 1,
            Self::DepthSpread => usize::MAX,
        }
    }

    /// Name, e.g. `C12`, `phi12` or `rotation`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Magnitude(term) => TERMS[term].name,
            Self::Angle(term) => TERMS[term].angle_name,
            _ => self.beside_terms().0,
        }
    }

    fn beside_terms(self) -> (&'static str, &'static str) {
        let found = BESIDE_TERMS.iter().find(|(quantity, ..)| *quantity == self);
        found.map_or(("", ""), |(_, name, unit)| (name, unit))
    }

    /// `nm`, `rad`, `deg` or `mrad`.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::Magnitude(_) => "nm",
            Self::Angle(_) => "rad",
            _ => self.beside_terms().1,
        }
    }

    /// Name with unit, e.g. `C12_nm`, `phi12_rad` or `rotation_deg`.
    #[must_use]
    pub fn key(self) -> String {
        format!("{}_{}", self.name(), self.unit())
    }

    /// Its value in a candidate, in [`Self::unit`]; a rotation that the candidate leaves to the acquisition reads 0.
    #[must_use]
    pub fn get(self, candidate: &Candidate) -> f64 {
        match self {
            Self::Magnitude(term) => {
                Length::from_a(candidate.aberrations.get(term).magnitude_a).nm()
            }
            Self::Angle(term) => candidate.aberrations.get(term).angle_rad,
            Self::Rotation => candidate.rotation_deg.unwrap_or(0.0),
            Self::TiltRow => candidate.tilt_mrad[0],
            Self::TiltCol => candidate.tilt_mrad[1],
            Self::DepthSpread => candidate.depth_spread_nm,
        }
    }

    /// Sets its value in a candidate, in [`Self::unit`].
    pub fn set(self, candidate: &mut Candidate, value: f64) {
        match self {
            Self::Magnitude(term) => {
                candidate.aberrations.get_mut(term).magnitude_a = Length::from_nm(value).a();
            }
            Self::Angle(term) => candidate.aberrations.get_mut(term).angle_rad = value,
            Self::Rotation => candidate.rotation_deg = Some(value),
            Self::TiltRow => candidate.tilt_mrad[0] = value,
            Self::TiltCol => candidate.tilt_mrad[1] = value,
            Self::DepthSpread => candidate.depth_spread_nm = value,
        }
    }

    /// Reads a value with a unit, in [`Self::unit`].
    pub(super) fn parse(self, object: &str, text: &str) -> Result<f64, Error> {
        let value = match self {
            Self::Magnitude(_) | Self::DepthSpread => text.parse::<Length>().map(Length::nm),
            Self::Angle(_) => text.parse::<Angle>().map(Angle::rad),
            Self::Rotation => text.parse::<Angle>().map(Angle::deg),
            Self::TiltRow | Self::TiltCol => text.parse::<Angle>().map(Angle::mrad),
        };
        value.map_err(|e| match e {
            ssb_core::Error::BadValue {
                expected,
                found,
                action,
                ..
            } => ssb_core::Error::BadValue {
                object: object.into(),
                expected,
                found,
                action,
            }
            .into(),
            other => other.into(),
        })
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.key())
    }
}
