//! The evidence: integer counts of every bright-field pixel over the scan, detector-major.

use ndarray::{Array2, ArrayView1, Axis};

use crate::Error;

/// A number type that counts come in.
pub trait Sample: Copy + Send + Sync + 'static {
    /// NumPy's name of the type.
    const DTYPE: &'static str;
    /// Whether it is an integer of at most 16 bits.
    const SHORT_INTEGER: bool;
    /// The value as float64 (exact for every type here).
    fn to_f64(self) -> f64;
    /// The value as an integer; exact where [`Self::SHORT_INTEGER`].
    fn to_i32(self) -> i32;
    /// Wraps a `[B, R*C]` array of this type.
    fn columns(array: Array2<Self>) -> Columns
    where
        Self: Sized;
}

macro_rules! columns {
    ($(($variant:ident, $type:ty, $dtype:literal)),*) => {
        /// BF columns `[B, R*C]` in the type they were stored in, never widened or narrowed.
        #[derive(Debug, Clone)]
        #[non_exhaustive]
        pub enum Columns {
            $(
                #[doc = concat!("`", $dtype, "` samples.")]
                $variant(Array2<$type>),
            )*
        }

        impl Columns {
            /// NumPy's name of the sample type.
            #[must_use]
            pub fn dtype(&self) -> &'static str {
                match self { $(Self::$variant(_) => $dtype,)* }
            }
            /// `[B, R*C]`.
            #[must_use]
            pub fn shape(&self) -> [usize; 2] {
                match self { $(Self::$variant(a) => [a.nrows(), a.ncols()],)* }
            }
            /// Bytes held.
            #[must_use]
            pub fn bytes(&self) -> u64 {
                match self { $(Self::$variant(a) => (a.len() * size_of::<$type>()) as u64,)* }
            }
            /// The columns of some BF pixels, in the order given.
            ///
            /// # Panics
            /// For a pixel that is not there.
            #[must_use]
            pub fn select(&self, pixels: &[usize]) -> Self {
                match self { $(Self::$variant(a) => Self::$variant(a.select(Axis(0), pixels)),)* }
            }
            #[inline(always)]
            fn sum(&self, b: usize) -> f64 {
                match self { $(Self::$variant(a) => sum(a.row(b)),)* }
            }
            #[inline(always)]
            fn read(&self, b: usize, offset: f64, scale: f64, out: &mut [f32]) {
                match self { $(Self::$variant(a) => read(a.row(b), offset, scale, out),)* }
            }
            fn read_f64(&self, b: usize, out: &mut [f64]) {
                match self {
                    $(Self::$variant(a) => {
                        for (o, v) in out.iter_mut().zip(a.row(b)) { *o = v.to_f64(); }
                    })*
                }
            }
            fn varies(&self) -> bool {
                match self {
                    $(Self::$variant(a) => a.rows().into_iter().any(|row| {
                        row.first().is_some_and(|first| row.iter().any(|v| v != first))
                    }),)*
                }
            }
            fn first_non_finite(&self) -> Option<(usize, usize)> {
                match self { $(Self::$variant(a) => first_non_finite(a),)* }
            }
        }

        $(impl Sample for $type {
            const DTYPE: &'static str = $dtype;
            const SHORT_INTEGER: bool = size_of::<$type>() <= 2;
            #[allow(clippy::cast_lossless, clippy::unnecessary_cast)]
            #[inline(always)]
            fn to_f64(self) -> f64 { self as f64 }
            #[allow(clippy::cast_lossless, clippy::unnecessary_cast)]
            #[inline(always)]
            fn to_i32(self) -> i32 { self as i32 }
            fn columns(array: Array2<Self>) -> Columns { Columns::$variant(array) }
        })*
    };
}

columns!(
    (U8, u8, "uint8"),
    (U16, u16, "uint16"),
    (U32, u32, "uint32"),
    (I8, i8, "int8"),
    (I16, i16, "int16"),
    (I32, i32, "int32"),
    (F32, f32, "float32"),
    (F64, f64, "float64")
);

/// Partial sums that run side by side.
const TOGETHER: usize = 16;

/// Exact for integers: every partial sum of fewer than 2^21 32-bit counts fits 53 bits. Short integers are
/// summed as integers, a piece at a time, which vectorises.
#[inline(always)]
fn sum<T: Sample>(column: ArrayView1<'_, T>) -> f64 {
    let Some(values) = column.as_slice() else {
        return column.iter().map(|v| v.to_f64()).sum();
    };
    if T::SHORT_INTEGER {
        // At most 2^15 counts of 16 bits fit 31 bits.
        let pieces = values.chunks(1 << 15);
        let exact: i64 = pieces
            .map(|piece| i64::from(piece.iter().map(|v| v.to_i32()).sum::<i32>()))
            .sum();
        return exact as f64;
    }
    let mut sums = [0.0; TOGETHER];
    for piece in values.chunks(TOGETHER) {
        for (sum, v) in sums.iter_mut().zip(piece) {
            *sum += v.to_f64();
        }
    }
    sums.iter().sum()
}

