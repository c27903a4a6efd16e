//! Chunk decoders: the filter pipeline of an HDF5 dataset, applied in reverse.

mod bit_transpose;
#[cfg(target_arch = "x86_64")]
mod bit_transpose_x86;
mod bitshuffle;
mod blosc;
mod blosc2_frame;
mod blosclz;
mod lz4;
mod lzf;
mod zstd;

use std::io::Read;
use std::sync::{Mutex, PoisonError};

use bitshuffle::Bitshuffle;
use hdf5_reader::FilterRegistry;
use hdf5_reader::messages::filter_pipeline::FilterDescription;
use zstd::Zstd;

/// Names of filters, for messages about those that are not decoded.
const NAMES: &[(u16, &str)] = &[
    (1, "deflate"),
    (2, "shuffle"),
    (3, "fletcher32"),
    (4, "szip"),
    (5, "n-bit"),
    (6, "scale-offset"),
    (305, "LZO"),
    (307, "bzip2"),
    (32000, "LZF"),
    (32001, "Blosc"),
    (32004, "LZ4"),
    (32008, "bitshuffle"),
    (32013, "ZFP"),
    (32015, "zstd"),
    (32026, "Blosc2"),
];

/// One filter, known and checked before any chunk is read.
#[derive(Debug, Clone)]
enum Filter {
    Deflate,
    Shuffle,
    Lzf,
    Lz4,
    Bitshuffle(Bitshuffle),
    Zstd,
    Blosc,
    Blosc2,
    /// A gzip stream (Zarr).
    Gzip,
    /// Checked or numeric filters that `hdf5-reader` decodes: fletcher32, szip, n-bit, scale-offset.
    Numeric(FilterDescription),
}

/// The filters of a dataset in the order of writing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pipeline {
    filters: Vec<Filter>,
    element: usize,
}

/// Buffers that a worker keeps between chunks.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// The chunk as stored.
    pub(crate) raw: Vec<u8>,
    /// The chunk decoded.
    pub(crate) chunk: Vec<u8>,
    stage: Vec<u8>,
    tools: Tools,
}

/// Buffers that workers take and give back, as many as work at once.
#[derive(Debug, Default)]
pub(crate) struct Pool<B>(Mutex<Vec<B>>);

impl<B: Default> Pool<B> {
    /// Lends buffers for a piece of work.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut B) -> R) -> R {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut buffers = lock().pop().unwrap_or_default();
        let result = work(&mut buffers);
        lock().push(buffers);
        result
    }
}

/// What the decoders need beside input and output.
#[derive(Debug, Default)]
struct Tools {
    blocks: [Vec<u8>; 2],
    zstd: Zstd,
}

impl Pipeline {
    /// The one compressor of a Zarr array; an error names it.
    pub(crate) fn of_zarr(id: &str, element: usize) -> Result<Self, String> {
        let filter = match id {
            "blosc" => Filter::Blosc,
            "zlib" => Filter::Deflate,
            "gzip" => Filter::Gzip,
            "zstd" => Filter::Zstd,
            other => return Err(format!("the Zarr compressor `{other}`")),
        };
        Ok(Self {
            filters: vec![filter],
            element,
        })
    }

    /// Checks every filter of a dataset; an error names the first that is not decoded.
    pub(crate) fn new(filters: &[FilterDescription], element: usize) -> Result<Self, String> {
        let filters = filters
            .iter()
            .map(|filter| {
                Ok(match filter.id {
                    1 => Filter::Deflate,
                    2 => Filter::Shuffle,
                    3..=6 => Filter::Numeric(filter.clone()),
                    32000 => Filter::Lzf,
                    32001 => Filter::Blosc,
                    32015 => Filter::Zstd,
                    32026 => Filter::Blosc2,
                    32004 => Filter::Lz4,
                    32008 => Filter::Bitshuffle(
                        Bitshuffle::new(&filter.client_data, element)
                            .map_err(|e| format!("filter 32008, {e}"))?,
                    ),
                    id => {
                        let name = NAMES.iter().find(|n| n.0 == id).map(|n| n.1);
                        let name = name.or(filter.name.as_deref()).unwrap_or("unknown");
                        return Err(format!("filter {id} ({name})"));
                    }
                })
            })
            .collect::<Result<_, String>>()?;
        Ok(Self { filters, element })
    }

