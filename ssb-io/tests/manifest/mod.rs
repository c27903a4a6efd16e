//! One manifest item against what the reader says.

use std::path::Path;

use serde_json::Value;
use ssb_core::{Control, ndarray::Array2};
use ssb_io::{CountsSum, IoError, OpenOptions, Source, open};

/// What came of an item.
pub enum Outcome {
    Right,
    RightlyRefused,
    Wrong { text: String },
}

fn wrong(text: impl Into<String>) -> Outcome {
    Outcome::Wrong { text: text.into() }
}

fn numbers(value: &Value) -> Vec<usize> {
    let list = value.as_array().into_iter().flatten();
    list.filter_map(Value::as_u64).map(|n| n as usize).collect()
}

fn options(item: &Value) -> OpenOptions {
    let given = &item["options"];
    let scan = numbers(&given["scan_shape"]);
    OpenOptions {
        dataset: given["dataset"].as_str().map(str::to_owned),
        scan_shape: (scan.len() == 2).then(|| [scan[0], scan[1]]),
        ..OpenOptions::default()
    }
}

/// Opens and reads an item and compares everything the manifest says.
pub fn check(root: &Path, item: &Value) -> Outcome {
    let path = root.join(item["open"].as_str().unwrap());
    match item["expect"].as_str().unwrap() {
        "ok" => match right(&path, item) {
            Ok(outcome) => outcome,
            Err(_) if optional(item) => Outcome::RightlyRefused,
            Err(error) => wrong(format!("{} {error}", error.kind())),
        },
        "error" => refused(&path, item),
        "codec-vectors" => codec_vectors(&path),
        "metadata-only" => metadata_only(&path),
        other => wrong(format!("expectation {other}")),
    }
}

fn optional(item: &Value) -> bool {
    item["tags"]
        .as_array()
        .into_iter()
        .flatten()
        .any(|t| t == "optional-ok")
}

fn right(path: &Path, item: &Value) -> Result<Outcome, IoError> {
    let control = Control::default();
    let source = open(path, &options(item))?;
    let shape = numbers(&item["shape"]);
    let mut shape4 = source.shape().to_vec();
    if shape.len() == 3 {
        shape4 = vec![shape4[0] * shape4[1], shape4[2], shape4[3]];
    }
    if shape4 != shape {
        return Ok(wrong(format!("shape {shape4:?}, not {shape:?}")));
    }
    if source.dtype() != item["dtype"] {
        return Ok(wrong(format!("dtype {}", source.dtype())));
    }
    let counts = source.counts(&control)?;
    if counts.sha256_le != item["sha256_le"] {
        return Ok(wrong("sha256"));
    }
    let sum_is_right = match counts.counts_sum {
        CountsSum::Integer(n) => Some(n) == item["sum"].as_i64().map(i128::from),
        CountsSum::Real(x) => {
            let sum = item["sum"].as_f64().unwrap();
            (x - sum).abs() <= 1e-6 * sum.abs().max(1.0)
        }
    };
    if !sum_is_right {
        return Ok(wrong(format!("sum {}", counts.counts_sum)));
    }
    if let Some(text) = mean_and_columns(&source, item, &counts.counts_sum, &control)? {
        return Ok(wrong(text));
    }
    if let Some(text) = metadata(&source, &item["metadata"]) {
        return Ok(wrong(text));
    }
    if let Some(kind) = item["error_without_options"].as_str() {
        match open(path, &OpenOptions::default()) {
            Err(error) if error.kind() == kind => {}
            Err(error) => return Ok(wrong(format!("without options: {error}"))),
            Ok(_) => return Ok(wrong("opened without options")),
        }
    }
    Ok(Outcome::Right)
}

/// The mean pattern and gathered columns agree with the sums and the probes.
fn mean_and_columns(
    source: &Source,
    item: &Value,
    sum: &CountsSum,
    control: &Control,
) -> Result<Option<String>, IoError> {
    let [rows, cols, det_rows, det_cols] = source.shape();
    let mean = source.mean_pattern(control)?;
    let frames = (rows * cols) as f64;
    let total = mean.mean.sum() * frames;
    let bad: Vec<Vec<usize>> = item["bad_pixels"]
        .as_array()
        .into_iter()
        .flatten()
        .map(numbers)
        .collect();
    let masked = item["sum_masked"].as_f64();
    let expected = masked.unwrap_or(match sum {
        CountsSum::Integer(n) => *n as f64,
        CountsSum::Real(x) => *x,
    });
    let stated = masked.is_some() || source.masked_pixels() == 0;
    if stated && (total - expected).abs() > 1e-5 * expected.abs().max(1.0) {
        return Ok(Some(format!(
            "mean pattern sums to {total}, not {expected}"
        )));
    }
    if masked.is_some() {
        let good = source
            .mask()
            .cloned()
            .unwrap_or_else(|| Array2::from_elem((det_rows, det_cols), true));
        let found: Vec<Vec<usize>> = good
            .indexed_iter()
            .filter(|(_, g)| !**g)
            .map(|((r, c), _)| vec![r, c])
            .collect();
        if found != bad || source.masked_pixels() != bad.len() {
            return Ok(Some(format!("masked pixels {found:?}")));
        }
    }
    let pixels: Vec<[u32; 2]> = (0..det_rows as u32)
        .rev()
        .flat_map(|r| (0..det_cols as u32).map(move |c| [r, c]))
        .collect();
    let evidence = source.gather(&pixels, control)?;
    let mut column = vec![0.0; rows * cols];
    for probe in item["probes"].as_array().into_iter().flatten() {
        let at = numbers(&probe[0]);
        let [r, c, k, l] = at[..] else { continue };
        let b = pixels
            .iter()
            .position(|p| *p == [k as u32, l as u32])
            .unwrap();
        evidence.read_f64(b, &mut column);
        if (column[r * cols + c] - probe[1].as_f64().unwrap()).abs() > 1e-6 {
            return Ok(Some(format!("sample {at:?} is {}", column[r * cols + c])));
        }
    }
    for (b, [k, l]) in pixels.iter().enumerate().step_by(7) {
        let place = (*k as usize, *l as usize);
        let column_mean = evidence.sum(b) / frames;
        let masked = source.mask().is_some_and(|m| !m[place]);
        if !masked && (column_mean - mean.mean[place]).abs() > 1e-9 * column_mean.abs().max(1.0) {
            return Ok(Some(format!("column and mean of {place:?} differ")));
        }
    }
    Ok(None)
}

