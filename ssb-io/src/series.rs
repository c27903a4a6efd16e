//! The numbered acquisitions of a folder, in natural order: 2 before 10.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::IoError;
use crate::error::Fault;
use crate::folder::{MASTER, data_file};

/// Ends of names that data files have.
const ENDINGS: [&str; 11] = [
    "h5", "hdf5", "emd", "nxs", "hspy", "zspy", "nhdf", "ndata1", "mib", "xml", "raw",
];
/// Arrays beside data have this end too: they count only where nothing else is numbered.
const ARRAYS: &str = "npy";

/// One acquisition of a series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbered {
    /// Its name: that of the file without its ending and without `_master`.
    pub name: String,
    /// The file or folder to open.
    pub path: PathBuf,
}

/// The acquisitions of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Series {
    /// In natural order.
    pub acquisitions: Vec<Numbered>,
    /// Names of data files that are none of them.
    pub left_out: Vec<String>,
}

/// Finds the numbered acquisitions of a folder: data files, masters, folders with one master and Zarr trees whose
/// names differ in their numbers only. `pattern` names one kind, with `#` for every number, e.g.
/// `scan_#_master.h5`.
///
/// # Errors
/// [`IoError::NotFound`]; [`IoError::NotAFile`] for no folder, nothing numbered, or several kinds of names without
/// a pattern (all are listed with their counts).
///
/// ```
/// let folder = tempfile::tempdir().unwrap();
/// for name in ["scan_10.h5", "scan_2.h5", "notes.txt", "gain.h5"] {
///     std::fs::write(folder.path().join(name), b"x").unwrap();
/// }
/// let series = ssb_io::numbered_acquisitions(folder.path(), None)?;
/// let names: Vec<&str> = series.acquisitions.iter().map(|a| a.name.as_str()).collect();
/// assert_eq!(names, ["scan_2", "scan_10"]);
/// assert_eq!(series.left_out, ["gain.h5"]);
/// # Ok::<(), ssb_io::IoError>(())
/// ```
pub fn numbered_acquisitions(folder: &Path, pattern: Option<&str>) -> Result<Series, IoError> {
    let fault = || Fault::of(folder).expected("a folder with numbered acquisitions");
    let system = |e: std::io::Error| IoError::system(folder, &e);
    if !std::fs::metadata(folder).map_err(system)?.is_dir() {
        return Err(IoError::NotAFile(
            fault()
                .found("a file")
                .action("name the folder that holds the series"),
        ));
    }
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(folder).map_err(system)? {
        let name = entry.map_err(system)?.file_name();
        names.extend(name.into_string().ok().filter(|n| !n.starts_with('.')));
    }
    let mut kinds: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut left_out = Vec::new();
    for name in names.iter().filter(|n| is_data(folder, n, &names)) {
        match kind(name) {
            Some(kind) => kinds.entry(kind).or_default().push(name.clone()),
            None => left_out.push(name.clone()),
        }
    }
    let only_arrays = kinds.keys().all(|k| ending(k) == ARRAYS);
    let chosen = match pattern {
        Some(pattern) => kinds
            .remove(pattern)
            .map(|names| (pattern.to_owned(), names)),
        None => {
            let mut considered = kinds.keys().filter(|k| only_arrays || ending(k) != ARRAYS);
            match (considered.next().cloned(), considered.count()) {
                (Some(one), 0) => kinds.remove_entry(&one),
                _ => None,
            }
        }
    };
    let Some((_, mut found)) = chosen else {
        let listed = kinds.iter().map(|(k, n)| format!("{k} ({})", n.len()));
        let listed: Vec<String> = listed.collect();
        let (found, action) = if listed.is_empty() {
            let found = "no data file with a number in its name".to_owned();
            (found, "number the acquisitions, e.g. scan_1.h5".to_owned())
        } else {
            let first = kinds.keys().next().cloned().unwrap_or_default();
            let action = format!("name one kind, e.g. --pattern '{first}'");
            (
                format!("names of these kinds: {}", listed.join(", ")),
                action,
            )
        };
        return Err(IoError::NotAFile(fault().found(found).action(action)));
    };
    left_out.extend(kinds.into_values().flatten());
    left_out.sort_by(|a, b| natural(a, b));
    found.sort_by(|a, b| natural(a, b));
    let acquisitions = found.into_iter().map(|file| Numbered {
        name: acquisition_name(&file).to_owned(),
        path: folder.join(&file),
    });
    Ok(Series {
        acquisitions: acquisitions.collect(),
        left_out,
    })
}

fn ending(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, ending)| ending)
}

fn acquisition_name(file: &str) -> &str {
    if let Some(base) = file.strip_suffix(MASTER) {
        return base;
    }
    let known = |e: &str| e == ARRAYS || ENDINGS.contains(&e.to_lowercase().as_str());
    match file.rsplit_once('.') {
        Some((base, ending)) if known(ending) => base,
        _ => file,
    }
}

