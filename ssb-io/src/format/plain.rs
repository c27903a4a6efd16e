//! HDF5 of no particular layout: the one dataset of 4 axes, else the one of 3.

use std::collections::HashSet;
use std::path::PathBuf;

use ssb_core::Sourced;
use ssb_core::ndarray::Array2;

use super::hdf5_frames::{frames_of, rank, tuple};
use super::keys::Keys;
use super::{Candidate, Format, Found};
use crate::IoError;
use crate::error::Fault;
use crate::hdf5::{Container, Dataset, Object, Value, join};
use crate::options::OpenOptions;

pub(super) const FORMAT: Format = Format {
    name: "plain HDF5",
    probe: |candidate| candidate.container.is_some(),
    open,
};

/// Objects visited while looking for data.
const MAX_OBJECTS: usize = 100_000;

/// A dataset and its path in the file that was opened, which may lead through links.
pub(super) struct Entry {
    pub(super) path: String,
    pub(super) dataset: Dataset,
}

/// Datasets found in a file, and what kept others from being looked at.
#[derive(Default)]
pub(super) struct Catalogue {
    pub(super) datasets: Vec<Entry>,
    problems: Vec<IoError>,
    visited: HashSet<(PathBuf, u64)>,
}

impl Catalogue {
    /// Visits every object below a group once.
    pub(super) fn below(group: &Object) -> Self {
        let mut catalogue = Self::default();
        catalogue.visit(group, group.path(), 0);
        catalogue
    }

    fn visit(&mut self, object: &Object, path: &str, depth: usize) {
        if depth > 64 || self.visited.len() > MAX_OBJECTS || !self.visited.insert(object.key()) {
            return;
        }
        if let Some(dataset) = Dataset::of(object) {
            if dataset.shape().len() > 2 {
                let path = path.to_owned();
                self.datasets.push(Entry { path, dataset });
            }
            return;
        }
        match object.links() {
            Ok(links) => {
                for link in links {
                    match object.follow(&link) {
                        Ok(Some(child)) => self.visit(&child, &join(path, &link.name), depth + 1),
                        Ok(None) => {}
                        Err(error) => self.problems.push(error),
                    }
                }
            }
            Err(error) => self.problems.push(error),
        }
    }
}

/// Opens the container of a candidate that its format has checked.
pub(super) fn container(candidate: &Candidate) -> Result<&std::sync::Arc<Container>, IoError> {
    candidate.container.as_ref().ok_or_else(|| {
        IoError::NotHdf5(
            crate::error::Fault::of(candidate.path())
                .expected("an HDF5 file")
                .found("another file"),
        )
    })
}

/// The dataset that the caller names.
pub(super) fn named(root: &Object, path: &str) -> Result<Entry, IoError> {
    let object = root.find(path)?;
    let dataset = object.as_ref().and_then(Dataset::of).ok_or_else(|| {
        let what = if object.is_some() {
            "a group"
        } else {
            "no such object"
        };
        IoError::BadOption(
            root.fault()
                .object(path)
                .expected("a dataset")
                .found(what)
                .action("correct --dataset"),
        )
    })?;
    Ok(Entry {
        path: join("/", path.trim_matches('/')),
        dataset,
    })
}

/// Path and shape, as lists name a dataset.
pub(super) fn listed(entry: &Entry) -> (String, Vec<usize>) {
    (entry.path.clone(), entry.dataset.shape())
}

/// The error for several that fit.
pub(super) fn ambiguous(
    fault: Box<Fault>,
    expected: impl Into<String>,
    fitting: impl Iterator<Item = (String, Vec<usize>)>,
) -> IoError {
    let list: Vec<String> = fitting
        .map(|(path, shape)| format!("{path} {}", tuple(&shape)))
        .collect();
    IoError::AmbiguousDataset(
        fault
            .expected(expected)
            .found(list.join(", "))
            .action("name one with --dataset"),
    )
}

/// The one dataset that fits, of several: of 4 axes before 3, of numbers before others.
pub(super) fn only(root: &Object, mut entries: Vec<Entry>) -> Result<Option<Entry>, IoError> {
    for axes in [4, 3] {
        let fits = |e: &Entry| rank(&e.dataset.shape()) == axes;
        let numbers = entries.iter().any(|e| fits(e) && e.dataset.is_numeric());
        let mut fitting: Vec<Entry> = entries
            .extract_if(.., |e| fits(e) && (!numbers || e.dataset.is_numeric()))
            .collect();
        if fitting.len() > 1 {
            let expected = format!("one dataset of {axes} axes");
            return Err(ambiguous(
                root.fault(),
                expected,
                fitting.iter().map(listed),
            ));
        }
        if let Some(one) = fitting.pop() {
            return Ok(Some(one));
        }
    }
    Ok(None)
}

