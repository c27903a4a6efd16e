//! What a guided search looks over, and what is to be said about it.

use ssb_core::Geometry;

use super::basins::{Astigmatism, Searched};
use crate::Error;
use crate::fit::honest_limit::honest_limit;
use crate::fit::search_space::{SearchSpace, full_period};
use crate::fit::{FitOptions, Quantity, SearchRange};

/// Fewest scan frequencies of the band.
const FEWEST_POINTS: u32 = 16;

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

/// Times the honest limit beyond which the grid does not look: there the probe is wider than the field.
const FARTHEST: f64 = 2.0;

/// How far the grid looks, in nm of C10 and of C12.
fn farthest_nm(geometry: &Geometry) -> [f64; 2] {
    let limit_nm = FARTHEST * honest_limit(geometry).nm();
    [0, 1].map(|term| {
        let default = SearchRange::default_of(Quantity::Magnitude(term));
        default.map_or(limit_nm, |r| r.high.max(limit_nm))
    })
}

/// What of C10 and C12 a space searches.
pub(super) fn searched(space: &SearchSpace, geometry: &Geometry) -> Searched {
    let farthest_a = farthest_nm(geometry).map(|nm| 10.0 * nm);
    // A range that lies beyond altogether is searched as it is.
    let within = |[low, high]: [f64; 2], most: f64| {
        let (near_low, near_high) = (low.max(-most), high.min(most));
        if near_low < near_high {
            [near_low, near_high]
        } else {
            [low, high]
        }
    };
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
            ends: within(a(r), farthest_a[1]),
            phi: held.angle_rad,
        },
        (Some(r), Some(_)) => Astigmatism::Free {
            most: within([0.0, 10.0 * r.high.max(-r.low)], farthest_a[1])[1],
        },
    };
    Searched {
        c10: range(Quantity::Magnitude(0)).map(|r| within(a(r), farthest_a[0])),
        c12,
    }
}
/// The options with the ranges of C10 and C12 that a guided search takes when none are given.
pub(super) fn widened(options: &FitOptions, geometry: &Geometry) -> FitOptions {
    let mut options = options.clone();
    if !options.search.iter().any(|r| r.quantity.term().is_some()) {
        options.search.extend(honest_ranges(&options, geometry));
    }
    options
}

/// What ranges beyond the honest limit ask for.
pub(super) fn doubt(options: &FitOptions, geometry: &Geometry) -> Option<String> {
    let honest_nm = honest_limit(geometry).nm();
    let farthest_nm = farthest_nm(geometry);
    let (mut most_nm, mut cut) = (0.0_f64, false);
    for range in &options.search {
        if let Quantity::Magnitude(term @ (0 | 1)) = range.quantity {
            let far_nm = range.high.max(-range.low);
            most_nm = most_nm.max(far_nm);
            cut |= far_nm > 1.001 * farthest_nm[term];
        }
    }
    (most_nm > 1.001 * honest_nm).then(|| {
        let grid = if cut {
            format!(
                "; the grid looks no farther than C10 {:.0} nm and C12 {:.0} nm",
                farthest_nm[0], farthest_nm[1]
            )
        } else {
            String::new()
        };
        format!(
            "search: the ranges ask for up to {most_nm:.0} nm; beyond {honest_nm:.1} nm of |C10| + C12 these pixels and this \
             field show nothing reliable{grid}"
        )
    })
}

/// Refuses data whose band of the agreement is too small to be searched by it.
pub(super) fn check_band(geometry: &Geometry) -> Result<(), Error> {
    let points: u32 = (ssb_core::agreement_band_points(geometry).iter())
        .map(|p| p.weight)
        .sum();
    if points >= FEWEST_POINTS {
        return Ok(());
    }
    Err(Error::request(
        "--method guided",
        format!(
            "the band of the agreement holds {points} scan frequencies, and a search by it needs {FEWEST_POINTS}"
        ),
        "use --method tpe, or scan a larger field",
    ))
}
