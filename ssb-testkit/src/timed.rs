//! What benchmarks share: the candidates that are timed, and the commit that goes with a time.

use ssb_core::{Angle, Candidate, Geometry, Length, TERMS};

/// C10 and C12.
#[must_use]
pub fn low_order(_: &Geometry, c10_nm: f64) -> Candidate {
    let mut candidate = Candidate::default();
    candidate.aberrations = candidate
        .aberrations
        .with(0, Length::from_nm(c10_nm), Angle::default())
        .with(1, Length::from_nm(3.0), Angle::from_rad(0.25));
    candidate
}

/// C10 and C12 of a thick, tilted specimen.
#[must_use]
pub fn thick(geometry: &Geometry, c10_nm: f64) -> Candidate {
    Candidate {
        tilt_mrad: [3.0, -5.0],
        depth_spread_nm: 12.0,
        ..low_order(geometry, c10_nm)
    }
}

/// Every term, those beyond C12 worth a quarter of a radian each at the edge of the aperture.
#[must_use]
pub fn every_term(geometry: &Geometry, c10_nm: f64) -> Candidate {
    let mut candidate = low_order(geometry, c10_nm);
    for (index, term) in TERMS.iter().enumerate().skip(2) {
        let magnitude_a = term.magnitude_a(0.25, geometry.semiangle_rad, geometry.wavelength_a);
        let angle = Angle::from_rad(if term.m == 0 { 0.0 } else { 0.2 });
        candidate.aberrations =
            candidate
                .aberrations
                .with(index, Length::from_a(magnitude_a), angle);
    }
    candidate
}

/// The commit of the working tree that the program runs in, where git knows it.
#[must_use]
pub fn commit() -> Option<String> {
    let output = std::process::Command::new("git")
        .args(["rev-parse", "--short=12", "HEAD"])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
