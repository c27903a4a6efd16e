//! Transforms between an image of the scan and its half plane, block by block and group by group.
//!
//! Inverse: the columns of a block together; then, for a group of scan rows, the Hermitian spectra of
//! two rows in one complex line, whose real and imaginary parts are the two real rows. Forward is the
//! mirror image. Nothing is normalised.

use std::sync::Arc;

use pulp::Simd;
use rustfft::num_complex::Complex32;
use rustfft::{Fft, FftDirection, FftPlanner};

use crate::aligned::Aligned;
use crate::layout::Layout;
use crate::line_transform::LineTransform;
use crate::transpose::{Square, transpose};
use crate::vectors::{Cell, F, Z};

/// Planned transforms of one scan shape.
pub struct HalfPlane {
    pub layout: Layout,
    over_rows: LineTransform,
    over_cols: LineTransform,
    /// Slot of each scan row in a block's tile; rows beyond the scan take the cell that is 0.
    row_slots: Vec<u32>,
    /// Scan column of each slot of a group's tile.
    columns: Vec<u32>,
    column_forward: Arc<dyn Fft<f32>>,
    column_inverse: Arc<dyn Fft<f32>>,
    row_inverse: Arc<dyn Fft<f32>>,
}

impl HalfPlane {
    pub fn new(layout: Layout) -> Self {
        let over_rows = LineTransform::new(layout.rows, layout.lanes);
        let over_cols = LineTransform::new(layout.cols, layout.lanes);
        let mut row_slots = over_rows.slots().to_vec();
        row_slots.resize(layout.groups * 2 * layout.lanes, layout.rows as u32);
        let mut columns = vec![0; layout.cols];
        for (col, slot) in over_cols.slots().iter().enumerate() {
            columns[*slot as usize] = col as u32;
        }
        let mut planner = FftPlanner::new();
        let mut plan = |n, direction| planner.plan_fft(n, direction);
        Self {
            layout,
            over_rows,
            over_cols,
            row_slots,
            columns,
            column_forward: plan(layout.rows, FftDirection::Forward),
            column_inverse: plan(layout.rows, FftDirection::Inverse),
            row_inverse: plan(layout.cols, FftDirection::Inverse),
        }
    }

    /// A group's tile for one worker.
    pub fn tile(&self) -> Aligned {
        Aligned::new(self.layout.cols * 2 * self.layout.lanes)
    }

    /// Work space of one worker.
    pub fn work(&self) -> Aligned {
        let cells = self.over_rows.work_cells().max(self.over_cols.work_cells());
        Aligned::new(cells * 2 * self.layout.lanes)
    }

    /// Scan column of each slot of a group's tile.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Slot of a scan column in a group's tile.
    pub fn slot_of(&self, col: usize) -> usize {
        self.over_cols.slots()[col] as usize
    }

    /// Inverse transforms over `q_row` of one block's tile.
    #[inline(always)]
    pub fn columns_inverse<S: Simd>(&self, simd: S, tile: &mut [Cell<S>], work: &mut [Cell<S>]) {
        self.over_rows.inverse(simd, tile, work);
    }

    /// The scan rows of one group after [`Self::columns_inverse`] of the first `occupied` blocks (the
    /// others are taken as 0): real parts the even, imaginary parts the odd rows.
    #[inline(always)]
    pub fn rows_inverse<S: Simd>(
        &self,
        simd: S,
        plane: &[Cell<S>],
        occupied: usize,
        group: usize,
        tile: &mut [Cell<S>],
        work: &mut [Cell<S>],
    ) {
        let (cols, lanes) = (self.layout.cols, S::F32_LANES);
        let slots = &self.row_slots[group * 2 * lanes..][..2 * lanes];
        let stored = (occupied * lanes).min(self.layout.plane_cols);
        let zero = simd.splat_f32s(0.0);
        for block in 0..occupied {
            let from = &plane[block * self.layout.tile_cells()..][..self.layout.tile_cells()];
            let (start, end) = (block * lanes, ((block + 1) * lanes).min(stored));
            self.unfold(simd, from, slots, start..end, tile);
        }
        let mirror = if stored == 0 { cols } else { cols - stored + 1 };
        tile[stored..mirror.max(stored)].fill([zero; 2]);
        self.over_cols.inverse(simd, tile, work);
    }

