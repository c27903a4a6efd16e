//! Virtual datasets: which part of which file stands where. Source: HDF5 file format
//! specification, "Virtual Dataset Storage" and "Dataspace selections".

use hdf5_reader::io::Cursor;

use super::{Object, value};
use crate::IoError;

/// A box of a dataset: first index and extent along each axis; `None` is all of it.
pub(crate) type Region = Option<Vec<(usize, usize)>>;

/// One part of a virtual dataset.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mapping {
    /// File name as written; `.` is the same file.
    pub(crate) file: String,
    /// Path of the source dataset.
    pub(crate) dataset: String,
    pub(crate) source: Region,
    pub(crate) target: Region,
}

/// The parts of a virtual dataset.
///
/// # Errors
/// [`IoError::UnsupportedLayout`] for selections that are no boxes, [`IoError::BadHeader`].
pub(crate) fn mappings(object: &Object) -> Result<Vec<Mapping>, IoError> {
    let fail = |found: String| {
        IoError::UnsupportedLayout(
            object
                .fault()
                .expected("a virtual dataset made of boxes of other datasets")
                .found(found)
                .action("rewrite it as a plain dataset, or open the source files"),
        )
    };
    let (address, index) = object
        .virtual_heap
        .ok_or_else(|| fail("no mappings".into()))?;
    if index == 0 {
        return Err(fail("no mappings".into()));
    }
    let bytes = value::heap_object(&object.container, address, index)
        .ok_or_else(|| fail("mappings that do not read".into()))?;
    let (_, length_size) = object.container.widths();
    parse(&bytes, length_size).map_err(fail)
}

fn parse(bytes: &[u8], length_size: u8) -> Result<Vec<Mapping>, String> {
    let text = |error: hdf5_reader::error::Error| error.to_string();
    let mut cursor = Cursor::new(bytes);
    let version = cursor.read_u8().map_err(text)?;
    if version != 0 {
        return Err(format!("mappings of version {version}"));
    }
    let count = cursor.read_length(length_size).map_err(text)?;
    let mut found = Vec::new();
    for _ in 0..count {
        found.push(Mapping {
            file: cursor.read_null_terminated_string().map_err(text)?,
            dataset: cursor.read_null_terminated_string().map_err(text)?,
            source: region(&mut cursor)?,
            target: region(&mut cursor)?,
        });
    }
    Ok(found)
}

/// One serialised selection.
fn region(cursor: &mut Cursor<'_>) -> Result<Region, String> {
    const ALL: u32 = 3;
    const HYPERSLAB: u32 = 2;
    let text = |error: hdf5_reader::error::Error| error.to_string();
    let kind = cursor.read_u32_le().map_err(text)?;
    let version = cursor.read_u32_le().map_err(text)?;
    match kind {
        ALL => {
            cursor.skip(8).map_err(text)?;
            return Ok(None);
        }
        HYPERSLAB => {}
        _ => return Err(format!("a selection of kind {kind}")),
    }
    let mut width = 8;
    match version {
        1 => return old_region(cursor).map_err(text)?,
        2 => {
            let regular = cursor.read_u8().map_err(text)? & 1 == 1;
            cursor.skip(4).map_err(text)?;
            if !regular {
                return Err("an irregular selection".into());
            }
        }
        3 => {
            let regular = cursor.read_u8().map_err(text)? & 1 == 1;
            width = usize::from(cursor.read_u8().map_err(text)?);
            if !regular || !matches!(width, 2 | 4 | 8) {
                return Err("an irregular selection".into());
            }
        }
        _ => return Err(format!("a selection of version {version}")),
    }
    let rank = cursor.read_u32_le().map_err(text)?;
    let mut axes = Vec::new();
    for _ in 0..rank {
        let mut next = || cursor.read_uvar(width).map_err(text);
        let (start, stride, count, block) = (next()?, next()?, next()?, next()?);
        let extent = match count {
            1 => Some(block),
            _ if stride == block => count.checked_mul(block),
            _ => {
                return Err(format!(
                    "a selection with stride {stride} and block {block}"
                ));
            }
        };
        let place = usize::try_from(start)
            .ok()
            .zip(extent.and_then(|e| usize::try_from(e).ok()));
        match place.filter(|(start, extent)| start.checked_add(*extent).is_some()) {
            Some(place) => axes.push(place),
            None => return Err("an unlimited selection".into()),
        }
    }
    Ok(Some(axes))
}

/// A selection of version 1: a list of blocks, of which one is a box.
fn old_region(cursor: &mut Cursor<'_>) -> hdf5_reader::error::Result<Result<Region, String>> {
    cursor.skip(8)?;
    let rank = cursor.read_u32_le()? as usize;
    let blocks = cursor.read_u32_le()?;
    if blocks != 1 || rank > 32 {
        return Ok(Err(format!("a selection of {blocks} blocks")));
    }
    let mut corners = Vec::new();
    for _ in 0..2 * rank {
        corners.push(cursor.read_u32_le()? as usize);
    }
    let (first, last) = corners.split_at(rank);
    let axes = first
        .iter()
        .zip(last)
        .map(|(a, b)| b.checked_sub(*a).map(|n| (*a, n + 1)))
        .collect::<Option<Vec<_>>>();
    Ok(axes
        .map(Some)
        .ok_or_else(|| "a selection that ends before it starts".into()))
}
