//! Aberrations and candidates: what one evaluation of the objective is given.

use std::collections::BTreeSet;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::terms::TermPart;
use crate::{Angle, Error, Length, TERMS, term_by_name};

/// Largest depth spread that is taken, 1 mm: beyond it the model leaves no signal.
pub const MAX_DEPTH_SPREAD_NM: f64 = 1e6;

/// One coefficient with its angle. Length in Å, angle in radians.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Aberration {
    /// `C_nm` in Å.
    pub magnitude_a: f64,
    /// `phi_nm` in radians; 0 for a symmetric term.
    pub angle_rad: f64,
}

/// A value for every term of [`TERMS`]; absent terms are 0.
///
/// ```
/// use ssb_core::Aberrations;
/// let mut ab = Aberrations::default();
/// ab.set("C10", "15nm")?;
/// ab.set("phi12", "28.6deg")?;
/// ab.set("defocus", "-15nm")?; // the same as C10 = 15 nm
/// assert_eq!(ab.get(0).magnitude_a, 150.0);
/// # Ok::<(), ssb_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Aberrations {
    values: Vec<Aberration>,
}

impl Default for Aberrations {
    fn default() -> Self {
        Self {
            values: vec![Aberration::default(); TERMS.len()],
        }
    }
}

impl Aberrations {
    /// The value of the term with this index in [`TERMS`].
    #[must_use]
    pub fn get(&self, term: usize) -> Aberration {
        self.values[term]
    }

    /// The term with this index, to be changed.
    pub fn get_mut(&mut self, term: usize) -> &mut Aberration {
        &mut self.values[term]
    }

    /// All values in the order of [`TERMS`].
    #[must_use]
    pub fn values(&self) -> &[Aberration] {
        &self.values
    }

    /// Sets a coefficient, angle or alias from text with a unit.
    ///
    /// # Errors
    /// [`Error::UnknownTerm`], or [`Error::BadValue`] for a value without a unit.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), Error> {
        let part = term_by_name(name)?;
        let named = |e: Error| match e {
            Error::BadValue {
                expected,
                found,
                action,
                ..
            } => Error::BadValue {
                object: format!("aberration {name}"),
                expected,
                found,
                action,
            },
            other => other,
        };
        match part {
            TermPart::Magnitude(i, sign) => {
                self.values[i].magnitude_a = sign * value.parse::<Length>().map_err(named)?.a();
            }
            TermPart::Angle(i) => {
                self.values[i].angle_rad = value.parse::<Angle>().map_err(named)?.rad();
            }
        }
        Ok(())
    }

    /// Sets a coefficient of a term by its index.
    #[must_use]
    pub fn with(mut self, term: usize, magnitude: Length, angle: Angle) -> Self {
        self.values[term] = Aberration {
            magnitude_a: magnitude.a(),
            angle_rad: angle.rad(),
        };
        self
    }

    /// Whether every coefficient is exactly 0.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.values.iter().all(|v| v.magnitude_a == 0.0)
    }
}

/// One point of the search: aberrations, and optionally the thick model and a rotation.
///
/// As JSON (and in candidate files) it reads
/// `{"C10_nm": 15, "C12_nm": 6, "phi12_rad": 0.5, "tilt_mrad": [0, 0], "depth_spread_nm": 0}`;
/// absent means 0, and an absent `rotation_deg` keeps the acquisition's.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Candidate {
    /// Lens aberrations.
    pub aberrations: Aberrations,
    /// Specimen tilt (row, col) in mrad (numerics section 4).
    pub tilt_mrad: [f64; 2],
    /// Depth spread in nm; 0 is the thin model.
    pub depth_spread_nm: f64,
    /// Scan-detector rotation in degrees, in place of the acquisition's.
    pub rotation_deg: Option<f64>,
}

impl Candidate {
    /// A thin candidate with these aberrations.
    #[must_use]
    pub fn thin(aberrations: Aberrations) -> Self {
        Self {
            aberrations,
            ..Self::default()
        }
    }

