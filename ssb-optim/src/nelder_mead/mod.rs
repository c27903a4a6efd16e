//! Nelder-Mead's downhill simplex, asked and told, with SciPy's coefficients 1, 2, 1/2, 1/2.

use serde::{Deserialize, Serialize};

use crate::error::OptimError;
use crate::space::{Dim, Space};
use crate::study::{Score, check_finite};

mod options;

pub use options::NelderMeadOptions;

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stop {
    /// Values and coordinates both lie within their tolerances.
    Converged,
    /// The next step would pass the limit of evaluations.
    EvaluationLimit,
}

#[derive(Debug, Clone)]
struct Vertex {
    point: Vec<f64>,
    value: f64,
}

/// What the points that wait for a value are.
#[derive(Debug, Clone)]
enum Step {
    /// What a simplex lacks: all at first, all but the best of a shrunk or rebuilt one.
    Vertices,
    Reflection,
    Expansion {
        reflected: Vertex,
    },
    OutsideContraction {
        reflected: f64,
    },
    InsideContraction,
}

/// A downhill simplex search from one start.
///
/// The simplex moves in unfolded coordinates, where the function has no seam that could tear it;
/// every point that is asked or reported is folded ([`Space::fold`]). Plain coordinates are clamped
/// to the bounds, as SciPy does; an amplitude with a sign twin moves within the bounds on either
/// side of zero, and a periodic coordinate moves freely. Clamping can flatten the simplex onto a
/// bound, where it could not leave it again: a search that converges flat is rebuilt around its
/// best vertex with first steps, and ends when that no longer improves the value.
///
/// An ineligible score counts as infinite.
///
/// It is cancelled by no longer asking, and resumed by telling a new search the same scores again,
/// which [`Study::recall`](crate::Study::recall) does.
///
/// ```
/// use ssb_optim::{Dim, NelderMead, NelderMeadOptions, OptimError, Score, Space, Study, sampler};
/// let space = Space::new(vec![Dim::new("x", -5.0, 5.0), Dim::new("y", -5.0, 5.0)])?;
/// let options = NelderMeadOptions::new(vec![0.2; 2], vec![1e-3; 2]);
/// let mut search = NelderMead::new(&space, &[4.0, -3.0], options)?;
/// let mut study = Study::new(space, sampler("tpe")?, 200, 1);
/// while let Some(points) = search.ask() {
///     let asked = study.propose(points, "nelder-mead")?;
///     let scores = study.settle(&asked, |points| {
///         let value = |p: &Vec<f64>| 1.0 + (p[0] - 1.0).powi(2) + (p[1] - 2.0).powi(2);
///         Ok::<_, OptimError>(points.iter().map(|p| Score::new(value(p))).collect())
///     })?;
///     search.tell(&scores)?;
/// }
/// let (point, _) = search.best().unwrap();
/// assert!((point[0] - 1.0).abs() < 0.01 && (point[1] - 2.0).abs() < 0.01);
/// # Ok::<(), OptimError>(())
/// ```
#[derive(Debug, Clone)]
pub struct NelderMead {
    space: Space,
    options: NelderMeadOptions,
    /// Told vertices, best first unless some wait.
    simplex: Vec<Vertex>,
    /// Mean of all vertices but the worst.
    centroid: Vec<f64>,
    step: Step,
    /// Unfolded points that wait for a value, and the same folded.
    waiting: Vec<Vec<f64>>,
    folded: Vec<Vec<f64>>,
    best: Option<(Vec<f64>, f64)>,
    /// Value at the last rebuild of a flat simplex.
    rebuilt_at: f64,
    evaluations: usize,
    stop: Option<Stop>,
}

impl NelderMead {
    /// A search from `start`, which is folded, and clamped to the bounds where it is not periodic.
    ///
    /// The first step of a coordinate goes up, or down where up would leave the bounds.
    ///
    /// Errors: a start or an option that does not fit the space, or is outside its domain.
    pub fn new(
        space: &Space,
        start: &[f64],
        options: NelderMeadOptions,
    ) -> Result<Self, OptimError> {
        space.check(start)?;
        options.check(space)?;
        let mut search = Self {
            space: space.clone(),
            options,
            simplex: Vec::new(),
            centroid: Vec::new(),
            step: Step::Vertices,
            waiting: Vec::new(),
            folded: Vec::new(),
            best: None,
            rebuilt_at: f64::INFINITY,
            evaluations: 0,
            stop: None,
        };
        let mut start = start.to_vec();
        space.fold(&mut start);
        let start = search.confined(start);
        let mut points = search.first_vertices(&start);
        points.insert(0, start);
        search.want(Step::Vertices, points);
        Ok(search)
    }

