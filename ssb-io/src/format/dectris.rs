//! Dectris ARINA, QUADRO and EIGER2: a master file whose links name the data files, and sometimes a
//! sidecar `<base>.h5` with `/STEM Metadata` (`formats.md` section 3.1).

use std::path::Path;

use ssb_core::Sourced;

use super::hdf5_frames::{Frames, frames_of};
use super::keys::Keys;
use super::plain;
use super::{Candidate, Format, Found, units};
use crate::IoError;
use crate::frames::Piece;
use crate::hdf5::{Container, Dataset, Object, join};
use crate::options::OpenOptions;

pub(super) const FORMAT: Format = Format {
    name: "Dectris master",
    probe: |candidate| {
        let root = candidate.container.as_ref().and_then(|c| c.root().ok());
        root.is_some_and(|root| is_master(&root))
    },
    open,
};

const DATA: &str = "/entry/data";
const DETECTOR: &str = "/entry/instrument/detector";
const SPECIFIC: &str = "/entry/instrument/detector/detectorSpecific";

/// The number of a link `data_000001`.
fn number(name: &str) -> Option<u64> {
    name.strip_prefix("data_")?.parse().ok()
}

fn is_master(root: &Object) -> bool {
    let Some(group) = root.find(DATA).ok().flatten() else {
        return false;
    };
    let links = group.links().unwrap_or_default();
    links.iter().any(|l| number(&l.name).is_some())
        || (links.iter().any(|l| l.name == "data") && matches!(root.find(SPECIFIC), Ok(Some(_))))
}

fn open(candidate: &Candidate, options: &OpenOptions) -> Result<Found, IoError> {
    let root = plain::container(candidate)?.root()?;
    let mut found = match &options.dataset {
        Some(path) => plain::describe("dectris-master", &root, &plain::named(&root, path)?)?,
        None => frames(&root)?,
    };
    scan_hint(&root, &mut found)?;
    expected_frames(&root, &mut found);
    detector(&root, &mut found)?;
    sidecar(candidate, &mut found);
    if let Some(energy) = root.number(&join(SPECIFIC, "photon_energy")) {
        if found.calibration.voltage_kv.is_none() && energy > 0.0 {
            found.warnings.push(format!(
                "no beam voltage in the file; photon_energy is {energy} eV, which on ARINA is the high \
                 tension as set: give --voltage-kv {} if that is so",
                energy / 1e3
            ));
        }
        let source = format!("file:{SPECIFIC}/photon_energy");
        found
            .metadata
            .push(("photon_energy_eV", Sourced::new(energy, source)));
    }
    // The scan counts; more triggers may have been asked for.
    if let Some(scan) = &found.scan_hint {
        let frames = scan.value[0].saturating_mul(scan.value[1]);
        found.frames_expected = Some(Sourced::new(frames, scan.source.clone()));
    }
    if let Some(expected) = &found.frames_expected {
        let expected = Sourced::new(expected.value as f64, expected.source.clone());
        found.metadata.push(("n_frames_expected", expected));
    }
    // Files for links beyond the frames that were asked for were never written.
    let enough = found
        .frames_expected
        .as_ref()
        .is_some_and(|e| found.frames() >= e.value);
    if enough && let Some(missing) = found.missing.take() {
        found.warnings.push(format!("not needed: {missing}"));
    }
    if let Some(error) = found.missing.take() {
        found.missing = Some(with_frames(error, &found));
    }
    Ok(found)
}

