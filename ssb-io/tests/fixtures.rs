//! Every fixture opens with the shape, type, sum, hash and calibration of its manifest, or is refused
//! with the error the manifest names.
#![allow(clippy::unwrap_used)]

mod manifest;

use std::path::{Path, PathBuf};

use manifest::{Outcome, check};
use serde_json::Value;

/// Checks a list of manifest items and returns what did not hold.
fn check_all(root: &Path, items: &[Value]) -> Vec<String> {
    let (mut right, mut refused, mut wrong) = (0, 0, Vec::new());
    for item in items {
        let id = item["id"].as_str().unwrap();
        match check(root, item) {
            Outcome::Right => right += 1,
            Outcome::RightlyRefused => refused += 1,
            Outcome::Wrong { text } => wrong.push(format!("{id}: {text}")),
        }
    }
    println!(
        "{right} right, {refused} rightly refused, {} wrong",
        wrong.len()
    );
    wrong
}

fn items(manifest: &Path, list: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(manifest).unwrap();
    let parsed: Value = serde_json::from_str(&text).unwrap();
    parsed[list]["items"].as_array().unwrap().clone()
}

#[test]
fn all_fixtures_open_or_are_refused_as_their_manifest_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let items = items(&root.join("manifest.json"), "handover");
    assert!(items.len() >= 90, "{} items", items.len());
    let wrong = check_all(&root, &items);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Files of other programs and vendors that are not ours to copy, and any other set of files with a
/// manifest: where `SSB_SHARED` names a folder, it must hold `formats/manifest.json`.
#[test]
fn outside_fixtures_open_or_are_refused_as_their_manifest_says() {
    let Some(shared) = std::env::var_os("SSB_SHARED") else {
        return;
    };
    let formats = PathBuf::from(shared).join("formats");
    let mut wrong = Vec::new();
    for list in ["handover", "thirdparty"] {
        let items = items(&formats.join("manifest.json"), list);
        assert!(!items.is_empty());
        wrong.extend(check_all(&formats.join(list), &items));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