    /// The folded points whose scores are wanted next, independent of each other: the first
    /// simplex, one point, or a shrunk simplex. `None` once the search has stopped.
    pub fn ask(&self) -> Option<&[Vec<f64>]> {
        self.stop.is_none().then_some(self.folded.as_slice())
    }

    /// Tells the scores of the asked points, in their order.
    ///
    /// Errors: another number of scores than points, a value not finite; the search is unchanged.
    pub fn tell(&mut self, scores: &[Score]) -> Result<(), OptimError> {
        let expected = self.ask().map_or(0, <[Vec<f64>]>::len);
        if scores.len() != expected {
            return Err(OptimError::WrongCount {
                expected,
                received: scores.len(),
            });
        }
        for (i, score) in scores.iter().enumerate() {
            check_finite(self.evaluations + i, *score)?;
        }
        let points = std::mem::take(&mut self.waiting);
        let folded = std::mem::take(&mut self.folded);
        self.evaluations += scores.len();
        let mut told = Vec::with_capacity(points.len());
        for ((point, folded), score) in points.into_iter().zip(folded).zip(scores) {
            let value = if score.eligible {
                score.value
            } else {
                f64::INFINITY
            };
            if value < self.best.as_ref().map_or(f64::INFINITY, |best| best.1) {
                self.best = Some((folded, value));
            }
            told.push(Vertex { point, value });
        }
        self.advance(told);
        Ok(())
    }

    /// The best eligible point told so far, folded, with its value.
    pub fn best(&self) -> Option<(&[f64], f64)> {
        self.best
            .as_ref()
            .map(|(point, value)| (point.as_slice(), *value))
    }

    /// Number of told values.
    pub fn evaluations(&self) -> usize {
        self.evaluations
    }

    /// Why the search ended; `None` while it runs.
    pub fn stop(&self) -> Option<Stop> {
        self.stop
    }

    fn advance(&mut self, mut told: Vec<Vertex>) {
        let step = std::mem::replace(&mut self.step, Step::Vertices);
        if matches!(step, Step::Vertices) {
            self.simplex.append(&mut told);
            return self.iterate();
        }
        let Some(vertex) = told.pop() else { return };
        let n = self.simplex.len();
        let (lowest, second) = (self.simplex[0].value, self.simplex[n - 2].value);
        let highest = self.simplex[n - 1].value;
        match step {
            Step::Vertices => {}
            Step::Reflection if vertex.value < lowest => {
                let point = self.along(-2.0);
                self.want(Step::Expansion { reflected: vertex }, vec![point]);
            }
            Step::Reflection if vertex.value < second => self.replace_worst(vertex),
            Step::Reflection if vertex.value < highest => {
                let point = self.along(-0.5);
                self.want(
                    Step::OutsideContraction {
                        reflected: vertex.value,
                    },
                    vec![point],
                );
            }
            Step::Reflection => {
                let point = self.along(0.5);
                self.want(Step::InsideContraction, vec![point]);
            }
            Step::Expansion { reflected } => {
                let expanded_wins = vertex.value < reflected.value;
                self.replace_worst(if expanded_wins { vertex } else { reflected });
            }
            Step::OutsideContraction { reflected } if vertex.value <= reflected => {
                self.replace_worst(vertex);
            }
            Step::InsideContraction if vertex.value < highest => self.replace_worst(vertex),
            Step::OutsideContraction { .. } | Step::InsideContraction => self.shrink(),
        }
    }

    /// Begins an iteration with a complete simplex: sort, test, reflect.
    fn iterate(&mut self) {
        self.simplex.sort_by(|a, b| a.value.total_cmp(&b.value));
        if self.converged() {
            let best = self.simplex[0].clone();
            let spread = self.options.relative_spread * best.value.abs();
            if self.flat() && best.value < self.rebuilt_at - spread {
                self.rebuilt_at = best.value;
                self.restart_from(self.first_vertices(&best.point));
            } else {
                self.stop = Some(Stop::Converged);
            }
            return;
        }
        let n = self.simplex.len() - 1;
        self.centroid = (0..n)
            .map(|d| self.simplex[..n].iter().map(|v| v.point[d]).sum::<f64>() / n as f64)
            .collect();
        let point = self.along(-1.0);
        self.want(Step::Reflection, vec![point]);
    }

