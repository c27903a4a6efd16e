//! The one conformance suite: what every backend must do, measured against the float64 reference.
//!
//! [`run`] prepares synthetic problems on the backend under test and on the reference, asks both for
//! everything an [`Evaluator`] offers, and reports one [`CheckOutcome`] a problem and check, at the
//! candidate that did worst. Bounds are those of [`crate::tolerances`].
//!
//! ```
//! use ssb_core::Control;
//! use ssb_cpu_oracle::ORACLE;
//! use ssb_testkit::{conformance, synthetic::PROBLEMS};
//! let control = Control::default();
//! let prepare = |problem, options: &_| (ORACLE.prepare)(problem, options, &control);
//! let summary = conformance::run(&prepare, &PROBLEMS[..1], &control, &mut |outcome| {
//!     println!("{outcome}");
//! })?;
//! assert!(summary.passed() && summary.checks > 20);
//! # Ok::<(), ssb_testkit::Error>(())
//! ```

mod against_reference;
mod contract;
pub mod distance;
mod recorder;
mod sameness;

use rayon::prelude::*;
use ssb_core::{Control, Evaluator, PrepareOptions, Problem};
use ssb_cpu_oracle::{Answers, Oracle};

use crate::Error;
use crate::candidates::{self, Named};
use crate::synthetic::Synthetic;

pub use recorder::{CheckOutcome, Summary};

pub(crate) use recorder::Recorder;

/// Every backend takes scans whose axes both have this many positions or more; a shorter one it
/// may refuse as unsuitable, which is then the one outcome of that problem.
pub const SHORTEST_AXIS: usize = 8;

/// Prepares a problem on the backend under test.
pub type Prepare<'a> =
    dyn Fn(Problem, &PrepareOptions) -> Result<Box<dyn Evaluator>, ssb_core::Error> + 'a;

/// One problem with the reference's answers, computed once and used by every check.
pub(crate) struct Trial<'a> {
    pub(crate) prepare: &'a Prepare<'a>,
    pub(crate) control: &'a Control,
    pub(crate) problem: Problem,
    pub(crate) reference: Oracle,
    pub(crate) cases: Vec<Case>,
}

/// A candidate and what the reference says about it.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) candidate: ssb_core::Candidate,
    pub(crate) answers: Answers,
}

/// Runs the whole suite over `problems` and reports every check as it ends.
///
/// A fault of the backend under test is a failed check, not an error.
///
/// # Errors
/// [`Error::Core`] with [`ssb_core::Error::Cancelled`] once `control` was cancelled;
/// [`Error::Marginal`] or another for a recipe that gives no problem.
pub fn run(
    prepare: &Prepare<'_>,
    problems: &[Synthetic],
    control: &Control,
    report: &mut dyn FnMut(&CheckOutcome),
) -> Result<Summary, Error> {
    let mut summary = Summary::default();
    for (index, recipe) in problems.iter().enumerate() {
        control.check()?;
        control.report("conformance", index as u64, problems.len() as u64);
        let trial = Trial::new(prepare, recipe, control)?;
        let mut recorder = Recorder::new(recipe.name, &mut *report, &mut summary);
        if let Err(ssb_core::Error::Unsuitable { reason, .. }) =
            trial.prepared(&PrepareOptions::default())
        {
            let shortest = recipe.scan_shape[0].min(recipe.scan_shape[1]);
            recorder.refused(shortest < SHORTEST_AXIS, reason);
            continue;
        }
        contract::check(&trial, &mut recorder);
        against_reference::check(&trial, &mut recorder);
        sameness::check(&trial, &mut recorder);
        control.check()?;
    }
    control.report("conformance", problems.len() as u64, problems.len() as u64);
    Ok(summary)
}

impl<'a> Trial<'a> {
    fn new(
        prepare: &'a Prepare<'a>,
        recipe: &Synthetic,
        control: &'a Control,
    ) -> Result<Self, Error> {
        let problem = recipe.problem()?;
        let named = candidates::of_every_kind(problem.geometry(), recipe.seed)?;
        let reference = Oracle::new(problem.clone(), &PrepareOptions::default())?;
        let cases = answer_all(&reference, named, control)?;
        Ok(Self {
            prepare,
            control,
            problem,
            reference,
            cases,
        })
    }

    /// A fresh evaluator of the backend under test.
    pub(crate) fn prepared(
        &self,
        options: &PrepareOptions,
    ) -> Result<Box<dyn Evaluator>, ssb_core::Error> {
        (self.prepare)(self.problem.clone(), options)
    }

    /// All candidates in order.
    pub(crate) fn candidates(&self) -> Vec<ssb_core::Candidate> {
        self.cases.iter().map(|c| c.candidate.clone()).collect()
    }
}

/// Asks the reference about every candidate, on every core.
fn answer_all(
    reference: &Oracle,
    named: Vec<Named>,
    control: &Control,
) -> Result<Vec<Case>, Error> {
    named
        .into_par_iter()
        .map(|named| {
            let answers = reference.answers(&named.candidate, control)?;
            Ok(Case {
                name: named.name,
                candidate: named.candidate,
                answers,
            })
        })
        .collect()
}
