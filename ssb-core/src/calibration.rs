//! Calibration values with where each came from; an argument wins over the file.

use serde::{Deserialize, Serialize};

use crate::{Angle, Error, Length, wavelength_a};

/// A value and where it came from: `argument`, `file:/path/inside`, or a stated assumption.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sourced<T> {
    /// The value; its unit is in the name of the field that holds it.
    pub value: T,
    /// Where it came from.
    pub source: String,
}

impl<T> Sourced<T> {
    /// A value with its origin.
    pub fn new(value: T, source: impl Into<String>) -> Self {
        Self {
            value,
            source: source.into(),
        }
    }
}

/// Calibration as far as it is known: from a file, or from arguments.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CalibrationHints {
    /// Beam energy in kV.
    pub voltage_kv: Option<Sourced<f64>>,
    /// Convergence semi-angle in mrad.
    pub semiangle_mrad: Option<Sourced<f64>>,
    /// Scan step (row, col) in Å.
    pub scan_step_a: Option<Sourced<[f64; 2]>>,
    /// Detector step (row, col) in mrad per pixel.
    pub det_step_mrad: Option<Sourced<[f64; 2]>>,
    /// Detector step (row, col) in 1/Å per pixel; becomes mrad once the voltage is known.
    pub det_step_per_a: Option<Sourced<[f64; 2]>>,
    /// Scan-detector rotation in degrees.
    pub rotation_deg: Option<Sourced<f64>>,
}

/// Values by what is known, each with the origin `argument`; the rest comes from the file or is missing.
///
/// ```
/// use ssb_core::{Angle, CalibrationHints, Length};
/// let hints = CalibrationHints::default()
///     .with_voltage_kv(300.0)
///     .with_semiangle(Angle::from_mrad(21.4))
///     .with_scan_step([Length::from_a(0.25); 2])
///     .with_rotation(Angle::from_deg(-12.0));
/// assert_eq!(hints.scan_step_a.unwrap().value, [0.25, 0.25]);
/// ```
impl CalibrationHints {
    /// With the beam energy in kV.
    #[must_use]
    pub fn with_voltage_kv(mut self, voltage_kv: f64) -> Self {
        self.voltage_kv = Some(given(voltage_kv));
        self
    }
    /// With the convergence semi-angle.
    #[must_use]
    pub fn with_semiangle(mut self, semiangle: Angle) -> Self {
        self.semiangle_mrad = Some(given(semiangle.mrad()));
        self
    }
    /// With the scan step (row, col).
    #[must_use]
    pub fn with_scan_step(mut self, step: [Length; 2]) -> Self {
        self.scan_step_a = Some(given(step.map(Length::a)));
        self
    }
    /// With the detector step (row, col) a pixel.
    #[must_use]
    pub fn with_det_step(mut self, step: [Angle; 2]) -> Self {
        self.det_step_mrad = Some(given(step.map(Angle::mrad)));
        self
    }
    /// With the scan-detector rotation.
    #[must_use]
    pub fn with_rotation(mut self, rotation: Angle) -> Self {
        self.rotation_deg = Some(given(rotation.deg()));
        self
    }
}

fn given<T>(value: T) -> Sourced<T> {
    Sourced::new(value, "argument")
}

/// A complete, checked calibration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Beam energy in kV.
    pub voltage_kv: Sourced<f64>,
    /// Convergence semi-angle in mrad.
    pub semiangle_mrad: Sourced<f64>,
    /// Scan step (row, col) in Å.
    pub scan_step_a: Sourced<[f64; 2]>,
    /// Detector step (row, col) in mrad per pixel.
    pub det_step_mrad: Sourced<[f64; 2]>,
    /// Scan-detector rotation in degrees.
    pub rotation_deg: Sourced<f64>,
}

fn check(name: &str, values: &[f64], range: [f64; 2], unit: &str) -> Result<(), Error> {
    match values
        .iter()
        .find(|v| !(v.is_finite() && **v >= range[0] && **v <= range[1]))
    {
        None => Ok(()),
        Some(v) => Err(Error::BadValue {
            object: name.into(),
            expected: format!("{} to {} {unit}", range[0], range[1]),
            found: format!("{v} {unit}"),
            action: "check the unit".into(),
        }),
    }
}

/// Picks the given value before the found one and reports when both exist and differ.
fn pick<T: Clone + PartialEq + std::fmt::Debug>(
    name: &str,
    given: Option<&Sourced<T>>,
    found: Option<&Sourced<T>>,
    warnings: &mut Vec<String>,
) -> Option<Sourced<T>> {
    if let (Some(g), Some(f)) = (given, found)
        && g.value != f.value
    {
        warnings.push(format!(
            "{name}: using {:?} ({}); the file says {:?} ({})",
            g.value, g.source, f.value, f.source
        ));
    }
    given.or(found).cloned()
}

/// Given values before those found in a file, as far as there are any, and a warning for each that
/// differs. A detector step that is given replaces one of either kind.
#[must_use]
pub fn merge_hints(
    given: &CalibrationHints,
    found: &CalibrationHints,
) -> (CalibrationHints, Vec<String>) {
    let mut warnings = Vec::new();
    macro_rules! pick {
        ($field:ident) => {
            pick(
                stringify!($field),
                given.$field.as_ref(),
                found.$field.as_ref(),
                &mut warnings,
            )
        };
    }
    let hints = CalibrationHints {
        voltage_kv: pick!(voltage_kv),
        semiangle_mrad: pick!(semiangle_mrad),
        scan_step_a: pick!(scan_step_a),
        det_step_mrad: pick!(det_step_mrad),
        det_step_per_a: found
            .det_step_per_a
            .clone()
            .filter(|_| given.det_step_mrad.is_none()),
        rotation_deg: pick!(rotation_deg),
    };
    (hints, warnings)
}

