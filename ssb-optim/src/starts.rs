//! Which trials deserve a local search: the best, and distinct others when it does not lead.

use serde::{Deserialize, Serialize};

use crate::space::Space;
use crate::study::{Trial, eligible};

/// When a trial leads, and how its rivals are chosen.
///
/// Depth is how far a value lies below the median of the eligible trials, as a share of how far
/// the best lies below it: 1 for the best, 0 for the median.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StartOptions {
    /// Least [`Space::distance`] between starts, and of a rival from the leader (0.15).
    pub separation: f64,
    /// A trial leads clearly when its nearest rival elsewhere has at most this depth (0.5).
    pub lead: f64,
    /// Least depth of a further start (0).
    pub depth: f64,
    /// Most starts, the best included (8).
    pub max_starts: usize,
}

impl Default for StartOptions {
    fn default() -> Self {
        Self {
            separation: 0.15,
            lead: 0.5,
            depth: 0.0,
            max_starts: 8,
        }
    }
}

/// Whether a candidate of some value leads clearly over `trials`.
///
/// It does when the best eligible trial that is at least `separation` away from it is at most
/// `lead` times as far below the median as it is. Nothing leads before three eligible trials, or
/// from above the median. Give it the sampler's trials, not those of a local search, whose many
/// trials around one point would shift the median: first with the best of them, to see whether one
/// start will do; then with each refined point, to see whether further starts are needed.
pub fn leads_clearly(
    space: &Space,
    point: &[f64],
    value: f64,
    trials: &[Trial],
    options: &StartOptions,
) -> bool {
    let Some(median) = median(trials) else {
        return false;
    };
    let leader = folded(space, point);
    let rival = eligible(trials)
        .filter(|(t, _)| space.distance(&leader, &folded(space, &t.point)) >= options.separation)
        .map(|(_, value)| value)
        .fold(f64::INFINITY, f64::min);
    value < median && median - rival <= options.lead * (median - value)
}

/// The best trial and, unless it leads clearly, further ones from which to search locally.
///
/// The further ones are taken in order of value (the earlier of equals first), each at least
/// `separation` away from all before it and at least `depth` deep, until there are `max_starts`.
/// Empty only when no trial is eligible.
///
/// ```
/// use ssb_optim::{
///     Dim, NelderMead, NelderMeadOptions, OptimError, Score, Space, StartOptions, Study,
///     distinct_starts, leads_clearly, sampler,
/// };
/// // A narrow well at 2 in a wide, shallow bowl around -6.
/// let well = |x: f64| 9.0 - 6.0 / (1.0 + (4.0 * (x - 2.0)).powi(2)) + 1e-3 * (x + 6.0).powi(2);
/// let evaluate = |points: &[Vec<f64>]| -> Result<Vec<Score>, OptimError> {
///     Ok(points.iter().map(|x| Score::new(well(x[0]))).collect())
/// };
/// let space = Space::new(vec![Dim::new("x", -20.0, 20.0)])?;
/// let mut study = Study::new(space.clone(), sampler("random")?, 20, 1);
/// let asked = study.ask(20);
/// study.settle(&asked, evaluate)?;
/// let trials = study.trials().to_vec();
/// let options = StartOptions::default();
/// for start in distinct_starts(&space, &trials, &options) {
///     let steps = NelderMeadOptions::new(vec![0.5], vec![1e-3]);
///     let mut search = NelderMead::new(&space, &start.point, steps)?;
///     while let Some(points) = search.ask() {
///         let asked = study.propose(points, "nelder-mead")?;
///         let scores = study.settle(&asked, evaluate)?;
///         search.tell(&scores)?;
///     }
///     if let Some((point, value)) = search.best()
///         && leads_clearly(&space, point, value, &trials, &options)
///     {
///         break;
///     }
/// }
/// assert!((study.best().unwrap().point[0] - 2.0).abs() < 0.01);
/// # Ok::<(), OptimError>(())
/// ```
pub fn distinct_starts<'a>(
    space: &Space,
    trials: &'a [Trial],
    options: &StartOptions,
) -> Vec<&'a Trial> {
    let mut ranking: Vec<(&Trial, f64)> = eligible(trials).collect();
    ranking.sort_by(|a, b| a.1.total_cmp(&b.1));
    let Some(&(best, lowest)) = ranking.first() else {
        return Vec::new();
    };
    let mut starts = vec![(best, folded(space, &best.point))];
    if leads_clearly(space, &best.point, lowest, trials, options) {
        return vec![best];
    }
    let median = median(trials).unwrap_or(f64::INFINITY);
    for (trial, value) in ranking.into_iter().skip(1) {
        // Values rise, so the first that is not deep enough ends it.
        if starts.len() >= options.max_starts || median - value < options.depth * (median - lowest)
        {
            break;
        }
        let point = folded(space, &trial.point);
        if starts
            .iter()
            .all(|(_, start)| space.distance(start, &point) >= options.separation)
        {
            starts.push((trial, point));
        }
    }
    starts.into_iter().map(|(trial, _)| trial).collect()
}

