//! The exact loss and the mean phase over fixed lanes (numerics section 1).

use ndarray::Array2;
use pulp::{Simd, WithSimd};
use rustfft::num_complex::Complex32;
use ssb_core::{Candidate, Control, Error, Evaluation, MeanPhase, PhaseSums};

use crate::aligned::Aligned;
use crate::correct_tile::Sink;
use crate::evaluator::CpuEvaluator;
use crate::half_plane::HalfPlane;
use crate::lanes::{Lane, LaneSums, combine};
use crate::lattice::Lattice;
use crate::nyquist_line::NyquistLine;
use crate::phase::{NyquistTerms, accumulate, accumulate_with};
use crate::pixel::{Pixel, PixelScratch};
use crate::store::ForwardScratch;
use crate::vectors::{Cell, F, Z, cells, cells_mut, lines};

/// What one worker needs for one BF pixel.
pub struct Workspace {
    pub pixel: PixelScratch,
    /// Corrected half plane, a tile a block.
    pub plane: Aligned,
    pub tile: Aligned,
    pub work: Aligned,
    nyquist_row: Vec<Complex32>,
    nyquist_col: Vec<Complex32>,
    /// One Nyquist line.
    pub line_work: Vec<Complex32>,
    /// The Nyquist column's transform, `[group][even re, even im, odd re, odd im]`.
    over_rows: Aligned,
    /// Which rows belong to the scan, `[group][even, odd]`.
    within: Aligned,
    /// G of a pixel that is not held.
    pub made: Option<(ForwardScratch, Aligned)>,
}

impl Workspace {
    pub fn new(lattice: &Lattice, half_plane: &HalfPlane) -> Self {
        let layout = &lattice.layout;
        let mut within = Aligned::new(layout.groups * 2 * layout.lanes);
        for row in 0..layout.rows {
            let at = row_place(row, layout.lanes);
            within.get_mut()[at.0 * 2 * layout.lanes + at.1 * layout.lanes + at.2] = 1.0;
        }
        Self {
            pixel: PixelScratch::new(lattice),
            plane: Aligned::new(layout.workspace_floats()),
            tile: half_plane.tile(),
            work: half_plane.work(),
            nyquist_row: vec![Complex32::default(); layout.cols],
            nyquist_col: vec![Complex32::default(); layout.rows],
            line_work: Vec::new(),
            over_rows: Aligned::new(layout.groups * 4 * layout.lanes),
            within,
            made: None,
        }
    }
}

/// Group, odd or even, and lane of a scan row.
fn row_place(row: usize, lanes: usize) -> (usize, usize, usize) {
    (row / (2 * lanes), row % 2, row % (2 * lanes) / 2)
}

/// Sums of one candidate over one lane.
struct LossLane {
    phase: LaneSums,
    squares_rad2: f64,
    degenerate: u64,
}

impl Lane for LossLane {
    fn flush(&mut self) {
        self.phase.flush();
    }
}

/// Writes `S` into a block's tile.
struct TileSink<'a, S: Simd> {
    tile: &'a mut [Cell<S>],
    zero: Cell<S>,
}

impl<S: Simd> Sink<S> for TileSink<'_, S> {
    #[inline(always)]
    fn put(&mut self, row: usize, s: Z<S>, _: F<S>) {
        self.tile[row] = s.cell();
    }

    #[inline(always)]
    fn skip(&mut self, rows: std::ops::Range<usize>) {
        self.tile[rows].fill(self.zero);
    }
}

/// Adds one pixel to a lane.
struct AddPixel<'a> {
    half_plane: &'a HalfPlane,
    pixel: &'a Pixel<'a>,
    workspace: &'a mut Workspace,
    lane: &'a mut LossLane,
}

