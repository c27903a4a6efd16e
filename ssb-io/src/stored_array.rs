//! One array in one file, as blocks that are read and decoded on their own.
//!
//! HDF5 chunks are blocks; contiguous data are cut into blocks of about 1 MiB along their slowest
//! axes, so that both are read the same way.

use std::sync::Arc;

use crate::IoError;
use crate::codec::{Pipeline, Scratch};
use crate::error::Fault;
use crate::positioned_file::PositionedFile;
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
}

impl Chunks {
    /// Data of which nothing was written.
    pub(crate) fn unwritten(shape: &[usize], fill: &[u8], bytes: usize) -> Self {
        Self {
            shape: block_shape(shape, bytes),
            index: Vec::new(),
            pipeline: Pipeline::default(),
            fill: fill.to_vec(),
        }
    }
}

/// Where the samples are.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    Contiguous { address: u64 },
    Inline(Vec<u8>),
    Chunks(Chunks),
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
                    Ok(i) => self.decode(chunks, chunks.index[i].1, len, scratch)?,
                    Err(_) => fill(&chunks.fill, self.element, len, scratch),
                }
            }
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
        len: usize,
        scratch: &mut Scratch,
    ) -> Result<(), BlockError> {
        // The size was compared with the file when the chunks were listed.
        scratch.raw.resize(chunk.size as usize, 0);
        self.file
            .read_at(chunk.address, &mut scratch.raw)
            .map_err(BlockError::System)?;
        chunks
            .pipeline
            .decode(scratch, chunk.mask, len)
            .map_err(|reason| BlockError::Corrupt {
                address: chunk.address,
                reason,
            })
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

    /// The whole array in C order, for masks and calibration axes.
    ///
    /// # Errors
    /// [`IoError::OutOfMemory`] above `limit` bytes, or a chunk that does not read.
    pub(crate) fn read_all(&self, limit: usize) -> Result<Vec<u8>, IoError> {
        let elements: usize = self.shape.iter().product();
        let bytes = elements.saturating_mul(self.element);
        if bytes > limit {
            return Err(IoError::OutOfMemory(
                Fault::of(self.file.path())
                    .object(&self.object)
                    .expected(format!("at most {limit} bytes"))
                    .found(format!("{bytes} bytes"))
                    .action("check the dataset"),
            ));
        }
        let mut out = vec![0; bytes];
        let strides = self.strides();
        let mut scratch = Scratch::default();
        for at in Grid::new(&self.grid()) {
            self.read_block(&at, &mut scratch)
                .map_err(|error| self.failure(&error, &format!("chunk {at:?}")))?;
            // Runs along the fastest axis.
            let mut extents: Vec<usize> = (0..at.len())
                .map(|d| (self.shape[d] - at[d] * self.block[d]).min(self.block[d]))
                .collect();
            let run = extents.last_mut().map_or(1, |n| std::mem::replace(n, 1)) * self.element;
            for inner in Grid::new(&extents) {
                let mut to = 0;
                let mut from = 0;
                for d in 0..inner.len() {
                    to = to * self.shape[d] + at[d] * self.block[d] + inner[d];
                    from += inner[d] * strides[d];
                }
                let (to, from) = (to * self.element, from * self.element);
                out[to..to + run].copy_from_slice(&scratch.chunk[from..from + run]);
            }
        }
        Ok(out)
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

/// Every place of a grid in C order.
pub(crate) struct Grid {
    extents: Vec<usize>,
    next: Option<Vec<usize>>,
}

impl Grid {
    pub(crate) fn new(extents: &[usize]) -> Self {
        Self {
            next: (!extents.contains(&0)).then(|| vec![0; extents.len()]),
            extents: extents.to_vec(),
        }
    }
}

impl Iterator for Grid {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        let here = self.next.take()?;
        let mut following = here.clone();
        for d in (0..following.len()).rev() {
            following[d] += 1;
            if following[d] < self.extents[d] {
                self.next = Some(following);
                break;
            }
            following[d] = 0;
        }
        Some(here)
    }
}
