//! 4D-STEM containers, codecs, calibration found in files, masks, and the gathering of bright-field
//! columns. No other crate opens files.
//!
//! [`open`] describes a file without reading a sample; the [`Source`] it returns reads block by
//! block, never the whole array.

mod codec;
mod columns;
mod counts;
mod error;
mod folder;
mod format;
mod frame_groups;
mod frames;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod gather;
mod grid;
mod hdf5;
#[cfg(feature = "libhdf5")]
pub mod libhdf5;
mod load_plan;
mod mean;
mod mean_pattern;
pub mod npy;
mod one_pass;
mod options;
mod orientation;
mod positioned_file;
mod reading;
mod records;
pub mod result;
mod sample_type;
mod scan_shape;
mod series;
mod source;
mod stored_array;
mod tile_pixels;
mod whole_array;
pub mod write;

pub use counts::{Counts, CountsSum};
pub use error::{Fault, IoError};
pub use load_plan::LoadPlan;
pub use mean_pattern::MeanPattern;
pub use options::{MaskChoice, OpenOptions, Region, ScanOrder};
pub use reading::GuessedColumns;
pub use series::{Numbered, Series, numbered_acquisitions};
pub use source::{Source, open};