impl WithSimd for AddPixel<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            half_plane,
            pixel,
            workspace,
            lane,
        } = self;
        let layout = &half_plane.layout;
        let zero = [simd.splat_f32s(0.0); 2];
        let occupied = pixel.occupied_blocks();
        let plane = cells_mut::<S>(workspace.plane.get_mut());
        let work = cells_mut::<S>(workspace.work.get_mut());
        pixel.fill_axes(simd, &mut workspace.pixel);
        // Gamma(0) is exactly 0; DC does not count.
        let mut degenerate = 0;
        for block in 0..occupied {
            let tile = &mut plane[block * layout.tile_cells()..][..layout.tile_cells()];
            if let Some(nyquist) = layout.nyquist_row() {
                tile[nyquist] = zero;
            }
            let mut sink = TileSink::<S> {
                tile: &mut *tile,
                zero,
            };
            degenerate +=
                pixel.correct_block::<S, true>(simd, block, &mut workspace.pixel, &mut sink);
            half_plane.columns_inverse(simd, tile, work);
        }
        let (touched, line_degenerate) = nyquist_lines(
            half_plane,
            pixel,
            &mut workspace.pixel,
            [&mut workspace.nyquist_row, &mut workspace.nyquist_col],
            &mut workspace.line_work,
            workspace.over_rows.get_mut(),
        );
        degenerate += line_degenerate;
        lane.degenerate += degenerate.saturating_sub(1);
        let image = cells_mut::<S>(lane.phase.short.get_mut());
        let tile = cells_mut::<S>(workspace.tile.get_mut());
        for (group, sums) in image.chunks_exact_mut(layout.cols).enumerate() {
            half_plane.rows_inverse(simd, plane, occupied, group, tile, work);
            lane.squares_rad2 += if touched {
                let over_rows = &cells::<S>(workspace.over_rows.get())[2 * group..][..2];
                let within = &lines::<S>(workspace.within.get())[2 * group..][..2];
                let terms = NyquistTerms {
                    over_rows: [Z::load(simd, &over_rows[0]), Z::load(simd, &over_rows[1])],
                    within: [F::new(simd, within[0]), F::new(simd, within[1])],
                    over_cols: &workspace.nyquist_row,
                    columns: half_plane.columns(),
                };
                accumulate_with(simd, &terms, tile, sums)
            } else {
                accumulate(simd, tile, sums)
            };
        }
    }
}

/// Corrects and transforms the Nyquist lines that the sidebands reach; the others are left at 0. Tells
/// whether there is any, and the degenerate points.
#[inline(always)]
fn nyquist_lines(
    half_plane: &HalfPlane,
    pixel: &Pixel<'_>,
    scratch: &mut PixelScratch,
    [row_line, col_line]: [&mut Vec<Complex32>; 2],
    line_work: &mut Vec<Complex32>,
    over_rows: &mut [f32],
) -> (bool, u64) {
    let layout = &half_plane.layout;
    let (mut row_degenerate, mut col_degenerate) = (None, None);
    if let Some(row) = layout.nyquist_row() {
        let line = NyquistLine::Row(row);
        row_degenerate = pixel.correct_nyquist_line(line, &mut scratch.line, row_line);
    }
    if let Some(col) = layout.nyquist_col() {
        let line = NyquistLine::Column(col);
        col_degenerate = pixel.correct_nyquist_line(line, &mut scratch.line, col_line);
    }
    if row_degenerate.is_none() && col_degenerate.is_none() {
        return (false, 0);
    }
    if row_degenerate.is_none() {
        row_line.fill(Complex32::default());
    } else if let Some((row, col)) = layout.nyquist_row().zip(layout.nyquist_col()) {
        // The corner belongs to both lines; the column takes it.
        if col_degenerate.is_none() {
            col_line.fill(Complex32::default());
        }
        col_line[row] = row_line[col];
        row_line[col] = Complex32::default();
    }
    if row_degenerate.is_some() {
        half_plane.line_inverse(row_line, false, line_work);
    }
    over_rows.fill(0.0);
    let corner = row_degenerate.is_some() && layout.nyquist_col().is_some();
    if col_degenerate.is_some() || corner {
        half_plane.line_inverse(col_line, true, line_work);
        let lanes = layout.lanes;
        for (row, u) in col_line.iter().enumerate() {
            let (group, odd, lane) = row_place(row, lanes);
            let at = (group * 4 + odd * 2) * lanes + lane;
            (over_rows[at], over_rows[at + lanes]) = (u.re, u.im);
        }
    }
    let count = row_degenerate.unwrap_or(0) + col_degenerate.unwrap_or(0);
    (true, u64::from(count))
}

