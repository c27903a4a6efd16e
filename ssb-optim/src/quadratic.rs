//! Local minimisation of smooth, expensive functions by quadratic models, asked and told.

use crate::cholesky::{cholesky, solve};
use crate::error::OptimError;
use crate::study::{Score, check_finite};

/// How a [`QuadraticDescent`] steps and when it ends.
#[derive(Debug, Clone, PartialEq)]
pub struct QuadraticOptions {
    /// Step of the first differences, one a coordinate: as wide as the function is still nearly
    /// quadratic, so that its own noise does not show.
    pub steps: Vec<f64>,
    /// Tolerances of the coordinates: a model step that is smaller in all of them ends the search.
    pub tolerances: Vec<f64>,
    /// A model whose step promises less than this share of the value ends the search.
    pub value_tolerance: f64,
    /// Most evaluations; a round that would pass it is not begun.
    pub max_evaluations: usize,
}

/// What waits for its values.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Round {
    /// The centre and the whole stencil: gradient and curvature.
    Curvature,
    /// Pairs along each coordinate: gradient and the diagonal of the curvature.
    Gradient,
    /// The model's minimum.
    Step,
}

/// A local search that fits a quadratic to differences around a centre and goes to its minimum.
///
/// A first round of `(n + 1)(n + 2) / 2` evaluations gives gradient and curvature in `n` coordinates; later rounds renew
/// the gradient with `2 n`, or everything when the step was longer than the differences. A step is
/// never longer than a few first differences, and one that does not lower the value shortens the next.
///
/// Coordinates are unbounded: the caller folds or clamps them. An ineligible score counts as worse than any.
///
/// ```
/// use ssb_optim::{OptimError, QuadraticDescent, QuadraticOptions, Score};
/// let bowl = |p: &[f64]| 3.0 + (p[0] - 1.0).powi(2) + (p[0] + 2.0 * p[1]).powi(2);
/// let options = QuadraticOptions {
///     steps: vec![0.5; 2],
///     tolerances: vec![1e-3; 2],
///     value_tolerance: 1e-9,
///     max_evaluations: 50,
/// };
/// let mut search = QuadraticDescent::new(vec![2.0, 2.0], options)?;
/// while let Some(points) = search.ask() {
///     let scores: Vec<Score> = points.iter().map(|p| Score::new(bowl(p))).collect();
///     search.tell(&scores)?;
/// }
/// let (point, value) = search.best().unwrap();
/// assert!((point[0] - 1.0).abs() < 1e-6 && (point[1] + 0.5).abs() < 1e-6 && value < 3.000_001);
/// # Ok::<(), OptimError>(())
/// ```
#[derive(Debug, Clone)]
pub struct QuadraticDescent {
    options: QuadraticOptions,
    centre: Vec<f64>,
    centre_value: Option<f64>,
    /// Length of the present differences in units of `steps`.
    width: f64,
    /// Longest step in units of `steps`.
    reach: f64,
    round: Round,
    waiting: Vec<Vec<f64>>,
    /// In units of `steps`.
    curvature: Vec<f64>,
    best: Option<(Vec<f64>, f64)>,
    promised: f64,
    evaluations: usize,
    done: bool,
}

/// Width below which differences show rounding more than curvature.
const LEAST_WIDTH: f64 = 0.1;

/// Steps of the model go at first this many differences far.
const REACH: f64 = 3.0;

/// Farthest that a step goes once models have proved faithful.
const MOST_REACH: f64 = 12.0;

impl QuadraticDescent {
    /// A search around `start`.
    ///
    /// # Errors
    /// Nothing to search, another number of steps or tolerances than coordinates, or one that is not a positive
    /// finite number.
    pub fn new(start: Vec<f64>, options: QuadraticOptions) -> Result<Self, OptimError> {
        let n = start.len();
        if n == 0 {
            return Err(OptimError::EmptySpace);
        }
        for list in [&options.steps, &options.tolerances] {
            if list.len() != n {
                return Err(OptimError::WrongCount {
                    expected: n,
                    received: list.len(),
                });
            }
            if let Some((number, value)) =
                (list.iter().copied().enumerate()).find(|(_, v)| !(v.is_finite() && *v > 0.0))
            {
                return Err(OptimError::ValueNotFinite { number, value });
            }
        }
        let mut search = Self {
            options,
            centre: start,
            centre_value: None,
            width: 1.0,
            reach: REACH,
            round: Round::Curvature,
            waiting: Vec::new(),
            curvature: vec![0.0; n * n],
            best: None,
            promised: 0.0,
            evaluations: 0,
            done: false,
        };
        search.begin(Round::Curvature);
        Ok(search)
    }

