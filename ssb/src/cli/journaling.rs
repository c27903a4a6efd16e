//! The journal of a fit: made beside its result, continued with `--resume`, never discarded without
//! a word.

use serde_json::{Value, json};
use ssb_core::Provenance;
use ssb_io::result::ResultFile;

use super::args::FitArgs;
use super::console::Console;
use crate::{Error, Journal};

fn unfinished(a: &FitArgs) -> Error {
    Error::Journal {
        path: Journal::beside(&a.result.output),
        object: "fit".into(),
        problem: "a fit of this output was stopped before its end".into(),
        action: "--resume continues it, --force discards it".into(),
    }
}

/// Refuses, before the data are read, to fit beside a journal that the arguments do not speak of.
pub fn check(a: &FitArgs) -> Result<(), Error> {
    let waits = !a.resume && !a.result.force && Journal::beside(&a.result.output).exists();
    let complete = || ResultFile::read(&a.result.output).is_ok_and(|r| !r.outcome.cancelled);
    if waits && !complete() {
        return Err(unfinished(a));
    }
    Ok(())
}

/// The journal that the fit goes on with.
pub fn open(a: &FitArgs, identity: &Value, console: &Console) -> Result<Journal, Error> {
    let path = Journal::beside(&a.result.output);
    if !path.exists() {
        if a.resume {
            console.note(&format!(
                "resume: there is no journal {}; the fit starts from the beginning",
                path.display()
            ));
        }
        return Journal::create(&path, identity);
    }
    if a.result.force {
        console.note(&format!("--force: {} is discarded", path.display()));
        return Journal::create(&path, identity);
    }
    if !a.resume {
        return Err(unfinished(a));
    }
    let (journal, torn) = Journal::resume(&path, identity)?;
    if let Some(word) = torn {
        console.warn(&word);
    }
    console.note(&format!(
        "resume: {} holds {} evaluations, which are not made again",
        path.display(),
        journal.recorded()
    ));
    Ok(journal)
}

/// A journal beside a result that was found again: one of that very fit is left over and removed, another is the
/// user's.
pub fn found_again(a: &FitArgs, result: &Provenance, console: &Console) -> Result<(), Error> {
    let path = Journal::beside(&a.result.output);
    if !path.exists() {
        return Ok(());
    }
    let fit = json!({
        "program": result.program,
        "numerics_version": result.numerics_version,
        "source": result.source,
        "calibration": result.calibration,
        "disk": result.disk,
        "request": result.request,
    });
    let word = if Journal::remove_finished(&path, &fit)? {
        "was left over by this fit and is removed"
    } else {
        "is not of this result; --force with its request discards it"
    };
    console.note(&format!("{} {word}", path.display()));
    Ok(())
}

/// What becomes of the journal when the fit ends without a result: a request that cannot be carried out
/// leaves nothing to resume.
pub fn failed(journal: Journal, error: &Error, console: &Console) {
    let path = journal.path().to_owned();
    let over = error.exit_code() == 1 && !matches!(error, Error::Journal { .. });
    let put = if over {
        journal.remove()
    } else {
        journal.keep()
    };
    if let Err(e) = put {
        console.warn(&e.to_string());
    }
    if path.exists() {
        console.note(&format!(
            "{} keeps what was evaluated; --resume continues from it",
            path.display()
        ));
    }
}
