//! Writing a result file.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use hdf5_pure::{
    AttrValue, CompoundTypeBuilder, DatasetBuilder, Datatype, FileBuilder, FormatError,
    GroupBuilder,
};
use ndarray::Array2;
use ssb_core::{Candidate, ndarray};

use super::candidate_columns::columns_of;
use super::{MARK, ROTATION_GIVEN, ResultFile, Trial, VERSION};
use crate::IoError;
use crate::write::{Replacement, unwritable};

pub(super) fn write(result: &ResultFile, path: &Path) -> Result<(), IoError> {
    replace(path, || build(result).map_err(io::Error::other))
}

/// Writes what `build` makes; an older file is replaced only by a complete one.
pub(super) fn replace(
    path: &Path,
    build: impl FnOnce() -> io::Result<FileBuilder>,
) -> Result<(), IoError> {
    let attempt = || -> io::Result<()> {
        let builder = build()?;
        let (replacement, file) = Replacement::create(path)?;
        let mut out = BufWriter::with_capacity(1 << 20, file);
        builder.finish_to(&mut out).map_err(io::Error::other)?;
        out.flush()?;
        out.get_ref().sync_all()?;
        replacement.finish()
    };
    attempt().map_err(|error| unwritable(path, &error))
}

fn text(value: &str) -> AttrValue {
    AttrValue::VarLenString(value.into())
}

fn complex64() -> Result<Datatype, FormatError> {
    CompoundTypeBuilder::new()
        .f32_field("r")
        .f32_field("i")
        .build()
}

/// Rows and columns as HDF5 counts them.
fn shape<T>(array: &Array2<T>) -> [u64; 2] {
    [array.nrows() as u64, array.ncols() as u64]
}

fn image<'a>(
    builder: &'a mut FileBuilder,
    name: &str,
    array: &Array2<f32>,
    units: &str,
) -> &'a mut DatasetBuilder {
    let values: Vec<f32> = array.iter().copied().collect();
    builder
        .create_dataset(name)
        .with_f32_data(&values)
        .with_shape(&shape(array))
        .set_attr("units", text(units))
}

/// Step (row, col) in Å between the samples of an array over the scan.
fn step_a<T>(result: &ResultFile, array: &Array2<T>) -> AttrValue {
    let provenance = &result.provenance;
    let step = [0, 1].map(|axis| {
        let scan = provenance.source.shape[axis] as f64;
        let samples = shape(array)[axis].max(1) as f64;
        provenance.calibration.scan_step_a.value[axis] * scan / samples
    });
    AttrValue::F64Array(step.to_vec())
}

fn json_text(value: &impl serde::Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|e| format!("cannot be written as JSON: {e}"))
}

fn build(result: &ResultFile) -> Result<FileBuilder, String> {
    let mut builder = FileBuilder::new();
    let outcome = &result.outcome;
    let provenance = &result.provenance;
    for (name, value) in [
        (MARK, AttrValue::I64(VERSION)),
        ("program", text(&provenance.program)),
        ("numerics_version", text(&provenance.numerics_version)),
        ("loss", AttrValue::F64(outcome.loss)),
        ("loss_units", text("rad^2")),
        (
            "degenerate_fraction",
            AttrValue::F64(outcome.degenerate_fraction),
        ),
        ("fitted", AttrValue::I64(outcome.fitted.into())),
        ("cancelled", AttrValue::I64(outcome.cancelled.into())),
        ("estimator", text(&outcome.estimator)),
        ("upsample", AttrValue::I64(outcome.upsample as i64)),
        ("best", text(&json_text(&outcome.best)?)),
    ] {
        builder.set_attr(name, value);
    }
    if let Some(agreement) = outcome.agreement {
        builder.set_attr("agreement", AttrValue::F64(agreement));
    }
    if let Some(gain) = outcome.gain {
        builder.set_attr("gain", AttrValue::F64(gain));
    }

    let calibration = &provenance.calibration;
    for (name, value) in [
        ("voltage_kv", calibration.voltage_kv.value),
        ("semiangle_mrad", calibration.semiangle_mrad.value),
        ("rotation_deg", calibration.rotation_deg.value),
    ] {
        builder.set_attr(name, AttrValue::F64(value));
    }
    for (name, pair) in [
        ("scan_step_a", calibration.scan_step_a.value),
        ("det_step_mrad", calibration.det_step_mrad.value),
    ] {
        builder.set_attr(name, AttrValue::F64Array(pair.to_vec()));
    }
    let bytes = result
        .object
        .iter()
        .flat_map(|z| [z.re.to_le_bytes(), z.im.to_le_bytes()])
        .flatten()
        .collect();
    let pixels = result.object.len() as u64;
    builder
        .create_dataset("object")
        .with_compound_data(complex64().map_err(|e| e.to_string())?, bytes, pixels)
        .with_shape(&shape(&result.object))
        .set_attr("units", text("counts"))
        .set_attr("axes", text("scan_row,scan_col"))
        .set_attr("step_a", step_a(result, &result.object));
    let shown = [
        ("phase", Some(&result.phase_rad), "rad"),
        ("amplitude", Some(&result.amplitude), "counts"),
        ("mean_phase", result.mean_phase_rad.as_ref(), "rad"),
        (
            "other_branch_phase",
            result.other_branch_phase_rad.as_ref(),
            "rad",
        ),
    ];
    for (name, array, units) in shown {
        if let Some(array) = array {
            image(&mut builder, name, array, units)
                .set_attr("axes", text("scan_row,scan_col"))
                .set_attr("step_a", step_a(result, array));
        }
    }
    image(&mut builder, "mean_pattern", &result.mean_pattern, "counts")
        .set_attr("axes", text("det_row,det_col"));
    bf_pixels(&mut builder, result);
    for (name, json) in [
        ("provenance", json_text(provenance)?),
        ("details", json_text(&outcome.details)?),
    ] {
        builder
            .create_dataset(name)
            .with_vlen_strings(&[&json])
            .with_shape(&[])
            .set_attr("format", text("JSON"));
    }

    let mut best = builder.create_group("best");
    parameters(&mut best, &[&outcome.best]);
    builder.add_group(best.finish());
    if !result.trials.is_empty() {
        let mut trials = builder.create_group("trials");
        trial_columns(&mut trials, result);
        builder.add_group(trials.finish());
    }
    Ok(builder)
}

