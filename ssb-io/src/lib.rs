//! 4D-STEM containers, codecs, calibration found in files, masks, and the gathering of bright-field
//! columns. No other crate opens files.
//!
//! [`open`] describes a file without reading a sample; the [`Source`] it returns reads block by
//! block, never the whole array.

mod codec;
mod counts;
mod error;
mod folder;
mod format;
mod frames;
mod gather;
mod grid;
mod hdf5;
mod mean;
pub mod npy;
mod options;
mod orientation;
mod positioned_file;
mod records;
pub mod result;
mod sample_type;
mod scan_shape;
mod source;
mod stored_array;
mod whole_array;
pub mod write;

pub use counts::{Counts, CountsSum};
pub use error::{Fault, IoError};
pub use options::{MaskChoice, OpenOptions, ScanOrder};
pub use source::{MeanPattern, Source, open};
