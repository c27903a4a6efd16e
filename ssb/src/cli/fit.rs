//! `ssb fit`: fit the aberrations, reconstruct with them, write the result.

use serde_json::{Value, json};
use ssb_core::{Backend, Control};
use ssb_io::result::ResultFile;

use super::args::FitArgs;
use super::console::{Console, peak_rss_bytes};
use super::{Ending, journaling, opening, reusing};
use crate::digits::significant;
use crate::record::{document, expected_provenance, in_words, region};
use crate::{Error, FitOptions, Quantity, REGISTRY, Refine, SearchRange, Setting};

fn settings(list: &[String]) -> Result<Vec<Setting>, Error> {
    list.iter().map(|s| s.parse()).collect()
}

/// What the arguments ask for.
pub fn options(a: &FitArgs) -> Result<FitOptions, Error> {
    let refine = match a.refine.as_str() {
        "gradient" => Refine::Gradient,
        "none" => Refine::None,
        _ => Refine::NelderMead,
    };
    let search: Result<Vec<SearchRange>, Error> = a.search.iter().map(|s| s.parse()).collect();
    let mut start = settings(&a.start)?;
    // Known aberrations are where the search starts; those it does not move stay there.
    start.extend(settings(&a.known.aberrations)?);
    if let Some(tilt_mrad) = a.known.tilt_mrad {
        let quantities = [Quantity::TiltRow, Quantity::TiltCol];
        start.extend(
            (quantities.into_iter().zip(tilt_mrad))
                .map(|(quantity, value)| Setting { quantity, value }),
        );
    }
    start.extend(a.known.depth_spread_nm.map(|value| Setting {
        quantity: Quantity::DepthSpread,
        value,
    }));
    let search = search?;
    if a.rotation_from_curl && search.iter().any(|r| r.quantity == Quantity::Rotation) {
        return Err(Error::request(
            "--rotation-from-curl",
            "the rotation is searched over a given range already",
            "drop one of the two",
        ));
    }
    Ok(FitOptions {
        method: a.method.clone(),
        trials: a.trials,
        seed: a.seed,
        search,
        start,
        fix: settings(&a.fix)?,
        tilt: a.tilt,
        refine,
        check_rotation: a.check_rotation == "on",
    })
}

fn request(a: &FitArgs, options: &FitOptions, backend: &str) -> Value {
    json!({
        "verb": "fit",
        "method": options.method,
        "trials": options.trials,
        "seed": options.seed,
        "search": options.search,
        "start": options.start,
        "fix": options.fix,
        "tilt": options.tilt,
        "rotation_from_curl": a.rotation_from_curl,
        "refine": options.refine,
        "check_rotation": options.check_rotation,
        "backend": backend,
        "device": a.backend.device,
    })
}

fn text(document: &Value, words: &[String], output: &std::path::Path) -> String {
    let mut lines = words.to_vec();
    lines.push(format!(
        "loss {} rad² (variance of the phase over the bright-field pixels), {} exact evaluations",
        significant(document["loss"].as_f64().unwrap_or(f64::NAN), 6),
        document["evaluations"]
    ));
    if let Some(sign) = document["column_sign"].as_object() {
        lines.push(format!(
            "atom columns: {} (score {:.2})",
            sign["state"].as_str().unwrap_or_default(),
            sign["score"].as_f64().unwrap_or_default()
        ));
    }
    lines.push(format!("result: {}", output.display()));
    lines.join("\n")
}

/// Half the range in deg that the rotation is searched over around its estimate.
const AROUND_CURL_DEG: f64 = 8.0;

