//! Gathering: the counts of chosen detector pixels over the scan, detector-major, in one pass and
//! in the type they are stored in.

use std::path::Path;

use rayon::prelude::*;
use ssb_core::ndarray::Array2;
use ssb_core::{Columns, Control};

use crate::IoError;
use crate::codec::Pool;
use crate::error::Fault;
use crate::frame_groups::{Frame, Reader};
use crate::frames::{Stack, Work};
use crate::sample_type::Stored;
use crate::tile_pixels::{TilePixels, transpose};

/// Pieces of work decoded between two writes into the columns, at most.
pub(crate) const BATCH: usize = 32;
/// Gathered bytes between two writes into the columns, at most, unless one piece of work for each
/// thread holds more.
const BATCH_BYTES: usize = 64 << 20;
/// What one piece of work yields: `values[p * positions.len() + f]`.
#[derive(Default)]
pub(crate) struct Gathered<T> {
    tile: usize,
    positions: Vec<usize>,
    /// Whether the positions follow each other without a gap.
    consecutive: bool,
    values: Vec<T>,
}

/// Columns `[B, R * C]` of stored detector pixels.
///
/// # Errors
/// Cancelled, a chunk that does not read, NaN or infinity in a column, or too little memory.
pub(crate) fn gather<T: Stored>(
    stack: &Stack,
    pixels: &[[usize; 2]],
    control: &Control,
) -> Result<Columns, IoError> {
    let [rows, cols] = stack.scan().shape;
    let points = rows * cols;
    let mut columns = allocate::<T>(stack, pixels.len(), points)?;
    let tiles = tile_pixels(stack, pixels);
    let work: Vec<Work> = stack
        .work()
        .iter()
        .filter(|w| tiles[w.tile].len > 0)
        .copied()
        .collect();
    let size = batch_work(stack, pixels.len(), T::BYTES);
    let mut slots: Vec<Gathering<T>> = Vec::new();
    slots.resize_with(size, Gathering::default);
    let readers = Pool::<Reader>::default();
    for (i, batch) in work.chunks(size).enumerate() {
        control.check()?;
        let slots = &mut slots[..batch.len()];
        slots
            .par_iter_mut()
            .zip(batch)
            .try_for_each(|(slot, work)| {
                control.check()?;
                let pixels_here = &tiles[work.tile];
                let blocks = stack.blocks(work);
                let count: usize = blocks.iter().map(|b| b.1.len()).sum();
                slot.begin(work, pixels_here, count);
                readers.with(|reader| {
                    reader.each_group(stack, work, &blocks, T::BYTES, |frames| {
                        slot.add(pixels_here, frames);
                    })
                })?;
                check_finite(stack, slot.finish(), pixels_here, pixels)
            })?;
        let gathered: Vec<&Gathered<T>> = slots.iter().map(Gathering::gathered).collect();
        write(&gathered, &tiles, &mut columns, points);
        let share = (i * size + batch.len()) as u64 * points as u64 / work.len() as u64;
        control.report("bright-field columns", share, points as u64);
    }
    let array = Array2::from_shape_vec((pixels.len(), points), columns)
        .map_err(|error| ssb_core::Error::Internal(error.to_string()))?;
    Ok(T::columns(array))
}

/// Pieces of work between two writes when so many columns are gathered.
pub(crate) fn batch_work(stack: &Stack, columns: usize, sample_bytes: usize) -> usize {
    let each = stack.work_frames().saturating_mul(columns * sample_bytes);
    let fitting = BATCH_BYTES / each.max(1);
    fitting.clamp(rayon::current_num_threads().min(BATCH), BATCH)
}

/// Which of the chosen pixels lie in each tile.
pub(crate) fn tile_pixels(stack: &Stack, pixels: &[[usize; 2]]) -> Vec<TilePixels> {
    stack
        .tiles()
        .iter()
        .map(|tile| TilePixels::new(tile, pixels))
        .collect()
}

pub(crate) fn allocate<T: Stored>(
    stack: &Stack,
    b: usize,
    points: usize,
) -> Result<Vec<T>, IoError> {
    let first = stack.pieces().first();
    let file = first.map(|p| p.array.file().path().to_owned());
    reserve(&file.unwrap_or_default(), b, points)
}

