//! Development checks of the workspace: `cargo xtask tidy`.

mod tidy;

use std::process::ExitCode;

fn main() -> ExitCode {
    let verb = std::env::args().nth(1);
    match verb.as_deref() {
        Some("tidy") => tidy::run(),
        other => {
            eprintln!(
                "usage: cargo xtask tidy{}",
                other.map_or_else(String::new, |verb| format!(" (there is no `{verb}`)"))
            );
            ExitCode::from(2)
        }
    }
}
