//! The joint fit of a thick, tilted specimen: C10, C12, phi12, tilt and depth spread by the agreement S (numerics
//! section 4). The phase variance rewards no tilt, and a fit of tilt after the aberrations stalls.

mod starts;

use ssb_core::{Candidate, Control, Evaluator, Geometry};
use ssb_optim::{NelderMead, NelderMeadOptions, QuadraticOptions, Score, Study, Trial, sampler};

use super::chart::{Axis, Chart};
use super::climb::climb;
use super::outcome::{AgreementBest, Fit, FitTrial};
use super::search::{DEGENERATE_LIMIT, all_degenerate};
use super::search_space::SearchSpace;
use super::{FitOptions, GUIDED, Quantity, Refine};
use crate::Error;
use starts::guided_starts;

/// Candidates asked at once: they share one read of the band of G.
const BATCH: usize = 4;

/// Nelder-Mead searches.
const STARTS: usize = 3;

/// Least distance between starts in one of: C10 and C12 in nm, angles in rad, tilt in mrad, depth spread in nm.
fn least_distance(quantity: Quantity) -> f64 {
    match quantity {
        Quantity::Magnitude(0) | Quantity::DepthSpread => 5.0,
        Quantity::Angle(_) => 0.3,
        _ => 2.0,
    }
}

/// A gain below this says that tilt explains nothing more of the data.
const LEAST_GAIN: f64 = 1.002;

/// A study whose trials are scored by the agreement.
struct JointSearch<'a> {
    evaluator: &'a mut dyn Evaluator,
    control: &'a Control,
    space: &'a SearchSpace,
    study: Study,
    evaluations: usize,
}

impl JointSearch<'_> {
    fn settle(&mut self, asked: &[Trial]) -> Result<Vec<Score>, Error> {
        let (evaluator, control, space) = (&mut *self.evaluator, self.control, self.space);
        let mut made = 0;
        let scores = self.study.settle(asked, |points| {
            control.check()?;
            let candidates: Vec<_> = points.iter().map(|p| space.candidate(p)).collect();
            let values = evaluator.agreements(&candidates, control)?;
            made = values.len();
            Ok::<_, Error>(values.into_iter().map(|s| Score::new(-s)).collect())
        })?;
        self.evaluations += made;
        Ok(scores)
    }

    fn propose(&mut self, candidates: &[Candidate], method: &str) -> Result<(), Error> {
        for (i, candidates) in candidates.chunks(BATCH).enumerate() {
            self.control.report(
                "agreement of tilts",
                (i * BATCH) as u64,
                self.study.budget() as u64,
            );
            let points: Vec<_> = candidates.iter().map(|c| self.space.point(c)).collect();
            let asked = self.study.propose(&points, method)?;
            self.settle(&asked)?;
        }
        Ok(())
    }

    fn sample(&mut self) -> Result<(), Error> {
        loop {
            let done = self.study.trials().len() as u64;
            self.control
                .report("agreement of tilts", done, self.study.budget() as u64);
            let asked = self.study.ask(BATCH);
            if asked.is_empty() {
                return Ok(());
            }
            self.settle(&asked)?;
        }
    }

    /// The best trials, each apart from all before it in one quantity at least.
    fn starts(&self) -> Vec<Vec<f64>> {
        let mut trials: Vec<&Trial> = (self.study.trials().iter())
            .filter(|t| t.score.is_some())
            .collect();
        let value = |t: &Trial| t.score.map_or(f64::INFINITY, |s| s.value);
        trials.sort_by(|a, b| value(a).total_cmp(&value(b)));
        let mut starts: Vec<Vec<f64>> = Vec::new();
        for trial in trials {
            let apart = |start: &Vec<f64>| {
                (self.space.ranges.iter().zip(start.iter().zip(&trial.point))).any(
                    |(range, (a, b))| {
                        range.quantity.distance(*a, *b) >= least_distance(range.quantity)
                    },
                )
            };
            if starts.len() < STARTS && starts.iter().all(apart) {
                starts.push(trial.point.clone());
            }
        }
        starts
    }

    fn refine(&mut self) -> Result<usize, Error> {
        let starts = self.starts();
        // Steps of a tenth of the distance between starts, in the space's own proportions.
        let steps: Vec<f64> = (self.space.ranges.iter())
            .map(|r| (0.5 * least_distance(r.quantity)).min(0.25 * (r.high - r.low)))
            .collect();
        for (i, start) in starts.iter().enumerate() {
            let mut options = NelderMeadOptions::new(steps.clone(), self.space.tolerances.clone());
            options.max_evaluations = 400;
            let mut search = NelderMead::new(&self.space.space, start, options)?;
            while let Some(points) = search.ask() {
                let task = format!("refine tilt, start {} of {}", i + 1, starts.len());
                self.control.report(&task, search.evaluations() as u64, 400);
                let asked = self.study.propose(points, "nelder-mead")?;
                let scores = self.settle(&asked)?;
                search.tell(&scores)?;
            }
        }
        Ok(starts.len())
    }

    fn best(&self) -> Option<AgreementBest> {
        self.study.best().map(|t| AgreementBest {
            candidate: self.space.candidate(&t.point),
            agreement: t.score.map_or(f64::NEG_INFINITY, |s| -s.value),
        })
    }
}