/// Whether an entry is an acquisition by itself, and no part of another.
fn is_data(folder: &Path, name: &str, all: &BTreeSet<String>) -> bool {
    let path = folder.join(name);
    if path.is_dir() {
        return data_file(&path).is_ok();
    }
    let Some((base, ending)) = name.rsplit_once('.') else {
        return false;
    };
    let ending = ending.to_lowercase();
    if ending == "raw" && all.contains(&format!("{base}.xml")) {
        return false;
    }
    // Data files and the sidecar belong to their master.
    let of_master = |base: &str| all.contains(&format!("{base}{MASTER}"));
    let piece = base
        .rsplit_once("_data_")
        .is_some_and(|(b, _)| of_master(b));
    let known = ending == ARRAYS || ENDINGS.contains(&ending.as_str());
    known && !piece && !of_master(base)
}

/// A name with `#` for every number; `None` for one without.
fn kind(name: &str) -> Option<String> {
    let mut kind = String::new();
    // The digits of an ending such as `h5` count nothing.
    let (base, end) = match name.rsplit_once('.') {
        Some((base, _)) => name.split_at(base.len()),
        None => (name, ""),
    };
    for c in base.chars() {
        if !c.is_ascii_digit() {
            kind.push(c);
        } else if !kind.ends_with('#') {
            kind.push('#');
        }
    }
    kind.contains('#').then(|| kind + end)
}

/// Compares names with numbers in them: by value, then by the text.
fn natural(a: &str, b: &str) -> Ordering {
    let parts = |text: &str| {
        let mut parts: Vec<(bool, String)> = Vec::new();
        for c in text.chars() {
            let digit = c.is_ascii_digit();
            match parts.last_mut() {
                Some((is, part)) if *is == digit => part.push(c),
                _ => parts.push((digit, c.into())),
            }
        }
        parts
    };
    let part = |(x, y): (&(bool, String), &(bool, String))| match (x, y) {
        ((true, x), (true, y)) => {
            let [x, y] = [x, y].map(|n| n.trim_start_matches('0'));
            x.len().cmp(&y.len()).then_with(|| x.cmp(y))
        }
        _ => x.1.cmp(&y.1),
    };
    let (x, y) = (parts(a), parts(b));
    let differs = x.iter().zip(&y).map(part).find(|o| o.is_ne());
    differs
        .unwrap_or_else(|| x.len().cmp(&y.len()))
        .then_with(|| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(names: &[&str], pattern: Option<&str>) -> Result<(Vec<String>, Vec<String>), String> {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            std::fs::write(folder.path().join(name), b"x").unwrap();
        }
        numbered_acquisitions(folder.path(), pattern)
            .map(|s| {
                (
                    s.acquisitions.into_iter().map(|a| a.name).collect(),
                    s.left_out,
                )
            })
            .map_err(|e| e.to_string())
    }

    #[test]
    fn numbers_are_ordered_by_value() {
        let mut names = [
            "s10_b2",
            "s9_b10",
            "s9_b9",
            "s010_b1",
            "s1",
            "s99999999999999999999_b0",
        ];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(
            names,
            [
                "s1",
                "s9_b9",
                "s9_b10",
                "s010_b1",
                "s10_b2",
                "s99999999999999999999_b0"
            ]
        );
    }

    #[test]
    fn parts_of_a_master_are_no_acquisitions() {
        let names = [
            "scan_1_master.h5",
            "scan_1_data_000001.h5",
            "scan_1.h5",
            "scan_12_master.h5",
            "scan_12_data_000001.h5",
            "scan_3_master.h5",
        ];
        let (found, left_out) = listed(&names, None).unwrap();
        assert_eq!(found, ["scan_1", "scan_3", "scan_12"]);
        assert!(left_out.is_empty());
        let names = ["a_1.xml", "a_1.raw", "a_2.xml", "a_2.raw"];
        assert_eq!(listed(&names, None).unwrap().0, ["a_1", "a_2"]);
    }

    #[test]
    fn several_kinds_are_asked_about() {
        let names = [
            "scan_1.h5",
            "scan_2.h5",
            "ref_1.h5",
            "scan_1_truth_phase.npy",
        ];
        let error = listed(&names, None).unwrap_err();
        for words in ["scan_#.h5 (2)", "ref_#.h5 (1)", "--pattern"] {
            assert!(error.contains(words), "{words}: {error}");
        }
        let (found, left_out) = listed(&names, Some("scan_#.h5")).unwrap();
        assert_eq!(found, ["scan_1", "scan_2"]);
        assert_eq!(left_out, ["ref_1.h5", "scan_1_truth_phase.npy"]);
        assert!(
            listed(&names, Some("moon_#.h5"))
                .unwrap_err()
                .contains("ref_#.h5")
        );
        let names = ["scan_1.h5", "scan_1_truth_phase.npy", "scan_1_truth.json"];
        assert_eq!(listed(&names, None).unwrap().0, ["scan_1"]);
        assert_eq!(listed(&["f1.npy", "f2.npy"], None).unwrap().0, ["f1", "f2"]);
        assert!(listed(&["gain.h5"], None).unwrap_err().contains("number"));
    }
}
