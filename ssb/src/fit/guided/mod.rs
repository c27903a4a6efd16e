//! The guided search: basins from the agreement S, coarse to fine in |q|; the exact phase variance decides among
//! them and has the last word (numerics section 8).
//!
//! 1. S at the strongest frequencies below 0.3 1/Å over a grid of C10 and C12 whose spacing follows from the depth
//!    of field ([`basins`]); the best peaks are followed to a wider band.
//! 2. S over its whole band, from the best peaks, with the low orders first and then every searched term.
//! 3. The exact loss of the basins that are left; from the best of them to its minimum.

mod band_model;
mod basins;
mod clearness;

use ssb_core::{Candidate, Control, Evaluator, Geometry};
use ssb_optim::{QuadraticDescent, QuadraticOptions, Score};

use self::basins::{
    Astigmatism, Peak, Searched, first_band, followed, half_width_a, peaks, quadratic_of,
    strongest, with_quadratic,
};
pub(crate) use self::clearness::Clearness;
use super::chart::{Axis, Chart};
use super::climb::{Climbed, climb};
use super::exact::ExactTrials;
use super::honest_limit::honest_limit;
use super::outcome::{AgreementBest, Deviation, Fit};
use super::search_space::{SearchSpace, full_period};
use super::{FitOptions, Quantity, Refine, SearchRange};
use crate::Error;

/// Basins that S over its whole band is asked about.
const BASINS: usize = 4;

/// A basin below this share of the best agreement is no rival.
const RIVAL: f64 = 0.9;

/// The same before the higher terms have been searched.
const RIVAL_BEFORE: f64 = 0.7;

/// Share of the highest agreement that the final candidate must keep.
const PEAK: f64 = 0.98;

/// Difference of two log likelihoods from which the higher one is sure.
const SURE: f64 = 12.0;

/// Spacing of a searched rotation, in deg.
const ROTATION_STEP_DEG: f64 = 3.0;

/// Largest range that is searched unasked, in nm.
const MOST_NM: f64 = 400.0;

/// The ranges that a guided search takes when none are given: the default ones, widened to what detector and field
/// can honestly show.
fn honest_ranges(options: &FitOptions, geometry: &Geometry) -> Vec<SearchRange> {
    let limit_nm = honest_limit(geometry).nm().min(MOST_NM);
    [(0, limit_nm), (1, 0.5 * limit_nm)]
        .into_iter()
        .filter_map(|(term, most_nm)| {
            let mut range = SearchRange::default_of(Quantity::Magnitude(term))?;
            range.high = range.high.max(most_nm);
            range.low = range
                .low
                .min(-most_nm)
                .max(if term == 0 { -range.high } else { 0.0 });
            Some(range)
        })
        .filter(|r| !options.fix.iter().any(|f| f.quantity == r.quantity))
        .collect()
}

/// What of C10 and C12 a space searches.
fn searched(space: &SearchSpace) -> Searched {
    let range = |q: Quantity| space.ranges.iter().find(|r| r.quantity == q);
    let a = |r: &SearchRange| [10.0 * r.low, 10.0 * r.high];
    let held = space.candidate(&space.start).aberrations.get(1);
    let c12 = match (
        range(Quantity::Magnitude(1)),
        range(Quantity::Angle(1)).filter(|r| full_period(r)),
    ) {
        (None, None) => Astigmatism::Held,
        (None, Some(_)) => Astigmatism::Turning {
            length: held.magnitude_a,
        },
        (Some(r), None) => Astigmatism::Along {
            ends: a(r),
            phi: held.angle_rad,
        },
        (Some(r), Some(_)) => Astigmatism::Free {
            most: 10.0 * r.high.max(-r.low),
        },
    };
    Searched {
        c10: range(Quantity::Magnitude(0)).map(a),
        c12,
    }
}

/// The search, and what its agreements said.
struct Guided<'a> {
    evaluator: &'a mut dyn Evaluator,
    geometry: &'a Geometry,
    control: &'a Control,
    space: &'a SearchSpace,
    /// Whether the start was given: then S climbs from it too.
    start_given: bool,
    chart: Chart,
    agreement_evaluations: usize,
    warnings: Vec<String>,
}

/// What S says of its best basin.
struct Told {
    basins: Vec<Climbed>,
    deviations: Vec<Deviation>,
}

