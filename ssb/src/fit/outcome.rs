//! What a fit returns: the best candidate, its exact loss, and every trial.

use serde::Serialize;
use ssb_core::{Aberrations, Candidate, Evaluation};

use super::search_space::SearchSpace;
use super::{Branch, Quantity, SearchRange};
use crate::ColumnSign;

/// One candidate of the search in the order asked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FitTrial {
    /// Place in the history, from 0.
    pub number: usize,
    /// Who asked for it: `start`, the name of the sampler, or `nelder-mead`.
    pub method: String,
    /// Exact phase variance in rad²; NaN where the search went by the agreement alone.
    pub loss: f64,
    /// The agreement S in counts², where the search went by it.
    pub agreement: Option<f64>,
    /// Share of the supported points without information (numerics section 8).
    pub degenerate_fraction: f64,
    /// Whether it may be the best: not degenerate.
    pub eligible: bool,
    /// The earlier trial whose candidate is equal in float32, not evaluated again.
    pub memo_of: Option<usize>,
    /// The candidate.
    pub candidate: Candidate,
}

/// How sure a searched quantity is: one standard deviation.
///
/// The agreement S is, up to a constant, `2 sigma^2` times a log likelihood when every `G_b` carries independent
/// noise of variance `sigma^2` (taken from what the model leaves of the data), so the inverse of its curvature over
/// `-2 sigma^2` is the covariance of counting noise (Cramér-Rao). Agreement and phase variance are two estimators of
/// one thing; how far they lie apart shows what the model does not know of (detector pixels, a thick specimen, terms
/// not searched), and is added in squares. An error that both share is not in it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Deviation {
    /// Of what.
    pub quantity: Quantity,
    /// From the noise of counting alone, in the quantity's unit.
    pub noise: f64,
    /// From noise and from the distance of both estimators, in the quantity's unit.
    pub sigma: f64,
}

impl Deviation {
    /// Adds the distance of two estimates.
    pub(super) fn with_distance(mut self, one: &Candidate, other: &Candidate) -> Self {
        let [a, b] = [one, other].map(|c| self.quantity.get(c));
        self.sigma = self.noise.hypot(self.quantity.distance(a, b));
        self
    }
}

/// Where the agreement S is highest.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgreementBest {
    /// The candidate.
    pub candidate: Candidate,
    /// Its agreement, in counts².
    pub agreement: f64,
}

/// The result of [`crate::Session::fit`].
#[derive(Debug, Clone, Serialize)]
pub struct Fit {
    /// The candidate of lowest exact loss that is not degenerate.
    pub best: Candidate,
    /// Its aberrations, for [`crate::Session::reconstruct`].
    #[serde(skip)]
    pub aberrations: Aberrations,
    /// Its exact phase variance in rad².
    pub loss: f64,
    /// Share of the supported points without information at it.
    pub degenerate_fraction: f64,
    /// The agreement S at it; absent when cancelled or where the band is too small.
    pub agreement: Option<f64>,
    /// `S(joint) / S(best without tilt)`; absent without a tilt fit.
    pub gain: Option<f64>,
    /// One standard deviation of each searched quantity; empty where the search has none.
    pub deviations: Vec<Deviation>,
    /// The highest agreement that the search met, where it searched by agreement.
    pub agreement_best: Option<AgreementBest>,
    /// Exact evaluations made, the start included, memo hits not.
    pub evaluations: usize,
    /// Evaluations of the agreement S that the search made.
    pub agreement_evaluations: usize,
    /// Local searches made on the way to the best.
    pub refinements: usize,
    /// Every trial in the order asked.
    pub trials: Vec<FitTrial>,
    /// The start.
    pub start: Candidate,
    /// Ranges searched, in the order asked.
    pub search: Vec<SearchRange>,
    /// The branches of the rotation that were computed, the one taken first; empty when not checked or cancelled.
    pub branches: Vec<Branch>,
    /// Whether atom columns are bright in phase; absent when not checked or cancelled.
    pub column_sign: Option<ColumnSign>,
    /// Sentences for people.
    pub warnings: Vec<String>,
    /// Whether the search was stopped before its end.
    pub cancelled: bool,
}

impl Fit {
    /// The fit whose best is this trial, with nothing that belongs to one search or to the best candidate alone.
    pub(super) fn of(
        best: &FitTrial,
        trials: Vec<FitTrial>,
        space: &SearchSpace,
        warnings: Vec<String>,
        cancelled: bool,
    ) -> Self {
        let exact = |t: &&FitTrial| t.memo_of.is_none() && !t.loss.is_nan();
        Self {
            best: best.candidate.clone(),
            aberrations: best.candidate.aberrations.clone(),
            loss: best.loss,
            degenerate_fraction: best.degenerate_fraction,
            agreement: None,
            gain: None,
            deviations: Vec::new(),
            agreement_best: None,
            evaluations: trials.iter().filter(exact).count(),
            agreement_evaluations: 0,
            refinements: 0,
            trials,
            start: space.candidate(&space.start),
            search: space.ranges.clone(),
            branches: Vec::new(),
            column_sign: None,
            warnings,
            cancelled,
        }
    }

    /// Makes another branch of the rotation the result, and the last trial.
    pub(super) fn take(&mut self, branch: &Branch) {
        self.trials.push(FitTrial {
            number: self.trials.len(),
            method: "other-branch".into(),
            loss: branch.loss,
            agreement: None,
            degenerate_fraction: self.degenerate_fraction,
            eligible: true,
            memo_of: None,
            candidate: branch.candidate.clone(),
        });
        self.best = branch.candidate.clone();
        self.aberrations = self.best.aberrations.clone();
        self.loss = branch.loss;
        self.column_sign = Some(branch.column_sign);
    }

    /// The exact evaluation of the best candidate.
    #[must_use]
    pub fn evaluation(&self) -> Evaluation {
        Evaluation {
            loss: self.loss,
            degenerate_fraction: self.degenerate_fraction,
        }
    }
}
