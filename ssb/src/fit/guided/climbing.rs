//! From the peaks of the coarse agreement to the basins of S over its whole band.

use ssb_core::{Candidate, Control, Evaluator, Geometry};
use ssb_optim::QuadraticOptions;

use super::basins::{
    Astigmatism, Peak, Searched, first_band, followed, half_width_a, peaks, quadratic_of,
    with_quadratic,
};
use super::powers::Powers;
use crate::Error;
use crate::fit::chart::{Axis, Chart};
use crate::fit::climb::climb;
use crate::fit::outcome::{AgreementBest, Deviation};
use crate::fit::search_space::{SearchSpace, full_period};
use crate::fit::{FitOptions, Quantity};

/// Basins that S over its whole band is asked about.
const BASINS: usize = 4;

/// A basin below this share of the best agreement is no rival.
const RIVAL: f64 = 0.9;

/// The same before the higher terms have been searched.
const RIVAL_BEFORE: f64 = 0.7;

/// Spacing of a searched rotation, in deg.
const ROTATION_STEP_DEG: f64 = 3.0;

/// The search, and what its agreements said.
pub(super) struct Guided<'a> {
    pub(super) evaluator: &'a mut dyn Evaluator,
    pub(super) geometry: &'a Geometry,
    pub(super) control: &'a Control,
    space: &'a SearchSpace,
    /// Whether every term is climbed by gradients.
    #[cfg(feature = "burn")]
    gradient: bool,
    /// Whether the start was given: then S climbs from it too.
    start_given: bool,
    pub(super) chart: Chart,
    pub(super) agreement_evaluations: usize,
    pub(super) warnings: Vec<String>,
}

/// What S says of its best basin.
pub(super) struct Told {
    pub(super) basins: Vec<AgreementBest>,
    pub(super) deviations: Vec<Deviation>,
}

impl<'a> Guided<'a> {
    pub(super) fn new(
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
            #[cfg(feature = "burn")]
            gradient: options.refine == crate::fit::Refine::Gradient,
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
    pub(super) fn steps(&self, chart: &Chart, share: f64) -> Vec<f64> {
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
        let powers = Powers::of(self.evaluator, self.geometry, self.control)?;
        let signal = powers.first_signal();
        let (hi, step) = first_band(self.geometry, searched, signal);
        if let Some(q) = signal.filter(|q| *q > hi) {
            self.warnings.push(format!(
                "search: the specimen shows nothing below {q:.2} 1/Å, and a grid over these ranges is too large to look there; give \
                 narrower ranges with --search"
            ));
        }
        let band = powers.strongest(self.evaluator, Some([0.25 * hi, hi]), self.control)?;
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
            found.extend(peaks(
                self.geometry,
                &band,
                searched,
                &at,
                step,
                self.control,
            )?);
        }
        found.sort_by(|a, b| b.agreement.total_cmp(&a.agreement));
        found.truncate(3 * BASINS);
        let whole = self.geometry.agreement_band().hi_per_a;
        let wider = (2.0 * hi).min(whole);
        if wider > 1.2 * hi {
            let band = powers.strongest(self.evaluator, Some([0.25 * hi, wider]), self.control)?;
            let step = 1.3 * half_width_a(self.geometry.semiangle_rad, wider);
            found = followed(self.geometry, &band, searched, &found, &held, step);
        }
        found.truncate(BASINS);
        Ok((found, held))
    }

    /// Climbs S over its whole band in C10 and C12 alone (and whatever is no higher term, when there is no more).
    fn climb_low(&mut self, start: &Candidate) -> Result<AgreementBest, Error> {
        let only_low = |axis: Axis| matches!(axis.term(), Some(0 | 1));
        let higher = !self.chart.axes.iter().all(|a| only_low(*a));
        let chart = self.chart.only(start, only_low);
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
    ) -> Result<AgreementBest, Error> {
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

    /// The same by gradients, every term at once.
    #[cfg(feature = "burn")]
    fn climb_by_gradient(&mut self, from: &AgreementBest) -> Result<AgreementBest, Error> {
        let candidate = crate::fit::gradient::climb(
            self.evaluator,
            self.geometry,
            &self.chart,
            &from.candidate,
            self.control,
        )?;
        let values = (self.evaluator).agreements(std::slice::from_ref(&candidate), self.control)?;
        self.agreement_evaluations += 1;
        Ok(match values.first() {
            Some(agreement) if *agreement > from.agreement => AgreementBest {
                candidate,
                agreement: *agreement,
            },
            _ => from.clone(),
        })
    }

    /// Goes on from a maximum in C10 and C12 with every searched term, low orders first.
    fn climb_all(&mut self, from: AgreementBest) -> Result<AgreementBest, Error> {
        #[cfg(feature = "burn")]
        if self.gradient {
            return self.climb_by_gradient(&from);
        }
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
    pub(super) fn basins(&mut self, searched: &Searched) -> Result<Told, Error> {
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
        let mut basins: Vec<AgreementBest> = Vec::new();
        for (i, start) in starts.iter().enumerate() {
            self.control
                .report("basins of the agreement", i as u64, starts.len() as u64);
            let climbed = self.climb_low(&self.chart.candidate(&self.chart.point(start)))?;
            let far = |b: &AgreementBest| self.apart(b, &climbed);
            if basins.iter().all(far) {
                basins.push(climbed);
            }
        }
        basins.sort_by(|a, b| b.agreement.total_cmp(&a.agreement));
        let more = self.chart.len() > self.climbed_low();
        #[cfg(feature = "burn")]
        let more = more || self.gradient;
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
    fn apart(&self, a: &AgreementBest, b: &AgreementBest) -> bool {
        let [c, d] = [a, b].map(|c| quadratic_of(&c.candidate));
        let length_a: f64 = (0..3).map(|i| (c[i] - d[i]).powi(2)).sum::<f64>().sqrt();
        let [c, d] = [a, b].map(|c| self.geometry.rotation_of(&c.candidate));
        length_a > 10.0 * self.width_nm() || Quantity::Rotation.distance(c, d) > 0.5
    }

    /// Whether two maxima are the two branches of the rotation: the column sign decides between those.
    pub(super) fn is_other_branch(&self, a: &AgreementBest, b: &AgreementBest) -> bool {
        let [a, b] = [a, b].map(|c| self.geometry.rotation_of(&c.candidate));
        Quantity::Rotation.distance(a, b) > 178.0
    }
}
