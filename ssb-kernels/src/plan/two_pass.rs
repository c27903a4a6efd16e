//! Two fused passes with one intermediate: correction and columns, then rows, phase and moments.

use cubecl::prelude::*;
use ssb_core::{DeviceFamily, Error, Limits, Unsuitable};

use super::arrangement::{Choice, busy_cubes, cache_share_bytes};
use super::{Arrangement, LineShape, Request};
use crate::evaluator::Pack;
use crate::kernel::columns::{ColumnPass, correct_columns};
use crate::kernel::launch::launch;
use crate::kernel::rows::{RowPass, row_moments};

pub(super) const NAME: &str = "two-pass";

/// Bytes of intermediate where no cache size is known and no cache is worth waiting for: one large
/// pack was faster on Apple GPUs.
const LARGE_PACK_BYTES: u64 = 256 << 20;

pub(super) fn plan(request: &Request, limits: &Limits) -> Result<Arrangement, Unsuitable> {
    let columns = LineShape::new("scan rows", request.scan.rows, limits, false)?;
    let rows = LineShape::new("scan columns", request.scan.cols, limits, true)?;
    // On CUDA the intermediate of a pack stays in the last cache, with room for G beside it.
    let intermediate_bytes = match limits.family {
        DeviceFamily::Cuda if limits.cache_bytes > 0 => cache_share_bytes(limits),
        _ => LARGE_PACK_BYTES.min(limits.device_bytes / 8),
    };
    Arrangement::new(
        request,
        limits,
        Choice {
            topology: NAME,
            columns,
            rows,
            intermediate: request.scan.intermediate(),
            images: 0,
            intermediate_bytes,
            cubes: busy_cubes(limits),
        },
    )
}

pub(super) fn run<R: Runtime>(pack: &Pack<'_, R>) -> Result<(), Error> {
    let plan = pack.arrangement();
    let scan = plan.request.scan;
    let m = pack.candidates();
    let tiles = plan.tiles();
    let columns = ColumnPass {
        model: pack.model(),
        line: plan.columns.line.clone(),
        lines: plan.columns.lines,
    };
    let rows = RowPass {
        line: plan.rows.line.clone(),
        lines: plan.rows.lines,
    };
    let buffers = pack.buffers();
    launch!(
        R,
        correct_columns,
        pack.client(),
        CubeCount::Static(tiles[0] as u32, plan.slots[0] as u32, 1),
        CubeDim::new_1d(columns.units() as u32),
        pack.g().vectors(2),
        pack.acquisition().arg(),
        buffers.candidates.vectors(2),
        buffers.column_table.vectors(2),
        buffers.intermediate.vectors(2),
        buffers.column_degenerate.arg(),
        pack.first(),
        pack.pixels(),
        m as u32,
        pack.again(),
        pack.pairs_per_candidate(),
        scan.cols as u32,
        columns,
    );
    launch!(
        R,
        row_moments,
        pack.client(),
        CubeCount::Static(tiles[1] as u32, plan.slots[1] as u32, m as u32),
        CubeDim::new_1d(rows.units() as u32),
        buffers.intermediate.vectors(2),
        buffers.over_cols.arg(),
        buffers.row_table.vectors(2),
        buffers.sums.arg(),
        buffers.squares.arg(),
        pack.pixels(),
        pack.again_in_set(),
        pack.set(),
        pack.sets(),
        pack.square_set(),
        pack.square_sets(),
        scan.rows as u32,
        rows,
    );
    Ok(())
}
