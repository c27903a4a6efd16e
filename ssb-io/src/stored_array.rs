//! One array in one file, as blocks that are read and decoded on their own.
//!
//! HDF5 chunks are blocks; contiguous data are cut into blocks of about 1 MiB along their slowest
//! axes, so that both are read the same way.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use crate::IoError;
use crate::codec::{Pipeline, Scratch};
use crate::error::Fault;
use crate::positioned_file::PositionedFile;
use crate::records::Records;
use crate::sample_type::{SampleType, swap_bytes};

/// Aim for the bytes of a block of contiguous data.
const BLOCK_BYTES: usize = 1 << 20;

/// Where a stored chunk is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChunkAt {
    pub(crate) address: u64,
    pub(crate) size: u64,
    /// Filters skipped when it was written.
    pub(crate) mask: u32,
}

/// The chunks of a chunked dataset.
#[derive(Debug, Clone)]
pub(crate) struct Chunks {
    pub(crate) shape: Vec<usize>,
    /// Written chunks by their number in C order of the grid, sorted.
    pub(crate) index: Vec<(u64, ChunkAt)>,
    pub(crate) pipeline: Pipeline,
    /// One element as stored; empty means 0.
    pub(crate) fill: Vec<u8>,
    /// Where chunks are files of their own.
    pub(crate) files: Option<ChunkFiles>,
}

/// Chunks that are files in a folder, named by their place in the grid.
#[derive(Debug, Clone)]
pub(crate) struct ChunkFiles {
    pub(crate) folder: PathBuf,
    pub(crate) separator: char,
}

impl ChunkFiles {
    /// The name of a chunk, below the folder.
    pub(crate) fn key(at: &[usize], separator: char) -> String {
        let parts: Vec<String> = at.iter().map(usize::to_string).collect();
        parts.join(&separator.to_string())
    }
}

impl Chunks {
    /// Data of which nothing was written.
    pub(crate) fn unwritten(shape: &[usize], fill: &[u8], bytes: usize) -> Self {
        Self {
            shape: block_shape(shape, bytes),
            index: Vec::new(),
            pipeline: Pipeline::default(),
            fill: fill.to_vec(),
            files: None,
        }
    }
}

/// Where the samples are.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    Contiguous {
        address: u64,
    },
    Inline(Vec<u8>),
    Chunks(Chunks),
    /// Along the first axis.
    Records(Records),
}

/// An array of samples in a file, in C order of its stored axes.
#[derive(Debug, Clone)]
pub(crate) struct StoredArray {
    file: Arc<PositionedFile>,
    /// Path inside the file, for messages.
    object: String,
    sample: SampleType,
    element: usize,
    shape: Vec<usize>,
    block: Vec<usize>,
    place: Place,
}

/// The largest block of whole fastest axes within the aimed size.
fn block_shape(shape: &[usize], bytes: usize) -> Vec<usize> {
    let mut inner = bytes.max(1);
    let mut block = vec![1; shape.len()];
    for (extent, size) in shape.iter().zip(&mut block).rev() {
        *size = (BLOCK_BYTES / inner).clamp(1, (*extent).max(1));
        if *size < *extent {
            break;
        }
        inner = inner.saturating_mul(*extent);
    }
    block
}

impl StoredArray {
    pub(crate) fn new(
        file: Arc<PositionedFile>,
        object: &str,
        sample: SampleType,
        shape: Vec<usize>,
        place: Place,
    ) -> Result<Self, IoError> {
        let element = sample.kind.bytes();
        let block = match &place {
            Place::Chunks(chunks) => chunks.shape.clone(),
            Place::Records(records) => {
                let mut block = shape.clone();
                let aim = BLOCK_BYTES as u64 / records.stride.max(1);
                if let Some(count) = block.first_mut() {
                    *count = (aim as usize).clamp(1, (*count).max(1));
                }
                block
            }
            _ => block_shape(&shape, element),
        };
        Ok(Self {
            file,
            object: object.to_owned(),
            sample,
            element,
            shape,
            block,
            place,
        })
    }

    /// The same bytes as elements of another width.
    pub(crate) fn with_element(mut self, bytes: usize) -> Self {
        self.element = bytes;
        if !matches!(self.place, Place::Chunks(_)) {
            self.block = block_shape(&self.shape, bytes);
        }
        self
    }

    /// Bytes of one element.
    pub(crate) fn element(&self) -> usize {
        self.element
    }

    pub(crate) fn object(&self) -> &str {
        &self.object
    }

    pub(crate) fn file(&self) -> &PositionedFile {
        &self.file
    }

    pub(crate) fn sample(&self) -> SampleType {
        self.sample
    }

    pub(crate) fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Where contiguous data begin.
    pub(crate) fn contiguous(&self) -> Option<u64> {
        match self.place {
            Place::Contiguous { address } => Some(address),
            _ => None,
        }
    }

    /// Shape of a block; blocks at the far edges may be cut.
    pub(crate) fn block(&self) -> &[usize] {
        &self.block
    }

    /// Blocks along each axis.
    pub(crate) fn grid(&self) -> Vec<usize> {
        self.shape
            .iter()
            .zip(&self.block)
            .map(|(n, b)| n.div_ceil(*b))
            .collect()
    }

    /// Elements between neighbours along each axis, inside a decoded block.
    pub(crate) fn strides(&self) -> Vec<usize> {
        let mut stride = 1;
        let mut strides: Vec<usize> = self
            .block
            .iter()
            .rev()
            .map(|n| {
                let here = stride;
                stride *= n;
                here
            })
            .collect();
        strides.reverse();
        strides
    }

