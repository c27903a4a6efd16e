//! How many kernels the catalogue compiles: few, for each costs a user seconds at first use.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use ssb_core::{Control, PrepareOptions, agreement_band_points};
use ssb_kernels::device::{Connected, Faults, profiles};
use ssb_kernels::text::{CudaText, Target, TextDevice, record};
use ssb_testkit::candidates::of_every_model;
use ssb_testkit::synthetic::benchmark_problem;

#[test]
fn four_sizes_and_every_model_compile_few_kernels() {
    let control = Control::default();
    let mut texts = BTreeSet::new();
    let mut of_one = Vec::new();
    for n in [128, 256, 512, 1024] {
        let recorder = record::<CudaText>(&TextDevice::new(Target::Sm90), "variants");
        let connected = Connected {
            backend: "record",
            device: format!("recorder of {n}"),
            software: false,
            limits: profiles::h200(),
            faults: Faults::default(),
        };
        let problem = benchmark_problem([n, n], 3).unwrap();
        let geometry = problem.geometry().clone();
        let candidates = of_every_model(problem.geometry());
        let client = recorder.client().clone();
        let options = PrepareOptions::default();
        let mut evaluator =
            ssb_kernels::prepare(client, connected, problem, &options, &control).unwrap();
        let band = agreement_band_points(&geometry);
        assert!(evaluator.spectra(&band, &control).is_err());
        for candidate in candidates {
            // Nothing runs: the self-test fails after launching every kernel of the model.
            let one = std::slice::from_ref(&candidate);
            assert!(evaluator.evaluate(one, &control).is_err());
            assert!(evaluator.object(&candidate, 1, &control).is_err());
            assert!(evaluator.agreements(one, &control).is_err());
        }
        let found: BTreeSet<String> = recorder
            .texts()
            .unwrap()
            .iter()
            .map(|kernel| format!("{} {}", kernel.kernel, kernel.canonical()))
            .collect();
        of_one.push(found.len());
        texts.extend(found);
    }
    let mut names = std::collections::BTreeMap::new();
    for text in &texts {
        *names.entry(text.split(' ').next()).or_insert(0) += 1;
    }
    println!("{} kernels, {of_one:?} a size: {names:?}", texts.len());
    assert!(
        texts.len() > 20 && texts.len() <= 50,
        "{} kernels",
        texts.len()
    );
    assert!(of_one.iter().all(|n| *n <= 30), "{of_one:?}");
}