/// The joint fit.
///
/// # Errors
/// As [`super::search`].
pub(super) fn search(
    evaluator: &mut dyn Evaluator,
    geometry: &Geometry,
    options: &FitOptions,
    control: &Control,
) -> Result<Fit, Error> {
    let space = SearchSpace::new(options, geometry)?;
    let is_guided = options.method == GUIDED;
    let (starts, mut evaluations) = if is_guided {
        guided_starts(evaluator, geometry, options, &space, control)?
    } else {
        (Vec::new(), 0)
    };
    let budget = if is_guided {
        starts.len() + 1
    } else {
        options.trials
    };
    let method = if is_guided { "random" } else { &options.method };
    let mut run = JointSearch {
        evaluator,
        control,
        space: &space,
        study: Study::new(space.space.clone(), sampler(method)?, budget, options.seed),
        evaluations: 0,
    };
    let mut refinements = 0;
    let mut work = || -> Result<(), Error> {
        let start = run
            .study
            .propose(std::slice::from_ref(&space.start), "start")?;
        run.settle(&start)?;
        if is_guided {
            run.propose(&starts, GUIDED)?;
        } else {
            run.sample()?;
        }
        if options.refine != Refine::None {
            refinements = run.refine()?;
        }
        Ok(())
    };
    let mut cancelled = match work() {
        Ok(()) => false,
        Err(e) if e.is_cancelled() => true,
        Err(e) => return Err(e),
    };
    evaluations += run.evaluations;
    let Some(mut best) = run.best() else {
        return Err(ssb_core::Error::Cancelled.into());
    };
    let trials = trials_of(&run, &space);
    let mut warnings = space.warnings.clone();
    let mut gain = None;
    if !cancelled {
        let outcome = (|| -> Result<(), Error> {
            let chart = Chart::new(&space);
            let polished = polish(evaluator, &chart, &best.candidate, control)?;
            evaluations += polished.1;
            if polished.0.agreement > best.agreement {
                best = polished.0;
            }
            let (without, more) = without_tilt(evaluator, &chart, &best, control)?;
            evaluations += more;
            gain = Some(best.agreement / without);
            Ok(())
        })();
        cancelled = match outcome {
            Ok(()) => false,
            Err(e) if e.is_cancelled() => true,
            Err(e) => return Err(e),
        };
    }
    let on_a_bound = space.on_a_bound(&space.point(&best.candidate));
    let thick_on_a_bound = on_a_bound
        .iter()
        .any(|w| w.starts_with("tilt") || w.starts_with("depth"));
    if thick_on_a_bound {
        warnings.push(
            "tilt: not a measurement, because it or the depth spread lies on its bound".into(),
        );
    } else if let Some(gain) = gain.filter(|g| *g < LEAST_GAIN) {
        warnings.push(format!(
            "tilt: not a measurement of a tilt other than zero: with it the agreement is {gain:.4} of that without \
             (below {LEAST_GAIN})"
        ));
    }
    warnings.extend(on_a_bound);
    finish(
        evaluator,
        &space,
        best,
        trials,
        Summary {
            gain,
            evaluations,
            refinements,
            warnings,
            cancelled,
        },
        control,
    )
}