/// The options with the rotation searched around its estimate, where that is asked for.
fn with_rotation(
    a: &FitArgs,
    mut options: FitOptions,
    session: &crate::Session,
    console: &Console,
) -> Result<FitOptions, Error> {
    if !a.rotation_from_curl {
        return Ok(options);
    }
    let estimate = session.rotation_from_curl()?;
    if !estimate.is_clear() {
        return Err(Error::request(
            "--rotation-from-curl",
            format!(
                "the curl of the centre of mass does not single out an angle (its least value is {:.2} of its largest)",
                estimate.curl_ratio
            ),
            "give --rotation-deg, or search it with --search rotation=-90deg:90deg",
        ));
    }
    let deg = estimate.rotation_deg;
    console.note(&format!(
        "rotation: {deg:.1} deg from the curl of the centre of mass (curl ratio {:.3}); 180 deg away is equally good",
        estimate.curl_ratio
    ));
    options.search.push(SearchRange {
        quantity: Quantity::Rotation,
        low: deg - AROUND_CURL_DEG,
        high: deg + AROUND_CURL_DEG,
    });
    Ok(options)
}

/// A fit that was made, continued or found again.
pub struct Made {
    pub result: ResultFile,
    pub reused: bool,
    /// Evaluations that the journal answered.
    pub resumed: usize,
}

/// Fits one acquisition and writes its result.
pub fn make(a: &FitArgs, options: &FitOptions, console: &Console) -> Result<Made, Error> {
    reusing::check_output(&a.result, &a.data.file)?;
    journaling::check(a)?;
    let chosen = REGISTRY.select(&Backend::from(a.backend.backend.as_str()), a.backend.device)?;
    let opening_stage = console.stage("open");
    let source = opening::source(&a.data, console)?;
    let acquisition = opening::acquisition(
        &source,
        &a.data,
        a.backend.threads,
        a.backend.max_memory,
        console,
    )?;
    let open = opening_stage.end();
    let request = request(a, options, chosen.entry.name);
    let expected = expected_provenance(&acquisition, request.clone());
    if let Some(result) = reusing::reusable(&a.result, &expected, console) {
        journaling::found_again(a, &expected, console)?;
        return Ok(Made {
            result,
            reused: true,
            resumed: 0,
        });
    }
    let preparing = console.stage("prepare");
    let session = opening::session(acquisition, &a.backend, console)?;
    let prepare = preparing.end();
    let options = with_rotation(a, options.clone(), &session, console)?;
    let mut journal = journaling::open(a, &session.fit_identity(&request), console)?;
    let fitting = console.stage("fit");
    let fit = match session.fit_recorded(&options, &mut journal) {
        Ok(fit) => fit,
        Err(error) => {
            journaling::failed(journal, &error, console);
            return Err(error);
        }
    };
    let seconds = fitting.end();
    for warning in &fit.warnings {
        console.warn(warning);
    }
    let imaging = console.stage("reconstruct");
    // The last image is also made of a cancelled fit: one pass over the data.
    let image = session.image(fit.best.clone(), 1, &Control::default())?;
    let reconstruct = imaging.end();
    let seconds = json!({
        "open": open,
        "prepare": prepare,
        "fit": seconds,
        "reconstruct": reconstruct,
    });
    let result = session.fit_file(&fit, &image, request, seconds);
    result.write(&a.result.output)?;
    let resumed = journal.recorded();
    if fit.cancelled {
        console.warn(&format!(
            "cancelled: the best candidate so far was kept and marked; --resume continues from {}",
            journal.path().display()
        ));
        journal.keep()?;
    } else {
        journal.remove()?;
    }
    Ok(Made {
        result,
        reused: false,
        resumed,
    })
}

pub fn run(a: &FitArgs, console: &Console) -> Result<Ending, Error> {
    let options = options(a)?;
    options.check()?;
    let made = make(a, &options, console)?;
    let mut document = document(&made.result);
    document["output"] = a.result.output.display().to_string().into();
    document["reused"] = made.reused.into();
    document["resumed_evaluations"] = made.resumed.into();
    document["peak_rss_bytes"] = json!(peak_rss_bytes());
    let mut words = in_words(&made.result.outcome);
    words.extend(region(&made.result));
    let words = text(&document, &words, &a.result.output);
    console.finish(&document, &words);
    Ok(if made.result.outcome.cancelled {
        Ending::Cancelled
    } else {
        Ending::Done
    })
}
