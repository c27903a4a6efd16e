//! What moves, from where, over which range.

use super::*;

const ALPHA: f64 = 0.03;

fn geometry() -> Geometry {
    ssb_testkit::synthetic::PROBLEMS[0]
        .problem()
        .map(|p| {
            let mut geometry = p.geometry().clone();
            geometry.semiangle_rad = ALPHA;
            geometry
        })
        .unwrap()
}

fn names(space: &SearchSpace) -> Vec<String> {
    space.ranges.iter().map(|r| r.quantity.key()).collect()
}

fn options(search: &[&str], start: &[&str], fix: &[&str]) -> FitOptions {
    FitOptions {
        search: search.iter().map(|s| s.parse().unwrap()).collect(),
        start: start.iter().map(|s| s.parse().unwrap()).collect(),
        fix: fix.iter().map(|s| s.parse().unwrap()).collect(),
        ..FitOptions::default()
    }
}

#[test]
fn defaults_are_those_of_the_interface() {
    let s = SearchSpace::new(&FitOptions::default(), &geometry()).unwrap();
    assert_eq!(names(&s), ["C10_nm", "C12_nm", "phi12_rad"]);
    assert_eq!(s.start, [0.0, 5.0, 0.0]);
    let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
    assert!(near(&s.steps, &[0.2, 0.2, 0.04]));
    assert!(near(&s.tolerances, &[0.02, 0.02, 1e-3]));
    assert!(s.warnings.is_empty());
}

#[test]
fn angles_come_with_their_coefficients_in_order() {
    let s = SearchSpace::new(
        &options(&["C21=0nm:300nm", "C12=0nm:20nm"], &[], &["C30=1um"]),
        &geometry(),
    )
    .unwrap();
    assert_eq!(names(&s), ["C12_nm", "phi12_rad", "C21_nm", "phi21_rad"]);
    // chi at the edge: C21 alpha^3 / 3 against C10 alpha^2 / 2.
    assert!((s.steps[2] - 0.2 * 3.0 / (2.0 * ALPHA)).abs() < 1e-9);
    assert_eq!(
        s.candidate(&s.start).aberrations.get(4).magnitude_a,
        10_000.0
    );
    let s = SearchSpace::new(&options(&["C12"], &[], &["phi12=0.2rad"]), &geometry()).unwrap();
    assert_eq!(names(&s), ["C12_nm"]);
    let s = SearchSpace::new(&options(&[], &[], &["C12=3nm"]), &geometry()).unwrap();
    assert_eq!(names(&s), ["C10_nm"]);
}

#[test]
fn a_zero_start_is_replaced_and_said() {
    for o in [options(&[], &["C12=0nm"], &[]), options(&["C10"], &[], &[])] {
        let s = SearchSpace::new(&o, &geometry()).unwrap();
        assert!(!s.candidate(&s.start).aberrations.is_zero());
        assert!(s.warnings.iter().any(|w| w.contains("degenerate")));
    }
}

#[test]
fn terms_left_at_zero_without_a_word_are_said() {
    let said = |search: &[&str], start: &[&str], fix: &[&str]| {
        let s = SearchSpace::new(&options(search, start, fix), &geometry()).unwrap();
        s.warnings
            .iter()
            .filter(|w| w.contains("is not searched"))
            .count()
    };
    assert_eq!(said(&[], &[], &[]), 0);
    assert_eq!(said(&["C12=0nm:20nm"], &[], &[]), 1);
    assert_eq!(said(&["C30=0nm:2000nm"], &["C12=1nm"], &[]), 1);
    assert_eq!(said(&["C12=0nm:20nm"], &[], &["C10=0nm"]), 0);
}

#[test]
fn contradictions_are_refused() {
    for o in [
        options(&["C10"], &[], &["C10=3nm"]),
        options(&["C10", "C10=0nm:3nm"], &[], &[]),
        options(&["C10"], &["C10=41nm"], &[]),
        options(&["rotation=0deg:361deg"], &[], &[]),
        options(&["phi12=0rad:4rad"], &[], &[]),
        options(&[], &[], &["C10=1nm", "C12=0nm"]),
        options(&[], &["C10=1nm"], &["C10=2nm"]),
    ] {
        assert!(SearchSpace::new(&o, &geometry()).is_err(), "{o:?}");
    }
}

#[test]
fn twins_fold_to_one_candidate() {
    let s = SearchSpace::new(&FitOptions::default(), &geometry()).unwrap();
    let (a, b) = (
        s.candidate(&[1.0, -6.0, -1.0]),
        s.candidate(&[1.0, 6.0, std::f64::consts::FRAC_PI_2 - 1.0]),
    );
    assert_eq!(a, b);
    let wide = SearchSpace::new(&options(&["C12=-9nm:9nm"], &[], &[]), &geometry()).unwrap();
    let folded = wide.candidate(&[-6.0, -1.0]).aberrations.get(1);
    assert!((folded.magnitude_a - 60.0).abs() < 1e-12);
    assert!((folded.angle_rad - (std::f64::consts::FRAC_PI_2 - 1.0)).abs() < 1e-12);
    assert!(s.on_a_bound(&[40.0, 0.0, 1.5])[0].contains("C10"));
    assert!(s.on_a_bound(&[0.0, 0.0, 1.57]).is_empty());
}
