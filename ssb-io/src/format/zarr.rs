//! Zarr version 2, as a folder or a zip file: HyperSpy's `.zspy`, and any other tree with one array
//! of 4 or 3 axes (`formats.md` section 3.7).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value as Json;

use super::hdf5_frames::rank;
use super::hyperspy::{self, MICROSCOPE};
use super::keys::Keys;
use super::plain;
use super::zarr_store::Store;
use super::{Format, Found};
use crate::IoError;
use crate::codec::Pipeline;
use crate::error::Fault;
use crate::frames::Piece;
use crate::grid::Grid;
use crate::npy::sample_type;
use crate::options::OpenOptions;
use crate::positioned_file::PositionedFile;
use crate::sample_type::{SUPPORTED_TYPES, SampleType};
use crate::stored_array::{ChunkAt, ChunkFiles, Chunks, Place, StoredArray};

pub(super) const FORMAT: Format = Format {
    name: "Zarr (HyperSpy zspy)",
    probe: |candidate| {
        let members = candidate.zip.as_ref();
        members.is_some_and(|m| m.keys().any(|k| k.ends_with(".zarray")))
    },
    open: |candidate, options| {
        let store = Store::Zip(&candidate.file, candidate.zip.as_ref());
        open(&store, options)
    },
};

/// Chunks of an array, at most.
const MAX_CHUNKS: usize = 1 << 22;

/// Opens a folder that is a Zarr tree.
pub(super) fn open_folder(path: &Path, options: &OpenOptions) -> Result<Found, IoError> {
    open(&Store::Folder(path), options)
}

/// An array's `.zarray`.
struct Description {
    /// Path of the array in the tree, without a leading slash.
    path: String,
    shape: Vec<usize>,
    json: Json,
}

fn open(store: &Store<'_>, options: &OpenOptions) -> Result<Found, IoError> {
    let array = choose(store, options)?;
    let (stored, warnings) = stored_array(store, &array)?;
    let hyperspy = array.path.starts_with("Experiments/");
    let layout = if hyperspy { "hyperspy-zspy" } else { "zarr" };
    let shape = array.shape.clone();
    let n = shape.len();
    let mut found = Found::new(
        layout,
        &format!("/{}", array.path),
        vec![Piece::whole(stored)],
    );
    found.warnings = warnings;
    found.stored_scan = (rank(&shape) == 4).then(|| [shape[n - 4], shape[n - 3]]);
    let Some((group, _)) = array.path.rsplit_once('/') else {
        return Ok(found);
    };
    if !hyperspy {
        return Ok(found);
    }
    let keys = |path: &str| {
        let mut keys = Keys::default();
        if let Ok(Some(json)) = store.json(&format!("{path}/.zattrs")) {
            keys.add_json(&json, &format!("/{path}"));
        }
        keys
    };
    let axes: Vec<_> = (n - rank(&shape)..n)
        .map(|number| {
            let path = format!("{group}/axis-{number}");
            (
                number,
                hyperspy::axis(&keys(&path)),
                format!("file:/{path}@scale"),
            )
        })
        .collect();
    hyperspy::take_axes(&axes, &mut found)?;
    hyperspy::take_microscope(&keys(&format!("{group}/{MICROSCOPE}")), &mut found);
    Ok(found)
}

/// The array that the caller names, or the one that fits.
fn choose(store: &Store<'_>, options: &OpenOptions) -> Result<Description, IoError> {
    let fault = || Fault::of(store.path());
    let mut arrays = Vec::new();
    for path in store.arrays()? {
        let json = store.json(&format!("{path}/.zarray"))?;
        let Some(json) = json else { continue };
        let shape = lengths(&json, "shape");
        arrays.push(Description {
            shape: shape.unwrap_or_default(),
            path,
            json,
        });
    }
    if let Some(wanted) = &options.dataset {
        let wanted = wanted.trim_matches('/');
        let found = arrays.into_iter().find(|a| a.path == wanted);
        return found.ok_or_else(|| {
            IoError::BadOption(
                fault()
                    .object(wanted)
                    .expected("an array")
                    .found("no such array")
                    .action("correct --dataset"),
            )
        });
    }
    // The data of HyperSpy's signals, not their learning results.
    let signal = |a: &Description| a.path.ends_with("/data") && a.path.split('/').count() == 3;
    if arrays.iter().any(|a| a.path.starts_with("Experiments/")) {
        arrays.retain(signal);
    }
    for axes in [4, 3] {
        let mut fitting: Vec<Description> =
            arrays.extract_if(.., |a| rank(&a.shape) == axes).collect();
        if fitting.len() > 1 {
            return Err(plain::ambiguous(
                fault(),
                format!("one array of {axes} axes"),
                fitting
                    .iter()
                    .map(|a| (format!("/{}", a.path), a.shape.clone())),
            ));
        }
        if let Some(one) = fitting.pop() {
            return Ok(one);
        }
    }
    Err(IoError::No4dData(
        fault()
            .expected("an array of 3 or 4 axes")
            .found("none")
            .action("check that this is the right file"),
    ))
}

fn lengths(json: &Json, name: &str) -> Option<Vec<usize>> {
    let list = json.get(name)?.as_array()?;
    list.iter()
        .map(|n| usize::try_from(n.as_u64()?).ok())
        .collect()
}