/// The data files in the order of their numbers, or the one dataset of an inline master.
fn frames(root: &Object) -> Result<Found, IoError> {
    let group = root
        .find(DATA)?
        .ok_or_else(|| IoError::No4dData(root.fault().expected(DATA).found("no such group")))?;
    let mut links = group.links()?;
    links.retain(|l| number(&l.name).is_some());
    links.sort_by_key(|l| number(&l.name));
    if links.is_empty() {
        let path = join(DATA, "data");
        return plain::describe("dectris-master", root, &plain::named(root, &path)?);
    }
    let mut pieces: Vec<Piece> = Vec::new();
    let mut missing = None;
    let mut behind_gap = 0;
    let (mut first, mut last) = (String::new(), String::new());
    let mut stored_scan = None;
    for link in &links {
        let dataset = match group.follow(link) {
            Ok(Some(object)) => Dataset::of(&object),
            Ok(None) => None,
            Err(error @ IoError::MissingExternalFile(_)) => {
                missing.get_or_insert(error);
                continue;
            }
            Err(error) => return Err(error),
        };
        let Some(dataset) = dataset else {
            let path = join(group.path(), &link.name);
            return Err(IoError::No4dData(
                group
                    .fault()
                    .object(&path)
                    .expected("a dataset behind this link")
                    .found("none")
                    .action("check the data files"),
            ));
        };
        let Frames {
            pieces: of_file,
            stored_scan: scan,
        } = frames_of(&dataset)?;
        if missing.is_some() {
            behind_gap += of_file.iter().map(|p| p.frames).sum::<usize>();
            continue;
        }
        if pieces.is_empty() {
            first.clone_from(&link.name);
            stored_scan = scan.filter(|_| links.len() == 1);
        }
        last = number(&link.name).map_or_else(String::new, |n| format!("{n:06}"));
        pieces.extend(of_file);
    }
    let dataset = format!("{}..{last}", join(DATA, &first));
    let mut found = Found::new("dectris-master", &dataset, pieces);
    found.stored_scan = stored_scan;
    found.missing = missing;
    found.behind_gap = behind_gap;
    Ok(found)
}

/// A scan shape that some writers leave at the root, the group or the dataset.
fn scan_hint(root: &Object, found: &mut Found) -> Result<(), IoError> {
    let mut keys = Keys::default();
    for path in [
        "/entry/data/data",
        "/entry/data/data_000001",
        DATA,
        "/entry",
        "/",
    ] {
        if let Ok(Some(object)) = root.find(path) {
            keys.add_attributes(&object);
        }
    }
    found.scan_hint = found.scan_hint.take().or_else(|| keys.shape("scan_shape"));
    let calibration = &mut found.calibration;
    calibration.voltage_kv = calibration.voltage_kv.take().or_else(|| keys.voltage_kv());
    calibration.semiangle_mrad = calibration
        .semiangle_mrad
        .take()
        .or_else(|| keys.semiangle_mrad());
    calibration.rotation_deg = calibration
        .rotation_deg
        .take()
        .or_else(|| keys.rotation_deg());
    calibration.scan_step_a = calibration
        .scan_step_a
        .take()
        .or_else(|| keys.pair("scan_sampling_A"));
    calibration.det_step_mrad = calibration
        .det_step_mrad
        .take()
        .or_else(|| keys.pair("det_sampling_mrad"));
    Ok(())
}

/// `nimages * ntrigger`.
fn expected_frames(root: &Object, found: &mut Found) {
    let count = |name: &str| root.number(&join(SPECIFIC, name)).filter(|n| *n >= 1.0);
    let (images, triggers) = (count("nimages"), count("ntrigger"));
    if images.is_none() && triggers.is_none() {
        return;
    }
    let product = images.unwrap_or(1.0) * triggers.unwrap_or(1.0);
    if product < 1e12 {
        let source = format!("file:{SPECIFIC}/ntrigger x nimages");
        found.frames_expected = Some(Sourced::new(product as usize, source));
    }
}

/// Mask, pixel size, distance and dwell time.
fn detector(root: &Object, found: &mut Found) -> Result<(), IoError> {
    let det = found.pieces.first().map_or([0, 0], |p| p.det_shape());
    for path in [join(SPECIFIC, "pixel_mask"), join(DETECTOR, "pixel_mask")] {
        if found.mask.is_none()
            && let Some(mask) = root.find(&path)?
        {
            found.mask = plain::pixel_mask(&mask, det, &mut found.warnings)?;
        }
    }
    let mut length = |name: &str, key: &'static str| {
        let path = join(DETECTOR, name);
        let value = root.number(&path).filter(|v| *v > 0.0)?;
        let unit = root.find(&path).ok()??.attribute_text("units");
        let metres = value * units::length_a(unit.as_deref().unwrap_or("m"))? * 1e-10;
        found
            .metadata
            .push((key, Sourced::new(metres, format!("file:{path}"))));
        Some(metres)
    };
    let pixel = length("x_pixel_size", "det_pixel_size_m");
    let distance = length("detector_distance", "camera_length_m")
        .or_else(|| length("distance", "camera_length_m"));
    if let (Some(pixel), Some(distance)) = (pixel, distance) {
        found.warnings.push(format!(
            "no calibrated detector step in the file; pixel size over nominal camera length is {:.4} mrad: \
             give --det-step-mrad",
            pixel / distance * 1e3
        ));
    }
    let path = join(SPECIFIC, "saturation_value");
    let path = match root.number(&path) {
        Some(_) => path,
        None => join(DETECTOR, "saturation_value"),
    };
    if let Some(counts) = root.number(&path).filter(|c| *c > 0.0) {
        found.saturation = Some(Sourced::new(counts, format!("file:{path}")));
    }
    let path = join(DETECTOR, "frame_time");
    if let Some(dwell) = root.number(&path) {
        found
            .metadata
            .push(("dwell_s", Sourced::new(dwell, format!("file:{path}"))));
    }
    Ok(())
}