    /// The points that wait for their scores; `None` when the search has ended.
    pub fn ask(&self) -> Option<&[Vec<f64>]> {
        (!self.done).then_some(self.waiting.as_slice())
    }

    /// The best point told so far with its value.
    pub fn best(&self) -> Option<(&[f64], f64)> {
        self.best.as_ref().map(|(p, v)| (p.as_slice(), *v))
    }

    /// Evaluations told.
    pub fn evaluations(&self) -> usize {
        self.evaluations
    }

    /// Second derivatives of the last model (row-major) in the units of the coordinates.
    pub fn hessian(&self) -> Vec<f64> {
        let (n, steps) = (self.centre.len(), &self.options.steps);
        (0..n * n)
            .map(|i| self.curvature[i] / (steps[i / n] * steps[i % n]))
            .collect()
    }

    /// Takes the scores of the points that [`Self::ask`] gave, in their order.
    ///
    /// # Errors
    /// Another number of scores, or one that is not finite.
    pub fn tell(&mut self, scores: &[Score]) -> Result<(), OptimError> {
        if scores.len() != self.waiting.len() {
            return Err(OptimError::WrongCount {
                expected: self.waiting.len(),
                received: scores.len(),
            });
        }
        for (number, score) in scores.iter().enumerate() {
            check_finite(number, *score)?;
        }
        self.evaluations += scores.len();
        let told = std::mem::take(&mut self.waiting);
        for (point, score) in told.iter().zip(scores) {
            let better = self.best.as_ref().is_none_or(|(_, v)| score.value < *v);
            if score.eligible && better {
                self.best = Some((point.clone(), score.value));
            }
        }
        let mut values = scores.iter().map(|s| s.value);
        if self.centre_value.is_none() && self.round != Round::Step {
            self.centre_value = values.next();
        }
        let values: Vec<f64> = values.collect();
        match self.round {
            Round::Curvature | Round::Gradient => self.model(&values),
            Round::Step => self.stepped(&told[0], values[0], scores[0].eligible),
        }
        Ok(())
    }

    fn begin(&mut self, round: Round) {
        let n = self.centre.len();
        let moved = |by: &[(usize, f64)]| -> Vec<f64> {
            let mut point = self.centre.clone();
            for (i, widths) in by {
                point[*i] += widths * self.width * self.options.steps[*i];
            }
            point
        };
        let mut points = Vec::new();
        if self.centre_value.is_none() {
            points.push(self.centre.clone());
        }
        for i in 0..n {
            points.push(moved(&[(i, 1.0)]));
            points.push(moved(&[(i, -1.0)]));
        }
        if round == Round::Curvature {
            for i in 0..n {
                for j in 0..i {
                    points.push(moved(&[(i, 1.0), (j, 1.0)]));
                }
            }
        }
        self.round = round;
        self.ask_for(points);
    }

    fn ask_for(&mut self, points: Vec<Vec<f64>>) {
        self.done = self.evaluations + points.len() > self.options.max_evaluations;
        self.waiting = points;
    }

