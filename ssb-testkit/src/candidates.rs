//! Candidates that a backend is tried on: the degenerate starts, which are fixed, and random ones of
//! every kind, redrawn until they meet no marginal point (see [`crate::conditioning`]).

use std::f64::consts::{FRAC_PI_2, PI};

use ssb_core::{Aberrations, Angle, Candidate, Geometry, Length, TERMS};

use crate::Error;
use crate::conditioning::has_marginal_point;
use crate::simulate::draw::Draws;
use crate::synthetic::MAX_DRAWS;

/// A candidate with its name in reports.
#[derive(Debug, Clone, PartialEq)]
pub struct Named {
    /// What it is.
    pub name: &'static str,
    /// The candidate.
    pub candidate: Candidate,
}

/// The degenerate starts: no aberration at all, and C12 = 50 nm alone at phi12 = 0.
#[must_use]
pub fn fixed() -> Vec<Named> {
    let astigmatism = Aberrations::default().with(1, Length::from_nm(50.0), Angle::default());
    vec![
        Named {
            name: "zero",
            candidate: Candidate::default(),
        },
        Named {
            name: "C12 alone",
            candidate: Candidate::thin(astigmatism),
        },
    ]
}

/// One candidate for each piece of code that a backend may have: thin and thick, C10 and C12 or every term.
#[must_use]
pub fn of_every_model(geometry: &Geometry) -> Vec<Candidate> {
    let mut few = Candidate::default();
    let mut all = Candidate::default();
    for (index, term) in TERMS.iter().enumerate() {
        let magnitude_a = term.magnitude_a(0.8, geometry.semiangle_rad, geometry.wavelength_a);
        let angle_rad = if term.m == 0 { 0.0 } else { 0.3 };
        let set = |c: &mut Candidate| {
            let aberration = c.aberrations.get_mut(index);
            aberration.magnitude_a = magnitude_a;
            aberration.angle_rad = angle_rad;
        };
        set(&mut all);
        if index < 2 {
            set(&mut few);
        }
    }
    let thick = |thin: &Candidate| Candidate {
        depth_spread_nm: 8.0,
        tilt_mrad: [2.0, -3.0],
        ..thin.clone()
    };
    vec![thick(&few), thick(&all), few, all]
}

/// Random C10, C12 and phi12 of the size that searches meet.
pub(crate) fn low_order(random: &mut Draws) -> Candidate {
    Candidate::thin(
        Aberrations::default()
            .with(
                0,
                Length::from_nm(random.between(-60.0, 60.0)),
                Angle::default(),
            )
            .with(
                1,
                Length::from_nm(random.between(0.0, 20.0)),
                Angle::from_rad(random.between(-FRAC_PI_2, FRAC_PI_2)),
            ),
    )
}

/// C10 and C12, and every further term worth 0.1 to 0.4 rad at the edge of the aperture.
fn every_term(random: &mut Draws, geometry: &Geometry) -> Candidate {
    let mut candidate = low_order(random);
    for (index, term) in TERMS.iter().enumerate().skip(2) {
        let edge_rad = random.between(0.1, 0.4);
        let magnitude_a = term.magnitude_a(edge_rad, geometry.semiangle_rad, geometry.wavelength_a);
        let angle_rad = random.between(-PI, PI) / f64::from(term.m.max(1));
        let angle = Angle::from_rad(if term.m == 0 { 0.0 } else { angle_rad });
        candidate.aberrations =
            candidate
                .aberrations
                .with(index, Length::from_a(magnitude_a), angle);
    }
    candidate
}

fn thicken(random: &mut Draws, thin: Candidate) -> Candidate {
    Candidate {
        tilt_mrad: [random.between(-20.0, 20.0), random.between(-20.0, 20.0)],
        depth_spread_nm: random.between(3.0, 30.0),
        ..thin
    }
}

/// Hundreds of radians at the edge of the aperture, from C10 and C12.
fn far(random: &mut Draws) -> Candidate {
    let sign = if random.between(0.0, 1.0) < 0.5 {
        -1.0
    } else {
        1.0
    };
    Candidate::thin(
        Aberrations::default()
            .with(
                0,
                Length::from_nm(sign * random.between(200.0, 400.0)),
                Angle::default(),
            )
            .with(
                1,
                Length::from_nm(random.between(20.0, 40.0)),
                Angle::from_rad(1.1),
            ),
    )
}

