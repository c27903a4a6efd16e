//! Refinement of many terms at once by the gradients of the agreement (`--refine gradient`).
//!
//! The program of `ssb-gradient` holds S at the strongest frequencies of the band. Coefficients move, each with its angle as
//! a Cartesian pair; the angle of a term with a formula of its own, rotation, tilt and depth spread stay as they are.

use ssb_core::{Candidate, Control, Evaluator, Geometry, TERMS};
use ssb_gradient::{AgreementProgram, AscentOptions, Coordinate, Host, ascend};

use super::Quantity;
use super::chart::{Axis, Chart};
use super::guided::{Powers, half_width_a};
use crate::Error;

/// Values (frequencies times BF pixels) of the program, and its least and most frequencies.
const VALUES: usize = 400_000;
const FREQUENCIES: [usize; 2] = [64, 4096];

/// BF pixels of one set of tensors.
const BLOCK: usize = 64;

const MOST_EVALUATIONS: usize = 300;

/// The coordinates of the program that a chart's axes move.
fn coordinates(chart: &Chart, at: &Candidate) -> Vec<Coordinate> {
    let mut moved = Vec::new();
    for axis in &chart.axes {
        match axis {
            Axis::Pair { term, .. } if TERMS[*term].own.is_none() => {
                moved.extend([Coordinate::Cosine(*term), Coordinate::Sine(*term)]);
            }
            Axis::Pair { term, .. } => {
                moved.push(Coordinate::Along(*term, Quantity::Angle(*term).get(at)));
            }
            Axis::One(range) => {
                if let Quantity::Magnitude(term) = range.quantity {
                    let angle = match TERMS[term].m {
                        0 => 0.0,
                        _ => Quantity::Angle(term).get(at),
                    };
                    moved.push(Coordinate::Along(term, angle));
                }
            }
        }
    }
    moved
}

fn value(coordinate: Coordinate, candidate: &Candidate) -> f64 {
    let term = coordinate.term();
    let length = Quantity::Magnitude(term).get(candidate);
    let turned = f64::from(TERMS[term].m) * Quantity::Angle(term).get(candidate);
    match coordinate {
        Coordinate::Cosine(_) => length * turned.cos(),
        Coordinate::Sine(_) => length * turned.sin(),
        Coordinate::Along(..) => length,
    }
}

/// The candidate that climbing S by its gradients reaches from `start`, within the bounds of the chart.
///
/// # Errors
/// Nothing that has a gradient is searched, cancelled, or as [`Evaluator::spectra`].
pub(super) fn climb(
    evaluator: &mut dyn Evaluator,
    geometry: &Geometry,
    chart: &Chart,
    start: &Candidate,
    control: &Control,
) -> Result<Candidate, Error> {
    let moved = coordinates(chart, start);
    if moved.is_empty() {
        return Err(Error::request(
            "--refine gradient",
            "no coefficient is searched, and only coefficients have a gradient",
            "use --refine nelder-mead",
        ));
    }
    let band = geometry.agreement_band();
    let count = (VALUES / evaluator.info().bf_active.max(1)).clamp(FREQUENCIES[0], FREQUENCIES[1]);
    let powers = Powers::of(evaluator, geometry, control)?;
    let strong = powers.strongest_of(evaluator, None, count, control)?;
    let device = Default::default();
    let program = AgreementProgram::<Host>::new(
        geometry,
        (&strong.points, &strong.spectra),
        start,
        &moved,
        BLOCK,
        &device,
    )
    .map_err(fault)?;
    // A third of S's half width in phase at the aperture's edge, whatever the term.
    let width_nm = 0.1 * half_width_a(geometry.semiangle_rad, band.hi_per_a);
    let of_defocus = TERMS[0].largest_path(geometry.semiangle_rad);
    let options = AscentOptions {
        scales_nm: (moved.iter())
            .map(|c| {
                let path = TERMS[c.term()].largest_path(geometry.semiangle_rad);
                width_nm / 3.0 * of_defocus / path
            })
            .collect(),
        tolerance: 1e-4,
        max_evaluations: MOST_EVALUATIONS,
    };
    let from: Vec<f64> = moved.iter().map(|c| value(*c, start)).collect();
    let mut count = 0;
    let top = ascend(&program, &from, &options, || {
        count += 1;
        control.report("gradient", count, MOST_EVALUATIONS as u64);
        control.check().is_ok()
    })
    .map_err(fault)?;
    control.check()?;
    let mut candidate = start.clone();
    for (i, coordinate) in moved.iter().enumerate() {
        let term = coordinate.term();
        match coordinate {
            Coordinate::Cosine(_) => {
                let (x, y) = (top.point[i], top.point[i + 1]);
                Quantity::Magnitude(term).set(&mut candidate, x.hypot(y));
                let angle = y.atan2(x) / f64::from(TERMS[term].m);
                Quantity::Angle(term).set(&mut candidate, angle);
            }
            Coordinate::Sine(_) => {}
            Coordinate::Along(..) => {
                Quantity::Magnitude(term).set(&mut candidate, top.point[i]);
            }
        }
    }
    let chart = chart.only(&candidate, |_| true);
    Ok(chart.candidate(&chart.point(&candidate)))
}

fn fault(error: ssb_gradient::GradientError) -> Error {
    ssb_core::Error::Internal(format!("gradient of the agreement: {error}")).into()
}
