//! Climbing the agreement S over its whole band in the coordinates of a chart.

use ssb_core::{Candidate, Control, Evaluator};
use ssb_optim::{QuadraticDescent, QuadraticOptions, Score};

use super::AgreementBest;
use super::chart::Chart;
use crate::Error;

/// The maximum of S around `start` and the evaluations that it took.
///
/// # Errors
/// As [`Evaluator::agreements`].
pub(super) fn climb(
    evaluator: &mut dyn Evaluator,
    chart: &Chart,
    start: &Candidate,
    options: QuadraticOptions,
    control: &Control,
) -> Result<(AgreementBest, usize), Error> {
    let mut search = QuadraticDescent::new(chart.point(start), options)?;
    while let Some(points) = search.ask() {
        control.check()?;
        let candidates: Vec<_> = points.iter().map(|p| chart.candidate(p)).collect();
        let values = evaluator.agreements(&candidates, control)?;
        let scores: Vec<_> = values.into_iter().map(|s| Score::new(-s)).collect();
        search.tell(&scores)?;
    }
    let climbed = match search.best() {
        Some((point, value)) => AgreementBest {
            candidate: chart.candidate(point),
            agreement: -value,
        },
        None => AgreementBest {
            candidate: start.clone(),
            agreement: f64::NEG_INFINITY,
        },
    };
    Ok((climbed, search.evaluations()))
}
