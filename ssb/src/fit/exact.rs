//! Candidates scored by the exact loss outside a study: the record, and no evaluation twice.

use std::collections::HashMap;

use ssb_core::{Candidate, Control, Evaluator};
use ssb_optim::Score;

use super::outcome::{Fit, FitTrial};
use super::search::{DEGENERATE_LIMIT, all_degenerate};
use super::search_space::SearchSpace;
use crate::Error;

/// Exact evaluations in the order asked.
pub(super) struct ExactTrials<'a> {
    evaluator: &'a mut dyn Evaluator,
    control: &'a Control,
    trials: Vec<FitTrial>,
    memo: HashMap<String, usize>,
}

impl<'a> ExactTrials<'a> {
    pub fn new(evaluator: &'a mut dyn Evaluator, control: &'a Control) -> Self {
        Self {
            evaluator,
            control,
            trials: Vec::new(),
            memo: HashMap::new(),
        }
    }

    /// Equal in float32 is the same candidate (numerics section 8).
    fn key(candidate: &Candidate) -> String {
        let values = (candidate.aberrations.values().iter())
            .flat_map(|v| [v.magnitude_a, v.angle_rad])
            .chain(candidate.tilt_mrad)
            .chain([candidate.depth_spread_nm])
            .chain(candidate.rotation_deg);
        values
            .map(|v| format!("{:08x}", (v as f32).to_bits()))
            .collect()
    }

    /// The scores of the candidates; those evaluated before are not evaluated again.
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`].
    pub fn evaluate(
        &mut self,
        candidates: &[Candidate],
        method: &str,
    ) -> Result<Vec<Score>, Error> {
        self.control.check()?;
        let first = self.trials.len();
        let mut waiting: Vec<usize> = Vec::new();
        let mut keys: HashMap<String, usize> = HashMap::new();
        for (i, candidate) in candidates.iter().enumerate() {
            let key = Self::key(candidate);
            if !self.memo.contains_key(&key) && !keys.contains_key(&key) {
                keys.insert(key, first + i);
                waiting.push(i);
            }
        }
        let new: Vec<Candidate> = waiting.iter().map(|i| candidates[*i].clone()).collect();
        let mut found = (self.evaluator.evaluate(&new, self.control)?).into_iter();
        self.memo.extend(keys);
        for (i, candidate) in candidates.iter().enumerate() {
            let earlier = self.memo[&Self::key(candidate)];
            let number = first + i;
            let (loss, degenerate_fraction) = if earlier == number {
                let Some(e) = found.next() else {
                    return Err(ssb_core::Error::Internal("a loss is missing".into()).into());
                };
                (e.loss, e.degenerate_fraction)
            } else {
                let t = &self.trials[earlier];
                (t.loss, t.degenerate_fraction)
            };
            self.trials.push(FitTrial {
                number,
                method: method.into(),
                loss,
                agreement: None,
                degenerate_fraction,
                eligible: degenerate_fraction <= DEGENERATE_LIMIT,
                memo_of: (earlier != number).then_some(earlier),
                candidate: candidate.clone(),
            });
        }
        let evaluated = self.trials.iter().filter(|t| t.memo_of.is_none()).count();
        self.control.report("exact loss", evaluated as u64, 0);
        Ok((self.trials[first..].iter())
            .map(|t| Score {
                value: t.loss,
                eligible: t.eligible,
            })
            .collect())
    }

    /// The agreement of each candidate.
    ///
    /// # Errors
    /// As [`Evaluator::agreements`].
    pub fn agreements(&mut self, candidates: &[Candidate]) -> Result<Vec<f64>, Error> {
        Ok(self.evaluator.agreements(candidates, self.control)?)
    }

    /// Every trial in the order asked.
    pub fn all(&self) -> &[FitTrial] {
        &self.trials
    }

    /// Trials that can no longer be the best.
    pub fn bar(&mut self, unfit: impl Fn(&FitTrial) -> bool) {
        for trial in &mut self.trials {
            trial.eligible &= !unfit(trial);
        }
    }

    /// The eligible trial of lowest loss, the earliest of equals.
    pub fn best(&self) -> Option<&FitTrial> {
        (self.trials.iter().filter(|t| t.eligible)).min_by(|a, b| a.loss.total_cmp(&b.loss))
    }

    /// The best of those that one method asked for.
    pub fn best_of(&self, method: &str) -> Option<&FitTrial> {
        (self
            .trials
            .iter()
            .filter(|t| t.eligible && t.method == method))
        .min_by(|a, b| a.loss.total_cmp(&b.loss))
    }

    /// The fit whose best is the best trial.
    ///
    /// # Errors
    /// When every candidate is degenerate.
    pub fn into_fit(
        self,
        space: &SearchSpace,
        mut warnings: Vec<String>,
        cancelled: bool,
    ) -> Result<Fit, Error> {
        let Some(best) = self.best().cloned() else {
            return Err(all_degenerate());
        };
        warnings.extend(space.on_a_bound(&space.point(&best.candidate)));
        Ok(Fit::of(&best, self.trials, space, warnings, cancelled))
    }
}
