//! Detector transforms: transpose, then reversed rows, then reversed columns (numerics section 4,
//! frames).

use ssb_core::ndarray::Array2;

use crate::options::OpenOptions;

/// How the stored detector becomes the one that is worked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Orientation {
    stored: [usize; 2],
    transpose: bool,
    flip_rows: bool,
    flip_cols: bool,
}

impl Orientation {
    pub(crate) fn new(stored: [usize; 2], options: &OpenOptions) -> Self {
        Self {
            stored,
            transpose: options.transpose,
            flip_rows: options.flip_rows,
            flip_cols: options.flip_cols,
        }
    }

    /// Shape of the transformed detector.
    pub(crate) fn shape(&self) -> [usize; 2] {
        let [rows, cols] = self.stored;
        if self.transpose {
            [cols, rows]
        } else {
            [rows, cols]
        }
    }

    /// The stored pixel behind a transformed one.
    pub(crate) fn stored(&self, [row, col]: [usize; 2]) -> [usize; 2] {
        let [rows, cols] = self.shape();
        let row = if self.flip_rows { rows - 1 - row } else { row };
        let col = if self.flip_cols { cols - 1 - col } else { col };
        if self.transpose {
            [col, row]
        } else {
            [row, col]
        }
    }

    /// A stored image, transformed.
    pub(crate) fn apply<T: Clone>(&self, image: &Array2<T>) -> Array2<T> {
        let [rows, cols] = self.shape();
        Array2::from_shape_fn((rows, cols), |(r, c)| {
            let [k, l] = self.stored([r, c]);
            image[(k, l)].clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transforms_apply_in_their_order() {
        let image = Array2::from_shape_fn((2, 3), |(r, c)| 3 * r + c);
        let options = OpenOptions {
            transpose: true,
            flip_rows: true,
            flip_cols: true,
            ..OpenOptions::default()
        };
        let mut expected = image.t().to_owned();
        expected.invert_axis(ssb_core::ndarray::Axis(0));
        let turned = |o: &OpenOptions| Orientation::new([2, 3], o).apply(&image);
        let rows_only = OpenOptions {
            flip_cols: false,
            ..options.clone()
        };
        assert_eq!(turned(&rows_only), expected);
        expected.invert_axis(ssb_core::ndarray::Axis(1));
        assert_eq!(turned(&options), expected);
    }
}