/// Calibration and other numbers, in the manifest's units.
fn metadata(source: &Source, expected: &Value) -> Option<String> {
    let calibration = source.calibration();
    let voltage = calibration.voltage_kv.as_ref();
    let one = |v: Option<f64>| v.map(|v| vec![v]);
    let pair = |v: &Option<ssb_core::Sourced<[f64; 2]>>| v.as_ref().map(|v| v.value.to_vec());
    for (key, value) in expected.as_object().into_iter().flatten() {
        let found = match key.as_str() {
            "voltage_V" => one(voltage.map(|v| v.value * 1e3)),
            "semiangle_mrad" => one(calibration.semiangle_mrad.as_ref().map(|v| v.value)),
            "rotation_deg" => one(calibration.rotation_deg.as_ref().map(|v| v.value)),
            "scan_step_A" => pair(&calibration.scan_step_a),
            // Either one determines the other once the voltage is known.
            "det_sampling_mrad" if calibration.det_step_mrad.is_none() => {
                let step = pair(&calibration.det_step_per_a).zip(voltage);
                step.map(|(s, kv)| {
                    s.iter()
                        .map(|v| v * ssb_core::wavelength_a(kv.value) * 1e3)
                        .collect()
                })
            }
            "det_sampling_mrad" => pair(&calibration.det_step_mrad),
            "det_sampling_invA" => pair(&calibration.det_step_per_a),
            "scan_shape_from" => continue,
            // A pair is listed as two values of one name: rows, then columns.
            other => {
                let named = source.metadata().iter().filter(|m| m.0 == other);
                let values: Vec<f64> = named.map(|m| m.1.value).collect();
                (!values.is_empty()).then_some(values)
            }
        };
        let wanted: Vec<f64> = match value.as_array() {
            Some(list) => list.iter().filter_map(Value::as_f64).collect(),
            None => value.as_f64().into_iter().collect(),
        };
        let near = |a: &f64, b: &f64| (a - b).abs() <= 1e-6 * b.abs();
        let agrees = found.as_ref().is_some_and(|f| {
            f.len() == wanted.len() && f.iter().zip(&wanted).all(|(a, b)| near(a, b))
        });
        if !agrees {
            return Some(format!("{key} is {found:?}, not {wanted:?}"));
        }
    }
    for source in [
        voltage.map(|v| &v.source),
        calibration.scan_step_a.as_ref().map(|v| &v.source),
        calibration.semiangle_mrad.as_ref().map(|v| &v.source),
    ] {
        if source.is_some_and(|s| !s.starts_with("file:")) {
            return Some(format!("source {source:?}"));
        }
    }
    None
}

fn refused(path: &Path, item: &Value) -> Outcome {
    let control = Control::default();
    let at_open = item["where"] == "open";
    let opened = open(path, &options(item));
    let error = match opened {
        Err(error) => error,
        Ok(_) if at_open => return wrong("opened"),
        Ok(source) => match source.counts(&control) {
            Err(error) => error,
            Ok(_) => return wrong("read"),
        },
    };
    let message = error.to_string();
    if error.kind() != item["error"] {
        return wrong(format!("{} {message}", error.kind()));
    }
    let mentions = item["message_should_mention"]
        .as_array()
        .into_iter()
        .flatten();
    for mention in mentions.filter_map(Value::as_str) {
        if !message.contains(mention) {
            return wrong(format!("no `{mention}` in: {message}"));
        }
    }
    if error.file().is_none() {
        return wrong("no file named");
    }
    if let Some(rows) = item["partial"]["complete_rows"].as_u64() {
        let keep = OpenOptions {
            complete_rows_only: true,
            ..options(item)
        };
        match open(path, &keep) {
            // Every row whose frames are all there is kept. (The manifest counts one row too few of
            // `broken_mib_truncated`, whose 60 frames fill 6 rows of 10.)
            Ok(source)
                if source.shape()[0] as u64 >= rows
                    && source.shape()[0] == source.frames_found() / source.shape()[1]
                    && !source.warnings().is_empty() => {}
            Ok(source) => return wrong(format!("complete rows: {:?}", source.shape())),
            Err(error) => return wrong(format!("complete rows: {error}")),
        }
    }
    Outcome::RightlyRefused
}

/// Metadata without its data: their values are tested beside their parser.
fn metadata_only(path: &Path) -> Outcome {
    match open(path, &OpenOptions::default()) {
        Err(error) if error.kind() == "missing_external_file" => Outcome::RightlyRefused,
        Err(error) => wrong(error.to_string()),
        Ok(_) => wrong("opened"),
    }
}

/// The codec's own vectors are tested beside the codec.
fn codec_vectors(path: &Path) -> Outcome {
    match open(path, &OpenOptions::default()) {
        Err(error) if error.kind() == "no_4d_data" => Outcome::RightlyRefused,
        Err(error) => wrong(error.to_string()),
        Ok(_) => wrong("opened"),
    }
}
