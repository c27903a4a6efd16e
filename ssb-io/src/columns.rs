//! The companion of a scan, read: bright-field columns, detector-major (`write/columns.rs` writes
//! it).

use rayon::prelude::*;
use serde::Deserialize;
use ssb_core::ndarray::Array2;
use ssb_core::{BfDisk, CalibrationHints, Columns, Control};

use crate::IoError;
use crate::error::Fault;
use crate::hdf5::{Dataset, Object, Value};
use crate::mean_pattern::MeanPattern;
use crate::sample_type::{SampleKind, Stored};
use crate::stored_array::StoredArray;

/// Root attribute that marks a companion, and the version it holds.
pub(crate) const MARK: &str = "ssb_columns_version";
pub(crate) const VERSION: u64 = 1;
/// Names of its datasets.
pub(crate) const COLUMNS: &str = "columns";
pub(crate) const MEAN: &str = "mean_pattern";
pub(crate) const DESCRIPTION: &str = "description";

/// Columns read between two looks at whether to stop.
const BATCH: usize = 64;

/// How counts are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    /// Two counts a byte, the first in the low half.
    Nibbles,
    /// Unsigned numbers narrower than the type of the counts.
    Unsigned { bytes: u8 },
    /// The type of the counts.
    Native,
}

/// What the companion says beside its arrays.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Description {
    pub(crate) scan_shape: [usize; 2],
    pub(crate) disk: BfDisk,
    max_count: f64,
    saturated_pixels: Vec<[u32; 2]>,
    non_finite: u64,
    pub(crate) calibration: CalibrationHints,
    pub(crate) content_sha256: String,
    pub(crate) origin: serde_json::Value,
}

/// An open companion.
#[derive(Debug, Clone)]
pub(crate) struct Companion {
    array: StoredArray,
    address: u64,
    packing: Packing,
    pub(crate) kind: SampleKind,
    pub(crate) description: Description,
    mean: Array2<f64>,
}

/// Whether a file is a companion.
pub(crate) fn is_companion(root: &Object) -> bool {
    root.attribute(MARK).is_some()
}

impl Companion {
    /// Reads everything but the columns.
    ///
    /// # Errors
    /// [`IoError::BadHeader`] for a part that is missing or does not fit, [`IoError::Truncated`].
    pub(crate) fn read(root: &Object) -> Result<Self, IoError> {
        let bad = |object: &str, expected: &str, found: String| {
            IoError::BadHeader(
                Fault::of(root.file_path())
                    .object(object)
                    .expected(expected)
                    .found(found)
                    .action("make the companion again with ssb convert"),
            )
        };
        let version = root.attribute_number(MARK);
        if version != Some(VERSION as f64) {
            let found = format!("version {}", version.unwrap_or(f64::NAN));
            return Err(bad(MARK, "a companion of version 1", found));
        }
        let text = match root.value(DESCRIPTION)? {
            Some(Value::Text(text)) => text.into_iter().next().unwrap_or_default(),
            _ => return Err(bad(DESCRIPTION, "a text", "none".into())),
        };
        let description: Description = serde_json::from_str(&text)
            .map_err(|e| bad(DESCRIPTION, "JSON of this version", e.to_string()))?;
        let object = root.find(COLUMNS)?;
        let dataset = object.as_ref().and_then(Dataset::of);
        let (Some(object), Some(dataset)) = (object, dataset) else {
            return Err(bad(COLUMNS, "a dataset", "none".into()));
        };
        let array = dataset.array()?;
        let kind = object
            .attribute_text("dtype")
            .and_then(|name| SampleKind::named(&name))
            .ok_or_else(|| bad(COLUMNS, "the type of the counts", "none".into()))?;
        let own = array.sample().kind;
        let packing = match object.attribute_number("bits") {
            Some(4.0) if own == SampleKind::U8 => Packing::Nibbles,
            Some(8.0) if own == SampleKind::U8 => Packing::Unsigned { bytes: 1 },
            Some(16.0) if own == SampleKind::U16 => Packing::Unsigned { bytes: 2 },
            Some(0.0) if own == kind => Packing::Native,
            bits => return Err(bad(COLUMNS, "a known packing", format!("bits {bits:?}"))),
        };
        let [rows, cols] = description.scan_shape;
        let points = rows.checked_mul(cols).filter(|n| *n > 0);
        let points = points.ok_or_else(|| bad(DESCRIPTION, "a scan shape", "0 points".into()))?;
        let shape = match packing {
            Packing::Nibbles => vec![description.disk.pixels.len(), points.div_ceil(2)],
            _ => vec![description.disk.pixels.len(), rows, cols],
        };
        if array.shape() != shape || !description.disk.pixels.is_sorted() {
            let found = format!("shape {:?}", array.shape());
            return Err(bad(COLUMNS, &format!("shape {shape:?}"), found));
        }
        let address = array
            .contiguous()
            .ok_or_else(|| bad(COLUMNS, "contiguous data", "another storage".into()))?;
        let mean = root.find(MEAN)?.as_ref().and_then(Dataset::of);
        let mean = mean.ok_or_else(|| bad(MEAN, "a dataset", "none".into()))?;
        let shape = mean.shape();
        let values = match mean.value()? {
            Some(Value::Numbers(values)) => values,
            _ => return Err(bad(MEAN, "numbers", "others".into())),
        };
        let image = match shape[..] {
            [rows, cols] => Array2::from_shape_vec((rows, cols), values).ok(),
            _ => None,
        };
        let mean = image.ok_or_else(|| bad(MEAN, "two axes", format!("shape {shape:?}")))?;
        let inside =
            |p: &[u32; 2]| (p[0] as usize) < mean.nrows() && (p[1] as usize) < mean.ncols();
        if !description.disk.pixels.iter().all(inside) {
            return Err(bad(DESCRIPTION, "pixels of the detector", "others".into()));
        }
        Ok(Self {
            array,
            address,
            packing,
            kind,
            description,
            mean,
        })
    }

