//! The CPU topology: what is held and how the BF pixels are cut into lanes.

use ssb_core::{Footprint, Limits, Plan, Topology, Unsuitable};

use crate::lanes::{SHORT_SUM, WAVE};
use crate::layout::Layout;
use crate::loss::TOGETHER;
use crate::vectors::MOST_LANES;

/// Half-plane G in memory, one BF pixel at a time through cache; what a stated budget cannot hold is
/// made anew from the counts in every evaluation.
pub const HALF_PLANE: Topology = Topology {
    name: "half-plane",
    plan: plan_half_plane,
};

/// Name of the plan that holds only a part of G.
pub const STREAMED: &str = "half-plane, streamed";

/// Shortest scan axis that the half-spectrum path takes.
pub const SHORTEST_AXIS: usize = 8;

/// Most lanes; each holds its own image of sums.
const LANES: usize = 32;

/// Fewest BF pixels worth a lane of their own.
const SHORTEST_LANE: usize = 8;

/// BF pixels a lane when the caller does not choose.
pub fn lane_length(bf_active: usize) -> usize {
    bf_active.div_ceil(LANES).max(SHORTEST_LANE)
}

/// Bytes of an evaluation beside G and the counts, for so many lanes of so many pixels.
fn working_bytes(layout: &Layout, lanes: usize, lane_length: usize, threads: usize) -> u64 {
    let f32_bytes = size_of::<f32>();
    let image = layout.image_floats();
    let sums = if lane_length > SHORT_SUM { 12 } else { 4 };
    // A wave of lanes with the sums of every candidate that goes with another, and their totals.
    let images = TOGETHER * image * (lanes.min(WAVE) * sums + 8);
    // A candidate's tables; a worker's half plane, tiles and lines; the same again to make G.
    let tables = TOGETHER * f32_bytes * layout.plane_floats();
    let tile = 2 * MOST_LANES * 16 * (layout.rows + layout.cols);
    let worker = 2 * f32_bytes * (layout.workspace_floats() + tile)
        + f32_bytes * (layout.pixel_floats() + layout.rows * layout.cols);
    (images + tables + threads * worker) as u64
}

/// How many BF pixels' G are held, and the bytes at the peak.
pub fn held_pixels(footprint: &Footprint, limits: &Limits) -> (usize, u64) {
    let layout = Layout::new(footprint.scan_shape, MOST_LANES);
    let pixel_bytes = (size_of::<f32>() * layout.pixel_floats()) as u64;
    let bf = footprint.bf_active;
    let length = lane_length(bf);
    let working = working_bytes(&layout, bf.div_ceil(length), length, limits.threads);
    // The counts are there until G is, and stay when some of G has to be made again.
    let all = pixel_bytes * bf as u64 + working + footprint.column_bytes;
    match limits.host_bytes {
        Some(budget) if budget < all => {
            let rest = budget.saturating_sub(working + footprint.column_bytes);
            let held = (rest / pixel_bytes).min(bf as u64 - 1);
            let bytes = held * pixel_bytes + working + footprint.column_bytes;
            (held as usize, bytes)
        }
        _ => (bf, all),
    }
}

fn plan_half_plane(footprint: &Footprint, limits: &Limits) -> Result<Plan, Unsuitable> {
    let [rows, cols] = footprint.scan_shape;
    if rows < SHORTEST_AXIS || cols < SHORTEST_AXIS {
        return Err(Unsuitable(format!(
            "a {rows} x {cols} scan: each axis needs at least {SHORTEST_AXIS} positions for the \
             half-spectrum transform; the oracle backend takes any scan from 2 x 2"
        )));
    }
    let bf_block = lane_length(footprint.bf_active);
    let (held, host_bytes) = held_pixels(footprint, limits);
    let streamed = held < footprint.bf_active;
    // One read of what is held; the corrected half plane of a pixel stays in cache. A pixel that is not
    // held reads its counts.
    let made = (footprint.bf_active - held) as u64;
    let moved = footprint.half_plane_bytes() * held as u64
        + footprint.column_bytes * made / footprint.bf_pixels.max(1) as u64;
    Ok(Plan {
        topology: if streamed { STREAMED } else { HALF_PLANE.name },
        bf_block,
        blocks: footprint.bf_active.div_ceil(bf_block),
        host_bytes,
        device_bytes: 0,
        loss_bytes: moved,
        object_bytes: moved,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(scan_shape: [usize; 2], budget: Option<u64>) -> Result<Plan, Unsuitable> {
        let footprint = Footprint {
            scan_shape,
            bf_pixels: 1000,
            bf_active: 1000,
            column_bytes: 65_536_000,
        };
        (HALF_PLANE.plan)(&footprint, &Limits::host(budget, 2))
    }

    #[test]
    fn the_plan_of_the_benchmark_problem() {
        let plan = plan([256, 256], None).unwrap();
        assert_eq!(plan.object_bytes, 1000 * 256 * 129 * 8);
        assert_eq!((plan.bf_block, plan.blocks), (32, 32));
        assert!(plan.host_bytes < plan.object_bytes * 3 / 2, "{plan}");
        assert!(
            plan.to_string()
                .contains("half-plane: 32 blocks of 32 BF pixels")
        );
    }

    #[test]
    fn a_budget_is_kept_by_holding_less() {
        let whole = plan([256, 256], None).unwrap();
        let budget = whole.host_bytes - 1;
        let streamed = plan([256, 256], Some(budget)).unwrap();
        assert!(streamed.host_bytes <= budget && streamed.topology == STREAMED);
        let half = plan([256, 256], Some(budget / 2)).unwrap();
        assert!(half.host_bytes <= budget / 2 && half.loss_bytes < streamed.loss_bytes);
        // Less than the counts and the work: what is needed at least.
        let least = plan([256, 256], Some(1)).unwrap().host_bytes;
        assert!(least > 65_536_000 && least < budget / 2);
    }

    #[test]
    fn short_axes_are_refused_with_the_reason() {
        for shape in [[7, 64], [64, 7], [2, 2]] {
            let reason = plan(shape, None).unwrap_err().0;
            assert!(
                reason.contains("at least 8") && reason.contains("oracle"),
                "{reason}"
            );
        }
        assert!(plan([8, 8], None).is_ok());
    }
}
