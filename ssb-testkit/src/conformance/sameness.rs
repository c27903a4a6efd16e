//! What must not change an answer: the batch, the blocks, the memory, the threads, another run, and
//! parameters that mean nothing.

use ssb_core::{Candidate, Error, Evaluation, Evaluator, PrepareOptions};

use super::Trial;
use super::distance::{differing, differing_complex, relative};
use super::recorder::{Measurements, Recorder};
use crate::tolerances::{DIFFERING_VALUES, SAME_LOSS_RELATIVE};

pub(super) fn check(trial: &Trial<'_>, recorder: &mut Recorder<'_>) {
    let first = trial
        .prepared(&PrepareOptions::default())
        .and_then(|mut evaluator| {
            let base = evaluator.evaluate(&trial.candidates(), trial.control)?;
            Ok((evaluator, base))
        });
    let (mut evaluator, base) = match first {
        Ok((evaluator, base)) if base.len() == trial.cases.len() => (evaluator, base),
        other => {
            let mut prepare = Measurements::of("sameness", 0.0);
            prepare.fail(format!("{:?}", other.map(|(_, base)| base.len())));
            return recorder.finish(prepare);
        }
    };
    let evaluator = evaluator.as_mut();
    batches(trial, evaluator, &base, recorder);
    layouts(trial, evaluator, &base, recorder);
    runs(trial, evaluator, recorder);
    meaningless(trial, evaluator, &base, recorder);
}

/// Alone, reversed and with repetitions.
fn batches(
    trial: &Trial<'_>,
    evaluator: &mut dyn Evaluator,
    base: &[Evaluation],
    recorder: &mut Recorder<'_>,
) {
    let mut same = Measurements::of("loss alone and in any batch", SAME_LOSS_RELATIVE);
    let count = trial.cases.len();
    let orders: [Vec<usize>; 3] = [
        (0..count).rev().collect(),
        (0..count).flat_map(|i| [i, i, (i + 3) % count]).collect(),
        vec![1, 0, 1],
    ];
    let singles = (0..count).map(|i| vec![i]);
    for order in singles.chain(orders) {
        let batch: Vec<Candidate> = order
            .iter()
            .map(|i| trial.cases[*i].candidate.clone())
            .collect();
        match evaluator.evaluate(&batch, trial.control) {
            Ok(found) if found.len() == batch.len() => {
                for (found, i) in found.iter().zip(&order) {
                    same.add(relative(found.loss, base[*i].loss), trial.cases[*i].name);
                }
            }
            other => same.fail(format!("a batch of {}: {other:?}", batch.len())),
        }
    }
    for (case, base) in trial.cases.iter().zip(base) {
        let found = evaluator.mean_phase(&case.candidate, trial.control);
        same.add_or_fault(
            found.map(|m| relative(m.evaluation.loss, base.loss)),
            case.name,
        );
    }
    recorder.finish(same);
}

/// Any BF block size, any number of threads, and any memory budget that suffices.
fn layouts(
    trial: &Trial<'_>,
    evaluator: &mut dyn Evaluator,
    base: &[Evaluation],
    recorder: &mut Recorder<'_>,
) {
    let pixels = trial.problem.geometry().bf_pixels();
    let with_block = |bf_block| PrepareOptions {
        bf_block: Some(bf_block),
        ..PrepareOptions::default()
    };
    let with_threads = |threads| PrepareOptions {
        threads: Some(threads),
        ..PrepareOptions::default()
    };
    let mut compare = |check, all: &[PrepareOptions], may_refuse: bool| {
        let mut same = Measurements::of(check, SAME_LOSS_RELATIVE);
        for options in all {
            let found = trial
                .prepared(options)
                .and_then(|mut e| e.evaluate(&trial.candidates(), trial.control));
            match found {
                Ok(found) if found.len() == base.len() => {
                    for ((found, base), case) in found.iter().zip(base).zip(&trial.cases) {
                        same.add(relative(found.loss, base.loss), case.name);
                    }
                }
                Err(Error::OverBudget { .. }) if may_refuse => same.add(0.0, "refused"),
                other => same.fail(format!("{options:?}: {other:?}")),
            }
        }
        recorder.finish(same);
    };
    let blocks = [1, 7, pixels, pixels + 5].map(with_block);
    compare("loss with any BF block", &blocks, false);
    compare(
        "loss with 1 and 3 threads",
        &[1, 3].map(with_threads),
        false,
    );
    let plan = &evaluator.info().plan;
    let planned = plan.host_bytes.max(plan.device_bytes);
    let with_bytes = |bytes| PrepareOptions {
        max_memory_bytes: Some(bytes),
        ..PrepareOptions::default()
    };
    compare(
        "loss within its own plan's memory",
        &[with_bytes(planned)],
        false,
    );
    compare("loss with less memory", &[with_bytes(planned - 1)], true);
}

