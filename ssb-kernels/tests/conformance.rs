//! The conformance suite on software Vulkan, as SPIR-V and as WGSL: a choice of problems in which every kernel, model,
//! sample type, odd, even and prime length occurs. `ssb parity` runs all of them.

#![allow(clippy::unwrap_used)]
#![cfg(not(target_os = "macos"))]

use ssb_core::{BackendEntry, Control, PrepareOptions};
use ssb_kernels::backend::ENTRIES;
use ssb_testkit::conformance;
use ssb_testkit::synthetic::PROBLEMS;

/// Problems that are run: what further ones would add is compiling the same kernels for other lengths.
const CHOICE: [&str; 9] = [
    "2x2", "8x8", "9x8", "8x11", "13x17", "16x31", "60x75", "64x64", "128x128",
];

/// Runs the suite with the topologies that the plans choose.
fn conforms(name: &str) {
    let entry: &BackendEntry = ENTRIES.iter().find(|entry| entry.name == name).unwrap();
    let devices = (entry.devices)();
    if devices.iter().all(|device| device.unusable.is_some()) {
        let required = std::env::var_os("SSB_REQUIRE_ADAPTER").is_some();
        assert!(!required, "no adapter for {name}: {devices:?}");
        eprintln!("SKIPPED: no adapter for {name}: {devices:?}");
        return;
    }
    let control = Control::default();
    let prepare = |problem, options: &PrepareOptions| (entry.prepare)(problem, options, &control);
    let problems: Vec<_> = PROBLEMS
        .iter()
        .filter(|p| CHOICE.contains(&p.name))
        .cloned()
        .collect();
    assert_eq!(problems.len(), CHOICE.len());
    let mut failures = Vec::new();
    let summary = conformance::run(&prepare, &problems, &control, &mut |outcome| {
        if !outcome.passed {
            failures.push(outcome.to_string());
        }
    })
    .unwrap();
    assert!(summary.passed(), "{}", failures.join("\n"));
}

#[test]
fn vulkan_conforms() {
    conforms("vulkan");
}

#[test]
fn webgpu_conforms() {
    conforms("webgpu");
}
