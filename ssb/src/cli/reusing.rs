//! Results that exist already: reused when they answer the request exactly, never overwritten when
//! they are something else.

use std::path::Path;

use ssb_core::Provenance;
use ssb_io::result::ResultFile;

use super::args::ResultArgs;
use super::console::Console;
use super::writing;
use crate::Error;

/// Refuses an output that exists and is no result of this program: it may be the data, a file that
/// a master links to, or anything else that cannot be computed again.
pub fn check_output(a: &ResultArgs, data: &Path) -> Result<(), Error> {
    writing::check_place(&a.output)?;
    if writing::same(&a.output, data) {
        return Err(Error::output(
            &a.output,
            "it is the data file itself",
            "choose another name",
        ));
    }
    if a.output.exists() && ResultFile::read_provenance(&a.output).is_err() {
        return Err(Error::output(
            &a.output,
            "it exists and is not a result of this program",
            "choose another name, or remove it first",
        ));
    }
    Ok(())
}

/// The result under that name, when it answers the request exactly.
pub fn reusable(a: &ResultArgs, expected: &Provenance, console: &Console) -> Option<ResultFile> {
    if a.force || !a.output.exists() {
        return None;
    }
    let result = match ResultFile::read(&a.output) {
        Ok(result) => result,
        Err(e) => {
            console.note(&format!(
                "the earlier result cannot be read ({e}); recomputing"
            ));
            return None;
        }
    };
    let why = if !result.provenance.answers(expected) {
        "was made from other data or another request"
    } else if result.outcome.cancelled {
        "was cancelled before its end"
    } else {
        console.note(&format!(
            "reused: {} holds exactly this result (--force recomputes)",
            a.output.display()
        ));
        return Some(result);
    };
    console.note(&format!(
        "the earlier {} {why}; recomputing",
        a.output.display()
    ));
    None
}
