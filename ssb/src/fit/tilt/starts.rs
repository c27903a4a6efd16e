//! Where the guided joint search starts.

use ssb_core::{Candidate, Control, Evaluator, Geometry};

use crate::Error;
use crate::fit::search_space::SearchSpace;
use crate::fit::{FitOptions, Quantity, guided};

/// Tilts of the guided grid in mrad, and depth spreads in nm.
const TILTS_MRAD: [f64; 5] = [-12.0, -5.0, 0.0, 5.0, 12.0];
const DEPTHS_NM: [f64; 3] = [6.0, 15.0, 35.0];

/// Starts of the guided joint search: the basins of the thin model under a grid of tilts and depth spreads.
pub(super) fn guided_starts(
    evaluator: &mut dyn Evaluator,
    geometry: &Geometry,
    options: &FitOptions,
    space: &SearchSpace,
    control: &Control,
) -> Result<(Vec<Candidate>, usize), Error> {
    let mut thin = FitOptions {
        tilt: false,
        ..options.clone()
    };
    thin.search.retain(|r| !r.quantity.is_thick());
    thin.start.retain(|s| !s.quantity.is_thick());
    thin.fix.retain(|s| !s.quantity.is_thick());
    let (basins, evaluations) = guided::thin_basins(evaluator, geometry, &thin, control)?;
    let range = |quantity: Quantity| space.ranges.iter().find(|r| r.quantity == quantity);
    let values = |quantity: Quantity, list: &[f64]| -> Vec<f64> {
        let held = quantity.get(&space.candidate(&space.start));
        match range(quantity) {
            None => vec![held],
            Some(r) => {
                let mut inside: Vec<f64> = (list.iter().copied())
                    .filter(|v| (r.low..=r.high).contains(v))
                    .collect();
                if inside.is_empty() {
                    inside.push(0.5 * (r.low + r.high));
                }
                inside
            }
        }
    };
    let mut starts = Vec::new();
    for basin in basins.iter().take(2) {
        for depth in values(Quantity::DepthSpread, &DEPTHS_NM) {
            for row in values(Quantity::TiltRow, &TILTS_MRAD) {
                for col in values(Quantity::TiltCol, &TILTS_MRAD) {
                    let mut candidate = basin.candidate.clone();
                    candidate.depth_spread_nm = depth;
                    candidate.tilt_mrad = [row, col];
                    starts.push(candidate);
                }
            }
        }
    }
    Ok((starts, evaluations))
}
