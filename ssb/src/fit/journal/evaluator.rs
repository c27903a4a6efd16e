//! An evaluator that answers from a journal what was evaluated before, and records the rest.

use std::collections::HashSet;

use ssb_core::ndarray::Array2;
use ssb_core::num_complex::{Complex32, Complex64};
use ssb_core::{
    BandPoint, Candidate, Control, Error, Evaluation, Evaluator, EvaluatorInfo, MeanPhase,
};

use super::Journal;
use super::line::{Agreements, Losses, Record, agreement_key, candidate_key};

/// Exact losses and agreements come from the journal or go into it; the rest is passed through.
pub(crate) struct JournaledEvaluator<'a> {
    inner: &'a mut dyn Evaluator,
    journal: &'a mut Journal,
}

impl<'a> JournaledEvaluator<'a> {
    pub(crate) fn new(inner: &'a mut dyn Evaluator, journal: &'a mut Journal) -> Self {
        Self { inner, journal }
    }
}

/// The candidates whose keys are not known, each once, in order.
fn missing(
    keys: &[String],
    candidates: &[Candidate],
    known: impl Fn(&String) -> bool,
) -> (Vec<String>, Vec<Candidate>) {
    let mut seen = HashSet::new();
    keys.iter()
        .zip(candidates)
        .filter(|(key, _)| !known(key) && seen.insert(*key))
        .map(|(key, candidate)| (key.clone(), candidate.clone()))
        .unzip()
}

/// What is known of each key, in order.
fn answers<T>(keys: &[String], of: impl Fn(&String) -> Option<T>) -> Result<Vec<T>, Error> {
    let all: Option<Vec<T>> = keys.iter().map(of).collect();
    all.ok_or_else(|| Error::Internal("the evaluator left a candidate unanswered".into()))
}

impl Evaluator for JournaledEvaluator<'_> {
    fn info(&self) -> &EvaluatorInfo {
        self.inner.info()
    }

    fn evaluate(
        &mut self,
        candidates: &[Candidate],
        control: &Control,
    ) -> Result<Vec<Evaluation>, Error> {
        control.check()?;
        let keys: Vec<String> = candidates.iter().map(candidate_key).collect();
        let known = |key: &String| self.journal.losses.contains_key(key);
        let (new, candidates) = missing(&keys, candidates, known);
        if !new.is_empty() {
            let found = self.inner.evaluate(&candidates, control)?;
            let found = new.into_iter().zip(found).collect();
            self.journal.append(Record::Losses(Losses(found)))?;
        }
        answers(&keys, |key| self.journal.losses.get(key).copied())
    }

    fn mean_phase(&mut self, candidate: &Candidate, control: &Control) -> Result<MeanPhase, Error> {
        self.inner.mean_phase(candidate, control)
    }

    fn object(
        &mut self,
        candidate: &Candidate,
        upsample: usize,
        control: &Control,
    ) -> Result<Array2<Complex64>, Error> {
        self.inner.object(candidate, upsample, control)
    }

    fn agreements(
        &mut self,
        candidates: &[Candidate],
        control: &Control,
    ) -> Result<Vec<f64>, Error> {
        control.check()?;
        let band = self.inner.info().band;
        let keys: Vec<String> = candidates.iter().map(|c| agreement_key(&band, c)).collect();
        let known = |key: &String| self.journal.agreements.contains_key(key);
        let (new, candidates) = missing(&keys, candidates, known);
        if !new.is_empty() {
            let found = self.inner.agreements(&candidates, control)?;
            let found = new.into_iter().zip(found).collect();
            self.journal.append(Record::Agreements(Agreements(found)))?;
        }
        answers(&keys, |key| self.journal.agreements.get(key).copied())
    }

    fn spectra(
        &mut self,
        points: &[BandPoint],
        control: &Control,
    ) -> Result<Array2<Complex32>, Error> {
        self.inner.spectra(points, control)
    }
}
