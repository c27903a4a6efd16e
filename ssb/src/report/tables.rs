//! The tables of a report: aberrations, outcome, provenance.

use serde_json::Value;
use ssb_core::{NUMERICS_VERSION, Sourced, TERMS};
use ssb_io::result::ResultFile;

use super::markup::{Page, escaped, number};
use crate::Quantity;
use crate::figure::{AberrationRow, FigureData, TermState};
use crate::record;
use crate::result_figure::searched;

const DIGITS: usize = 6;

/// The range that a quantity was searched over, as markup; empty when it was not.
fn range(result: &ResultFile, key: &str, unit: &str) -> String {
    searched(result, key).map_or_else(String::new, |ends| {
        let [low, high] = ends.map(|end| number(end, 4));
        format!("{low} to {high} {unit}")
    })
}

fn count_of(n: u64) -> String {
    format!("<data value=\"{n}\">{n}</data>")
}

fn plus_minus(value: Option<f64>) -> String {
    value.map_or_else(String::new, |v| format!("± {}", number(v, 2)))
}

/// A length row and, where the term has one, its angle.
fn term(result: &ResultFile, row: &AberrationRow) -> Vec<Vec<String>> {
    let name = &row.name;
    let mut rows = vec![vec![
        escaped(name),
        format!("{} nm", number(row.value_nm, DIGITS)),
        format!("{} Å", number(10.0 * row.value_nm, DIGITS)),
        plus_minus(record::uncertainty(&result.outcome, &format!("{name}_nm"))),
        row.state.label().into(),
        range(result, &format!("{name}_nm"), "nm"),
    ]];
    if let Some(angle) = row.angle_rad {
        let name = TERMS
            .iter()
            .find(|t| t.name == name)
            .map_or("", |t| t.angle_name);
        rows.push(vec![
            escaped(name),
            format!("{} rad", number(angle, DIGITS)),
            format!("{}°", number(angle.to_degrees(), DIGITS)),
            plus_minus(record::uncertainty(&result.outcome, &format!("{name}_rad"))),
            row.angle_state.map_or("", TermState::label).into(),
            range(result, &format!("{name}_rad"), "rad"),
        ]);
    }
    rows
}

/// Rotation, tilt and depth spread, where they were searched or are not zero.
fn others(result: &ResultFile) -> Vec<Vec<String>> {
    let best = &result.outcome.best;
    let calibrated = result.provenance.calibration.rotation_deg.value;
    [
        Quantity::Rotation,
        Quantity::TiltRow,
        Quantity::TiltCol,
        Quantity::DepthSpread,
    ]
    .into_iter()
    .filter_map(|quantity| {
        let key = quantity.key();
        let searched = searched(result, &key);
        let value = match quantity {
            Quantity::Rotation => best.rotation_deg.unwrap_or(calibrated),
            other => other.get(best),
        };
        if searched.is_none() && (quantity == Quantity::Rotation || value == 0.0) {
            return None;
        }
        let unit = quantity.unit();
        let also = match quantity {
            Quantity::Rotation => format!("{} rad", number(value.to_radians(), DIGITS)),
            Quantity::DepthSpread => format!("{} Å", number(10.0 * value, DIGITS)),
            _ => format!("{}°", number((1e-3 * value).to_degrees(), DIGITS)),
        };
        let state = match (result.outcome.fitted, searched) {
            (false, _) => "as given",
            (true, Some(_)) => "fitted",
            (true, None) => "fixed",
        };
        Some(vec![
            escaped(quantity.name()),
            format!("{} {unit}", number(value, DIGITS)),
            also,
            plus_minus(record::uncertainty(&result.outcome, &key)),
            state.into(),
            range(result, &key, unit),
        ])
    })
    .collect()
}

/// Every aberration, with rotation, tilt and depth spread where they were searched.
pub(super) fn aberrations(page: &mut Page, result: &ResultFile, data: &FigureData) {
    page.section("aberrations", "Aberrations", |page| {
        if !result.outcome.fitted {
            page.paragraph("Taken as given, not fitted.");
        }
        let mut rows: Vec<Vec<String>> = (data.aberrations.iter())
            .flat_map(|row| term(result, row))
            .collect();
        rows.extend(others(result));
        let head = ["term", "value", "the same", "1 sigma", "how", "searched"];
        page.table(&head, &rows);
        page.paragraph(
            "Signs and angles are those of abTEM, py4DSTEM and quantem; “defocus” is C10 with its sign flipped. An uncertainty holds the \
             noise of counting and the distance of two estimators, not an error that both share.",
        );
    });
}

fn pairs(page: &mut Page, pairs: &[(&str, String)]) {
    let rows: Vec<Vec<String>> = pairs
        .iter()
        .map(|(name, value)| vec![escaped(name), value.clone()])
        .collect();
    page.table(&["", ""], &rows);
}

fn column_sign(value: &Value) -> Option<String> {
    let state = value.get("state")?.as_str()?;
    let score = value.get("score").and_then(Value::as_f64);
    Some(match score {
        Some(score) => format!("{} (score {})", escaped(state), number(score, 3)),
        None => escaped(state),
    })
}