    /// `a + i b`, and `conj a + i conj b` at the mirrored columns, for the even rows `a` and the odd rows `b`
    /// of a group.
    #[inline(always)]
    fn unfold<S: Simd>(
        &self,
        simd: S,
        from: &[Cell<S>],
        slots: &[u32],
        columns: std::ops::Range<usize>,
        tile: &mut [Cell<S>],
    ) {
        let (cols, lanes) = (self.layout.cols, S::F32_LANES);
        let mut re = [Square::zero(simd); 2];
        let mut im = [Square::zero(simd); 2];
        for (pair, slots) in slots.chunks_exact(2).enumerate().take(lanes) {
            let a = &from[slots[0] as usize];
            let b = &from[slots[1] as usize];
            re[0].0[pair] = simd.sub_f32s(a[0], b[1]);
            re[1].0[pair] = simd.add_f32s(a[0], b[1]);
            im[0].0[pair] = simd.add_f32s(a[1], b[0]);
            im[1].0[pair] = simd.sub_f32s(b[0], a[1]);
        }
        for i in 0..2 {
            transpose(simd, &mut re[i]);
            transpose(simd, &mut im[i]);
        }
        let width = columns.len().min(lanes);
        let first = columns.start;
        let plain = &mut tile[first..first + width];
        for (lane, cell) in plain.iter_mut().enumerate() {
            *cell = [re[0].0[lane], im[0].0[lane]];
        }
        // Column 0 is its own mirror image: half of both.
        let skip = usize::from(first == 0);
        if skip == 1 {
            let half = simd.splat_f32s(0.5);
            for (part, mirrored) in [&re[1], &im[1]].into_iter().enumerate() {
                let sum = simd.add_f32s(tile[0][part], mirrored.0[0]);
                tile[0][part] = simd.mul_f32s(sum, half);
            }
        }
        let mirrored = &mut tile[cols + 1 - first - width..cols + 1 - first - skip];
        for (lane, cell) in (skip..width).zip(mirrored.iter_mut().rev()) {
            *cell = [re[1].0[lane], im[1].0[lane]];
        }
    }

    /// The half plane `g` of a real image `[rows][cols]`, Nyquist lines included. `plane`, `tile` and
    /// `work` are work space.
    #[inline(always)]
    pub fn forward<S: Simd>(
        &self,
        simd: S,
        image: &[f32],
        g: &mut [f32],
        plane: &mut [Cell<S>],
        tile: &mut [Cell<S>],
        work: &mut [Cell<S>],
    ) {
        let layout = &self.layout;
        let (rows, lanes) = (layout.rows, S::F32_LANES);
        let mut nyquist_col = vec![Complex32::default(); rows];
        for group in 0..layout.groups {
            self.rows_forward(simd, image, group, tile, work);
            if let Some(col) = layout.nyquist_col() {
                // Its own mirror image: both rows' spectra are real there.
                let [odd, even] = &tile[self.over_cols.slots()[col] as usize];
                let even: &[f32] = pulp::bytemuck::cast_slice(std::slice::from_ref(even));
                let odd: &[f32] = pulp::bytemuck::cast_slice(std::slice::from_ref(odd));
                let of_group = nyquist_col.chunks_mut(2).skip(group * lanes);
                for (pair, (even, odd)) in of_group.zip(even.iter().zip(odd)) {
                    pair[0] = Complex32::new(*even, 0.0);
                    if let Some(z) = pair.get_mut(1) {
                        *z = Complex32::new(*odd, 0.0);
                    }
                }
            }
            self.unpack(simd, group, tile, plane);
        }
        for block in 0..layout.blocks {
            let tile = &mut plane[block * layout.tile_cells()..][..rows];
            self.over_rows.inverse(simd, tile, work);
            let out = &mut g[block * rows * 2 * lanes..][..rows * 2 * lanes];
            let out = crate::vectors::cells_mut::<S>(out);
            for (out, slot) in out.iter_mut().zip(self.over_rows.slots()) {
                let [im, re] = tile[*slot as usize];
                *out = [re, im];
            }
        }
        if layout.nyquist_col().is_some() {
            self.column_forward.process(&mut nyquist_col);
        }
        self.store_nyquist_lines(&nyquist_col, g);
    }

