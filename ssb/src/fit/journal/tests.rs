//! What a journal knows is not evaluated again; what is damaged is told apart.

use ssb_core::ndarray::Array2;
use ssb_core::num_complex::{Complex32, Complex64};
use ssb_core::{
    AgreementBand, BandPoint, Candidate, Control, Error as CoreError, Evaluator, EvaluatorInfo,
    MeanPhase, Plan,
};

use super::*;

/// Scores that depend on every bit of a candidate, and how many were asked.
struct Counting {
    info: EvaluatorInfo,
    asked: usize,
}

impl Counting {
    fn new() -> Self {
        let info = EvaluatorInfo {
            backend: "counting",
            device: "none".into(),
            software_adapter: false,
            precision: "float64",
            threads: 1,
            bf_pixels: 1,
            bf_active: 1,
            dc: 1.0,
            band: AgreementBand {
                lo_per_a: 0.1,
                hi_per_a: 0.7,
            },
            plan: Plan {
                topology: "none",
                bf_block: 1,
                blocks: 1,
                host_bytes: 0,
                device_bytes: 0,
                loss_bytes: 0,
                object_bytes: 0,
            },
        };
        Self { info, asked: 0 }
    }
}

fn score(candidate: &Candidate) -> f64 {
    let value = candidate.aberrations.get(0);
    (value.magnitude_a.sin() + candidate.rotation_deg.unwrap_or(0.3)) / 3.0
}

impl Evaluator for Counting {
    fn info(&self) -> &EvaluatorInfo {
        &self.info
    }

    fn evaluate(&mut self, c: &[Candidate], _: &Control) -> Result<Vec<Evaluation>, CoreError> {
        self.asked += c.len();
        let of = |c: &Candidate| Evaluation {
            loss: score(c),
            degenerate_fraction: 0.1 / 3.0,
        };
        Ok(c.iter().map(of).collect())
    }

    fn mean_phase(&mut self, _: &Candidate, _: &Control) -> Result<MeanPhase, CoreError> {
        Err(CoreError::Internal("passed through".into()))
    }

    fn object(
        &mut self,
        _: &Candidate,
        _: usize,
        _: &Control,
    ) -> Result<Array2<Complex64>, CoreError> {
        Err(CoreError::Internal("passed through".into()))
    }

    fn spectra(&mut self, _: &[BandPoint], _: &Control) -> Result<Array2<Complex32>, CoreError> {
        Err(CoreError::Internal("passed through".into()))
    }

    fn agreements(&mut self, c: &[Candidate], _: &Control) -> Result<Vec<f64>, CoreError> {
        self.asked += c.len();
        Ok(c.iter().map(|c| 7.0 * score(c)).collect())
    }
}

fn candidate(c10_a: f64) -> Candidate {
    let mut c = Candidate::default();
    c.aberrations.get_mut(0).magnitude_a = c10_a;
    c
}

fn identity(trials: usize) -> Value {
    serde_json::json!({"request": {"trials": trials, "seed": 42}, "device": "none"})
}

/// A journal of three calls of two candidates each, and what they answered.
fn written(path: &Path) -> (Vec<Evaluation>, Vec<f64>) {
    let mut journal = Journal::create(path, &identity(9)).unwrap();
    assert!(!path.exists(), "nothing before the first evaluation");
    let mut inner = Counting::new();
    let mut evaluator = JournaledEvaluator::new(&mut inner, &mut journal);
    let control = Control::default();
    let mut losses = evaluator
        .evaluate(&[candidate(0.1), candidate(0.2)], &control)
        .unwrap();
    losses.extend(
        evaluator
            .evaluate(&[candidate(-0.0), candidate(0.0)], &control)
            .unwrap(),
    );
    let agreements = evaluator
        .agreements(&[candidate(0.1), candidate(0.1)], &control)
        .unwrap();
    assert_eq!(inner.asked, 5, "an equal candidate is asked once");
    (losses, agreements)
}

