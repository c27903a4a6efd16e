//! One number that a fit can move, hold or start from: a coefficient in nm, its angle in rad, the scan-detector
//! rotation in deg, a component of the specimen's tilt in mrad, or the depth spread in nm.

use std::str::FromStr;

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
    fn parse(self, object: &str, text: &str) -> Result<f64, Error> {
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

fn split<'a>(object: &str, text: &'a str, expected: &str) -> Result<(&'a str, &'a str), Error> {
    text.split_once('=').ok_or_else(|| {
        ssb_core::Error::BadValue {
            object: object.into(),
            expected: expected.into(),
            found: text.into(),
            action: "write name=value".into(),
        }
        .into()
    })
}

/// A value of one quantity, in its unit.
///
/// ```
/// let s: ssb::fit::Setting = "defocus=-12nm".parse()?;
/// assert_eq!((s.quantity.name(), s.value), ("C10", 12.0));
/// # Ok::<(), ssb::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// What is set.
    pub quantity: Quantity,
    /// To which value, in the unit of its quantity.
    pub value: f64,
}

impl Serialize for Setting {
    /// As `["C12_nm", 5.0]`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.quantity, self.value).serialize(serializer)
    }
}

impl FromStr for Setting {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (name, value) = split("aberration", text, "e.g. C12=5nm or phi12=14deg")?;
        let (quantity, sign) = Quantity::by_name(name.trim())?;
        Ok(Self {
            quantity,
            value: sign * quantity.parse(&format!("aberration {name}"), value)?,
        })
    }
}

/// A range searched for one quantity, in its unit.
///
/// ```
/// let r: ssb::fit::SearchRange = "C10=-40nm:40nm".parse()?;
/// assert_eq!((r.low, r.high), (-40.0, 40.0));
/// let r: ssb::fit::SearchRange = "C12".parse()?; // C10, C12 and angles have default ranges
/// assert_eq!((r.low, r.high), (0.0, 10.0));
/// # Ok::<(), ssb::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SearchRange {
    /// What is searched.
    pub quantity: Quantity,
    /// Lower end, in the unit of its quantity.
    pub low: f64,
    /// Upper end, in the unit of its quantity.
    pub high: f64,
}

const RANGE: &str = "a range such as C10=-40nm:40nm";

impl SearchRange {
    /// The default range: C10 -40 to 40 nm, C12 0 to 10 nm, an angle over its full period, tilt -25 to 25 mrad each
    /// way, depth spread 2 to 60 nm (numerics section 4).
    #[must_use]
    pub fn default_of(quantity: Quantity) -> Option<Self> {
        let (low, high) = match quantity {
            Quantity::Angle(term) => {
                let half = TERMS[term].angle_period_rad() / 2.0;
                (-half, half)
            }
            Quantity::Magnitude(0) => (-40.0, 40.0),
            Quantity::Magnitude(1) => (0.0, 10.0),
            Quantity::TiltRow | Quantity::TiltCol => (-25.0, 25.0),
            Quantity::DepthSpread => (2.0, 60.0),
            _ => return None,
        };
        Some(Self {
            quantity,
            low,
            high,
        })
    }

    /// From the ends that a name with this sign was given.
    pub(super) fn ordered(
        quantity: Quantity,
        sign: f64,
        [low, high]: [f64; 2],
        name: &str,
    ) -> Result<Self, Error> {
        // A NaN is in no order.
        if !matches!(low.partial_cmp(&high), Some(std::cmp::Ordering::Less)) {
            return Err(ssb_core::Error::BadValue {
                object: format!("search range of {name}"),
                expected: RANGE.into(),
                found: format!("{low} to {high} {}", quantity.unit()),
                action: "the lower end comes first; use --fix to hold a value".into(),
            }
            .into());
        }
        let (low, high) = if sign < 0.0 {
            (-high, -low)
        } else {
            (low, high)
        };
        Ok(Self {
            quantity,
            low,
            high,
        })
    }
}

impl FromStr for SearchRange {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let name = text.split('=').next().unwrap_or_default().trim();
        let (quantity, sign) = Quantity::by_name(name)?;
        let bad = |found: &str, action: &str| {
            Error::from(ssb_core::Error::BadValue {
                object: format!("search range of {name}"),
                expected: RANGE.into(),
                found: found.into(),
                action: action.into(),
            })
        };
        let Some((_, range)) = text.split_once('=') else {
            return Self::default_of(quantity)
                .ok_or_else(|| bad(text, "give both ends: it has no default range"));
        };
        let (low, high) = range
            .split_once(':')
            .ok_or_else(|| bad(range, "separate both ends by a colon"))?;
        let object = format!("search range of {name}");
        let ends = [
            quantity.parse(&object, low)?,
            quantity.parse(&object, high)?,
        ];
        Self::ordered(quantity, sign, ends, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_settings_are_read_with_their_units() {
        let r: SearchRange = "C10=-400A:0.04um".parse().unwrap();
        assert_eq!((r.low, r.high), (-40.0, 40.0));
        let r: SearchRange = "defocus=-10nm:30nm".parse().unwrap();
        assert_eq!((r.quantity.name(), r.low, r.high), ("C10", -30.0, 10.0));
        let r: SearchRange = "phi21".parse().unwrap();
        assert!((r.high - std::f64::consts::PI).abs() < 1e-15);
        let s: Setting = "phi12=-90deg".parse().unwrap();
        assert!((s.value + std::f64::consts::FRAC_PI_2).abs() < 1e-15);
        assert_eq!(s.quantity.key(), "phi12_rad");
        let r: SearchRange = "rotation=-5deg:5deg".parse().unwrap();
        assert_eq!(
            (r.quantity.key().as_str(), r.low, r.high),
            ("rotation_deg", -5.0, 5.0)
        );
        let r: SearchRange = "tilt_row=-0.01rad:10mrad".parse().unwrap();
        assert!((r.low + 10.0).abs() < 1e-9 && (r.high - 10.0).abs() < 1e-9);
        let r: SearchRange = "depth_spread".parse().unwrap();
        assert_eq!((r.low, r.high), (2.0, 60.0));
    }

    #[test]
    fn wrong_ranges_say_what_to_do() {
        for (text, word) in [
            ("C10=-40:40", "unit"),
            ("C10=40nm:-40nm", "lower end"),
            ("C10=40nm", "colon"),
            ("C30", "no default range"),
            ("C11=0nm:1nm", "C11"),
            ("rotation", "no default range"),
            ("rotation=1nm:2nm", "deg"),
        ] {
            let message = text.parse::<SearchRange>().unwrap_err().to_string();
            assert!(message.contains(word), "{text}: {message}");
        }
        for text in ["C12", "C12=5", "C12=5rad", "D1=5nm"] {
            assert!(text.parse::<Setting>().is_err(), "{text}");
        }
    }
}