    /// Whether chunks are stored as they are.
    pub(crate) fn is_empty(&self) -> bool {
        self.filters.is_empty()
    }

    /// Decodes `scratch.raw` into `scratch.chunk`, which then holds `len` bytes. Bit `i` of `mask`
    /// says that filter `i` was skipped when writing.
    pub(crate) fn decode(
        &self,
        scratch: &mut Scratch,
        mask: u32,
        len: usize,
    ) -> Result<(), String> {
        let Scratch {
            raw,
            chunk,
            stage,
            tools,
        } = scratch;
        let used = |i: usize| i >= 32 || mask >> i & 1 == 0;
        let mut applied = false;
        for (_, filter) in self.filters.iter().enumerate().rev().filter(|f| used(f.0)) {
            if applied {
                std::mem::swap(chunk, stage);
            }
            let input: &[u8] = if applied { stage } else { raw };
            filter.decode(input, chunk, len, self.element, tools)?;
            applied = true;
        }
        if !applied {
            std::mem::swap(chunk, raw);
        }
        if chunk.len() == len {
            Ok(())
        } else {
            Err(format!(
                "the chunk decodes to {} bytes, not {len}",
                chunk.len()
            ))
        }
    }
}

/// Gives `out` the length `len` without zeroing what is there.
fn sized(out: &mut Vec<u8>, len: usize) -> Result<&mut [u8], String> {
    if out.len() < len {
        out.try_reserve_exact(len - out.len())
            .map_err(|_| format!("a chunk of {len} bytes does not fit into memory"))?;
    }
    out.resize(len, 0);
    Ok(out)
}

/// Reads a stream to its end, or to `most` bytes: more than expected shows a stream that is too long.
fn inflate(stream: impl Read, most: usize, out: &mut Vec<u8>) -> std::io::Result<usize> {
    out.clear();
    stream.take(most as u64).read_to_end(out)
}

impl Filter {
    fn decode(
        &self,
        input: &[u8],
        out: &mut Vec<u8>,
        len: usize,
        element: usize,
        tools: &mut Tools,
    ) -> Result<(), String> {
        match self {
            Self::Deflate => {
                // A fletcher32 sum below this filter adds 4 bytes.
                let stream = flate2::read::ZlibDecoder::new(input);
                inflate(stream, len + 5, out).map_err(|error| format!("deflate: {error}"))?;
            }
            Self::Shuffle => {
                let out = sized(out, input.len())?;
                unshuffle(input, element, out);
            }
            Self::Lzf => lzf::decode(input, sized(out, len)?)?,
            Self::Lz4 => lz4::decode_chunk(input, sized(out, len)?)?,
            Self::Bitshuffle(filter) => {
                let [block, _] = &mut tools.blocks;
                filter.decode(input, sized(out, len)?, block, &mut tools.zstd)?;
            }
            Self::Zstd => tools.zstd.decode(input, sized(out, len)?)?,
            Self::Blosc => {
                let out = sized(out, len)?;
                blosc::decode(input, out, &mut tools.blocks, &mut tools.zstd)?;
            }
            Self::Blosc2 => {
                let out = sized(out, len)?;
                blosc2_frame::decode(input, out, &mut tools.blocks, &mut tools.zstd)?;
            }
            Self::Gzip => {
                let stream = flate2::read::GzDecoder::new(input);
                inflate(stream, len + 1, out).map_err(|error| format!("gzip: {error}"))?;
            }
            Self::Numeric(filter) => {
                *out = FilterRegistry::new()
                    .apply_with_limit(filter, input, element, Some(len + 4))
                    .map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    }
}

/// Undoes the byte shuffle: byte `b` of element `i` is at `b * n + i`; left-over bytes are plain.
fn unshuffle(input: &[u8], element: usize, out: &mut [u8]) {
    let n = input.len().checked_div(element).unwrap_or(0);
    if element > 1 {
        for (byte, plane) in input[..n * element].chunks_exact(n.max(1)).enumerate() {
            for (i, value) in plane.iter().enumerate() {
                out[i * element + byte] = *value;
            }
        }
        out[n * element..].copy_from_slice(&input[n * element..]);
    } else {
        out.copy_from_slice(input);
    }
}
