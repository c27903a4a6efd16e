//! What a fit returns: the best candidate, its exact loss, and every trial.

use serde::Serialize;
use ssb_core::{Aberrations, Candidate, Evaluation};

use super::SearchRange;
use crate::ColumnSign;

/// One candidate of the search in the order asked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FitTrial {
    /// Place in the history, from 0.
    pub number: usize,
    /// Who asked for it: `start`, the name of the sampler, or `nelder-mead`.
    pub method: String,
    /// Exact phase variance in rad².
    pub loss: f64,
    /// Share of the supported points without information (numerics section 8).
    pub degenerate_fraction: f64,
    /// Whether it may be the best: not degenerate.
    pub eligible: bool,
    /// The earlier trial whose candidate is equal in float32, not evaluated again.
    pub memo_of: Option<usize>,
    /// The candidate.
    pub candidate: Candidate,
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
    /// Exact evaluations made, the start included, memo hits not.
    pub evaluations: usize,
    /// Evaluations of the agreement S that the search made.
    pub agreement_evaluations: usize,
    /// Nelder-Mead searches made.
    pub refinements: usize,
    /// Every trial in the order asked.
    pub trials: Vec<FitTrial>,
    /// The start.
    pub start: Candidate,
    /// Ranges searched, in the order asked.
    pub search: Vec<SearchRange>,
    /// Whether atom columns are bright in phase; absent when not checked or cancelled.
    pub column_sign: Option<ColumnSign>,
    /// Sentences for people.
    pub warnings: Vec<String>,
    /// Whether the search was stopped before its end.
    pub cancelled: bool,
}

impl Fit {
    /// The exact evaluation of the best candidate.
    #[must_use]
    pub fn evaluation(&self) -> Evaluation {
        Evaluation {
            loss: self.loss,
            degenerate_fraction: self.degenerate_fraction,
        }
    }
}
