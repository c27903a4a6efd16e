//! The whole half plane of a BF pixel in shared memory: for small scans, no intermediate at all.

use cubecl::prelude::*;
use ssb_core::{Error, Limits, Unsuitable};

use super::arrangement::{Choice, busy_cubes, short_slots};
use super::{Arrangement, LineShape, Request};
use crate::evaluator::Pack;
use crate::kernel::columns::ColumnPass;
use crate::kernel::launch::launch;
use crate::kernel::layout::Model;
use crate::kernel::on_chip::{PlanePass, plane_moments};
use crate::kernel::rows::RowPass;
use crate::line::{LinePlan, Method};

pub(super) const NAME: &str = "on-chip";

/// Buffers of the kernel, the launch's own included.
const BUFFERS: u32 = 10;

/// Most units of a cube of this kernel: with 1024 it has 64 registers a unit on CUDA and spills 768 bytes at
/// 128 x 128, with 512 it has 128 and spills 264.
const MOST_UNITS: usize = 256;

pub(super) fn plan(request: &Request, limits: &Limits) -> Result<Arrangement, Unsuitable> {
    if limits.buffers_per_kernel < BUFFERS {
        return Err(Unsuitable(format!(
            "its kernel uses {BUFFERS} buffers, the device allows {}",
            limits.buffers_per_kernel
        )));
    }
    let scan = request.scan;
    let shared = limits.shared_memory_bytes as usize;
    let plane = 8 * scan.plane();
    let room = shared.saturating_sub(plane);
    let too_large = || {
        Unsuitable(format!(
            "a half plane of {plane} bytes and room to exchange its lines do not fit into {shared} bytes of \
             shared memory"
        ))
    };
    let units = MOST_UNITS.min(limits.units_per_cube as usize);
    let line = |n: usize| LinePlan::new(n, room, units).ok_or_else(too_large);
    let (column, row) = (line(scan.rows)?, line(scan.cols)?);
    if [&column, &row]
        .iter()
        .any(|line| line.method != Method::Radices)
    {
        return Err(Unsuitable(
            "an axis with another prime factor than 2, 3, 5 and 7: its convolution does twice the work in one \
             cube"
                .into(),
        ));
    }
    // All pairs of rows at once where units and memory allow, so that the sums stay in registers.
    let lines = |line: &LinePlan, floats: usize, wanted: usize| {
        (room / (4 * floats).max(1))
            .min(units / line.units)
            .min(wanted)
    };
    let columns = LineShape {
        lines: lines(&column, column.staged_floats(), scan.half()),
        line: column,
    };
    let rows = LineShape {
        lines: lines(&row, row.exchange_floats(), scan.rows.div_ceil(2)),
        line: row,
    };
    if columns.lines == 0 || rows.lines == 0 {
        return Err(too_large());
    }
    let pass = pass(&columns, &rows, request.unequal);
    if 4 * pass.shared_floats() > shared {
        return Err(too_large());
    }
    let mut plan = Arrangement::new(
        request,
        limits,
        Choice {
            topology: NAME,
            columns,
            rows,
            intermediate: 0,
            images: 0,
            intermediate_bytes: u64::MAX,
            cubes: 0,
        },
    )?;
    // A slot is a cube here: as many as keep the device busy, each with a few BF pixels.
    let pack = plan.longest_pack();
    let slots = (busy_cubes(limits) / 4).clamp(1, pack.div_ceil(2) as u64) as usize;
    let slots = slots.max(short_slots(pack, scan.points()));
    plan.slots[0] = slots;
    plan.slots[1] = slots;
    plan.bytes.sums += 8 * (plan.sets * slots * scan.points()) as u64;
    if plan.bytes.total() > limits.device_bytes {
        return Err(Unsuitable(format!(
            "{} bytes do not fit the device",
            plan.bytes.total()
        )));
    }
    Ok(plan)
}

fn pass(columns: &LineShape, rows: &LineShape, unequal: bool) -> PlanePass {
    PlanePass {
        columns: ColumnPass {
            model: Model {
                unequal,
                thick: false,
                polynomial: false,
                own: false,
            },
            line: columns.line.clone(),
            lines: columns.lines,
        },
        rows: RowPass {
            line: rows.line.clone(),
            lines: rows.lines,
        },
    }
}

pub(super) fn run<R: Runtime>(pack: &Pack<'_, R>) -> Result<(), Error> {
    let plan = pack.arrangement();
    let mut pass = pass(&plan.columns, &plan.rows, false);
    pass.columns.model = pack.model();
    let buffers = pack.buffers();
    launch!(
        R,
        plane_moments,
        pack.client(),
        CubeCount::Static(plan.slots[0] as u32, pack.candidates() as u32, 1),
        CubeDim::new_1d(pass.units() as u32),
        pack.g().vectors(2),
        pack.acquisition().arg(),
        buffers.candidates.vectors(2),
        buffers.column_table.vectors(2),
        buffers.row_table.vectors(2),
        buffers.over_cols.arg(),
        buffers.sums.arg(),
        buffers.squares.arg(),
        buffers.column_degenerate.arg(),
        pack.first(),
        pack.pixels(),
        pack.again_in_set(),
        pack.again(),
        pack.set(),
        pack.sets(),
        pack.pairs_per_candidate(),
        pass,
    );
    Ok(())
}