impl<'a> Guided<'a> {
    fn new(
        evaluator: &'a mut dyn Evaluator,
        geometry: &'a Geometry,
        space: &'a SearchSpace,
        options: &FitOptions,
        control: &'a Control,
    ) -> Self {
        Self {
            evaluator,
            geometry,
            control,
            space,
            start_given: !options.start.is_empty(),
            chart: Chart::new(space),
            agreement_evaluations: 0,
            warnings: Vec::new(),
        }
    }

    /// Half width of S over C10 at its whole band, in nm of C10: the scale of every step.
    fn width_nm(&self) -> f64 {
        let hi = self.geometry.agreement_band().hi_per_a;
        0.1 * half_width_a(self.geometry.semiangle_rad, hi)
    }

    /// Steps of a chart as a share of S's half width, from the space's steps, which are those of 0.2 nm of C10.
    fn steps(&self, chart: &Chart, share: f64) -> Vec<f64> {
        let widths = share * self.width_nm() / 0.2;
        chart.steps.iter().map(|s| s * widths).collect()
    }

    /// The rotations at which the grid is laid.
    fn rotations(&self) -> Vec<Option<f64>> {
        let range = self
            .space
            .ranges
            .iter()
            .find(|r| r.quantity == Quantity::Rotation);
        let Some(range) = range else {
            return vec![self.chart.held.rotation_deg];
        };
        let count = ((range.high - range.low) / ROTATION_STEP_DEG)
            .ceil()
            .max(1.0);
        // The end of a full turn is its beginning.
        let last = count as usize - usize::from(full_period(range));
        (0..=last)
            .map(|i| Some(range.low + (range.high - range.low) * i as f64 / count))
            .collect()
    }

    /// The highest peaks of the coarse agreement, followed to a wider band.
    fn peaks(&mut self, searched: &Searched) -> Result<(Vec<Peak>, Candidate), Error> {
        let mut held = self.chart.held.clone();
        if searched.c10.is_some() {
            held.aberrations.get_mut(0).magnitude_a = 0.0;
        }
        if searched.c12 != Astigmatism::Held {
            held.aberrations.get_mut(1).magnitude_a = 0.0;
        }
        let (hi, step) = first_band(self.geometry, searched);
        let band = strongest(self.evaluator, self.geometry, [0.25 * hi, hi], self.control)?;
        let mut found = Vec::new();
        let rotations = self.rotations();
        for (i, rotation_deg) in rotations.iter().enumerate() {
            self.control.check()?;
            self.control
                .report("grid of the agreement", i as u64, rotations.len() as u64);
            let at = Candidate {
                rotation_deg: *rotation_deg,
                ..held.clone()
            };
            found.extend(peaks(self.geometry, &band, searched, &at, step));
        }
        found.sort_by(|a, b| b.agreement.total_cmp(&a.agreement));
        found.truncate(3 * BASINS);
        let whole = self.geometry.agreement_band().hi_per_a;
        let wider = (2.0 * hi).min(whole);
        if wider > 1.2 * hi {
            let band = strongest(
                self.evaluator,
                self.geometry,
                [0.25 * hi, wider],
                self.control,
            )?;
            let step = 1.3 * half_width_a(self.geometry.semiangle_rad, wider);
            found = followed(self.geometry, &band, searched, &found, &held, step);
        }
        found.truncate(BASINS);
        Ok((found, held))
    }

    /// Climbs S over its whole band in C10 and C12 alone (and whatever is no higher term, when there is no more).
    fn climb_low(&mut self, start: &Candidate) -> Result<Climbed, Error> {
        let only_low = |axis: Axis| matches!(axis.term(), Some(0 | 1));
        let higher = !self.chart.axes.iter().all(|a| only_low(*a));
        let chart = self.chart.only(start, |axis| only_low(axis));
        if higher && chart.len() > 0 {
            return self.climb_in(&chart, start, 6);
        }
        self.climb_in(&self.chart.only(start, |_| true), start, 6)
    }

    /// Coordinates that [`Self::climb_low`] moves.
    fn climbed_low(&self) -> usize {
        let only_low = |axis: Axis| matches!(axis.term(), Some(0 | 1));
        match self.chart.only(&self.chart.held, only_low).len() {
            0 => self.chart.len(),
            low => low,
        }
    }

