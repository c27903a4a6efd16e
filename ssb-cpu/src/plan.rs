//! The CPU topology: what is held and how the BF pixels are cut into lanes.

use ssb_core::{Footprint, Limits, Plan, Topology, Unsuitable};

/// Half-plane G in memory, one BF pixel at a time through cache.
pub const HALF_PLANE: Topology = Topology {
    name: "half-plane",
    plan: plan_half_plane,
};

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

fn plan_half_plane(footprint: &Footprint, limits: &Limits) -> Result<Plan, Unsuitable> {
    let [rows, cols] = footprint.scan_shape;
    if rows < SHORTEST_AXIS || cols < SHORTEST_AXIS {
        return Err(Unsuitable(format!(
            "a {rows} x {cols} scan: each axis needs at least {SHORTEST_AXIS} positions for the \
             half-spectrum transform; the oracle backend takes any scan from 2 x 2"
        )));
    }
    let bf_block = lane_length(footprint.bf_active);
    let blocks = footprint.bf_active.div_ceil(bf_block);
    let half = footprint.half_plane_bytes();
    let scan = (rows * cols) as u64;
    // Every lane's sums (float64 image), and for each thread a corrected half plane, two images.
    let working = blocks as u64 * 8 * scan + limits.threads as u64 * (2 * half + 12 * scan);
    let g = footprint.g_bytes();
    Ok(Plan {
        topology: HALF_PLANE.name,
        bf_block,
        blocks,
        host_bytes: g + working.max(footprint.column_bytes),
        device_bytes: 0,
        loss_bytes: 3 * g,
        object_bytes: g,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(scan_shape: [usize; 2]) -> Result<Plan, Unsuitable> {
        let footprint = Footprint {
            scan_shape,
            bf_pixels: 1000,
            bf_active: 1000,
            column_bytes: 65_536_000,
        };
        let limits = Limits::host(None, 2);
        (HALF_PLANE.plan)(&footprint, &limits)
    }

    #[test]
    fn the_plan_of_the_benchmark_problem() {
        let plan = plan([256, 256]).unwrap();
        assert_eq!(plan.object_bytes, 1000 * 256 * 129 * 8);
        assert_eq!((plan.bf_block, plan.blocks), (32, 32));
        assert!(plan.host_bytes < plan.object_bytes * 13 / 10);
        assert!(
            plan.to_string()
                .contains("half-plane: 32 blocks of 32 BF pixels")
        );
    }

    #[test]
    fn short_axes_are_refused_with_the_reason() {
        for shape in [[7, 64], [64, 7], [2, 2]] {
            let reason = plan(shape).unwrap_err().0;
            assert!(
                reason.contains("at least 8") && reason.contains("oracle"),
                "{reason}"
            );
        }
        assert!(plan([8, 8]).is_ok());
    }
}