    /// Fits the model to the differences and asks for its minimum.
    fn model(&mut self, values: &[f64]) {
        let (n, h) = (self.centre.len(), self.width);
        let centre = self.centre_value.unwrap_or(f64::INFINITY);
        let mut gradient = vec![0.0; n];
        for i in 0..n {
            let (plus, minus) = (values[2 * i], values[2 * i + 1]);
            gradient[i] = (plus - minus) / (2.0 * h);
            self.curvature[i * n + i] = (plus - 2.0 * centre + minus) / (h * h);
        }
        if self.round == Round::Curvature {
            let mut at = 2 * n;
            for i in 0..n {
                for j in 0..i {
                    let mixed = values[at] - values[2 * i] - values[2 * j] + centre;
                    self.curvature[i * n + j] = mixed / (h * h);
                    self.curvature[j * n + i] = mixed / (h * h);
                    at += 1;
                }
            }
        }
        let step = self.model_step(&gradient);
        // From a better neighbour of the centre when there is no way down from it.
        let length = step.iter().fold(0.0_f64, |m, p| m.max(p.abs()));
        let curved: f64 = (0..n * n)
            .map(|i| 0.5 * step[i / n] * self.curvature[i] * step[i % n])
            .sum();
        let sloped: f64 = step.iter().zip(&gradient).map(|(p, g)| p * g).sum();
        self.promised = -(sloped + curved);
        let small = (step.iter().enumerate())
            .all(|(i, p)| p.abs() * self.options.steps[i] < self.options.tolerances[i]);
        if small || self.promised < self.options.value_tolerance * centre.abs() || length == 0.0 {
            // The minimum itself is worth an evaluation unless nothing is to be gained.
            if self.promised <= 0.1 * self.options.value_tolerance * centre.abs() || length == 0.0 {
                self.done = true;
                return;
            }
        }
        let point = (self.centre.iter().zip(&step).zip(&self.options.steps))
            .map(|((x, p), s)| x + p * s)
            .collect();
        self.round = Round::Step;
        self.ask_for(vec![point]);
    }

    /// The model's minimum within reach: the curvature is raised until it is positive and the step short enough.
    fn model_step(&self, gradient: &[f64]) -> Vec<f64> {
        let n = gradient.len();
        let largest = (0..n).fold(0.0_f64, |m, i| m.max(self.curvature[i * n + i].abs()));
        let slope = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        let mut lift = 0.0;
        for _ in 0..80 {
            let mut raised = self.curvature.clone();
            for i in 0..n {
                raised[i * n + i] += lift;
            }
            if let Some(lower) = cholesky(&raised, n) {
                let step: Vec<f64> = solve(&lower, gradient).into_iter().map(|p| -p).collect();
                let length = step.iter().map(|p| p * p).sum::<f64>().sqrt();
                if length <= self.reach * (n as f64).sqrt() {
                    return step;
                }
            }
            lift = if lift == 0.0 {
                (1e-3 * largest).max(1e-3 * slope).max(f64::MIN_POSITIVE)
            } else {
                2.0 * lift
            };
        }
        vec![0.0; n]
    }

    /// What came of the model's step, and how to go on.
    fn stepped(&mut self, point: &[f64], value: f64, eligible: bool) {
        let length = (point.iter().zip(&self.centre).zip(&self.options.steps))
            .fold(0.0_f64, |m, ((a, b), s)| m.max(((a - b) / s).abs()));
        let before = self.centre_value.unwrap_or(f64::INFINITY);
        let gained = before - value;
        let moved = (point.iter().zip(&self.centre).zip(&self.options.tolerances))
            .any(|((a, b), t)| (a - b).abs() >= *t);
        if eligible && gained > 0.0 {
            self.centre = point.to_vec();
            self.centre_value = Some(value);
            if !moved || gained < self.options.value_tolerance * value.abs() {
                self.done = true;
                return;
            }
            let faithful = gained > 0.5 * self.promised;
            // A short step of a faithful model leaves its curvature as it was.
            let round = if faithful && length <= 1.5 * self.width {
                Round::Gradient
            } else {
                Round::Curvature
            };
            if faithful && length > 0.5 * self.reach {
                self.reach = (2.0 * self.reach).min(MOST_REACH);
            }
            if faithful {
                self.width = (self.width.min(length.max(0.25 * self.width))).max(LEAST_WIDTH);
            }
            self.begin(round);
            return;
        }
        // The model promised what is not there: from the best point seen, with shorter differences.
        self.reach *= 0.5;
        let narrow = self.width <= LEAST_WIDTH;
        self.width = (0.5 * self.width).max(LEAST_WIDTH);
        if let Some((best, value)) = self.best.clone() {
            self.centre = best;
            self.centre_value = Some(value);
        }
        if narrow || !moved {
            self.done = true;
        } else {
            self.begin(Round::Curvature);
        }
    }
}

#[cfg(test)]
mod tests;
