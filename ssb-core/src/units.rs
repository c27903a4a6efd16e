//! Lengths and angles that carry their unit, built by unit as `std::time::Duration` is.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;

/// A length, stored in Å.
///
/// ```
/// use ssb_core::Length;
/// let c10: Length = "12.5nm".parse()?;
/// assert_eq!(c10.a(), 125.0);
/// assert!("12.5".parse::<Length>().is_err());
/// # Ok::<(), ssb_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
pub struct Length {
    a: f64,
}

impl Length {
    /// From Å.
    #[must_use]
    pub const fn from_a(a: f64) -> Self {
        Self { a }
    }
    /// From nm.
    #[must_use]
    pub const fn from_nm(nm: f64) -> Self {
        Self { a: nm * 10.0 }
    }
    /// In Å.
    #[must_use]
    pub const fn a(self) -> f64 {
        self.a
    }
    /// Whether it is at most 1 m: beyond that no phase of an aberration has a correct digit.
    #[must_use]
    pub const fn is_credible(self) -> bool {
        self.a.abs() <= 1e10
    }
    /// In nm.
    #[must_use]
    pub const fn nm(self) -> f64 {
        self.a / 10.0
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} nm", self.nm())
    }
}

/// An angle, stored in radians.
///
/// ```
/// use ssb_core::Angle;
/// let phi: Angle = "180deg".parse()?;
/// assert!((phi.rad() - std::f64::consts::PI).abs() < 1e-15);
/// # Ok::<(), ssb_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
pub struct Angle {
    rad: f64,
}

impl Angle {
    /// From radians.
    #[must_use]
    pub const fn from_rad(rad: f64) -> Self {
        Self { rad }
    }
    /// From degrees.
    #[must_use]
    pub const fn from_deg(deg: f64) -> Self {
        Self {
            rad: deg.to_radians(),
        }
    }
    /// From milliradians.
    #[must_use]
    pub const fn from_mrad(mrad: f64) -> Self {
        Self { rad: mrad * 1e-3 }
    }
    /// In milliradians.
    #[must_use]
    pub const fn mrad(self) -> f64 {
        self.rad * 1e3
    }
    /// In radians.
    #[must_use]
    pub const fn rad(self) -> f64 {
        self.rad
    }
    /// In degrees.
    #[must_use]
    pub const fn deg(self) -> f64 {
        self.rad.to_degrees()
    }
}

impl fmt::Display for Angle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rad", self.rad)
    }
}

/// Splits `12.5nm` into its number and its unit.
fn split_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    // The longest numeric prefix: an exponent's letter belongs to the number only if it parses.
    let end = (1..=text.len())
        .rev()
        .filter(|&i| text.is_char_boundary(i))
        .find(|&i| text[..i].trim_end() == &text[..i] && text[..i].parse::<f64>().is_ok())?;
    let value: f64 = text[..end].parse().ok()?;
    value.is_finite().then(|| (value, text[end..].trim()))
}

fn bad(quantity: &str, text: &str, expected: &str) -> Error {
    let bare = split_unit(text).is_some_and(|(_, unit)| unit.is_empty());
    Error::BadValue {
        object: quantity.into(),
        expected: expected.into(),
        found: text.into(),
        action: if bare {
            "write the unit after the number"
        } else {
            "correct the value"
        }
        .into(),
    }
}

impl FromStr for Length {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let expected = "a number with nm, A, um or mm, e.g. 12.5nm";
        let (value, unit) = split_unit(text).ok_or_else(|| bad("length", text, expected))?;
        let a_per_unit = match unit {
            "A" | "Å" | "angstrom" => 1.0,
            "nm" => 10.0,
            "um" | "µm" | "μm" => 1e4,
            "mm" => 1e7,
            _ => return Err(bad("length", text, expected)),
        };
        let length = Self::from_a(value * a_per_unit);
        if length.is_credible() {
            Ok(length)
        } else {
            Err(Error::BadValue {
                object: "length".into(),
                expected: "at most 1 m".into(),
                found: text.into(),
                action: "check the unit".into(),
            })
        }
    }
}

impl FromStr for Angle {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let expected = "a number with rad, mrad or deg, e.g. 0.25rad or 14deg";
        let (value, unit) = split_unit(text).ok_or_else(|| bad("angle", text, expected))?;
        match unit {
            "rad" => Ok(Self::from_rad(value)),
            "mrad" => Ok(Self::from_rad(value * 1e-3)),
            "deg" | "°" => Ok(Self::from_deg(value)),
            _ => Err(bad("angle", text, expected)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_converts() {
        for (text, a) in [
            ("1nm", 10.0),
            ("-3.5 A", -3.5),
            ("1.2um", 12_000.0),
            ("1e-3mm", 10_000.0),
            ("2e1nm", 200.0),
        ] {
            assert!(
                (text.parse::<Length>().unwrap().a() - a).abs() < 1e-9,
                "{text}"
            );
        }
        assert!(
            ("90deg".parse::<Angle>().unwrap().rad() - std::f64::consts::FRAC_PI_2).abs() < 1e-15
        );
    }

    #[test]
    fn bare_numbers_and_wrong_units_are_refused() {
        for text in [
            "12",
            "",
            "nm",
            "12 furlong",
            "12rad",
            "nan nm",
            "infnm",
            "1e400nm",
            "1e300nm",
            "-1001mm",
        ] {
            assert!(text.parse::<Length>().is_err(), "{text}");
        }
        for text in ["1", "1nm", "rad"] {
            assert!(text.parse::<Angle>().is_err(), "{text}");
        }
        let message = "12".parse::<Length>().unwrap_err().to_string();
        assert!(message.contains("write the unit"), "{message}");
    }
}
