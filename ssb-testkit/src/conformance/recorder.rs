//! Outcomes of checks, one line each.

use std::fmt;

use serde::Serialize;

/// One check on one problem.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckOutcome {
    /// The problem's name.
    pub problem: String,
    /// The check's name.
    pub check: String,
    /// The largest value measured over the candidates; NaN when the backend failed.
    pub measured: f64,
    /// The largest value allowed.
    pub bound: f64,
    /// Whether `measured <= bound`.
    pub passed: bool,
    /// The candidate with the largest value, or the backend's error.
    pub at: String,
}

impl fmt::Display for CheckOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.passed { "pass" } else { "FAIL" };
        write!(
            f,
            "{word} {:<8} {:<34} {:9.2e} <= {:7.1e}  {}",
            self.problem, self.check, self.measured, self.bound, self.at
        )
    }
}

/// All outcomes of a run in brief.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// Number of checks made.
    pub checks: usize,
    /// Those that failed.
    pub failed: Vec<CheckOutcome>,
}

impl Summary {
    /// Whether checks were made and none failed.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.checks > 0 && self.failed.is_empty()
    }
}

/// Collects what one problem's checks measure.
pub(crate) struct Recorder<'a> {
    problem: &'static str,
    report: &'a mut dyn FnMut(&CheckOutcome),
    summary: &'a mut Summary,
}

/// The values of one check over the candidates.
pub(crate) struct Measurements {
    check: &'static str,
    bound: f64,
    worst: Option<(f64, String)>,
    fault: Option<String>,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(
        problem: &'static str,
        report: &'a mut dyn FnMut(&CheckOutcome),
        summary: &'a mut Summary,
    ) -> Self {
        Self {
            problem,
            report,
            summary,
        }
    }

    /// Reports that the backend refuses the whole problem, which is allowed or a failure.
    pub(crate) fn refused(&mut self, allowed: bool, reason: String) {
        let mut refusal = Measurements::of("refused as unsuitable", 0.0);
        if allowed {
            refusal.add(0.0, &reason);
        } else {
            refusal.fail(reason);
        }
        self.finish(refusal);
    }

    /// Reports a finished check; one without any measurement has failed.
    pub(crate) fn finish(&mut self, measurements: Measurements) {
        let Measurements {
            check,
            bound,
            worst,
            fault,
        } = measurements;
        let (measured, at) = match (fault, worst) {
            (Some(fault), _) => (f64::NAN, fault),
            (None, Some((measured, at))) => (measured, at),
            (None, None) => (f64::NAN, "nothing was measured".into()),
        };
        let outcome = CheckOutcome {
            problem: self.problem.into(),
            check: check.into(),
            measured,
            bound,
            passed: measured <= bound,
            at,
        };
        (self.report)(&outcome);
        self.summary.checks += 1;
        if !outcome.passed {
            self.summary.failed.push(outcome);
        }
    }
}

impl Measurements {
    pub(crate) fn of(check: &'static str, bound: f64) -> Self {
        Self {
            check,
            bound,
            worst: None,
            fault: None,
        }
    }

    /// Adds a value measured at a candidate; NaN is worse than anything.
    pub(crate) fn add(&mut self, measured: f64, at: &str) {
        let worse = self
            .worst
            .as_ref()
            .is_none_or(|(worst, _)| measured > *worst || measured.is_nan());
        if worse {
            self.worst = Some((measured, at.into()));
        }
    }

    /// Adds a value, or the backend's error.
    pub(crate) fn add_or_fault(&mut self, measured: Result<f64, ssb_core::Error>, at: &str) {
        match measured {
            Ok(measured) => self.add(measured, at),
            Err(error) => self.fail(format!("{at}: {error}")),
        }
    }

    /// Marks the check as failed, whatever was measured.
    pub(crate) fn fail(&mut self, reason: String) {
        self.fault.get_or_insert(reason);
    }
}
