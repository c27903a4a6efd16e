//! HyperSpy: `/Experiments/<title>/data` with an `axis-N` for each axis that says whether it is
//! scanned; the same tree in HDF5 (`.hspy`) and Zarr (`.zspy`, see `zarr.rs`)
//! (`formats.md` section 3.7).

use ssb_core::Sourced;

use super::emd_axes::take_det_step;
use super::hdf5_frames::rank;
use super::keys::Keys;
use super::plain::{self, Catalogue};
use super::{Candidate, Format, Found, units};
use crate::IoError;
use crate::error::Fault;
use crate::frames::Piece;
use crate::hdf5::join;
use crate::options::OpenOptions;

pub(super) const FORMAT: Format = Format {
    name: "HyperSpy",
    probe: |candidate| {
        let root = candidate.container.as_ref().and_then(|c| c.root().ok());
        root.is_some_and(|root| root.attribute_text("file_format").as_deref() == Some("HyperSpy"))
    },
    open,
};

/// Where the microscope is described, below a signal's group.
pub(super) const MICROSCOPE: &str = "metadata/Acquisition_instrument/TEM";

/// One axis of a signal.
pub(super) struct Axis {
    scanned: bool,
    step: Option<f64>,
    unit: String,
}

/// An axis from its attributes.
pub(super) fn axis(keys: &Keys) -> Option<Axis> {
    Some(Axis {
        scanned: keys.number("navigate")?.value != 0.0,
        step: keys.number("scale").map(|s| s.value),
        unit: keys.text("units").unwrap_or_default().to_owned(),
    })
}

fn open(candidate: &Candidate, options: &OpenOptions) -> Result<Found, IoError> {
    let root = plain::container(candidate)?.root()?;
    let entry = match &options.dataset {
        Some(path) => plain::named(&root, path)?,
        None => {
            let mut entries = Vec::new();
            if let Some(group) = root.find("Experiments")? {
                entries = Catalogue::below(&group).datasets;
                // Learning results and the like lie deeper.
                entries.retain(|e| e.path.ends_with("/data") && e.path.split('/').count() == 4);
            }
            match plain::only(&root, entries)? {
                Some(entry) => entry,
                None => return Err(plain::nothing(&root)),
            }
        }
    };
    let mut found = plain::describe("hyperspy-hspy", &root, &entry)?;
    let Some((group, _)) = entry.path.rsplit_once('/') else {
        return Ok(found);
    };
    let shape = entry.dataset.shape();
    let first = shape.len() - rank(&shape);
    let mut axes = Vec::new();
    for number in first..shape.len() {
        let path = join(group, &format!("axis-{number}"));
        let mut keys = Keys::default();
        if let Some(object) = root.find(&path)? {
            keys.add_attributes(&object);
        }
        axes.push((number, axis(&keys), format!("file:{path}@scale")));
    }
    take_axes(&axes, &mut found)?;
    let mut keys = Keys::default();
    if let Some(object) = root.find(&join(group, MICROSCOPE))? {
        keys.add_attributes(&object);
    }
    take_microscope(&keys, &mut found);
    Ok(found)
}

/// Which axes are scanned, and the steps of all; `(stored axis, what is said, where)`.
pub(super) fn take_axes(
    axes: &[(usize, Option<Axis>, String)],
    found: &mut Found,
) -> Result<(), IoError> {
    let [piece] = &mut found.pieces[..] else {
        return Ok(());
    };
    if axes.iter().any(|a| a.1.is_none()) {
        found
            .warnings
            .push("the axes are not described: their order is taken as scan, detector".into());
        return Ok(());
    }
    let of_kind = |scanned: bool| -> Vec<&(usize, Option<Axis>, String)> {
        let fits =
            |a: &&(usize, Option<Axis>, String)| a.1.as_ref().is_some_and(|a| a.scanned == scanned);
        axes.iter().filter(fits).collect()
    };
    let (scan, detector) = (of_kind(true), of_kind(false));
    let [det_row, det_col] = detector[..] else {
        return Err(IoError::UnsupportedLayout(
            Fault::of(piece.array.file().path())
                .object(piece.array.object())
                .expected("two axes that are not navigated: the detector's")
                .found(format!(
                    "{} navigated axes and {} others",
                    scan.len(),
                    detector.len()
                ))
                .action("transpose the signal (HyperSpy: as_signal2D) and save it again"),
        ));
    };
    let scan_axes: Vec<usize> = scan.iter().map(|a| a.0).collect();
    *piece = Piece::along(piece.array.clone(), &scan_axes, [det_row.0, det_col.0]);
    found.stored_scan = (scan.len() == 2).then(|| piece.scan_extent());
    let pair = |a: &(usize, Option<Axis>, String), b: &(usize, Option<Axis>, String)| {
        let (first, second) = (a.1.as_ref()?, b.1.as_ref()?);
        let step = [first.step?.abs(), second.step?.abs()];
        let place = format!("{},{}", a.2, b.2.trim_start_matches("file:"));
        Some((step, [first.unit.clone(), second.unit.clone()], place))
    };
    let texts = |u: &[String; 2]| -> [String; 2] { u.clone() };
    if let [row, col] = scan[..]
        && let Some((step, unit, place)) = pair(row, col)
    {
        let [a, b] = texts(&unit);
        let step = units::scan_step(step, [&a, &b], &place);
        found.calibration.scan_step_a = found.calibration.scan_step_a.take().or(step);
    }
    if let Some((step, unit, place)) = pair(det_row, det_col) {
        let [a, b] = texts(&unit);
        take_det_step(
            units::det_step(step, [&a, &b], &place),
            &mut found.calibration,
        );
    }
    Ok(())
}

/// The microscope's numbers, in HyperSpy's units: kV, mrad, mm, degrees.
pub(super) fn take_microscope(keys: &Keys, found: &mut Found) {
    let positive = |name: &str| keys.number(name).filter(|n| n.value > 0.0);
    let calibration = &mut found.calibration;
    if let Some(kv) = positive("beam_energy") {
        calibration.voltage_kv = Some(kv);
    }
    if let Some(mrad) = positive("convergence_angle") {
        calibration.semiangle_mrad = Some(mrad);
    }
    if let Some(deg) = keys.number("rotation") {
        calibration.rotation_deg = Some(deg);
    }
    if let Some(mm) = positive("camera_length") {
        found
            .metadata
            .push(("camera_length_m", Sourced::new(mm.value / 1e3, mm.source)));
    }
}
