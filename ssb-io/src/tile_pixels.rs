//! The chosen pixels of one tile of the detector: taken out of a frame run by run, and turned from
//! frame-major to pixel-major.

use crate::frames::Tile;
use crate::sample_type::Stored;

/// The chosen pixels of one tile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TilePixels {
    /// Column of each, ascending.
    pub(crate) columns: Vec<usize>,
    /// Number of pixels.
    pub(crate) len: usize,
    /// Element offset in a block and number of pixels that follow each other there.
    runs: Vec<(usize, usize)>,
}

impl TilePixels {
    /// The pixels that lie in a tile.
    pub(crate) fn new(tile: &Tile, pixels: &[[usize; 2]]) -> Self {
        let mut columns = Vec::new();
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for (column, [r, c]) in pixels.iter().enumerate() {
            let (Some(row), Some(col)) =
                (r.checked_sub(tile.start[0]), c.checked_sub(tile.start[1]))
            else {
                continue;
            };
            if row >= tile.shape[0] || col >= tile.shape[1] {
                continue;
            }
            let offset = row * tile.strides[0] + col * tile.strides[1];
            columns.push(column);
            match runs.last_mut() {
                Some((start, len)) if *start + *len == offset => *len += 1,
                _ => runs.push((offset, 1)),
            }
        }
        Self {
            len: columns.len(),
            columns,
            runs,
        }
    }

    /// Copies the pixels of a frame, whose first sample `data` begins with.
    pub(crate) fn copy<T: Stored>(&self, data: &[u8], mut out: &mut [T]) {
        for (start, len) in &self.runs {
            let from = start * T::BYTES;
            let (here, rest) = out.split_at_mut(*len);
            let bytes = data[from..from + len * T::BYTES].chunks_exact(T::BYTES);
            for (value, bytes) in here.iter_mut().zip(bytes) {
                *value = T::decode(bytes);
            }
            out = rest;
        }
    }
}

/// Writes frame-major values of so many pixels to `out[p * stride + first + f]`. (Turning squares of 16
/// by 16 in registers was tried: no faster than this loop.)
pub(crate) fn transpose<T: Stored>(
    values: &[T],
    pixels: usize,
    out: &mut [T],
    stride: usize,
    first: usize,
) {
    if pixels == 0 {
        return;
    }
    let frames = values.len() / pixels;
    for p in 0..pixels {
        let line = &mut out[p * stride + first..][..frames];
        for (value, frame) in line.iter_mut().zip(values.chunks_exact(pixels)) {
            *value = frame[p];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turned_values_are_where_they_belong() {
        for (pixels, frames) in [(1, 1), (16, 16), (37, 16), (50, 7)] {
            let values: Vec<u16> = (0..pixels * frames).map(|v| v as u16).collect();
            let mut out = vec![0; pixels * 20];
            transpose(&values, pixels, &mut out, 20, 3);
            for p in 0..pixels {
                for f in 0..frames {
                    assert_eq!(out[p * 20 + 3 + f], values[f * pixels + p]);
                }
            }
        }
    }
}