impl CpuEvaluator {
    /// Losses of candidates of one rotation in one pass over G; the sums of their phases go to `phases`,
    /// in the order of the groups' tiles.
    pub(crate) fn losses(
        &mut self,
        candidates: &[Candidate],
        control: &Control,
        phases: &mut [Vec<f64>],
    ) -> Result<Vec<Evaluation>, Error> {
        if let Some(first) = candidates.first() {
            self.turn_to(first);
        }
        let tables: Vec<_> = candidates.iter().map(|c| self.tables(c)).collect();
        let mut squares_rad2 = vec![0.0; candidates.len()];
        let mut degenerate = vec![0; candidates.len()];
        let this = &*self;
        let floats = this.lattice.layout.image_floats();
        let new = || LossLane {
            phase: LaneSums::new(this.images.take(|| Aligned::new(floats))),
            squares_rad2: 0.0,
            degenerate: 0,
        };
        this.over_lanes(
            control,
            || -> Vec<LossLane> { tables.iter().map(|_| new()).collect() },
            |lane, open, workspace| {
                for (tables, lane) in tables.iter().zip(lane) {
                    this.vectors.run(AddPixel {
                        half_plane: &this.half_plane,
                        pixel: &Pixel::new(&this.lattice, tables, open, f64::INFINITY),
                        workspace,
                        lane,
                    });
                }
            },
            |lanes| {
                for (i, of_candidate) in lanes.iter().flat_map(|lane| lane.iter().enumerate()) {
                    squares_rad2[i] += of_candidate.squares_rad2;
                    degenerate[i] += of_candidate.degenerate;
                }
                let phase = |lane: Vec<LossLane>| lane.into_iter().map(|l| l.phase).collect();
                let images = lanes.into_iter().map(phase).collect();
                combine(this.vectors, phases, images, &this.images);
            },
        )?;
        (0..candidates.len())
            .map(|i| {
                let sums = PhaseSums {
                    scan_shape: [this.lattice.layout.rows, this.lattice.layout.cols],
                    squares_rad2: squares_rad2[i],
                    degenerate: degenerate[i],
                    supported: this.frame.supported,
                    bf_pixels: this.info.bf_pixels,
                };
                sums.evaluation(squared(&phases[i]), this.info.backend)
            })
            .collect()
    }

    /// Candidates evaluated together, at most.
    pub(crate) fn evaluate_batch(
        &mut self,
        candidates: &[Candidate],
        control: &Control,
    ) -> Result<Vec<Evaluation>, Error> {
        self.together(candidates, TOGETHER, |this, now| {
            let mut phases = vec![vec![0.0; this.lattice.layout.image_floats()]; now.len()];
            this.losses(now, control, &mut phases)
        })
    }

    pub(crate) fn mean_phase_of(
        &mut self,
        candidate: &Candidate,
        control: &Control,
    ) -> Result<MeanPhase, Error> {
        let layout = self.lattice.layout;
        let mut phases = [vec![0.0; layout.image_floats()]];
        let found = self.losses(std::slice::from_ref(candidate), control, &mut phases)?;
        let mut phase_rad = Array2::zeros((layout.rows, layout.cols));
        let pixels = self.info.bf_pixels as f64;
        for ((row, col), phase) in phase_rad.indexed_iter_mut() {
            let (group, odd, lane) = row_place(row, layout.lanes);
            let slot = self.half_plane.slot_of(col);
            let at = ((group * layout.cols + slot) * 2 + odd) * layout.lanes + lane;
            *phase = phases[0][at] / pixels;
        }
        Ok(MeanPhase {
            phase_rad,
            evaluation: found[0],
        })
    }
}

/// Candidates that share one pass over G.
pub const TOGETHER: usize = 2;

/// The sum of squares, in an order that does not depend on the threads.
fn squared(values: &[f64]) -> f64 {
    values
        .chunks(1024)
        .map(|chunk| {
            let mut sums = [0.0; 8];
            for values in chunk.chunks(8) {
                for (sum, v) in sums.iter_mut().zip(values) {
                    *sum += v * v;
                }
            }
            sums.iter().sum::<f64>()
        })
        .sum()
}
