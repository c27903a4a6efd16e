//! Acquisitions written to disk in the layouts that laboratories have, for simulated data.

mod arina;
mod bitshuffle;
mod columns;
mod emd;
mod message;
mod plain;
mod replace;
mod stream;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use ndarray::{ArrayView3, ArrayView4};
use ssb_core::{Calibration, Control, ndarray};

use crate::{Fault, IoError};
pub use columns::{BfColumns, write_columns};
pub(crate) use replace::Replacement;
use stream::Stream;

/// How an acquisition is laid out on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcquisitionLayout {
    /// One HDF5 file with the dataset `/4d`, contiguous, calibration as its attributes.
    Plain,
    /// A Dectris ARINA master with external links to data files (bitshuffle-LZ4, one frame a
    /// chunk) and a sidecar with the scan.
    Arina {
        /// Frames in one data file.
        frames_per_file: usize,
    },
    /// EMD 1.0 as py4DSTEM writes it: the layout of the EMD family with a place for every
    /// calibration value.
    Emd,
}

impl FromStr for AcquisitionLayout {
    type Err = IoError;

    fn from_str(text: &str) -> Result<Self, IoError> {
        match text {
            "plain" => Ok(Self::Plain),
            "arina" => Ok(Self::Arina {
                frames_per_file: 10_000,
            }),
            "emd" => Ok(Self::Emd),
            _ => Err(ssb_core::Error::BadValue {
                object: "layout".into(),
                expected: "plain, arina or emd".into(),
                found: text.into(),
                action: "name one of them".into(),
            }
            .into()),
        }
    }
}

/// An unsigned type that detectors count in.
pub trait StoredCount: Copy + Send + Sync + 'static {
    /// Bytes of one count.
    const BYTES: u8;
    /// Appends the count, least significant byte first.
    fn put_le(self, out: &mut Vec<u8>);
}

macro_rules! stored_counts {
    ($($type:ty),*) => {
        $(impl StoredCount for $type {
            const BYTES: u8 = size_of::<$type>() as u8;
            fn put_le(self, out: &mut Vec<u8>) { out.extend(self.to_le_bytes()); }
        })*
    };
}

stored_counts!(u8, u16, u32);

/// Counts `[scan row, scan col, detector row, detector col]` with their calibration.
#[derive(Debug, Clone, Copy)]
struct Acquisition<'a, T> {
    counts: ArrayView4<'a, T>,
    calibration: &'a Calibration,
}

impl<T: StoredCount> Acquisition<'_, T> {
    fn scan_shape(&self) -> [usize; 2] {
        [self.counts.dim().0, self.counts.dim().1]
    }

    fn det_shape(&self) -> [usize; 2] {
        [self.counts.dim().2, self.counts.dim().3]
    }

    /// Writes all counts in C order and returns where they start.
    fn put_contiguous(&self, stream: &mut Stream, control: &Control) -> Result<u64, Failure> {
        let rows = self.counts.dim().0 as u64;
        let mut bytes = Vec::new();
        let mut start = None;
        for (done, row) in self.counts.outer_iter().enumerate() {
            control.check()?;
            bytes.clear();
            put_le(row, &mut bytes);
            let address = stream.put(&bytes)?;
            start.get_or_insert(address);
            control.report("write counts", done as u64 + 1, rows);
        }
        Ok(start.unwrap_or(message::UNDEFINED))
    }
}

fn put_le<T: StoredCount>(counts: ArrayView3<'_, T>, out: &mut Vec<u8>) {
    out.reserve(counts.len() * usize::from(T::BYTES));
    counts.iter().for_each(|v| v.put_le(out));
}

/// Why writing stopped, before the file it happened to is known.
#[derive(Debug)]
enum Failure {
    Disk(io::Error),
    Stopped(ssb_core::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Disk(error)
    }
}

impl From<ssb_core::Error> for Failure {
    fn from(error: ssb_core::Error) -> Self {
        Self::Stopped(error)
    }
}

/// The error of a file that cannot be written.
pub(crate) fn unwritable(path: &Path, error: &io::Error) -> IoError {
    let fault = Fault::of(path)
        .expected("a file that can be written")
        .found(error.to_string())
        .action("check the folder, its permissions and the free space");
    IoError::System(fault)
}

/// Writes one HDF5 file through `fill` under a temporary name and moves it into place.
fn write_file(
    path: &Path,
    fill: impl FnOnce(Stream) -> Result<(), Failure>,
) -> Result<(), IoError> {
    let attempt = || -> Result<(), Failure> {
        let (replacement, file) = Replacement::create(path)?;
        fill(Stream::new(file)?)?;
        Ok(replacement.finish()?)
    };
    attempt().map_err(|failure| match failure {
        Failure::Disk(error) => unwritable(path, &error),
        Failure::Stopped(error) => error.into(),
    })
}

/// Writes counts `[scan row, scan col, detector row, detector col]` and their calibration.
///
/// Returns the files written, the one to open first: `path` itself, or for
/// [`AcquisitionLayout::Arina`] `<base>_master.h5`, its data files and the sidecar `<base>.h5`,
/// where `path` is `<base>.h5` or `<base>_master.h5`. Every file appears only when complete, the
/// master last. The counts are read in place, a scan row at a time.
///
/// # Errors
/// [`IoError::System`] when the disk refuses, [`ssb_core::Error::BadValue`] for an empty
/// array, [`ssb_core::Error::Cancelled`].
pub fn write_acquisition<T: StoredCount>(
    path: &Path,
    layout: AcquisitionLayout,
    counts: ArrayView4<'_, T>,
    calibration: &Calibration,
    control: &Control,
) -> Result<Vec<PathBuf>, IoError> {
    if counts.is_empty() {
        return Err(ssb_core::Error::BadValue {
            object: "counts to write".into(),
            expected: "at least one scan position and one detector pixel".into(),
            found: format!("shape {:?}", counts.shape()),
            action: "give every axis a length".into(),
        }
        .into());
    }
    let acquisition = Acquisition {
        counts,
        calibration,
    };
    match layout {
        AcquisitionLayout::Plain => {
            write_file(path, |stream| plain::write(stream, &acquisition, control))?;
            Ok(vec![path.to_owned()])
        }
        AcquisitionLayout::Emd => {
            write_file(path, |stream| emd::write(stream, &acquisition, control))?;
            Ok(vec![path.to_owned()])
        }
        AcquisitionLayout::Arina { frames_per_file } => {
            arina::write(path, &acquisition, frames_per_file.max(1), control)
        }
    }
}
