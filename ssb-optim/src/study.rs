//! The study: a space, its trials, a memo of candidates and a sampler, asked and told.

use std::collections::HashMap;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

use crate::error::OptimError;
use crate::samplers::{Request, Sampler};
use crate::space::Space;

/// What an evaluation said of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The value to minimise; finite.
    pub value: f64,
    /// Whether the candidate may be the best. A degenerate one, whose value is not comparable, is
    /// kept in the history and searched around as if it were worse than every eligible one.
    pub eligible: bool,
}

impl Score {
    /// An ordinary, eligible score.
    pub fn new(value: f64) -> Self {
        Self {
            value,
            eligible: true,
        }
    }

    /// The value, with every ineligible score above all eligible ones.
    pub(crate) fn ranked(self) -> (bool, f64) {
        (!self.eligible, self.value)
    }
}

/// One candidate in the order asked: the record for progress, journal and replay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Place in the history, from 0.
    pub number: usize,
    /// The candidate, one coordinate a dimension of the space.
    pub point: Vec<f64>,
    /// Who asked for it: a sampler's name, or what was given to [`Study::propose`].
    pub method: String,
    /// The earlier trial whose candidate is equal in float32: not evaluated again.
    pub memo_of: Option<usize>,
    /// What was told; absent while waiting.
    pub score: Option<Score>,
}

impl Trial {
    /// Whether the caller has to evaluate it.
    pub fn waits(&self) -> bool {
        self.score.is_none() && self.memo_of.is_none()
    }
}

/// An ask/tell minimisation over a [`Space`].
///
/// The same space, sampler, budget, seed and told values give the same trials bit for bit on every
/// machine: the random numbers are ChaCha8 and the functions are those of the `libm` crate.
///
/// ```
/// use ssb_optim::{Dim, OptimError, Score, Space, Study, sampler};
/// let space = Space::new(vec![Dim::new("x", -5.0, 10.0)])?;
/// let mut study = Study::new(space, sampler("tpe")?, 60, 42);
/// loop {
///     let asked = study.ask(2); // both points of a pair are asked before either is told
///     if asked.is_empty() {
///         break;
///     }
///     study.settle(&asked, |points| {
///         Ok::<_, OptimError>(points.iter().map(|x| Score::new(x[0] * x[0])).collect())
///     })?;
/// }
/// let best = study.best().unwrap();
/// assert!(best.point[0].abs() < 0.5);
/// # Ok::<(), OptimError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Study {
    space: Space,
    sampler: &'static Sampler,
    budget: usize,
    rng: ChaCha8Rng,
    trials: Vec<Trial>,
    memo: HashMap<Vec<u32>, usize>,
    recalled: HashMap<Vec<u32>, Score>,
}

impl Study {
    /// A study without trials; [`Study::ask`] stops when the history holds `budget` of them.
    pub fn new(space: Space, sampler: &'static Sampler, budget: usize, seed: u64) -> Self {
        Self {
            space,
            sampler,
            budget,
            rng: ChaCha8Rng::seed_from_u64(seed),
            trials: Vec::new(),
            memo: HashMap::new(),
            recalled: HashMap::new(),
        }
    }

