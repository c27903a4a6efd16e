//! The fit of a session: the search, with or without a journal, and what belongs to its best candidate alone.

use ssb_core::{Control, Evaluator};
use tracing::info_span;

use super::journal::JournaledEvaluator;
use super::{Fit, FitOptions, Journal, search};
use crate::{Error, Session};

impl Session {
    /// Fits aberrations on the exact phase variance.
    ///
    /// When cancelled after the first trial, the best so far comes back with
    /// [`Fit::cancelled`] set.
    ///
    /// # Errors
    /// Options that contradict each other, a fault of the backend, cancelled before the first
    /// trial ended, or no candidate that carries information.
    pub fn fit(&self, options: &FitOptions) -> Result<Fit, Error> {
        let mut evaluator = self.evaluator()?;
        self.fit_on(&mut **evaluator, options, &self.control)
    }

    /// [`Session::fit`] on an evaluator that may stand between the search and the session's own.
    ///
    /// # Errors
    /// As [`Session::fit`].
    pub(crate) fn fit_on(
        &self,
        evaluator: &mut dyn Evaluator,
        options: &FitOptions,
        control: &Control,
    ) -> Result<Fit, Error> {
        let _span = info_span!("fit", method = %options.method).entered();
        let fit = search::search(evaluator, self.geometry(), options, control)?;
        self.completed(evaluator, fit, options, control)
    }

    /// As [`Session::fit`], with every evaluation of the search in a journal: what it knows is not evaluated
    /// again, and what is new is on disk before the search goes on. The same trials come out, bit for bit, as
    /// without it.
    ///
    /// # Errors
    /// As [`Session::fit`], and [`Error::Journal`] when the disk refuses a record.
    pub fn fit_recorded(&self, options: &FitOptions, journal: &mut Journal) -> Result<Fit, Error> {
        let _span = info_span!("fit", method = %options.method).entered();
        let mut evaluator = self.evaluator()?;
        let mut recorded = JournaledEvaluator::new(&mut **evaluator, journal);
        let fit = search::search(&mut recorded, self.geometry(), options, &self.control);
        let fit = fit.map_err(|e| journal.take_fault().unwrap_or(e))?;
        self.completed(&mut **evaluator, fit, options, &self.control)
    }

    /// Adds what belongs to the best candidate alone.
    fn completed(
        &self,
        evaluator: &mut dyn Evaluator,
        mut fit: Fit,
        options: &FitOptions,
        control: &Control,
    ) -> Result<Fit, Error> {
        fit.warnings.extend(self.doubts(&fit.best.aberrations));
        if fit.cancelled {
            return Ok(fit);
        }
        match evaluator.agreements(std::slice::from_ref(&fit.best), control) {
            Ok(values) => {
                fit.agreement = values.first().copied();
                self.doubt_the_peak(evaluator, &mut fit, control)?;
            }
            Err(e @ ssb_core::Error::BadEvidence { .. }) => {
                fit.warnings.push(format!("agreement: not available: {e}"));
            }
            Err(e) => return Err(e.into()),
        }
        if options.check_rotation {
            self.decide_branch(evaluator, &mut fit, control)?;
        }
        Ok(fit)
    }
}
