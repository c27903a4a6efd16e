//! The figure of a result file.

use ssb_core::{Candidate, TERMS, wavelength_a};
use ssb_io::result::ResultFile;

use crate::DEGENERATE_LIMIT;
use crate::figure::{
    AberrationRow, Display, FigureData, MeanPattern, PhaseKind, Search, TermState, Trial,
};
use crate::source::{region_in_words, region_of};

/// The range that a quantity was searched over, in the unit of its key.
pub(crate) fn searched(result: &ResultFile, key: &str) -> Option<[f64; 2]> {
    let range = result.outcome.details.get("search")?.get(key)?;
    Some([range.get(0)?.as_f64()?, range.get(1)?.as_f64()?])
}

fn rows(result: &ResultFile, truth: Option<&Candidate>) -> Vec<AberrationRow> {
    let outcome = &result.outcome;
    let state = |key: &str| match (outcome.fitted, searched(result, key)) {
        (false, _) => TermState::AsGiven,
        (true, Some(_)) => TermState::Fitted,
        (true, None) => TermState::Fixed,
    };
    TERMS
        .iter()
        .enumerate()
        .filter_map(|(index, term)| {
            let value = outcome.best.aberrations.get(index);
            let known = truth.map(|t| t.aberrations.get(index));
            let key = format!("{}_nm", term.name);
            let range_nm = searched(result, &key);
            let idle = value.magnitude_a == 0.0
                && known.is_none_or(|k| k.magnitude_a == 0.0)
                && range_nm.is_none();
            if index > 1 && idle {
                return None;
            }
            let has_angle = term.m > 0;
            Some(AberrationRow {
                name: term.name.into(),
                value_nm: value.magnitude_a / 10.0,
                angle_rad: has_angle.then_some(value.angle_rad),
                state: state(&key),
                angle_state: has_angle.then(|| state(&format!("{}_rad", term.angle_name))),
                range_nm,
                truth_nm: known.map(|k| k.magnitude_a / 10.0),
                truth_angle_rad: known.filter(|_| has_angle).map(|k| k.angle_rad),
            })
        })
        .collect()
}

fn search(result: &ResultFile) -> Option<Search> {
    if result.trials.is_empty() {
        return None;
    }
    let moved = searched(result, "C10_nm").is_some() || searched(result, "C12_nm").is_some();
    let trials: Vec<Trial> = result
        .trials
        .iter()
        .map(|t| Trial {
            loss: t.loss,
            method: t.method.clone(),
            degenerate: t.degenerate_fraction > DEGENERATE_LIMIT,
            c10_c12_nm: moved
                .then(|| [0, 1].map(|i| t.candidate.aberrations.get(i).magnitude_a / 10.0)),
        })
        .collect();
    let best = result
        .trials
        .iter()
        .enumerate()
        .filter(|(_, t)| t.eligible)
        .min_by(|a, b| a.1.loss.total_cmp(&b.1.loss))
        .map_or(0, |(i, _)| i);
    Some(Search { trials, best })
}

fn facts(result: &ResultFile) -> Vec<(String, String)> {
    let (p, o) = (&result.provenance, &result.outcome);
    let c = &p.calibration;
    let [rows, cols, det_rows, det_cols] = p.source.shape;
    let count = |key: &str| o.details.get(key).and_then(serde_json::Value::as_u64);
    let mut facts = vec![
        (
            "beam".into(),
            format!(
                "{} kV, semi-angle {} mrad",
                c.voltage_kv.value, c.semiangle_mrad.value
            ),
        ),
        (
            "scan".into(),
            format!(
                "{rows} x {cols}, step {} x {} Å",
                c.scan_step_a.value[0], c.scan_step_a.value[1]
            ),
        ),
        (
            "detector".into(),
            format!(
                "{det_rows} x {det_cols}, step {:.4} x {:.4} mrad",
                c.det_step_mrad.value[0], c.det_step_mrad.value[1]
            ),
        ),
        ("rotation".into(), format!("{} deg", c.rotation_deg.value)),
        ("loss".into(), format!("{:.6e} rad²", o.loss)),
    ];
    if let Some(region) = region_of(&p.source.options).and_then(region_in_words)
        && let Some(words) = region.strip_prefix("region: ")
    {
        facts.push(("region".into(), words.into()));
    }
    if let Some(s) = o.agreement {
        facts.push(("agreement S".into(), format!("{s:.4e}")));
    }
    if let Some(n) = count("evaluations") {
        facts.push(("evaluations".into(), n.to_string()));
    }
    if !o.fitted {
        facts.push(("aberrations".into(), "taken as given, not fitted".into()));
    }
    facts
}

/// Everything that the figure of a result shows; `truth` stands beside the fit when the data are
/// simulated.
#[must_use]
pub fn figure_data(
    result: &ResultFile,
    truth: Option<&Candidate>,
    log_pattern: bool,
) -> FigureData {
    let (p, o) = (&result.provenance, &result.outcome);
    let c = &p.calibration;
    let text = |key: &str| p.evaluator[key].as_str().unwrap_or("unknown").to_owned();
    let number = |key: &str| p.evaluator[key].as_u64().unwrap_or_default() as usize;
    let mean_phase = o.estimator == "mean-phase";
    let upsample = if mean_phase { 1 } else { o.upsample };
    let file = std::path::Path::new(&p.source.path)
        .file_name()
        .map_or(p.source.path.clone(), |n| n.to_string_lossy().into_owned());
    let mut warnings = p.warnings.clone();
    if o.cancelled {
        warnings.insert(0, "the fit was cancelled before its end".into());
    }
    FigureData {
        title: file,
        subtitle: format!(
            "{}, backend {} ({}), {}",
            p.program,
            text("backend"),
            text("device"),
            text("precision")
        ),
        phase: result.phase_rad.clone(),
        phase_kind: if mean_phase {
            PhaseKind::MeanPhase
        } else {
            PhaseKind::OfMeanObject
        },
        pixel_step_a: c.scan_step_a.value.map(|s| s / upsample as f64),
        semiangle_per_a: c.semiangle_mrad.value * 1e-3 / wavelength_a(c.voltage_kv.value),
        amplitude: (!mean_phase).then(|| result.amplitude.clone()),
        pattern: MeanPattern {
            counts: result.mean_pattern.clone(),
            masked: Vec::new(),
            bf_center_px: p.disk.center_px,
            bf_radius_px: p.disk.radius_px,
            bf_pixels: p.disk.pixels.len(),
            bf_active: number("bf_active"),
            det_step_mrad: c.det_step_mrad.value,
        },
        search: search(result),
        aberrations: rows(result, truth),
        facts: facts(result),
        warnings,
        display: Display {
            log_pattern,
            ..Display::default()
        },
    }
}
