//! Value and gradient against the float64 reference, and a climb to a known answer.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use ssb_core::{
    Angle, Candidate, Control, Evaluator, Geometry, Length, PrepareOptions, TERMS,
    agreement_band_points,
};
use ssb_cpu_oracle::ORACLE;
use ssb_gradient::{AgreementProgram, AscentOptions, Coordinate, GradientError, Host, ascend};
use ssb_testkit::synthetic::{PROBLEMS, Synthetic};

fn prepared(recipe: &Synthetic) -> (Geometry, Box<dyn Evaluator>) {
    let problem = recipe.problem().unwrap();
    let geometry = problem.geometry().clone();
    let control = Control::default();
    let oracle = (ORACLE.prepare)(problem, &PrepareOptions::default(), &control).unwrap();
    (geometry, oracle)
}

fn recipes() -> impl Iterator<Item = &'static Synthetic> {
    PROBLEMS.iter().filter(|recipe| {
        let geometry = recipe.problem().unwrap().geometry().clone();
        let weight: u32 = agreement_band_points(&geometry)
            .iter()
            .map(|p| p.weight)
            .sum();
        weight >= 16 && geometry.scan_shape.iter().product::<usize>() < 600
    })
}

/// Every term: a pair where it has an angle and no formula of its own.
fn coordinates() -> Vec<Coordinate> {
    (0..TERMS.len())
        .flat_map(|term| match (TERMS[term].m, TERMS[term].own) {
            (0, _) => vec![Coordinate::Along(term, 0.0)],
            (_, Some(_)) => vec![Coordinate::Along(term, 0.4)],
            _ => vec![Coordinate::Cosine(term), Coordinate::Sine(term)],
        })
        .collect()
}

/// The candidate of coordinates in nm.
fn candidate(held: &Candidate, coordinates: &[Coordinate], x: &[f64]) -> Candidate {
    let mut candidate = held.clone();
    for (i, coordinate) in coordinates.iter().enumerate() {
        let term = coordinate.term();
        let m = f64::from(TERMS[term].m);
        let (length, angle) = match coordinate {
            Coordinate::Cosine(_) => (x[i].hypot(x[i + 1]), x[i + 1].atan2(x[i]) / m),
            Coordinate::Sine(_) => continue,
            Coordinate::Along(_, angle) => (x[i], *angle),
        };
        candidate.aberrations =
            candidate
                .aberrations
                .with(term, Length::from_nm(length), Angle::from_rad(angle));
    }
    candidate
}

#[test]
fn value_and_gradient_are_those_of_the_reference() {
    let control = Control::default();
    let coordinates = coordinates();
    let mut compared = 0;
    for recipe in recipes().take(3) {
        let (geometry, mut oracle) = prepared(recipe);
        let points = agreement_band_points(&geometry);
        let spectra = oracle.spectra(&points, &control).unwrap();
        for (depth_nm, tilt_mrad) in [(0.0, [0.0; 2]), (9.0, [4.0, -7.0])] {
            let held = Candidate {
                depth_spread_nm: depth_nm,
                tilt_mrad,
                rotation_deg: Some(geometry.rotation_deg + 11.0),
                ..Candidate::default()
            };
            // Half a radian of each at the edge of the aperture.
            let scale: Vec<f64> = (coordinates.iter())
                .map(|c| {
                    let term = &TERMS[c.term()];
                    0.1 * term.magnitude_a(0.5, geometry.semiangle_rad, geometry.wavelength_a)
                })
                .collect();
            let x: Vec<f64> = (scale.iter().enumerate())
                .map(|(i, s)| s * [1.0, -0.7, 0.4][i % 3])
                .collect();
            for block in [5, 1000] {
                let device = Default::default();
                let program = AgreementProgram::<Host>::new(
                    &geometry,
                    (&points, &spectra),
                    &held,
                    &coordinates,
                    block,
                    &device,
                )
                .unwrap();
                let (value, gradient) = program.value_and_gradient(&x).unwrap();
                let mut exact = |x: &[f64]| {
                    let one = [candidate(&held, &coordinates, x)];
                    oracle.agreements(&one, &control).unwrap()[0]
                };
                let reference = exact(&x);
                assert!(
                    (value / reference - 1.0).abs() < 1e-6,
                    "{} {depth_nm}: {value} {reference}",
                    recipe.name
                );
                for i in (0..x.len()).step_by(3) {
                    let step = 1e-3 * scale[i];
                    let moved = |sign: f64| {
                        let mut moved = x.clone();
                        moved[i] += sign * step;
                        moved
                    };
                    let slope = (exact(&moved(1.0)) - exact(&moved(-1.0))) / (2.0 * step);
                    let error = (gradient[i] - slope).abs() * scale[i];
                    assert!(
                        error < 1e-4 * reference,
                        "{} {:?}: {} {slope}",
                        recipe.name,
                        coordinates[i],
                        gradient[i]
                    );
                }
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 6);
}

#[test]
fn a_climb_ends_where_the_gradient_vanishes() {
    let control = Control::default();
    let recipe = recipes().next().unwrap();
    let (geometry, mut oracle) = prepared(recipe);
    let points = agreement_band_points(&geometry);
    let spectra = oracle.spectra(&points, &control).unwrap();
    let coordinates = [
        Coordinate::Along(0, 0.0),
        Coordinate::Cosine(1),
        Coordinate::Sine(1),
    ];
    let device = Default::default();
    let program = AgreementProgram::<Host>::new(
        &geometry,
        (&points, &spectra),
        &Candidate::default(),
        &coordinates,
        64,
        &device,
    )
    .unwrap();
    let start = [4.0, 1.0, -1.0];
    let options = AscentOptions {
        scales_nm: vec![0.5; 3],
        tolerance: 1e-5,
        max_evaluations: 200,
    };
    let before = program.value_and_gradient(&start).unwrap().0;
    let top = ascend(&program, &start, &options, || true).unwrap();
    let (value, gradient) = program.value_and_gradient(&top.point).unwrap();
    assert!(top.agreement >= before && (value / top.agreement - 1.0).abs() < 1e-12);
    assert!(
        gradient.iter().all(|g| g.abs() * 0.5 < 1e-3 * value),
        "{gradient:?} {value}"
    );
    let stopped = ascend(&program, &start, &options, || false).unwrap();
    assert_eq!(
        (stopped.evaluations, stopped.point.as_slice()),
        (1, &start[..])
    );
}

#[test]
fn wrong_requests_are_refused() {
    let control = Control::default();
    let (geometry, mut oracle) = prepared(recipes().next().unwrap());
    let points = agreement_band_points(&geometry);
    let spectra = oracle.spectra(&points, &control).unwrap();
    let device = Default::default();
    let program = |count: usize, moved: &[Coordinate]| {
        AgreementProgram::<Host>::new(
            &geometry,
            (&points[..count], &spectra),
            &Candidate::default(),
            moved,
            8,
            &device,
        )
    };
    let one = [Coordinate::Along(0, 0.0)];
    assert_eq!(
        program(points.len(), &[]).unwrap_err(),
        GradientError::NothingMoves
    );
    assert!(matches!(
        program(points.len() - 1, &one).unwrap_err(),
        GradientError::Shape { .. }
    ));
    let right = program(points.len(), &one).unwrap();
    assert!(right.value_and_gradient(&[1.0, 2.0]).is_err());
}
