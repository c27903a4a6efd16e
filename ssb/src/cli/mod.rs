//! The `ssb` program: one file a verb; JSON on stdout, everything for people on stderr.

mod args;
mod argument_groups;
mod bench;
mod console;
mod convert;
mod demo;
mod devices;
mod eval;
mod export;
mod fit;
mod inspect;
mod journaling;
mod opening;
mod parity;
mod reconstruct;
mod report;
mod reusing;
mod series;
mod shell;
mod show;
mod simulate;
mod tiff;
mod trace;
mod values;
#[cfg(feature = "view")]
mod view;
mod writing;

use std::process::ExitCode;

use clap::Parser;
use serde_json::json;

use crate::Error;
use args::{Cli, TalkArgs, Verb};
use console::Console;

/// How a verb ended when it did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// All is done.
    Done,
    /// Stopped early, with something worth keeping.
    Cancelled,
    /// All was done, and a check of it failed.
    Failed,
}

type Outcome = (bool, Result<Ending, Error>);

fn talking(talk: &TalkArgs, verb: impl FnOnce(&Console) -> Result<Ending, Error>) -> Outcome {
    (talk.json, Console::new(talk).and_then(|c| verb(&c)))
}

/// Runs the program on its arguments.
///
/// Exit codes: 0 done, 1 the request cannot be carried out, 2 usage, 3 internal or device fault,
/// 130 cancelled.
#[must_use]
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => return usage(&e),
    };
    let (json, outcome) = match &cli.verb {
        Verb::Demo(a) => talking(&a.talk, |c| demo::run(a, c)),
        Verb::Devices(a) => talking(&a.talk, devices::run),
        Verb::Inspect(a) => talking(&a.talk, |c| inspect::run(a, c)),
        Verb::Simulate(a) => talking(&a.talk, |c| simulate::run(a, c)),
        Verb::Reconstruct(a) => talking(&a.talk, |c| reconstruct::run(a, c)),
        Verb::Fit(a) => talking(&a.talk, |c| fit::run(a, c)),
        Verb::Eval(a) => talking(&a.talk, |c| eval::run(a, c)),
        Verb::Show(a) => talking(&a.talk, |c| show::run(a, c)),
        Verb::Export(a) => talking(&a.talk, |c| export::run(a, c)),
        Verb::Report(a) => talking(&a.talk, |c| report::run(a, c)),
        Verb::Completions(a) => {
            shell::completions(a);
            (false, Ok(Ending::Done))
        }
        Verb::Man(a) => talking(&a.talk, |c| shell::man(a, c)),
        Verb::Convert(a) => talking(&a.talk, |c| convert::run(a, c)),
        #[cfg(feature = "view")]
        Verb::View(a) => talking(&a.talk, |c| view::run(a, c)),
        Verb::Series(a) => talking(&a.fit.talk, |c| series::run(a, c)),
        Verb::Parity(a) => talking(&a.talk, |c| parity::run(a, c)),
        Verb::Bench(a) => talking(&a.talk, |c| bench::run(a, c)),
    };
    match outcome {
        Ok(Ending::Done) => ExitCode::SUCCESS,
        Ok(Ending::Cancelled) => ExitCode::from(130),
        Ok(Ending::Failed) => ExitCode::FAILURE,
        Err(error) => {
            console::fail(json, &error);
            ExitCode::from(error.exit_code())
        }
    }
}

/// Help and version go to stdout with code 0; usage errors are 2, as JSON where that was asked for.
fn usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if std::env::args().any(|a| a == "--json") {
        console::print_json(&json!({"error": {
            "kind": "usage",
            "file": null,
            "object": null,
            "message": error.render().to_string().trim(),
        }}));
    } else {
        let _ = error.print();
    }
    ExitCode::from(2)
}
