//! The suite passes the reference itself and catches every wrong evaluator.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::cell::Cell;

use ssb_core::ndarray::Array2;
use ssb_core::num_complex::{Complex32, Complex64};
use ssb_core::{
    BandPoint, Candidate, Control, Error, Evaluation, Evaluator, EvaluatorInfo, MeanPhase,
    PrepareOptions, Problem, Result,
};
use ssb_cpu_oracle::ORACLE;
use ssb_testkit::conformance::{self, Summary};
use ssb_testkit::synthetic::{PROBLEMS, Synthetic};

fn oracle(problem: Problem, options: &PrepareOptions) -> Result<Box<dyn Evaluator>> {
    (ORACLE.prepare)(problem, options, &Control::default())
}

#[test]
fn the_reference_passes() {
    for recipe in &PROBLEMS[..5] {
        let one = std::slice::from_ref(recipe);
        let summary = conformance::run(&oracle, one, &Control::default(), &mut |outcome| {
            println!("{outcome}");
        })
        .unwrap();
        assert!(summary.passed(), "{:#?}", summary.failed);
    }
}

#[test]
fn a_cancelled_suite_is_an_error() {
    let control = Control::default();
    control.cancel();
    assert!(conformance::run(&oracle, PROBLEMS, &control, &mut |_| {}).is_err());
}

/// What is wrong with an evaluator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    LossOff,
    LossNan,
    LossMissing,
    FractionOff,
    DarkPixelsLeftOut,
    DcOff,
    PhaseOff,
    OnePixelOff,
    ObjectOff,
    NyquistNotSplit,
    NativeSamplesOff,
    AgreementOff,
    SpectraOff,
    BatchMatters,
    BlockMatters,
    ThreadsMatter,
    BudgetMatters,
    NotRepeatable,
    TiltWithoutDepth,
    DepthIgnored,
    RotationIgnored,
    OwnRotationDoubled,
    OddTermsTurned,
    CancelIgnored,
    AnyUpsampling,
    BudgetIgnored,
    Fails,
    Unsuitable,
}

/// The reference with one fault.
struct Wrong {
    inner: Box<dyn Evaluator>,
    info: EvaluatorInfo,
    fault: Fault,
    factor: f64,
    own_deg: f64,
    calls: Cell<u32>,
}

fn wrong(fault: Fault, problem: Problem, options: &PrepareOptions) -> Result<Box<dyn Evaluator>> {
    if fault == Fault::Unsuitable {
        return Err(Error::Unsuitable {
            backend: "wrong".into(),
            reason: "it takes nothing".into(),
        });
    }
    let own_deg = problem.geometry().rotation_deg;
    let mut options = options.clone();
    if fault == Fault::BudgetIgnored {
        options.max_memory_bytes = None;
    }
    let matters = match fault {
        Fault::BlockMatters => options.bf_block == Some(7),
        Fault::ThreadsMatter => options.threads == Some(3),
        Fault::BudgetMatters => options.max_memory_bytes.is_some(),
        _ => false,
    };
    let inner = oracle(problem, &options)?;
    let mut info = inner.info().clone();
    let mut factor = if matters { 1.0 + 2e-7 } else { 1.0 };
    match fault {
        Fault::DarkPixelsLeftOut => {
            factor = info.bf_pixels as f64 / info.bf_active as f64;
            info.bf_pixels = info.bf_active;
        }
        Fault::DcOff => info.dc *= 1.0 + 1e-9,
        _ => {}
    }
    Ok(Box::new(Wrong {
        inner,
        info,
        fault,
        factor,
        own_deg,
        calls: Cell::new(0),
    }))
}

impl Wrong {
    fn candidate(&self, candidate: &Candidate) -> Candidate {
        let mut candidate = candidate.clone();
        match self.fault {
            Fault::DepthIgnored => candidate.depth_spread_nm = 0.0,
            Fault::RotationIgnored => candidate.rotation_deg = None,
            Fault::OwnRotationDoubled if candidate.rotation_deg == Some(self.own_deg) => {
                candidate.rotation_deg = Some(2.0 * self.own_deg);
            }
            // As with P(q-k) in place of P(k-q).
            Fault::OddTermsTurned => {
                candidate.aberrations.get_mut(2).angle_rad += std::f64::consts::PI;
            }
            _ => {}
        }
        candidate
    }

    fn control(&self, control: &Control) -> Control {
        if self.fault == Fault::CancelIgnored {
            Control::default()
        } else {
            control.clone()
        }
    }

    fn evaluation(&self, candidate: &Candidate, found: Evaluation) -> Evaluation {
        let mut found = found;
        self.calls.set(self.calls.get() + 1);
        match self.fault {
            Fault::LossOff => found.loss *= 1.0 + 1.1e-6,
            Fault::LossNan => found.loss = f64::NAN,
            Fault::FractionOff => found.degenerate_fraction += 1e-9,
            Fault::NotRepeatable if self.calls.get().is_multiple_of(7) => {
                found.loss = found.loss.next_up();
            }
            Fault::TiltWithoutDepth
                if candidate.tilt_mrad != [0.0; 2] && candidate.depth_spread_nm == 0.0 =>
            {
                found.loss = found.loss.next_up();
            }
            _ => found.loss *= self.factor,
        }
        found
    }
}

impl Evaluator for Wrong {
    fn info(&self) -> &EvaluatorInfo {
        &self.info
    }

