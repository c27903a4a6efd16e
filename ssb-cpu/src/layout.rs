//! How G and one corrected half plane lie in memory.
//!
//! Stored columns (the Nyquist column of an even axis apart) are cut into blocks as wide as a vector.
//! A block is a tile of cells over `q_row`; the lanes of a cell are neighbouring columns. Scan rows go
//! in groups of twice the lanes: a cell of a group's tile holds one scan column, its lanes the even
//! rows in the real and the odd rows in the imaginary part.

/// Sizes of both kinds of tile for one scan and one width of vectors.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    pub rows: usize,
    pub cols: usize,
    pub lanes: usize,
    /// Stored columns that are no Nyquist line.
    pub plane_cols: usize,
    /// Blocks of columns.
    pub blocks: usize,
    /// Groups of scan rows.
    pub groups: usize,
}

impl Layout {
    pub fn new([rows, cols]: [usize; 2], lanes: usize) -> Self {
        let plane_cols = cols.div_ceil(2);
        Self {
            rows,
            cols,
            lanes,
            plane_cols,
            blocks: plane_cols.div_ceil(lanes),
            groups: rows.div_ceil(2 * lanes),
        }
    }

    /// The Nyquist row's index, for an even number of rows.
    pub fn nyquist_row(&self) -> Option<usize> {
        self.rows.is_multiple_of(2).then_some(self.rows / 2)
    }

    /// The Nyquist column's index, for an even number of columns.
    pub fn nyquist_col(&self) -> Option<usize> {
        self.cols.is_multiple_of(2).then_some(self.cols / 2)
    }

    /// Floats of all blocks of G.
    pub fn plane_floats(&self) -> usize {
        self.blocks * self.rows * 2 * self.lanes
    }

    /// Where the Nyquist row `[re, im][cols]` and the Nyquist column `[re, im][rows]` of G begin; each is
    /// there for an even axis only.
    fn line_starts(&self) -> [usize; 3] {
        let row = self.nyquist_row().map_or(0, |_| 2 * self.cols);
        let col = self.nyquist_col().map_or(0, |_| 2 * self.rows);
        let start = self.plane_floats();
        [start, start + row, start + row + col]
    }

    /// Floats of one BF pixel's G, whole cache lines.
    pub fn pixel_floats(&self) -> usize {
        self.line_starts()[2].next_multiple_of(16)
    }

    /// Real and imaginary parts of the Nyquist row of one pixel's G, over all columns.
    #[inline(always)]
    pub fn nyquist_row_of<'a>(&self, g: &'a [f32]) -> [&'a [f32]; 2] {
        let [start, ..] = self.line_starts();
        [
            &g[start..][..self.cols],
            &g[start + self.cols..][..self.cols],
        ]
    }

    /// Real and imaginary parts of the Nyquist column of one pixel's G, over all rows.
    #[inline(always)]
    pub fn nyquist_col_of<'a>(&self, g: &'a [f32]) -> [&'a [f32]; 2] {
        let [_, start, _] = self.line_starts();
        [
            &g[start..][..self.rows],
            &g[start + self.rows..][..self.rows],
        ]
    }

    /// Both Nyquist lines of one pixel's G, row first, to write.
    pub fn nyquist_lines_mut<'a>(&self, g: &'a mut [f32]) -> [&'a mut [f32]; 2] {
        let [start, middle, end] = self.line_starts();
        let (row, col) = g[start..end].split_at_mut(middle - start);
        [row, col]
    }

    /// Cells of one block's tile in a workspace: one a row, and one that stays 0 for rows beyond the scan.
    pub fn tile_cells(&self) -> usize {
        self.rows + 1
    }

    /// Floats of a workspace's corrected half plane.
    pub fn workspace_floats(&self) -> usize {
        self.blocks * self.tile_cells() * 2 * self.lanes
    }

    /// Floats of an image in the order of the groups' tiles `[group][slot][re, im]`.
    pub fn image_floats(&self) -> usize {
        self.groups * self.cols * 2 * self.lanes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_even_and_odd_scans() {
        let even = Layout::new([256, 256], 16);
        assert_eq!((even.plane_cols, even.blocks, even.groups), (128, 8, 8));
        assert_eq!(even.pixel_floats(), 2 * (256 * 128 + 256 + 256));
        let odd = Layout::new([33, 35], 8);
        assert_eq!((odd.plane_cols, odd.blocks, odd.groups), (18, 3, 3));
        assert_eq!(odd.pixel_floats(), odd.plane_floats());
        assert!(odd.nyquist_row().is_none() && odd.nyquist_col().is_none());
    }

    #[test]
    fn lines_do_not_overlap() {
        let layout = Layout::new([10, 12], 4);
        let mut g = vec![0.0; layout.pixel_floats()];
        let [row, col] = layout.nyquist_lines_mut(&mut g);
        assert_eq!((row.len(), col.len()), (24, 20));
        row.fill(1.0);
        col.fill(2.0);
        assert!(layout.nyquist_row_of(&g)[1].iter().all(|v| *v == 1.0));
        assert!(layout.nyquist_col_of(&g)[0].iter().all(|v| *v == 2.0));
    }
}