#[test]
fn what_is_recorded_is_answered_to_the_bit_and_not_evaluated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.h5.journal");
    let (losses, agreements) = written(&path);
    let (mut journal, word) = Journal::resume(&path, &identity(9)).unwrap();
    assert_eq!((journal.recorded(), word), (5, None));
    let mut inner = Counting::new();
    let mut evaluator = JournaledEvaluator::new(&mut inner, &mut journal);
    let control = Control::default();
    let again = [0.1, 0.2, -0.0, 0.0].map(candidate);
    assert_eq!(evaluator.evaluate(&again, &control).unwrap(), losses);
    assert_eq!(
        evaluator.agreements(&again[..1], &control).unwrap()[0],
        agreements[0]
    );
    assert!(evaluator.mean_phase(&again[0], &control).is_err());
    // A rotation is another candidate, and so is another objective.
    let turned = Candidate {
        rotation_deg: Some(0.0),
        ..candidate(0.1)
    };
    evaluator.evaluate(&[turned], &control).unwrap();
    evaluator.agreements(&again[1..2], &control).unwrap();
    assert_eq!(inner.asked, 2);
    control.cancel();
    let mut evaluator = JournaledEvaluator::new(&mut inner, &mut journal);
    assert!(matches!(
        evaluator.evaluate(&again, &control),
        Err(CoreError::Cancelled)
    ));
    journal.remove().unwrap();
    assert!(!path.exists());
}

#[test]
fn a_torn_end_is_dropped_and_said_wherever_it_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.h5.journal");
    written(&path);
    let whole = std::fs::read(&path).unwrap();
    let ends: Vec<usize> = (1..=whole.len())
        .filter(|i| whole[i - 1] == b'\n')
        .collect();
    assert_eq!(ends.len(), 4);
    let mut cuts: Vec<usize> = (ends[0]..whole.len()).step_by(7).collect();
    cuts.extend(&ends);
    for cut in cuts {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let (journal, word) = Journal::resume(&path, &identity(9)).unwrap();
        let kept = ends.iter().filter(|e| **e <= cut).count();
        assert_eq!(journal.recorded(), [0, 2, 4, 5][kept - 1], "cut at {cut}");
        assert_eq!(word.is_some(), !ends.contains(&cut), "cut at {cut}");
        assert_eq!(
            std::fs::metadata(&path).unwrap().len(),
            ends[kept - 1] as u64
        );
    }
}

#[test]
fn damage_before_the_end_is_an_error_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.h5.journal");
    written(&path);
    let whole = std::fs::read(&path).unwrap();
    let ends: Vec<usize> = (1..=whole.len())
        .filter(|i| whole[i - 1] == b'\n')
        .collect();
    for (line, at) in [(1, 20), (2, ends[0] + 30), (3, ends[1] + 2)] {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        std::fs::write(&path, &damaged).unwrap();
        let error = Journal::resume(&path, &identity(9)).unwrap_err();
        let place = format!(
            "line {line}, byte {}",
            if line == 1 { 0 } else { ends[line - 2] }
        );
        assert_eq!((error.kind(), error.object()), ("journal", Some(place)));
        assert!(error.to_string().contains("--force"), "{error}");
    }
}

#[test]
fn another_request_is_refused_with_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.h5.journal");
    written(&path);
    let error = Journal::resume(&path, &identity(10))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("request.trials is 9 there and 10 now"),
        "{error}"
    );
    assert!(
        !error.contains("seed") && !error.contains("device"),
        "{error}"
    );
}

#[test]
fn what_its_own_fit_left_over_is_removed_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.h5.journal");
    written(&path);
    let part = |trials: usize| serde_json::json!({"request": {"trials": trials, "seed": 42}});
    assert!(!Journal::remove_finished(&path, &part(10)).unwrap());
    assert!(path.exists());
    assert!(Journal::remove_finished(&path, &part(9)).unwrap());
    assert!(!path.exists());
    std::fs::write(&path, "my notes\n").unwrap();
    assert!(!Journal::remove_finished(&path, &part(9)).unwrap());
    assert!(path.exists());
}

#[test]
fn one_process_holds_it_and_foreign_files_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.h5.journal");
    written(&path);
    let held = Journal::resume(&path, &identity(9)).unwrap();
    for again in [
        Journal::resume(&path, &identity(9)).map(|_| ()),
        Journal::create(&path, &identity(9)).map(|_| ()),
    ] {
        let error = again.unwrap_err().to_string();
        assert!(error.contains("another fit is writing it"), "{error}");
    }
    drop(held);
    std::fs::write(&path, "my notes\n").unwrap();
    assert!(Journal::create(&path, &identity(9)).is_err());
    assert!(Journal::resume(&path, &identity(9)).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"my notes\n");
}
