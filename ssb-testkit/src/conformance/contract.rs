//! What an evaluator says about itself, and how it refuses.

use ssb_core::{Candidate, Control, Error, Evaluator, PrepareOptions, agreement_band_points};

use super::Trial;
use super::distance::relative;
use super::recorder::{Measurements, Recorder};
use crate::tolerances::DC_RELATIVE;

pub(super) fn check(trial: &Trial<'_>, recorder: &mut Recorder<'_>) {
    let mut tiny = Measurements::of("a budget of one byte is refused", 0.0);
    let options = PrepareOptions {
        max_memory_bytes: Some(1),
        ..PrepareOptions::default()
    };
    match trial.prepared(&options) {
        Err(Error::OverBudget { .. }) => tiny.add(0.0, ""),
        Err(other) => tiny.fail(format!("expected an over-budget error, found: {other}")),
        Ok(_) => tiny.fail("it was accepted".into()),
    }
    recorder.finish(tiny);
    match trial.prepared(&PrepareOptions::default()) {
        Ok(mut evaluator) => {
            info(trial, evaluator.as_ref(), recorder);
            refusals(trial, evaluator.as_mut(), recorder);
        }
        Err(error) => {
            let mut prepare = Measurements::of("prepare", 0.0);
            prepare.fail(error.to_string());
            recorder.finish(prepare);
        }
    }
}

/// Pixels (dark ones counted in B), DC value, band, plan.
fn info(trial: &Trial<'_>, evaluator: &dyn Evaluator, recorder: &mut Recorder<'_>) {
    let (found, expected) = (evaluator.info(), trial.reference.info());
    let mut pixels = Measurements::of("info: BF pixels, active ones", 0.0);
    pixels.add(found.bf_pixels.abs_diff(expected.bf_pixels) as f64, "all");
    pixels.add(
        found.bf_active.abs_diff(expected.bf_active) as f64,
        "active",
    );
    recorder.finish(pixels);
    let mut dc = Measurements::of("info: DC value", DC_RELATIVE);
    dc.add(relative(found.dc, expected.dc), "");
    recorder.finish(dc);
    let mut band = Measurements::of("info: band of the agreement", 1e-12);
    band.add(relative(found.band.lo_per_a, expected.band.lo_per_a), "low");
    band.add(
        relative(found.band.hi_per_a, expected.band.hi_per_a),
        "high",
    );
    recorder.finish(band);
    let mut plan = Measurements::of("info: blocks hold the active pixels", 0.0);
    let held = found.plan.bf_block * found.plan.blocks;
    plan.add(expected.bf_active.saturating_sub(held) as f64, "");
    recorder.finish(plan);
}

fn refusals(trial: &Trial<'_>, evaluator: &mut dyn Evaluator, recorder: &mut Recorder<'_>) {
    let candidate = &trial.cases[trial.cases.len() - 1].candidate;
    let mut upsampling = Measurements::of("upsampling 0, 5 and 16 are refused", 0.0);
    for upsample in [0, 5, 16] {
        match evaluator.object(candidate, upsample, trial.control) {
            Err(Error::BadValue { .. }) => upsampling.add(0.0, ""),
            other => upsampling.fail(format!("x{upsample}: {:?}", other.map(|o| o.dim()))),
        }
    }
    recorder.finish(upsampling);

    let mut empty = Measurements::of("no candidates, no answers", 0.0);
    let none: [Candidate; 0] = [];
    let losses = evaluator.evaluate(&none, trial.control);
    empty.add_or_fault(losses.map(|found| found.len() as f64), "losses");
    let agreements = evaluator.agreements(&none, trial.control);
    empty.add_or_fault(agreements.map(|found| found.len() as f64), "agreements");
    recorder.finish(empty);

    let mut cancelled = Measurements::of("cancelled work stops", 0.0);
    let stop = Control::default();
    stop.cancel();
    let one = std::slice::from_ref(candidate);
    let band = agreement_band_points(trial.problem.geometry());
    for (what, outcome) in [
        ("losses", evaluator.evaluate(one, &stop).map(drop)),
        (
            "mean phase",
            evaluator.mean_phase(candidate, &stop).map(drop),
        ),
        ("object", evaluator.object(candidate, 2, &stop).map(drop)),
        ("agreement", evaluator.agreements(one, &stop).map(drop)),
        ("spectra", evaluator.spectra(&band, &stop).map(drop)),
    ] {
        match outcome {
            Err(Error::Cancelled) => cancelled.add(0.0, ""),
            other => cancelled.fail(format!("{what}: {other:?}")),
        }
    }
    recorder.finish(cancelled);
}