/// Integers are finite by their type.
fn first_non_finite<T: Sample>(columns: &Array2<T>) -> Option<(usize, usize)> {
    if !T::DTYPE.starts_with("float") {
        return None;
    }
    columns
        .indexed_iter()
        .find(|(_, v)| !v.to_f64().is_finite())
        .map(|(at, _)| at)
}

#[inline(always)]
fn read<T: Sample>(column: ArrayView1<'_, T>, offset: f64, scale: f64, out: &mut [f32]) {
    let Some(values) = column.to_slice() else {
        for (o, v) in out.iter_mut().zip(column) {
            *o = ((v.to_f64() - offset) * scale) as f32;
        }
        return;
    };
    for (o, v) in out.iter_mut().zip(values) {
        *o = ((v.to_f64() - offset) * scale) as f32;
    }
}

/// The counts `I(R, k_b)` of every BF pixel, read by block by the backends.
///
/// # Shape
/// `B` columns of `R * C` samples, scan positions in row-major order.
#[derive(Debug, Clone)]
pub struct Evidence {
    scan_shape: [usize; 2],
    columns: Columns,
}

impl Evidence {
    /// Checks and wraps BF columns.
    ///
    /// # Errors
    /// [`Error::BadEvidence`] for an empty selection, a wrong length, or NaN or infinity.
    pub fn new(scan_shape: [usize; 2], columns: Columns) -> Result<Self, Error> {
        let [b, points] = columns.shape();
        if b == 0 || points != scan_shape[0] * scan_shape[1] {
            return Err(Error::BadEvidence {
                object: "bright-field columns".into(),
                expected: format!(
                    "one or more columns of {} x {} samples",
                    scan_shape[0], scan_shape[1]
                ),
                found: format!("{b} columns of {points}"),
                action: "check the scan shape and the bright-field disk".into(),
            });
        }
        if let Some((b, i)) = columns.first_non_finite() {
            let [row, col] = [i / scan_shape[1], i % scan_shape[1]];
            return Err(Error::BadEvidence {
                object: format!("bright-field column {b} at scan position ({row}, {col})"),
                expected: "a finite count".into(),
                found: "NaN or infinity".into(),
                action: "mask the pixel or repair the data".into(),
            });
        }
        Ok(Self {
            scan_shape,
            columns,
        })
    }

    /// `(rows, cols)` of the scan.
    #[must_use]
    pub fn scan_shape(&self) -> [usize; 2] {
        self.scan_shape
    }

    /// Number of BF pixels.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns.shape()[0]
    }

    /// Never true: an empty selection is refused at construction.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The stored columns.
    #[must_use]
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// `G_b(0)`: the sum of one column; exact for integer counts.
    #[must_use]
    #[inline(always)]
    pub fn sum(&self, b: usize) -> f64 {
        self.columns.sum(b)
    }

    /// Whether any column varies over the scan; without that there is no phase.
    #[must_use]
    pub fn varies(&self) -> bool {
        self.columns.varies()
    }

    /// The DC value `mean_b G_b(0)` that replaces every `C_b(0)`.
    #[must_use]
    pub fn dc(&self) -> f64 {
        (0..self.len()).map(|b| self.sum(b)).sum::<f64>() / self.len() as f64
    }

    /// `(column - offset) * scale`, computed in float64 and rounded once to float32; `out` holds `R * C`
    /// values.
    #[inline(always)]
    pub fn read(&self, b: usize, offset: f64, scale: f64, out: &mut [f32]) {
        self.columns.read(b, offset, scale, out);
    }

    /// One column as float64.
    pub fn read_f64(&self, b: usize, out: &mut [f64]) {
        self.columns.read_f64(b, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_are_flat_do_not_vary() {
        // Columns may differ from each other: each is compared with itself.
        let mut a = Array2::<u16>::from_shape_fn((2, 6), |(b, _)| b as u16);
        assert!(
            !Evidence::new([2, 3], Columns::U16(a.clone()))
                .unwrap()
                .varies()
        );
        a[(1, 5)] += 1;
        assert!(Evidence::new([2, 3], Columns::U16(a)).unwrap().varies());
    }

    #[test]
    fn nan_is_refused_with_its_place() {
        let mut a = Array2::<f32>::ones((2, 6));
        a[(1, 4)] = f32::NAN;
        let message = Evidence::new([2, 3], Columns::F32(a))
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("column 1") && message.contains("(1, 1)"),
            "{message}"
        );
    }

    #[test]
    fn sums_of_large_counts_are_exact() {
        let a = Array2::<u32>::from_elem((1, 4), u32::MAX);
        let e = Evidence::new([2, 2], Columns::U32(a)).unwrap();
        assert_eq!(e.sum(0), 4.0 * f64::from(u32::MAX));
        let mut out = [0.0_f32; 4];
        e.read(0, f64::from(u32::MAX) - 1.0, 0.5, &mut out);
        assert_eq!(out, [0.5; 4]);
    }
}
