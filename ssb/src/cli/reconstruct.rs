//! `ssb reconstruct`: an image with known aberrations; nothing is searched.

use serde_json::{Value, json};
use ssb_core::{Backend, Calibration, Candidate, check_upsampling};
use ssb_io::result::ResultFile;

use super::args::{BackendArgs, DataArgs, ReconstructArgs, ResultArgs};
use super::console::{Console, peak_rss_bytes};
use super::{Ending, opening, reusing, writing};
use crate::digits::significant;
use crate::record::{
    Estimator, degenerate_warning, document, expected_provenance, in_words, region,
};
use crate::{Error, REGISTRY};

/// The trial of that number.
fn trial(result: &ResultFile, file: &str, number: u64) -> Result<Candidate, Error> {
    let found = result.trials.iter().find(|t| t.number == number);
    found.map(|t| t.candidate.clone()).ok_or_else(|| {
        let problem = match result.trials.last() {
            Some(last) => format!("{file} has trials 0 to {}", last.number),
            None => format!("the aberrations of {file} were taken as given: no trials"),
        };
        let action = "list them with ssb show --trials best=5";
        Error::request(format!("--trial {number}"), problem, action)
    })
}

/// The given candidate, where it came from, and under which calibration it was found.
fn known(
    a: &ReconstructArgs,
    console: &Console,
) -> Result<(Candidate, Value, Option<Calibration>), Error> {
    let Some(path) = &a.from else {
        let given = opening::candidate(Candidate::default(), &a.known, console)?;
        return Ok((given, "arguments".into(), None));
    };
    let result = ResultFile::read(path)?;
    let file = path.display().to_string();
    let found = match a.trial {
        None => result.outcome.best.clone(),
        Some(number) => trial(&result, &file, number)?,
    };
    let mut candidate = opening::candidate(found.clone(), &a.known, console)?;
    if let (Some(own), Some(given)) = (candidate.rotation_deg, a.data.rotation_deg) {
        candidate.rotation_deg = None;
        if own != given {
            console.warn(&format!(
                "rotation_deg: using {given} (argument); {file} says {own}"
            ));
        }
    }
    let origin = json!({"file": file, "trial": a.trial, "changed": candidate != found});
    Ok((candidate, origin, Some(result.provenance.calibration)))
}

/// Aberrations mean the same only under the same beam and rotation.
fn other_calibration(now: &Calibration, then: &Calibration, turned: bool) -> Option<String> {
    let mut values = vec![
        ("voltage_kv", now.voltage_kv.value, then.voltage_kv.value),
        (
            "semiangle_mrad",
            now.semiangle_mrad.value,
            then.semiangle_mrad.value,
        ),
    ];
    if !turned {
        values.push((
            "rotation_deg",
            now.rotation_deg.value,
            then.rotation_deg.value,
        ));
    }
    values.retain(|(_, now, then)| (now - then).abs() > 1e-9 * then.abs().max(1.0));
    let listed: Vec<String> = values
        .iter()
        .map(|(name, now, then)| format!("{name} is {now}, there {then}"))
        .collect();
    (!listed.is_empty()).then(|| {
        format!(
            "calibration: the aberrations were found under another one: {}",
            listed.join("; ")
        )
    })
}

/// An image that was made or found again.
pub struct Made {
    pub result: ResultFile,
    pub reused: bool,
}

/// What an image is made with.
pub struct Wanted {
    pub candidate: Candidate,
    /// Where the candidate came from.
    pub origin: Value,
    /// The calibration that it was found under.
    pub found_under: Option<Calibration>,
    pub estimator: Estimator,
    pub upsample: usize,
}

/// Reconstructs one acquisition and writes its result.
pub fn make(
    (data, backend, output): (&DataArgs, &BackendArgs, &ResultArgs),
    wanted: &Wanted,
    console: &Console,
) -> Result<Made, Error> {
    reusing::check_output(output, &data.file)?;
    let chosen = REGISTRY.select(&Backend::from(backend.backend.as_str()), backend.device)?;
    let opening_stage = console.stage("open");
    let source = opening::source(data, console)?;
    let (threads, memory) = (backend.threads, backend.max_memory);
    let mut acquisition = opening::acquisition(&source, data, threads, memory, console)?;
    let open = opening_stage.end();
    let Wanted {
        candidate,
        origin,
        found_under,
        estimator,
        upsample,
    } = wanted;
    let request = json!({
        "verb": "reconstruct",
        "candidate": candidate,
        "candidate_from": origin,
        "estimator": estimator.name(),
        "upsample": upsample,
        "backend": chosen.entry.name,
        "device": backend.device,
    });
    let turned = candidate.rotation_deg.is_some();
    let then = found_under.as_ref();
    if let Some(word) = then.and_then(|t| other_calibration(&acquisition.calibration, t, turned)) {
        console.warn(&word);
        acquisition.warnings.push(word);
    }
    let expected = expected_provenance(&acquisition, request.clone());
    if let Some(result) = reusing::reusable(output, &expected, console) {
        return Ok(Made {
            result,
            reused: true,
        });
    }
    let preparing = console.stage("prepare");
    let session = opening::session(acquisition, backend, console)?;
    let prepare = preparing.end();
    let imaging = console.stage("reconstruct");
    let image = session.image(candidate.clone(), *upsample, console.control())?;
    let seconds = json!({
        "open": open,
        "prepare": prepare,
        "reconstruct": imaging.end(),
    });
    let details = json!({"aberrations": "taken as given, not fitted", "from": origin});
    let result =
        session.reconstruction_file(&image, (*estimator, *upsample), request, seconds, details);
    result.write(&output.output)?;
    Ok(Made {
        result,
        reused: false,
    })
}

pub fn run(a: &ReconstructArgs, console: &Console) -> Result<Ending, Error> {
    let (candidate, origin, found_under) = known(a, console)?;
    let estimator = if a.estimator == "mean-phase" {
        Estimator::MeanPhase
    } else {
        Estimator::PhaseOfMean
    };
    check_upsampling(a.upsample)?;
    if a.upsample > 1 && estimator == Estimator::MeanPhase {
        return Err(Error::request(
            "--upsample",
            "the mean phase exists on the scan's own grid",
            "use --estimator phase-of-mean, or --upsample 1",
        ));
    }
    reusing::check_output(&a.result, &a.data.file)?;
    if let Some(from) = a.from.iter().find(|f| writing::same(&a.result.output, f)) {
        return Err(Error::output(
            from,
            "it holds the fit that --from reads",
            "choose another name",
        ));
    }
    console.note("aberrations are taken as given, not fitted");
    let wanted = Wanted {
        candidate,
        origin,
        found_under,
        estimator,
        upsample: a.upsample,
    };
    let Made { result, reused } = make((&a.data, &a.backend, &a.result), &wanted, console)?;
    if let Some(word) = degenerate_warning(&result.outcome) {
        console.warn(&word);
    }
    let mut document = document(&result);
    document["output"] = a.result.output.display().to_string().into();
    document["reused"] = reused.into();
    document["peak_rss_bytes"] = json!(peak_rss_bytes());
    let mut lines = in_words(&result.outcome);
    lines.extend(region(&result));
    lines.push("aberrations taken as given, not fitted".into());
    if a.loss {
        lines.push(format!("loss {} rad²", significant(result.outcome.loss, 6)));
    }
    lines.push(format!("result: {}", a.result.output.display()));
    console.finish(&document, &lines.join("\n"));
    Ok(Ending::Done)
}
