//! Where the agreement S peaks over a grid of C10 and C12, from the strongest frequencies of a band.

use ssb_core::{Candidate, Control, Geometry};
use ssb_optim::{QuadraticDescent, QuadraticOptions, Score};

use super::band_model::{BandModel, BandSpectra, Quadratic};
use crate::Error;

/// Frequencies of the grid; its peaks are refined on all of the model.
const GRID_FREQUENCIES: usize = 40;

/// Grid points between two looks at whether the search is cancelled.
const GRID_CHUNK: usize = 1024;

/// Most grid points at one rotation; a larger grid is made coarser by a narrower band.
const MOST_GRID: usize = 40_000;

/// The same where the first clear frequencies lie beyond [`FIRST_BAND_PER_A`].
const MOST_FINE_GRID: usize = 250_000;

/// Upper end in 1/Å of the first band, unless the specimen shows nothing below it.
pub(super) const FIRST_BAND_PER_A: f64 = 0.3;

/// Peaks of the grid that are refined.
const PEAKS: usize = 12;

/// Half width at half maximum in Å of the agreement over C10 at one `|q|` in 1/Å: an Airy pattern of
/// argument `2 pi C semiangle q` falls to half of its power at 1.62.
pub(in crate::fit) fn half_width_a(semiangle_rad: f64, q_per_a: f64) -> f64 {
    1.62 / (std::f64::consts::TAU * semiangle_rad * q_per_a)
}

/// What of C10 and C12 is searched, in Å.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Searched {
    /// Ends of C10; `None` when it is held.
    pub c10: Option<[f64; 2]>,
    /// How C12 is searched.
    pub c12: Astigmatism,
}

/// How C12 is searched; lengths in Å.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Astigmatism {
    Held,
    /// At a held angle, in rad.
    Along {
        ends: [f64; 2],
        phi: f64,
    },
    /// Its coefficient held, its angle searched.
    Turning {
        length: f64,
    },
    Free {
        most: f64,
    },
}

impl Searched {
    fn astigmatisms(&self, step: f64) -> Vec<[f64; 2]> {
        let polar = |length: f64, phi: f64| {
            let (sin, cos) = (2.0 * phi).sin_cos();
            [length * cos, length * sin]
        };
        match self.c12 {
            Astigmatism::Held => vec![[0.0; 2]],
            Astigmatism::Along { ends, phi } => line(ends, step)
                .into_iter()
                .map(|length| polar(length, phi))
                .collect(),
            Astigmatism::Turning { length } => {
                let count = (std::f64::consts::TAU * length / step).ceil().max(1.0);
                (0..count as usize)
                    .map(|i| polar(length, std::f64::consts::PI * i as f64 / count))
                    .collect()
            }
            Astigmatism::Free { most } => {
                let along = line([-most, most], step);
                let all = along.iter().flat_map(|a| along.iter().map(|b| [*a, *b]));
                // The corners of the square lie beyond the range; its rim may be met from just outside.
                all.filter(|[a, b]| a.hypot(*b) <= most + 0.5 * step)
                    .collect()
            }
        }
    }

    /// Every point of the grid.
    fn grid(&self, step: f64) -> Vec<Quadratic> {
        let along = self.c10.map_or(vec![0.0], |ends| line(ends, step));
        let across = self.astigmatisms(step);
        (along.iter())
            .flat_map(|c10| across.iter().map(|[a, b]| [*c10, *a, *b]))
            .collect()
    }

    /// Which of the three coordinates move freely.
    fn free(&self) -> Vec<usize> {
        let c10 = self.c10.is_some().then_some(0);
        let c12 = matches!(self.c12, Astigmatism::Free { .. }).then_some([1, 2]);
        c10.into_iter().chain(c12.into_iter().flatten()).collect()
    }
}

/// Evenly spaced points from end to end, at most `step` apart, 0 among them when the ends are opposite.
fn line([low, high]: [f64; 2], step: f64) -> Vec<f64> {
    let count = ((high - low) / step).ceil().max(1.0);
    (0..=count as usize)
        .map(|i| low + (high - low) * i as f64 / count)
        .collect()
}

/// A peak of the agreement.
#[derive(Debug, Clone)]
pub(super) struct Peak {
    pub quadratic: Quadratic,
    /// The model's agreement there, in units of the squared DC value.
    pub agreement: f64,
    /// The rotation that it was found at, in deg; `None` for the acquisition's.
    pub rotation_deg: Option<f64>,
}

/// The upper end of the first band, in 1/Å, and the spacing of its grid, in Å, for a specimen whose lowest clear
/// frequency is `signal_per_a`.
pub(super) fn first_band(
    geometry: &Geometry,
    searched: &Searched,
    signal_per_a: Option<f64>,
) -> (f64, f64) {
    let whole = geometry.agreement_band().hi_per_a;
    let needed = signal_per_a.map_or(0.0, |q| 1.05 * q);
    let (mut hi, most) = if needed > FIRST_BAND_PER_A {
        (needed.min(whole), MOST_FINE_GRID)
    } else {
        (FIRST_BAND_PER_A.min(whole), MOST_GRID)
    };
    loop {
        let step = 1.3 * half_width_a(geometry.semiangle_rad, hi);
        if hi < 0.05 || searched.grid(step).len() <= most {
            return (hi, step);
        }
        hi *= 0.8;
    }
}

