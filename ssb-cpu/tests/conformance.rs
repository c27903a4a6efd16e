//! The CPU backend passes the one conformance suite against the float64 oracle, and equals the
//! independent reference data.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use ssb_core::{Control, Error, Evaluator, PrepareOptions, Problem};
use ssb_cpu::CPU;
use ssb_testkit::synthetic::{LARGE_PROBLEMS, PROBLEMS, Synthetic};
use ssb_testkit::{conformance, refdata, tolerances};

fn cpu(problem: Problem, options: &PrepareOptions) -> ssb_core::Result<Box<dyn Evaluator>> {
    (CPU.prepare)(problem, options, &Control::default())
}

/// The half-spectrum path takes scans whose axes both have 8 positions or more.
fn taken(recipe: &Synthetic) -> bool {
    recipe.scan_shape.iter().all(|n| *n >= 8)
}

#[test]
fn every_check_of_the_suite_passes() {
    let problems: Vec<Synthetic> = PROBLEMS.iter().filter(|p| taken(p)).cloned().collect();
    for wanted in [
        "31x37", "45x97", "60x75", "64x64", "96x80", "100x100", "128x128", "125x128", "61x67",
        "16x74",
    ] {
        assert!(
            problems.iter().any(|p| p.name == wanted),
            "{wanted} is missing"
        );
    }
    let control = Control::default();
    let summary = conformance::run(&cpu, &problems, &control, &mut |outcome| {
        println!("{outcome}")
    });
    let summary = summary.unwrap();
    assert!(summary.passed(), "{:#?}", summary.failed);
}

#[test]
fn every_check_passes_on_the_large_problems() {
    assert!(LARGE_PROBLEMS.iter().any(|p| p.name == "256x256"));
    let control = Control::default();
    let summary = conformance::run(&cpu, LARGE_PROBLEMS, &control, &mut |outcome| {
        println!("{outcome}");
    });
    let summary = summary.unwrap();
    assert!(summary.passed(), "{:#?}", summary.failed);
}

#[test]
fn short_scans_are_refused_with_the_reason() {
    let short: Vec<_> = PROBLEMS.iter().filter(|p| !taken(p)).collect();
    assert!(!short.is_empty());
    for recipe in short {
        let error = cpu(recipe.problem().unwrap(), &PrepareOptions::default())
            .err()
            .unwrap();
        assert!(matches!(error, Error::Unsuitable { .. }), "{error}");
        assert!(error.to_string().contains("at least 8"), "{error}");
    }
}

#[test]
fn the_independent_reference_is_met() {
    let control = Control::default();
    for name in refdata::NAMES {
        let data = refdata::load(name).unwrap();
        for case in &data.cases {
            let mut evaluator = cpu(
                data.problem(&case.disk).unwrap(),
                &PrepareOptions::default(),
            )
            .unwrap();
            let result = evaluator.mean_phase(&case.candidate, &control).unwrap();
            let error = (result.evaluation.loss / case.loss - 1.0).abs();
            println!("{name} {} loss {error:.1e}", case.label);
            assert!(
                error <= tolerances::LOSS_RELATIVE,
                "{name} {}: {error}",
                case.label
            );
            if let Some(fraction) = case.degenerate_fraction {
                let difference = (result.evaluation.degenerate_fraction - fraction).abs();
                assert!(
                    difference <= tolerances::DEGENERATE_FRACTION,
                    "{name} {}",
                    case.label
                );
            }
            if let Some(expected) = case.agreement {
                let found = evaluator
                    .agreements(std::slice::from_ref(&case.candidate), &control)
                    .unwrap()[0];
                let error = (found / expected - 1.0).abs();
                assert!(
                    error <= tolerances::AGREEMENT_RELATIVE,
                    "{name} {}: {error}",
                    case.label
                );
            }
        }
    }
}