/// The array behind a description, every chunk looked for.
fn stored_array(
    store: &Store<'_>,
    array: &Description,
) -> Result<(StoredArray, Vec<String>), IoError> {
    let object = format!("/{}", array.path);
    let fault = || Fault::of(store.path()).object(&object);
    let json = &array.json;
    let bad = |found: String| {
        IoError::BadHeader(
            fault()
                .expected("a .zarray of Zarr version 2")
                .found(found)
                .action("save the data again"),
        )
    };
    let unsupported = |found: String| {
        IoError::UnsupportedLayout(
            fault()
                .expected("C order, no filters")
                .found(found)
                .action("save the data with other settings"),
        )
    };
    if json.get("order").and_then(Json::as_str) == Some("F") {
        return Err(unsupported("Fortran order".into()));
    }
    if let Some(filters) = json.get("filters").and_then(Json::as_array)
        && !filters.is_empty()
    {
        return Err(unsupported(format!("filters {filters:?}")));
    }
    let dtype = json
        .get("dtype")
        .and_then(Json::as_str)
        .ok_or_else(|| bad("no dtype".into()))?;
    let sample = sample_type(dtype).ok_or_else(|| {
        IoError::UnsupportedDtype(
            fault()
                .expected(format!("samples of type {SUPPORTED_TYPES}"))
                .found(dtype)
                .action("convert the data"),
        )
    })?;
    let bytes = sample.kind.bytes();
    let shape = array.shape.clone();
    super::npy::check_axes(store.path(), &object, &shape)?;
    let chunk = lengths(json, "chunks").filter(|c| c.len() == shape.len() && !c.contains(&0));
    let chunk = chunk.ok_or_else(|| bad("chunks that do not fit the shape".into()))?;
    let chunk_bytes = chunk.iter().try_fold(bytes, |n, d| n.checked_mul(*d));
    let chunk_bytes = chunk_bytes.filter(|n| *n <= u32::MAX as usize);
    let chunk_bytes = chunk_bytes.ok_or_else(|| bad(format!("chunks of {chunk:?}")))?;
    let pipeline = match json.get("compressor") {
        None | Some(Json::Null) => Pipeline::default(),
        Some(compressor) => {
            let id = compressor.get("id").and_then(Json::as_str).unwrap_or("?");
            Pipeline::of_zarr(id, bytes).map_err(|found| {
                IoError::UnsupportedFilter(
                    fault()
                        .expected("the compressor blosc, zstd, zlib or gzip, or none")
                        .found(found)
                        .action("save the data with one of these"),
                )
            })?
        }
    };
    let separator = json.get("dimension_separator").and_then(Json::as_str);
    let separator = separator.and_then(|s| s.chars().next()).unwrap_or('.');
    let grid: Vec<usize> = shape
        .iter()
        .zip(&chunk)
        .map(|(n, c)| n.div_ceil(*c))
        .collect();
    let count = grid.iter().try_fold(1_usize, |n, d| n.checked_mul(*d));
    let count = count.filter(|n| *n <= MAX_CHUNKS);
    count.ok_or_else(|| bad(format!("a grid of {grid:?} chunks")))?;
    let mut index = Vec::new();
    for (number, at) in Grid::new(&grid).enumerate() {
        let key = format!("{}/{}", array.path, ChunkFiles::key(&at, separator));
        if let Some(range) = store.range(&key)? {
            let size = range.end - range.start;
            if pipeline.is_empty() && size != chunk_bytes as u64 {
                return Err(IoError::Truncated(
                    fault()
                        .object(&key)
                        .expected(format!("{chunk_bytes} bytes"))
                        .found(format!("{size} bytes"))
                        .action("copy the file again"),
                ));
            }
            index.push((
                number as u64,
                ChunkAt {
                    address: range.start,
                    size,
                    mask: 0,
                },
            ));
        }
    }
    let (file, files) = match store {
        Store::Zip(file, _) => (Arc::clone(file), None),
        Store::Folder(root) => {
            let folder: PathBuf = root.join(&array.path);
            let file = Arc::new(PositionedFile::open(&folder.join(".zarray"))?);
            (file, Some(ChunkFiles { folder, separator }))
        }
    };
    let chunks = Chunks {
        shape: chunk,
        index,
        pipeline,
        fill: fill(json.get("fill_value"), sample),
        files,
    };
    let stored = StoredArray::new(file, &object, sample, shape, Place::Chunks(chunks))?;
    Ok((stored, Vec::new()))
}

/// One element of the fill value as stored; empty for 0 and for none.
fn fill(value: Option<&Json>, sample: SampleType) -> Vec<u8> {
    use crate::sample_type::SampleKind::{F32, F64};
    let Some(number) = value.and_then(Json::as_f64).filter(|n| *n != 0.0) else {
        return match value.and_then(Json::as_str) {
            Some("NaN") => in_order(f64::NAN, sample),
            Some("Infinity") => in_order(f64::INFINITY, sample),
            Some("-Infinity") => in_order(f64::NEG_INFINITY, sample),
            _ => Vec::new(),
        };
    };
    if matches!(sample.kind, F32 | F64) {
        return in_order(number, sample);
    }
    let mut bytes = (number as i64).to_le_bytes()[..sample.kind.bytes()].to_vec();
    if sample.big_endian {
        bytes.reverse();
    }
    bytes
}

fn in_order(number: f64, sample: SampleType) -> Vec<u8> {
    let mut bytes = match sample.kind.bytes() {
        4 => (number as f32).to_le_bytes().to_vec(),
        8 => number.to_le_bytes().to_vec(),
        _ => Vec::new(),
    };
    if sample.big_endian {
        bytes.reverse();
    }
    bytes
}

/// Whether the candidate is a folder with a Zarr tree.
pub(crate) fn is_tree(folder: &Path) -> bool {
    [".zgroup", ".zarray", ".zmetadata"]
        .iter()
        .any(|name| folder.join(name).is_file())
}