/// `<base>.h5` beside `<base>_master.h5`.
fn sidecar(candidate: &Candidate, found: &mut Found) {
    let path = candidate.path();
    let base = path
        .file_name()
        .and_then(|n| n.to_str())
        .and_then(|n| n.strip_suffix("_master.h5"));
    let Some(file) = base.map(|b| path.with_file_name(format!("{b}.h5"))) else {
        return;
    };
    if !file.is_file() {
        return;
    }
    match sidecar_keys(&file) {
        Ok(Some(keys)) => take_sidecar(&file, &keys, found),
        Ok(None) => {}
        Err(error) => found
            .warnings
            .push(format!("the sidecar is not used: {error}")),
    }
}

fn sidecar_keys(file: &Path) -> Result<Option<Keys>, IoError> {
    let group = Container::open(file)?.root()?.find("STEM Metadata")?;
    Ok(group.map(|group| {
        let mut keys = Keys::default();
        keys.add_attributes(&group);
        keys
    }))
}

fn take_sidecar(file: &Path, keys: &Keys, found: &mut Found) {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let source = |attribute: &str| format!("file:{name}:/STEM Metadata@{attribute}");
    let number = |key: &str| keys.number(key).map(|n| n.value);
    let positive = |key: &str| number(key).filter(|n| *n > 0.0);
    if let (Some(rows), Some(cols)) = (positive("NumPixelsY"), positive("NumPixelsX"))
        && found.scan_hint.is_none()
    {
        let shape = [rows as usize, cols as usize];
        found.scan_hint = Some(Sourced::new(shape, source("NumPixelsY,NumPixelsX")));
    }
    if let Some(prescan) = positive("NumPixelsPrescan") {
        found.warnings.push(format!(
            "the sidecar mentions {prescan} prescan pixels: --skip-frames or --flyback-cols may be needed"
        ));
    }
    let calibration = &mut found.calibration;
    if let Some(volt) = positive("High Tension") {
        calibration.voltage_kv = Some(Sourced::new(volt / 1e3, source("High Tension")));
    }
    if let Some(nm) = positive("Pixel Size") {
        calibration.scan_step_a = Some(Sourced::new([nm * 10.0; 2], source("Pixel Size")));
        if number("IsPixelSizeCalibrated") == Some(0.0) {
            found
                .warnings
                .push("the sidecar's pixel size is marked as not calibrated".into());
        }
    }
    if let Some(rotation) = number("Rotation") {
        calibration.rotation_deg = Some(Sourced::new(rotation, source("Rotation")));
        if rotation != 0.0 {
            found.warnings.push(format!(
                "the sidecar's rotation {rotation} is taken as degrees, which is unproven"
            ));
        }
    }
    if let Some(metres) = positive("Camera Length")
        && !found.metadata.iter().any(|m| m.0 == "camera_length_m")
    {
        found.metadata.push((
            "camera_length_m",
            Sourced::new(metres, source("Camera Length")),
        ));
    }
}

/// A missing file, with the frames that are there and those that should be.
fn with_frames(error: IoError, found: &Found) -> IoError {
    match error {
        IoError::MissingExternalFile(mut fault) => {
            let there = found.frames() + found.behind_gap;
            let expected = found.frames_expected.as_ref().map(|e| e.value);
            if let Some(expected) = expected {
                fault.frames = Some([there, expected]);
            }
            let of = expected.map_or_else(String::new, |n| format!(" of {n}"));
            fault.found = format!("{}; {there}{of} frames are there", fault.found);
            fault.action =
                "put the data files beside the master, or keep the complete rows before \
                            the gap with --complete-rows-only"
                    .into();
            IoError::MissingExternalFile(fault)
        }
        other => other,
    }
}
