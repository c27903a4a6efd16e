//! What a fit holds or starts from, and what it searches: read from text as `C12=5nm`, or built from values that
//! carry their unit.

use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use ssb_core::TERMS;

use super::Quantity;
use super::amount::Amount;
use crate::Error;

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

impl Setting {
    /// A value of the quantity with this name (`C10`, `phi12`, `defocus`, `rotation`, `tilt_row`, …).
    ///
    /// # Errors
    /// An unknown name, or a length where an angle belongs.
    pub fn new(name: &str, amount: impl Into<Amount>) -> Result<Self, Error> {
        let (quantity, sign) = Quantity::by_name(name)?;
        let value = sign * quantity.of(&format!("aberration {name}"), amount.into())?;
        Ok(Self { quantity, value })
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

impl SearchRange {
    /// A range of the quantity with this name.
    ///
    /// # Errors
    /// An unknown name, a length where an angle belongs, or ends in the wrong order.
    pub fn new<A: Into<Amount> + Copy>(
        name: &str,
        range: RangeInclusive<A>,
    ) -> Result<Self, Error> {
        let (quantity, sign) = Quantity::by_name(name)?;
        let object = format!("search range of {name}");
        let [low, high] = [*range.start(), *range.end()].map(|a| quantity.of(&object, a.into()));
        Self::ordered(quantity, sign, [low?, high?], name)
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