fn folded(space: &Space, point: &[f64]) -> Vec<f64> {
    let mut point = point.to_vec();
    space.fold(&mut point);
    point
}

/// Median of the eligible values, the upper one of an even count; `None` below three.
fn median(trials: &[Trial]) -> Option<f64> {
    let mut values: Vec<f64> = eligible(trials).map(|(_, value)| value).collect();
    values.sort_by(f64::total_cmp);
    (values.len() >= 3).then(|| values[values.len() / 2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dim, Score};

    fn space() -> Space {
        let angle = Dim::new("phi", 0.0, 4.0).with_period(4.0);
        Space::new(vec![Dim::new("x", 0.0, 10.0), angle]).unwrap()
    }

    fn trials(list: &[(f64, f64, f64)]) -> Vec<Trial> {
        (list.iter().enumerate())
            .map(|(number, &(x, angle, value))| Trial {
                number,
                point: vec![x, angle],
                method: "tpe".into(),
                memo_of: None,
                score: Some(Score::new(value)),
            })
            .collect()
    }

    fn numbers(trials: &[Trial], options: &StartOptions) -> Vec<usize> {
        distinct_starts(&space(), trials, options)
            .iter()
            .map(|t| t.number)
            .collect()
    }

    #[test]
    fn a_leader_is_the_only_start() {
        // Trial 1 is as deep as the best but beside it, across the seam of the angle.
        let trials = trials(&[
            (5.0, 0.1, 1.0),
            (5.2, 3.9, 1.1),
            (1.0, 2.0, 7.0),
            (9.0, 2.0, 8.0),
            (2.0, 2.0, 8.0),
        ]);
        assert_eq!(numbers(&trials, &StartOptions::default()), [0]);
    }

    #[test]
    fn rivals_are_distinct_deep_and_counted() {
        let mut trials = trials(&[
            (9.0, 2.0, 6.9),
            (5.0, 0.1, 6.0),
            (5.2, 3.9, 6.1),
            (1.0, 2.0, 6.4),
            (1.1, 2.1, 6.3),
            (3.0, 1.0, 7.0),
            (4.0, 3.0, 7.1),
            (7.0, 3.0, 7.1),
            (8.0, 1.0, 7.2),
            (2.0, 0.0, 7.3),
        ]);
        let options = StartOptions::default();
        // Median 7.1, depth 1.1: 4 and 0 are rivals, 2 and 3 stand beside others.
        assert_eq!(numbers(&trials, &options)[..3], [1, 4, 0]);
        assert_eq!(
            numbers(
                &trials,
                &StartOptions {
                    depth: 0.5,
                    ..options.clone()
                }
            ),
            [1, 4]
        );
        assert_eq!(
            numbers(
                &trials,
                &StartOptions {
                    max_starts: 1,
                    ..options.clone()
                }
            ),
            [1]
        );
        let refined = leads_clearly(&space(), &[4.0, 0.5], 2.0, &trials, &options);
        assert!(refined, "a refined point far below the rest leads");
        assert!(!leads_clearly(
            &space(),
            &[4.0, 0.5],
            7.5,
            &trials,
            &options
        ));
        trials[1].score = Some(Score {
            value: 6.0,
            eligible: false,
        });
        assert_eq!(numbers(&trials, &options)[0], 2);
        assert_eq!(numbers(&[], &options), [0usize; 0]);
    }
}
