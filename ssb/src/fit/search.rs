//! The search itself: start, sampler in batches of two, then Nelder-Mead from distinct trials.

use std::collections::HashMap;

use ssb_core::{Control, Evaluation, Evaluator, Geometry};
use ssb_optim::{
    NelderMead, NelderMeadOptions, Score, StartOptions, Stop, Study, Trial, distinct_starts,
    leads_clearly, sampler,
};

use super::search_space::SearchSpace;
use super::{Fit, FitOptions, FitTrial, Refine};
use crate::Error;

/// Candidates above this share of points without information are not comparable: their loss is too
/// small by about that share. Generic candidates have less than 0.001; on the reference data the default
/// start (whole diagonals drop out at `phi12 = 0`) has 0.0084 and the pit at zero aberrations 0.11 or more;
/// on a scan of 16 x 16 those diagonals reach 0.04 (numerics section 8).
pub const DEGENERATE_LIMIT: f64 = 0.0125;

const BATCH: usize = 2;

/// What the refinements came to.
struct Tally {
    refinements: usize,
    lowest: f64,
    /// Whether the one that reached `lowest` stopped at its limit of evaluations.
    unfinished: bool,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            refinements: 0,
            lowest: f64::INFINITY,
            unfinished: false,
        }
    }
}

/// A study whose trials are scored by the exact loss.
struct ExactSearch<'a> {
    evaluator: &'a mut dyn Evaluator,
    control: &'a Control,
    space: &'a SearchSpace,
    study: Study,
    evaluations: HashMap<usize, Evaluation>,
    /// Sampler's budget, for progress.
    total: u64,
}

impl ExactSearch<'_> {
    /// Evaluates the waiting ones among `asked` and returns the scores of all.
    fn settle(&mut self, asked: &[Trial]) -> Result<Vec<Score>, Error> {
        let waiting: Vec<usize> = asked
            .iter()
            .filter(|t| self.study.trials().get(t.number).is_some_and(Trial::waits))
            .map(|t| t.number)
            .collect();
        let (evaluator, control, space) = (&mut *self.evaluator, self.control, self.space);
        let mut found = Vec::new();
        let scores = self.study.settle(asked, |points| {
            control.check()?;
            let candidates: Vec<_> = points.iter().map(|p| space.candidate(p)).collect();
            found = evaluator.evaluate(&candidates, control)?;
            Ok::<_, Error>(
                found
                    .iter()
                    .map(|e| Score {
                        value: e.loss,
                        eligible: e.degenerate_fraction <= DEGENERATE_LIMIT,
                    })
                    .collect(),
            )
        })?;
        self.evaluations.extend(waiting.into_iter().zip(found));
        Ok(scores)
    }

    fn sample(&mut self) -> Result<(), Error> {
        let start = self
            .study
            .propose(std::slice::from_ref(&self.space.start), "start")?;
        self.settle(&start)?;
        loop {
            let done = self.study.trials().len() as u64;
            self.control.report("search", done, self.total);
            let asked = self.study.ask(BATCH);
            if asked.is_empty() {
                return Ok(());
            }
            self.settle(&asked)?;
        }
    }

    /// Nelder-Mead from the best trial, and from further distinct ones until one leads clearly.
    fn refine(&mut self, tally: &mut Tally) -> Result<(), Error> {
        let sampled = self.study.trials().to_vec();
        let options = StartOptions::default();
        let starts: Vec<Vec<f64>> = distinct_starts(&self.space.space, &sampled, &options)
            .into_iter()
            .map(|t| t.point.clone())
            .collect();
        for (i, start) in starts.iter().enumerate() {
            let simplex =
                NelderMeadOptions::new(self.space.steps.clone(), self.space.tolerances.clone());
            let mut search = NelderMead::new(&self.space.space, start, simplex)?;
            tally.refinements += 1;
            while let Some(points) = search.ask() {
                let task = format!("refine, start {} of up to {}", i + 1, starts.len());
                self.control.report(&task, search.evaluations() as u64, 400);
                let asked = self.study.propose(points, "nelder-mead")?;
                let scores = self.settle(&asked)?;
                search.tell(&scores)?;
            }
            let Some((point, value)) = search.best() else {
                continue;
            };
            if value < tally.lowest {
                tally.lowest = value;
                tally.unfinished = search.stop() == Some(Stop::EvaluationLimit);
            }
            if leads_clearly(&self.space.space, point, value, &sampled, &options) {
                break;
            }
        }
        Ok(())
    }

    /// The exact loss where the gradients of the agreement lead from the best trial.
    #[cfg(feature = "burn")]
    fn refine_by_gradient(&mut self, geometry: &Geometry) -> Result<(), Error> {
        let Some(best) = self.study.best() else {
            return Ok(());
        };
        let start = self.space.candidate(&best.point);
        let chart = super::chart::Chart::new(self.space);
        let top = super::gradient::climb(self.evaluator, geometry, &chart, &start, self.control)?;
        let asked = self.study.propose(&[self.space.point(&top)], "gradient")?;
        self.settle(&asked)?;
        Ok(())
    }

    /// Without the feature `burn` the options are refused before any search.
    #[cfg(not(feature = "burn"))]
    fn refine_by_gradient(&mut self, _: &Geometry) -> Result<(), Error> {
        Err(ssb_core::Error::Internal("gradients are not built in".into()).into())
    }

    fn trials(&self) -> Vec<FitTrial> {
        self.study
            .trials()
            .iter()
            .filter_map(|t| {
                let score = t.score?;
                let evaluated = self.evaluations.get(&t.memo_of.unwrap_or(t.number))?;
                Some(FitTrial {
                    number: t.number,
                    method: t.method.clone(),
                    loss: score.value,
                    agreement: None,
                    degenerate_fraction: evaluated.degenerate_fraction,
                    eligible: score.eligible,
                    memo_of: t.memo_of,
                    candidate: self.space.candidate(&t.point),
                })
            })
            .collect()
    }
}