    /// Climbs in a chart, with at most `rounds` full models.
    fn climb_in(
        &mut self,
        chart: &Chart,
        start: &Candidate,
        rounds: usize,
    ) -> Result<Climbed, Error> {
        let n = chart.len();
        let options = QuadraticOptions {
            steps: self.steps(chart, 0.3),
            tolerances: chart.tolerances.clone(),
            value_tolerance: 1e-5,
            max_evaluations: rounds * ((n + 1) * (n + 2) / 2 + 1),
        };
        let (climbed, evaluations) = climb(self.evaluator, chart, start, options, self.control)?;
        self.agreement_evaluations += evaluations;
        Ok(climbed)
    }

    /// Goes on from a maximum in C10 and C12 with every searched term, low orders first.
    fn climb_all(&mut self, from: Climbed) -> Result<Climbed, Error> {
        let mut at = from;
        let mut stages: Vec<u32> = (self.chart.axes.iter())
            .filter_map(|a| a.term())
            .map(|t| ssb_core::TERMS[t].n)
            .filter(|n| *n > 1)
            .collect();
        stages.sort_unstable();
        stages.dedup();
        if stages.is_empty() {
            stages.push(0);
        }
        for (i, order) in stages.iter().enumerate() {
            // Terms of an own formula (n = 0), rotation and the like come last.
            let last = i + 1 == stages.len();
            let low = |axis: Axis| {
                axis.term()
                    .is_some_and(|t| (1..=*order).contains(&ssb_core::TERMS[t].n))
            };
            let chart = self.chart.only(&at.candidate, |axis| last || low(axis));
            let climbed = self.climb_in(&chart, &at.candidate, 25)?;
            if climbed.agreement > at.agreement {
                at = climbed;
            }
        }
        Ok(at)
    }

    /// The basins of S, best first, and how sure the best is.
    fn basins(&mut self, searched: &Searched) -> Result<Told, Error> {
        let (peaks, held) = self.peaks(searched)?;
        let mut starts: Vec<Candidate> = (peaks.iter())
            .map(|peak| Candidate {
                rotation_deg: peak.rotation_deg,
                ..with_quadratic(&held, searched, peak.quadratic)
            })
            .collect();
        if self.start_given {
            starts.push(self.space.candidate(&self.space.start));
        }
        let mut basins: Vec<Climbed> = Vec::new();
        for (i, start) in starts.iter().enumerate() {
            self.control
                .report("basins of the agreement", i as u64, starts.len() as u64);
            let climbed = self.climb_low(&self.chart.candidate(&self.chart.point(start)))?;
            let far = |b: &Climbed| self.apart(b, &climbed);
            if basins.iter().all(far) {
                basins.push(climbed);
            }
        }
        basins.sort_by(|a, b| b.agreement.total_cmp(&a.agreement));
        let more = self.chart.len() > self.climbed_low();
        if more {
            let top = basins.first().map_or(0.0, |b| b.agreement);
            basins.retain(|b| b.agreement >= RIVAL_BEFORE * top);
            basins.truncate(2);
            let low = std::mem::take(&mut basins);
            for basin in low {
                let climbed = self.climb_all(basin)?;
                if basins.iter().all(|b| self.apart(b, &climbed)) {
                    basins.push(climbed);
                }
            }
            basins.sort_by(|a, b| b.agreement.total_cmp(&a.agreement));
        }
        let Some(best) = basins.first().cloned() else {
            return Ok(Told {
                basins,
                deviations: Vec::new(),
            });
        };
        let deviations = self.say_how_sure(&best, basins.get(1))?;
        basins.retain(|b| b.agreement >= RIVAL * best.agreement);
        Ok(Told { basins, deviations })
    }

    /// Whether two maxima are different basins.
    fn apart(&self, a: &Climbed, b: &Climbed) -> bool {
        let [c, d] = [a, b].map(|c| quadratic_of(&c.candidate));
        let length_a: f64 = (0..3).map(|i| (c[i] - d[i]).powi(2)).sum::<f64>().sqrt();
        let [c, d] = [a, b].map(|c| self.geometry.rotation_of(&c.candidate));
        let turned_deg = (c - d).rem_euclid(360.0);
        length_a > 10.0 * self.width_nm() || turned_deg.min(360.0 - turned_deg) > 0.5
    }

