//! What a page is told of the session: data, calibration, disk, backend, terms, and the first candidate.

use serde_json::{Value, json};
use ssb_core::{Candidate, TERMS};
use ssb_io::result::Trial;

use super::compute::Setup;
use super::frame::{frame, single};
use super::prepare::Prepared;
use crate::figure::colour_tables;
use crate::{DEGENERATE_LIMIT, FitOptions, Quantity, SearchRange};

/// What is shown first, and what "reset to fit" returns to.
pub struct Beginning {
    pub candidate: Candidate,
    /// The last fit's best.
    pub fitted: Option<Candidate>,
    /// Trials of the result that was opened.
    pub trials: Vec<Trial>,
    /// Whether a result was opened and its disk still stands.
    pub of_result: bool,
    /// What is to be said of the opened file.
    pub warnings: Vec<String>,
}

/// The next of 1, 2, 5, 10, …, at or above a positive value.
fn round_up(value: f64) -> f64 {
    let decade = 10f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * decade)
        .find(|v| *v >= value * (1.0 - 1e-9))
        .unwrap_or(10.0 * decade)
}

/// Every term with the range that it is steered over: the default range of a search, or what shifts the
/// phase by a turn at the aperture's edge.
fn terms(prepared: &Prepared) -> Value {
    let geometry = prepared.session.geometry();
    TERMS
        .iter()
        .enumerate()
        .map(|(index, term)| {
            let range = SearchRange::default_of(Quantity::Magnitude(index));
            let turn = || {
                let a = term.magnitude_a(
                    std::f64::consts::TAU,
                    geometry.semiangle_rad,
                    geometry.wavelength_a,
                );
                round_up(a.abs() / 10.0)
            };
            let high = range.map_or_else(turn, |r| r.high);
            let low = if term.m > 0 { 0.0 } else { -high };
            json!({
                "name": term.name,
                "angle": term.angle_name,
                "label": term.label,
                "alias": term.alias,
                "m": term.m,
                "low_nm": low,
                "high_nm": high,
            })
        })
        .collect()
}

/// The document of the session and the frame of its fixed pictures.
pub fn of(setup: &Setup, prepared: &Prepared) -> (Value, Vec<u8>) {
    let session = &prepared.session;
    let (info, c, disk) = (session.info(), session.calibration(), session.disk());
    let geometry = session.geometry();
    let path = setup.source.path();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut warnings = setup.beginning.warnings.clone();
    warnings.extend(session.warnings().iter().cloned());
    let colours: Vec<Value> = colour_tables()
        .into_iter()
        .map(|(name, colours)| json!({"name": name, "colours": colours}))
        .collect();
    let mut methods = vec![FitOptions::default().method];
    methods.extend(ssb_optim::SAMPLERS.iter().map(|s| s.name.to_owned()));
    let quick = prepared.quick.as_ref().map(|q| q.info().bf_pixels);
    let document = json!({
        "kind": "session",
        "program": concat!("ssb ", env!("CARGO_PKG_VERSION")),
        "title": path.file_name().unwrap_or_default().to_string_lossy(),
        "path": path.display().to_string(),
        "folder": setup.folder.path.display().to_string(),
        "suggested_name": format!("{stem}_view"),
        "scan_shape": geometry.scan_shape,
        "region": setup.source.options().region.map(|r| r.to_string()),
        "scan_step_a": geometry.scan_step_a,
        "det_shape": session.mean_pattern().shape(),
        "det_step_mrad": c.det_step_mrad.value,
        "voltage_kv": c.voltage_kv.value,
        "semiangle_mrad": c.semiangle_mrad.value,
        "semiangle_per_a": geometry.semiangle_rad / geometry.wavelength_a,
        "rotation_deg": c.rotation_deg.value,
        "disk": {
            "center_px": disk.center_px, "radius_px": disk.radius_px, "pixels": disk.pixels.len(),
        },
        "backend": info.backend,
        "device": info.device,
        "software_adapter": info.software_adapter,
        "precision": info.precision,
        "threads": info.threads,
        "reason": session.reason(),
        "plan": info.plan.to_string(),
        "bf_pixels": info.bf_pixels,
        "bf_active": info.bf_active,
        "bf_while_dragging": quick.unwrap_or(info.bf_pixels),
        "full_seconds": prepared.full_seconds,
        "degenerate_limit": DEGENERATE_LIMIT,
        "methods": methods,
        "terms": terms(prepared),
        "candidate": setup.beginning.candidate,
        "fitted": setup.beginning.fitted,
        "of_result": setup.beginning.of_result,
        "warnings": warnings,
        "colours": colours,
    });
    let header = json!({"kind": "pictures"});
    let pictures = [
        ("virtual_bf", prepared.virtual_bf.clone()),
        ("pattern", single(session.mean_pattern().view())),
    ];
    (document, frame(header, &pictures))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_round() {
        for (value, round) in [
            (0.9, 1.0),
            (1.0, 1.0),
            (1.1, 2.0),
            (43.0, 50.0),
            (5.1, 10.0),
        ] {
            assert!((round_up(value) - round).abs() < 1e-9 * round, "{value}");
        }
    }
}
