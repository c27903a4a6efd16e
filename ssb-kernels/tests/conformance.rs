//! The conformance suite on software Vulkan, as SPIR-V and as WGSL.

#![cfg(not(target_os = "macos"))]

use ssb_core::{BackendEntry, Control, PrepareOptions};
use ssb_kernels::backend::ENTRIES;
use ssb_testkit::conformance;
use ssb_testkit::synthetic::PROBLEMS;

/// Runs the problems whose names are given in `SSB_PROBLEMS`, or all, with the topology of
/// `SSB_TOPOLOGY`, or the planned one.
fn conforms(name: &str) {
    let entry: &BackendEntry = ENTRIES.iter().find(|entry| entry.name == name).unwrap();
    let control = Control::default();
    let topology = std::env::var("SSB_TOPOLOGY").ok();
    let prepare = |problem, options: &PrepareOptions| {
        let options = PrepareOptions {
            topology: topology.clone(),
            ..options.clone()
        };
        (entry.prepare)(problem, &options, &control)
    };
    let wanted = std::env::var("SSB_PROBLEMS").ok();
    let problems: Vec<_> = PROBLEMS
        .iter()
        .filter(|p| {
            wanted
                .as_ref()
                .is_none_or(|w| w.split(',').any(|n| n == p.name))
        })
        .cloned()
        .collect();
    let mut failures = Vec::new();
    let summary = conformance::run(&prepare, &problems, &control, &mut |outcome| {
        println!("{outcome}");
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
