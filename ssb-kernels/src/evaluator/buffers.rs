//! The buffers that one evaluation works in, reserved once by the plan.

use cubecl::prelude::*;

use crate::device::DeviceArray;
use crate::kernel::fourier_sum::Summand;
use crate::plan::{Arrangement, MOST_CANDIDATES, SUM_UNITS};

/// Points that one unit adds in `total_image`.
pub(crate) const TOTAL_EACH: usize = 4;

/// Everything on the device but G and the tables of the acquisition.
pub(crate) struct Buffers {
    /// Twiddles of the lines over scan rows and over scan columns.
    pub(crate) column_table: DeviceArray<f32>,
    pub(crate) row_table: DeviceArray<f32>,
    /// Tables of the candidates of a batch.
    pub(crate) candidates: DeviceArray<f32>,
    /// Between the two passes; one value when a topology needs none.
    pub(crate) intermediate: DeviceArray<f32>,
    /// Real images between the stages; one value when a topology needs none.
    pub(crate) images: DeviceArray<f32>,
    /// Spectra of the Nyquist row's real term, and their transforms.
    pub(crate) real_row: DeviceArray<f32>,
    pub(crate) over_cols: DeviceArray<f32>,
    /// Degenerate points of the Nyquist rows and of the columns.
    pub(crate) row_degenerate: DeviceArray<f32>,
    pub(crate) column_degenerate: DeviceArray<f32>,
    /// Images of the slots, squares of the tiles, the total image and its squares.
    pub(crate) sums: DeviceArray<f32>,
    pub(crate) squares: DeviceArray<f32>,
    pub(crate) total: DeviceArray<f32>,
    pub(crate) total_squares: DeviceArray<f32>,
    /// Sums over b at scan frequencies.
    pub(crate) spectrum: DeviceArray<f32>,
}

/// Cubes of `total_image` for each candidate.
pub(crate) fn total_cubes(points: usize) -> usize {
    points.div_ceil(SUM_UNITS * TOTAL_EACH)
}

impl Buffers {
    pub(super) fn new<R: Runtime>(client: &ComputeClient<R>, plan: &Arrangement) -> Self {
        let scan = plan.request.scan;
        let points = scan.rows * scan.cols;
        let most = MOST_CANDIDATES;
        let floats = |len: usize| DeviceArray::<f32>::reserved(client, len.max(2));
        let [column_tiles, row_tiles] = plan.tiles();
        let rows = if scan.even_rows() {
            most * plan.pack
        } else {
            0
        };
        Self {
            column_table: DeviceArray::uploaded(client, &plan.columns.line.table()),
            row_table: DeviceArray::uploaded(client, &plan.rows.line.table()),
            candidates: floats(2 * most * scan.candidate_pairs(true, plan.pack)),
            intermediate: floats(2 * most * plan.pack * plan.intermediate),
            images: floats(most * plan.pack * plan.images),
            real_row: floats(2 * rows * scan.half()),
            over_cols: floats(rows * scan.cols),
            row_degenerate: floats(most * plan.pack),
            column_degenerate: floats(most * plan.slots[0] * column_tiles),
            sums: floats(most * plan.sets * plan.slots[1] * points),
            squares: floats(most * plan.square_sets * plan.slots[1] * row_tiles),
            total: floats(most * points),
            total_squares: floats(most * total_cubes(points)),
            spectrum: floats(
                plan.slots[2] * Summand::Overlap.planes() * (scan.plane() + scan.half()),
            ),
        }
    }
}
