//! The `ssb` program.

fn main() -> std::process::ExitCode {
    #[cfg(target_os = "linux")]
    without_display();
    ssb::cli::run()
}

/// Where no desktop session runs, Mesa's layer that picks the GPU of the display has nothing to pick, and
/// prints an error for every look at the devices. It is turned off.
#[cfg(target_os = "linux")]
#[allow(
    unsafe_code,
    reason = "the layer listens to an environment variable only"
)]
fn without_display() {
    let session = std::env::var_os("XDG_RUNTIME_DIR");
    if !session.is_some_and(|folder| std::path::Path::new(&folder).is_dir()) {
        // SAFETY: the program has this one thread yet, so that nobody reads the environment meanwhile.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}
