//! One number that a fit can move, hold or start from: a coefficient in nm or its angle in rad.

use std::str::FromStr;

use serde::{Serialize, Serializer};
use ssb_core::{Aberrations, Angle, Length, TERMS, Term, TermPart, term_by_name};

use crate::Error;

/// A coefficient (nm) or an angle (rad) of the term with this index in [`TERMS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantity {
    term: usize,
    is_angle: bool,
}

impl Quantity {
    /// The coefficient of a term.
    #[must_use]
    pub const fn magnitude(term: usize) -> Self {
        Self {
            term,
            is_angle: false,
        }
    }

    /// The angle of a term.
    #[must_use]
    pub const fn angle(term: usize) -> Self {
        Self {
            term,
            is_angle: true,
        }
    }

    /// Finds a quantity by the name of a coefficient, an angle or an alias, with the sign that the
    /// name carries (`defocus` is `-C10`).
    ///
    /// # Errors
    /// [`ssb_core::Error::UnknownTerm`].
    pub fn by_name(name: &str) -> Result<(Self, f64), Error> {
        Ok(match term_by_name(name)? {
            TermPart::Magnitude(term, sign) => (Self::magnitude(term), sign),
            TermPart::Angle(term) => (Self::angle(term), 1.0),
        })
    }

    /// The row of the table of terms.
    #[must_use]
    pub fn term(self) -> &'static Term {
        &TERMS[self.term]
    }

    /// Index of the term in [`TERMS`].
    #[must_use]
    pub fn term_index(self) -> usize {
        self.term
    }

    /// Whether it is an angle.
    #[must_use]
    pub fn is_angle(self) -> bool {
        self.is_angle
    }

    /// Name, e.g. `C12` or `phi12`.
    #[must_use]
    pub fn name(self) -> &'static str {
        if self.is_angle {
            self.term().angle_name
        } else {
            self.term().name
        }
    }

    /// `nm` or `rad`.
    #[must_use]
    pub fn unit(self) -> &'static str {
        if self.is_angle { "rad" } else { "nm" }
    }

    /// Name with unit, e.g. `C12_nm` or `phi12_rad`, as in candidate files.
    #[must_use]
    pub fn key(self) -> String {
        format!("{}_{}", self.name(), self.unit())
    }

    /// Its value among the aberrations, in nm or rad.
    #[must_use]
    pub fn get(self, aberrations: &Aberrations) -> f64 {
        let value = aberrations.get(self.term);
        if self.is_angle {
            value.angle_rad
        } else {
            Length::from_a(value.magnitude_a).nm()
        }
    }

    /// Sets its value among the aberrations, in nm or rad.
    pub fn set(self, aberrations: &mut Aberrations, value: f64) {
        let slot = aberrations.get_mut(self.term);
        if self.is_angle {
            slot.angle_rad = value;
        } else {
            slot.magnitude_a = Length::from_nm(value).a();
        }
    }

    /// Reads a value with a unit, in nm or rad.
    fn parse(self, object: &str, text: &str) -> Result<f64, Error> {
        let value = if self.is_angle {
            text.parse::<Angle>().map(Angle::rad)
        } else {
            text.parse::<Length>().map(Length::nm)
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

/// A value of one quantity, in nm or rad.
///
/// ```
/// let s: ssb::Setting = "defocus=-12nm".parse()?;
/// assert_eq!((s.quantity.name(), s.value), ("C10", 12.0));
/// # Ok::<(), ssb::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// What is set.
    pub quantity: Quantity,
    /// To which value, in nm or rad.
    pub value: f64,
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

/// A range searched for one quantity, in nm or rad.
///
/// ```
/// let r: ssb::SearchRange = "C10=-40nm:40nm".parse()?;
/// assert_eq!((r.low, r.high), (-40.0, 40.0));
/// let r: ssb::SearchRange = "C12".parse()?; // C10, C12 and angles have default ranges
/// assert_eq!((r.low, r.high), (0.0, 10.0));
/// # Ok::<(), ssb::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SearchRange {
    /// What is searched.
    pub quantity: Quantity,
    /// Lower end, in nm or rad.
    pub low: f64,
    /// Upper end, in nm or rad.
    pub high: f64,
}

impl SearchRange {
    /// The default range: C10 -40 to 40 nm, C12 0 to 10 nm, an angle over its full period.
    #[must_use]
    pub fn default_of(quantity: Quantity) -> Option<Self> {
        let (low, high) = match (quantity.is_angle, quantity.term) {
            (true, _) => {
                let half = quantity.term().angle_period_rad() / 2.0;
                (-half, half)
            }
            (false, 0) => (-40.0, 40.0),
            (false, 1) => (0.0, 10.0),
            _ => return None,
        };
        Some(Self {
            quantity,
            low,
            high,
        })
    }
}

impl FromStr for SearchRange {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let expected = "a range such as C10=-40nm:40nm";
        let name = text.split('=').next().unwrap_or_default().trim();
        if name == "rotation" {
            return Err(Error::not_yet(
                "a search of the scan-detector rotation",
                "give it with --rotation-deg",
            ));
        }
        let (quantity, sign) = Quantity::by_name(name)?;
        let bad = |found: &str, action: &str| {
            Error::from(ssb_core::Error::BadValue {
                object: format!("search range of {name}"),
                expected: expected.into(),
                found: found.into(),
                action: action.into(),
            })
        };
        let Some((_, range)) = text.split_once('=') else {
            return Self::default_of(quantity)
                .ok_or_else(|| bad(text, "give both ends: this term has no default range"));
        };
        let (low, high) = range
            .split_once(':')
            .ok_or_else(|| bad(range, "separate both ends by a colon"))?;
        let object = format!("search range of {name}");
        let mut ends = [
            sign * quantity.parse(&object, low)?,
            sign * quantity.parse(&object, high)?,
        ];
        if sign < 0.0 {
            ends.swap(0, 1);
        }
        if ends[0] >= ends[1] {
            return Err(bad(
                range,
                "the lower end comes first; use --fix to hold a value",
            ));
        }
        Ok(Self {
            quantity,
            low: ends[0],
            high: ends[1],
        })
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
    }

    #[test]
    fn wrong_ranges_say_what_to_do() {
        for (text, word) in [
            ("C10=-40:40", "unit"),
            ("C10=40nm:-40nm", "lower end"),
            ("C10=40nm", "colon"),
            ("C30", "no default range"),
            ("C11=0nm:1nm", "C11"),
            ("rotation=-5deg:5deg", "not yet"),
        ] {
            let message = text.parse::<SearchRange>().unwrap_err().to_string();
            assert!(message.contains(word), "{text}: {message}");
        }
        for text in ["C12", "C12=5", "C12=5rad", "D1=5nm"] {
            assert!(text.parse::<Setting>().is_err(), "{text}");
        }
    }
}