    /// Forward transforms of one group's rows: frequencies in slots, parts exchanged.
    #[inline(always)]
    fn rows_forward<S: Simd>(
        &self,
        simd: S,
        image: &[f32],
        group: usize,
        tile: &mut [Cell<S>],
        work: &mut [Cell<S>],
    ) {
        let (rows, cols, lanes) = (self.layout.rows, self.layout.cols, S::F32_LANES);
        for start in (0..cols).step_by(lanes) {
            let width = lanes.min(cols - start);
            for odd in 0..2 {
                let mut square = Square::zero(simd);
                for pair in 0..lanes {
                    let row = group * 2 * lanes + 2 * pair + odd;
                    if row < rows {
                        square.0[pair] =
                            simd.partial_load_f32s(&image[row * cols + start..][..width]);
                    }
                }
                transpose(simd, &mut square);
                // Parts exchanged (odd rows first): the transform then has the other sign.
                for (cell, v) in tile[start..start + width].iter_mut().zip(square.0) {
                    cell[1 - odd] = v;
                }
            }
        }
        self.over_cols.inverse(simd, tile, work);
    }

    /// Separates the spectra of even and odd rows and lays them into the blocks' tiles, parts exchanged.
    #[inline(always)]
    fn unpack<S: Simd>(&self, simd: S, group: usize, tile: &[Cell<S>], plane: &mut [Cell<S>]) {
        let layout = &self.layout;
        let (rows, cols, lanes) = (layout.rows, layout.cols, S::F32_LANES);
        let slots = self.over_cols.slots();
        let half = F::splat(simd, 0.5);
        for block in 0..layout.blocks {
            let to = &mut plane[block * layout.tile_cells()..][..rows];
            for (odd, part) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let mut square = Square::zero(simd);
                for (lane, out) in square.0[..lanes].iter_mut().enumerate() {
                    let col = block * lanes + lane;
                    if col < layout.plane_cols {
                        let [z_im, z_re] = tile[slots[col] as usize];
                        let [m_im, m_re] = tile[slots[(cols - col) % cols] as usize];
                        let z = Z::load(simd, &[z_re, z_im]);
                        let mirror = Z::new(F::new(simd, m_re), -F::new(simd, m_im));
                        // (z + mirror) / 2, and (z - mirror) / 2i for the odd rows
                        let (sum, difference) = (z + mirror, z - mirror);
                        let value = match (odd, part) {
                            (0, 0) => sum.re,
                            (0, _) => sum.im,
                            (_, 0) => difference.im,
                            _ => -difference.re,
                        };
                        *out = (value * half).v;
                    }
                }
                transpose(simd, &mut square);
                for (pair, v) in square.0[..lanes].iter().enumerate() {
                    let row = group * 2 * lanes + 2 * pair + odd;
                    if row < rows {
                        to[row][1 - part] = *v;
                    }
                }
            }
        }
    }

    /// G(-q) = conj G(q): the Nyquist row's negative columns come from its positive ones.
    fn store_nyquist_lines(&self, nyquist_col: &[Complex32], g: &mut [f32]) {
        let layout = &self.layout;
        let (rows, cols, lanes) = (layout.rows, layout.cols, layout.lanes);
        let stored = |g: &[f32], row: usize, col: usize| {
            if col < layout.plane_cols {
                let at = ((col / lanes) * rows + row) * 2 * lanes + col % lanes;
                Complex32::new(g[at], g[at + lanes])
            } else {
                nyquist_col[row]
            }
        };
        let row_line: Vec<Complex32> = layout.nyquist_row().map_or_else(Vec::new, |row| {
            (0..cols)
                .map(|col| {
                    if col <= cols / 2 {
                        stored(g, row, col)
                    } else {
                        stored(g, row, cols - col).conj()
                    }
                })
                .collect()
        });
        let [row, col] = layout.nyquist_lines_mut(g);
        for (to, line) in [(row, &row_line[..]), (col, nyquist_col)] {
            if !to.is_empty() {
                let (re, im) = to.split_at_mut(line.len());
                for (i, z) in line.iter().enumerate() {
                    (re[i], im[i]) = (z.re, z.im);
                }
            }
        }
    }

    /// The inverse transform of a Nyquist line of either length, in place.
    pub fn line_inverse(
        &self,
        line: &mut [Complex32],
        along_rows: bool,
        work: &mut Vec<Complex32>,
    ) {
        let plan = if along_rows {
            &self.column_inverse
        } else {
            &self.row_inverse
        };
        work.resize(plan.get_inplace_scratch_len(), Complex32::default());
        plan.process_with_scratch(line, work);
    }
}
