//! Nion Swift: datasets with a JSON text `properties` in HDF5 (`.h5`, `.nhdf`), and `data.npy` with
//! `metadata.json` in a zip (`.ndata`, `.ndata1`) (`formats.md` section 3.7).

use serde_json::Value as Json;
use ssb_core::Sourced;

use super::emd_axes::take_det_step;
use super::plain::{self, Catalogue, Entry};
use super::{Candidate, Format, Found, json, units, zip_members};
use crate::IoError;
use crate::error::Fault;
use crate::frames::Piece;
use crate::hdf5::Object;
use crate::npy::Header;
use crate::options::OpenOptions;

pub(super) const HDF5_FORMAT: Format = Format {
    name: "Nion Swift HDF5",
    probe: |candidate| {
        let root = candidate.container.as_ref().and_then(|c| c.root().ok());
        root.is_some_and(|root| !described(&root).is_empty())
    },
    open: open_hdf5,
};

pub(super) const ZIP_FORMAT: Format = Format {
    name: "Nion Swift ndata",
    probe: |candidate| {
        candidate
            .zip
            .as_ref()
            .is_some_and(|z| z.contains_key("data.npy") && z.contains_key("metadata.json"))
    },
    open: open_zip,
};

/// Datasets below `/data` whose properties say how many axes are scanned.
fn described(root: &Object) -> Vec<Entry> {
    let Some(data) = root.find("data").ok().flatten() else {
        return Vec::new();
    };
    let mut entries = Catalogue::below(&data).datasets;
    entries.retain(|e| properties(e).is_some());
    entries
}

fn properties(entry: &Entry) -> Option<Json> {
    let text = entry.dataset.object().attribute_text("properties")?;
    let json: Json = serde_json::from_str(&text).ok()?;
    json.get("collection_dimension_count")?;
    Some(json)
}

fn open_hdf5(candidate: &Candidate, options: &OpenOptions) -> Result<Found, IoError> {
    let root = plain::container(candidate)?.root()?;
    let entry = match &options.dataset {
        Some(path) => plain::named(&root, path)?,
        None => match plain::only(&root, described(&root))? {
            Some(entry) => entry,
            None => return Err(plain::nothing(&root)),
        },
    };
    let mut found = plain::describe("nion-h5", &root, &entry)?;
    if let Some(json) = properties(&entry) {
        let source = format!("file:{}@properties", entry.path);
        take(&json, &source, &mut found)?;
    }
    Ok(found)
}

fn open_zip(candidate: &Candidate, _: &OpenOptions) -> Result<Found, IoError> {
    let members = candidate.zip.as_ref();
    let member = |name: &str| {
        members
            .and_then(|m| m.get(name))
            .ok_or_else(|| zip_members::absent(candidate.path(), name))
    };
    let data = member("data.npy")?.range(&candidate.file, "data.npy")?;
    let header = Header::read_within(&candidate.file, data)?;
    super::npy::check_axes(candidate.path(), "data.npy", &header.shape)?;
    let mut piece = Piece::whole(header.array(candidate.file.clone())?);
    if header.fortran {
        piece.reverse_axes();
    }
    let n = header.shape.len();
    let mut found = Found::new("nion-ndata1", "data.npy", vec![piece]);
    found.stored_scan = (n == 4).then(|| [header.shape[0], header.shape[1]]);
    let text = member("metadata.json")?.read(&candidate.file, "metadata.json")?;
    match serde_json::from_slice::<Json>(&text) {
        Ok(json) => take(&json, "file:metadata.json", &mut found)?,
        Err(error) => found
            .warnings
            .push(format!("metadata.json does not parse ({error})")),
    }
    Ok(found)
}

/// Axes and numbers of a description.
fn take(json: &Json, source: &str, found: &mut Found) -> Result<(), IoError> {
    let count = |name: &str| json.get(name).and_then(Json::as_u64);
    let [piece] = &found.pieces[..] else {
        return Ok(());
    };
    let axes = piece.array.shape().len();
    if let (Some(scanned), Some(detector)) = (
        count("collection_dimension_count"),
        count("datum_dimension_count"),
    ) {
        let series = u64::from(json.get("is_sequence").and_then(Json::as_bool) == Some(true));
        if detector != 2 || scanned + series + detector != axes as u64 {
            return Err(IoError::UnsupportedLayout(
                Fault::of(piece.array.file().path())
                    .object(piece.array.object())
                    .expected("a collection of 2-D data")
                    .found(format!(
                        "{axes} axes: {series} of a sequence, {scanned} scanned, {detector} of a datum"
                    ))
                    .action("extract the 4-D data in Nion Swift"),
            ));
        }
    }
    let calibrations: Vec<(f64, &str)> = json
        .get("dimensional_calibrations")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .filter_map(|c| Some((json::number(c, "scale")?, json::text(c, "units")?)))
        .collect();
    let place = format!("{source}#dimensional_calibrations");
    if let [.., row, col, det_row, det_col] = calibrations[..] {
        let step = [row.0.abs(), col.0.abs()];
        found.calibration.scan_step_a = units::scan_step(step, [row.1, col.1], &place);
        let step = [det_row.0.abs(), det_col.0.abs()];
        let step = units::det_step(step, [det_row.1, det_col.1], &place);
        take_det_step(step, &mut found.calibration);
    }
    let first = |names: &[&str]| {
        names.iter().find_map(|name| {
            let value = json::number(json, &format!("metadata.{name}"))?;
            Some((value, format!("{source}#metadata.{name}")))
        })
    };
    let calibration = &mut found.calibration;
    if let Some((volt, place)) = first(&[
        "instrument.high_tension",
        "instrument.high_tension_v",
        "instrument.ImageScanned.EHT",
    ])
    .filter(|v| v.0 > 0.0)
    {
        calibration.voltage_kv =
            units::voltage_kv(volt, Some("V")).map(|kv| Sourced::new(kv, place));
    }
    if let Some((rad, place)) = first(&[
        "instrument.convergence_angle",
        "instrument.convergence_angle_rad",
    ])
    .filter(|v| v.0 > 0.0)
    {
        calibration.semiangle_mrad = Some(Sourced::new(rad * 1e3, place));
    }
    if let Some((rad, place)) = first(&["scan.rotation", "scan.rotation_rad"]) {
        calibration.rotation_deg = Some(Sourced::new(rad.to_degrees(), place));
    }
    if let Some((s, place)) = first(&["hardware_source.exposure"]) {
        found.metadata.push(("dwell_s", Sourced::new(s, place)));
    }
    Ok(())
}
