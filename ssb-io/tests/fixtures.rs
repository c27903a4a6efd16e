//! Every fixture opens with the shape, sum and hash of its manifest, or is refused with the error
//! the manifest names.
#![allow(clippy::unwrap_used)]

mod manifest;

use std::path::{Path, PathBuf};

use manifest::{Outcome, check};
use serde_json::Value;

/// Layouts that are not read yet: their files may be refused; what is read must be right, metadata aside.
const LATER_LAYOUTS: &[&str] = &[
    "velox-emd",
    "nexus-nxdata",
    "hyperspy-hspy",
    "hyperspy-zspy",
    "nion-h5",
    "nion-ndata1",
    "abtem-h5",
    "empad-raw",
    "empad-xml",
    "merlin-mib",
    "merlin-mib-r64",
];

/// Filters that are not decoded yet: their files must be refused as such.
const LATER_FILTERS: &[&str] = &["blosc", "blosc2", "zstd", "bitshuffle-zstd"];

fn has_tag(item: &Value, tags: &[&str]) -> bool {
    let of_item = item["tags"].as_array().into_iter().flatten();
    of_item.filter_map(Value::as_str).any(|t| tags.contains(&t))
}

/// Checks a list of manifest items and returns what did not hold.
fn check_all(root: &Path, items: &[Value]) -> Vec<String> {
    let (mut right, mut refused, mut later, mut wrong) = (0, 0, Vec::new(), Vec::new());
    for item in items {
        let id = item["id"].as_str().unwrap();
        let layout = item["layout"].as_str().unwrap_or("none");
        let later_layout = LATER_LAYOUTS.contains(&layout);
        let metadata_only = item["expect"] == "metadata-only";
        let later_filter = has_tag(item, LATER_FILTERS);
        match check(root, item, !later_layout) {
            Outcome::Right if later_filter => {
                wrong.push(format!("{id}: read, but listed as later"))
            }
            Outcome::Right => right += 1,
            Outcome::RightlyRefused => refused += 1,
            Outcome::Wrong { kind, .. } if later_filter && kind == "unsupported_filter" => {
                later.push(id.to_owned());
            }
            Outcome::Wrong { kind, .. } if later_layout && (!kind.is_empty() || metadata_only) => {
                later.push(id.to_owned())
            }
            Outcome::Wrong { text, .. } => wrong.push(format!("{id}: {text}")),
        }
    }
    println!(
        "{right} right, {refused} rightly refused, {} wrong, {} of later layouts and filters: {}",
        wrong.len(),
        later.len(),
        later.join(" ")
    );
    wrong
}

fn items(manifest: &Path, list: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(manifest).unwrap();
    let parsed: Value = serde_json::from_str(&text).unwrap();
    parsed[list]["items"].as_array().unwrap().clone()
}

#[test]
fn own_fixtures_are_right() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let items = items(&root.join("manifest.json"), "handover");
    assert!(items.len() >= 8);
    let wrong = check_all(&root, &items);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The full set lies outside the repository, in `shared/formats` beside it or where `SSB_SHARED`
/// says.
#[test]
fn handover_fixtures_are_right() {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let shared = std::env::var_os("SSB_SHARED").map_or_else(beside, PathBuf::from);
    let formats = shared.join("formats");
    if !formats.join("manifest.json").is_file() {
        eprintln!("SKIPPED: no full fixture set at {}", formats.display());
        return;
    }
    let mut wrong = Vec::new();
    for list in ["handover", "thirdparty"] {
        let items = items(&formats.join("manifest.json"), list);
        wrong.extend(check_all(&formats.join(list), &items));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
