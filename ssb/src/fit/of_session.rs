//! The fit of a session: the search, with or without a journal, and what belongs to its best candidate alone.

use ssb_core::Evaluator;

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
        self.completed(options, |evaluator| {
            search::search(evaluator, self.geometry(), options, &self.control)
        })
    }

    /// As [`Session::fit`], with every evaluation of the search in a journal: what it knows is not evaluated
    /// again, and what is new is on disk before the search goes on. The same trials come out, bit for bit, as
    /// without it.
    ///
    /// # Errors
    /// As [`Session::fit`], and [`Error::Journal`] when the disk refuses a record.
    pub fn fit_recorded(&self, options: &FitOptions, journal: &mut Journal) -> Result<Fit, Error> {
        self.completed(options, |evaluator| {
            let mut recorded = JournaledEvaluator::new(evaluator, journal);
            let fit = search::search(&mut recorded, self.geometry(), options, &self.control);
            fit.map_err(|e| journal.take_fault().unwrap_or(e))
        })
    }

    /// Searches, and adds what belongs to the best candidate alone.
    fn completed(
        &self,
        options: &FitOptions,
        work: impl FnOnce(&mut dyn Evaluator) -> Result<Fit, Error>,
    ) -> Result<Fit, Error> {
        let mut fit = work(&mut **self.evaluator()?)?;
        fit.warnings.extend(self.doubts(&fit.best.aberrations));
        if fit.cancelled {
            return Ok(fit);
        }
        match self.agreements(std::slice::from_ref(&fit.best)) {
            Ok(values) => {
                fit.agreement = values.first().copied();
                self.doubt_the_peak(&mut fit)?;
            }
            Err(Error::Core(e @ ssb_core::Error::BadEvidence { .. })) => {
                fit.warnings.push(format!("agreement: not available: {e}"));
            }
            Err(e) => return Err(e),
        }
        if options.check_rotation {
            self.decide_branch(&mut fit)?;
        }
        Ok(fit)
    }
}
