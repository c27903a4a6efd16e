//! Development checks of the workspace: `cargo xtask tidy`, `cargo xtask kernels [--out DIR]`, `cargo xtask one-place`.
//!
//! They exit with 0 when everything passed, 1 when something failed, 2 on wrong usage, and 3 when nothing failed but a
//! step was skipped because its tools cannot be had.

#[cfg(feature = "kernels")]
mod kernels;
mod one_place;
mod tidy;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((verb, _)) if verb == "tidy" => tidy::run(),
        Some((verb, rest)) if verb == "kernels" => kernels(rest),
        Some((verb, _)) if verb == "one-place" => one_place::run(),
        other => {
            eprintln!(
                "usage: cargo xtask tidy | kernels [--out DIR] | one-place{}",
                other.map_or_else(String::new, |(verb, _)| format!(" (there is no `{verb}`)"))
            );
            ExitCode::from(2)
        }
    }
}

#[cfg(feature = "kernels")]
fn kernels(arguments: &[String]) -> ExitCode {
    kernels::run(arguments)
}

/// Starts itself again, built with the kernels.
#[cfg(not(feature = "kernels"))]
fn kernels(arguments: &[String]) -> ExitCode {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = std::process::Command::new(cargo)
        .args([
            "run",
            "--quiet",
            "--package",
            "xtask",
            "--features",
            "kernels",
            "--",
            "kernels",
        ])
        .args(arguments)
        .status();
    match status.map(|status| status.code()) {
        Ok(Some(code)) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        Ok(None) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("kernels: cannot run cargo: {error}");
            ExitCode::FAILURE
        }
    }
}
