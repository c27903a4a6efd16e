//! The chunks of a dataset, whatever index they are kept in, checked against the file.

use hdf5_reader::btree_v1::{BTreeV1Key, collect_btree_v1_leaves_storage};
use hdf5_reader::chunk_index::{
    ChunkEntry, collect_implicit_chunk_entries, collect_v2_chunk_entries_storage,
    single_chunk_entry,
};
use hdf5_reader::error::{Error, Result as ParseResult};
use hdf5_reader::extensible_array::collect_extensible_array_chunk_entries_storage;
use hdf5_reader::fixed_array::collect_fixed_array_chunk_entries_storage;
use hdf5_reader::io::Cursor;
use hdf5_reader::messages::layout::ChunkIndexing;

use super::Dataset;
use crate::IoError;
use crate::codec::Pipeline;
use crate::stored_array::{ChunkAt, Chunks};

/// Blocks of a grid for each one written, beyond the first million.
const MAX_SPARSENESS: u64 = 1024;

impl Dataset {
    /// The chunks of a chunked layout, every one inside the file.
    pub(super) fn chunks(
        &self,
        address: u64,
        dims: &[u32],
        indexing: Option<&ChunkIndexing>,
        bytes: usize,
        pipeline: Pipeline,
    ) -> Result<Chunks, IoError> {
        let object = &self.object;
        let rank = self.space.dims.len();
        // Newer layouts list the element size as a last axis.
        let dims = if dims.len() == rank + 1 {
            &dims[..rank]
        } else {
            dims
        };
        let bad = |found: String| {
            IoError::BadHeader(
                object
                    .fault()
                    .expected("chunks that fit the dataset")
                    .found(found)
                    .action("copy the file again"),
            )
        };
        let chunk_bytes = dims
            .iter()
            .try_fold(bytes as u64, |n, d| n.checked_mul(u64::from(*d)))
            .filter(|n| *n <= u64::from(u32::MAX));
        if dims.len() != rank || dims.contains(&0) || chunk_bytes.is_none() {
            return Err(bad(format!("a chunk shape of {dims:?}")));
        }
        let chunk_bytes = chunk_bytes.unwrap_or(0);
        self.check_size(chunk_bytes, &format!("a chunk shape of {dims:?}"))?;
        let (offset_size, _) = object.container.widths();
        let mut chunks = Chunks {
            shape: dims.iter().map(|d| *d as usize).collect(),
            index: Vec::new(),
            pipeline,
            fill: self.fill.clone(),
            files: None,
        };
        let grid = self.space.dims.iter().zip(dims);
        let blocks = grid.fold(1_u64, |n, (extent, d)| {
            n.saturating_mul(extent.div_ceil(u64::from(*d)))
        });
        let sparse = |written: usize| {
            if blocks > (1 << 20) + MAX_SPARSENESS.saturating_mul(written as u64) {
                return Err(bad(format!("{written} of {blocks} chunks written")));
            }
            Ok(())
        };
        if Cursor::is_undefined_offset(address, offset_size) {
            sparse(0)?;
            return Ok(chunks);
        }
        let entries = self
            .entries(address, dims, indexing, bytes)
            .map_err(|error| object.error(&error))?;
        let len = object.container.file().len();
        let unfiltered = chunks.pipeline.is_empty();
        chunks.index.reserve(entries.len());
        for entry in entries {
            if entry.offsets.len() < rank {
                return Err(bad("a chunk without a place".into()));
            }
            let at: Vec<u64> = entry.offsets[..rank]
                .iter()
                .zip(dims)
                .map(|(o, d)| o / u64::from(*d))
                .collect();
            let inside = entry
                .offsets
                .iter()
                .zip(&self.space.dims)
                .all(|(o, n)| o < n);
            if !inside || Cursor::is_undefined_offset(entry.address, offset_size) {
                continue;
            }
            let size = if unfiltered || entry.size == 0 {
                chunk_bytes
            } else {
                entry.size
            };
            let address = entry.address.saturating_add(object.container.base());
            let end = address.saturating_add(size);
            if end > len {
                return Err(IoError::Truncated(
                    object
                        .fault()
                        .expected(format!("{end} bytes, to hold the chunk at {at:?}"))
                        .found(format!("{len} bytes: the file is truncated"))
                        .action("copy the file again"),
                ));
            }
            let number =
                at.iter()
                    .zip(&self.space.dims)
                    .zip(dims)
                    .fold(0_u64, |n, ((at, extent), d)| {
                        n.saturating_mul(extent.div_ceil(u64::from(*d)))
                            .saturating_add(*at)
                    });
            chunks.index.push((
                number,
                ChunkAt {
                    address,
                    size,
                    mask: entry.filter_mask,
                },
            ));
        }
        sparse(chunks.index.len())?;
        chunks.index.sort_unstable_by_key(|c| c.0);
        if let Some(pair) = chunks.index.windows(2).find(|p| p[0].0 == p[1].0) {
            return Err(bad(format!("chunk number {} twice", pair[0].0)));
        }
        Ok(chunks)
    }

    fn entries(
        &self,
        address: u64,
        dims: &[u32],
        indexing: Option<&ChunkIndexing>,
        bytes: usize,
    ) -> ParseResult<Vec<ChunkEntry>> {
        let container = &self.object.container;
        let storage = container.storage();
        let (offset_size, length_size) = container.widths();
        let shape = &self.space.dims;
        let rank = shape.len();
        match indexing {
            None => collect_btree_v1_leaves_storage(
                storage,
                address,
                offset_size,
                length_size,
                Some(rank as u32),
                dims,
                None,
            )?
            .into_iter()
            .map(|(key, address)| match key {
                BTreeV1Key::RawData {
                    chunk_size,
                    filter_mask,
                    offsets,
                } => Ok(ChunkEntry {
                    address,
                    size: u64::from(chunk_size),
                    filter_mask,
                    offsets,
                }),
                BTreeV1Key::Group { .. } => {
                    Err(Error::InvalidData("a group key in a chunk index".into()))
                }
            })
            .collect(),
            Some(ChunkIndexing::SingleChunk {
                filtered_size,
                filters,
            }) => Ok(vec![single_chunk_entry(
                address,
                *filtered_size,
                *filters,
                rank,
            )]),
            Some(ChunkIndexing::BTreeV2) => collect_v2_chunk_entries_storage(
                storage,
                address,
                offset_size,
                length_size,
                rank as u32,
                dims,
                None,
            ),
            Some(ChunkIndexing::Implicit) => collect_implicit_chunk_entries(
                address,
                shape,
                dims,
                bytes,
                None,
                container.file().len(),
            ),
            Some(ChunkIndexing::FixedArray { .. }) => collect_fixed_array_chunk_entries_storage(
                storage,
                address,
                offset_size,
                length_size,
                shape,
                dims,
                None,
            ),
            Some(ChunkIndexing::ExtensibleArray { .. }) => {
                collect_extensible_array_chunk_entries_storage(
                    storage,
                    address,
                    offset_size,
                    length_size,
                    shape,
                    self.space.max_dims.as_deref(),
                    dims,
                    None,
                )
            }
        }
    }
}
