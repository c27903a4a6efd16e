//! The `ssb` program.

fn main() -> std::process::ExitCode {
    ssb::cli::run()
}
