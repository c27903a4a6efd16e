//! Every registered topology against `stepwise`, on software Vulkan.

#![allow(clippy::unwrap_used)]
#![cfg(not(target_os = "macos"))]

use ssb_core::{Control, Error, Evaluator, PrepareOptions};
use ssb_kernels::backend::ENTRIES;
use ssb_kernels::plan::TOPOLOGIES;
use ssb_testkit::candidates::of_every_model;
use ssb_testkit::synthetic::PROBLEMS;

#[test]
fn every_topology_equals_stepwise() {
    let entry = ENTRIES.iter().find(|entry| entry.name == "vulkan").unwrap();
    if (entry.devices)().iter().all(|d| d.unusable.is_some()) {
        let required = std::env::var_os("SSB_REQUIRE_ADAPTER").is_some();
        assert!(!required, "no adapter for vulkan");
        eprintln!("SKIPPED: no adapter for vulkan");
        return;
    }
    let control = Control::default();
    let recipe = PROBLEMS.iter().find(|p| p.name == "9x8").unwrap();
    let prepared = |name: &str| -> Result<Box<dyn Evaluator>, Error> {
        let options = PrepareOptions {
            topology: Some(name.into()),
            ..PrepareOptions::default()
        };
        (entry.prepare)(recipe.problem().unwrap(), &options, &control)
    };
    let problem = recipe.problem().unwrap();
    let candidates = of_every_model(problem.geometry());
    let mut stepwise = prepared("stepwise").unwrap();
    let exact = stepwise.evaluate(&candidates, &control).unwrap();
    for topology in TOPOLOGIES.iter().filter(|t| t.name != "stepwise") {
        let mut fused = prepared(topology.name).unwrap();
        assert_eq!(fused.info().plan.topology, topology.name);
        let got = fused.evaluate(&candidates, &control).unwrap();
        for (i, (a, b)) in got.iter().zip(&exact).enumerate() {
            let gap = (a.loss / b.loss - 1.0).abs();
            assert!(gap < 2e-7, "{} candidate {i}: {gap:e}", topology.name);
            assert_eq!(a.degenerate_fraction, b.degenerate_fraction);
        }
        for candidate in &candidates {
            let image = |e: &mut Box<dyn Evaluator>| e.mean_phase(candidate, &control).unwrap();
            let (a, b) = (image(&mut fused), image(&mut stepwise));
            for (a, b) in a.phase_rad.iter().zip(&b.phase_rad) {
                let turns = (a - b) / std::f64::consts::TAU;
                let gap = std::f64::consts::TAU * (turns - turns.round()).abs();
                assert!(gap < 2e-6, "{}: {gap:e} rad", topology.name);
            }
        }
    }
}
