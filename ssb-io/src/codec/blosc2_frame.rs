//! Blosc2 frames: the HDF5 filter 32026, which stores one frame with one Blosc chunk for each HDF5
//! chunk, often cut into blocks along every axis (the `b2nd` layer). Source: Blosc2's descriptions
//! of its contiguous frame and of the b2nd layer.

use super::blosc;
use super::zstd::Zstd;
use crate::grid::Grid;

/// Places in the header: its own length, and the sizes that it states.
const HEADER_LEN: usize = 11;
const CONTENT_LEN: usize = 30;
const STORED_LEN: usize = 39;

fn be(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let word = bytes.get(at..at.checked_add(width)?)?;
    Some(word.iter().fold(0, |n, b| n << 8 | u64::from(*b)))
}

/// Shape of the stored chunk and of its blocks.
#[derive(Debug, PartialEq, Eq)]
struct Layer {
    shape: Vec<usize>,
    chunk: Vec<usize>,
    block: Vec<usize>,
}

/// Decodes a frame that holds one chunk; `out` must be filled exactly.
pub(crate) fn decode(
    input: &[u8],
    out: &mut [u8],
    scratch: &mut [Vec<u8>; 2],
    zstd: &mut Zstd,
) -> Result<(), String> {
    let short = "the Blosc2 frame is cut short";
    if input.get(2..9) != Some(b"b2frame") {
        return Err("no Blosc2 frame".into());
    }
    let header_len = be(input, HEADER_LEN, 4).ok_or(short)? as usize;
    let header = input.get(..header_len).ok_or(short)?;
    let content = be(input, CONTENT_LEN, 8).ok_or(short)?;
    if be(input, STORED_LEN, 8).ok_or(short)? == 0 {
        // No chunk at all: the frame holds zeros.
        if content < out.len() as u64 {
            return Err(format!(
                "the Blosc2 frame holds {content} bytes, the chunk {}",
                out.len()
            ));
        }
        let index = input.get(header_len..).ok_or(short)?;
        let mut offset = [0; 8];
        blosc::decode(index, &mut offset, scratch, zstd)?;
        return match offset[7] {
            0x81 | 0x84 => {
                out.fill(0);
                Ok(())
            }
            other => Err(format!("a Blosc2 frame of special kind {other:#x}")),
        };
    }
    let chunk = input.get(header_len..).ok_or(short)?;
    let stored = blosc::decoded_len(chunk)?;
    let layer = layer(header)?;
    let Some(layer) = layer.filter(|l| l.needs_moving()) else {
        return blosc::decode(chunk, out, scratch, zstd);
    };
    let element = layer.check(stored, out.len())?;
    let mut blocks = Vec::new();
    blocks
        .try_reserve_exact(stored)
        .map_err(|_| format!("a chunk of {stored} bytes does not fit into memory"))?;
    blocks.resize(stored, 0);
    blosc::decode(chunk, &mut blocks, scratch, zstd)?;
    layer.put_in_order(&blocks, element, out);
    Ok(())
}

/// The `b2nd` layer of a frame, if it has one.
fn layer(header: &[u8]) -> Result<Option<Layer>, String> {
    let key = b"\xa4b2nd\xd2";
    let Some(at) = header.windows(key.len()).position(|w| w == key) else {
        return Ok(None);
    };
    let bad = "the b2nd layer of a Blosc2 frame does not parse";
    let start = be(header, at + key.len(), 4).ok_or(bad)? as usize;
    // A byte string with a 32-bit length; then an array: version, axes, three shapes.
    let content = header.get(start + 5..).ok_or(bad)?;
    if header[start] != 0xc6 || content.len() < 3 || content[0] & 0xf0 != 0x90 {
        return Err(bad.into());
    }
    let axes = usize::from(content[2]);
    if axes == 0 || axes > 8 {
        return Err(bad.into());
    }
    let mut at = 3;
    let mut shape = |marker: u8, width: usize| -> Result<Vec<usize>, String> {
        if content.get(at).copied() != Some(0x90 | axes as u8) {
            return Err(bad.into());
        }
        at += 1;
        (0..axes)
            .map(|_| {
                let value = be(content, at + 1, width).filter(|_| content[at] == marker);
                at += 1 + width;
                let value = value.filter(|v| *v > 0 && *v <= 1 << 31);
                value.map(|v| v as usize).ok_or_else(|| bad.to_owned())
            })
            .collect()
    };
    Ok(Some(Layer {
        shape: shape(0xd3, 8)?,
        chunk: shape(0xd2, 4)?,
        block: shape(0xd2, 4)?,
    }))
}

