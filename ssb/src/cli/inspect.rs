//! `ssb inspect`: what is in a file, and where each calibration value comes from.

use serde::Serialize;
use serde_json::{Map, Value, json};
use ssb_core::{Sourced, select_bf, wavelength_a};
use ssb_io::CountsSum;

use super::args::InspectArgs;
use super::console::Console;
use super::{Ending, opening};
use crate::counts::hot_warning;
use crate::digits::significant;
use crate::{Error, HotPixels, Source};

fn entry<T: Serialize + Clone>(given: Option<&Sourced<T>>, found: Option<&Sourced<T>>) -> Value {
    let in_file = given
        .and(found)
        .map(|f| json!({"value": f.value, "source": f.source}));
    match given.or(found) {
        None => json!({"value": null, "source": null}),
        Some(v) => {
            let mut value = json!({"value": v.value, "source": v.source});
            if let Some(file) = in_file {
                value["file"] = file;
            }
            value
        }
    }
}

fn calibration(a: &InspectArgs, source: &Source) -> Value {
    let given = opening::given_calibration(&a.data);
    let found = source.calibration();
    let voltage = given.voltage_kv.as_ref().or(found.voltage_kv.as_ref());
    // A step in 1/Å becomes mrad once the voltage is known.
    let reciprocal = found
        .det_step_per_a
        .as_ref()
        .zip(voltage)
        .map(|(step, kv)| {
            Sourced::new(
                step.value.map(|v| v * wavelength_a(kv.value) * 1e3),
                format!("{} (1/Å x wavelength)", step.source),
            )
        });
    let det_step = found.det_step_mrad.as_ref().or(reciprocal.as_ref());
    let mut map = json!({
        "voltage_kv": entry(given.voltage_kv.as_ref(), found.voltage_kv.as_ref()),
        "semiangle_mrad": entry(given.semiangle_mrad.as_ref(), found.semiangle_mrad.as_ref()),
        "scan_step_a": entry(given.scan_step_a.as_ref(), found.scan_step_a.as_ref()),
        "det_step_mrad": entry(given.det_step_mrad.as_ref(), det_step),
        "rotation_deg": entry(given.rotation_deg.as_ref(), found.rotation_deg.as_ref()),
    });
    if let Some(step) = &found.det_step_per_a {
        map["det_step_per_a"] = entry(None, Some(step));
    }
    map
}

fn count_number(sum: CountsSum) -> Value {
    match sum {
        CountsSum::Integer(n) => i64::try_from(n)
            .map(Value::from)
            .or_else(|_| u64::try_from(n).map(Value::from))
            .unwrap_or_else(|_| (n as f64).into()),
        CountsSum::Real(x) => x.into(),
    }
}

fn whole(x: f64) -> Value {
    // Counts print as integers; 2^53 is the last exact one.
    if x.fract() == 0.0 && x.abs() < 9e15 {
        Value::from(x as i64)
    } else {
        Value::from(x)
    }
}

fn counts(a: &InspectArgs, source: &Source, console: &Console) -> Result<Value, Error> {
    let counts = source.counts(console.control())?;
    let pattern = source.mean_pattern(console.control())?;
    let mut found = json!({
        "counts_sum": count_number(counts.counts_sum),
        "max_count": whole(counts.max_count),
        "sha256_le": counts.sha256_le,
        "saturated_pixels": pattern.saturated_pixels.len(),
        "bf": null,
    });
    match select_bf(
        pattern.mean.view(),
        source.mask(),
        &opening::disk_options(&a.data),
    ) {
        Ok(disk) => {
            found["bf"] = json!({
                "center_px": disk.center_px,
                "radius_px": disk.radius_px,
                "pixels": disk.pixels.len(),
            });
        }
        // Looking at a file must work where nothing can be reconstructed from it.
        Err(e @ ssb_core::Error::NoDisk { .. }) => found["bf_problem"] = e.to_string().into(),
        Err(e) => return Err(e.into()),
    }
    let choice = opening::hot_pixels(&a.data);
    if !pattern.saturated_pixels.is_empty() && choice != HotPixels::Off {
        let hot = &pattern.saturated_pixels;
        found["hot_pixels"] = hot_warning(source, hot, HotPixels::Report).into();
    }
    Ok(found)
}

