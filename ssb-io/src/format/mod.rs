//! The table of formats: one file and one line each.

mod abtem;
mod berkeley;
mod companion;
mod dectris;
mod emd_axes;
mod empad;
mod hdf5_frames;
mod hyperspy;
mod json;
mod keys;
mod merlin;
mod nexus;
mod nion;
mod npy;
mod plain;
mod py4dstem;
mod units;
mod velox;
mod zarr;
mod zarr_store;
mod zip_members;

use std::path::Path;
use std::sync::Arc;

use ssb_core::ndarray::Array2;
use ssb_core::{CalibrationHints, Sourced};

use crate::IoError;
use crate::columns::Companion;
use crate::error::Fault;
use crate::frames::Piece;
use crate::hdf5::Container;
use crate::options::OpenOptions;
use crate::positioned_file::PositionedFile;
#[cfg(feature = "fuzzing")]
pub(crate) use empad::parse_any as parse_empad;
pub(crate) use zarr::is_tree;
use zip_members::Members;

/// A container layout.
pub(crate) struct Format {
    /// Name in reports.
    pub(crate) name: &'static str,
    /// Whether a file is of this layout.
    pub(crate) probe: fn(&Candidate) -> bool,
    /// Describes what is in it, without reading any sample.
    pub(crate) open: fn(&Candidate, &OpenOptions) -> Result<Found, IoError>,
}

/// Every layout, the specific ones before the general ones.
pub(crate) static FORMATS: &[Format] = &[
    npy::FORMAT,
    companion::FORMAT,
    merlin::FORMAT,
    empad::FORMAT,
    zarr::FORMAT,
    nion::ZIP_FORMAT,
    dectris::FORMAT,
    py4dstem::FORMAT,
    hyperspy::FORMAT,
    berkeley::FORMAT,
    velox::FORMAT,
    nion::HDF5_FORMAT,
    abtem::FORMAT,
    nexus::FORMAT,
    plain::FORMAT,
];

/// A file whose format is asked for.
pub(crate) struct Candidate {
    pub(crate) file: Arc<PositionedFile>,
    /// The first bytes.
    pub(crate) head: Vec<u8>,
    /// The open container, when it is HDF5.
    pub(crate) container: Option<Arc<Container>>,
    /// The members, when it is a zip file.
    pub(crate) zip: Option<Members>,
}

impl Candidate {
    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Refuses `--dataset` for a file of one array; `found` says what it is.
    pub(crate) fn no_dataset(&self, options: &OpenOptions, found: &str) -> Result<(), IoError> {
        let Some(dataset) = &options.dataset else {
            return Ok(());
        };
        Err(IoError::BadOption(
            Fault::of(self.path())
                .object(dataset)
                .expected("no --dataset")
                .found(found)
                .action("leave --dataset out"),
        ))
    }
}

/// What a format found in a file.
pub(crate) struct Found {
    pub(crate) layout: String,
    /// The object or objects the frames are in.
    pub(crate) dataset: String,
    pub(crate) pieces: Vec<Piece>,
    /// Scan `(rows, cols)` of data that are stored with a scan shape.
    pub(crate) stored_scan: Option<[usize; 2]>,
    /// Scan `(rows, cols)` that the file states beside a stack of frames.
    pub(crate) scan_hint: Option<Sourced<[usize; 2]>>,
    /// Frames that the file says were asked for.
    pub(crate) frames_expected: Option<Sourced<usize>>,
    /// Why frames are missing, when some of the data files are.
    pub(crate) missing: Option<IoError>,
    /// Frames in files after a missing one, which are not among the pieces.
    pub(crate) behind_gap: usize,
    pub(crate) calibration: CalibrationHints,
    /// Other numbers, with the unit in the name.
    pub(crate) metadata: Vec<(&'static str, Sourced<f64>)>,
    /// Good pixels of the stored detector, and where that is said.
    pub(crate) mask: Option<Sourced<Array2<bool>>>,
    /// Counts from which on the file calls a pixel saturated.
    pub(crate) saturation: Option<Sourced<f64>>,
    pub(crate) warnings: Vec<String>,
    /// Columns instead of pieces.
    pub(crate) companion: Option<Companion>,
}

impl Found {
    /// Data and nothing else.
    pub(crate) fn new(layout: &str, dataset: &str, pieces: Vec<Piece>) -> Self {
        Self {
            layout: layout.to_owned(),
            dataset: dataset.to_owned(),
            pieces,
            stored_scan: None,
            scan_hint: None,
            frames_expected: None,
            missing: None,
            behind_gap: 0,
            calibration: CalibrationHints::default(),
            metadata: Vec::new(),
            mask: None,
            saturation: None,
            warnings: Vec::new(),
            companion: None,
        }
    }

    /// Frames that are there.
    pub(crate) fn frames(&self) -> usize {
        self.pieces.iter().map(|p| p.frames).sum()
    }
}

/// Recognises a file and describes what is in it.
///
/// # Errors
/// [`IoError::EmptyFile`], [`IoError::NotHdf5`] for no known format, or what the format reports.
pub(crate) fn describe(path: &Path, options: &OpenOptions) -> Result<Found, IoError> {
    if path.is_dir() {
        return zarr::open_folder(path, options);
    }
    let file = Arc::new(PositionedFile::open(path)?);
    if file.len() == 0 {
        return Err(IoError::EmptyFile(
            Fault::of(path)
                .expected("a data file")
                .found("an empty file of 0 bytes")
                .action("copy the file again"),
        ));
    }
    let container = Container::is_hdf5(&file)
        .then(|| Container::open(path))
        .transpose()?;
    let head = file.head(16)?;
    let zip = zip_members::is_zip(&head)
        .then(|| zip_members::list(path))
        .transpose()?;
    let candidate = Candidate {
        head,
        file,
        container,
        zip,
    };
    match FORMATS.iter().find(|f| (f.probe)(&candidate)) {
        Some(format) => (format.open)(&candidate, options),
        None => {
            let names: Vec<&str> = FORMATS.iter().map(|f| f.name).collect();
            Err(IoError::NotHdf5(
                Fault::of(path)
                    .expected(format!(
                        "a known format, HDF5 or other ({})",
                        names.join(", ")
                    ))
                    .found("a file of no known format: its first bytes are those of none of them")
                    .action("check that this is the right file, or convert it"),
            ))
        }
    }
}