/// The highest peaks over the grid, refined on the same frequencies; best first.
///
/// `held` has the searched ones of C10 and C12 at 0.
pub(super) fn peaks(
    geometry: &Geometry,
    band: &BandSpectra,
    searched: &Searched,
    held: &Candidate,
    step: f64,
    control: &Control,
) -> Result<Vec<Peak>, Error> {
    let model = BandModel::new(geometry, band, held);
    let grid = searched.grid(step);
    let mut agreements = Vec::with_capacity(grid.len());
    for points in grid.chunks(GRID_CHUNK) {
        control.check()?;
        agreements.extend(model.agreements_at(GRID_FREQUENCIES, points));
    }
    let mut order: Vec<usize> = (0..grid.len()).collect();
    order.sort_by(|a, b| agreements[*b].total_cmp(&agreements[*a]));
    let mut chosen: Vec<usize> = Vec::new();
    for i in order {
        if chosen.len() == PEAKS {
            break;
        }
        if chosen
            .iter()
            .all(|j| apart(&grid[i], &grid[*j]) > 1.8 * step)
        {
            chosen.push(i);
        }
    }
    let found = chosen.into_iter().map(|i| {
        climb(&model, grid[i], &searched.free(), 0.3 * step).unwrap_or((grid[i], agreements[i]))
    });
    Ok(distinct(found.collect(), 0.5 * step, held.rotation_deg))
}

/// Peaks of another band from the peaks of a narrower one; best first.
pub(super) fn followed(
    geometry: &Geometry,
    band: &BandSpectra,
    searched: &Searched,
    peaks: &[Peak],
    held: &Candidate,
    step: f64,
) -> Vec<Peak> {
    let mut all = Vec::new();
    let mut rotations: Vec<Option<f64>> = peaks.iter().map(|p| p.rotation_deg).collect();
    rotations.dedup();
    for rotation_deg in rotations {
        let held = Candidate {
            rotation_deg,
            ..held.clone()
        };
        let model = BandModel::new(geometry, band, &held);
        let found = (peaks.iter().filter(|p| p.rotation_deg == rotation_deg)).map(|p| {
            climb(&model, p.quadratic, &searched.free(), 0.3 * step)
                .unwrap_or((p.quadratic, model.agreements(&[p.quadratic])[0]))
        });
        all.extend(distinct(found.collect(), 0.5 * step, rotation_deg));
    }
    all.sort_by(|a, b| b.agreement.total_cmp(&a.agreement));
    all
}

fn apart(a: &Quadratic, b: &Quadratic) -> f64 {
    (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt()
}

/// Best first, each at least `distance` from all before it.
fn distinct(
    mut found: Vec<(Quadratic, f64)>,
    distance: f64,
    rotation_deg: Option<f64>,
) -> Vec<Peak> {
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut kept: Vec<Peak> = Vec::new();
    for (quadratic, agreement) in found {
        if kept
            .iter()
            .all(|p| apart(&p.quadratic, &quadratic) > distance)
        {
            kept.push(Peak {
                quadratic,
                agreement,
                rotation_deg,
            });
        }
    }
    kept
}

/// The top of the peak around `start`, moving the free coordinates.
fn climb(
    model: &BandModel,
    start: Quadratic,
    free: &[usize],
    step: f64,
) -> Option<(Quadratic, f64)> {
    let options = QuadraticOptions {
        steps: vec![step; free.len()],
        tolerances: vec![0.02 * step; free.len()],
        value_tolerance: 1e-6,
        max_evaluations: 80,
    };
    let moved = |point: &Vec<f64>| {
        let mut quadratic = start;
        for (i, x) in free.iter().zip(point) {
            quadratic[*i] = *x;
        }
        quadratic
    };
    let at = free.iter().map(|i| start[*i]).collect();
    let mut search = QuadraticDescent::new(at, options).ok()?;
    while let Some(points) = search.ask() {
        let quadratics: Vec<Quadratic> = points.iter().map(moved).collect();
        let scores: Vec<Score> = (model.agreements(&quadratics).into_iter())
            .map(|s| Score::new(-s))
            .collect();
        search.tell(&scores).ok()?;
    }
    let (point, value) = search.best()?;
    Some((moved(&point.to_vec()), -value))
}

/// C10, `C12 cos 2 phi12` and `C12 sin 2 phi12` of a candidate, in Å.
pub(super) fn quadratic_of(candidate: &Candidate) -> Quadratic {
    let [c10, c12] = [0, 1].map(|i| candidate.aberrations.get(i));
    let (sin, cos) = (2.0 * c12.angle_rad).sin_cos();
    [
        c10.magnitude_a,
        c12.magnitude_a * cos,
        c12.magnitude_a * sin,
    ]
}

/// The candidate with the searched ones of C10 and C12 replaced.
pub(super) fn with_quadratic(
    held: &Candidate,
    searched: &Searched,
    [c10, a, b]: Quadratic,
) -> Candidate {
    let mut candidate = held.clone();
    if searched.c10.is_some() {
        candidate.aberrations.get_mut(0).magnitude_a = c10;
    }
    match searched.c12 {
        Astigmatism::Held => {}
        Astigmatism::Along { phi, .. } => {
            let (sin, cos) = (2.0 * phi).sin_cos();
            let c12 = candidate.aberrations.get_mut(1);
            (c12.magnitude_a, c12.angle_rad) = (a * cos + b * sin, phi);
        }
        Astigmatism::Turning { .. } | Astigmatism::Free { .. } => {
            let c12 = candidate.aberrations.get_mut(1);
            (c12.magnitude_a, c12.angle_rad) = (a.hypot(b), 0.5 * b.atan2(a));
        }
    }
    candidate
}