    /// The value of a JSON key such as `C10_nm`, `phi12_rad`, `depth_spread_nm`.
    fn put(&mut self, key: &str, value: &Value) -> Result<(), String> {
        let number = |v: &Value| {
            v.as_f64()
                .filter(|x| x.is_finite())
                .ok_or_else(|| format!("{key}: expected a finite number, found {v}"))
        };
        match key {
            "tilt_mrad" => match value.as_array().map(Vec::as_slice) {
                Some([row, col]) => self.tilt_mrad = [number(row)?, number(col)?],
                _ => {
                    return Err(format!(
                        "tilt_mrad: expected [row, col] in mrad, found {value}"
                    ));
                }
            },
            "depth_spread_nm" => {
                self.depth_spread_nm = number(value)?;
                if !(0.0..=MAX_DEPTH_SPREAD_NM).contains(&self.depth_spread_nm) {
                    return Err(format!(
                        "depth_spread_nm: expected 0 to {MAX_DEPTH_SPREAD_NM}, found {value}"
                    ));
                }
            }
            "rotation_deg" if value.is_null() => self.rotation_deg = None,
            "rotation_deg" => self.rotation_deg = Some(number(value)?),
            _ => {
                let (name, unit) = key.rsplit_once('_').ok_or_else(|| {
                    format!("{key}: a key needs its unit, e.g. C10_nm or phi12_rad")
                })?;
                match (term_by_name(name).map_err(|e| e.to_string())?, unit) {
                    (TermPart::Magnitude(i, sign), "nm") => {
                        let length = Length::from_nm(sign * number(value)?);
                        if !length.is_credible() {
                            return Err(format!("{key}: expected at most 1e9 nm, found {value}"));
                        }
                        self.aberrations.values[i].magnitude_a = length.a();
                    }
                    (TermPart::Angle(i), "rad") => {
                        self.aberrations.values[i].angle_rad = number(value)?;
                    }
                    (TermPart::Magnitude(..), _) => {
                        return Err(format!("{key}: a coefficient is given in nm, as {name}_nm"));
                    }
                    (TermPart::Angle(_), _) => {
                        return Err(format!("{key}: an angle is given in rad, as {name}_rad"));
                    }
                }
            }
        }
        Ok(())
    }
}

impl Serialize for Candidate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serde_json::Map::new();
        for (i, (term, value)) in TERMS.iter().zip(&self.aberrations.values).enumerate() {
            // C10 and C12 are always written; others where they are set.
            if i < 2 || *value != Aberration::default() {
                map.insert(
                    format!("{}_nm", term.name),
                    (value.magnitude_a / 10.0).into(),
                );
                if term.m > 0 {
                    map.insert(format!("{}_rad", term.angle_name), value.angle_rad.into());
                }
            }
        }
        map.insert("tilt_mrad".into(), self.tilt_mrad.to_vec().into());
        map.insert("depth_spread_nm".into(), self.depth_spread_nm.into());
        if let Some(rotation_deg) = self.rotation_deg {
            map.insert("rotation_deg".into(), rotation_deg.into());
        }
        map.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Candidate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(CandidateVisitor)
    }
}

struct CandidateVisitor;

impl<'de> Visitor<'de> for CandidateVisitor {
    type Value = Candidate;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a candidate, e.g. {\"C10_nm\": 15, \"C12_nm\": 6, \"phi12_rad\": 0.5}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Candidate, A::Error> {
        let mut candidate = Candidate::default();
        let mut seen = BTreeSet::new();
        while let Some((key, value)) = map.next_entry::<String, Value>()? {
            candidate.put(&key, &value).map_err(A::Error::custom)?;
            if let Some(twice) = seen.replace(key) {
                return Err(A::Error::custom(format!("{twice}: given twice")));
            }
        }
        Ok(candidate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_round_trip() {
        let text = r#"{"C10_nm":15,"C12_nm":6,"phi12_rad":0.5,"C30_nm":1200,
            "tilt_mrad":[3,-4],"depth_spread_nm":12,"rotation_deg":-27}"#;
        let c: Candidate = serde_json::from_str(text).unwrap();
        assert_eq!(c.aberrations.get(4).magnitude_a, 12_000.0);
        assert_eq!(c.tilt_mrad, [3.0, -4.0]);
        assert_eq!(c.rotation_deg, Some(-27.0));
        let back: Candidate = serde_json::from_str(&serde_json::to_string(&c).unwrap()).unwrap();
        assert_eq!(back, c);
        let empty: Candidate = serde_json::from_str("{}").unwrap();
        assert_eq!(empty, Candidate::default());
    }

    #[test]
    fn wrong_keys_are_refused_by_name() {
        for (text, must_mention) in [
            (r#"{"C10":15}"#, "unit"),
            (r#"{"C10_A":15}"#, "nm"),
            (r#"{"C11_nm":15}"#, "C11"),
            (r#"{"phi10_rad":15}"#, "phi10"),
            (r#"{"C10_nm":"15"}"#, "number"),
            (r#"{"tilt_mrad":3}"#, "tilt_mrad"),
            (r#"{"depth_spread_nm":-1}"#, "depth_spread_nm"),
            (r#"{"C10_nm":1,"C10_nm":2}"#, "given twice"),
            (r#"{"depth_spread_nm":1e300}"#, "depth_spread_nm"),
            (r#"{"C10_nm":1e300}"#, "1e9 nm"),
        ] {
            let message = serde_json::from_str::<Candidate>(text)
                .unwrap_err()
                .to_string();
            assert!(message.contains(must_mention), "{text}: {message}");
        }
    }

    #[test]
    fn bare_numbers_are_refused() {
        let message = Aberrations::default()
            .set("C10", "15")
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("aberration C10") && message.contains("unit"),
            "{message}"
        );
    }
}
