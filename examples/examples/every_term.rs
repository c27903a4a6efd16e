//! A researcher: every row of the one table of aberration terms is parsed, evaluated and reported alike.
//!
//! `cargo run --release --package ssb-examples --example every_term`
//!
//! A new standard term is one more row of `ssb-core/src/terms.rs`; it then appears here by itself.

use ssb::units::TERMS;
use ssb::{Candidate, Control};
use ssb_testkit::simulate::Simulation;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let control = Control::default();
    let simulation = Simulation {
        scan_shape: [32, 32],
        ..Simulation::demo()
    };
    let scan = simulation.run(&control)?;
    let (problem, _) = scan.problem(&ssb::acquisition::BfOptions::default())?;
    let semiangle_rad = problem.geometry().semiangle_rad;
    let wavelength_a = problem.geometry().wavelength_a;
    let backend = ssb::backends::REGISTRY.select(&ssb::Backend::auto(), None)?;
    let mut evaluator =
        (backend.entry.prepare)(problem, &ssb::backends::PrepareOptions::default(), &control)?;

    let truth = scan.truth.candidate.aberrations.clone();
    for (index, term) in TERMS.iter().enumerate() {
        // Half a radian more of this term at the edge of the aperture.
        let extra_a = term.magnitude_a(0.5, semiangle_rad, wavelength_a);
        let mut aberrations = truth.clone();
        aberrations.get_mut(index).magnitude_a += extra_a;
        let result = evaluator.evaluate(&[Candidate::thin(aberrations)], &control)?[0];
        println!(
            "{:4} + {:12.3} nm: loss {:.6} rad^2   {}",
            term.name,
            extra_a / 10.0,
            result.loss,
            term.label
        );
    }
    Ok(())
}
