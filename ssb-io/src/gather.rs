//! Gathering: the counts of chosen detector pixels over the scan, detector-major, in one pass and
//! in the type they are stored in.

use rayon::prelude::*;
use ssb_core::ndarray::Array2;
use ssb_core::{Columns, Control};

use crate::IoError;
use crate::codec::Scratch;
use crate::error::Fault;
use crate::frames::{Stack, Work};
use crate::sample_type::Stored;

/// Pieces of work decoded between two writes into the columns.
const BATCH: usize = 32;
/// Bytes of frames gathered together: writes are runs of neighbours, reads stay in the first cache.
const RUN_BYTES: usize = 32 << 10;

/// What one piece of work yields: `values[p * positions.len() + f]`.
struct Gathered<T> {
    tile: usize,
    positions: Vec<usize>,
    /// Whether the positions follow each other without a gap.
    consecutive: bool,
    values: Vec<T>,
}

/// The chosen pixels of one tile: `(column, element offset in a block)`.
type TilePixels = Vec<(usize, usize)>;

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
    let tiles: Vec<TilePixels> = stack
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
        .collect();
    let work: Vec<Work> = stack
        .work()
        .iter()
        .filter(|w| !tiles[w.tile].is_empty())
        .copied()
        .collect();
    for (i, batch) in work.chunks(BATCH).enumerate() {
        control.check()?;
        let gathered: Vec<Gathered<T>> = batch
            .par_iter()
            .map_init(Scratch::default, |scratch, work| {
                control.check()?;
                one(stack, work, &tiles[work.tile], pixels, scratch)
            })
            .collect::<Result<_, IoError>>()?;
        columns
            .par_chunks_mut(points.max(1))
            .enumerate()
            .for_each(|(b, column)| write(&gathered, &tiles, b, column));
        let share = (i * BATCH + batch.len()) as u64 * points as u64 / work.len() as u64;
        control.report("bright-field columns", share, points as u64);
    }
    let array = Array2::from_shape_vec((pixels.len(), points), columns)
        .map_err(|error| ssb_core::Error::Internal(error.to_string()))?;
    Ok(T::columns(array))
}

fn allocate<T: Stored>(stack: &Stack, b: usize, points: usize) -> Result<Vec<T>, IoError> {
    let mut columns: Vec<T> = Vec::new();
    let len = b.checked_mul(points);
    let reserved = len.map(|len| columns.try_reserve_exact(len));
    match (len, reserved) {
        (Some(len), Some(Ok(()))) => columns.resize(len, T::default()),
        _ => {
            let file = stack
                .pieces()
                .first()
                .map(|p| p.array.file().path().to_owned());
            return Err(IoError::OutOfMemory(
                Fault::of(&file.unwrap_or_default())
                    .expected(format!("memory for {b} columns of {points} samples"))
                    .found("less")
                    .action("use fewer bright-field pixels"),
            ));
        }
    }
    Ok(columns)
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
    let mut positions = Vec::with_capacity(count);
    let mut values = vec![T::default(); pixels.len() * count];
    let tile = &stack.tiles()[work.tile];
    let frame_bytes = tile.shape[0] * tile.shape[1] * T::BYTES;
    let run_frames = (RUN_BYTES / frame_bytes.max(1)).clamp(4, 64);
    for (at, frames) in &blocks {
        stack.read(work, at, frames, scratch)?;
        let data = &scratch.chunk;
        for run in frames.chunks(run_frames) {
            let first = positions.len();
            for (p, (_, offset)) in pixels.iter().enumerate() {
                let out = &mut values[p * count + first..][..run.len()];
                for (value, frame) in out.iter_mut().zip(run) {
                    let from = (frame.offset + offset) * T::BYTES;
                    *value = T::decode(&data[from..from + T::BYTES]);
                }
            }
            positions.extend(run.iter().map(|f| f.position));
        }
    }
    if T::MAX.is_none()
        && let Some(i) = values.iter().position(|v| !v.finite())
    {
        let [row, col] = stack.place(positions[i % count]);
        let [k, l] = chosen[pixels[i / count].0];
        let array = &stack.pieces()[0].array;
        return Err(IoError::NonFinite(
            Fault::of(array.file().path())
                .object(array.object())
                .expected("finite counts in the bright-field disk")
                .found(format!(
                    "NaN or infinity in frame ({row}, {col}) at stored detector pixel ({k}, {l})"
                ))
                .action("mask the pixel or repair the data"),
        ));
    }
    Ok(Gathered {
        tile: work.tile,
        consecutive: positions.windows(2).all(|p| p[0] + 1 == p[1]),
        positions,
        values,
    })
}

/// Writes what a batch holds of one column.
fn write<T: Stored>(gathered: &[Gathered<T>], tiles: &[TilePixels], b: usize, column: &mut [T]) {
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