fn open(candidate: &Candidate, options: &OpenOptions) -> Result<Found, IoError> {
    let root = container(candidate)?.root()?;
    if let Some(path) = &options.dataset {
        return describe("hdf5-plain", &root, &named(&root, path)?);
    }
    let Catalogue {
        datasets, problems, ..
    } = Catalogue::below(&root);
    let Some(entry) = only(&root, datasets)? else {
        let first = problems.into_iter().next();
        return Err(first.unwrap_or_else(|| nothing(&root)));
    };
    let mut found = describe("hdf5-plain", &root, &entry)?;
    let passed = problems.iter().map(|p| format!("passed over: {p}"));
    found.warnings.extend(passed);
    Ok(found)
}

/// Frames, attributes and mask of a dataset.
pub(super) fn describe(layout: &str, root: &Object, entry: &Entry) -> Result<Found, IoError> {
    let Entry { path, dataset } = entry;
    let frames = frames_of(dataset)?;
    let mut found = Found::new(layout, path, frames.pieces);
    found.stored_scan = frames.stored_scan;
    // Attributes on the dataset, then on each group above it.
    let mut keys = Keys::default();
    keys.add_attributes(dataset.object());
    let mut groups = Vec::new();
    let mut above = path.as_str();
    while let Some((parent, _)) = above.rsplit_once('/') {
        above = parent;
        if let Some(group) = root.find(parent)? {
            keys.add_attributes(&group);
            groups.push(group);
        }
    }
    let calibration = &mut found.calibration;
    calibration.voltage_kv = keys.voltage_kv();
    calibration.semiangle_mrad = keys.semiangle_mrad();
    calibration.rotation_deg = keys.rotation_deg();
    calibration.scan_step_a = ["scan_sampling_A", "scan_step_A", "scan_step_a"]
        .iter()
        .find_map(|name| keys.pair(name));
    calibration.det_step_mrad = ["det_sampling_mrad", "det_step_mrad"]
        .iter()
        .find_map(|name| keys.pair(name));
    calibration.det_step_per_a = ["det_sampling_invA", "det_step_per_a"]
        .iter()
        .find_map(|name| keys.pair(name));
    found.saturation = keys.number("saturation_value").filter(|c| c.value > 0.0);
    found.scan_hint = keys.shape("scan_shape");
    if found.scan_hint.is_some() && found.stored_scan.is_some_and(|[rows, _]| rows == 1) {
        found.stored_scan = None;
    }
    let det = found.pieces.first().map_or([0, 0], |p| p.det_shape());
    for group in &groups {
        if let Some(mask) = group.find("pixel_mask")? {
            found.mask = pixel_mask(&mask, det, &mut found.warnings)?;
            break;
        }
    }
    Ok(found)
}

/// A pixel mask: 0 marks a good pixel.
pub(super) fn pixel_mask(
    object: &Object,
    det: [usize; 2],
    warnings: &mut Vec<String>,
) -> Result<Option<Sourced<Array2<bool>>>, IoError> {
    let Some(dataset) = Dataset::of(object) else {
        return Ok(None);
    };
    let shape = dataset.shape();
    if shape != det {
        warnings.push(format!(
            "the pixel mask {} has shape {}, the detector {}: it is not used",
            object.path(),
            tuple(&shape),
            tuple(&det)
        ));
        return Ok(None);
    }
    let Some(Value::Numbers(numbers)) = dataset.value()? else {
        return Ok(None);
    };
    let good = numbers.iter().map(|n| *n == 0.0).collect();
    Ok(Array2::from_shape_vec((det[0], det[1]), good)
        .ok()
        .map(|mask| Sourced::new(mask, format!("file:{}", object.path()))))
}

pub(super) fn nothing(root: &Object) -> IoError {
    let mut list = Vec::new();
    names(root, 0, &mut list);
    let list = if list.is_empty() {
        "no dataset at all".into()
    } else {
        list.join(", ")
    };
    IoError::No4dData(
        root.fault()
            .expected("a dataset of 3 or 4 axes")
            .found(list)
            .action("check that this is the right file"),
    )
}

/// Datasets with their shapes, at most a handful.
fn names(group: &Object, depth: usize, list: &mut Vec<String>) {
    for link in group.links().unwrap_or_default() {
        if list.len() >= 12 || depth > 8 {
            return;
        }
        if let Ok(Some(child)) = group.follow(&link) {
            match Dataset::of(&child) {
                Some(d) => list.push(format!("{} {}", child.path(), tuple(&d.shape()))),
                None => names(&child, depth + 1, list),
            }
        }
    }
}
