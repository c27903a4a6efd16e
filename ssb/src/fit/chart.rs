//! Coordinates without seams in which the smooth searches move: a coefficient and its angle as a Cartesian pair.
//!
//! Polar coordinates have a seam and a sign twin (`C12 < 0` at `phi12 + pi/2`); `(C cos m phi, C sin m phi)` has
//! neither (numerics section 8).

use ssb_core::{Candidate, TERMS};

use super::search_space::{SearchSpace, full_period};
use super::{Quantity, SearchRange};

/// One or two coordinates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Axis {
    /// `C cos m phi` and `C sin m phi` of a term, in nm, for `low <= C <= high`.
    Pair { term: usize, low: f64, high: f64 },
    /// One quantity in its unit.
    One(SearchRange),
}

impl Axis {
    fn len(self) -> usize {
        match self {
            Self::Pair { .. } => 2,
            Self::One(_) => 1,
        }
    }

    /// Index of its term; `None` for rotation, tilt and depth spread.
    pub(super) fn term(self) -> Option<usize> {
        match self {
            Self::Pair { term, .. } => Some(term),
            Self::One(range) => range.quantity.term_index(),
        }
    }
}

/// Some or all of what a search moves, the rest held.
#[derive(Debug, Clone)]
pub(super) struct Chart {
    pub axes: Vec<Axis>,
    /// What the axes do not move.
    pub held: Candidate,
    /// First steps of the search space, one a coordinate.
    pub steps: Vec<f64>,
    /// Tolerances of the search space, one a coordinate.
    pub tolerances: Vec<f64>,
}

impl Chart {
    /// Of everything that `space` searches.
    pub fn new(space: &SearchSpace) -> Self {
        let paired = |angle: &SearchRange| {
            let term = angle.quantity.term_index();
            let magnitude = |r: &&SearchRange| r.quantity == Quantity::Magnitude(term.unwrap_or(0));
            let partner = space.ranges.iter().find(magnitude);
            partner.filter(|_| angle.quantity.is_angle() && full_period(angle))
        };
        let mut chart = Self {
            axes: Vec::new(),
            held: space.candidate(&space.start),
            steps: Vec::new(),
            tolerances: Vec::new(),
        };
        for (i, range) in space.ranges.iter().enumerate() {
            if paired(range).is_some() {
                continue;
            }
            let (step, tolerance) = (space.steps[i], space.tolerances[i]);
            let angle = space.ranges.iter().find(|r| {
                r.quantity.is_angle()
                    && r.quantity.term_index() == range.quantity.term_index()
                    && paired(r).is_some()
            });
            let axis = match (range.quantity, angle) {
                (Quantity::Magnitude(term), Some(_)) => Axis::Pair {
                    term,
                    low: range.low.max(0.0),
                    high: range.high.max(-range.low),
                },
                _ => Axis::One(*range),
            };
            chart.steps.extend(std::iter::repeat_n(step, axis.len()));
            chart
                .tolerances
                .extend(std::iter::repeat_n(tolerance, axis.len()));
            chart.axes.push(axis);
        }
        chart
    }

    /// The axes that `keep` names, the others held where `at` has them.
    pub fn only(&self, at: &Candidate, keep: impl Fn(Axis) -> bool) -> Self {
        let mut chart = Self {
            axes: Vec::new(),
            held: at.clone(),
            steps: Vec::new(),
            tolerances: Vec::new(),
        };
        let mut from = 0;
        for axis in &self.axes {
            let range = from..from + axis.len();
            from = range.end;
            if keep(*axis) {
                chart.axes.push(*axis);
                chart.steps.extend(&self.steps[range.clone()]);
                chart.tolerances.extend(&self.tolerances[range]);
            }
        }
        chart
    }

    /// Number of coordinates.
    pub fn len(&self) -> usize {
        self.axes.iter().map(|a| a.len()).sum()
    }

    /// The coordinates of a candidate.
    pub fn point(&self, candidate: &Candidate) -> Vec<f64> {
        let mut point = Vec::new();
        for axis in &self.axes {
            match axis {
                Axis::Pair { term, .. } => {
                    let length = Quantity::Magnitude(*term).get(candidate);
                    let turned = f64::from(TERMS[*term].m) * Quantity::Angle(*term).get(candidate);
                    point.extend([length * turned.cos(), length * turned.sin()]);
                }
                Axis::One(range) => point.push(range.quantity.get(candidate)),
            }
        }
        point
    }

    /// The candidate of a point, moved within the bounds where it lies beyond them.
    pub fn candidate(&self, point: &[f64]) -> Candidate {
        let mut candidate = self.held.clone();
        let mut values = point.iter().copied();
        let mut next = || values.next().unwrap_or(0.0);
        for axis in &self.axes {
            match axis {
                Axis::Pair { term, low, high } => {
                    let (x, y) = (next(), next());
                    let angle = y.atan2(x) / f64::from(TERMS[*term].m);
                    Quantity::Magnitude(*term).set(&mut candidate, x.hypot(y).clamp(*low, *high));
                    Quantity::Angle(*term).set(&mut candidate, angle);
                }
                Axis::One(range) => {
                    let x = next();
                    let value = match range.quantity.period() {
                        Some(period) if full_period(range) => {
                            range.low + (x - range.low).rem_euclid(period)
                        }
                        _ => x.clamp(range.low, range.high),
                    };
                    range.quantity.set(&mut candidate, value);
                }
            }
        }
        candidate
    }

    /// One standard deviation of each searched quantity from the covariance of the coordinates at a point.
    pub fn deviations(&self, point: &[f64], covariance: &[f64]) -> Vec<(Quantity, f64)> {
        let n = self.len();
        let at = |i: usize, j: usize| covariance[i * n + j];
        let mut found = Vec::new();
        let mut i = 0;
        for axis in &self.axes {
            match axis {
                Axis::Pair { term, .. } => {
                    let (x, y) = (point[i], point[i + 1]);
                    let length = x.hypot(y).max(1e-9);
                    let (c, s) = (x / length, y / length);
                    let radial =
                        c * c * at(i, i) + 2.0 * c * s * at(i, i + 1) + s * s * at(i + 1, i + 1);
                    let across =
                        s * s * at(i, i) - 2.0 * c * s * at(i, i + 1) + c * c * at(i + 1, i + 1);
                    let m = f64::from(TERMS[*term].m);
                    found.push((Quantity::Magnitude(*term), radial.max(0.0).sqrt()));
                    found.push((
                        Quantity::Angle(*term),
                        across.max(0.0).sqrt() / (m * length),
                    ));
                }
                Axis::One(range) => found.push((range.quantity, at(i, i).max(0.0).sqrt())),
            }
            i += axis.len();
        }
        found
    }
}
