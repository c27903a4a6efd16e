//! Nelder-Mead on standard functions: minima, bounds, folding, limits, replay.

#![allow(clippy::unwrap_used)]

use std::f64::consts::{FRAC_PI_2, PI};

use ssb_optim::{Dim, NelderMead, NelderMeadOptions, OptimError, Score, Space, Stop};

mod functions;
use functions::FUNCTIONS;

/// Options that follow the minimum far below the defaults.
fn tight(dims: usize) -> NelderMeadOptions {
    NelderMeadOptions {
        relative_spread: 1e-12,
        ..NelderMeadOptions::new(vec![0.2; dims], vec![1e-6; dims])
    }
}

/// Runs to the end and returns every asked point.
fn run(search: &mut NelderMead, value: impl Fn(&[f64]) -> f64) -> Vec<Vec<f64>> {
    let mut all = Vec::new();
    while let Some(points) = search.ask() {
        let scores: Vec<Score> = points.iter().map(|p| Score::new(value(p))).collect();
        all.extend_from_slice(points);
        search.tell(&scores).unwrap();
    }
    all
}

#[test]
fn minima_are_reached_from_near_and_far() {
    for function in FUNCTIONS {
        let dims = function.bounds.len();
        // Rastrigin has a minimum near every integer: start within the right one.
        let far = if function.name == "rastrigin" {
            0.3
        } else {
            1.5
        };
        for offset in [far, -0.2] {
            let start: Vec<f64> = function.minima[0].iter().map(|x| x + offset).collect();
            let mut search = NelderMead::new(&function.space(), &start, tight(dims)).unwrap();
            // Raised by one, so that a share of the best value means something.
            run(&mut search, |p| 1.0 + (function.value)(p));
            let (point, value) = search.best().unwrap();
            assert_eq!(search.stop(), Some(Stop::Converged), "{}", function.name);
            let distance = |m: &&[f64]| {
                m.iter()
                    .zip(point)
                    .map(|(a, b)| (a - b).abs())
                    .fold(0.0, f64::max)
            };
            let nearest = function
                .minima
                .iter()
                .map(distance)
                .fold(f64::INFINITY, f64::min);
            assert!(
                nearest < 1e-4,
                "{}: {point:?} is {nearest} off",
                function.name
            );
            let minimum = 1.0 + (function.value)(function.minima[0]);
            assert!(value - minimum < 1e-8, "{}: {value}", function.name);
        }
    }
}

#[test]
fn it_stops_only_when_values_and_coordinates_agree() {
    let function = &FUNCTIONS[1];
    let mut options = NelderMeadOptions::new(vec![0.2; 2], vec![0.02; 2]);
    let ends = |options: &NelderMeadOptions| {
        let mut search = NelderMead::new(&function.space(), &[-1.0, 1.0], options.clone()).unwrap();
        run(&mut search, |p| 1.0 + (function.value)(p));
        assert_eq!(search.stop(), Some(Stop::Converged));
        search.evaluations()
    };
    let loose = ends(&options);
    options.tolerances = vec![1e-6; 2];
    let narrow = ends(&options);
    options.tolerances = vec![0.02; 2];
    options.relative_spread = 1e-13;
    let flat = ends(&options);
    assert!(loose < narrow && loose < flat, "{loose}, {narrow}, {flat}");
}

#[test]
fn the_limit_is_kept() {
    for limit in [3, 4, 5, 20, 37, 38, 39, 40, 41, 42] {
        let function = &FUNCTIONS[1];
        let options = NelderMeadOptions {
            max_evaluations: limit,
            ..tight(2)
        };
        let mut search = NelderMead::new(&function.space(), &[-1.0, 1.0], options).unwrap();
        let asked = run(&mut search, function.value).len();
        assert_eq!(search.stop(), Some(Stop::EvaluationLimit));
        assert!(asked <= limit && asked + 2 > limit, "{asked} of {limit}");
        assert_eq!(search.evaluations(), asked);
    }
    // A function that only ever shrinks: everything but the start is worse.
    let options = NelderMeadOptions {
        max_evaluations: 12,
        ..tight(2)
    };
    let mut search = NelderMead::new(&FUNCTIONS[1].space(), &[0.5, 0.5], options).unwrap();
    let asked = run(&mut search, |p| if p == [0.5, 0.5] { 1.0 } else { 2.0 });
    // Simplex 3; reflection, contraction and shrink 4, twice; a last reflection, no contraction.
    assert_eq!(asked.len(), 12);
    assert_eq!(search.best(), Some(([0.5, 0.5].as_slice(), 1.0)));
}