    pub(crate) fn array(&self) -> &StoredArray {
        &self.array
    }

    pub(crate) fn det_shape(&self) -> [usize; 2] {
        [self.mean.nrows(), self.mean.ncols()]
    }

    /// The mean pattern as it was.
    pub(crate) fn pattern(&self) -> MeanPattern {
        MeanPattern {
            mean: self.mean.clone(),
            max_count: self.description.max_count,
            saturated_pixels: self.description.saturated_pixels.clone(),
            non_finite: self.description.non_finite,
            // None lies in the disk, or the companion would not have been written.
            non_finite_pixels: Vec::new(),
        }
    }

    /// The columns of some of its pixels, in the type of the counts.
    ///
    /// # Errors
    /// [`IoError::BadOption`] for a pixel that was not kept; a file that does not read; cancelled.
    pub(crate) fn columns<T: Stored>(
        &self,
        pixels: &[[u32; 2]],
        control: &Control,
    ) -> Result<Columns, IoError> {
        let kept = &self.description.disk.pixels;
        let rows: Vec<usize> = pixels
            .iter()
            .map(|pixel| {
                kept.binary_search(pixel).map_err(|_| {
                    IoError::BadOption(
                        Fault::of(self.array.file().path())
                            .object(self.array.object())
                            .expected("pixels of the disk that was converted")
                            .found(format!("pixel ({}, {})", pixel[0], pixel[1]))
                            .action("convert the data again with this disk, or leave --bf-… out"),
                    )
                })
            })
            .collect::<Result<_, _>>()?;
        let points = self.description.scan_shape.iter().product::<usize>();
        let mut columns =
            crate::gather::reserve::<T>(self.array.file().path(), rows.len(), points)?;
        let row_bytes = match self.packing {
            Packing::Nibbles => points.div_ceil(2),
            Packing::Unsigned { bytes } => points * usize::from(bytes),
            Packing::Native => points * T::BYTES,
        };
        let batches = columns
            .chunks_mut(BATCH * points.max(1))
            .zip(rows.chunks(BATCH));
        for (number, (batch, rows)) in batches.enumerate() {
            control.check()?;
            let each = batch.par_chunks_mut(points.max(1)).zip(rows);
            each.try_for_each_init(Vec::new, |raw, (column, row)| {
                raw.resize(row_bytes, 0);
                let at = self.address + (row * row_bytes) as u64;
                self.array
                    .file()
                    .read_at(at, raw)
                    .map_err(|e| IoError::system(self.array.file().path(), &e))?;
                self.unpack(raw, column);
                Ok::<(), IoError>(())
            })?;
            let done = (number * BATCH + rows.len()) as u64;
            control.report("bright-field columns", done, pixels.len() as u64);
        }
        let array = Array2::from_shape_vec((pixels.len(), points), columns)
            .map_err(|error| ssb_core::Error::Internal(error.to_string()))?;
        Ok(T::columns(array))
    }

    fn unpack<T: Stored>(&self, raw: &[u8], column: &mut [T]) {
        // Counts that were narrowed are not negative: zeros extend them.
        let wide = |low: &[u8]| {
            let mut word = [0; 8];
            word[..low.len()].copy_from_slice(low);
            T::decode(&word[..T::BYTES])
        };
        match self.packing {
            Packing::Nibbles => {
                for (pair, byte) in column.chunks_mut(2).zip(raw) {
                    pair[0] = wide(&[byte & 15]);
                    if let Some(second) = pair.get_mut(1) {
                        *second = wide(&[byte >> 4]);
                    }
                }
            }
            Packing::Unsigned { bytes: 1 } => {
                for (value, byte) in column.iter_mut().zip(raw) {
                    *value = wide(&[*byte]);
                }
            }
            Packing::Unsigned { bytes } => {
                for (value, low) in column.iter_mut().zip(raw.chunks_exact(usize::from(bytes))) {
                    *value = wide(low);
                }
            }
            Packing::Native => {
                for (value, bytes) in column.iter_mut().zip(raw.chunks_exact(T::BYTES)) {
                    *value = T::decode(bytes);
                }
            }
        }
    }
}
