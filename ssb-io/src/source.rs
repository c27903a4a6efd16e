//! An opened 4D-STEM data set.

use std::path::{Path, PathBuf};

use ssb_core::ndarray::Array2;
use ssb_core::{BfDisk, CalibrationHints, Sourced};

use crate::IoError;
use crate::columns::Companion;
use crate::error::Fault;
use crate::format::{self, Found};
use crate::frames::{Scan, Stack};
use crate::options::{MaskChoice, OpenOptions, Region, ScanOrder};
use crate::orientation::Orientation;
use crate::sample_type::SampleKind;
use crate::scan_shape::{self, Settled};
use crate::{folder, npy};

/// An opened data set: everything known about it, no samples read yet.
#[derive(Debug, Clone)]
pub struct Source {
    pub(crate) path: PathBuf,
    layout: String,
    pub(crate) dataset: String,
    pub(crate) stack: Stack,
    pub(crate) orientation: Orientation,
    mask: Option<Sourced<Array2<bool>>>,
    calibration: CalibrationHints,
    metadata: Vec<(&'static str, Sourced<f64>)>,
    saturation: Option<Sourced<f64>>,
    frames_found: usize,
    frames_expected: usize,
    warnings: Vec<String>,
    pub(crate) companion: Option<Companion>,
}

/// Opens a data file, a master file, or a folder with one master.
///
/// Every check that needs no sample is made here: links and virtual sources, shapes and types,
/// filters, lengths, frame counts.
///
/// # Errors
/// [`IoError`] of the kinds above, naming file, object, expected, found and the next action.
///
/// ```no_run
/// let source = ssb_io::open("scan_master.h5".as_ref(), &ssb_io::OpenOptions::default())?;
/// println!("{:?} {}", source.shape(), source.dtype());
/// # Ok::<(), ssb_io::IoError>(())
/// ```
pub fn open(path: &Path, options: &OpenOptions) -> Result<Source, IoError> {
    let path = folder::data_file(path)?;
    let found = format::describe(&path, options)?;
    assemble(path, found, options)
}

fn assemble(path: PathBuf, mut found: Found, options: &OpenOptions) -> Result<Source, IoError> {
    let dataset = found.dataset.clone();
    let fault = || Fault::of(&path).object(&dataset);
    if let Some(companion) = found.companion.take() {
        return Ok(columns_only(path, found, companion));
    }
    check_pieces(&found)?;
    let frames_found = found.frames() + found.behind_gap;
    if let Some(missing) = found.missing.take() {
        if !options.complete_rows_only || found.pieces.is_empty() {
            return Err(missing);
        }
        found
            .warnings
            .push(format!("going on without it: {missing}"));
    }
    if found.pieces.is_empty() {
        return Err(IoError::ZeroSize(
            fault()
                .expected("at least one frame")
                .found("0 frames")
                .action("check that the acquisition was written"),
        ));
    }
    let Settled {
        scan,
        wanted,
        warnings,
    } = scan_shape::settle(&found, options, fault)?;
    found.warnings.extend(warnings);
    for piece in &found.pieces {
        let (empty, all) = piece.array.unwritten();
        if empty > 0 {
            found.warnings.push(format!(
                "{empty} of {all} chunks of {} were never written and hold the fill value",
                piece.array.object()
            ));
        }
    }
    let scan = match options.region {
        Some(region) => part(scan, region, fault)?,
        None => scan,
    };
    let frames_expected = wanted.frames_needed();
    let stack = Stack::new(found.pieces, scan);
    let orientation = Orientation::new(stack.det_shape(), options);
    let mask = match &options.mask {
        MaskChoice::None => None,
        MaskChoice::FromFile => found.mask,
        MaskChoice::File(file) => Some(mask_file(file, stack.det_shape())?),
    };
    let mask = mask.map(|m| Sourced::new(orientation.apply(&m.value), m.source));
    let mut calibration = found.calibration;
    if options.transpose {
        let steps = [
            calibration.det_step_mrad.as_mut(),
            calibration.det_step_per_a.as_mut(),
        ];
        for step in steps.into_iter().flatten() {
            step.value.reverse();
        }
    }
    Ok(Source {
        path,
        layout: found.layout,
        dataset: found.dataset,
        stack,
        orientation,
        mask,
        calibration,
        metadata: found.metadata,
        saturation: found.saturation,
        frames_found,
        frames_expected,
        warnings: found.warnings,
        companion: None,
    })
}

/// The scan of a region.
fn part(scan: Scan, region: Region, fault: impl Fn() -> Box<Fault>) -> Result<Scan, IoError> {
    let [rows, cols] = scan.whole;
    scan.part(region).ok_or_else(|| {
        IoError::BadOption(
            fault()
                .expected(format!(
                    "a region R0:R1,C0:C1 with R0 < R1 <= {rows} and C0 < C1 <= {cols}"
                ))
                .found(region.to_string())
                .action("correct --region; its ends are not included"),
        )
    })
}

/// A companion: all is settled, and there are no frames.
fn columns_only(path: PathBuf, found: Found, companion: Companion) -> Source {
    let shape = companion.description.scan_shape;
    let frames = shape[0] * shape[1];
    let scan = Scan {
        shape,
        whole: shape,
        origin: [0, 0],
        skip: 0,
        flyback: 0,
        order: ScanOrder::Raster,
    };
    Source {
        path,
        layout: found.layout,
        dataset: found.dataset,
        stack: Stack::new(Vec::new(), scan),
        orientation: Orientation::new(companion.det_shape(), &OpenOptions::default()),
        mask: found.mask,
        calibration: found.calibration,
        metadata: found.metadata,
        saturation: None,
        frames_found: frames,
        frames_expected: frames,
        warnings: found.warnings,
        companion: Some(companion),
    }
}

/// All pieces must have one detector shape and one sample type.
fn check_pieces(found: &Found) -> Result<(), IoError> {
    let Some(first) = found.pieces.first() else {
        return Ok(());
    };
    let describe = |p: &crate::frames::Piece| {
        let [rows, cols] = p.det_shape();
        format!(
            "{} frames of ({rows}, {cols})",
            p.array.sample().kind.dtype()
        )
    };
    for piece in &found.pieces[1..] {
        if describe(piece) != describe(first) {
            return Err(IoError::InconsistentFrames(
                Fault::of(piece.array.file().path())
                    .object(piece.array.object())
                    .expected(format!(
                        "{} as in {}",
                        describe(first),
                        first.array.file().path().display()
                    ))
                    .found(describe(piece))
                    .action("check that the files belong together"),
            ));
        }
    }
    Ok(())
}

/// A mask file: 0 marks a good pixel of the stored detector.
fn mask_file(path: &Path, det: [usize; 2]) -> Result<Sourced<Array2<bool>>, IoError> {
    let values = npy::read_f64_2d(path)?;
    if values.shape() != det {
        return Err(IoError::BadOption(
            Fault::of(path)
                .expected(format!(
                    "a mask of the stored detector, {} x {}",
                    det[0], det[1]
                ))
                .found(format!("{} x {}", values.nrows(), values.ncols()))
                .action("make the mask before the detector is transposed or flipped"),
        ));
    }
    Ok(Sourced::new(
        values.mapv(|v| v == 0.0),
        format!("argument: {}", path.display()),
    ))
}

impl Source {
    /// `(scan rows, scan cols, detector rows, detector cols)`, without dropped frames and columns and
    /// after the detector transforms.
    #[must_use]
    pub fn shape(&self) -> [usize; 4] {
        let [rows, cols] = self.stack.scan().shape;
        let [det_rows, det_cols] = self.orientation.shape();
        [rows, cols, det_rows, det_cols]
    }

