//! Blosc chunks of both generations: the HDF5 filter 32001, Zarr compressors, and the chunks
//! inside Blosc2 frames.
//!
//! A chunk is a header of 16 bytes (32 with the filter list of Blosc2), the starts of its blocks,
//! and the blocks; a block is one compressed stream, or one for each byte of an element. Source:
//! Blosc's descriptions of its chunk format.

use std::io::Read;

use super::bit_transpose::untranspose;
use super::zstd::Zstd;
use super::{blosclz, lz4, unshuffle};

const SHUFFLED: u8 = 1;
const STORED: u8 = 2;
const BIT_SHUFFLED: u8 = 4;
const DELTA: u8 = 8;
const WHOLE_BLOCKS: u8 = 16;

/// Streams below this length are not split by the first generation.
const MIN_SPLIT: usize = 128;
/// Elements above this width are not split by the first generation.
const MAX_SPLIT: usize = 16;

/// What was done to a block before it was compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Shuffle,
    BitShuffle,
}

/// A parsed header.
struct Header {
    version: u8,
    flags: u8,
    element: usize,
    total: usize,
    block: usize,
    /// Bytes of the header.
    len: usize,
    /// In the order of writing.
    steps: Vec<Step>,
    /// 0 none, 1 and 4 zeros, 2 NaN, 3 one repeated value.
    special: u8,
}

fn word(bytes: &[u8], at: usize) -> Option<usize> {
    let word = bytes.get(at..at.checked_add(4)?)?.first_chunk::<4>()?;
    usize::try_from(i32::from_le_bytes(*word)).ok()
}

fn header(input: &[u8]) -> Result<Header, String> {
    let short = "the Blosc header is cut short or holds a negative size";
    let head = input.first_chunk::<16>().ok_or(short)?;
    let [version, _, flags, element, ..] = *head;
    let (total, block, stored) = (
        word(input, 4).ok_or(short)?,
        word(input, 8).ok_or(short)?,
        word(input, 12).ok_or(short)?,
    );
    if stored > input.len() {
        return Err(format!(
            "the Blosc chunk says {stored} bytes, {} are there",
            input.len()
        ));
    }
    let mut header = Header {
        version,
        flags,
        element: usize::from(element).max(1),
        total,
        block,
        len: 16,
        steps: Vec::new(),
        special: 0,
    };
    if flags & (SHUFFLED | BIT_SHUFFLED) == SHUFFLED | BIT_SHUFFLED {
        let more = input.get(16..32).ok_or(short)?;
        header.len = 32;
        for code in &more[..6] {
            match code {
                0 | 4 => {}
                1 => header.steps.push(Step::Shuffle),
                2 => header.steps.push(Step::BitShuffle),
                3 => return Err("Blosc's delta filter is not decoded".into()),
                other => return Err(format!("Blosc filter {other} is not decoded")),
            }
        }
        let blosc2 = more[15];
        if blosc2 & 1 != 0 {
            return Err("a Blosc dictionary is not decoded".into());
        }
        header.special = blosc2 >> 4 & 7;
    } else {
        if flags & DELTA != 0 {
            return Err("Blosc's delta filter is not decoded".into());
        }
        if flags & SHUFFLED != 0 && header.element > 1 {
            header.steps.push(Step::Shuffle);
        }
        if flags & BIT_SHUFFLED != 0 {
            header.steps.push(Step::BitShuffle);
        }
    }
    Ok(header)
}

/// The decoded size that a chunk states.
pub(crate) fn decoded_len(input: &[u8]) -> Result<usize, String> {
    Ok(header(input)?.total)
}

