//! `ssb convert`: the bright-field columns of a scan in a file of their own.

use serde_json::json;
use ssb_core::merge_hints;
use ssb_io::write::{BfColumns, write_columns};

use super::args::ConvertArgs;
use super::console::Console;
use super::{Ending, opening, writing};
use crate::{Counts, Error};

pub fn run(a: &ConvertArgs, console: &Console) -> Result<Ending, Error> {
    let source = opening::source(&a.data, console)?;
    if source.stored_disk().is_some() {
        return Err(Error::request(
            a.data.file.display().to_string(),
            "it is converted already",
            "use it as it is",
        ));
    }
    if writing::same(&a.output, &a.data.file) {
        return Err(Error::output(
            &a.output,
            "it is the input of this command",
            "choose another name",
        ));
    }
    let options = opening::acquisition_options(&a.data, a.threads, a.max_memory);
    let tell = |plan: &ssb_io::LoadPlan| console.note(&format!("plan: {plan}"));
    let counts = Counts::gather(&source, &options, console.control(), &tell)?;
    let (calibration, notes) = merge_hints(&options.calibration, source.calibration());
    let mut warnings = source.warnings().to_vec();
    warnings.extend(counts.warnings.iter().cloned());
    warnings.extend(notes);
    for warning in &warnings {
        console.warn(warning);
    }
    let record = counts.record(&source, &options)?;
    let origin = json!({
        "path": record.path,
        "layout": record.layout,
        "dataset": record.dataset,
        "options": record.options,
        "mask": record.mask,
        "frames_found": source.frames_found(),
        "frames_expected": source.frames_expected(),
        "warnings": source.warnings(),
    });
    let dc = counts.evidence.dc();
    let content = BfColumns {
        dc,
        evidence: &counts.evidence,
        disk: &counts.disk,
        pattern: &counts.pattern,
        mask: source.mask(),
        calibration: &calibration,
        content_sha256: &record.content_sha256,
        origin: &origin,
    };
    let bits = write_columns(&a.output, &content, console.control())?;
    let bytes = std::fs::metadata(&a.output).map_or(0, |m| m.len());
    let stored = match bits {
        0 => source.dtype().to_owned(),
        bits => format!("u{bits}"),
    };
    let document = json!({
        "file": a.output.display().to_string(),
        "columns": counts.disk.pixels.len(),
        "shape": source.shape(),
        "dtype": source.dtype(),
        "stored": stored,
        "bytes": bytes,
        "dc": dc,
        "bf": {
            "center_px": counts.disk.center_px,
            "radius_px": counts.disk.radius_px,
            "pixels": counts.disk.pixels.len(),
        },
        "content_sha256": record.content_sha256,
        "warnings": warnings,
    });
    let [rows, cols, ..] = source.shape();
    let text = format!(
        "{}: {} bright-field columns of {rows} x {cols} counts as {stored}, {bytes} bytes",
        a.output.display(),
        counts.disk.pixels.len(),
    );
    console.finish(&document, &text);
    Ok(Ending::Done)
}
