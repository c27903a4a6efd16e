//! py4DSTEM files: EMD 1.0 (version 0.14 on), 0.13, and 0.12 and older (`formats.md` section 3.3).

use super::emd_axes::{axes, take_det_step, take_steps};
use super::keys::Keys;
use super::plain::{self, Catalogue, Entry};
use super::{Candidate, Format, Found, units};
use crate::IoError;
use crate::hdf5::Object;
use crate::options::OpenOptions;

pub(super) const FORMAT: Format = Format {
    name: "py4DSTEM",
    probe: |candidate| {
        let root = candidate.container.as_ref().and_then(|c| c.root().ok());
        root.is_some_and(|root| !tops(&root).is_empty())
    },
    open,
};

/// The generations of the layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Generation {
    Emd1,
    V013,
    Legacy,
}

/// Top groups of a py4DSTEM file with their generation.
fn tops(root: &Object) -> Vec<(Object, Generation)> {
    let emd1 = root.attribute_text("emd_group_type").as_deref() == Some("file");
    let links = root.links().unwrap_or_default();
    let objects = links.iter().filter_map(|l| root.follow(l).ok().flatten());
    objects
        .filter_map(|top| {
            let generation = match (emd1, top.attribute_text("emd_group_type").as_deref()) {
                (true, Some("root")) => Generation::Emd1,
                (false, Some("root")) => Generation::V013,
                _ if top.attribute_number("emd_group_type") == Some(2.0) => Generation::Legacy,
                _ => return None,
            };
            Some((top, generation))
        })
        .collect()
}

fn open(candidate: &Candidate, options: &OpenOptions) -> Result<Found, IoError> {
    let root = plain::container(candidate)?.root()?;
    let tops = tops(&root);
    let entry = match &options.dataset {
        Some(path) => plain::named(&root, path)?,
        None => {
            let mut entries = Vec::new();
            for (top, _) in &tops {
                entries.extend(Catalogue::below(top).datasets);
            }
            // Diffraction slices and the like have 3 axes.
            entries.retain(|e| super::hdf5_frames::rank(&e.dataset.shape()) == 4);
            match plain::only(&root, entries)? {
                Some(entry) => entry,
                None => return Err(plain::nothing(&root)),
            }
        }
    };
    let within = |top: &Object| entry.path.starts_with(&format!("{}/", top.path()));
    let owner = tops.iter().find(|(top, _)| within(top));
    let Some((top, generation)) = owner else {
        return plain::describe("py4dstem", &root, &entry);
    };
    let layout = match generation {
        Generation::Emd1 => "py4dstem-emd1.0".to_owned(),
        Generation::V013 => "py4dstem-legacy-0.13".to_owned(),
        Generation::Legacy => format!(
            "py4dstem-legacy-0.{}",
            top.attribute_number("version_minor").unwrap_or(0.0)
        ),
    };
    let mut found = plain::describe(&layout, &root, &entry)?;
    calibrate(top, *generation, &entry, &root, &mut found)?;
    Ok(found)
}

/// The group of the data, where the axes are.
fn cube_of(root: &Object, entry: &Entry) -> Result<Option<Object>, IoError> {
    match entry.path.rsplit_once('/') {
        Some((group, _)) => root.find(group),
        None => Ok(None),
    }
}

fn calibrate(
    top: &Object,
    generation: Generation,
    entry: &Entry,
    root: &Object,
    found: &mut Found,
) -> Result<(), IoError> {
    let cube = cube_of(root, entry)?;
    let mut keys = Keys::default();
    let (names, first) = match generation {
        Generation::Emd1 | Generation::V013 => {
            let groups = [
                top.find("metadatabundle/calibration")?,
                match &cube {
                    Some(cube) => cube.find("_metadata/calibration")?,
                    None => None,
                },
            ];
            for group in groups.iter().flatten() {
                keys.add_datasets(group);
            }
            (
                [
                    "R_pixel_size",
                    "R_pixel_units",
                    "Q_pixel_size",
                    "Q_pixel_units",
                ],
                0,
            )
        }
        Generation::Legacy => {
            for group in ["calibration", "microscope", "user"] {
                if let Some(group) = top.find(&format!("metadata/metadata_0/{group}"))? {
                    keys.add_attributes(&group);
                }
            }
            (
                ["R_pix_size", "R_pix_units", "K_pix_size", "K_pix_units"],
                1,
            )
        }
    };
    let calibration = &mut found.calibration;
    calibration.voltage_kv = keys.voltage_kv();
    calibration.semiangle_mrad = keys.semiangle_mrad();
    calibration.rotation_deg = keys.rotation_deg();
    if let Some(cube) = &cube
        && let Some(axes) = axes(cube, first)
        && let [a, b, c, d] = &axes[..]
    {
        take_steps(cube, first, [a, b, c, d], [0, 1, 2, 3], calibration);
    }
    // One number for both axes stands beside the axes; the axes can tell rows from columns.
    let [r_size, r_units, q_size, q_units] = names;
    let from_keys = |size: &str, unit: &str| {
        let step = keys.pair(size)?;
        Some((step.value, [keys.text(unit)?; 2], step.source))
    };
    if let Some((step, unit, source)) = from_keys(r_size, r_units)
        && let Some(single) = units::scan_step(step, unit, &source)
    {
        match &calibration.scan_step_a {
            None => calibration.scan_step_a = Some(single),
            Some(axes) if differ(axes.value, single.value) => found.warnings.push(format!(
                "scan step: the axes say {:?} Å ({}), {r_size} says {} Å; the axes are used",
                axes.value, axes.source, single.value[0]
            )),
            Some(_) => {}
        }
    }
    if calibration.det_step_mrad.is_none()
        && calibration.det_step_per_a.is_none()
        && let Some((step, unit, source)) = from_keys(q_size, q_units)
    {
        take_det_step(units::det_step(step, unit, &source), calibration);
    }
    if keys.number("QR_flip").is_some_and(|f| f.value != 0.0) {
        found.warnings.push(
            "the calibration says QR_flip: the detector is mirrored against the scan; --transpose \
             undoes that"
                .into(),
        );
    }
    Ok(())
}

fn differ(a: [f64; 2], b: [f64; 2]) -> bool {
    a.iter().zip(b).any(|(a, b)| (a - b).abs() > 1e-6 * b.abs())
}
