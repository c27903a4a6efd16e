//! `ssb report`: everything about a result on one page.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use ssb_io::result::ResultFile;

use super::args::TalkArgs;
use super::console::Console;
use super::{Ending, writing};
use crate::Error;

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// A result file
    #[arg(value_name = "R.h5")]
    pub result: PathBuf,
    /// Page to write
    #[arg(short, long, value_name = "R.html")]
    pub output: PathBuf,
    #[command(flatten)]
    pub talk: TalkArgs,
}

pub fn run(a: &ReportArgs, console: &Console) -> Result<Ending, Error> {
    writing::check_kind(&a.output, writing::HTML)?;
    writing::check_not_data(&a.output, &[&a.result])?;
    let result = ResultFile::read(&a.result)?;
    let page = crate::record::report(&result)?;
    writing::write_whole(&a.output, page.as_bytes())?;
    let document = json!({
        "output": a.output.display().to_string(),
        "bytes": page.len(),
        "warnings": result.provenance.warnings,
    });
    console.finish(&document, &format!("report: {}", a.output.display()));
    Ok(Ending::Done)
}
