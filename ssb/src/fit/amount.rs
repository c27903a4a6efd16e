//! Options of a fit, built from values that carry their unit.

use std::ops::RangeInclusive;

use ssb_core::{Angle, Length};

use super::{FitOptions, Quantity, Refine, SearchRange, Setting};
use crate::Error;

/// A value with its unit: a length or an angle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// Of a coefficient or a depth spread.
    Length(Length),
    /// Of an angle, a rotation or a tilt.
    Angle(Angle),
}

impl From<Length> for Amount {
    fn from(length: Length) -> Self {
        Self::Length(length)
    }
}

impl From<Angle> for Amount {
    fn from(angle: Angle) -> Self {
        Self::Angle(angle)
    }
}

impl Quantity {
    /// A value of this quantity, in [`Self::unit`].
    pub(super) fn of(self, object: &str, amount: Amount) -> Result<f64, Error> {
        let (expected, found) = match (self, amount) {
            (Self::Magnitude(_) | Self::DepthSpread, Amount::Length(length)) => {
                return Ok(length.nm());
            }
            (Self::Angle(_), Amount::Angle(angle)) => return Ok(angle.rad()),
            (Self::Rotation, Amount::Angle(angle)) => return Ok(angle.deg()),
            (Self::TiltRow | Self::TiltCol, Amount::Angle(angle)) => return Ok(angle.mrad()),
            (_, Amount::Length(length)) => ("an angle", length.to_string()),
            (_, Amount::Angle(angle)) => ("a length", angle.to_string()),
        };
        Err(ssb_core::Error::BadValue {
            object: object.into(),
            expected: expected.into(),
            found,
            action: "give a value of that kind".into(),
        }
        .into())
    }
}

/// Options by what they change; the rest stays at its default.
///
/// ```
/// use ssb::FitOptions;
/// use ssb::units::{Angle, Length};
/// let options = FitOptions::default()
///     .with_method("tpe")
///     .with_trials(80)
///     .with_search("C10", Length::from_nm(-60.0)..=Length::from_nm(60.0))?
///     .with_search("rotation", Angle::from_deg(-5.0)..=Angle::from_deg(5.0))?
///     .with_fixed("C30", Length::from_a(12_000.0))?;
/// assert_eq!((options.search[0].low, options.search[1].high), (-60.0, 5.0));
/// assert_eq!(options.fix[0].value, 1200.0); // nm
/// # Ok::<(), ssb::Error>(())
/// ```
impl FitOptions {
    /// With a search method: `guided`, `tpe`, `random` or `grid`.
    #[must_use]
    pub fn with_method(mut self, method: &str) -> Self {
        self.method = method.into();
        self
    }

    /// With so many trials, the start included.
    #[must_use]
    pub fn with_trials(mut self, trials: usize) -> Self {
        self.trials = trials;
        self
    }

    /// With another seed.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// With one more quantity searched.
    ///
    /// # Errors
    /// As [`SearchRange::new`].
    pub fn with_search<A: Into<Amount> + Copy>(
        mut self,
        name: &str,
        range: RangeInclusive<A>,
    ) -> Result<Self, Error> {
        self.search.push(SearchRange::new(name, range)?);
        Ok(self)
    }

    /// With a value that the search starts from.
    ///
    /// # Errors
    /// As [`Setting::new`].
    pub fn with_start(mut self, name: &str, amount: impl Into<Amount>) -> Result<Self, Error> {
        self.start.push(Setting::new(name, amount)?);
        Ok(self)
    }

    /// With a value that is held.
    ///
    /// # Errors
    /// As [`Setting::new`].
    pub fn with_fixed(mut self, name: &str, amount: impl Into<Amount>) -> Result<Self, Error> {
        self.fix.push(Setting::new(name, amount)?);
        Ok(self)
    }

    /// With tilt and depth spread searched too.
    #[must_use]
    pub fn with_tilt(mut self) -> Self {
        self.tilt = true;
        self
    }

    /// With another refinement.
    #[must_use]
    pub fn with_refine(mut self, refine: Refine) -> Self {
        self.refine = refine;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_and_written_options_are_the_same() {
        let nm = Length::from_nm;
        let typed = SearchRange::new("defocus", nm(-10.0)..=nm(30.0)).unwrap();
        assert_eq!(typed, "defocus=-10nm:30nm".parse().unwrap());
        let tilt = Setting::new("tilt_col", Angle::from_mrad(-4.0)).unwrap();
        assert!((tilt.value + 4.0).abs() < 1e-12);
        let angle = Setting::new("phi12", Angle::from_deg(90.0)).unwrap();
        assert_eq!(angle, "phi12=90deg".parse().unwrap());
    }

    #[test]
    fn a_length_is_no_angle() {
        for (name, amount, word) in [
            ("C10", Amount::from(Angle::from_deg(3.0)), "a length"),
            ("phi12", Length::from_nm(3.0).into(), "an angle"),
            ("rotation", Length::from_nm(3.0).into(), "an angle"),
        ] {
            let message = Setting::new(name, amount).unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        }
        let turned = SearchRange::new("C10", Length::from_nm(3.0)..=Length::from_nm(-3.0));
        assert!(turned.unwrap_err().to_string().contains("lower end"));
    }
}