    /// Hands over records of an earlier run of the same search: an asked candidate that equals one
    /// of them in float32 comes back with its score, and counts as evaluated.
    ///
    /// Replay: recall the journal into a new study, run the same search, and only what the journal
    /// lacks waits for evaluation.
    ///
    /// Errors: a point that does not fit the space, a score that is not finite.
    pub fn recall<'a>(
        &mut self,
        journal: impl IntoIterator<Item = &'a Trial>,
    ) -> Result<(), OptimError> {
        for trial in journal {
            self.space.check(&trial.point)?;
            if let Some(score) = trial.score {
                check_finite(trial.number, score)?;
                // The first record is the evaluated one; later ones repeat it.
                self.recalled
                    .entry(self.space.key(&trial.point))
                    .or_insert(score);
            }
        }
        Ok(())
    }

    /// Asks the sampler for up to `batch` candidates, all from the same told history.
    ///
    /// Empty once the budget is spent or the sampler has no more. Trials that answer
    /// [`Trial::waits`] with true want [`Study::tell`]; the others are known already.
    pub fn ask(&mut self, batch: usize) -> Vec<Trial> {
        let told: Vec<(&[f64], Score)> = (self.trials.iter())
            .filter_map(|trial| Some((trial.point.as_slice(), trial.score?)))
            .collect();
        let asked = self
            .trials
            .iter()
            .filter(|t| t.method == self.sampler.name)
            .count();
        let left = self.budget.saturating_sub(self.trials.len());
        let points: Vec<Vec<f64>> = (0..batch.min(left))
            .map_while(|i| {
                let request = Request {
                    space: &self.space,
                    told: &told,
                    asked: asked + i,
                    total: asked + left,
                };
                (self.sampler.sample)(&request, &mut self.rng)
            })
            .collect();
        points
            .into_iter()
            .map(|point| self.enter(point, self.sampler.name))
            .collect()
    }

    /// Enters candidates of the caller's own, such as a start or a Nelder-Mead vertex.
    ///
    /// Errors: a point that does not fit the space; points outside the bounds are accepted.
    pub fn propose(&mut self, points: &[Vec<f64>], method: &str) -> Result<Vec<Trial>, OptimError> {
        points
            .iter()
            .try_for_each(|point| self.space.check(point))?;
        Ok(points
            .iter()
            .map(|point| self.enter(point.clone(), method))
            .collect())
    }

    fn enter(&mut self, point: Vec<f64>, method: &str) -> Trial {
        let number = self.trials.len();
        let key = self.space.key(&point);
        let memo_of = self.memo.get(&key).copied();
        let score = match memo_of {
            Some(earlier) => self.trials[earlier].score,
            None => self.recalled.get(&key).copied(),
        };
        self.memo.entry(key).or_insert(number);
        let trial = Trial {
            number,
            point,
            method: method.to_owned(),
            memo_of,
            score,
        };
        self.trials.push(trial.clone());
        trial
    }

    /// Tells the score of a waiting trial, and of later ones with the same candidate.
    ///
    /// Errors: the trial does not wait, or the value is not finite.
    pub fn tell(&mut self, number: usize, score: Score) -> Result<(), OptimError> {
        check_finite(number, score)?;
        if !self.trials.get(number).is_some_and(Trial::waits) {
            return Err(OptimError::NotWaiting { number });
        }
        for trial in &mut self.trials[number..] {
            if trial.number == number || trial.memo_of == Some(number) {
                trial.score = Some(score);
            }
        }
        Ok(())
    }

    /// Evaluates what waits among `asked`, tells it, and returns the scores of all of `asked`.
    ///
    /// `evaluate` gets the waiting points at once and returns one score a point in their order; it
    /// is not called when nothing waits. Its error passes through, which is how a run is
    /// cancelled: the study stays usable and the points stay waiting.
    ///
    /// Errors: those of `evaluate`, another number of scores than points, a value not finite.
    pub fn settle<E: From<OptimError>>(
        &mut self,
        asked: &[Trial],
        evaluate: impl FnOnce(&[Vec<f64>]) -> Result<Vec<Score>, E>,
    ) -> Result<Vec<Score>, E> {
        let waiting = |t: &&Trial| self.trials.get(t.number).is_some_and(Trial::waits);
        let (numbers, points): (Vec<usize>, Vec<Vec<f64>>) = asked
            .iter()
            .filter(waiting)
            .map(|t| (t.number, t.point.clone()))
            .unzip();
        if !points.is_empty() {
            let scores = evaluate(&points)?;
            let (expected, received) = (points.len(), scores.len());
            if expected != received {
                return Err(OptimError::WrongCount { expected, received }.into());
            }
            for (number, score) in numbers.into_iter().zip(scores) {
                self.tell(number, score)?;
            }
        }
        (asked.iter())
            .map(|asked| {
                let told = self.trials.get(asked.number).and_then(|trial| trial.score);
                told.ok_or_else(|| {
                    OptimError::NotWaiting {
                        number: asked.number,
                    }
                    .into()
                })
            })
            .collect()
    }

    /// The space searched.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// Every trial in the order asked, waiting ones included.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// Number of trials after which [`Study::ask`] stops.
    pub fn budget(&self) -> usize {
        self.budget
    }

    /// Number of exact evaluations told or recalled; memo hits do not count.
    pub fn evaluations(&self) -> usize {
        self.trials
            .iter()
            .filter(|t| t.score.is_some() && t.memo_of.is_none())
            .count()
    }

    /// The eligible trial of lowest value, the earliest of equals.
    pub fn best(&self) -> Option<&Trial> {
        eligible(&self.trials)
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(trial, _)| trial)
    }
}

/// The told, eligible trials with their values.
pub(crate) fn eligible(trials: &[Trial]) -> impl Iterator<Item = (&Trial, f64)> {
    (trials.iter()).filter_map(|trial| {
        trial
            .score
            .filter(|score| score.eligible)
            .map(|score| (trial, score.value))
    })
}

pub(crate) fn check_finite(number: usize, score: Score) -> Result<(), OptimError> {
    if score.value.is_finite() {
        return Ok(());
    }
    Err(OptimError::ValueNotFinite {
        number,
        value: score.value,
    })
}
