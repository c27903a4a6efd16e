//! Loss, mean phase, object, agreement and degenerate fraction against the float64 reference.

use ssb_core::UPSAMPLINGS;
use ssb_core::ndarray::{Array2, Axis, s};
use ssb_core::num_complex::{Complex32, Complex64};
use ssb_core::{BandPoint, Error, Evaluator, PrepareOptions, agreement_band_points};
use ssb_cpu_oracle::Oracle;

use super::distance::{phase_rad, relative, relative_l2, within_share};
use super::recorder::{Measurements, Recorder};
use super::{Case, Trial};
use crate::tolerances::{
    AGREEMENT_RELATIVE, DEGENERATE_FRACTION, LOSS_RELATIVE, MEAN_PHASE_RAD, MEAN_PHASE_SHARE,
    MEAN_PHASE_WORST_RAD, OBJECT_RELATIVE_L2, SAME_LOSS_RELATIVE,
};

pub(super) fn check(trial: &Trial<'_>, recorder: &mut Recorder<'_>) {
    let mut evaluator = match trial.prepared(&PrepareOptions::default()) {
        Ok(evaluator) => evaluator,
        Err(error) => {
            let mut prepare = Measurements::of("prepare", 0.0);
            prepare.fail(error.to_string());
            return recorder.finish(prepare);
        }
    };
    let evaluator = evaluator.as_mut();
    losses(trial, evaluator, recorder);
    mean_phases(trial, evaluator, recorder);
    for upsample in UPSAMPLINGS {
        objects(trial, evaluator, upsample, recorder);
    }
    agreements(trial, evaluator, recorder);
    spectra(trial, evaluator, recorder);
}

fn losses(trial: &Trial<'_>, evaluator: &mut dyn Evaluator, recorder: &mut Recorder<'_>) {
    let mut loss = Measurements::of("loss", LOSS_RELATIVE);
    let mut fraction = Measurements::of("degenerate fraction", DEGENERATE_FRACTION);
    match evaluator.evaluate(&trial.candidates(), trial.control) {
        Ok(found) if found.len() == trial.cases.len() => {
            for (found, case) in found.iter().zip(&trial.cases) {
                let expected = case.answers.mean_phase.evaluation;
                loss.add(relative(found.loss, expected.loss), case.name);
                let apart = (found.degenerate_fraction - expected.degenerate_fraction).abs();
                fraction.add(apart, case.name);
            }
        }
        Ok(found) => {
            let reason = format!(
                "{} answers to {} candidates",
                found.len(),
                trial.cases.len()
            );
            loss.fail(reason.clone());
            fraction.fail(reason);
        }
        Err(error) => {
            loss.fail(error.to_string());
            fraction.fail(error.to_string());
        }
    }
    recorder.finish(loss);
    recorder.finish(fraction);
}

fn mean_phases(trial: &Trial<'_>, evaluator: &mut dyn Evaluator, recorder: &mut Recorder<'_>) {
    let mut share = Measurements::of("mean phase, 99.9 % of pixels (rad)", MEAN_PHASE_RAD);
    let mut worst = Measurements::of("mean phase, worst pixel (rad)", MEAN_PHASE_WORST_RAD);
    let mut loss = Measurements::of("loss beside the mean phase", LOSS_RELATIVE);
    for case in &trial.cases {
        let expected = &case.answers.mean_phase;
        match evaluator.mean_phase(&case.candidate, trial.control) {
            Ok(found) => {
                let apart = phase_rad(&found.phase_rad, &expected.phase_rad);
                share.add(within_share(&apart, MEAN_PHASE_SHARE), case.name);
                worst.add(within_share(&apart, 1.0), case.name);
                loss.add(
                    relative(found.evaluation.loss, expected.evaluation.loss),
                    case.name,
                );
            }
            Err(error) => {
                for check in [&mut share, &mut worst, &mut loss] {
                    check.fail(format!("{}: {error}", case.name));
                }
            }
        }
    }
    for check in [share, worst, loss] {
        recorder.finish(check);
    }
}

fn objects(
    trial: &Trial<'_>,
    evaluator: &mut dyn Evaluator,
    upsample: usize,
    recorder: &mut Recorder<'_>,
) {
    let names = match upsample {
        1 => ["object", "mean of the object"],
        2 => ["object x2", "every 2nd sample of the object"],
        3 => ["object x3", "every 3rd sample of the object"],
        4 => ["object x4", "every 4th sample of the object"],
        _ => ["object x8", "every 8th sample of the object"],
    };
    let mut object = Measurements::of(names[0], OBJECT_RELATIVE_L2);
    let mut native = Measurements::of(names[1], OBJECT_RELATIVE_L2);
    for case in &trial.cases {
        match evaluator.object(&case.candidate, upsample, trial.control) {
            Ok(found) => {
                let expected = case.answers.spectrum.object(upsample);
                object.add(relative_l2(&found, &expected), case.name);
                let kept = if upsample == 1 {
                    Ok(mean_apart(trial, &found))
                } else {
                    native_apart(trial, evaluator, case, &found, upsample)
                };
                native.add_or_fault(kept, case.name);
            }
            Err(error) => {
                object.fail(format!("{}: {error}", case.name));
                native.fail(format!("{}: {error}", case.name));
            }
        }
    }
    recorder.finish(object);
    recorder.finish(native);
}

