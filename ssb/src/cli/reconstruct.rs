//! `ssb reconstruct`: an image with known aberrations; nothing is searched.

use serde_json::{Value, json};
use ssb_core::{Backend, Candidate, check_upsampling};
use ssb_io::result::ResultFile;

use super::args::{BackendArgs, DataArgs, ReconstructArgs, ResultArgs};
use super::console::{Console, peak_rss_bytes};
use super::{Ending, opening, reusing, writing};
use crate::record::{Estimator, document, expected_provenance, in_words, region};
use crate::{Error, REGISTRY};

/// The given candidate and where it came from.
fn known(a: &ReconstructArgs, console: &Console) -> Result<(Candidate, Value), Error> {
    let Some(path) = &a.from else {
        let given = opening::candidate(Candidate::default(), &a.known, console)?;
        return Ok((given, "arguments".into()));
    };
    let result = ResultFile::read(path)?;
    let file = path.display().to_string();
    let (found, trial) = match a.trial {
        None => (result.outcome.best, Value::Null),
        Some(number) => {
            let mut trials = result.trials.iter();
            let found = trials.find(|t| t.number == number).ok_or_else(|| {
                let problem = match result.trials.last() {
                    Some(last) => format!("{file} has trials 0 to {}", last.number),
                    None => format!("the aberrations of {file} were taken as given: no trials"),
                };
                let action = "list them with ssb show --trials best=5";
                Error::request(format!("--trial {number}"), problem, action)
            })?;
            (found.candidate.clone(), number.into())
        }
    };
    let candidate = opening::candidate(found.clone(), &a.known, console)?;
    let origin = json!({"file": file, "trial": trial, "changed": candidate != found});
    Ok((candidate, origin))
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
    let acquisition = opening::acquisition(&source, data, threads, memory, console)?;
    let open = opening_stage.end();
    let Wanted {
        candidate,
        origin,
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
    let (candidate, origin) = known(a, console)?;
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
        estimator,
        upsample: a.upsample,
    };
    let Made { result, reused } = make((&a.data, &a.backend, &a.result), &wanted, console)?;
    let mut document = document(&result);
    document["output"] = a.result.output.display().to_string().into();
    document["reused"] = reused.into();
    document["peak_rss_bytes"] = json!(peak_rss_bytes());
    let mut lines = in_words(&result.outcome.best);
    lines.extend(region(&result));
    lines.push("aberrations taken as given, not fitted".into());
    if a.loss {
        lines.push(format!("loss {} rad²", result.outcome.loss));
    }
    lines.push(format!("result: {}", a.result.output.display()));
    console.finish(&document, &lines.join("\n"));
    Ok(Ending::Done)
}