/// The top of S around the best candidate in all coordinates.
fn polish(
    evaluator: &mut dyn Evaluator,
    chart: &Chart,
    at: &Candidate,
    control: &Control,
) -> Result<(AgreementBest, usize), Error> {
    let n = chart.len();
    let steps = (chart.axes.iter())
        .flat_map(|axis| match axis {
            Axis::Pair { .. } => vec![0.4; 2],
            Axis::One(r) => vec![0.1 * least_distance(r.quantity)],
        })
        .zip(&chart.steps)
        .map(|(step, space_step)| f64::max(step, *space_step))
        .collect();
    let options = QuadraticOptions {
        steps,
        tolerances: chart.tolerances.clone(),
        value_tolerance: 1e-6,
        max_evaluations: 12 * ((n + 1) * (n + 2) / 2 + 1),
    };
    climb(evaluator, chart, at, options, control)
}

/// The highest agreement without tilt, depth spread and aberrations searched.
fn without_tilt(
    evaluator: &mut dyn Evaluator,
    chart: &Chart,
    best: &AgreementBest,
    control: &Control,
) -> Result<(f64, usize), Error> {
    let mut upright = best.candidate.clone();
    upright.tilt_mrad = [0.0; 2];
    let is_tilt = |axis: Axis| matches!(axis, Axis::One(r) if matches!(r.quantity, Quantity::TiltRow | Quantity::TiltCol));
    let chart = chart.only(&upright, |axis| !is_tilt(axis));
    let mut highest = f64::NEG_INFINITY;
    let mut evaluations = 0;
    let mut thinner = upright.clone();
    thinner.depth_spread_nm *= 0.3;
    for start in [upright, thinner] {
        let (found, made) = polish(evaluator, &chart, &start, control)?;
        evaluations += made;
        highest = highest.max(found.agreement);
    }
    Ok((highest, evaluations))
}

fn trials_of(run: &JointSearch<'_>, space: &SearchSpace) -> Vec<FitTrial> {
    (run.study.trials().iter())
        .filter_map(|t| {
            Some(FitTrial {
                number: t.number,
                method: t.method.clone(),
                loss: f64::NAN,
                agreement: Some(-t.score?.value),
                degenerate_fraction: f64::NAN,
                eligible: true,
                memo_of: t.memo_of,
                candidate: space.candidate(&t.point),
            })
        })
        .collect()
}

struct Summary {
    gain: Option<f64>,
    evaluations: usize,
    refinements: usize,
    warnings: Vec<String>,
    cancelled: bool,
}

/// The exact loss of the best candidate, which is the last trial.
fn finish(
    evaluator: &mut dyn Evaluator,
    space: &SearchSpace,
    best: AgreementBest,
    mut trials: Vec<FitTrial>,
    told: Summary,
    control: &Control,
) -> Result<Fit, Error> {
    // A cancelled fit still states the exact loss of what it returns: one pass over the data.
    let quiet = Control::default();
    let control = if told.cancelled { &quiet } else { control };
    let found = evaluator.evaluate(std::slice::from_ref(&best.candidate), control)?;
    let Some(found) = found.first() else {
        return Err(ssb_core::Error::Internal("a loss is missing".into()).into());
    };
    if found.degenerate_fraction > DEGENERATE_LIMIT {
        return Err(all_degenerate());
    }
    let last = FitTrial {
        number: trials.len(),
        method: "agreement".into(),
        loss: found.loss,
        agreement: Some(best.agreement),
        degenerate_fraction: found.degenerate_fraction,
        eligible: true,
        memo_of: None,
        candidate: best.candidate.clone(),
    };
    trials.push(last.clone());
    let mut fit = Fit::of(&last, trials, space, told.warnings, told.cancelled);
    fit.gain = told.gain;
    fit.agreement_best = Some(best);
    fit.agreement_evaluations = told.evaluations;
    fit.refinements = told.refinements;
    Ok(fit)
}
