//! A checksum of all samples as decoded: their sum, the largest, and their SHA-256.

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use ssb_core::Control;

use crate::IoError;
use crate::codec::Scratch;
use crate::error::Fault;
use crate::frames::{Stack, Work};
use crate::sample_type::Stored;

/// Bytes of frames that are put in order at a time.
const BAND_BYTES: usize = 32 << 20;

/// A sum of samples: exact for integers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CountsSum {
    /// Of integer samples.
    Integer(i128),
    /// Of float samples, added in float64 in C order.
    Real(f64),
}

impl std::fmt::Display for CountsSum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integer(n) => n.fmt(f),
            Self::Real(x) => x.fmt(f),
        }
    }
}

/// What `inspect --counts` tells of the decoded array: masked pixels as stored, the detector
/// before its transforms.
#[derive(Debug, Clone, PartialEq)]
pub struct Counts {
    /// The sum of all samples.
    pub counts_sum: CountsSum,
    /// The largest sample.
    pub max_count: f64,
    /// SHA-256 of the 4-D array in C order, little-endian, as lower-case hexadecimal digits.
    pub sha256_le: String,
}

/// Sums and hashes all used frames in the order of the scan.
///
/// # Errors
/// Cancelled, a chunk that does not read, or [`IoError::NonFinite`] counting NaN and infinities.
pub(crate) fn counts<T: Stored>(stack: &Stack, control: &Control) -> Result<Counts, IoError> {
    let [rows, cols] = stack.det_shape();
    let pixels = rows * cols;
    let frame_bytes = pixels * T::BYTES;
    let [scan_rows, scan_cols] = stack.scan().shape;
    let positions = scan_rows * scan_cols;
    // First and last position of each piece of work.
    let spans: Vec<[usize; 2]> = stack
        .work()
        .par_iter()
        .map(|work| {
            let blocks = stack.blocks(work);
            let all = || blocks.iter().flat_map(|b| b.1.iter().map(|f| f.position));
            [all().min().unwrap_or(usize::MAX), all().max().unwrap_or(0)]
        })
        .collect();
    let band_frames = (BAND_BYTES / frame_bytes.max(1)).clamp(1, positions.max(1));
    let mut hash = Sha256::new();
    let mut tally = Tally::default();
    let mut band = Vec::new();
    let mut first = 0;
    while first < positions {
        control.check()?;
        // End the band where a piece of work ends, if one ends inside it.
        let limit = (first + band_frames).min(positions);
        let ends = spans
            .iter()
            .filter(|s| s[0] != usize::MAX)
            .map(|s| s[1] + 1);
        let end = ends
            .filter(|e| *e > first && *e <= limit)
            .max()
            .unwrap_or(limit);
        let mut order: Vec<(&Work, &[usize; 2])> = stack
            .work()
            .iter()
            .zip(&spans)
            .filter(|(_, s)| s[0] < end && s[1] >= first)
            .collect();
        order.sort_by_key(|w| w.1[0]);
        let parts: Vec<Vec<(usize, Vec<u8>)>> = order
            .par_iter()
            .map_init(Scratch::default, |scratch, (work, _)| {
                control.check()?;
                frames_of::<T>(stack, work, first..end, scratch)
            })
            .collect::<Result<_, IoError>>()?;
        band.clear();
        band.resize((end - first) * frame_bytes, 0);
        for ((work, _), frames) in order.iter().zip(&parts) {
            let tile = &stack.tiles()[work.tile];
            let run = tile.shape[1] * T::BYTES;
            for (position, values) in frames {
                let frame = &mut band[(position - first) * frame_bytes..][..frame_bytes];
                for (row, line) in values.chunks_exact(run).enumerate() {
                    let at = (tile.start[0] + row) * cols + tile.start[1];
                    frame[at * T::BYTES..][..run].copy_from_slice(line);
                }
            }
        }
        hash.update(&band);
        tally.add::<T>(&band, first * pixels);
        first = end;
        control.report("counts", first as u64, positions as u64);
    }
    if let Some(element) = tally.first_non_finite {
        let [row, col] = stack.place(element / pixels);
        let [k, l] = [element % pixels / cols, element % cols];
        let array = &stack.pieces()[0].array;
        return Err(IoError::NonFinite(
            Fault::of(array.file().path())
                .object(array.object())
                .expected("finite values")
                .found(format!(
                    "{} values that are NaN or infinity, the first in frame ({row}, {col}) at detector \
                     pixel ({k}, {l})",
                    tally.non_finite
                ))
                .action("repair the data; outside the bright-field disk they do no harm"),
        ));
    }
    Ok(Counts {
        counts_sum: if T::MAX.is_some() {
            CountsSum::Integer(tally.integer)
        } else {
            CountsSum::Real(tally.real)
        },
        max_count: tally.max,
        sha256_le: hash.finalize().iter().map(|b| format!("{b:02x}")).collect(),
    })
}

/// The used frames of a piece of work with a position in `band`, each a dense tile.
fn frames_of<T: Stored>(
    stack: &Stack,
    work: &Work,
    band: std::ops::Range<usize>,
    scratch: &mut Scratch,
) -> Result<Vec<(usize, Vec<u8>)>, IoError> {
    let tile = &stack.tiles()[work.tile];
    let [rows, cols] = tile.shape;
    let mut out = Vec::new();
    for (at, frames) in stack.blocks(work) {
        if !frames.iter().any(|f| band.contains(&f.position)) {
            continue;
        }
        stack.read(work, &at, &frames, scratch)?;
        for frame in frames.iter().filter(|f| band.contains(&f.position)) {
            let mut values = Vec::with_capacity(rows * cols * T::BYTES);
            for row in 0..rows {
                for col in 0..cols {
                    let [down, right] = tile.strides;
                    let from = (frame.offset + row * down + col * right) * T::BYTES;
                    if right == 1 {
                        values.extend_from_slice(&scratch.chunk[from..from + cols * T::BYTES]);
                        break;
                    }
                    values.extend_from_slice(&scratch.chunk[from..from + T::BYTES]);
                }
            }
            out.push((frame.position, values));
        }
    }
    Ok(out)
}

#[derive(Default)]
struct Tally {
    integer: i128,
    real: f64,
    max: f64,
    any: bool,
    non_finite: u64,
    first_non_finite: Option<usize>,
}

impl Tally {
    fn add<T: Stored>(&mut self, bytes: &[u8], before: usize) {
        if T::MAX.is_some() {
            // Integers of at most 32 bits: a band's sum fits 64 bits, and float64 holds the largest.
            let values = bytes.chunks_exact(T::BYTES).map(T::decode);
            let (mut sum, mut max) = (0_i64, T::decode(&bytes[..T::BYTES]));
            for value in values {
                sum += value.to_f64() as i64;
                max = if value > max { value } else { max };
            }
            self.integer += i128::from(sum);
            self.raise(max.to_f64());
            return;
        }
        for (i, value) in bytes.chunks_exact(T::BYTES).map(T::decode).enumerate() {
            if value.finite() {
                self.real += value.to_f64();
                self.raise(value.to_f64());
            } else {
                self.non_finite += 1;
                self.first_non_finite.get_or_insert(before + i);
            }
        }
    }

    fn raise(&mut self, value: f64) {
        self.max = if self.any { self.max.max(value) } else { value };
        self.any = true;
    }
}
