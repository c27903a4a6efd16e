//! `ssb reconstruct`: an image with known aberrations; nothing is searched.

use serde_json::json;
use ssb_core::{Backend, Candidate, check_upsampling};
use ssb_io::result::ResultFile;

use super::args::ReconstructArgs;
use super::console::{Console, peak_rss_bytes};
use super::{Ending, opening, reusing, writing};
use crate::record::{Estimator, document, expected_provenance, in_words};
use crate::{Error, REGISTRY, ReconstructOptions};

/// The given candidate and where it came from.
fn known(a: &ReconstructArgs, console: &Console) -> Result<(Candidate, String), Error> {
    let given = opening::candidate(&a.known, console)?;
    let Some(path) = &a.from else {
        return Ok((given, "arguments".into()));
    };
    if given != Candidate::default() {
        return Err(Error::request(
            "--from",
            "aberrations are also given as arguments",
            "give --from or --aberration, not both",
        ));
    }
    let result = ResultFile::read(path)?;
    Ok((result.outcome.best, path.display().to_string()))
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
    let chosen = REGISTRY.select(&Backend::from(a.backend.backend.as_str()), a.backend.device)?;
    let opening_stage = console.stage("open");
    let source = opening::source(&a.data)?;
    let acquisition = opening::acquisition(
        &source,
        &a.data,
        a.backend.threads,
        a.backend.max_memory,
        console,
    )?;
    let open = opening_stage.end();
    console.note("aberrations are taken as given, not fitted");
    let request = json!({
        "verb": "reconstruct",
        "candidate": candidate,
        "candidate_from": origin,
        "estimator": estimator.name(),
        "upsample": a.upsample,
        "backend": chosen.entry.name,
        "device": a.backend.device,
    });
    let expected = expected_provenance(&acquisition, request.clone());
    let earlier = reusing::reusable(&a.result, &expected, console);
    let reused = earlier.is_some();
    let result = if let Some(result) = earlier {
        result
    } else {
        let preparing = console.stage("prepare");
        let session = opening::session(acquisition, &a.backend, console)?;
        let prepare = preparing.end();
        let imaging = console.stage("reconstruct");
        let options = ReconstructOptions {
            upsample: a.upsample,
            tilt_mrad: candidate.tilt_mrad,
            depth_spread_nm: candidate.depth_spread_nm,
        };
        let image = session.reconstruct(&candidate.aberrations, &options)?;
        let seconds = json!({
            "open": open,
            "prepare": prepare,
            "reconstruct": imaging.end(),
        });
        let details = json!({"aberrations": "taken as given, not fitted", "from": origin});
        let result =
            session.reconstruction_file(&image, (estimator, a.upsample), request, seconds, details);
        result.write(&a.result.output)?;
        result
    };
    let mut document = document(&result);
    document["output"] = a.result.output.display().to_string().into();
    document["reused"] = reused.into();
    document["peak_rss_bytes"] = json!(peak_rss_bytes());
    let mut lines = in_words(&result.outcome.best);
    lines.push("aberrations taken as given, not fitted".into());
    if a.loss {
        lines.push(format!("loss {} rad²", result.outcome.loss));
    }
    lines.push(format!("result: {}", a.result.output.display()));
    console.finish(&document, &lines.join("\n"));
    Ok(Ending::Done)
}