/// The same questions again, and to another evaluator: equal to the bit.
fn runs(trial: &Trial<'_>, evaluator: &mut dyn Evaluator, recorder: &mut Recorder<'_>) {
    let mut again = Measurements::of("two runs: differing values", DIFFERING_VALUES);
    let mut fresh = Measurements::of("two evaluators: differing values", DIFFERING_VALUES);
    let first = everything(trial, evaluator);
    let second = everything(trial, evaluator);
    let other = trial
        .prepared(&PrepareOptions::default())
        .and_then(|mut e| everything(trial, e.as_mut()));
    match (&first, &second, &other) {
        (Ok(first), Ok(second), Ok(other)) => {
            again.add(differing(first.iter(), second.iter()), "all values");
            fresh.add(differing(first.iter(), other.iter()), "all values");
        }
        _ => {
            let lengths = [&first, &second, &other].map(|r| r.as_ref().map(Vec::len));
            again.fail(format!("{lengths:?}"));
            fresh.fail(format!("{lengths:?}"));
        }
    }
    recorder.finish(again);
    recorder.finish(fresh);
}

/// Every number that an evaluator gives: losses and fractions in one batch, then the images and
/// the agreement of three candidates.
fn everything(trial: &Trial<'_>, evaluator: &mut dyn Evaluator) -> Result<Vec<f64>, Error> {
    let mut all = Vec::new();
    for found in evaluator.evaluate(&trial.candidates(), trial.control)? {
        all.extend([found.loss, found.degenerate_fraction]);
    }
    for case in trial.cases.iter().rev().take(3) {
        let mean_phase = evaluator.mean_phase(&case.candidate, trial.control)?;
        all.push(mean_phase.evaluation.loss);
        all.extend(mean_phase.phase_rad.iter());
        for upsample in [1, 2] {
            let object = evaluator.object(&case.candidate, upsample, trial.control)?;
            all.extend(object.iter().flat_map(|v| [v.re, v.im]));
        }
        if case.answers.agreement.is_ok() {
            let candidate = std::slice::from_ref(&case.candidate);
            all.extend(evaluator.agreements(candidate, trial.control)?);
        }
    }
    Ok(all)
}

/// A tilt of a specimen without depth changes no bit; the acquisition's own rotation, given as the
/// candidate's, changes nothing.
fn meaningless(
    trial: &Trial<'_>,
    evaluator: &mut dyn Evaluator,
    base: &[Evaluation],
    recorder: &mut Recorder<'_>,
) {
    let mut flat = Measurements::of("tilt without depth: differing values", DIFFERING_VALUES);
    let mut turned = Measurements::of("loss with the rotation repeated", SAME_LOSS_RELATIVE);
    let own_deg = trial.problem.geometry().rotation_deg;
    for (case, base) in trial.cases.iter().zip(base) {
        if case.candidate.depth_spread_nm == 0.0 {
            flat.add_or_fault(flat_apart(trial, evaluator, &case.candidate), case.name);
        }
        if case.candidate.rotation_deg.is_none() {
            let repeated = Candidate {
                rotation_deg: Some(own_deg),
                ..case.candidate.clone()
            };
            let found = evaluator.evaluate(&[repeated], trial.control);
            turned.add_or_fault(
                found.map(|f| f.first().map_or(f64::NAN, |f| relative(f.loss, base.loss))),
                case.name,
            );
        }
    }
    recorder.finish(flat);
    recorder.finish(turned);
}

fn flat_apart(
    trial: &Trial<'_>,
    evaluator: &mut dyn Evaluator,
    thin: &Candidate,
) -> Result<f64, Error> {
    let tilted = Candidate {
        tilt_mrad: [7.0, -11.0],
        ..thin.clone()
    };
    let (a, b) = (
        evaluator.mean_phase(thin, trial.control)?,
        evaluator.mean_phase(&tilted, trial.control)?,
    );
    let mut count = differing(a.phase_rad.iter(), b.phase_rad.iter());
    count += differing(
        [a.evaluation.loss, a.evaluation.degenerate_fraction].iter(),
        [b.evaluation.loss, b.evaluation.degenerate_fraction].iter(),
    );
    count += differing_complex(
        &evaluator.object(thin, 1, trial.control)?,
        &evaluator.object(&tilted, 1, trial.control)?,
    );
    if trial.cases[0].answers.agreement.is_ok() {
        let a = evaluator.agreements(std::slice::from_ref(thin), trial.control)?;
        let b = evaluator.agreements(std::slice::from_ref(&tilted), trial.control)?;
        count += differing(a.iter(), b.iter());
    }
    Ok(count)
}
