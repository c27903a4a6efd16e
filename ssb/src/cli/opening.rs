//! From the arguments of a verb to an opened data set and a prepared session.

use std::path::PathBuf;

use ssb_core::{
    Backend, BfOptions, CalibrationHints, Candidate, MAX_DEPTH_SPREAD_NM, PrepareOptions, Sourced,
};
use ssb_io::{LoadPlan, MaskChoice, OpenOptions, ScanOrder};

use super::args::{AberrationArgs, BackendArgs, DataArgs};
use super::console::Console;
use crate::{
    Acquisition, AcquisitionOptions, Error, HotPixels, Quantity, Session, Setting, Source, open,
};

const ARGUMENT: &str = "argument";

/// How the file is to be opened.
pub fn open_options(a: &DataArgs) -> Result<OpenOptions, Error> {
    Ok(OpenOptions {
        dataset: a.dataset.clone(),
        scan_shape: a.scan_shape,
        skip_frames: a.skip_frames,
        flyback_cols: a.flyback_cols,
        scan_order: if a.scan_order == "serpentine" {
            ScanOrder::Serpentine
        } else {
            ScanOrder::Raster
        },
        complete_rows_only: a.complete_rows_only,
        region: a.region,
        transpose: a.transpose,
        flip_rows: a.flip_rows,
        flip_cols: a.flip_cols,
        mask: match a.mask.as_deref() {
            None => MaskChoice::FromFile,
            Some("none") => MaskChoice::None,
            Some(path) => MaskChoice::File(PathBuf::from(path)),
        },
    })
}

/// Calibration values given as arguments.
pub fn given_calibration(a: &DataArgs) -> CalibrationHints {
    let scalar = |v: Option<f64>| v.map(|v| Sourced::new(v, ARGUMENT));
    let pair = |v: Option<[f64; 2]>| v.map(|v| Sourced::new(v, ARGUMENT));
    CalibrationHints {
        voltage_kv: scalar(a.voltage_kv),
        semiangle_mrad: scalar(a.semiangle_mrad),
        scan_step_a: pair(a.scan_step_a),
        det_step_mrad: pair(a.det_step_mrad),
        det_step_per_a: None,
        rotation_deg: scalar(a.rotation_deg),
    }
}

/// How the disk is chosen.
pub fn disk_options(a: &DataArgs) -> BfOptions {
    BfOptions {
        center_px: a.bf_center,
        radius_px: a.bf_radius_px,
        threshold: a.bf_threshold,
    }
}

/// What is done about hot pixels.
pub fn hot_pixels(a: &DataArgs) -> HotPixels {
    match a.hot_pixels.as_str() {
        "off" => HotPixels::Off,
        "exclude" => HotPixels::Exclude,
        _ => HotPixels::Report,
    }
}

/// Opens the data set and says which part of it is used.
pub fn source(a: &DataArgs, console: &Console) -> Result<Source, Error> {
    let source = open(&a.file, &open_options(a)?)?;
    if let Some(region) = source.region_in_words() {
        console.note(&region);
    }
    Ok(source)
}

/// How the counts are read.
pub fn acquisition_options(
    a: &DataArgs,
    threads: Option<usize>,
    max_memory_bytes: Option<u64>,
) -> AcquisitionOptions {
    AcquisitionOptions {
        calibration: given_calibration(a),
        disk: disk_options(a),
        hot_pixels: hot_pixels(a),
        threads,
        max_memory_bytes,
    }
}

/// Reads the counts of the bright-field disk and says what stood out.
pub fn acquisition(
    source: &Source,
    a: &DataArgs,
    threads: Option<usize>,
    max_memory_bytes: Option<u64>,
    console: &Console,
) -> Result<Acquisition, Error> {
    let options = acquisition_options(a, threads, max_memory_bytes);
    let tell = |plan: &LoadPlan| console.note(&format!("plan: {plan}"));
    let acquisition = Acquisition::gather_telling(source, &options, console.control(), &tell)?;
    for warning in &acquisition.warnings {
        console.warn(warning);
    }
    Ok(acquisition)
}

/// Prepares the counts on the chosen backend and prints choice and plan.
pub fn session(
    acquisition: Acquisition,
    a: &BackendArgs,
    console: &Console,
) -> Result<Session, Error> {
    let options = PrepareOptions {
        device: a.device,
        threads: a.threads,
        max_memory_bytes: a.max_memory,
        topology: a.topology.clone(),
        ..PrepareOptions::default()
    };
    let backend = Backend::from(a.backend.as_str());
    let session = Session::of(acquisition, &backend, &options, console.control())?;
    let info = session.info();
    console.note(&format!(
        "backend: {} ({}); {}",
        info.backend,
        info.device,
        session.reason()
    ));
    console.note(&format!("plan: {}", info.plan));
    Ok(session)
}

/// A candidate with the changes that the arguments describe; warns of angles beyond a full turn.
pub fn candidate(
    from: Candidate,
    a: &AberrationArgs,
    console: &Console,
) -> Result<Candidate, Error> {
    let mut candidate = from;
    candidate.tilt_mrad = a.tilt_mrad.unwrap_or(candidate.tilt_mrad);
    let mut seen: Vec<Quantity> = Vec::new();
    for text in &a.aberrations {
        let setting: Setting = text.parse()?;
        if seen.contains(&setting.quantity) {
            return Err(Error::request(
                format!("--aberration {}", setting.quantity.name()),
                "it is given twice",
                "give one value",
            ));
        }
        if setting.quantity.term().is_none() {
            return Err(Error::request(
                format!("--aberration {}", setting.quantity.name()),
                "it is no aberration",
                "use --rotation-deg, --tilt-mrad or --depth-spread-nm",
            ));
        }
        seen.push(setting.quantity);
        setting.quantity.set(&mut candidate, setting.value);
    }
    let depth_spread_nm = a.depth_spread_nm.unwrap_or(candidate.depth_spread_nm);
    if !(0.0..=MAX_DEPTH_SPREAD_NM).contains(&depth_spread_nm) {
        return Err(Error::request(
            "--depth-spread-nm",
            format!("{depth_spread_nm} nm is not a thickness"),
            format!("give 0 to {MAX_DEPTH_SPREAD_NM}"),
        ));
    }
    candidate.depth_spread_nm = depth_spread_nm;
    warn_of_angles(&candidate, console);
    Ok(candidate)
}

/// An angle beyond 2 pi is probably in degrees.
pub fn warn_of_angles(candidate: &Candidate, console: &Console) {
    for (index, term) in ssb_core::TERMS.iter().enumerate() {
        let angle = candidate.aberrations.get(index).angle_rad;
        if angle.abs() > std::f64::consts::TAU {
            console.warn(&format!(
                "{} is {angle} rad, more than a full turn; is it in degrees?",
                term.angle_name
            ));
        }
    }
}
