//! The search space of a fit: which quantities move, over which range, from which start.
//!
//! Angles that span their full period are periodic, and a coefficient with such an angle has a
//! sign twin (`C12 < 0` at `phi12` is `C12 > 0` at `phi12 + pi/2`). First steps and tolerances are
//! those of C10 and C12 (0.2 nm, 0.02 nm) and phi12 (0.04 rad, 1e-3 rad); for the other terms they
//! are scaled to the same phase at the edge of the aperture: lengths by
//! `(n + 1) / (2 alpha^(n-1))` (terms with a formula of their own: by their largest phase), angles by
//! `2 / m`. Rotation steps by 0.5 deg, tilt by 2 mrad, depth spread by 5 nm.

use ssb_core::{Candidate, Geometry, Term};
use ssb_optim::{Dim, Space};

use super::{FitOptions, Quantity, SearchRange, Setting};
use crate::Error;
use crate::digits::significant;

const STEP_NM: f64 = 0.2;
const STEP_RAD: f64 = 0.04;
const TOLERANCE_NM: f64 = 0.02;
const TOLERANCE_RAD: f64 = 1e-3;
const START_C12_NM: f64 = 5.0;
const START_DEPTH_NM: f64 = 10.0;

/// First step and tolerance of the rotation in deg, of a tilt in mrad and of the depth spread in nm.
const BESIDE_TERMS: [(f64, f64); 3] = [(0.5, 0.01), (2.0, 0.02), (5.0, 0.1)];

/// The quantities that move and those that are held.
#[derive(Debug, Clone)]
pub(super) struct SearchSpace {
    pub ranges: Vec<SearchRange>,
    pub space: Space,
    /// First steps of the simplex, in nm or rad.
    pub steps: Vec<f64>,
    /// Tolerances of the simplex, in nm or rad.
    pub tolerances: Vec<f64>,
    pub start: Vec<f64>,
    /// The acquisition's rotation, in deg.
    rotation_deg: f64,
    held: Candidate,
    pub warnings: Vec<String>,
}

/// Length that gives a term the phase at the aperture's edge of 1 nm of defocus.
fn length_scale(term: &Term, semiangle_rad: f64) -> f64 {
    0.5 * semiangle_rad.powi(2) / term.largest_path(semiangle_rad)
}

fn ranges(options: &FitOptions) -> Vec<SearchRange> {
    let held = |q: Quantity| options.fix.iter().any(|f| f.quantity == q);
    let default = |q: Quantity| SearchRange::default_of(q).filter(|_| !held(q));
    let mut ranges = options.search.clone();
    let add = |ranges: &mut Vec<SearchRange>, quantities: &[Quantity]| {
        for quantity in quantities {
            if !ranges.iter().any(|r| r.quantity == *quantity) {
                ranges.extend(default(*quantity));
            }
        }
    };
    let terms = |ranges: &[SearchRange]| ranges.iter().any(|r| r.quantity.term().is_some());
    if !terms(&ranges) {
        add(
            &mut ranges,
            &[Quantity::Magnitude(0), Quantity::Magnitude(1)],
        );
    }
    if options.is_thick() {
        add(
            &mut ranges,
            &[Quantity::TiltRow, Quantity::TiltCol, Quantity::DepthSpread],
        );
    }
    let angles: Vec<Quantity> = ranges
        .iter()
        .filter_map(|r| match r.quantity {
            Quantity::Magnitude(term) if ssb_core::TERMS[term].m > 0 => Some(Quantity::Angle(term)),
            _ => None,
        })
        .collect();
    add(&mut ranges, &angles);
    // Coefficient before angle, terms in the order of the table.
    ranges.sort_by_key(|r| r.quantity.rank());
    ranges
}

pub(super) fn full_period(range: &SearchRange) -> bool {
    (range.quantity.period())
        .is_some_and(|period| (range.high - range.low - period).abs() < 1e-9 * period)
}

fn dims(ranges: &[SearchRange]) -> Vec<Dim> {
    ranges
        .iter()
        .map(|range| {
            let dim = Dim::new(range.quantity.key(), range.low, range.high);
            if let (true, Some(period)) = (full_period(range), range.quantity.period()) {
                return dim.with_period(period);
            }
            let Quantity::Magnitude(term) = range.quantity else {
                return dim;
            };
            let partner = ranges
                .iter()
                .position(|r| r.quantity == Quantity::Angle(term) && full_period(r));
            match partner {
                Some(i) if range.low >= 0.0 => {
                    dim.with_twin(i, std::f64::consts::PI / f64::from(ssb_core::TERMS[term].m))
                }
                _ => dim,
            }
        })
        .collect()
}