    /// Chunks of the grid that were never written, and all chunks.
    pub(crate) fn unwritten(&self) -> (u64, u64) {
        match &self.place {
            Place::Chunks(chunks) => {
                let all = self
                    .grid()
                    .iter()
                    .fold(1_u64, |n, d| n.saturating_mul(*d as u64));
                (all.saturating_sub(chunks.index.len() as u64), all)
            }
            _ => (0, 0),
        }
    }

    /// Reads and decodes the block at a place of the grid into `scratch.chunk`, little-endian.
    ///
    /// # Errors
    /// A read failure or a text about the chunk, for [`StoredArray::corrupt`].
    pub(crate) fn read_block(&self, at: &[usize], scratch: &mut Scratch) -> Result<(), BlockError> {
        match &self.place {
            Place::Contiguous { address } => {
                let (offset, len) = self.span(at);
                scratch.chunk.resize(len, 0);
                self.file
                    .read_at(address + offset as u64, &mut scratch.chunk)
                    .map_err(BlockError::System)?;
            }
            Place::Inline(data) => {
                let (offset, len) = self.span(at);
                scratch.chunk.clear();
                scratch.chunk.extend_from_slice(&data[offset..offset + len]);
            }
            Place::Chunks(chunks) => {
                let len = self.block.iter().product::<usize>() * self.element;
                let number = at
                    .iter()
                    .zip(self.grid())
                    .fold(0, |n, (i, d)| n * d as u64 + *i as u64);
                match chunks.index.binary_search_by_key(&number, |c| c.0) {
                    Ok(i) => self.decode(chunks, chunks.index[i].1, at, len, scratch)?,
                    Err(_) => fill(&chunks.fill, self.element, len, scratch),
                }
            }
            Place::Records(records) => self.read_records(records, at, scratch)?,
        }
        if self.sample.big_endian {
            swap_bytes(&mut scratch.chunk, self.element);
        }
        Ok(())
    }

    fn decode(
        &self,
        chunks: &Chunks,
        chunk: ChunkAt,
        at: &[usize],
        len: usize,
        scratch: &mut Scratch,
    ) -> Result<(), BlockError> {
        // The size was compared with the file when the chunks were listed.
        scratch.raw.resize(chunk.size as usize, 0);
        match &chunks.files {
            None => self.file.read_at(chunk.address, &mut scratch.raw),
            Some(files) => {
                let name = ChunkFiles::key(at, files.separator);
                std::fs::File::open(files.folder.join(name))
                    .and_then(|mut file| file.read_exact(&mut scratch.raw))
            }
        }
        .map_err(BlockError::System)?;
        chunks
            .pipeline
            .decode(scratch, chunk.mask, len)
            .map_err(|reason| BlockError::Corrupt {
                address: chunk.address,
                reason,
            })
    }

    /// Images at equal distances, each checked by its header.
    fn read_records(
        &self,
        records: &Records,
        at: &[usize],
        scratch: &mut Scratch,
    ) -> Result<(), BlockError> {
        let first = at[0] * self.block[0];
        let count = (self.shape[0] - first).min(self.block[0]);
        let pixels: usize = self.shape[1..].iter().product();
        let stored = records.packing.stored(pixels as u64, self.element as u64) as usize;
        let before = records.header.as_ref().map_or(0, |h| h.len);
        let stride = records.stride as usize;
        let address = records.address + first as u64 * records.stride - before as u64;
        scratch
            .raw
            .resize((count - 1) * stride + before + stored, 0);
        self.file
            .read_at(address, &mut scratch.raw)
            .map_err(BlockError::System)?;
        scratch.chunk.resize(count * pixels * self.element, 0);
        let images = scratch.chunk.chunks_exact_mut(pixels * self.element);
        for (number, image) in images.enumerate() {
            let record = &scratch.raw[number * stride..];
            let (header, record) = record.split_at(before);
            if let Some(expected) = &records.header {
                expected
                    .check(header)
                    .map_err(|reason| BlockError::Corrupt {
                        address: address + (number * stride) as u64,
                        reason: format!("record {}: {reason}", first + number),
                    })?;
            }
            records.packing.unpack(&record[..stored], image);
        }
        Ok(())
    }

    /// Offset and length in bytes of a block of contiguous data.
    fn span(&self, at: &[usize]) -> (usize, usize) {
        let mut stride = self.element;
        let (mut offset, mut len) = (0, self.element);
        for ((extent, block), i) in self.shape.iter().zip(&self.block).zip(at).rev() {
            offset += i * block * stride;
            len *= (extent - i * block).min(*block);
            stride *= extent;
        }
        (offset, len)
    }

    /// The error for a block that did not read; `what` names the chunk and its frame.
    pub(crate) fn failure(&self, error: &BlockError, what: &str) -> IoError {
        match error {
            BlockError::System(error) => IoError::system(self.file.path(), error),
            BlockError::Corrupt { address, reason } => IoError::CorruptChunk(
                Fault::of(self.file.path())
                    .object(&self.object)
                    .expected(format!("{what} at byte {address} to decode"))
                    .found(reason.clone())
                    .action("copy the file again"),
            ),
        }
    }
}

/// Why a block did not read.
#[derive(Debug)]
pub(crate) enum BlockError {
    System(std::io::Error),
    Corrupt { address: u64, reason: String },
}

/// A chunk that was never written.
fn fill(value: &[u8], element: usize, len: usize, scratch: &mut Scratch) {
    scratch.chunk.clear();
    scratch.chunk.resize(len, 0);
    if value.len() == element && value.iter().any(|b| *b != 0) {
        for sample in scratch.chunk.chunks_exact_mut(element) {
            sample.copy_from_slice(value);
        }
    }
}