/// Other numbers by name; a pair (rows, cols) is listed as two values of one name.
fn metadata(source: &Source) -> Map<String, Value> {
    let mut map = Map::new();
    for (name, value) in source.metadata() {
        let entry = json!({"value": value.value, "source": value.source});
        match map.get_mut(*name) {
            None => {
                map.insert((*name).to_owned(), entry);
            }
            Some(first) => first["value"] = json!([first["value"], value.value]),
        }
    }
    map
}

fn text(document: &Value) -> String {
    let shape: Vec<String> = document["shape"]
        .as_array()
        .map(|s| s.iter().map(Value::to_string).collect())
        .unwrap_or_default();
    let plain = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
    let mut lines = vec![
        format!("layout       {}", plain(&document["layout"])),
        format!("dataset      {}", plain(&document["dataset"])),
        format!(
            "shape        {} ({})",
            shape.join(" x "),
            plain(&document["dtype"])
        ),
        format!(
            "frames       {} found, {} expected",
            document["frames_found"], document["frames_expected"]
        ),
        format!("masked       {} pixels", document["masked_pixels"]),
    ];
    for (name, value) in document["calibration"].as_object().into_iter().flatten() {
        lines.push(if value["value"].is_null() {
            format!("{name:<16} not in the file and not given")
        } else {
            format!(
                "{name:<16} {} ({})",
                value["value"],
                plain(&value["source"])
            )
        });
    }
    for key in ["counts_sum", "max_count", "sha256_le"] {
        if let Some(v) = document.get(key) {
            lines.push(format!("{key:<12} {}", plain(v)));
        }
    }
    let px = |v: &Value| significant(v.as_f64().unwrap_or(f64::NAN), 5);
    let pair = |v: &Value| format!("{}, {}", px(&v[0]), px(&v[1]));
    if let Some(bf) = document.get("bf").filter(|b| !b.is_null()) {
        lines.push(format!(
            "bright field centre ({}) px, radius {} px, {} pixels",
            pair(&bf["center_px"]),
            px(&bf["radius_px"]),
            bf["pixels"]
        ));
    }
    lines.join("\n")
}

pub fn run(a: &InspectArgs, console: &Console) -> Result<Ending, Error> {
    let source = opening::source(&a.data, console)?;
    let mut warnings = source.warnings().to_vec();
    let mut document = json!({
        "file": source.path().display().to_string(),
        "layout": source.layout(),
        "dataset": source.dataset(),
        "shape": source.shape(),
        "dtype": source.dtype(),
        "frames_found": source.frames_found(),
        "frames_expected": source.frames_expected(),
        "masked_pixels": source.masked_pixels(),
        "mask_source": source.mask_source(),
        "calibration": calibration(a, &source),
        "metadata": metadata(&source),
    });
    if let Some(region) = a.data.region {
        document["region"] = json!({
            "rows": region.rows,
            "cols": region.cols,
            "of": source.whole_scan(),
        });
    }
    if a.counts {
        let read = || counts(a, &source, console);
        let Value::Object(found) = (match a.threads {
            None => read(),
            Some(n) => rayon::ThreadPoolBuilder::new()
                .num_threads(n)
                .build()
                .map_err(|e| ssb_core::Error::Internal(format!("no threads: {e}")))?
                .install(read),
        })?
        else {
            return Err(ssb_core::Error::Internal("counts are not an object".into()).into());
        };
        for (key, value) in found {
            if key == "hot_pixels" || key == "bf_problem" {
                warnings.extend(value.as_str().map(str::to_owned));
            } else {
                document[key] = value;
            }
        }
    }
    for warning in &warnings {
        console.warn(warning);
    }
    document["warnings"] = warnings.into();
    console.finish(&document, &text(&document));
    Ok(Ending::Done)
}