    fn replace_worst(&mut self, vertex: Vertex) {
        self.simplex.pop();
        self.simplex.push(vertex);
        self.iterate();
    }

    /// Moves every vertex half way to the best.
    fn shrink(&mut self) {
        let best = &self.simplex[0].point;
        let half = |v: &Vertex| -> Vec<f64> {
            best.iter()
                .zip(&v.point)
                .map(|(b, x)| b + 0.5 * (x - b))
                .collect()
        };
        let points = self.simplex[1..]
            .iter()
            .map(|v| self.confined(half(v)))
            .collect();
        self.restart_from(points);
    }

    /// Keeps the best vertex and asks for the others.
    fn restart_from(&mut self, points: Vec<Vec<f64>>) {
        if self.want(Step::Vertices, points) {
            self.simplex.truncate(1);
        }
    }

    /// The points one first step from `x`, along each coordinate.
    fn first_vertices(&self, x: &[f64]) -> Vec<Vec<f64>> {
        let vertex = |(i, dim): (usize, &Dim)| {
            let step = self.options.steps[i].max(self.options.relative_step * x[i].abs());
            let mut point = x.to_vec();
            point[i] = match dim.twin {
                Some(_) => first_vertex(dim, x[i].abs(), step).copysign(x[i]),
                None => first_vertex(dim, x[i], step),
            };
            point
        };
        self.space.dims().iter().enumerate().map(vertex).collect()
    }

    /// Whether the vertices share a coordinate, so that the simplex cannot move along it.
    fn flat(&self) -> bool {
        let best = &self.simplex[0].point;
        (0..best.len()).any(|d| self.simplex.iter().all(|vertex| vertex.point[d] == best[d]))
    }

    /// The confined point at `t` from the centroid (0) to the worst vertex (1).
    fn along(&self, t: f64) -> Vec<f64> {
        let worst = &self.simplex[self.simplex.len() - 1].point;
        self.confined(
            self.centroid
                .iter()
                .zip(worst)
                .map(|(c, w)| c + t * (w - c))
                .collect(),
        )
    }

    /// Asks for points unless that would pass the limit; says whether it asked.
    fn want(&mut self, step: Step, points: Vec<Vec<f64>>) -> bool {
        if self.evaluations + points.len() > self.options.max_evaluations {
            self.stop = Some(Stop::EvaluationLimit);
            return false;
        }
        self.folded = points.clone();
        self.folded
            .iter_mut()
            .for_each(|point| self.space.fold(point));
        self.step = step;
        self.waiting = points;
        true
    }

    fn converged(&self) -> bool {
        let (best, rest) = (&self.simplex[0], &self.simplex[1..]);
        let spread = self.options.relative_spread * best.value.abs();
        rest.iter().all(|vertex| {
            let near = |((x, b), tolerance): ((&f64, &f64), &f64)| (x - b).abs() <= *tolerance;
            vertex.value - best.value <= spread
                && vertex
                    .point
                    .iter()
                    .zip(&best.point)
                    .zip(&self.options.tolerances)
                    .all(near)
        })
    }

    /// Clamps what the bounds hold, in unfolded coordinates.
    fn confined(&self, mut point: Vec<f64>) -> Vec<f64> {
        for (dim, x) in self.space.dims().iter().zip(&mut point) {
            if dim.twin.is_some() {
                *x = x.abs().clamp(dim.low, dim.high).copysign(*x);
            } else if dim.period.is_none() {
                *x = x.clamp(dim.low, dim.high);
            }
        }
        point
    }
}

/// A coordinate `step` away from `x` and within the bounds, or the farther bound.
fn first_vertex(dim: &Dim, x: f64, step: f64) -> f64 {
    if dim.period.is_some() || x + step <= dim.high {
        x + step
    } else if x - step >= dim.low {
        x - step
    } else if dim.high - x > x - dim.low {
        dim.high
    } else {
        dim.low
    }
}
