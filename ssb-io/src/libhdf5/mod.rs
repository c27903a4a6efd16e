//! The HDF5 library as a second reader (feature `libhdf5`): whole datasets, for files that defeat the
//! default reader and to hold that one against.
//!
//! The library reads behind one lock and decodes on one thread; the filters it lacks are this
//! crate's own decoders, registered with it. It fills the sources that a virtual dataset lacks with
//! zeros and says nothing: whoever reads one must check its sources.

mod filter;

use std::path::Path;

use hdf5::types::{FloatSize, IntSize, TypeDescriptor};

use crate::IoError;
use crate::error::Fault;
use crate::sample_type::SUPPORTED_TYPES;

/// A dataset read whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeDataset {
    /// Extents as stored.
    pub shape: Vec<usize>,
    /// NumPy's name of the sample type.
    pub dtype: &'static str,
    /// The samples in C order, little-endian.
    pub bytes: Vec<u8>,
}

/// The version of the library.
#[must_use]
pub fn version() -> String {
    let (major, minor, release) = hdf5::library_version();
    format!("{major}.{minor}.{release}")
}

/// Reads a dataset whole.
///
/// # Errors
/// [`IoError::BadHeader`] with the library's own words, [`IoError::UnsupportedDtype`].
pub fn read(path: &Path, dataset: &str) -> Result<WholeDataset, IoError> {
    filter::register();
    hdf5::silence_errors(true);
    let failed = |error: hdf5::Error| {
        IoError::BadHeader(
            Fault::of(path)
                .object(dataset)
                .expected(format!("a dataset that HDF5 {} reads", version()))
                .found(error.to_string())
                .action("use the default reader"),
        )
    };
    let file = hdf5::File::open(path).map_err(failed)?;
    let found = file.dataset(dataset).map_err(failed)?;
    let kind = found.dtype().and_then(|t| t.to_descriptor());
    macro_rules! whole {
        ($type:ty, $name:literal) => {{
            let values = found.read_raw::<$type>().map_err(failed)?;
            let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
            Ok(WholeDataset {
                shape: found.shape(),
                dtype: $name,
                bytes,
            })
        }};
    }
    match kind.map_err(failed)? {
        TypeDescriptor::Unsigned(IntSize::U1) => whole!(u8, "uint8"),
        TypeDescriptor::Unsigned(IntSize::U2) => whole!(u16, "uint16"),
        TypeDescriptor::Unsigned(IntSize::U4) => whole!(u32, "uint32"),
        TypeDescriptor::Integer(IntSize::U1) => whole!(i8, "int8"),
        TypeDescriptor::Integer(IntSize::U2) => whole!(i16, "int16"),
        TypeDescriptor::Integer(IntSize::U4) => whole!(i32, "int32"),
        TypeDescriptor::Float(FloatSize::U4) => whole!(f32, "float32"),
        TypeDescriptor::Float(FloatSize::U8) => whole!(f64, "float64"),
        other => Err(IoError::UnsupportedDtype(
            Fault::of(path)
                .object(dataset)
                .expected(format!("samples of type {SUPPORTED_TYPES}"))
                .found(other.to_string())
                .action("convert the data"),
        )),
    }
}