/// Room for `b` columns of a file.
pub(crate) fn reserve<T: Stored>(file: &Path, b: usize, points: usize) -> Result<Vec<T>, IoError> {
    let len = b.checked_mul(points);
    // Whether there is room is asked first; zeros then come from the system, page by page.
    let room = len.map(|len| Vec::<T>::new().try_reserve_exact(len));
    match (len, room) {
        (Some(len), Some(Ok(()))) => Ok(vec![T::default(); len]),
        _ => Err(IoError::OutOfMemory(
            Fault::of(file)
                .expected(format!("memory for {b} columns of {points} samples"))
                .found("less")
                .action("use fewer bright-field pixels"),
        )),
    }
}

/// The chosen pixels over one piece of work, while its frames come in. Buffers are kept from one piece to
/// the next.
#[derive(Default)]
pub(crate) struct Gathering<T> {
    /// Chosen pixels of one run of frames, frame by frame.
    run: Vec<T>,
    count: usize,
    gathered: Gathered<T>,
}

impl<T: Stored> Gathering<T> {
    /// Begins a piece of work with `count` used frames.
    pub(crate) fn begin(&mut self, work: &Work, pixels: &TilePixels, count: usize) {
        self.count = count;
        let gathered = &mut self.gathered;
        gathered.tile = work.tile;
        gathered.positions.clear();
        // All of it is written before it is read.
        gathered.values.resize(pixels.len * count, T::default());
    }

    /// Takes a group of decoded frames.
    pub(crate) fn add(&mut self, pixels: &TilePixels, frames: &[Frame<'_>]) {
        let Gathered {
            positions, values, ..
        } = &mut self.gathered;
        let first = positions.len();
        self.run.resize(pixels.len * frames.len(), T::default());
        let compact = self.run.chunks_exact_mut(pixels.len.max(1));
        for (frame, compact) in frames.iter().zip(compact) {
            pixels.copy(frame.data, compact);
        }
        transpose(&self.run, pixels.len, values, self.count, first);
        positions.extend(frames.iter().map(|f| f.position));
    }

    pub(crate) fn finish(&mut self) -> &Gathered<T> {
        let positions = &self.gathered.positions;
        self.gathered.consecutive = positions.windows(2).all(|p| p[0] + 1 == p[1]);
        &self.gathered
    }

    pub(crate) fn gathered(&self) -> &Gathered<T> {
        &self.gathered
    }
}

/// The first value that is not a finite number.
fn check_finite<T: Stored>(
    stack: &Stack,
    gathered: &Gathered<T>,
    pixels: &TilePixels,
    chosen: &[[usize; 2]],
) -> Result<(), IoError> {
    if T::MAX.is_some() {
        return Ok(());
    }
    let count = gathered.positions.len();
    match gathered.values.iter().position(|v| !v.finite()) {
        Some(i) => {
            let pixel = chosen[pixels.columns[i / count]];
            Err(not_finite(stack, gathered.positions[i % count], pixel))
        }
        None => Ok(()),
    }
}

/// The error for a count in the disk that is NaN or infinite.
pub(crate) fn not_finite(stack: &Stack, position: usize, pixel: [usize; 2]) -> IoError {
    let [row, col] = stack.place(position);
    let [k, l] = pixel;
    let fault = match stack.pieces().first() {
        Some(piece) => Fault::of(piece.array.file().path()).object(piece.array.object()),
        None => Box::default(),
    };
    IoError::NonFinite(
        fault
            .expected("finite counts in the bright-field disk")
            .found(format!(
                "NaN or infinity in frame ({row}, {col}) at stored detector pixel ({k}, {l})"
            ))
            .action("mask the pixel or repair the data"),
    )
}

/// Writes what a batch holds into the columns.
pub(crate) fn write<T: Stored>(
    gathered: &[&Gathered<T>],
    tiles: &[TilePixels],
    columns: &mut [T],
    points: usize,
) {
    let each = columns.par_chunks_mut(points.max(1)).enumerate();
    each.for_each(|(b, column)| write_column(gathered, tiles, b, column));
}

/// Writes what a batch holds of one column.
fn write_column<T: Stored>(
    gathered: &[&Gathered<T>],
    tiles: &[TilePixels],
    b: usize,
    column: &mut [T],
) {
    for part in gathered {
        let Ok(p) = tiles[part.tile].columns.binary_search(&b) else {
            continue;
        };
        let count = part.positions.len();
        let values = &part.values[p * count..(p + 1) * count];
        if part.consecutive
            && let Some(first) = part.positions.first()
        {
            column[*first..*first + count].copy_from_slice(values);
        } else {
            for (position, value) in part.positions.iter().zip(values) {
                column[*position] = *value;
            }
        }
    }
}
