//! One kernel for each stage, every intermediate in memory: to be read and inspected, and what the fused
//! topologies must equal.

use cubecl::prelude::*;
use ssb_core::{Error, Limits, Unsuitable};

use super::arrangement::{Choice, busy_cubes};
use super::{Arrangement, LineShape, Request, SUM_UNITS};
use crate::evaluator::Pack;
use crate::kernel::launch::launch;
use crate::kernel::lines::inverse_lines;
use crate::kernel::nyquist::real_lines;
use crate::kernel::stepwise::{correct_points, phase_moments};

pub(super) const NAME: &str = "stepwise";

const PACK_BYTES: u64 = 64 << 20;

pub(super) fn plan(request: &Request, limits: &Limits) -> Result<Arrangement, Unsuitable> {
    Arrangement::new(
        request,
        limits,
        Choice {
            topology: NAME,
            columns: LineShape::new("scan rows", request.scan.rows, limits, false)?,
            rows: LineShape::new("scan columns", request.scan.cols, limits, true)?,
            // The corrected half plane; the real images come on top.
            intermediate: request.scan.plane(),
            images: request.scan.points(),
            intermediate_bytes: PACK_BYTES.min(limits.device_bytes / 8),
            cubes: busy_cubes(limits),
        },
    )
}

pub(super) fn run<R: Runtime>(pack: &Pack<'_, R>) -> Result<(), Error> {
    let plan = pack.arrangement();
    let scan = plan.request.scan;
    let (rows, cols) = (scan.rows as u32, scan.cols as u32);
    let tiles = plan.tiles();
    let m = pack.candidates() as u32;
    let buffers = pack.buffers();
    let client = pack.client();
    launch!(
        R,
        correct_points,
        client,
        CubeCount::Static(tiles[0] as u32, plan.slots[0] as u32, m),
        CubeDim::new_1d(SUM_UNITS as u32),
        pack.g().vectors(2),
        pack.acquisition().arg(),
        buffers.candidates.vectors(2),
        buffers.intermediate.vectors(2),
        buffers.column_degenerate.arg(),
        pack.first(),
        pack.pixels(),
        pack.again(),
        pack.pairs_per_candidate(),
        rows,
        cols,
        plan.columns.lines as u32,
        pack.model(),
        SUM_UNITS,
    );
    let shape = &plan.columns;
    let lines = m * pack.pixels() * scan.half() as u32;
    launch!(
        R,
        inverse_lines,
        client,
        pack.cubes(lines.div_ceil(shape.lines as u32)),
        CubeDim::new_1d((shape.lines * shape.line.units) as u32),
        buffers.intermediate.vectors(2),
        buffers.column_table.vectors(2),
        lines,
        shape.lines,
        shape.line.clone(),
    );
    let shape = &plan.rows;
    let lines = m * pack.pixels() * rows;
    launch!(
        R,
        real_lines,
        client,
        pack.cubes(lines.div_ceil(2).div_ceil(shape.lines as u32)),
        CubeDim::new_1d((shape.lines * shape.line.units) as u32),
        buffers.intermediate.vectors(2),
        buffers.images.arg(),
        buffers.row_table.vectors(2),
        lines,
        rows,
        scan.plane() as u32,
        rows,
        shape.lines,
        shape.line.clone(),
    );
    launch!(
        R,
        phase_moments,
        client,
        CubeCount::Static(tiles[1] as u32, plan.slots[1] as u32, m),
        CubeDim::new_1d(SUM_UNITS as u32),
        buffers.images.arg(),
        buffers.intermediate.vectors(2),
        buffers.over_cols.arg(),
        buffers.sums.arg(),
        buffers.squares.arg(),
        pack.pixels(),
        pack.again_in_set(),
        pack.set(),
        pack.sets(),
        pack.square_set(),
        pack.square_sets(),
        rows,
        cols,
        plan.rows.lines as u32,
        SUM_UNITS,
    );
    Ok(())
}
