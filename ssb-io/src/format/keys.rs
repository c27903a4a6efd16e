//! Named numbers in files: attributes or small datasets, with their units and where they are.

use ssb_core::Sourced;

use super::units;
use crate::hdf5::{Dataset, Object, Value, join};

/// Names under which files keep the beam voltage, and the unit a name carries.
const VOLTAGE: &[(&str, &str)] = &[
    ("voltage_kV", "kV"),
    ("voltage_kv", "kV"),
    ("voltage_V", "V"),
    ("accelerating_voltage_kV", "kV"),
    ("accelerating_voltage_V", "V"),
    ("accelerating_voltage", ""),
    ("voltage", ""),
    ("beam_energy_keV", "keV"),
    ("beam_energy_kV", "kV"),
    ("beam_energy", ""),
    ("high_tension", ""),
    ("high_tension_V", "V"),
];

/// Names of the convergence semi-angle; without a unit in the name one must stand beside it.
const SEMIANGLE: &[(&str, &str)] = &[
    ("semiangle_mrad", "mrad"),
    ("convergence_semiangle_mrad", "mrad"),
    ("semiconvergence_angle_mrad", "mrad"),
    ("convergence_semi_angle_mrad", "mrad"),
    ("probe_semiangle_mrad", "mrad"),
    ("semiangle_rad", "rad"),
    ("convergence_semiangle", ""),
    ("semiconvergence_angle", ""),
    ("semi_convergence_angle", ""),
    ("convergence_semi_angle", ""),
];

/// Names of the rotation in degrees or radians.
const ROTATION: &[(&str, &str)] = &[
    ("rotation_deg", "deg"),
    ("scan_rotation_deg", "deg"),
    ("QR_rotation_degrees", "deg"),
    ("QR_rotation_deg", "deg"),
    ("R_to_K_rotation_degrees", "deg"),
    ("QR_rotation", "rad"),
    ("rotation_rad", "rad"),
];

/// Values by name, the first of a name wins.
#[derive(Default)]
pub(super) struct Keys(Vec<(String, Value, String)>);

impl Keys {
    /// Adds the attributes of an object.
    pub(super) fn add_attributes(&mut self, object: &Object) {
        let path = object.path();
        self.0
            .extend(object.attributes().into_iter().map(|(name, value)| {
                let source = format!("file:{path}@{name}");
                (name, value, source)
            }));
    }

    /// Adds the scalar datasets of a group.
    pub(super) fn add_datasets(&mut self, group: &Object) {
        for link in group.links().unwrap_or_default() {
            let child = group.follow(&link).ok().flatten();
            let dataset = child.as_ref().and_then(Dataset::of);
            let small = dataset.filter(|d| d.shape().iter().product::<usize>() <= 4);
            if let Some(value) = small.and_then(|d| d.value().ok().flatten()) {
                let source = format!("file:{}", join(group.path(), &link.name));
                self.0.push((link.name, value, source));
            }
        }
    }

    /// Adds numbers and texts of a JSON object.
    pub(super) fn add_json(&mut self, object: &serde_json::Value, place: &str) {
        for (name, value) in object.as_object().into_iter().flatten() {
            let number = value.as_f64().or_else(|| value.as_bool().map(f64::from));
            let value = match (number, value.as_str()) {
                (Some(number), _) => Value::Numbers(vec![number]),
                (None, Some(text)) => Value::Text(vec![text.to_owned()]),
                (None, None) => continue,
            };
            let source = format!("file:{place}@{name}");
            self.0.push((name.clone(), value, source));
        }
    }

