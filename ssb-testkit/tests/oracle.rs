//! The oracle's refusals and progress, on synthetic problems.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ssb_core::{
    Aberrations, Angle, Backend, BackendEntry, Candidate, Control, Error, Length, PrepareOptions,
    Registry,
};
use ssb_cpu_oracle::ORACLE;
use ssb_testkit::synthetic::PROBLEMS;

#[test]
fn a_loss_that_is_not_a_number_is_an_internal_fault() {
    let control = Control::default();
    let problem = PROBLEMS[2].problem().unwrap();
    let mut oracle = (ORACLE.prepare)(problem, &PrepareOptions::default(), &control).unwrap();
    let aberrations = Aberrations::default().with(0, Length::from_a(f64::NAN), Angle::default());
    let error = oracle
        .evaluate(&[Candidate::thin(aberrations)], &control)
        .unwrap_err();
    assert!(matches!(error, Error::Internal(_)), "{error}");
}

#[test]
fn progress_runs_over_the_bf_pixels_and_a_cancel_stops_it() {
    let seen = Arc::new(AtomicU64::new(0));
    let control = {
        let seen = Arc::clone(&seen);
        Control::watched(move |p| {
            assert_eq!(p.task, "phase variance");
            assert!(p.done <= p.total);
            seen.fetch_add(1, Ordering::Relaxed);
        })
    };
    let problem = PROBLEMS[2].problem().unwrap();
    let pixels = problem.geometry().bf_pixels() as u64;
    let options = PrepareOptions::default();
    let mut oracle = (ORACLE.prepare)(problem.clone(), &options, &control).unwrap();
    oracle.evaluate(&[Candidate::default()], &control).unwrap();
    assert_eq!(seen.load(Ordering::Relaxed), pixels + 1);

    // Cancelled while the fifth pixel is begun: the sixth never is.
    let cell: Arc<std::sync::OnceLock<Control>> = Arc::default();
    let own = {
        let (cell, count) = (Arc::clone(&cell), AtomicU64::new(0));
        Control::watched(move |_| {
            if count.fetch_add(1, Ordering::Relaxed) == 4 {
                cell.get().unwrap().cancel();
            }
        })
    };
    cell.set(own.clone()).unwrap();
    let outcome = oracle.mean_phase(&Candidate::default(), &own);
    assert!(matches!(outcome, Err(Error::Cancelled)));
}

#[test]
fn it_is_one_device_taken_by_name_only() {
    static ENTRIES: [BackendEntry; 1] = [ORACLE];
    let registry = Registry { entries: &ENTRIES };
    assert!(registry.select(&Backend::auto(), None).is_err());
    assert!(registry.select(&"oracle".into(), Some(1)).is_err());
    let chosen = registry.select(&"oracle".into(), None).unwrap();
    assert_eq!(chosen.device.index, 0);
    let options = PrepareOptions {
        device: Some(1),
        ..PrepareOptions::default()
    };
    let problem = PROBLEMS[2].problem().unwrap();
    let refused = (ORACLE.prepare)(problem, &options, &Control::default());
    assert!(matches!(refused, Err(Error::BackendUnavailable { .. })));
}
