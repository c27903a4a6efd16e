//! An opened 4D-STEM data set.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use ssb_core::ndarray::Array2;
use ssb_core::{CalibrationHints, Control, Evidence, Sourced};

use crate::IoError;
use crate::codec::Scratch;
use crate::counts::{Counts, counts};
use crate::error::Fault;
use crate::format::{self, Found};
use crate::frames::Stack;
use crate::gather::gather;
use crate::mean::sums;
use crate::options::{MaskChoice, OpenOptions};
use crate::orientation::Orientation;
use crate::sample_type::{Stored, with_sample};
use crate::scan_shape::{self, Settled};
use crate::{folder, npy};

/// The mean diffraction pattern and what stood out in it.
#[derive(Debug, Clone)]
pub struct MeanPattern {
    /// Mean counts of each pixel of the transformed detector; masked pixels are 0. NaN and
    /// infinite samples count as 0.
    pub mean: Array2<f64>,
    /// The largest count in a pixel that is not masked.
    pub max_count: f64,
    /// Pixels that are not masked and reach the largest value of an integer type: dead or
    /// saturated.
    pub saturated_pixels: usize,
    /// NaN and infinities in pixels that are not masked.
    pub non_finite: u64,
    /// The pixels (row, col) that hold them.
    pub non_finite_pixels: Vec<[u32; 2]>,
}

/// An opened data set: everything known about it, no samples read yet.
#[derive(Debug, Clone)]
pub struct Source {
    path: PathBuf,
    layout: String,
    dataset: String,
    stack: Stack,
    orientation: Orientation,
    mask: Option<Sourced<Array2<bool>>>,
    calibration: CalibrationHints,
    metadata: Vec<(&'static str, Sourced<f64>)>,
    frames_found: usize,
    frames_expected: usize,
    warnings: Vec<String>,
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
        frames_found,
        frames_expected,
        warnings: found.warnings,
    })
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

    /// NumPy's name of the sample type.
    #[must_use]
    pub fn dtype(&self) -> &'static str {
        self.stack.kind().dtype()
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

    /// The mean pattern over all used frames: exact sums for integers, a fixed order for floats.
    ///
    /// # Errors
    /// Cancelled, or a chunk that does not read.
    pub fn mean_pattern(&self, control: &Control) -> Result<MeanPattern, IoError> {
        with_sample!(self.stack.kind(), T => self.mean_of::<T>(control))
    }

    fn mean_of<T: Stored>(&self, control: &Control) -> Result<MeanPattern, IoError> {
        let sums = sums::<T>(&self.stack, control)?;
        let [rows, cols, ..] = self.shape();
        let frames = (rows * cols) as f64;
        let totals = self.orientation.apply(&sums.totals);
        let max = self.orientation.apply(&sums.max);
        let non_finite = self.orientation.apply(&sums.non_finite);
        let good = |place: (usize, usize)| self.mask().is_none_or(|m| m[place]);
        let mut pattern = MeanPattern {
            mean: Array2::zeros(totals.dim()),
            max_count: 0.0,
            saturated_pixels: 0,
            non_finite: 0,
            non_finite_pixels: Vec::new(),
        };
        let mut largest = f64::NEG_INFINITY;
        for (place, total) in totals.indexed_iter().filter(|(p, _)| good(*p)) {
            let sum = if T::MAX.is_some() {
                total.integer as f64
            } else {
                total.real
            };
            pattern.mean[place] = sum / frames;
            largest = largest.max(max[place]);
            if non_finite[place] > 0 {
                pattern.non_finite += non_finite[place];
                pattern
                    .non_finite_pixels
                    .push([place.0 as u32, place.1 as u32]);
            }
            let full = T::MAX.is_some_and(|full| max[place] >= full.to_f64());
            pattern.saturated_pixels += usize::from(full);
        }
        if largest.is_finite() {
            pattern.max_count = largest;
        }
        Ok(pattern)
    }

    /// The counts of `pixels` (row, col) of the transformed detector over the scan, in their stored
    /// type.
    ///
    /// # Shape
    /// `[B, R * C]`, in the order of `pixels`.
    ///
    /// # Errors
    /// Cancelled; a chunk that does not read; [`IoError::NonFinite`]; [`IoError::BadOption`] for a
    /// pixel outside the detector.
    pub fn gather(&self, pixels: &[[u32; 2]], control: &Control) -> Result<Evidence, IoError> {
        let [rows, cols, det_rows, det_cols] = self.shape();
        let stored = pixels
            .iter()
            .map(|pixel| {
                let [r, c] = pixel.map(|v| v as usize);
                if r < det_rows && c < det_cols {
                    return Ok(self.orientation.stored([r, c]));
                }
                Err(IoError::BadOption(
                    Fault::of(&self.path)
                        .object(&self.dataset)
                        .expected(format!("pixels of a detector of {det_rows} x {det_cols}"))
                        .found(format!("pixel ({r}, {c})"))
                        .action("check the bright-field disk"),
                ))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let columns =
            with_sample!(self.stack.kind(), T => gather::<T>(&self.stack, &stored, control))?;
        Ok(Evidence::new([rows, cols], columns)?)
    }

    /// Reads and decodes every chunk that holds a used frame, on all threads, and drops the samples: what
    /// one pass over the data costs.
    ///
    /// # Returns
    /// Bytes of the decoded samples.
    ///
    /// # Errors
    /// Cancelled, or a chunk that does not read.
    pub fn decode_pass(&self, control: &Control) -> Result<u64, IoError> {
        let bytes = self.stack.kind().bytes() as u64;
        let samples: Result<Vec<u64>, IoError> = self
            .stack
            .work()
            .par_iter()
            .map_init(Scratch::default, |scratch, work| {
                control.check()?;
                let tile = &self.stack.tiles()[work.tile];
                let pixels = (tile.shape[0] * tile.shape[1]) as u64;
                let mut samples = 0;
                for (at, frames) in self.stack.blocks(work) {
                    self.stack.read(work, &at, &frames, scratch)?;
                    samples += frames.len() as u64 * pixels;
                }
                Ok(samples)
            })
            .collect();
        Ok(samples?.iter().sum::<u64>() * bytes)
    }

    /// Sum, largest value and SHA-256 of all used frames as decoded: masked pixels as stored, the
    /// detector before its transforms.
    ///
    /// # Errors
    /// Cancelled; a chunk that does not read; [`IoError::NonFinite`] counting NaN and infinities.
    pub fn counts(&self, control: &Control) -> Result<Counts, IoError> {
        with_sample!(self.stack.kind(), T => counts::<T>(&self.stack, control))
    }
}