#[test]
fn plain_coordinates_stay_within_their_bounds() {
    let space = Space::new(vec![Dim::new("x", 0.0, 4.0), Dim::new("y", -1.0, 1.0)]).unwrap();
    // The minimum lies outside, beyond a corner.
    let value = |p: &[f64]| 1.0 + (p[0] - 5.0).powi(2) + (p[1] + 3.0).powi(2);
    for start in [[3.95, -0.99], [1.0, 0.5], [4.0, 1.0], [9.0, -7.0]] {
        let mut search = NelderMead::new(&space, &start, tight(2)).unwrap();
        for p in run(&mut search, value) {
            assert!(
                (0.0..=4.0).contains(&p[0]) && (-1.0..=1.0).contains(&p[1]),
                "{p:?}"
            );
        }
        let (point, _) = search.best().unwrap();
        assert!(
            (point[0] - 4.0).abs() < 1e-4 && (point[1] + 1.0).abs() < 1e-4,
            "{point:?}"
        );
    }
}

/// An amplitude and its angle, seen in Cartesian form.
fn astigmatism() -> Space {
    Space::new(vec![
        Dim::new("C12", 0.0, 20.0).with_twin(1, FRAC_PI_2),
        Dim::new("phi12", -FRAC_PI_2, FRAC_PI_2).with_period(PI),
    ])
    .unwrap()
}

#[test]
fn the_simplex_crosses_seam_and_sign_without_tearing() {
    for (c, phi) in [(6.0, 1.55), (6.0, -1.55), (3.0, 0.2)] {
        let cartesian = |p: &[f64]| (p[0] * (2.0 * p[1]).cos(), p[0] * (2.0 * p[1]).sin());
        let target = cartesian(&[c, phi]);
        let value = |p: &[f64]| {
            let (a, b) = cartesian(p);
            1.0 + (a - target.0).powi(2) + (b - target.1).powi(2)
        };
        for start in [[5.0, -phi], [0.3, phi + FRAC_PI_2], [-4.0, phi + 1.3]] {
            let options = NelderMeadOptions {
                relative_spread: 1e-12,
                ..NelderMeadOptions::new(vec![0.2, 0.04], vec![1e-5, 1e-5])
            };
            let mut search = NelderMead::new(&astigmatism(), &start, options).unwrap();
            for p in run(&mut search, value) {
                assert!((0.0..=20.0).contains(&p[0]), "{p:?}");
                assert!((-FRAC_PI_2..=FRAC_PI_2).contains(&p[1]), "{p:?}");
            }
            let (a, b) = cartesian(search.best().unwrap().0);
            let off = (a - target.0).hypot(b - target.1);
            assert!(
                off < 1e-3,
                "({c}, {phi}) from {start:?}: {:?}",
                search.best()
            );
        }
    }
}

#[test]
fn a_seam_costs_nothing() {
    // The same bowl, its minimum on the seam or far from it: the same searches, folded.
    let space =
        |low: f64| Space::new(vec![Dim::new("angle", low, low + 4.0).with_period(4.0)]).unwrap();
    let bowl = |p: &[f64]| 2.0 - (FRAC_PI_2 * (p[0] - 2.0)).cos();
    let counts = [0.0, 2.0].map(|low| {
        let mut search = NelderMead::new(
            &space(low),
            &[2.75],
            NelderMeadOptions::new(vec![0.25], vec![1e-3]),
        );
        let search = search.as_mut().unwrap();
        run(search, bowl);
        assert!(bowl(search.best().unwrap().0) < 1.0 + 1e-5);
        search.evaluations()
    });
    assert_eq!(counts[0], counts[1]);
}

