//! Sums and columns in one pass: a guessed disk is gathered while the mean pattern is summed, and kept
//! when the disk that the whole mean pattern shows lies within the guess.

use rayon::prelude::*;
use ssb_core::ndarray::Array2;
use ssb_core::{Columns, Control};

use crate::IoError;
use crate::codec::Scratch;
use crate::frames::{Stack, Work};
use crate::gather::{self, Gathered, Gathering};
use crate::mean::{Part, Summing, Sums};
use crate::sample_type::Stored;

/// Groups of frames that a sample takes, at most, and the share of all of them.
const SAMPLE: usize = 16;
const SHARE: usize = 8;

/// Columns `[pixels, points]` of a guess.
pub(crate) struct Guess<T> {
    pub(crate) columns: Vec<T>,
    pub(crate) points: usize,
}

/// Some of the work, spread evenly over the frames: whole frames, all tiles. Nothing when that would be
/// a large part of all.
pub(crate) fn sample(stack: &Stack) -> Vec<Work> {
    let groups: Vec<&[Work]> = stack.work().chunk_by(Work::same_frames).collect();
    let take = SAMPLE.min(groups.len() / SHARE);
    (0..take)
        .flat_map(|i| groups[i * groups.len() / take].to_vec())
        .collect()
}

/// Sums over all used frames, and the columns of stored pixels, each chunk decoded once.
///
/// # Errors
/// Cancelled, a chunk that does not read, or too little memory. NaN and infinities are only counted:
/// whether they matter is known with the disk.
pub(crate) fn sums_and_columns<T: Stored>(
    stack: &Stack,
    pixels: &[[usize; 2]],
    control: &Control,
) -> Result<(Sums, Guess<T>), IoError> {
    let [rows, cols] = stack.scan().shape;
    let points = rows * cols;
    let mut columns = gather::allocate::<T>(stack, pixels.len(), points)?;
    let tiles = gather::tile_pixels(stack, pixels);
    let mut sums = Sums::new(stack);
    let size = gather::batch_work(stack, pixels.len(), T::BYTES);
    for batch in stack.work().chunks(size) {
        control.check()?;
        let both: Vec<(Part<T>, Gathered<T>)> = batch
            .par_iter()
            .map_init(Scratch::default, |scratch, work| {
                control.check()?;
                let blocks = stack.blocks(work);
                let count: usize = blocks.iter().map(|b| b.1.len()).sum();
                let mut summing = Summing::<T>::new(stack, work);
                let mut gathering = Gathering::<T>::new(stack, work, &tiles[work.tile], count);
                for (at, frames) in &blocks {
                    stack.read(work, at, frames, scratch)?;
                    summing.add(frames, &scratch.chunk);
                    gathering.add(frames, &scratch.chunk);
                }
                Ok((summing.finish(), gathering.finish()))
            })
            .collect::<Result<_, IoError>>()?;
        let (parts, gathered): (Vec<_>, Vec<_>) = both.into_iter().unzip();
        rayon::join(
            || sums.add(stack, &parts),
            || gather::write(&gathered, &tiles, &mut columns, points),
        );
        let done = sums.frames().min(points as u64);
        control.report("mean pattern and bright-field columns", done, points as u64);
    }
    Ok((sums, Guess { columns, points }))
}

impl<T: Stored> Guess<T> {
    /// Keeps the columns at `rows`, which ascend, in place.
    ///
    /// # Errors
    /// [`IoError::NonFinite`] for NaN or infinity in one of them; `pixels` are the stored pixels of
    /// the rows kept.
    pub(crate) fn keep(
        self,
        stack: &Stack,
        rows: &[usize],
        pixels: &[[usize; 2]],
    ) -> Result<Columns, IoError> {
        let Self {
            mut columns,
            points,
        } = self;
        for (to, from) in rows.iter().enumerate() {
            columns.copy_within(from * points..(from + 1) * points, to * points);
        }
        columns.truncate(rows.len() * points);
        columns.shrink_to_fit();
        if T::MAX.is_none()
            && let Some(i) = columns.par_iter().position_first(|v| !v.finite())
        {
            return Err(gather::not_finite(stack, i % points, pixels[i / points]));
        }
        let array = Array2::from_shape_vec((rows.len(), points), columns)
            .map_err(|error| ssb_core::Error::Internal(error.to_string()))?;
        Ok(T::columns(array))
    }
}