    /// Scan `(rows, cols)` of the whole acquisition, of which a region may be used.
    #[must_use]
    pub fn whole_scan(&self) -> [usize; 2] {
        self.stack.scan().whole
    }

    /// NumPy's name of the sample type.
    #[must_use]
    pub fn dtype(&self) -> &'static str {
        self.kind().dtype()
    }

    /// Bytes of one sample.
    pub(crate) fn sample_bytes(&self) -> usize {
        self.kind().bytes()
    }

    /// The sample type.
    pub(crate) fn kind(&self) -> SampleKind {
        let companion = self.companion.as_ref();
        companion.map_or_else(|| self.stack.kind(), |c| c.kind)
    }

    /// The disk of a companion, which holds bright-field columns instead of frames.
    #[must_use]
    pub fn stored_disk(&self) -> Option<&BfDisk> {
        self.companion.as_ref().map(|c| &c.description.disk)
    }

    /// What a companion was made of, and the hash of what it holds.
    #[must_use]
    pub fn origin(&self) -> Option<(&serde_json::Value, &str)> {
        let companion = self.companion.as_ref()?;
        let description = &companion.description;
        Some((&description.origin, description.content_sha256.as_str()))
    }

    /// Name of the container layout.
    #[must_use]
    pub fn layout(&self) -> &str {
        &self.layout
    }

    /// The object inside the container.
    #[must_use]
    pub fn dataset(&self) -> &str {
        &self.dataset
    }

    /// The file as opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Frames in the data files.
    #[must_use]
    pub fn frames_found(&self) -> usize {
        self.frames_found
    }

    /// Frames of the whole scan, with those that are skipped.
    #[must_use]
    pub fn frames_expected(&self) -> usize {
        self.frames_expected
    }

    /// What a person should know.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Calibration found in the file, each value with its place.
    #[must_use]
    pub fn calibration(&self) -> &CalibrationHints {
        &self.calibration
    }

    /// Other numbers found in the file; the unit is in the name.
    #[must_use]
    pub fn metadata(&self) -> &[(&'static str, Sourced<f64>)] {
        &self.metadata
    }

    /// Counts from which on the file calls a pixel saturated; the largest value of its type counts as
    /// well.
    #[must_use]
    pub fn saturation(&self) -> Option<&Sourced<f64>> {
        self.saturation.as_ref()
    }

    /// Good pixels of the transformed detector; `None` when all are good.
    #[must_use]
    pub fn mask(&self) -> Option<&Array2<bool>> {
        self.mask.as_ref().map(|m| &m.value)
    }

    /// Number of pixels left out.
    #[must_use]
    pub fn masked_pixels(&self) -> usize {
        self.mask()
            .map_or(0, |m| m.iter().filter(|good| !**good).count())
    }

    /// Where the mask comes from.
    #[must_use]
    pub fn mask_source(&self) -> Option<&str> {
        self.mask.as_ref().map(|m| m.source.as_str())
    }
}
