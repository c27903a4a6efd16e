//! NeXus: the signal of the default NXdata group, with the axes it names (`formats.md` section 3.6).

use super::emd_axes::{self, Axis};
use super::hdf5_frames::rank;
use super::keys::Keys;
use super::plain::{self, Entry};
use super::{Candidate, Format, Found};
use crate::IoError;
use crate::hdf5::{Dataset, Object, Value, join};
use crate::options::OpenOptions;

pub(super) const FORMAT: Format = Format {
    name: "NeXus",
    probe: |candidate| {
        let root = candidate.container.as_ref().and_then(|c| c.root().ok());
        root.is_some_and(|root| !signals(&root).is_empty())
    },
    open,
};

/// Depth and number of groups that are looked at.
const MAX_DEPTH: usize = 8;
const MAX_GROUPS: usize = 10_000;

fn class(object: &Object) -> Option<String> {
    object.attribute_text("NX_class")
}

/// The name of the signal of an NXdata group: its attribute, else the dataset marked with
/// `signal` 1 as older files do.
fn signal(group: &Object) -> Option<String> {
    if let Some(name) = group.attribute_text("signal") {
        return Some(name);
    }
    let links = group.links().ok()?;
    let marked = links.into_iter().find(|link| {
        let child = group.follow(link).ok().flatten();
        child.is_some_and(|c| {
            let mark = c.attribute("signal");
            mark.and_then(|v| v.number()) == Some(1.0)
        })
    })?;
    Some(marked.name)
}

/// The signal of a group, when it is a stack or a scan.
fn entry(group: &Object, path: &str) -> Option<Entry> {
    if class(group).as_deref() != Some("NXdata") {
        return None;
    }
    let name = signal(group)?;
    let dataset = group.find(&name).ok().flatten();
    let dataset = dataset.as_ref().and_then(Dataset::of)?;
    matches!(rank(&dataset.shape()), 3 | 4).then(|| Entry {
        path: join(path, &name),
        dataset,
    })
}

/// Signals of 3 or 4 axes in the whole file.
fn signals(root: &Object) -> Vec<Entry> {
    let mut found = Vec::new();
    let mut pending = vec![(root.clone(), String::from("/"), 0)];
    let mut seen = std::collections::HashSet::new();
    while let Some((group, path, depth)) = pending.pop() {
        if depth > MAX_DEPTH || seen.len() > MAX_GROUPS || !seen.insert(group.key()) {
            continue;
        }
        found.extend(entry(&group, &path));
        for link in group.links().unwrap_or_default() {
            if let Ok(Some(child)) = group.follow(&link)
                && Dataset::of(&child).is_none()
            {
                pending.push((child, join(&path, &link.name), depth + 1));
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// What `@default` leads to from the root, if it leads to a signal.
fn default_signal(root: &Object) -> Option<Entry> {
    let mut here = root.clone();
    let mut path = String::from("/");
    for _ in 0..MAX_DEPTH {
        if let Some(found) = entry(&here, &path) {
            return Some(found);
        }
        let name = here.attribute_text("default")?;
        here = here.find(&name).ok().flatten()?;
        path = join(&path, &name);
    }
    None
}

fn open(candidate: &Candidate, options: &OpenOptions) -> Result<Found, IoError> {
    let root = plain::container(candidate)?.root()?;
    let entry = match (&options.dataset, default_signal(&root)) {
        (Some(path), _) => plain::named(&root, path)?,
        (None, Some(entry)) => entry,
        (None, None) => choose(&root)?,
    };
    let mut found = plain::describe("nexus-nxdata", &root, &entry)?;
    let mut keys = Keys::default();
    keys.add_instrument(&root);
    let calibration = &mut found.calibration;
    calibration.voltage_kv = calibration.voltage_kv.take().or_else(|| keys.voltage_kv());
    calibration.semiangle_mrad = calibration
        .semiangle_mrad
        .take()
        .or_else(|| keys.semiangle_mrad());
    let Some((path, _)) = entry.path.rsplit_once('/') else {
        return Ok(found);
    };
    if let Some(group) = root.find(path)?
        && rank(&entry.dataset.shape()) == 4
    {
        let axes = axes(&group, entry.dataset.object());
        let pair = |a: usize, b: usize| match (axes.get(a), axes.get(b)) {
            (Some(Some(first)), Some(Some(second))) => Some((first, second)),
            _ => None,
        };
        let skipped = axes.len().saturating_sub(4);
        emd_axes::take_pairs(
            pair(skipped, skipped + 1),
            pair(skipped + 2, skipped + 3),
            &mut found.calibration,
        );
    }
    Ok(found)
}

fn choose(root: &Object) -> Result<Entry, IoError> {
    let found = signals(root);
    for axes in [4, 3] {
        let fitting: Vec<&Entry> = found
            .iter()
            .filter(|e| rank(&e.dataset.shape()) == axes)
            .collect();
        if fitting.len() > 1 {
            return Err(plain::ambiguous(
                root.fault(),
                "one NXdata signal, or a default",
                fitting.into_iter().map(plain::listed),
            ));
        }
        if let [one] = fitting[..] {
            return plain::named(root, &one.path);
        }
    }
    Err(plain::nothing(root))
}

/// The axes that a group names, in the order of the signal's: `None` where there is none (`.`).
fn axes(group: &Object, signal: &Object) -> Vec<Option<(Axis, String)>> {
    let names: Vec<String> = match group.attribute("axes").or_else(|| signal.attribute("axes")) {
        Some(Value::Text(names)) => match &names[..] {
            [one] => one.split([':', ',']).map(str::to_owned).collect(),
            _ => names,
        },
        _ => Vec::new(),
    };
    names
        .iter()
        .map(|name| {
            let object = group.find(name.trim()).ok().flatten()?;
            let axis = emd_axes::axis(&object)?;
            Some((axis, join(group.path(), name.trim())))
        })
        .collect()
}
