//! Sums and columns in one pass: a guessed disk is gathered while the mean pattern is summed, and kept
//! when the disk that the whole mean pattern shows lies within the guess.

use rayon::prelude::*;
use ssb_core::ndarray::Array2;
use ssb_core::{Columns, Control};

use crate::IoError;
use crate::codec::Pool;
use crate::frame_groups::Reader;
use crate::frames::{Stack, Work};
use crate::gather::{self, Gathering};
use crate::mean::{Summing, Sums};
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
    let mut slots: Vec<(Summing<T>, Gathering<T>)> = Vec::new();
    slots.resize_with(size, Default::default);
    let readers = Pool::<Reader>::default();
    for (number, batch) in stack.work().chunks(size).enumerate() {
        control.check()?;
        let slots = &mut slots[..batch.len()];
        slots
            .par_iter_mut()
            .zip(batch)
            .try_for_each(|((summing, gathering), work)| {
                control.check()?;
                let pixels_here = &tiles[work.tile];
                let blocks = stack.blocks(work);
                let count: usize = blocks.iter().map(|b| b.1.len()).sum();
                summing.begin(stack, work);
                gathering.begin(work, pixels_here, count);
                readers.with(|reader| {
                    reader.each_group(stack, work, &blocks, T::BYTES, |frames| {
                        summing.add(frames);
                        gathering.add(pixels_here, frames);
                    })
                })?;
                gathering.finish();
                Ok::<(), IoError>(())
            })?;
        let (summed, gathered): (Vec<_>, Vec<_>) =
            slots.iter_mut().map(|(s, g)| (s, g.gathered())).unzip();
        rayon::join(
            || sums.add(stack, summed, stack.work(), (number + 1) * size),
            || gather::write(&gathered, &tiles, &mut columns, points),
        );
        let done = sums.frames().min(points as u64);
        control.report("mean pattern and bright-field columns", done, points as u64);
    }
    Ok((sums, Guess { columns, points }))
}

impl<T: Stored> Guess<T> {
    /// Keeps the columns at `rows`, in that order, in place; those below `core` ascend.
    ///
    /// # Errors
    /// [`IoError::NonFinite`] for NaN or infinity in one of them; `pixels` are the stored pixels of
    /// the rows kept.
    pub(crate) fn keep(
        self,
        stack: &Stack,
        rows: &[usize],
        core: usize,
        pixels: &[[usize; 2]],
    ) -> Result<Columns, IoError> {
        let Self {
            mut columns,
            points,
        } = self;
        arrange(&mut columns, points, rows, core);
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

/// Moves the rows of length `points` so that row `rows[i]` comes to place `i`; nothing is moved as long as
/// each is there already. Of `rows`, those below `core` ascend.
fn arrange<T: Copy>(columns: &mut [T], points: usize, rows: &[usize], core: usize) {
    let span = |row: usize| row * points..(row + 1) * points;
    let staying = rows.iter().zip(0..).take_while(|(r, i)| **r == *i).count();
    let last = rows.len();
    let limit = core.min(last);
    let (inner, outer): (Vec<usize>, Vec<usize>) = (staying..last).partition(|i| rows[*i] < limit);
    // Rows from behind may stand where others go: they are few, and wait aside.
    let saved: Vec<Vec<T>> = outer
        .iter()
        .map(|i| columns[span(rows[*i])].to_vec())
        .collect();
    // Both sides of the others ascend: those that move towards the front go first to last, then
    // those that move back go last to first, and none stands where another still has to come from.
    for i in inner.iter().filter(|i| rows[**i] > **i) {
        columns.copy_within(span(rows[*i]), i * points);
    }
    for i in inner.iter().rev().filter(|i| rows[**i] < **i) {
        columns.copy_within(span(rows[*i]), i * points);
    }
    for (i, row) in outer.iter().zip(&saved) {
        columns[span(*i)].copy_from_slice(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_to_their_places() {
        let mut state = 1_u32;
        let mut chance = |share: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % 100 < share
        };
        for (core, ring) in [(0, 4), (5, 0), (20, 8), (40, 12), (3, 30)] {
            for (keep, add) in [(100, 0), (100, 50), (80, 0), (70, 60), (0, 100), (95, 20)] {
                // What is kept of the core and what is added of the ring, mixed in order.
                let mut rows: Vec<usize> = (0..core).filter(|_| chance(keep)).collect();
                for r in core..core + ring {
                    if chance(add) {
                        let at = rows.len() * (r - core) / ring;
                        rows.insert(at, r);
                    }
                }
                let mut columns: Vec<u16> = (0..core + ring)
                    .flat_map(|r| [r as u16, r as u16 + 1000])
                    .collect();
                arrange(&mut columns, 2, &rows, core);
                for (i, r) in rows.iter().enumerate() {
                    assert_eq!(columns[2 * i..2 * i + 2], [*r as u16, *r as u16 + 1000]);
                }
            }
        }
    }
}
