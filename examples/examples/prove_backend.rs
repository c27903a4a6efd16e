//! An engineer: a backend is trusted on this machine when the conformance suite passes on it.
//!
//! `cargo run --release --package ssb-examples --example prove_backend [-- BACKEND]`

use ssb::Control;
use ssb::backends::PrepareOptions;
use ssb_testkit::conformance;
use ssb_testkit::synthetic::PROBLEMS;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "cpu".into());
    let control = Control::default();
    let backend = ssb::backends::REGISTRY.select(&name.as_str().into(), None)?;
    let prepare = |problem, options: &PrepareOptions| {
        (backend.entry.prepare)(problem, options, &Control::default())
    };
    let small: Vec<_> = PROBLEMS
        .iter()
        .filter(|p| p.scan_shape.iter().all(|n| (8..=32).contains(n)))
        .cloned()
        .collect();
    let summary = conformance::run(&prepare, &small, &control, &mut |check| println!("{check}"))?;
    if !summary.passed() {
        return Err(format!("{} check(s) failed on {name}", summary.failed.len()).into());
    }
    println!("{name}: every check passed");
    Ok(())
}
