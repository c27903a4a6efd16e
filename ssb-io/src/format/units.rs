//! Numbers with the units that files give them, converted once.

use ssb_core::Sourced;

/// A unit as it is written, without brackets, underscores and case of the prefix lost.
fn plain(unit: &str) -> String {
    let text: String = unit
        .chars()
        .filter(|c| !matches!(c, '[' | ']' | '_' | ' ' | '{' | '}'))
        .collect();
    match text.strip_prefix("1/") {
        Some(rest) => format!("{rest}^-1"),
        None => text.replace("**", "^").replace("⁻¹", "^-1"),
    }
}

/// Å per unit of length.
pub(crate) fn length_a(unit: &str) -> Option<f64> {
    Some(match plain(unit).as_str() {
        "A" | "Å" | "\u{212b}" | "angstrom" | "Angstrom" | "angstroms" | "Angstroms" | "ang" => {
            1.0
        }
        "pm" => 0.01,
        "nm" | "nanometer" | "nanometers" => 10.0,
        "um" | "µm" | "μm" | "micron" => 1e4,
        "mm" => 1e7,
        "m" | "meter" | "meters" => 1e10,
        _ => return None,
    })
}

/// 1/Å per unit of reciprocal length.
pub(crate) fn reciprocal_per_a(unit: &str) -> Option<f64> {
    let unit = plain(unit);
    let base = unit.strip_suffix("^-1")?;
    length_a(base).map(|a| 1.0 / a)
}

/// mrad per unit of angle.
pub(crate) fn angle_mrad(unit: &str) -> Option<f64> {
    Some(match plain(unit).as_str() {
        "mrad" => 1.0,
        "rad" => 1e3,
        "urad" | "µrad" | "μrad" => 1e-3,
        "deg" | "degree" | "degrees" | "°" => 1f64.to_radians() * 1e3,
        _ => return None,
    })
}

/// A beam voltage in kV: by its unit, else by its size (above 1000 it is in V).
pub(crate) fn voltage_kv(value: f64, unit: Option<&str>) -> Option<f64> {
    let kv = match unit.map(plain).as_deref() {
        Some("V" | "eV") => value / 1e3,
        Some("kV" | "keV") => value,
        None | Some("") if value > 1000.0 => value / 1e3,
        None | Some("") => value,
        Some(_) => return None,
    };
    (kv.is_finite() && kv > 0.0).then_some(kv)
}

/// A pair of detector steps: mrad or 1/Å, by unit.
pub(crate) enum DetStep {
    Mrad(Sourced<[f64; 2]>),
    PerA(Sourced<[f64; 2]>),
}

/// Detector steps in their unit; `None` for pixels and unknown units.
pub(crate) fn det_step(step: [f64; 2], units: [&str; 2], source: &str) -> Option<DetStep> {
    let usable = |s: [f64; 2]| s.iter().all(|v| v.is_finite() && *v > 0.0);
    let each = |factor: fn(&str) -> Option<f64>| {
        let [a, b] = units.map(factor);
        Some([step[0] * a?, step[1] * b?]).filter(|s| usable(*s))
    };
    if let Some(mrad) = each(angle_mrad) {
        return Some(DetStep::Mrad(Sourced::new(mrad, source)));
    }
    each(reciprocal_per_a).map(|per_a| DetStep::PerA(Sourced::new(per_a, source)))
}

/// Scan steps in Å; `None` for pixels and unknown units.
pub(crate) fn scan_step(
    step: [f64; 2],
    units: [&str; 2],
    source: &str,
) -> Option<Sourced<[f64; 2]>> {
    let [a, b] = units.map(length_a);
    let step = [step[0] * a?, step[1] * b?];
    step.iter()
        .all(|v| v.is_finite() && *v > 0.0)
        .then(|| Sourced::new(step, source))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_unit_converts() {
        assert_eq!(length_a("[n_m]"), Some(10.0));
        assert_eq!(length_a("Å"), Some(1.0));
        assert_eq!(length_a("pixels"), None);
        for unit in ["A^-1", "1/A", "[A^-1]", "1/angstrom", "Å⁻¹"] {
            assert_eq!(reciprocal_per_a(unit), Some(1.0), "{unit}");
        }
        for unit in ["[n_m^-1]", "1/nm"] {
            assert_eq!(reciprocal_per_a(unit), Some(0.1), "{unit}");
        }
        assert_eq!(angle_mrad("rad"), Some(1e3));
        assert_eq!(voltage_kv(300_000.0, None), Some(300.0));
        assert_eq!(voltage_kv(80.0, Some("")), Some(80.0));
        assert_eq!(voltage_kv(80.0, Some("kV")), Some(80.0));
        assert_eq!(voltage_kv(80.0, Some("m")), None);
    }
}