fn bf_pixels(builder: &mut FileBuilder, result: &ResultFile) {
    let disk = &result.provenance.disk;
    let places: Vec<i32> = disk.pixels.iter().flatten().map(|p| *p as i32).collect();
    builder
        .create_dataset("bf_pixels")
        .with_i32_data(&places)
        .with_shape(&[disk.pixels.len() as u64, 2])
        .set_attr("units", text("px"))
        .set_attr("axes", text("pixel,(row,col)"))
        .set_attr("center_px", AttrValue::F64Array(disk.center_px.to_vec()))
        .set_attr("radius_px", AttrValue::F64(disk.radius_px));
}

fn parameters(group: &mut GroupBuilder, candidates: &[&ssb_core::Candidate]) {
    for column in columns_of(candidates) {
        group
            .create_dataset(&column.name)
            .with_f64_data(&column.values)
            .set_attr("units", text(column.units));
    }
}

fn trial_columns(group: &mut GroupBuilder, result: &ResultFile) {
    let trials = &result.trials;
    let numbers: Vec<i64> = trials.iter().map(|t| t.number as i64).collect();
    let methods: Vec<&str> = trials.iter().map(|t| t.method.as_str()).collect();
    let losses: Vec<f64> = trials.iter().map(|t| t.loss).collect();
    let degenerate: Vec<f64> = trials.iter().map(|t| t.degenerate_fraction).collect();
    let eligible: Vec<u8> = trials.iter().map(|t| t.eligible.into()).collect();
    group.create_dataset("number").with_i64_data(&numbers);
    group.create_dataset("method").with_vlen_strings(&methods);
    group
        .create_dataset("loss")
        .with_f64_data(&losses)
        .set_attr("units", text("rad^2"));
    if trials.iter().any(|t| t.agreement.is_some()) {
        let agreements: Vec<f64> = trials
            .iter()
            .map(|t| t.agreement.unwrap_or(f64::NAN))
            .collect();
        group
            .create_dataset("agreement")
            .with_f64_data(&agreements)
            .set_attr("units", text("counts^2"));
    }
    group
        .create_dataset("degenerate_fraction")
        .with_f64_data(&degenerate)
        .set_attr("units", text("1"));
    group.create_dataset("eligible").with_u8_data(&eligible);
    let objectives: Vec<&str> = trials.iter().map(Trial::objective).collect();
    group
        .create_dataset("objective")
        .with_vlen_strings(&objectives);
    // Every trial has the rotation that it was evaluated at; which ones brought their own stands beside.
    let own = result.provenance.calibration.rotation_deg.value;
    let mut turned: Vec<Candidate> = trials.iter().map(|t| t.candidate.clone()).collect();
    for candidate in &mut turned {
        candidate.rotation_deg.get_or_insert(own);
    }
    parameters(group, &turned.iter().collect::<Vec<_>>());
    let given = trials
        .iter()
        .map(|t| t.candidate.rotation_deg.is_some().into());
    group
        .create_dataset(ROTATION_GIVEN)
        .with_u8_data(&given.collect::<Vec<u8>>());
}