/// Completes the calibration found in a file with the given one, which wins.
///
/// Returns the calibration and warnings for people (both values where they differ, an unknown
/// rotation taken as 0).
///
/// # Errors
/// [`Error::MissingCalibration`] naming every missing value and its flag at once, or
/// [`Error::BadValue`] for one outside its physical range.
pub fn merge_calibration(
    given: &CalibrationHints,
    found: &CalibrationHints,
) -> Result<(Calibration, Vec<String>), Error> {
    // A step in 1/Å counts as one in mrad as soon as the voltage is known.
    let mut found = found.clone();
    let voltage = given.voltage_kv.as_ref().or(found.voltage_kv.as_ref());
    if let (None, Some(step), Some(kv)) = (&found.det_step_mrad, &found.det_step_per_a, voltage) {
        let mrad = step.value.map(|v| v * wavelength_a(kv.value) * 1e3);
        let source = format!("{} (1/Å x wavelength)", step.source);
        found.det_step_mrad = Some(Sourced::new(mrad, source));
    }
    let (hints, mut warnings) = merge_hints(given, &found);
    let (voltage, semiangle) = (hints.voltage_kv, hints.semiangle_mrad);
    let (scan_step, det_step) = (hints.scan_step_a, hints.det_step_mrad);
    let rotation = hints.rotation_deg;

    let mut names = Vec::new();
    let mut flags = Vec::new();
    for (missing, name, flag) in [
        (voltage.is_none(), "beam voltage (kV)", "--voltage-kv"),
        (
            semiangle.is_none(),
            "convergence semi-angle (mrad)",
            "--semiangle-mrad",
        ),
        (scan_step.is_none(), "scan step (Å)", "--scan-step-a"),
        (
            det_step.is_none(),
            "detector step (mrad per pixel)",
            "--det-step-mrad",
        ),
    ] {
        if missing {
            names.push(name.to_owned());
            flags.push(flag.to_owned());
        }
    }
    let (Some(voltage_kv), Some(semiangle_mrad), Some(scan_step_a), Some(det_step_mrad)) =
        (voltage, semiangle, scan_step, det_step)
    else {
        return Err(Error::MissingCalibration { names, flags });
    };
    let rotation_deg = rotation.unwrap_or_else(|| {
        warnings.push(
            "rotation_deg: not in the file and not given; 0 is assumed (--rotation-deg sets it)"
                .into(),
        );
        Sourced::new(0.0, "assumed: unknown rotation taken as 0")
    });
    check("voltage_kv", &[voltage_kv.value], [1.0, 5000.0], "kV")?;
    check(
        "semiangle_mrad",
        &[semiangle_mrad.value],
        [0.01, 500.0],
        "mrad",
    )?;
    check("scan_step_a", &scan_step_a.value, [1e-4, 1e5], "Å")?;
    check("det_step_mrad", &det_step_mrad.value, [1e-5, 200.0], "mrad")?;
    check(
        "rotation_deg",
        &[rotation_deg.value],
        [-360.0, 360.0],
        "deg",
    )?;
    let calibration = Calibration {
        voltage_kv,
        semiangle_mrad,
        scan_step_a,
        det_step_mrad,
        rotation_deg,
    };
    Ok((calibration, warnings))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete() -> CalibrationHints {
        CalibrationHints {
            voltage_kv: Some(Sourced::new(300.0, "file:/a")),
            semiangle_mrad: Some(Sourced::new(20.0, "file:/a")),
            scan_step_a: Some(Sourced::new([0.25, 0.3], "file:/a")),
            det_step_mrad: None,
            det_step_per_a: Some(Sourced::new([0.1, 0.1], "file:/q")),
            rotation_deg: None,
        }
    }

    #[test]
    fn missing_values_are_named_together() {
        let error = merge_calibration(&CalibrationHints::default(), &CalibrationHints::default())
            .unwrap_err()
            .to_string();
        for flag in [
            "--voltage-kv",
            "--semiangle-mrad",
            "--scan-step-a",
            "--det-step-mrad",
        ] {
            assert!(error.contains(flag), "{error}");
        }
    }

    #[test]
    fn arguments_win_and_reciprocal_steps_need_the_voltage() {
        let given = CalibrationHints {
            semiangle_mrad: Some(Sourced::new(21.4, "argument")),
            ..CalibrationHints::default()
        };
        let (c, warnings) = merge_calibration(&given, &complete()).unwrap();
        assert_eq!(c.semiangle_mrad.value, 21.4);
        assert!((c.det_step_mrad.value[0] - 1.968_748_900_684_9).abs() < 1e-9);
        assert!(
            warnings
                .iter()
                .any(|w| w.contains("21.4") && w.contains("20"))
        );
        assert!(warnings.iter().any(|w| w.contains("rotation")));
    }

    #[test]
    fn impossible_values_are_refused() {
        let mut found = complete();
        found.voltage_kv = Some(Sourced::new(300_000.0, "file:/a"));
        assert!(merge_calibration(&CalibrationHints::default(), &found).is_err());
    }
}