#[test]
fn first_steps_are_the_larger_of_share_and_step_and_stay_inside() {
    let space = Space::new(vec![
        Dim::new("a", 0.0, 40.0),
        Dim::new("b", 0.0, 40.0),
        Dim::new("c", 0.0, 40.0),
        Dim::new("d", 39.9, 40.0),
    ])
    .unwrap();
    let options = NelderMeadOptions::new(vec![0.2; 4], vec![0.02; 4]);
    let start = [20.0, 1.0, 39.9, 39.98];
    let search = NelderMead::new(&space, &start, options).unwrap();
    let points = search.ask().unwrap();
    assert_eq!(points[0], start);
    for (i, x) in [21.0, 1.2, 39.9 - 0.05 * 39.9, 39.9]
        .into_iter()
        .enumerate()
    {
        let mut expected = start;
        expected[i] = x;
        assert_eq!(points[i + 1], expected);
    }
}

#[test]
fn an_ineligible_point_is_never_the_best() {
    let function = &FUNCTIONS[0];
    let mut search = NelderMead::new(&function.space(), &[1.0, 2.0, 2.0], tight(3)).unwrap();
    while let Some(points) = search.ask() {
        let score = |p: &Vec<f64>| Score {
            value: functions::sphere(p),
            eligible: p[0] > 0.5,
        };
        let scores: Vec<Score> = points.iter().map(score).collect();
        search.tell(&scores).unwrap();
    }
    let (point, value) = search.best().unwrap();
    assert!(point[0] > 0.5 && value < 0.26, "{point:?} {value}");
}

#[test]
fn telling_the_same_scores_resumes_the_same_search() {
    let function = &FUNCTIONS[4];
    let begin = || NelderMead::new(&function.space(), &[0.5, 0.5], tight(2)).unwrap();
    let mut whole = begin();
    let all = run(&mut whole, function.value);
    let mut resumed = begin();
    let mut told = 0;
    while told < 30 {
        let points = resumed.ask().unwrap();
        assert_eq!(points, &all[told..told + points.len()]);
        let scores = function.scores(points);
        told += scores.len();
        resumed.tell(&scores).unwrap();
    }
    assert_eq!(run(&mut resumed, function.value), all[told..]);
    assert_eq!(resumed.best(), whole.best());
}

#[test]
fn mistakes_are_named() {
    let space = astigmatism();
    let options = NelderMeadOptions::new(vec![0.2, 0.04], vec![0.02, 1e-3]);
    let new = |start: &[f64], options: &NelderMeadOptions| {
        NelderMead::new(&space, start, options.clone()).unwrap_err()
    };
    assert!(matches!(
        new(&[1.0], &options),
        OptimError::WrongDimension { .. }
    ));
    assert!(matches!(
        new(&[1.0, f64::NAN], &options),
        OptimError::PointNotFinite { .. }
    ));
    for bad in [
        NelderMeadOptions {
            steps: vec![0.0, 0.1],
            ..options.clone()
        },
        NelderMeadOptions {
            tolerances: vec![f64::NAN, 0.1],
            ..options.clone()
        },
        NelderMeadOptions {
            relative_spread: -1.0,
            ..options.clone()
        },
        NelderMeadOptions {
            max_evaluations: 2,
            ..options.clone()
        },
    ] {
        assert!(matches!(
            new(&[1.0, 0.0], &bad),
            OptimError::OptionInvalid { .. }
        ));
    }
    let short = NelderMeadOptions {
        steps: vec![0.2],
        ..options.clone()
    };
    assert!(matches!(
        new(&[1.0, 0.0], &short),
        OptimError::WrongDimension { .. }
    ));
    let mut search = NelderMead::new(&space, &[1.0, 0.0], options).unwrap();
    let count = search.tell(&[Score::new(1.0)]);
    assert_eq!(
        count,
        Err(OptimError::WrongCount {
            expected: 3,
            received: 1
        })
    );
    let nan = search.tell(&[Score::new(1.0), Score::new(f64::NAN), Score::new(1.0)]);
    assert!(matches!(
        nan,
        Err(OptimError::ValueNotFinite { number: 1, .. })
    ));
    assert_eq!(search.evaluations(), 0);
    search
        .tell(&[Score::new(1.0), Score::new(2.0), Score::new(3.0)])
        .unwrap();
    assert_eq!(search.evaluations(), 3);
}
