//! Velox EMD: images `(rows, cols, frames)` with the frame axis last, and one JSON text of numbers in SI
//! units for each frame (`formats.md` section 3.5).

use serde_json::Value as Json;
use ssb_core::Sourced;

use super::hdf5_frames::check_shape;
use super::json;
use super::plain::{self, Catalogue, Entry};
use super::{Candidate, Format, Found, units};
use crate::IoError;
use crate::frames::Piece;
use crate::hdf5::{Dataset, Object, join};
use crate::options::OpenOptions;

pub(super) const FORMAT: Format = Format {
    name: "Velox EMD",
    probe: |candidate| {
        let root = candidate.container.as_ref().and_then(|c| c.root().ok());
        root.is_some_and(|root| images(&root).is_some())
    },
    open,
};

/// The longest metadata text.
const MAX_TEXT: usize = 1 << 22;

/// The group of images, as Velox alone names it.
fn images(root: &Object) -> Option<Object> {
    root.find("Data/Image").ok().flatten()
}

fn open(candidate: &Candidate, options: &OpenOptions) -> Result<Found, IoError> {
    let root = plain::container(candidate)?.root()?;
    let entry = match &options.dataset {
        Some(path) => plain::named(&root, path)?,
        None => choose(&root)?,
    };
    let shape = entry.dataset.shape();
    let [rows, cols, frames] = shape[..] else {
        // Not one of Velox's own images.
        return plain::describe("velox-emd", &root, &entry);
    };
    check_shape(entry.dataset.object(), &[frames, rows, cols])?;
    let piece = Piece {
        array: entry.dataset.array()?,
        frame_axes: vec![2],
        det_axes: [0, 1],
        skip: 0,
        frames,
    };
    let mut found = Found::new("velox-emd", &entry.path, vec![piece]);
    match metadata(&root, &entry)? {
        Some((text, source)) => take(&text, &source, &mut found),
        None => found
            .warnings
            .push("no metadata beside the image: calibration must be given".into()),
    }
    Ok(found)
}

/// The one series of images; single images (survey pictures, detectors' maps) are passed over when
/// there is a series.
fn choose(root: &Object) -> Result<Entry, IoError> {
    let Some(images) = images(root) else {
        return Err(plain::nothing(root));
    };
    let mut entries = Catalogue::below(&images).datasets;
    entries.retain(|e| e.dataset.shape().len() == 3 && e.dataset.is_numeric());
    if entries.iter().any(|e| e.dataset.shape()[2] > 1) {
        entries.retain(|e| e.dataset.shape()[2] > 1);
    }
    if entries.len() > 1 {
        return Err(plain::ambiguous(
            root.fault(),
            "one series of images",
            entries.iter().map(plain::listed),
        ));
    }
    entries.pop().ok_or_else(|| plain::nothing(root))
}

/// The JSON of the first frame, and where it is.
fn metadata(root: &Object, entry: &Entry) -> Result<Option<(Json, String)>, IoError> {
    let Some((group, _)) = entry.path.rsplit_once('/') else {
        return Ok(None);
    };
    let path = join(group, "Metadata");
    let Some(dataset) = root.find(&path)?.as_ref().and_then(Dataset::of) else {
        return Ok(None);
    };
    let bytes = dataset.array()?.read_first_column(MAX_TEXT)?;
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    Ok(serde_json::from_slice(&bytes[..end])
        .ok()
        .map(|text| (text, format!("file:{path}"))))
}

/// Numbers of the JSON, which are texts in SI units.
fn take(text: &Json, source: &str, found: &mut Found) {
    let number = |path: &str| json::number(text, path);
    let at = |path: &str| format!("{source}#{path}");
    let positive = |path: &str| number(path).filter(|v| *v > 0.0);
    let calibration = &mut found.calibration;
    calibration.voltage_kv = positive("Optics.AccelerationVoltage")
        .map(|v| Sourced::new(v / 1e3, at("Optics.AccelerationVoltage")));
    calibration.semiangle_mrad = positive("Optics.BeamConvergence")
        .map(|v| Sourced::new(v * 1e3, at("Optics.BeamConvergence")));
    calibration.rotation_deg = ["Scan.ScanRotation", "Optics.ScanRotation"]
        .iter()
        .find_map(|path| Some(Sourced::new(number(path)?.to_degrees(), at(path))));
    let full = [
        positive("Scan.ScanSize.height"),
        positive("Scan.ScanSize.width"),
    ];
    if let [Some(rows), Some(cols)] = full {
        let side = |low: &str, high: &str| {
            let ends = [number(low), number(high)];
            let share = match ends {
                [Some(low), Some(high)] => high - low,
                _ => 1.0,
            };
            if share > 0.0 && share <= 1.0 {
                share
            } else {
                1.0
            }
        };
        let shape = [
            rows * side("Scan.ScanArea.top", "Scan.ScanArea.bottom"),
            cols * side("Scan.ScanArea.left", "Scan.ScanArea.right"),
        ]
        .map(|n| n.round().max(1.0) as usize);
        found.scan_hint = Some(Sourced::new(shape, at("Scan.ScanSize, Scan.ScanArea")));
        let field = [
            positive("Optics.FullScanFieldOfView.y"),
            positive("Optics.FullScanFieldOfView.x"),
        ];
        if let [Some(height), Some(width)] = field {
            let place = at("Optics.FullScanFieldOfView");
            for value in [height, width] {
                found
                    .metadata
                    .push(("full_field_of_view_m", Sourced::new(value, place.clone())));
            }
            let step = [height / rows * 1e10, width / cols * 1e10];
            calibration.scan_step_a = Some(Sourced::new(step, format!("{place} / Scan.ScanSize")));
        }
    }
    let size = [
        positive("BinaryResult.PixelSize.height"),
        positive("BinaryResult.PixelSize.width"),
    ];
    let unit = |path: &str| json::text(text, path);
    if let ([Some(height), Some(width)], Some(y), Some(x)) = (
        size,
        unit("BinaryResult.PixelUnitY"),
        unit("BinaryResult.PixelUnitX"),
    ) {
        let step = units::det_step([height, width], [y, x], &at("BinaryResult.PixelSize"));
        super::emd_axes::take_det_step(step, calibration);
    }
    for (path, key) in [
        ("Scan.DwellTime", "dwell_s"),
        ("Optics.CameraLength", "camera_length_m"),
    ] {
        if let Some(value) = positive(path) {
            found.metadata.push((key, Sourced::new(value, at(path))));
        }
    }
}