    /// Whether two maxima are the two branches of the rotation: the column sign decides between those.
    fn is_other_branch(&self, a: &Climbed, b: &Climbed) -> bool {
        let [a, b] = [a, b].map(|c| self.geometry.rotation_of(&c.candidate));
        ((a - b).rem_euclid(360.0) - 180.0).abs() < 2.0
    }

    /// Noise, clearness of the peak, and the standard deviations of what was searched.
    fn say_how_sure(
        &mut self,
        best: &Climbed,
        second: Option<&Climbed>,
    ) -> Result<Vec<Deviation>, Error> {
        let clearness = Clearness::of(
            self.evaluator,
            self.geometry,
            &best.candidate,
            best.agreement,
            self.control,
        )?;
        let noise = clearness.noise;
        let second = second.filter(|b| !self.is_other_branch(best, b));
        if let (None, Some(second)) = (clearness.doubt(), second) {
            let lead = (best.agreement - second.agreement) / (2.0 * noise);
            if lead < SURE {
                let [a, b] = [best, second].map(|c| quadratic_of(&c.candidate));
                self.warnings.push(format!(
                    "agreement: two basins are nearly equal (log likelihoods {lead:.1} apart, {SURE} are sure): C10 {:.2} nm \
                     with C12 {:.2} nm, and C10 {:.2} nm with C12 {:.2} nm; the phase variance decided",
                    a[0] / 10.0,
                    a[1].hypot(a[2]) / 10.0,
                    b[0] / 10.0,
                    b[1].hypot(b[2]) / 10.0
                ));
            }
        }
        let chart = self.chart.only(&best.candidate, |_| true);
        let options = QuadraticOptions {
            steps: self.steps(&chart, 0.25),
            tolerances: chart.tolerances.clone(),
            value_tolerance: 1e-9,
            max_evaluations: usize::MAX,
        };
        let centre = chart.point(&best.candidate);
        let mut stencil = QuadraticDescent::new(centre.clone(), options)?;
        if let Some(points) = stencil.ask() {
            let candidates: Vec<_> = points.iter().map(|p| chart.candidate(p)).collect();
            let values = self.evaluator.agreements(&candidates, self.control)?;
            self.agreement_evaluations += values.len();
            let scores: Vec<_> = values.iter().map(|s| Score::new(-s)).collect();
            stencil.tell(&scores)?;
        }
        let information: Vec<f64> = (stencil.hessian().iter())
            .map(|h| h / (2.0 * noise))
            .collect();
        let Some(covariance) = ssb_optim::inverse_of_positive(&information, chart.len()) else {
            self.warnings.push(
                "uncertainties: the agreement has no maximum in all searched quantities at once; search fewer"
                    .into(),
            );
            return Ok(Vec::new());
        };
        Ok((chart.deviations(&centre, &covariance).into_iter())
            .map(|(quantity, noise)| Deviation {
                quantity,
                noise,
                sigma: noise,
            })
            .collect())
    }
}

/// The basins of the thin model, best first, and the agreements that they took.
///
/// # Errors
/// As [`search`].
pub(super) fn thin_basins(
    evaluator: &mut dyn Evaluator,
    geometry: &Geometry,
    options: &FitOptions,
    control: &Control,
) -> Result<(Vec<Climbed>, usize), Error> {
    let space = SearchSpace::new(&widened(options, geometry), geometry)?;
    let mut guided = Guided::new(evaluator, geometry, &space, options, control);
    let told = guided.basins(&searched(&space))?;
    Ok((told.basins, guided.agreement_evaluations))
}

/// The options with the ranges of C10 and C12 that a guided search takes when none are given.
fn widened(options: &FitOptions, geometry: &Geometry) -> FitOptions {
    let mut options = options.clone();
    if !options.search.iter().any(|r| r.quantity.term().is_some()) {
        options.search.extend(honest_ranges(&options, geometry));
    }
    options
}

/// What ranges beyond the honest limit ask for.
fn doubt(options: &FitOptions, geometry: &Geometry) -> Option<String> {
    let honest_nm = honest_limit(geometry).nm();
    let most = (options.search.iter())
        .filter(|r| matches!(r.quantity, Quantity::Magnitude(0 | 1)))
        .map(|r| r.high.max(-r.low))
        .fold(0.0, f64::max);
    (most > 1.001 * honest_nm).then(|| {
        format!(
            "search: the ranges ask for up to {most:.0} nm; beyond {honest_nm:.1} nm of |C10| + C12 these pixels and this \
             field show nothing reliable"
        )
    })
}