pub(super) fn all_degenerate() -> Error {
    Error::request(
        "--search",
        format!(
            "every candidate is degenerate (more than {DEGENERATE_LIMIT} of its points carry no \
             information)"
        ),
        "widen the search ranges away from zero aberrations",
    )
}

/// Searches and refines; the caller adds what belongs to the best candidate alone.
///
/// # Errors
/// Options that contradict each other, a fault of the evaluator, cancelled before any trial was
/// finished, or no candidate that is not degenerate.
pub(crate) fn search(
    evaluator: &mut dyn Evaluator,
    geometry: &Geometry,
    options: &FitOptions,
    control: &Control,
) -> Result<Fit, Error> {
    if options.is_thick() {
        return super::tilt::search(evaluator, geometry, options, control);
    }
    if options.method == super::GUIDED {
        return super::guided::search(evaluator, geometry, options, control);
    }
    let space = SearchSpace::new(options, geometry)?;
    let study = Study::new(
        space.space.clone(),
        sampler(&options.method)?,
        options.trials,
        options.seed,
    );
    let mut run = ExactSearch {
        evaluator,
        control,
        space: &space,
        study,
        evaluations: HashMap::new(),
        total: options.trials as u64,
    };
    let mut tally = Tally::default();
    let outcome = run.sample().and_then(|()| match options.refine {
        Refine::NelderMead => run.refine(&mut tally),
        Refine::Gradient => run.refine_by_gradient(geometry),
        Refine::None => Ok(()),
    });
    let cancelled = match outcome {
        Ok(()) => false,
        Err(e) if e.is_cancelled() && run.study.best().is_some() => true,
        Err(e) => return Err(e),
    };
    let Some(best) = run.study.best() else {
        return Err(all_degenerate());
    };
    let mut warnings = space.warnings.clone();
    warnings.extend(space.on_a_bound(&best.point));
    let trials = run.trials();
    let number = best.number;
    let found = trials
        .iter()
        .find(|t| t.number == number)
        .cloned()
        .ok_or_else(|| ssb_core::Error::Internal("the best trial was not evaluated".into()))?;
    if tally.unfinished {
        warnings.push(
            "refinement: the best search stopped at its limit of 400 evaluations before its \
             simplex was within the tolerances; start again from the result, or search fewer terms"
                .into(),
        );
    }
    if trials.first().is_some_and(|t| !t.eligible) {
        warnings.push("start: it is degenerate and cannot be the best".into());
    }
    let mut fit = Fit::of(&found, trials, &space, warnings, cancelled);
    fit.refinements = tally.refinements;
    Ok(fit)
}