    fn evaluate(&mut self, candidates: &[Candidate], control: &Control) -> Result<Vec<Evaluation>> {
        if self.fault == Fault::Fails {
            return Err(Error::Internal("out of order".into()));
        }
        let asked: Vec<Candidate> = candidates.iter().map(|c| self.candidate(c)).collect();
        let found = self.inner.evaluate(&asked, &self.control(control))?;
        let kept = if self.fault == Fault::LossMissing {
            1
        } else {
            0
        };
        Ok(found
            .into_iter()
            .zip(candidates)
            .enumerate()
            .map(|(i, (found, candidate))| {
                let mut found = self.evaluation(candidate, found);
                if self.fault == Fault::BatchMatters && i > 0 {
                    found.loss *= 1.0 + 2e-7;
                }
                found
            })
            .skip(kept)
            .collect())
    }

    fn mean_phase(&mut self, candidate: &Candidate, control: &Control) -> Result<MeanPhase> {
        let asked = self.candidate(candidate);
        let mut found = self.inner.mean_phase(&asked, &self.control(control))?;
        found.evaluation = self.evaluation(candidate, found.evaluation);
        match self.fault {
            Fault::PhaseOff => found.phase_rad += 3e-6,
            Fault::OnePixelOff => found.phase_rad[(1, 2)] += 2e-4,
            _ => {}
        }
        Ok(found)
    }

    fn object(
        &mut self,
        candidate: &Candidate,
        upsample: usize,
        control: &Control,
    ) -> Result<Array2<Complex64>> {
        let asked = self.candidate(candidate);
        let allowed = match self.fault {
            Fault::AnyUpsampling => upsample.clamp(1, 4),
            _ => upsample,
        };
        let mut found = self.inner.object(&asked, allowed, &self.control(control))?;
        match self.fault {
            Fault::ObjectOff => found *= Complex64::from(1.0 + 2e-6),
            // Wrong between the native samples only.
            Fault::NyquistNotSplit if upsample == 2 => found[(1, 1)] *= 1.0 + 1e-3,
            Fault::NativeSamplesOff if upsample == 3 => found[(3, 3)] *= 1.0 + 1e-3,
            _ => {}
        }
        Ok(found)
    }

    fn agreements(&mut self, candidates: &[Candidate], control: &Control) -> Result<Vec<f64>> {
        let asked: Vec<Candidate> = candidates.iter().map(|c| self.candidate(c)).collect();
        let mut found = self.inner.agreements(&asked, &self.control(control))?;
        if self.fault == Fault::AgreementOff {
            found.iter_mut().for_each(|s| *s *= 1.0 + 2e-5);
        }
        Ok(found)
    }

    fn spectra(&mut self, points: &[BandPoint], control: &Control) -> Result<Array2<Complex32>> {
        let mut found = self.inner.spectra(points, &self.control(control))?;
        if self.fault == Fault::SpectraOff {
            found *= Complex32::from(1.0 + 2e-6);
        }
        Ok(found)
    }
}

fn summary_of(fault: Fault) -> Summary {
    let tiny = Synthetic {
        name: "tiny",
        scan_shape: [8, 9],
        det_step_mrad: [9.1, 9.4],
        radius_px: 3.3,
        rotation_deg: 33.0,
        ..PROBLEMS[2].clone()
    };
    let prepare = |problem: Problem, options: &PrepareOptions| wrong(fault, problem, options);
    conformance::run(&prepare, &[tiny], &Control::default(), &mut |_| {}).unwrap()
}

#[test]
fn every_fault_is_caught_by_the_check_made_for_it() {
    assert_eq!(summary_of(Fault::None).failed, []);
    for (fault, check) in [
        (Fault::LossOff, "loss"),
        (Fault::LossNan, "loss"),
        (Fault::LossMissing, "loss"),
        (Fault::FractionOff, "degenerate fraction"),
        (Fault::DarkPixelsLeftOut, "loss"),
        (Fault::DarkPixelsLeftOut, "info: BF pixels, active ones"),
        (Fault::DcOff, "info: DC value"),
        (Fault::PhaseOff, "mean phase, 99.9 % of pixels (rad)"),
        (Fault::OnePixelOff, "mean phase, worst pixel (rad)"),
        (Fault::ObjectOff, "object"),
        (Fault::NyquistNotSplit, "object x2"),
        (Fault::NativeSamplesOff, "every 3rd sample of the object"),
        (Fault::AgreementOff, "agreement"),
        (Fault::SpectraOff, "spectra of single BF pixels"),
        (Fault::BatchMatters, "loss alone and in any batch"),
        (Fault::BlockMatters, "loss with any BF block"),
        (Fault::ThreadsMatter, "loss with 1 and 3 threads"),
        (Fault::BudgetMatters, "loss within its own plan's memory"),
        (Fault::NotRepeatable, "two runs: differing values"),
        (
            Fault::TiltWithoutDepth,
            "tilt without depth: differing values",
        ),
        (Fault::DepthIgnored, "mean phase, worst pixel (rad)"),
        (Fault::RotationIgnored, "object"),
        (Fault::OwnRotationDoubled, "loss with the rotation repeated"),
        (Fault::OddTermsTurned, "loss"),
        (Fault::CancelIgnored, "cancelled work stops"),
        (Fault::AnyUpsampling, "upsampling 0, 5 and 16 are refused"),
        (Fault::BudgetIgnored, "a budget of one byte is refused"),
        (Fault::Fails, "loss"),
        (Fault::Unsuitable, "refused as unsuitable"),
    ] {
        let summary = summary_of(fault);
        let names: Vec<&str> = summary.failed.iter().map(|o| o.check.as_str()).collect();
        assert!(names.contains(&check), "{fault:?}: failed are {names:?}");
        assert!(!summary.passed());
    }
}