/// Loss, agreement, gain, evaluations, branches.
pub(super) fn outcome(page: &mut Page, result: &ResultFile) {
    let o = &result.outcome;
    let count = |key: &str| o.details.get(key).and_then(Value::as_u64);
    let mut list = vec![(
        "loss (exact phase variance)",
        format!("{} rad²", number(o.loss, DIGITS)),
    )];
    if let Some(agreement) = o.agreement {
        list.push((
            "agreement S",
            format!("{} counts²", number(agreement, DIGITS)),
        ));
    }
    if let Some(gain) = o.gain {
        list.push(("gain", number(gain, DIGITS)));
    }
    list.push((
        "degenerate share of frequencies",
        number(o.degenerate_fraction, 3),
    ));
    for (name, key) in [
        ("exact evaluations", "evaluations"),
        ("evaluations of S", "agreement_evaluations"),
    ] {
        if let Some(n) = count(key) {
            list.push((name, count_of(n)));
        }
    }
    if let Some(sign) = o.details.get("column_sign").and_then(column_sign) {
        list.push(("sign of the columns", sign));
    }
    if let Some(branches) = o.details.get("branches").and_then(Value::as_array) {
        for branch in branches {
            let rotation = branch["candidate"]["rotation_deg"].as_f64();
            let (Some(rotation), Some(loss)) = (rotation, branch["loss"].as_f64()) else {
                continue;
            };
            let sign = column_sign(&branch["column_sign"]).unwrap_or_default();
            list.push((
                "branch of the rotation",
                format!(
                    "{}°, loss {} rad², columns {sign}",
                    number(rotation, DIGITS),
                    number(loss, DIGITS)
                ),
            ));
        }
    }
    list.push(("picture", escaped(&o.estimator)));
    list.push(("upsampling", count_of(o.upsample as u64)));
    if o.cancelled {
        list.push(("ended", "cancelled before its end".into()));
    }
    page.section("outcome", "Outcome", |page| pairs(page, &list));
}

fn sourced<const N: usize>(value: &Sourced<[f64; N]>, unit: &str) -> String {
    let values: Vec<String> = value.value.iter().map(|v| number(*v, DIGITS)).collect();
    format!(
        "{} {unit} (from {})",
        values.join(" x "),
        escaped(&value.source)
    )
}

fn compact(value: &Value) -> String {
    format!("<code>{}</code>", escaped(&value.to_string()))
}

/// Where data and numbers came from, and what ran.
pub(super) fn provenance(page: &mut Page, result: &ResultFile) {
    let p = &result.provenance;
    let c = &p.calibration;
    let one = |v: &Sourced<f64>, unit| sourced(&Sourced::new([v.value], v.source.clone()), unit);
    let shape: Vec<String> = p.source.shape.iter().map(ToString::to_string).collect();
    let mut list = vec![
        ("source", escaped(&p.source.path)),
        (
            "layout, object",
            format!(
                "{}, {}",
                escaped(&p.source.layout),
                escaped(&p.source.dataset)
            ),
        ),
        (
            "shape (scan rows, scan columns, detector rows, detector columns)",
            format!("{}, {}", shape.join(" x "), escaped(&p.source.dtype)),
        ),
        (
            "SHA-256 of mean pattern and columns",
            format!("<code>{}</code>", escaped(&p.source.content_sha256)),
        ),
        ("selection", compact(&p.source.options)),
        ("mask", compact(&p.source.mask)),
        ("beam", one(&c.voltage_kv, "kV")),
        ("semi-angle", one(&c.semiangle_mrad, "mrad")),
        ("scan step (row x col)", sourced(&c.scan_step_a, "Å")),
        (
            "detector step (row x col)",
            sourced(&c.det_step_mrad, "mrad"),
        ),
        ("rotation", one(&c.rotation_deg, "°")),
        (
            "bright-field disk",
            format!(
                "centre ({}, {}) px, radius {} px, {} pixels",
                number(p.disk.center_px[0], DIGITS),
                number(p.disk.center_px[1], DIGITS),
                number(p.disk.radius_px, DIGITS),
                p.disk.pixels.len()
            ),
        ),
        ("request", compact(&p.request)),
    ];
    for key in [
        "backend",
        "device",
        "software_adapter",
        "precision",
        "threads",
    ] {
        let value = &p.evaluator[key];
        if !value.is_null() {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            list.push((key, escaped(&text)));
        }
    }
    list.push(("plan", compact(&p.evaluator["plan"])));
    list.push(("seconds", compact(&p.seconds)));
    list.push((
        "program, numerics",
        format!(
            "{}, numerics {}{}",
            escaped(&p.program),
            escaped(&p.numerics_version),
            if p.numerics_version == NUMERICS_VERSION {
                String::new()
            } else {
                format!(" (this program has {NUMERICS_VERSION})")
            }
        ),
    ));
    if let Some(region) = record::region(result) {
        list.push(("region of the scan", escaped(&region)));
    }
    page.section("provenance", "Provenance", |page| pairs(page, &list));
}