/// Random streams of a seed from here on belong to candidates.
const CANDIDATE_STREAMS: u64 = 1 << 32;

type Recipe = fn(&mut Draws, &Geometry) -> Candidate;

const RANDOM: [(&str, Recipe); 8] = [
    ("C10 alone", |random, _| {
        let mut candidate = low_order(random);
        candidate.aberrations.get_mut(1).magnitude_a = 0.0;
        candidate
    }),
    ("C10 C12", |random, _| low_order(random)),
    ("far", |random, _| far(random)),
    ("every term", every_term),
    ("thick", |random, _| {
        let thin = low_order(random);
        thicken(random, thin)
    }),
    ("thick, no tilt", |random, _| {
        let thin = low_order(random);
        Candidate {
            tilt_mrad: [0.0; 2],
            ..thicken(random, thin)
        }
    }),
    ("rotated", |random, _| Candidate {
        rotation_deg: Some(random.between(-180.0, 180.0)),
        ..low_order(random)
    }),
    ("every term, thick, rotated", |random, geometry| {
        let thin = every_term(random, geometry);
        Candidate {
            rotation_deg: Some(random.between(-180.0, 180.0)),
            ..thicken(random, thin)
        }
    }),
];

/// The fixed candidates and one random one of every kind.
///
/// # Errors
/// [`Error::Marginal`] when a kind meets a marginal point at every draw.
pub fn of_every_kind(geometry: &Geometry, seed: u64) -> Result<Vec<Named>, Error> {
    let mut all = fixed();
    if geometry.scan_shape == [2, 2] {
        // Every frequency is its own mirror and Gamma is real: the phases, and the loss, are 0.
        all.retain(|named| !named.candidate.aberrations.is_zero());
    }
    for (index, (name, recipe)) in RANDOM.iter().enumerate() {
        let mut random = Draws::new(seed, CANDIDATE_STREAMS + index as u64);
        let candidate = (0..MAX_DRAWS)
            .map(|_| recipe(&mut random, geometry))
            .find(|c| !has_marginal_point(geometry, c))
            .ok_or_else(|| Error::Marginal {
                problem: format!("seed {seed}"),
                object: format!("candidate `{name}`"),
            })?;
        all.push(Named { name, candidate });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::PROBLEMS;

    #[test]
    fn some_rotated_candidate_changes_which_pixels_are_active() {
        let open = |geometry: &Geometry, rotation_deg: f64| -> Vec<bool> {
            let apertures = geometry.apertures(rotation_deg);
            apertures.into_iter().map(|a| a > 0.0).collect()
        };
        let changes = PROBLEMS[..8].iter().any(|recipe| {
            let problem = recipe.problem().unwrap();
            let geometry = problem.geometry();
            of_every_kind(geometry, recipe.seed)
                .unwrap()
                .iter()
                .filter_map(|named| named.candidate.rotation_deg)
                .any(|turned| open(geometry, turned) != open(geometry, geometry.rotation_deg))
        });
        assert!(changes);
    }

    #[test]
    fn every_kind_is_there_and_the_far_one_is_far() {
        let problem = PROBLEMS[4].problem().unwrap();
        let geometry = problem.geometry();
        let all = of_every_kind(geometry, 1).unwrap();
        assert_eq!(all.len(), fixed().len() + RANDOM.len());
        let edge = [geometry.semiangle_rad / geometry.wavelength_a, 0.0];
        let chi_rad = |name: &str| {
            let named = all.iter().find(|n| n.name == name).unwrap();
            let ab = &named.candidate.aberrations;
            ssb_cpu_oracle::chi(edge, ab, geometry.wavelength_a).abs()
        };
        assert!(chi_rad("far") > 150.0);
        let with_all = all.iter().find(|n| n.name == "every term").unwrap();
        let values = with_all.candidate.aberrations.values();
        assert!(values.iter().all(|v| v.magnitude_a != 0.0));
    }
}