/// Decodes a chunk; `out` must be filled exactly.
pub(crate) fn decode(
    input: &[u8],
    out: &mut [u8],
    scratch: &mut [Vec<u8>; 2],
    zstd: &mut Zstd,
) -> Result<(), String> {
    let header = header(input)?;
    if header.total != out.len() {
        return Err(format!(
            "the Blosc chunk decodes to {} bytes, not {}",
            header.total,
            out.len()
        ));
    }
    match header.special {
        0 => {}
        1 | 4 => {
            out.fill(0);
            return Ok(());
        }
        3 => {
            let value = input.get(header.len..header.len + header.element);
            let value = value.ok_or("the repeated value of a Blosc chunk is cut short")?;
            for element in out.chunks_mut(header.element) {
                element.copy_from_slice(&value[..element.len()]);
            }
            return Ok(());
        }
        other => return Err(format!("a Blosc chunk of special kind {other}")),
    }
    if out.is_empty() {
        return Ok(());
    }
    if header.flags & STORED != 0 {
        let plain = input.get(header.len..header.len + out.len());
        out.copy_from_slice(plain.ok_or("a stored Blosc chunk is cut short")?);
        return Ok(());
    }
    if header.block == 0 {
        return Err("a Blosc block of 0 bytes".into());
    }
    let block = header.block.min(out.len());
    for (number, target) in out.chunks_mut(block).enumerate() {
        let start = header.len + 4 * number;
        let start = word(input, start).ok_or("a Blosc block start is cut short")?;
        let streams = input
            .get(start..)
            .ok_or("a Blosc block starts behind its chunk")?;
        one_block(&header, streams, target, scratch, zstd)?;
    }
    Ok(())
}

fn one_block(
    header: &Header,
    mut input: &[u8],
    target: &mut [u8],
    scratch: &mut [Vec<u8>; 2],
    zstd: &mut Zstd,
) -> Result<(), String> {
    let element = header.element;
    let second = header.len == 32;
    let whole = target.len() == header.block;
    // The first generation splits by a rule, the second says so.
    let may_split = second || (element <= MAX_SPLIT && header.block / element >= MIN_SPLIT);
    let split = header.flags & WHOLE_BLOCKS == 0 && whole && may_split;
    let streams = if split { element } else { 1 };
    if !target.len().is_multiple_of(streams) {
        return Err("a Blosc block is no whole number of elements".into());
    }
    let [first, other] = scratch;
    first.resize(target.len(), 0);
    for stream in first.chunks_mut(target.len() / streams) {
        let size = input
            .first_chunk::<4>()
            .ok_or("the size of a Blosc stream is cut short")?;
        let size = i32::from_le_bytes(*size);
        input = &input[4..];
        let Ok(size) = usize::try_from(size) else {
            // A run of one byte, which is the negated size.
            let (token, after) = input.split_first().ok_or("a Blosc run is cut short")?;
            let value = u8::try_from(size.unsigned_abs()).ok().filter(|_| second);
            match value {
                Some(value) if token & 1 == 1 => stream.fill(value),
                _ => return Err("a Blosc stream of negative size".into()),
            }
            input = after;
            continue;
        };
        if size == 0 && second {
            stream.fill(0);
            continue;
        }
        let packed = input
            .get(..size)
            .ok_or("a Blosc stream runs past the end of its chunk")?;
        input = &input[size..];
        if size == stream.len() {
            stream.copy_from_slice(packed);
        } else {
            unpack(header.flags >> 5, packed, stream, zstd)?;
        }
    }
    for step in header.steps.iter().rev() {
        other.resize(first.len(), 0);
        match step {
            Step::Shuffle => unshuffle(first, element, other),
            Step::BitShuffle => bit_unshuffle(header, first, other),
        }
        std::mem::swap(first, other);
    }
    target.copy_from_slice(first);
    Ok(())
}

fn bit_unshuffle(header: &Header, input: &[u8], out: &mut [u8]) {
    let element = header.element;
    let elements = input.len() / element;
    // The first generation leaves a block alone when it is no whole number of groups.
    let groups = if header.version <= 2 && !elements.is_multiple_of(8) {
        0
    } else {
        elements / 8
    };
    let bytes = 8 * groups * element;
    untranspose(&input[..bytes], element, &mut out[..bytes]);
    out[bytes..].copy_from_slice(&input[bytes..]);
}

fn unpack(codec: u8, packed: &[u8], out: &mut [u8], zstd: &mut Zstd) -> Result<(), String> {
    match codec {
        0 => blosclz::decode(packed, out),
        1 => lz4::decode_block(packed, out),
        3 => {
            let mut stream = flate2::read::ZlibDecoder::new(packed);
            stream
                .read_exact(out)
                .map_err(|error| format!("deflate in Blosc: {error}"))
        }
        4 => zstd.decode(packed, out),
        2 => Err("Blosc with Snappy is not decoded".into()),
        other => Err(format!("Blosc codec {other} is not decoded")),
    }
}
