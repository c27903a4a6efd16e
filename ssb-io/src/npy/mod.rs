//! NumPy's NPY files: the header of versions 1 to 3, plain arrays read, arrays written whole.

mod header;
mod write;

pub(crate) use header::{Header, sample_type};
pub use write::{write_complex64, write_f32, write_f64, write_i32};

use std::path::Path;
use std::sync::Arc;

use ssb_core::ndarray::Array2;

use crate::IoError;
use crate::error::Fault;
use crate::positioned_file::PositionedFile;
use crate::sample_type::{Stored, with_sample};
use crate::stored_array::{Place, StoredArray};

/// The largest array that is read whole.
const LIMIT_BYTES: usize = 4 << 30;

impl Header {
    /// The samples behind the header, axes as stored.
    pub(crate) fn array(&self, file: Arc<PositionedFile>) -> Result<StoredArray, IoError> {
        let mut shape = self.shape.clone();
        if self.fortran {
            shape.reverse();
        }
        let place = Place::Contiguous {
            address: self.data_start,
        };
        StoredArray::new(file, "", self.sample, shape, place)
    }
}

/// Reads a plain 2-D array of any supported number type (booleans count as 0 and 1) as float64.
///
/// # Errors
/// What the header or the file lacks, or [`IoError::No4dData`] for another number of axes.
pub fn read_f64_2d(path: &Path) -> Result<Array2<f64>, IoError> {
    let file = Arc::new(PositionedFile::open(path)?);
    let header = Header::read(&file)?;
    let [rows, cols] = header.shape[..] else {
        return Err(IoError::No4dData(
            Fault::of(path)
                .expected("an array of 2 axes")
                .found(format!("{} axes", header.shape.len()))
                .action("save one image"),
        ));
    };
    let kind = header.sample.kind;
    let bytes = header.array(file)?.read_all(LIMIT_BYTES)?;
    let values: Vec<f64> = with_sample!(kind, T => bytes
        .chunks_exact(<T as Stored>::BYTES)
        .map(|b| ssb_core::Sample::to_f64(<T as Stored>::decode(b)))
        .collect());
    let stored = if header.fortran {
        (cols, rows)
    } else {
        (rows, cols)
    };
    let array = Array2::from_shape_vec(stored, values)
        .map_err(|error| ssb_core::Error::Internal(error.to_string()))?;
    Ok(if header.fortran {
        array.reversed_axes().as_standard_layout().into_owned()
    } else {
        array
    })
}