/// The guided search.
///
/// # Errors
/// As [`super::search`].
pub(super) fn search(
    evaluator: &mut dyn Evaluator,
    geometry: &Geometry,
    options: &FitOptions,
    control: &Control,
) -> Result<Fit, Error> {
    let space = SearchSpace::new(&widened(options, geometry), geometry)?;
    let mut warnings = space.warnings.clone();
    warnings.extend(doubt(options, geometry));
    let mut guided = Guided::new(&mut *evaluator, geometry, &space, options, control);
    let told = guided.basins(&searched(&space))?;
    let chart = guided.chart.clone();
    let steps = guided.steps(&chart, 0.25);
    let agreement_evaluations = guided.agreement_evaluations;
    warnings.append(&mut guided.warnings);
    let mut trials = ExactTrials::new(evaluator, control);
    let outcome = decide(&mut trials, &chart, &told.basins, steps, options)
        .and_then(|()| keep_to_the_peak(&mut trials, &told.basins, &mut warnings));
    let cancelled = match outcome {
        Ok(()) => false,
        Err(e) if e.is_cancelled() && trials.best().is_some() => true,
        Err(e) => return Err(e),
    };
    let mut fit = trials.into_fit(&space, warnings, cancelled)?;
    fit.agreement_evaluations = agreement_evaluations;
    fit.refinements = usize::from(options.refine != Refine::None);
    if let Some(top) = told.basins.first() {
        let apart = |d: Deviation| d.with_distance(&fit.best, &top.candidate);
        fit.deviations = told.deviations.into_iter().map(apart).collect();
    }
    fit.agreement_best = told.basins.first().map(|b| AgreementBest {
        candidate: b.candidate.clone(),
        agreement: b.agreement,
    });
    Ok(fit)
}

/// Bars trials whose agreement has fallen below [`PEAK`] of the highest: at few electrons the phase variance is mostly
/// that of noise, which other aberrations can make smaller than the true ones do.
fn keep_to_the_peak(
    trials: &mut ExactTrials<'_>,
    basins: &[Climbed],
    warnings: &mut Vec<String>,
) -> Result<(), Error> {
    let (Some(top), Some(best)) = (basins.first(), trials.best()) else {
        return Ok(());
    };
    let (number, candidate) = (best.number, best.candidate.clone());
    let share = trials.agreements(&[candidate])?[0] / top.agreement;
    if share >= PEAK {
        return Ok(());
    }
    let candidates: Vec<_> = trials.all().iter().map(|t| t.candidate.clone()).collect();
    let values = trials.agreements(&candidates)?;
    trials.bar(|t| values[t.number] < PEAK * top.agreement);
    warnings.push(format!(
        "phase variance: its minimum (trial {number}) has {:.0} % of the highest agreement and is not taken for the \
         aberrations; at so few electrons the variance of noise outweighs that of the phase",
        100.0 * share
    ));
    Ok(())
}

/// The exact loss of the basins, and from the best of them to its minimum.
fn decide(
    trials: &mut ExactTrials<'_>,
    chart: &Chart,
    basins: &[Climbed],
    steps: Vec<f64>,
    options: &FitOptions,
) -> Result<(), Error> {
    let candidates: Vec<_> = basins.iter().map(|b| b.candidate.clone()).collect();
    trials.evaluate(&candidates, "guided")?;
    let Some(best) = trials.best_of("guided").cloned() else {
        return Ok(());
    };
    if options.refine == Refine::None {
        return Ok(());
    }
    let n = chart.len();
    let chart = chart.only(&best.candidate, |_| true);
    let refinement = QuadraticOptions {
        steps,
        tolerances: chart.tolerances.clone(),
        value_tolerance: 2e-5,
        max_evaluations: (n + 1) * (n + 2) / 2 + 4 * n + 3,
    };
    let mut search = QuadraticDescent::new(chart.point(&best.candidate), refinement)?;
    while let Some(points) = search.ask() {
        let candidates: Vec<_> = points.iter().map(|p| chart.candidate(p)).collect();
        let scores = trials.evaluate(&candidates, "quadratic")?;
        search.tell(&scores)?;
    }
    Ok(())
}