    /// Adds the scalar datasets that describe the beam anywhere below a NeXus root, with their
    /// units: voltages of sources, and convergence angles.
    pub(super) fn add_instrument(&mut self, root: &Object) {
        let mut pending = vec![(root.clone(), 0)];
        let mut seen = std::collections::HashSet::new();
        while let Some((group, depth)) = pending.pop() {
            if depth > 8 || seen.len() > 10_000 || !seen.insert(group.key()) {
                continue;
            }
            let name = group
                .path()
                .rsplit('/')
                .next()
                .unwrap_or_default()
                .to_owned();
            let class = group.attribute_text("NX_class").unwrap_or_default();
            let source = name.ends_with("source") || class.ends_with("source");
            for link in group.links().unwrap_or_default() {
                let Ok(Some(child)) = group.follow(&link) else {
                    continue;
                };
                let Some(dataset) = Dataset::of(&child) else {
                    pending.push((child, depth + 1));
                    continue;
                };
                let voltage = source && matches!(&*link.name, "voltage" | "accelerating_voltage");
                let angle = SEMIANGLE.iter().any(|known| known.0 == link.name);
                if !(voltage || angle) || dataset.shape().iter().product::<usize>() != 1 {
                    continue;
                }
                if let Ok(Some(value)) = dataset.value() {
                    let place = format!("file:{}", join(group.path(), &link.name));
                    if let Some(unit) = child.attribute_text("units") {
                        let name = format!("{}_units", link.name);
                        self.0.push((name, Value::Text(vec![unit]), place.clone()));
                    }
                    self.0.push((link.name, value, place));
                }
            }
        }
    }

    fn get(&self, name: &str) -> Option<(&Value, &str)> {
        let found = self.0.iter().find(|k| k.0 == name)?;
        Some((&found.1, &found.2))
    }

    /// A number.
    pub(super) fn number(&self, name: &str) -> Option<Sourced<f64>> {
        let (value, source) = self.get(name)?;
        let number = value.number().filter(|n| n.is_finite())?;
        Some(Sourced::new(number, source))
    }

    /// A text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.0.text()
    }

    /// One number for both axes, or a pair (row, col).
    pub(super) fn pair(&self, name: &str) -> Option<Sourced<[f64; 2]>> {
        let (value, source) = self.get(name)?;
        let pair = match value.numbers()? {
            [both] => [*both; 2],
            [row, col] => [*row, *col],
            _ => return None,
        };
        let usable = pair.iter().all(|v| v.is_finite() && *v > 0.0);
        usable.then(|| Sourced::new(pair, source))
    }

    /// A pair of whole numbers of at least 1.
    pub(super) fn shape(&self, name: &str) -> Option<Sourced<[usize; 2]>> {
        let pair = self.pair(name).filter(|p| {
            p.value
                .iter()
                .all(|v| v.fract() == 0.0 && (1.0..1e9).contains(v))
        })?;
        Some(Sourced::new(pair.value.map(|v| v as usize), pair.source))
    }

    /// The first of several names that holds a number, with the unit of the name or, where that is
    /// empty, the one under `<name>_units`.
    fn with_unit(&self, names: &[(&str, &str)]) -> Option<(Sourced<f64>, String)> {
        names.iter().find_map(|(name, unit)| {
            let number = self.number(name)?;
            let beside = ["_units", "_unit"].map(|end| format!("{name}{end}"));
            let unit = if unit.is_empty() {
                beside.iter().find_map(|n| self.text(n)).unwrap_or("")
            } else {
                unit
            };
            Some((number, unit.to_owned()))
        })
    }

    /// The beam voltage in kV.
    pub(super) fn voltage_kv(&self) -> Option<Sourced<f64>> {
        let (number, unit) = self.with_unit(VOLTAGE)?;
        let kv = units::voltage_kv(number.value, Some(&unit))?;
        Some(Sourced::new(kv, number.source))
    }

    /// The convergence semi-angle in mrad.
    pub(super) fn semiangle_mrad(&self) -> Option<Sourced<f64>> {
        let (number, unit) = self.with_unit(SEMIANGLE)?;
        let mrad = number.value * units::angle_mrad(&unit)?;
        (mrad > 0.0).then(|| Sourced::new(mrad, number.source))
    }

    /// The scan-detector rotation in degrees.
    pub(super) fn rotation_deg(&self) -> Option<Sourced<f64>> {
        let (number, unit) = self.with_unit(ROTATION)?;
        let deg = if unit == "deg" {
            number.value
        } else {
            number.value.to_degrees()
        };
        Some(Sourced::new(deg, number.source))
    }
}
