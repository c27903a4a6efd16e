//! Gathering: the counts of chosen detector pixels over the scan, detector-major, in one pass and
//! in the type they are stored in.

use std::path::Path;

use rayon::prelude::*;
use ssb_core::ndarray::Array2;
use ssb_core::{Columns, Control};

use crate::IoError;
use crate::codec::Scratch;
use crate::error::Fault;
use crate::frames::{FrameAt, Stack, Work};
use crate::sample_type::Stored;

/// Pieces of work decoded between two writes into the columns, at most.
pub(crate) const BATCH: usize = 32;
/// Gathered bytes between two writes into the columns, at most, unless one piece of work for each
/// thread holds more.
const BATCH_BYTES: usize = 64 << 20;
/// Bytes of frames gathered together: writes are runs of neighbours, reads stay in the first cache.
const RUN_BYTES: usize = 32 << 10;

/// What one piece of work yields: `values[p * positions.len() + f]`.
pub(crate) struct Gathered<T> {
    tile: usize,
    positions: Vec<usize>,
    /// Whether the positions follow each other without a gap.
    consecutive: bool,
    values: Vec<T>,
}

/// The chosen pixels of one tile: `(column, element offset in a block)`.
pub(crate) type TilePixels = Vec<(usize, usize)>;

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
        .filter(|w| !tiles[w.tile].is_empty())
        .copied()
        .collect();
    let size = batch_work(stack, pixels.len(), T::BYTES);
    for (i, batch) in work.chunks(size).enumerate() {
        control.check()?;
        let gathered: Vec<Gathered<T>> = batch
            .par_iter()
            .map_init(Scratch::default, |scratch, work| {
                control.check()?;
                one(stack, work, &tiles[work.tile], pixels, scratch)
            })
            .collect::<Result<_, IoError>>()?;
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
        .map(|tile| {
            let inside = |[r, c]: [usize; 2]| {
                let at = [r.checked_sub(tile.start[0])?, c.checked_sub(tile.start[1])?];
                let in_tile = at[0] < tile.shape[0] && at[1] < tile.shape[1];
                in_tile.then(|| at[0] * tile.strides[0] + at[1] * tile.strides[1])
            };
            let numbered = pixels.iter().enumerate();
            numbered
                .filter_map(|(b, p)| Some((b, inside(*p)?)))
                .collect()
        })
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
    let mut columns: Vec<T> = Vec::new();
    let len = b.checked_mul(points);
    let reserved = len.map(|len| columns.try_reserve_exact(len));
    match (len, reserved) {
        (Some(len), Some(Ok(()))) => columns.resize(len, T::default()),
        _ => {
            return Err(IoError::OutOfMemory(
                Fault::of(file)
                    .expected(format!("memory for {b} columns of {points} samples"))
                    .found("less")
                    .action("use fewer bright-field pixels"),
            ));
        }
    }
    Ok(columns)
}

/// The chosen pixels over one piece of work, while its frames come in.
pub(crate) struct Gathering<'a, T> {
    pixels: &'a TilePixels,
    count: usize,
    run_frames: usize,
    gathered: Gathered<T>,
}

impl<'a, T: Stored> Gathering<'a, T> {
    /// For a piece of work with `count` used frames.
    pub(crate) fn new(stack: &Stack, work: &Work, pixels: &'a TilePixels, count: usize) -> Self {
        let tile = &stack.tiles()[work.tile];
        let frame_bytes = tile.shape[0] * tile.shape[1] * T::BYTES;
        Self {
            pixels,
            count,
            run_frames: (RUN_BYTES / frame_bytes.max(1)).clamp(4, 64),
            gathered: Gathered {
                tile: work.tile,
                positions: Vec::with_capacity(count),
                consecutive: false,
                values: vec![T::default(); pixels.len() * count],
            },
        }
    }

    /// Takes the frames of a decoded block.
    pub(crate) fn add(&mut self, frames: &[FrameAt], data: &[u8]) {
        let Gathered {
            positions, values, ..
        } = &mut self.gathered;
        for run in frames.chunks(self.run_frames) {
            let first = positions.len();
            for (p, (_, offset)) in self.pixels.iter().enumerate() {
                let out = &mut values[p * self.count + first..][..run.len()];
                for (value, frame) in out.iter_mut().zip(run) {
                    let from = (frame.offset + offset) * T::BYTES;
                    *value = T::decode(&data[from..from + T::BYTES]);
                }
            }
            positions.extend(run.iter().map(|f| f.position));
        }
    }

    pub(crate) fn finish(mut self) -> Gathered<T> {
        let positions = &self.gathered.positions;
        self.gathered.consecutive = positions.windows(2).all(|p| p[0] + 1 == p[1]);
        self.gathered
    }
}

fn one<T: Stored>(
    stack: &Stack,
    work: &Work,
    pixels: &TilePixels,
    chosen: &[[usize; 2]],
    scratch: &mut Scratch,
) -> Result<Gathered<T>, IoError> {
    let blocks = stack.blocks(work);
    let count: usize = blocks.iter().map(|b| b.1.len()).sum();
    let mut gathering = Gathering::<T>::new(stack, work, pixels, count);
    for (at, frames) in &blocks {
        stack.read(work, at, frames, scratch)?;
        gathering.add(frames, &scratch.chunk);
    }
    let gathered = gathering.finish();
    if T::MAX.is_none()
        && let Some(i) = gathered.values.iter().position(|v| !v.finite())
    {
        let position = gathered.positions[i % count];
        return Err(not_finite(stack, position, chosen[pixels[i / count].0]));
    }
    Ok(gathered)
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
    gathered: &[Gathered<T>],
    tiles: &[TilePixels],
    columns: &mut [T],
    points: usize,
) {
    let each = columns.par_chunks_mut(points.max(1)).enumerate();
    each.for_each(|(b, column)| write_column(gathered, tiles, b, column));
}

/// Writes what a batch holds of one column.
fn write_column<T: Stored>(
    gathered: &[Gathered<T>],
    tiles: &[TilePixels],
    b: usize,
    column: &mut [T],
) {
    for part in gathered {
        let Ok(p) = tiles[part.tile].binary_search_by_key(&b, |t| t.0) else {
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
