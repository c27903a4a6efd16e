//! The bitshuffle filter 32008, alone, with LZ4 or with Zstandard (`formats.md` section 3.2).

use super::bit_transpose::untranspose;
use super::lz4;
use super::zstd::Zstd;

/// What follows the bit transposition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    /// Nothing: no header either.
    None,
    /// One LZ4 block per bitshuffle block.
    Lz4,
    /// One Zstandard frame per bitshuffle block.
    Zstd,
}

/// Parameters of the filter, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bitshuffle {
    element: usize,
    /// Elements a block; 0 means the default.
    block: usize,
    packing: Packing,
}

/// 8192 bytes, in whole groups of 8 elements, at least 128 elements.
fn default_block(element: usize) -> usize {
    (8192 / element / 8 * 8).max(128)
}

impl Bitshuffle {
    /// From the filter's client data; an error is the text for the message.
    pub(crate) fn new(client_data: &[u32], sample_bytes: usize) -> Result<Self, String> {
        let at = |i: usize| client_data.get(i).copied().unwrap_or(0) as usize;
        let element = match at(2) {
            0 => sample_bytes,
            n => n,
        };
        let packing = match at(4) {
            0 => Packing::None,
            2 => Packing::Lz4,
            3 => Packing::Zstd,
            n => return Err(format!("bitshuffle with unknown packing {n}")),
        };
        let block = at(3);
        if element > 64 || !block.is_multiple_of(8) {
            return Err(format!(
                "bitshuffle of {element}-byte elements in blocks of {block}"
            ));
        }
        Ok(Self {
            element,
            block,
            packing,
        })
    }

    /// Decodes a chunk; `out` must be filled exactly.
    pub(crate) fn decode(
        &self,
        input: &[u8],
        out: &mut [u8],
        scratch: &mut Vec<u8>,
        zstd: &mut Zstd,
    ) -> Result<(), String> {
        let element = self.element;
        if !out.len().is_multiple_of(element) {
            return Err(format!(
                "the chunk of {} bytes is no whole number of {element}-byte elements",
                out.len()
            ));
        }
        let (block, mut rest) = match self.packing {
            Packing::None => (self.block, input),
            Packing::Lz4 | Packing::Zstd => self.header(input, out.len())?,
        };
        let block = match block {
            0 => default_block(element),
            n => n,
        };
        let whole = out.len() / element / 8 * 8 * element;
        let (blocks, leftover) = out.split_at_mut(whole);
        let block_bytes = block.saturating_mul(element).min(whole.max(1));
        scratch.resize(block_bytes + lz4::SLACK, 0);
        for target in blocks.chunks_mut(block_bytes) {
            rest = match self.packing {
                Packing::None => {
                    let (planes, after) = split(rest, target.len())?;
                    untranspose(planes, element, target);
                    after
                }
                Packing::Lz4 | Packing::Zstd => {
                    let (length, after) =
                        lz4::split_u32(rest).ok_or("a block length is cut short")?;
                    let (packed, following) = split(after, length as usize)?;
                    if self.packing == Packing::Zstd {
                        zstd.decode(packed, &mut scratch[..target.len()])?;
                    } else {
                        lz4::decode_within(after, packed.len(), scratch, target.len())?;
                    }
                    untranspose(&scratch[..target.len()], element, target);
                    following
                }
            };
        }
        let (plain, _) = split(rest, leftover.len())?;
        leftover.copy_from_slice(plain);
        Ok(())
    }

    /// The 12-byte header, compared with the chunk: elements a block, and what follows.
    fn header<'a>(&self, input: &'a [u8], chunk: usize) -> Result<(usize, &'a [u8]), String> {
        let short = "the bitshuffle header is cut short";
        let (total, rest) = lz4::split_u64(input).ok_or(short)?;
        let (block, rest) = lz4::split_u32(rest).ok_or(short)?;
        let block = block as usize;
        if total != chunk as u64 {
            return Err(format!(
                "the bitshuffle header says {total} bytes, the chunk has {chunk}"
            ));
        }
        if !block.is_multiple_of(8 * self.element) {
            return Err(format!(
                "the bitshuffle block of {block} bytes is no whole number of groups of 8 elements"
            ));
        }
        Ok((block / self.element, rest))
    }
}

fn split(bytes: &[u8], at: usize) -> Result<(&[u8], &[u8]), String> {
    bytes
        .split_at_checked(at)
        .ok_or_else(|| "a block runs past the end of the chunk".into())
}
