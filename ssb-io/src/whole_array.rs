//! Small arrays read whole: masks, calibration axes, metadata tables.

use crate::IoError;
use crate::codec::Scratch;
use crate::error::Fault;
use crate::grid::Grid;
use crate::stored_array::StoredArray;

impl StoredArray {
    fn check_size(&self, bytes: usize, limit: usize) -> Result<(), IoError> {
        if bytes <= limit {
            return Ok(());
        }
        Err(IoError::OutOfMemory(
            Fault::of(self.file().path())
                .object(self.object())
                .expected(format!("at most {limit} bytes"))
                .found(format!("{bytes} bytes"))
                .action("check the dataset"),
        ))
    }

    /// The whole array in C order, for masks and calibration axes.
    ///
    /// # Errors
    /// [`IoError::OutOfMemory`] above `limit` bytes, or a chunk that does not read.
    pub(crate) fn read_all(&self, limit: usize) -> Result<Vec<u8>, IoError> {
        let elements: usize = self.shape().iter().product();
        let bytes = elements.saturating_mul(self.element());
        self.check_size(bytes, limit)?;
        let mut out = vec![0; bytes];
        let strides = self.strides();
        let mut scratch = Scratch::default();
        for at in Grid::new(&self.grid()) {
            self.read_block(&at, &mut scratch)
                .map_err(|error| self.failure(&error, &format!("chunk {at:?}")))?;
            // Runs along the fastest axis.
            let mut extents: Vec<usize> = (0..at.len())
                .map(|d| (self.shape()[d] - at[d] * self.block()[d]).min(self.block()[d]))
                .collect();
            let run = extents.last_mut().map_or(1, |n| std::mem::replace(n, 1)) * self.element();
            for inner in Grid::new(&extents) {
                let mut to = 0;
                let mut from = 0;
                for d in 0..inner.len() {
                    to = to * self.shape()[d] + at[d] * self.block()[d] + inner[d];
                    from += inner[d] * strides[d];
                }
                let (to, from) = (to * self.element(), from * self.element());
                out[to..to + run].copy_from_slice(&scratch.chunk[from..from + run]);
            }
        }
        Ok(out)
    }

    /// The first element along every axis but the first: one column of a table, read block by block.
    ///
    /// # Errors
    /// [`IoError::OutOfMemory`] above `limit` bytes, or a chunk that does not read.
    pub(crate) fn read_first_column(&self, limit: usize) -> Result<Vec<u8>, IoError> {
        let rows = self.shape().first().copied().unwrap_or(0);
        self.check_size(rows.saturating_mul(self.element()), limit)?;
        let stride = self.strides().first().copied().unwrap_or(1) * self.element();
        let mut out = Vec::with_capacity(rows * self.element());
        let mut scratch = Scratch::default();
        let mut at = vec![0; self.shape().len()];
        while out.len() < rows * self.element() {
            self.read_block(&at, &mut scratch)
                .map_err(|error| self.failure(&error, &format!("chunk {at:?}")))?;
            let here = (rows - at[0] * self.block()[0]).min(self.block()[0]);
            for row in scratch.chunk.chunks(stride.max(1)).take(here) {
                out.extend_from_slice(&row[..self.element()]);
            }
            at[0] += 1;
        }
        Ok(out)
    }
}