impl SearchSpace {
    /// # Errors
    /// Options that contradict each other, nothing to search, or a start outside its range.
    pub fn new(options: &FitOptions, geometry: &Geometry) -> Result<Self, Error> {
        options.check()?;
        Self::within(options, ranges(options), geometry)
    }

    /// The space of these ranges.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn within(
        options: &FitOptions,
        ranges: Vec<SearchRange>,
        geometry: &Geometry,
    ) -> Result<Self, Error> {
        if ranges.is_empty() {
            return Err(Error::request(
                "--fix",
                "nothing is left to search",
                "search a term with --search, or use `reconstruct` for known aberrations",
            ));
        }
        for range in &ranges {
            if let Some(period) = range.quantity.period()
                && range.high - range.low > period * (1.0 + 1e-9)
            {
                let (name, unit) = (range.quantity.name(), range.quantity.unit());
                return Err(Error::request(
                    format!("--search {name}"),
                    format!(
                        "{} to {} {unit} is more than its period of {period} {unit}",
                        range.low, range.high
                    ),
                    "search one period at most",
                ));
            }
        }
        let space = Space::new(dims(&ranges))?;
        let scaled = |which: usize| -> Vec<f64> {
            let pick = |pair: (f64, f64)| [pair.0, pair.1][which];
            ranges
                .iter()
                .map(|r| match r.quantity {
                    Quantity::Magnitude(term) => {
                        pick((STEP_NM, TOLERANCE_NM))
                            * length_scale(&ssb_core::TERMS[term], geometry.semiangle_rad)
                    }
                    Quantity::Angle(term) => {
                        pick((STEP_RAD, TOLERANCE_RAD)) * 2.0 / f64::from(ssb_core::TERMS[term].m)
                    }
                    Quantity::Rotation => pick(BESIDE_TERMS[0]),
                    Quantity::TiltRow | Quantity::TiltCol => pick(BESIDE_TERMS[1]),
                    Quantity::DepthSpread => pick(BESIDE_TERMS[2]),
                })
                .collect()
        };
        // A full-range first step would leave no room for the simplex.
        let steps = scaled(0)
            .into_iter()
            .zip(&ranges)
            .map(|(step, r)| step.min(0.25 * (r.high - r.low)))
            .collect();
        let mut held = Candidate::default();
        for Setting { quantity, value } in options.start.iter().chain(&options.fix) {
            quantity.set(&mut held, *value);
        }
        let mut search = Self {
            steps,
            tolerances: scaled(1),
            start: Vec::new(),
            rotation_deg: geometry.rotation_deg,
            ranges,
            space,
            held,
            warnings: Vec::new(),
        };
        search.warn_of_silent_zeros(options);
        search.start = search.start_point(options)?;
        Ok(search)
    }

    /// C10 and C12 that are neither searched nor given stay at 0, which is rarely meant.
    fn warn_of_silent_zeros(&mut self, options: &FitOptions) {
        for quantity in [0, 1].map(Quantity::Magnitude) {
            let searched = self.ranges.iter().any(|r| r.quantity == quantity);
            let given = options
                .start
                .iter()
                .chain(&options.fix)
                .any(|s| s.quantity == quantity);
            if let (false, false, Some(range)) =
                (searched, given, SearchRange::default_of(quantity))
            {
                let (name, unit) = (quantity.name(), quantity.unit());
                self.warnings.push(format!(
                    "{name} is not searched and stays at 0 {unit}, because --search names other terms only; \
                     add --search {name}={}{unit}:{}{unit}, or say --fix {name}=0{unit}",
                    range.low, range.high
                ));
            }
        }
    }

    fn start_point(&mut self, options: &FitOptions) -> Result<Vec<f64>, Error> {
        for setting in &options.start {
            let range = self.ranges.iter().find(|r| r.quantity == setting.quantity);
            let Some(range) = range.filter(|r| !full_period(r)) else {
                continue;
            };
            if !(range.low..=range.high).contains(&setting.value) {
                let (name, unit) = (range.quantity.name(), range.quantity.unit());
                return Err(Error::request(
                    format!("--start {name}"),
                    format!(
                        "{} {unit} lies outside its search range {} to {} {unit}",
                        setting.value, range.low, range.high
                    ),
                    "move the start or widen --search",
                ));
            }
        }
        let defaults = |with_given: bool| -> Vec<f64> {
            self.ranges
                .iter()
                .map(|r| {
                    let given = options.start.iter().find(|s| s.quantity == r.quantity);
                    let default = match r.quantity {
                        Quantity::Magnitude(1) => START_C12_NM,
                        Quantity::Rotation => self.rotation_deg,
                        Quantity::DepthSpread => START_DEPTH_NM,
                        _ => 0.0,
                    };
                    given
                        .filter(|_| with_given)
                        .map_or(default.clamp(r.low, r.high), |s| s.value)
                })
                .collect()
        };
        let start = defaults(true);
        if !self.candidate(&start).aberrations.is_zero() {
            return Ok(start);
        }
        // At zero aberrations the loss is degenerate (numerics section 8).
        let mut start = defaults(false);
        if self.candidate(&start).aberrations.is_zero()
            && let Some((x, r)) = start
                .iter_mut()
                .zip(&self.ranges)
                .find(|(_, r)| !r.quantity.is_angle())
        {
            *x = r.low + 0.625 * (r.high - r.low);
        }
        let shown: Vec<String> = start
            .iter()
            .zip(&self.ranges)
            .map(|(x, r)| format!("{} {x} {}", r.quantity.name(), r.quantity.unit()))
            .collect();
        self.warnings.push(format!(
            "start: at zero aberrations the loss is degenerate; starting at {} instead",
            shown.join(", ")
        ));
        Ok(start)
    }

    /// The candidate of a point: held values, and the moving ones folded.
    pub fn candidate(&self, point: &[f64]) -> Candidate {
        let mut folded = point.to_vec();
        self.space.fold(&mut folded);
        let mut candidate = self.held.clone();
        for (range, value) in self.ranges.iter().zip(folded) {
            range.quantity.set(&mut candidate, value);
        }
        // A range that includes negative values has no twin in the space.
        for range in self.ranges.iter().filter(|r| full_period(r)) {
            let Quantity::Angle(term) = range.quantity else {
                continue;
            };
            let magnitude = Quantity::Magnitude(term);
            let value = magnitude.get(&candidate);
            if value < 0.0 {
                magnitude.set(&mut candidate, -value);
                let half = std::f64::consts::PI / f64::from(ssb_core::TERMS[term].m);
                let turned = range.quantity.get(&candidate) + half;
                let turns = ((turned - range.low) / (2.0 * half)).floor();
                range
                    .quantity
                    .set(&mut candidate, turned - turns * 2.0 * half);
            }
        }
        candidate
    }

    /// The point of a candidate, outside the bounds where it lies there.
    pub fn point(&self, candidate: &Candidate) -> Vec<f64> {
        (self.ranges.iter())
            .map(|r| match (r.quantity, candidate.rotation_deg) {
                (Quantity::Rotation, None) => self.rotation_deg,
                (quantity, _) => quantity.get(candidate),
            })
            .collect()
    }

    /// Names of coefficients that ended within 1 % of their range from a bound.
    pub fn on_a_bound(&self, point: &[f64]) -> Vec<String> {
        let mut folded = point.to_vec();
        self.space.fold(&mut folded);
        self.ranges
            .iter()
            .zip(&folded)
            .filter(|(r, _)| !full_period(r))
            .filter_map(|(r, x)| {
                let margin = 0.01 * (r.high - r.low);
                let twin = r.low == 0.0
                    && self.ranges.iter().any(|a| {
                        full_period(a) && a.quantity.term_index() == r.quantity.term_index()
                            && r.quantity.term().is_some()
                    });
                let low = *x <= r.low + margin && !twin;
                let high = *x >= r.high - margin;
                let end = if low { r.low } else { r.high };
                (low || high).then(|| {
                    format!(
                        "{}: {} {unit} lies on the bound {} {unit} of its search range; widen --search, or check rotation, detector axes \
                         and calibration: a wrong one drives a fit there",
                        r.quantity.name(),
                        significant(*x, 5),
                        significant(end, 5),
                        unit = r.quantity.unit()
                    )
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
