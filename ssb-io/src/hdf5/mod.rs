//! Reading HDF5: containers, links resolved by us, attribute and scalar values, datasets with
//! their filters and chunk lists, virtual datasets. Parsing is `hdf5-reader`'s.

mod attribute;
mod chunk_list;
mod dataset;
mod link;
mod object;
mod raw_header;
mod value;
mod virtual_dataset;

pub(crate) use dataset::Dataset;
pub(crate) use link::join;
pub(crate) use object::{Container, Object};
pub(crate) use value::Value;
pub(crate) use virtual_dataset::{Mapping, mappings};

use std::path::Path;

use crate::IoError;
use crate::error::Fault;

/// Turns an error of the parser into ours, with its place.
pub(crate) fn parse_error(file: &Path, object: &str, error: &hdf5_reader::error::Error) -> IoError {
    use hdf5_reader::error::Error;
    let mut inner = error;
    while let Error::Context { source, .. } = inner {
        inner = source;
    }
    let fault = Fault::of(file).object(object).found(inner.to_string());
    match inner {
        Error::Io(error) => IoError::system(file, error),
        Error::UnexpectedEof { .. } | Error::OffsetOutOfBounds(_) => IoError::Truncated(
            fault
                .expected("HDF5 structures inside the file (is it truncated?)")
                .action("copy the file again"),
        ),
        _ => IoError::BadHeader(
            fault
                .expected("valid HDF5 structures")
                .action("copy the file again, or rewrite it with h5repack"),
        ),
    }
}
