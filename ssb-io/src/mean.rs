//! The mean diffraction pattern: exact integer sums over all used frames, largest counts, and how
//! many values are not finite.

use rayon::prelude::*;
use ssb_core::Control;
use ssb_core::ndarray::Array2;

use crate::IoError;
use crate::codec::Scratch;
use crate::frames::{FrameAt, Stack, Tile, Work};
use crate::sample_type::{PART_FRAMES, Stored, Total};

/// Pieces of work between two reports.
const BATCH: usize = 32;

/// Sums over the used frames, on the stored detector.
pub(crate) struct Sums {
    pub(crate) totals: Array2<Total>,
    /// The largest finite value of each pixel.
    pub(crate) max: Array2<f64>,
    /// NaN and infinities of each pixel.
    pub(crate) non_finite: Array2<u64>,
    /// Pixels times frames added so far.
    area: usize,
}

/// What one piece of work yields for its tile, in row-major order.
pub(crate) struct Part<T> {
    tile: usize,
    totals: Vec<Total>,
    max: Vec<T>,
    non_finite: Vec<(usize, u64)>,
    frames: usize,
}

impl Sums {
    pub(crate) fn new(stack: &Stack) -> Self {
        let [rows, cols] = stack.det_shape();
        Self {
            totals: Array2::default((rows, cols)),
            max: Array2::from_elem((rows, cols), f64::NEG_INFINITY),
            non_finite: Array2::zeros((rows, cols)),
            area: 0,
        }
    }

    /// Adds what pieces of work yielded, in their order.
    pub(crate) fn add<'a, T: Stored>(
        &mut self,
        stack: &Stack,
        parts: impl IntoIterator<Item = &'a Part<T>>,
    ) {
        for part in parts {
            let tile = &stack.tiles()[part.tile];
            merge(self, tile, part);
            self.area += part.frames * tile.shape[0] * tile.shape[1];
        }
    }

    /// Whole frames added so far.
    pub(crate) fn frames(&self) -> u64 {
        (self.area / self.totals.len().max(1)) as u64
    }
}

/// Sums every pixel over the used frames of some of the work (all of it, or a sample). Parts are added
/// in the order of the frames, so a result does not depend on the number of threads.
///
/// # Errors
/// Cancelled, or a chunk that does not read.
pub(crate) fn sums<T: Stored>(
    stack: &Stack,
    work: &[Work],
    control: &Control,
) -> Result<Sums, IoError> {
    let mut sums = Sums::new(stack);
    let [scan_rows, scan_cols] = stack.scan().shape;
    let total = (scan_rows * scan_cols) as u64;
    for batch in work.chunks(BATCH) {
        control.check()?;
        let parts: Vec<Part<T>> = batch
            .par_iter()
            .map_init(Scratch::default, |scratch, work| {
                control.check()?;
                one(stack, work, scratch)
            })
            .collect::<Result<_, IoError>>()?;
        sums.add(stack, &parts);
        control.report("mean pattern", sums.frames().min(total), total);
    }
    Ok(sums)
}

fn merge<T: Stored>(sums: &mut Sums, tile: &Tile, part: &Part<T>) {
    if part.frames == 0 {
        return;
    }
    let [rows, cols] = tile.shape;
    let place = |i: usize| (tile.start[0] + i / cols, tile.start[1] + i % cols);
    for i in 0..rows * cols {
        let total = &mut sums.totals[place(i)];
        total.integer += part.totals[i].integer;
        total.real += part.totals[i].real;
        let max = &mut sums.max[place(i)];
        *max = max.max(part.max[i].to_f64());
    }
    for (i, n) in &part.non_finite {
        sums.non_finite[place(*i)] += n;
    }
}

/// The sums over one piece of work, while its frames come in.
pub(crate) struct Summing<T: Stored> {
    tile: Tile,
    sums: Vec<T::Part>,
    part: Part<T>,
    pending: usize,
    bad: Vec<u64>,
}

impl<T: Stored> Summing<T> {
    pub(crate) fn new(stack: &Stack, work: &Work) -> Self {
        let tile = stack.tiles()[work.tile];
        let pixels = tile.shape[0] * tile.shape[1];
        Self {
            tile,
            sums: vec![T::Part::default(); pixels],
            part: Part {
                tile: work.tile,
                totals: vec![Total::default(); pixels],
                max: Vec::new(),
                non_finite: Vec::new(),
                frames: 0,
            },
            pending: 0,
            bad: vec![0; if T::MAX.is_none() { pixels } else { 0 }],
        }
    }

    /// Adds the frames of a decoded block.
    pub(crate) fn add(&mut self, frames: &[FrameAt], data: &[u8]) {
        for frame in frames {
            if self.pending == PART_FRAMES {
                flush::<T>(&mut self.sums, &mut self.part.totals);
                self.pending = 0;
            }
            self.pending += 1;
            add_frame(
                &self.tile,
                frame.offset,
                data,
                &mut self.sums,
                &mut self.part.max,
                &mut self.bad,
            );
        }
        self.part.frames += frames.len();
    }

    pub(crate) fn finish(mut self) -> Part<T> {
        flush::<T>(&mut self.sums, &mut self.part.totals);
        let bad = (0..self.bad.len()).zip(self.bad);
        self.part.non_finite = bad.filter(|b| b.1 > 0).collect();
        self.part
    }
}

fn one<T: Stored>(stack: &Stack, work: &Work, scratch: &mut Scratch) -> Result<Part<T>, IoError> {
    let mut summing = Summing::<T>::new(stack, work);
    for (at, frames) in stack.blocks(work) {
        stack.read(work, &at, &frames, scratch)?;
        summing.add(&frames, &scratch.chunk);
    }
    Ok(summing.finish())
}

fn flush<T: Stored>(sums: &mut [T::Part], totals: &mut [Total]) {
    for (sum, total) in sums.iter_mut().zip(totals) {
        T::add(std::mem::take(sum), total);
    }
}

/// Adds one frame; `max` is empty before the first.
fn add_frame<T: Stored>(
    tile: &Tile,
    offset: usize,
    data: &[u8],
    sums: &mut [T::Part],
    max: &mut Vec<T>,
    bad: &mut [u64],
) {
    let [rows, cols] = tile.shape;
    let first = max.is_empty();
    if first {
        max.resize(rows * cols, T::default());
    }
    for row in 0..rows {
        let start = (offset + row * tile.strides[0]) * T::BYTES;
        let here = row * cols..(row + 1) * cols;
        let (sums, max) = (&mut sums[here.clone()], &mut max[here.clone()]);
        if tile.strides[1] == 1 {
            let line = data[start..start + cols * T::BYTES].chunks_exact(T::BYTES);
            for ((sum, max), bytes) in sums.iter_mut().zip(max).zip(line) {
                let value = T::decode(bytes);
                *sum += value.part();
                // The negated comparison also replaces a NaN that came first.
                *max = if first || value > *max { value } else { *max };
            }
        } else {
            for (col, (sum, max)) in sums.iter_mut().zip(max).enumerate() {
                let from = start + col * tile.strides[1] * T::BYTES;
                let value = T::decode(&data[from..from + T::BYTES]);
                *sum += value.part();
                *max = if first || value > *max { value } else { *max };
            }
        }
        if T::MAX.is_none() {
            for (col, bad) in bad[here].iter_mut().enumerate() {
                let from = start + col * tile.strides[1] * T::BYTES;
                *bad += u64::from(!T::decode(&data[from..from + T::BYTES]).finite());
            }
        }
    }
}
