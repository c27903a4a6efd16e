//! The guided search: basins from the agreement S, coarse to fine in |q|; the exact phase variance decides among
//! them and has the last word (numerics section 8).
//!
//! 1. S at the strongest frequencies below 0.3 1/Å (higher where the specimen shows nothing there) over a grid of C10 and C12 whose spacing follows from the depth
//!    of field ([`basins`]); the best peaks are followed to a wider band.
//! 2. S over its whole band, from the best peaks, with the low orders first and then every searched term.
//! 3. The exact loss of the basins that are left; from the best of them to its minimum.

mod band_model;
mod basins;
mod certainty;
mod clearness;
mod climbing;
mod powers;
mod ranges;
#[cfg(test)]
mod tests;

use ssb_core::{Control, Evaluator, Geometry};
use ssb_optim::{QuadraticDescent, QuadraticOptions};

#[cfg(feature = "burn")]
pub(in crate::fit) use self::basins::half_width_a;
pub(crate) use self::clearness::Clearness;
use self::climbing::Guided;
#[cfg(feature = "burn")]
pub(in crate::fit) use self::powers::Powers;
use self::ranges::{check_band, doubt, searched, widened};
use super::chart::Chart;
use super::exact::ExactTrials;
use super::outcome::{AgreementBest, Deviation, Fit};
use super::search_space::SearchSpace;
use super::{FitOptions, Quantity, Refine};
use crate::Error;

/// Share of the highest agreement that the final candidate must keep.
const PEAK: f64 = 0.98;

/// The basins of the thin model, best first, and the agreements that they took.
///
/// # Errors
/// As [`search`].
pub(super) fn thin_basins(
    evaluator: &mut dyn Evaluator,
    geometry: &Geometry,
    options: &FitOptions,
    control: &Control,
) -> Result<(Vec<AgreementBest>, usize), Error> {
    check_band(geometry)?;
    let space = SearchSpace::new(&widened(options, geometry), geometry)?;
    let mut guided = Guided::new(evaluator, geometry, &space, options, control);
    let told = guided.basins(&searched(&space, geometry))?;
    Ok((told.basins, guided.agreement_evaluations))
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
    check_band(geometry)?;
    let space = SearchSpace::new(&widened(options, geometry), geometry)?;
    let mut warnings = space.warnings.clone();
    warnings.extend(doubt(options, geometry));
    let mut guided = Guided::new(&mut *evaluator, geometry, &space, options, control);
    let told = guided.basins(&searched(&space, geometry))?;
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
        fit.warnings.extend(disagreement(&fit.deviations, geometry));
    }
    fit.agreement_best = told.basins.into_iter().next();
    Ok(fit)
}

/// What it means when the two measures lie apart by more than turns the aperture's edge by a quarter of a wave.
fn disagreement(deviations: &[Deviation], geometry: &Geometry) -> Option<String> {
    let most_nm = 0.1 * geometry.wavelength_a / (2.0 * geometry.semiangle_rad.powi(2));
    let c10 = (deviations.iter()).find(|d| d.quantity == Quantity::Magnitude(0))?;
    (c10.sigma > most_nm).then(|| {
        format!(
            "agreement: the loss and the agreement disagree about C10 by some {:.1} nm, more than a quarter of a wave at the \
             aperture's edge ({most_nm:.1} nm): too few electrons, or a wrong rotation (its sign), detector orientation, scan shape or \
             calibration",
            c10.sigma
        )
    })
}

/// Bars trials whose agreement has fallen below [`PEAK`] of the highest: at few electrons the phase variance is mostly
/// that of noise, which other aberrations can make smaller than the true ones do.
fn keep_to_the_peak(
    trials: &mut ExactTrials<'_>,
    basins: &[AgreementBest],
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
         aberrations: the variance of noise, or of what the search leaves out, outweighs that of the phase there",
        100.0 * share
    ));
    Ok(())
}

/// The exact loss of the basins, and from the best of them to its minimum.
fn decide(
    trials: &mut ExactTrials<'_>,
    chart: &Chart,
    basins: &[AgreementBest],
    steps: Vec<f64>,
    options: &FitOptions,
) -> Result<(), Error> {
    let candidates: Vec<_> = basins.iter().map(|b| b.candidate.clone()).collect();
    trials.evaluate(&candidates, "guided")?;
    let Some(best) = trials.best_of("guided").cloned() else {
        return Ok(());
    };
    if options.refine != Refine::NelderMead {
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
