//! Development checks of the workspace: `cargo xtask tidy`, `cargo xtask book`, `cargo xtask kernels [--out DIR]`,
//! `cargo xtask one-place`.
//!
//! They exit with 0 when everything passed, 1 when something failed, 2 on wrong usage, and 3 when nothing failed but a
//! step was skipped because its tools cannot be had.

#[cfg(feature = "book")]
mod book;
#[cfg(feature = "kernels")]
mod kernels;
mod one_place;
mod tidy;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((verb, _)) if verb == "tidy" => tidy::run(),
        Some((verb, _)) if verb == "book" => book(),
        Some((verb, rest)) if verb == "kernels" => kernels(rest),
        Some((verb, _)) if verb == "one-place" => one_place::run(),
        other => {
            eprintln!(
                "usage: cargo xtask tidy | book | kernels [--out DIR] | one-place{}",
                other.map_or_else(String::new, |(verb, _)| format!(" (there is no `{verb}`)"))
            );
            ExitCode::from(2)
        }
    }
}

#[cfg(feature = "book")]
fn book() -> ExitCode {
    book::run()
}

#[cfg(not(feature = "book"))]
fn book() -> ExitCode {
    let build = "--package xtask --features book --profile book";
    rebuilt(build, "book", "book", &[])
}

#[cfg(feature = "kernels")]
fn kernels(arguments: &[String]) -> ExitCode {
    kernels::run(arguments)
}

/// The whole workspace is selected so that its dependencies are those of the tests.
#[cfg(not(feature = "kernels"))]
fn kernels(arguments: &[String]) -> ExitCode {
    let build = "--workspace --bin xtask --features xtask/kernels";
    rebuilt(build, "debug", "kernels", arguments)
}

/// Builds this program again, with what a verb needs, and starts that; cargo puts it into this folder beside our own.
#[cfg(not(all(feature = "book", feature = "kernels")))]
fn rebuilt(build: &str, folder: &str, verb: &str, arguments: &[String]) -> ExitCode {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // Asked before the file is replaced.
    let program = std::env::current_exe().map(|own| {
        let target = own.ancestors().nth(2).unwrap_or(&own);
        target
            .join(folder)
            .join(own.file_name().unwrap_or_default())
    });
    let status = std::process::Command::new(cargo)
        .args(["build", "--quiet"])
        .args(build.split(' '))
        .status();
    let built = status.is_ok_and(|status| status.success());
    let status = match program {
        Ok(program) if built => std::process::Command::new(program)
            .arg(verb)
            .args(arguments)
            .status(),
        Ok(_) => return ExitCode::FAILURE,
        Err(error) => Err(error),
    };
    match status.map(|status| status.code()) {
        Ok(Some(code)) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        Ok(None) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{verb}: cannot run cargo: {error}");
            ExitCode::FAILURE
        }
    }
}
