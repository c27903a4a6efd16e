//! Reading the samples of an opened data set: mean pattern, columns, one pass for both, checksums.

use rayon::prelude::*;
use ssb_core::{Columns, Control, Evidence};

use crate::IoError;
use crate::codec::{Pool, Scratch};
use crate::counts::{Counts, counts};
use crate::error::Fault;
use crate::gather::gather;
use crate::mean::sums;
use crate::mean_pattern::MeanPattern;
use crate::one_pass::{self, Guess};
use crate::sample_type::with_sample;
use crate::source::Source;

/// Columns gathered on a guess, in their stored type, while the mean pattern was summed; see
/// [`Source::mean_pattern_and_guess`].
pub struct GuessedColumns {
    /// Those of the guessed disk, then those around it, each in row-major order.
    pixels: Vec<[u32; 2]>,
    core: usize,
    columns: AnyGuess,
}

macro_rules! any_guess {
    ($($variant:ident: $type:ty),*) => {
        enum AnyGuess { $($variant(Guess<$type>),)* }
        $(impl From<Guess<$type>> for AnyGuess {
            fn from(guess: Guess<$type>) -> Self { Self::$variant(guess) }
        })*
        impl AnyGuess {
            fn keep(
                self,
                source: &Source,
                rows: &[usize],
                core: usize,
                pixels: &[[usize; 2]],
            ) -> Result<Columns, IoError> {
                match self { $(Self::$variant(g) => g.keep(&source.stack, rows, core, pixels),)* }
            }
        }
    };
}
any_guess!(U8: u8, U16: u16, U32: u32, I8: i8, I16: i16, I32: i32, F32: f32, F64: f64);

impl std::fmt::Debug for GuessedColumns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GuessedColumns")
            .field("pixels", &self.pixels.len())
            .finish_non_exhaustive()
    }
}

impl Source {
    /// The mean pattern over all used frames: exact sums for integers, a fixed order for floats.
    ///
    /// # Errors
    /// Cancelled, or a chunk that does not read.
    pub fn mean_pattern(&self, control: &Control) -> Result<MeanPattern, IoError> {
        if let Some(companion) = &self.companion {
            return Ok(companion.pattern());
        }
        with_sample!(self.stack.kind(), T => {
            let sums = sums::<T>(&self.stack, self.stack.work(), control)?;
            Ok(self.pattern_of::<T>(&sums, self.positions() as f64))
        })
    }

    /// The mean pattern over a small sample of the frames, spread over the scan: good enough to guess
    /// the bright-field disk. `None` for data so few or in such large chunks that a sample is most of
    /// the work.
    ///
    /// # Errors
    /// As [`Source::mean_pattern`].
    pub fn sampled_mean_pattern(&self, control: &Control) -> Result<Option<MeanPattern>, IoError> {
        let sample = one_pass::sample(&self.stack);
        if sample.is_empty() {
            return Ok(None);
        }
        with_sample!(self.stack.kind(), T => {
            let sums = sums::<T>(&self.stack, &sample, control)?;
            let frames = sums.frames().max(1) as f64;
            Ok(Some(self.pattern_of::<T>(&sums, frames)))
        })
    }

    /// The mean pattern as [`Source::mean_pattern`] gives it, and the columns of a guessed disk and of
    /// pixels around it (both in row-major order), with every chunk read and decoded once.
    ///
    /// # Errors
    /// As [`Source::gather`], but NaN and infinities are no errors yet.
    pub fn mean_pattern_and_guess(
        &self,
        disk: &[[u32; 2]],
        around: &[[u32; 2]],
        control: &Control,
    ) -> Result<(MeanPattern, GuessedColumns), IoError> {
        let pixels = [disk, around].concat();
        let stored = self.stored_pixels(&pixels)?;
        with_sample!(self.stack.kind(), T => {
            let (sums, guess) = one_pass::sums_and_columns::<T>(&self.stack, &stored, control)?;
            let pattern = self.pattern_of::<T>(&sums, self.positions() as f64);
            let core = disk.len();
            Ok((pattern, GuessedColumns { pixels, core, columns: guess.into() }))
        })
    }

    /// The columns of `pixels` (in row-major order) out of guessed ones; `None` when the guess lacks
    /// one of them.
    ///
    /// # Errors
    /// [`IoError::NonFinite`] for NaN or infinity in a column.
    pub fn evidence_of_guess(
        &self,
        guess: GuessedColumns,
        pixels: &[[u32; 2]],
    ) -> Result<Option<Evidence>, IoError> {
        let (disk, around) = guess.pixels.split_at(guess.core);
        let place = |p: &[u32; 2]| {
            let behind = || around.binary_search(p).ok().map(|i| guess.core + i);
            disk.binary_search(p).ok().or_else(behind)
        };
        let rows: Option<Vec<usize>> = pixels.iter().map(place).collect();
        let Some(rows) = rows.filter(|_| pixels.is_sorted()) else {
            return Ok(None);
        };
        let stored = self.stored_pixels(pixels)?;
        let columns = guess.columns.keep(self, &rows, guess.core, &stored)?;
        let [scan_rows, scan_cols, ..] = self.shape();
        Ok(Some(Evidence::new([scan_rows, scan_cols], columns)?))
    }

    /// The stored pixels behind transformed ones.
    fn stored_pixels(&self, pixels: &[[u32; 2]]) -> Result<Vec<[usize; 2]>, IoError> {
        let [_, _, det_rows, det_cols] = self.shape();
        pixels
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
            .collect()
    }

    /// Scan positions.
    fn positions(&self) -> usize {
        let [rows, cols, ..] = self.shape();
        rows * cols
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
        let [rows, cols, ..] = self.shape();
        if let Some(companion) = &self.companion {
            let columns =
                with_sample!(companion.kind, T => companion.columns::<T>(pixels, control))?;
            return Ok(Evidence::new([rows, cols], columns)?);
        }
        let stored = self.stored_pixels(pixels)?;
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
        if let Some(companion) = &self.companion {
            let pixels = &companion.description.disk.pixels;
            return Ok(self.gather(pixels, control)?.columns().bytes());
        }
        let bytes = self.stack.kind().bytes() as u64;
        let scratch = Pool::<Scratch>::default();
        let samples: Result<Vec<u64>, IoError> = self
            .stack
            .work()
            .par_iter()
            .map(|work| {
                control.check()?;
                let tile = &self.stack.tiles()[work.tile];
                let pixels = (tile.shape[0] * tile.shape[1]) as u64;
                let mut samples = 0;
                scratch.with(|scratch| {
                    for (at, frames) in self.stack.blocks(work) {
                        self.stack.read(work, &at, &frames, scratch)?;
                        samples += frames.len() as u64 * pixels;
                    }
                    Ok(samples)
                })
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
        if self.companion.is_some() {
            return Err(IoError::BadOption(
                Fault::of(self.path())
                    .object(self.dataset())
                    .expected("frames to count")
                    .found("a companion, which holds bright-field columns only")
                    .action("count the data that it was made of"),
            ));
        }
        with_sample!(self.stack.kind(), T => counts::<T>(&self.stack, control))
    }
}
