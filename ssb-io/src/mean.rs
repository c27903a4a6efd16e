//! The mean diffraction pattern: exact integer sums over all used frames, largest counts, and how
//! many values are not finite.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use ssb_core::Control;
use ssb_core::ndarray::Array2;

use crate::IoError;
use crate::codec::Pool;
use crate::frame_groups::{Frame, Reader};
use crate::frames::{Stack, Tile, Work};
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
#[derive(Default)]
struct Part<T> {
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

    /// Adds what pieces of work yielded, in their order; the work that the same slots do next begins at
    /// `next` of all.
    pub(crate) fn add<'a, T: Stored>(
        &mut self,
        stack: &Stack,
        slots: impl IntoIterator<Item = &'a mut Summing<T>>,
        all: &[Work],
        next: usize,
    ) {
        for (i, slot) in slots.into_iter().enumerate() {
            let tile = &stack.tiles()[slot.part.tile];
            let area = tile.shape[0] * tile.shape[1];
            self.area += (slot.part.frames - slot.counted) * area;
            slot.counted = slot.part.frames;
            if !slot.goes_on(all.get(next + i)) {
                slot.finish();
                merge(self, tile, &slot.part);
                slot.part.frames = 0;
            }
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
    let mut slots: Vec<Summing<T>> = Vec::new();
    slots.resize_with(BATCH, Summing::default);
    let readers = Pool::<Reader>::default();
    for (number, batch) in work.chunks(BATCH).enumerate() {
        control.check()?;
        let here = &mut slots[..batch.len()];
        here.par_iter_mut()
            .zip(batch)
            .try_for_each(|(slot, work)| {
                control.check()?;
                slot.begin(stack, work);
                let blocks = stack.blocks(work);
                readers.with(|reader| {
                    reader.each_group(stack, work, &blocks, T::BYTES, |frames| slot.add(frames))
                })
            })?;
        sums.add(stack, here, work, (number + 1) * BATCH);
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

/// The sums over one piece of work, while its frames come in. Buffers are kept from one piece to the
/// next.
#[derive(Default)]
pub(crate) struct Summing<T: Stored> {
    tile: Option<Tile>,
    sums: Vec<T::Part>,
    part: Part<T>,
    pending: usize,
    bad: Vec<u64>,
    /// Frames of the part that are counted in the area already.
    counted: usize,
}

impl<T: Stored> Summing<T> {
    /// Begins a piece of work.
    pub(crate) fn begin(&mut self, stack: &Stack, work: &Work) {
        if self.goes_on(Some(work)) {
            return;
        }
        let tile = stack.tiles()[work.tile];
        let pixels = tile.shape[0] * tile.shape[1];
        self.tile = Some(tile);
        self.counted = 0;
        self.pending = 0;
        zeroed(&mut self.sums, pixels);
        zeroed(&mut self.bad, if T::MAX.is_none() { pixels } else { 0 });
        self.part.tile = work.tile;
        zeroed(&mut self.part.totals, pixels);
        self.part.max.clear();
        self.part.non_finite.clear();
        self.part.frames = 0;
    }

    /// Adds a group of decoded frames.
    pub(crate) fn add(&mut self, frames: &[Frame<'_>]) {
        let Some(tile) = self.tile else { return };
        if self.pending + frames.len() > PART_FRAMES {
            flush::<T>(&mut self.sums, &mut self.part.totals);
            self.pending = 0;
        }
        self.pending += frames.len();
        Arch::new().dispatch(AddFrames::<T> {
            tile: &tile,
            frames,
            sums: &mut self.sums,
            max: &mut self.part.max,
            bad: &mut self.bad,
        });
        self.part.frames += frames.len();
    }

    /// Whether the next piece of work goes on with these sums: exact ones do not depend on their
    /// order.
    pub(crate) fn goes_on(&self, next: Option<&Work>) -> bool {
        T::MAX.is_some() && next.is_some_and(|w| self.part.frames > 0 && w.tile == self.part.tile)
    }

    fn finish(&mut self) {
        flush::<T>(&mut self.sums, &mut self.part.totals);
        let bad = (0..).zip(&self.bad);
        let bad = bad.filter(|b| *b.1 > 0).map(|(i, n)| (i, *n));
        self.part.non_finite.extend(bad);
    }
}

fn flush<T: Stored>(sums: &mut [T::Part], totals: &mut [Total]) {
    for (sum, total) in sums.iter_mut().zip(totals) {
        T::add(std::mem::take(sum), total);
    }
}

fn zeroed<V: Clone + Default>(values: &mut Vec<V>, len: usize) {
    values.clear();
    values.resize(len, V::default());
}

/// Frames to add with the registers that the processor has. (A closure would not be inlined into
/// the function that has its features.)
struct AddFrames<'a, T: Stored> {
    tile: &'a Tile,
    frames: &'a [Frame<'a>],
    sums: &'a mut [T::Part],
    max: &'a mut Vec<T>,
    bad: &'a mut [u64],
}

impl<T: Stored> WithSimd for AddFrames<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self {
            tile,
            frames,
            sums,
            max,
            bad,
        } = self;
        let [rows, cols] = tile.shape;
        let first = max.is_empty();
        if first {
            max.resize(rows * cols, T::default());
        }
        // Strips of neighbours, over all frames while they are in cache: of the whole tile where its
        // rows follow each other, else of one row.
        let dense = tile.strides == [cols, 1];
        let (lines, length) = if dense {
            (1, rows * cols)
        } else {
            (rows, cols)
        };
        for line in 0..lines {
            for from in (0..length).step_by(STRIP) {
                let len = STRIP.min(length - from);
                let here = line * cols + from..line * cols + from + len;
                let start = line * tile.strides[0] + from * tile.strides[1];
                for (n, frame) in frames.iter().enumerate() {
                    add_strip(
                        &frame.data[start * T::BYTES..],
                        tile.strides[1],
                        &mut sums[here.clone()],
                        &mut max[here.clone()],
                        first && n == 0,
                    );
                    if T::MAX.is_none() {
                        let bad = bad[here.clone()].iter_mut().enumerate();
                        for (i, bad) in bad {
                            let at = (start + i * tile.strides[1]) * T::BYTES;
                            let value = T::decode(&frame.data[at..at + T::BYTES]);
                            *bad += u64::from(!value.finite());
                        }
                    }
                }
            }
        }
    }
}

/// Pixels of a strip.
const STRIP: usize = 1024;

/// Adds one strip of one frame.
#[inline(always)]
fn add_strip<T: Stored>(
    data: &[u8],
    stride: usize,
    sums: &mut [T::Part],
    max: &mut [T],
    first: bool,
) {
    // The negated comparison also replaces a NaN that came first.
    let larger = |value: T, max: T| if first || value > max { value } else { max };
    if stride == 1 {
        let samples = data[..sums.len() * T::BYTES].chunks_exact(T::BYTES);
        for ((sum, max), bytes) in sums.iter_mut().zip(max).zip(samples) {
            let value = T::decode(bytes);
            *sum += value.part();
            *max = larger(value, *max);
        }
    } else {
        for (i, (sum, max)) in sums.iter_mut().zip(max).enumerate() {
            let at = i * stride * T::BYTES;
            let value = T::decode(&data[at..at + T::BYTES]);
            *sum += value.part();
            *max = larger(value, *max);
        }
    }
}