impl Layer {
    /// Whether the blocks are not simply runs of the chunk.
    fn needs_moving(&self) -> bool {
        let partial = self.block.iter().position(|b| *b != 1);
        let tail = partial.map_or(self.block.len(), |p| p + 1);
        let whole = self.block[tail..] == self.chunk[tail..];
        !whole || self.padded() != self.chunk
    }

    /// The chunk in whole blocks.
    fn padded(&self) -> Vec<usize> {
        let pairs = self.chunk.iter().zip(&self.block);
        pairs.map(|(c, b)| c.next_multiple_of(*b)).collect()
    }

    /// Bytes of an element, when the sizes fit each other.
    fn check(&self, stored: usize, wanted: usize) -> Result<usize, String> {
        let product = |shape: &[usize]| {
            shape
                .iter()
                .try_fold(1_usize, |n, d| n.checked_mul(*d))
                .unwrap_or(usize::MAX)
        };
        let chunk = product(&self.chunk);
        let element = wanted / chunk.max(1);
        let fits = element > 0
            && element.checked_mul(chunk) == Some(wanted)
            && product(&self.padded()).checked_mul(element) == Some(stored);
        fits.then_some(element).ok_or_else(|| {
            format!(
                "a Blosc2 chunk of {:?} in blocks of {:?} ({stored} bytes) for {wanted} bytes",
                self.chunk, self.block
            )
        })
    }

    fn put_in_order(&self, blocks: &[u8], element: usize, out: &mut [u8]) {
        let padded = self.padded();
        let pairs = padded.iter().zip(&self.block);
        let grid: Vec<usize> = pairs.map(|(p, b)| p / b).collect();
        let block_bytes = self.block.iter().product::<usize>() * element;
        let last = self.block.len() - 1;
        let mut lines = self.block.clone();
        lines[last] = 1;
        for (at, block) in Grid::new(&grid).zip(blocks.chunks_exact(block_bytes)) {
            for (inner, line) in
                Grid::new(&lines).zip(block.chunks_exact(self.block[last] * element))
            {
                let place: Vec<usize> = (0..=last)
                    .map(|d| at[d] * self.block[d] + inner[d])
                    .collect();
                if place.iter().zip(&self.chunk).any(|(p, n)| p >= n) {
                    continue;
                }
                let run = (self.chunk[last] - place[last]).min(self.block[last]) * element;
                let to = place
                    .iter()
                    .zip(&self.chunk)
                    .fold(0, |n, (p, extent)| n * extent + p)
                    * element;
                out[to..to + run].copy_from_slice(&line[..run]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_along_every_axis_are_put_in_order() {
        let layer = Layer {
            shape: vec![3, 5],
            chunk: vec![3, 5],
            block: vec![2, 3],
        };
        assert!(layer.needs_moving());
        // A padded chunk of 4 x 6: value 10 row + col, in blocks.
        let mut blocks = Vec::new();
        for (r0, c0) in [(0, 0), (0, 3), (2, 0), (2, 3)] {
            for r in 0..2 {
                for c in 0..3 {
                    blocks.push((10 * (r0 + r) + c0 + c) as u8);
                }
            }
        }
        let mut out = [0; 15];
        assert_eq!(layer.check(24, 15), Ok(1));
        layer.put_in_order(&blocks, 1, &mut out);
        let expected: Vec<u8> = (0..3)
            .flat_map(|r| (0..5).map(move |c| 10 * r + c))
            .collect();
        assert_eq!(out.to_vec(), expected);
        let rows = Layer {
            block: vec![1, 5],
            ..layer
        };
        assert!(!rows.needs_moving());
    }
}
