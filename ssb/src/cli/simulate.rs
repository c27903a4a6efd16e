//! `ssb simulate`: data with a known answer, the truth written beside them.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use ssb_core::{Calibration, Control, Sourced};
use ssb_io::npy;
use ssb_io::write::{AcquisitionLayout, write_acquisition};
use ssb_testkit::simulate::{Counts, SimulatedScan, Simulation, Specimen};

use super::args::SimulateArgs;
use super::console::Console;
use super::{Ending, opening, writing};
use crate::Error;

/// Files of one simulation.
pub struct Written {
    /// The file to open.
    pub data: PathBuf,
    /// Every file, the truth included.
    pub files: Vec<PathBuf>,
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let stem = stem.strip_suffix("_master").unwrap_or(&stem);
    path.with_file_name(format!("{stem}{suffix}"))
}

/// Writes counts, truth (`*_truth.json`) and the true phase (`*_truth_phase.npy`).
pub fn write(
    scan: &SimulatedScan,
    path: &Path,
    layout: AcquisitionLayout,
    control: &Control,
) -> Result<Written, Error> {
    let calibration = &scan.truth.calibration;
    let mut files = match &scan.counts {
        Counts::U8(a) => write_acquisition(path, layout, a.view(), calibration, control),
        Counts::U16(a) => write_acquisition(path, layout, a.view(), calibration, control),
        Counts::U32(a) => write_acquisition(path, layout, a.view(), calibration, control),
    }?;
    let data = files.first().cloned().unwrap_or_else(|| path.to_owned());
    let phase = beside(path, "_truth_phase.npy");
    npy::write_f64(&phase, scan.truth.phase_rad.view())?;
    let mut truth = json!(scan.truth);
    truth["phase_rad"] = file_name(&phase).into();
    truth["data"] = file_name(&data).into();
    let record = beside(path, "_truth.json");
    writing::write_whole(&record, format!("{truth:#}\n").as_bytes())?;
    files.extend([record, phase]);
    Ok(Written { data, files })
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn specimen(a: &SimulateArgs) -> Result<Specimen, Error> {
    Ok(match a.object.as_str() {
        "atoms" => Specimen::Atoms,
        "lattice" => Specimen::Lattice,
        path if path.ends_with(".npy") => Specimen::Phase(npy::read_f64_2d(Path::new(path))?),
        other => {
            return Err(Error::request(
                "--object",
                format!("`{other}` is not known"),
                "give atoms, lattice, or a NumPy file with the phase in rad",
            ));
        }
    })
}

fn simulation(a: &SimulateArgs, console: &Console) -> Result<Simulation, Error> {
    let candidate = opening::candidate(ssb_core::Candidate::default(), &a.known, console)?;
    if candidate.depth_spread_nm != 0.0 {
        return Err(Error::request(
            "--depth-spread-nm",
            "a specimen has a thickness",
            "give --thickness-nm",
        ));
    }
    let origin = "simulated";
    // The disk fills two thirds of the shorter side of the detector.
    let side = a.det_shape[0].min(a.det_shape[1]) as f64;
    let det_step_mrad = a
        .det_step_mrad
        .unwrap_or([3.0 * a.semiangle_mrad / side; 2]);
    Ok(Simulation {
        specimen: specimen(a)?,
        calibration: Calibration {
            voltage_kv: Sourced::new(a.voltage_kv, origin),
            semiangle_mrad: Sourced::new(a.semiangle_mrad, origin),
            scan_step_a: Sourced::new(a.scan_step_a, origin),
            det_step_mrad: Sourced::new(det_step_mrad, origin),
            rotation_deg: Sourced::new(a.rotation_deg, origin),
        },
        aberrations: candidate.aberrations,
        scan_shape: a.scan_shape,
        det_shape: a.det_shape,
        bf_center_px: a.det_shape.map(|n| (n as f64 - 1.0) / 2.0),
        electrons_per_pattern: a.dose_e_per_pattern,
        thickness_nm: a.thickness_nm,
        tilt_mrad: candidate.tilt_mrad,
        seed: a.seed,
        ..Simulation::demo()
    })
}

pub fn run(a: &SimulateArgs, console: &Console) -> Result<Ending, Error> {
    writing::check_place(&a.output)?;
    let layout: AcquisitionLayout = a.layout.parse()?;
    let truth = beside(&a.output, "_truth.json");
    let master = beside(&a.output, "_master.h5");
    if let Some(taken) = [&a.output, &truth, &master]
        .into_iter()
        .find(|p| p.exists())
    {
        return Err(Error::output(
            taken,
            "it exists; simulated data never replace a file",
            "choose another name, or remove it first",
        ));
    }
    let simulation = simulation(a, console)?;
    let stage = console.stage("simulate");
    let scan = simulation.run(console.control())?;
    let seconds = stage.end();
    let written = write(&scan, &a.output, layout, console.control())?;
    let names: Vec<String> = written
        .files
        .iter()
        .map(|p| p.display().to_string())
        .collect();
    let document: Value = json!({
        "data": written.data.display().to_string(),
        "files": names,
        "shape": scan.counts.shape(),
        "dtype": scan.counts.dtype(),
        "max_count": scan.counts.max(),
        "truth": scan.truth,
        "seconds": {"simulate": seconds},
    });
    console.finish(&document, &names.join("\n"));
    Ok(Ending::Done)
}
