//! The oracle against the independent NumPy reference.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use ssb_core::ndarray::Array2;
use ssb_core::num_complex::Complex64;
use ssb_core::{BfOptions, Control, Evaluator, PrepareOptions, select_bf};
use ssb_cpu_oracle::Oracle;
use ssb_testkit::refdata::{self, RefData};

fn relative(a: f64, b: f64) -> f64 {
    (a - b).abs() / b.abs()
}

/// Largest difference over the largest value.
fn apart<'a>(
    a: impl IntoIterator<Item = &'a Complex64>,
    b: impl IntoIterator<Item = &'a Complex64>,
) -> f64 {
    let (mut worst, mut scale) = (0.0_f64, 0.0_f64);
    for (a, b) in a.into_iter().zip(b) {
        worst = worst.max((a - b).norm());
        scale = scale.max(b.norm());
    }
    worst / scale
}

fn apart_rad(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    assert_eq!(a.dim(), b.dim());
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max)
}

fn oracle(data: &RefData, disk: &str) -> Oracle {
    Oracle::new(data.problem(disk).unwrap(), &PrepareOptions::default()).unwrap()
}

/// Scalars of every case and every array that is kept.
fn check(name: &str) {
    let data = refdata::load(name).unwrap();
    let control = Control::default();
    assert!(relative(oracle(&data, "fitted").info().dc, data.dc) < 1e-14);
    for case in &data.cases {
        let oracle = oracle(&data, &case.disk);
        let found = oracle.answers(&case.candidate, &control).unwrap();
        let evaluation = found.mean_phase.evaluation;
        let see = |what: &str, apart: f64, bound: f64| {
            println!("{name} {} {what}: {apart:.1e}", case.label);
            assert!(apart < bound, "{name} {} {what}: {apart:e}", case.label);
        };
        see("loss", relative(evaluation.loss, case.loss), 1e-9);
        if let Some(fraction) = case.degenerate_fraction {
            let apart = (evaluation.degenerate_fraction - fraction).abs();
            see("degenerate fraction", apart, 1e-12);
        }
        if let Some(agreement) = case.agreement {
            let apart = relative(found.agreement.unwrap(), agreement);
            see("agreement", apart, 1e-9);
        }
        if let Some(count) = case.zero_aperture_pixels {
            let info = oracle.info();
            assert_eq!(info.bf_pixels - info.bf_active, count);
        }
        // With C12 alone and equal scan steps Gamma is 0 on the diagonals of q. There the rounding of
        // chi, some 1e-14 rad, is divided by the floor of 1e-8: both sides carry float64 noise of 1e-6
        // of G at these points.
        let bound = if case.label == "c12_only" { 1e-8 } else { 1e-9 };
        if let Some(expected) = data.mean_phase_rad(&case.label) {
            let apart = apart_rad(&found.mean_phase.phase_rad, expected);
            see("mean phase", apart, bound);
        }
        for (upsample, bound) in [(1, bound), (2, 1e-6), (3, 1e-6)] {
            if let Some(expected) = data.object(&case.label, upsample) {
                let object = found.spectrum.object(upsample);
                assert_eq!(object.dim(), expected.dim());
                let apart = apart(&object, expected);
                see(&format!("object x{upsample}"), apart, bound);
            }
        }
    }
    let stages =
        oracle(&data, "fitted").stages(&data.case("true").unwrap().candidate, data.debug_bf_index);
    for (what, found) in [
        ("G", &stages.g),
        ("gamma", &stages.gamma),
        ("C", &stages.corrected),
        ("O", &stages.image),
    ] {
        let apart = apart(found, data.debug(what).unwrap());
        println!("{name} debug {what}: {apart:.1e}");
        assert!(apart < 1e-9, "{what} {apart:e}");
    }
}

#[test]
fn wpo64() {
    check("wpo64");
}

#[test]
fn rect() {
    check("rect");
}

#[test]
fn sto128() {
    check("sto128");
}

#[test]
fn the_kept_arrays_are_those_promised() {
    let (wpo64, rect) = (
        refdata::load("wpo64").unwrap(),
        refdata::load("rect").unwrap(),
    );
    for data in [&wpo64, &rect] {
        for label in ["true", "high_order", "c12_only", "odd", "thick"] {
            assert!(data.mean_phase_rad(label).is_some() && data.object(label, 1).is_some());
        }
    }
    for u in [2, 3] {
        assert!(wpo64.object("odd", u).is_some() && rect.object("thick", u).is_some());
    }
    assert!(refdata::load("nothing").is_err());
    assert!(refdata::load("sto128").unwrap().problem("wide").is_err());
}

#[test]
fn the_disks_are_those_that_the_core_selects() {
    for name in refdata::NAMES {
        let data = refdata::load(name).unwrap();
        let fitted = data.disk("fitted").unwrap();
        let found = select_bf(data.pattern_sum.view(), None, &BfOptions::default()).unwrap();
        assert_eq!(found.pixels, fitted.pixels, "{name}");
        assert!((found.center_px[0] - fitted.center_px[0]).abs() < 1e-12);
        assert!((found.center_px[1] - fitted.center_px[1]).abs() < 1e-12);
        assert!(relative(found.radius_px, fitted.radius_px) < 1e-12);
        let Ok(wide) = data.disk("wide") else {
            continue;
        };
        let options = BfOptions {
            radius_px: Some(wide.radius_px),
            ..BfOptions::default()
        };
        let found = select_bf(data.pattern_sum.view(), None, &options).unwrap();
        assert_eq!(found.pixels, wide.pixels, "{name}");
        assert!((found.center_px[0] - wide.center_px[0]).abs() < 1e-11);
        assert!((found.center_px[1] - wide.center_px[1]).abs() < 1e-11);
    }
}
