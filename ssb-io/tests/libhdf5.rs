//! The default reader held against the HDF5 library, fixture by fixture (feature `libhdf5`).
#![cfg(feature = "libhdf5")]
#![allow(clippy::unwrap_used)]

use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};
use ssb_io::{OpenOptions, libhdf5, open};

/// What some versions of the library cannot read, in words of their errors: layouts and selections of later
/// versions, and links with the path of another machine, which the default reader looks for beside
/// the master.
const REFUSED: &[(&str, &str)] = &[
    ("hdf5v2_latest_bslz4_u16", "version number"),
    ("latest_unlimited_bslz4_u16", "version number"),
    ("latest_fixed_gzip_u16", "version number"),
    ("latest_btree2_u16", "version number"),
    ("vds_3files", "version number"),
    ("own_vds_rows", "version number"),
    ("own_many_links", "external link"),
];

fn numbers(value: &Value) -> Vec<usize> {
    let list = value.as_array().into_iter().flatten();
    list.filter_map(Value::as_u64).map(|n| n as usize).collect()
}

/// The dataset or datasets that an item's frames are in.
fn datasets(item: &Value) -> Vec<String> {
    let stated = item["dataset"].as_str().unwrap_or_default();
    match stated.split_once("..") {
        Some((first, last)) => {
            let (base, from) = first.rsplit_once('_').unwrap();
            let (from, to): (u32, u32) = (from.parse().unwrap(), last.parse().unwrap());
            (from..=to).map(|n| format!("{base}_{n:06}")).collect()
        }
        None => vec![stated.to_owned()],
    }
}

#[test]
fn both_readers_agree_on_every_hdf5_fixture() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let text = std::fs::read_to_string(root.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&text).unwrap();
    let (mut agreed, mut refused, mut wrong) = (0, Vec::new(), Vec::new());
    for item in manifest["handover"]["items"].as_array().unwrap() {
        let id = item["id"].as_str().unwrap();
        let path = root.join(item["open"].as_str().unwrap());
        let head = std::fs::read(&path).unwrap_or_default();
        let hdf5 = head.starts_with(b"\x89HDF") || item["id"] == "own_user_block";
        if item["expect"] != "ok" || !hdf5 {
            continue;
        }
        let mut bytes = Vec::new();
        let mut dtype = "";
        let mut failure = None;
        for name in datasets(item) {
            match libhdf5::read(&path, &name) {
                Ok(part) => {
                    dtype = part.dtype;
                    bytes.extend(part.bytes);
                }
                Err(error) => failure = Some(error.to_string()),
            }
        }
        if let Some(error) = failure {
            let known = |r: &&(&str, &str)| r.0 == id && error.contains(r.1);
            if REFUSED.iter().any(|r| known(&r)) {
                refused.push(id);
            } else {
                wrong.push(format!("{id}: {error}"));
            }
            continue;
        }
        let scan = numbers(&item["options"]["scan_shape"]);
        let options = OpenOptions {
            dataset: item["options"]["dataset"].as_str().map(str::to_owned),
            scan_shape: (scan.len() == 2).then(|| [scan[0], scan[1]]),
            ..OpenOptions::default()
        };
        let source = open(&path, &options).unwrap();
        let ours = source.counts(&ssb_core::Control::default()).unwrap();
        let [rows, cols, det_rows, det_cols] = source.shape();
        let element = bytes.len()
            / numbers(&item["shape_stored"])
                .iter()
                .product::<usize>()
                .max(1);
        // Frames after the scan are dropped; other orders of axes are compared by their sums.
        let used = rows * cols * det_rows * det_cols * element.max(1);
        let reordered = item["layout"] == "velox-emd" || !item["stored_axes"].is_null();
        let theirs = Sha256::digest(&bytes[..used.min(bytes.len())]);
        let theirs: String = theirs.iter().map(|b| format!("{b:02x}")).collect();
        let same = if reordered {
            let sum: u64 = bytes
                .chunks_exact(2)
                .map(|b| u64::from(u16::from_le_bytes([b[0], b[1]])))
                .sum();
            ours.counts_sum.to_string() == sum.to_string()
        } else {
            theirs == ours.sha256_le
        };
        if same && dtype == source.dtype() {
            agreed += 1;
        } else {
            wrong.push(format!("{id}: {dtype} {theirs}"));
        }
    }
    println!(
        "HDF5 {}: {agreed} agree, {} refused by it alone: {refused:?}",
        libhdf5::version(),
        refused.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(agreed >= 60, "{agreed}");
}
