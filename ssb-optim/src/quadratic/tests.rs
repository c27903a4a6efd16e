//! Bowls, a curved valley, limits.

use super::*;

fn search(
    start: &[f64],
    step: f64,
    most: usize,
    f: impl Fn(&[f64]) -> f64,
) -> (Vec<f64>, f64, usize) {
    let n = start.len();
    let options = QuadraticOptions {
        steps: vec![step; n],
        tolerances: vec![1e-4; n],
        value_tolerance: 1e-10,
        max_evaluations: most,
    };
    let mut search = QuadraticDescent::new(start.to_vec(), options).unwrap();
    while let Some(points) = search.ask() {
        let scores: Vec<Score> = points.iter().map(|p| Score::new(f(p))).collect();
        search.tell(&scores).unwrap();
    }
    let (point, value) = search.best().unwrap();
    (point.to_vec(), value, search.evaluations())
}

#[test]
fn a_quadratic_takes_one_model() {
    let f = |p: &[f64]| {
        1.0 + p[0] * p[0] + 2.0 * p[1] * p[1] + 0.5 * p[0] * p[1] + (p[2] - 0.3).powi(2)
    };
    let (point, value, evaluations) = search(&[0.8, -0.6, 0.1], 0.5, 100, f);
    assert!((value - 1.0).abs() < 1e-9, "{point:?} {value}");
    assert!(evaluations <= 20, "{evaluations}");
}

#[test]
fn a_curved_valley_is_followed_downhill() {
    let f = |p: &[f64]| 1.0 + (1.0 - p[0]).powi(2) + 10.0 * (p[1] - p[0] * p[0]).powi(2);
    let (point, value, _) = search(&[-0.5, 0.8], 0.3, 400, f);
    assert!(value < 1.001, "{point:?} {value}");
}

#[test]
fn the_limit_of_evaluations_holds_and_the_best_is_kept() {
    let f = |p: &[f64]| 2.0 + p.iter().map(|x| (x - 3.0).abs().sqrt()).sum::<f64>();
    let (_, value, evaluations) = search(&[0.0, 0.0, 0.0], 0.4, 25, f);
    assert!(evaluations <= 25);
    assert!(value < f(&[0.0, 0.0, 0.0]));
}

#[test]
fn curvature_comes_in_the_units_of_the_coordinates() {
    let options = QuadraticOptions {
        steps: vec![0.1, 0.02],
        tolerances: vec![1e-5; 2],
        value_tolerance: 1e-12,
        max_evaluations: 60,
    };
    let f = |p: &[f64]| 1.0 + 3.0 * p[0] * p[0] + 50.0 * p[1] * p[1] + 2.0 * p[0] * p[1];
    let mut search = QuadraticDescent::new(vec![0.05, 0.05], options).unwrap();
    while let Some(points) = search.ask() {
        let scores: Vec<Score> = points.iter().map(|p| Score::new(f(p))).collect();
        search.tell(&scores).unwrap();
    }
    for (found, exact) in search.hessian().into_iter().zip([6.0, 2.0, 2.0, 100.0]) {
        assert!((found - exact).abs() < 1e-3 * exact, "{found} {exact}");
    }
}

#[test]
fn wrong_requests_are_refused() {
    let options = |steps: Vec<f64>| QuadraticOptions {
        tolerances: vec![1e-3; steps.len()],
        steps,
        value_tolerance: 1e-6,
        max_evaluations: 10,
    };
    assert!(QuadraticDescent::new(vec![], options(vec![])).is_err());
    assert!(QuadraticDescent::new(vec![1.0], options(vec![0.1, 0.1])).is_err());
    assert!(QuadraticDescent::new(vec![1.0], options(vec![0.0])).is_err());
    let mut search = QuadraticDescent::new(vec![1.0], options(vec![0.1])).unwrap();
    assert!(search.tell(&[Score::new(1.0)]).is_err());
}