/// The object's mean is `dc / N` exactly.
fn mean_apart(trial: &Trial<'_>, object: &Array2<Complex64>) -> f64 {
    let expected = trial.problem.evidence().dc() / object.len() as f64;
    (object.sum() / object.len() as f64 - expected).norm() / expected
}

/// Every `upsample`-th sample is the backend's own native object.
fn native_apart(
    trial: &Trial<'_>,
    evaluator: &mut dyn Evaluator,
    case: &Case,
    fine: &Array2<Complex64>,
    upsample: usize,
) -> Result<f64, Error> {
    let native = evaluator.object(&case.candidate, 1, trial.control)?;
    let step = upsample as isize;
    Ok(relative_l2(
        &fine.slice(s![..;step, ..;step]).to_owned(),
        &native,
    ))
}

fn agreements(trial: &Trial<'_>, evaluator: &mut dyn Evaluator, recorder: &mut Recorder<'_>) {
    let mut agreement = Measurements::of("agreement", AGREEMENT_RELATIVE);
    let mut alone = Measurements::of("agreement alone and in a batch", SAME_LOSS_RELATIVE);
    let mut together = Vec::new();
    for case in &trial.cases {
        let found = evaluator.agreements(std::slice::from_ref(&case.candidate), trial.control);
        match (&case.answers.agreement, found) {
            (Ok(expected), Ok(found)) if found.len() == 1 => {
                agreement.add(relative(found[0], *expected), case.name);
                together.push((case, found[0]));
            }
            // A band without enough points is refused by both.
            (Err(Error::BadEvidence { .. }), Err(Error::BadEvidence { .. })) => {
                agreement.add(0.0, "refused: too few points in the band");
            }
            (expected, found) => {
                agreement.fail(format!("{}: {found:?}, expected {expected:?}", case.name));
            }
        }
    }
    recorder.finish(agreement);
    if together.is_empty() {
        return;
    }
    let batch: Vec<_> = together.iter().map(|(c, _)| c.candidate.clone()).collect();
    match evaluator.agreements(&batch, trial.control) {
        Ok(found) if found.len() == batch.len() => {
            for ((case, single), batched) in together.iter().zip(found) {
                alone.add(relative(batched, *single), case.name);
            }
        }
        other => alone.fail(format!("{other:?}")),
    }
    recorder.finish(alone);
}

fn spectra(trial: &Trial<'_>, evaluator: &mut dyn Evaluator, recorder: &mut Recorder<'_>) {
    let mut apart = Measurements::of("spectra of single BF pixels", OBJECT_RELATIVE_L2);
    let mut refused = Measurements::of("spectra at DC and Nyquist are refused", 0.0);
    let geometry = trial.problem.geometry();
    let points = agreement_band_points(geometry);
    let expected = Oracle::new(trial.problem.clone(), &PrepareOptions::default())
        .and_then(|mut oracle| oracle.spectra(&points, trial.control));
    match (evaluator.spectra(&points, trial.control), expected) {
        (Ok(found), Ok(expected)) if found.dim() == expected.dim() => {
            let apertures = geometry.apertures(geometry.rotation_deg);
            let open = |b: &usize| apertures[*b] > 0.0;
            let rows: Vec<usize> = (0..apertures.len()).filter(open).collect();
            let exact = |spectra: &Array2<Complex32>| {
                let open = spectra.select(Axis(0), &rows);
                open.mapv(|z| Complex64::new(f64::from(z.re), f64::from(z.im)))
            };
            // A scan without a point in the band has nothing to compare.
            if !points.is_empty() {
                apart.add(relative_l2(&exact(&found), &exact(&expected)), "band");
            }
        }
        (found, expected) => apart.fail(format!(
            "{:?}, expected {:?}",
            found.map(|f| f.dim()),
            expected.map(|e| e.dim())
        )),
    }
    if !points.is_empty() {
        recorder.finish(apart);
    }
    let [rows, cols] = geometry.scan_shape;
    for (row, col) in [(0, 0), (rows, 1), (1, cols / 2 + 1)] {
        let point = BandPoint {
            row,
            col,
            weight: 2,
        };
        match evaluator.spectra(&[point], trial.control) {
            Err(Error::BadValue { .. }) => refused.add(0.0, ""),
            other => refused.fail(format!("{row}, {col}: {:?}", other.map(|s| s.dim()))),
        }
    }
    recorder.finish(refused);
}
