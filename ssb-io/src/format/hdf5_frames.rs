//! The frames behind an HDF5 dataset: its own, or those of the files a virtual dataset maps in.

use crate::IoError;
use crate::error::Fault;
use crate::frames::Piece;
use crate::hdf5::{Dataset, Mapping, Object, mappings};

/// The frames of a dataset of 3 or 4 axes (beyond leading axes of length 1).
pub(crate) struct Frames {
    pub(crate) pieces: Vec<Piece>,
    /// Scan `(rows, cols)` of 4-D data.
    pub(crate) stored_scan: Option<[usize; 2]>,
}

/// The number of axes that count: leading ones of length 1 beyond 4 axes are dropped.
pub(crate) fn rank(shape: &[usize]) -> usize {
    let extra = shape.len().saturating_sub(4);
    shape.len() - shape[..extra].iter().take_while(|n| **n == 1).count()
}

/// Resolves a dataset: every source there, every filter known, every chunk inside its file.
///
/// # Errors
/// What [`Dataset::array`] reports; [`IoError::No4dData`] for another number of axes;
/// [`IoError::ZeroSize`]; for a virtual dataset [`IoError::MissingExternalFile`] and
/// [`IoError::UnsupportedLayout`].
pub(crate) fn frames_of(dataset: &Dataset) -> Result<Frames, IoError> {
    let object = dataset.object();
    let shape = dataset.shape();
    check_shape(object, &shape)?;
    let n = shape.len();
    let pieces = if dataset.is_virtual() {
        virtual_pieces(dataset, &shape)?
    } else {
        vec![Piece::whole(dataset.array()?)]
    };
    Ok(Frames {
        pieces,
        stored_scan: (rank(&shape) == 4).then(|| [shape[n - 4], shape[n - 3]]),
    })
}

/// Three or four axes, none of length 0.
pub(crate) fn check_shape(object: &Object, shape: &[usize]) -> Result<(), IoError> {
    if !matches!(rank(shape), 3 | 4) {
        return Err(IoError::No4dData(
            object
                .fault()
                .expected("a dataset of 3 or 4 axes")
                .found(format!("{} with shape {}", object.path(), tuple(shape)))
                .action("name another dataset with --dataset"),
        ));
    }
    if shape.contains(&0) {
        let frames: usize = shape[..shape.len() - 2].iter().product();
        return Err(IoError::ZeroSize(
            object
                .fault()
                .expected("at least one frame with at least one pixel")
                .found(format!("{frames} frames in shape {}", tuple(shape)))
                .action("check that the acquisition was written"),
        ));
    }
    Ok(())
}

/// A shape as Python writes it.
pub(crate) fn tuple(shape: &[usize]) -> String {
    let items: Vec<String> = shape.iter().map(usize::to_string).collect();
    format!("({})", items.join(", "))
}

fn virtual_pieces(dataset: &Dataset, shape: &[usize]) -> Result<Vec<Piece>, IoError> {
    let object = dataset.object();
    let mut parts: Vec<(usize, Piece)> = mappings(object)?
        .iter()
        .map(|mapping| part(dataset, shape, mapping))
        .collect::<Result<_, _>>()?;
    parts.sort_by_key(|p| p.0);
    let mut next = 0;
    for (start, piece) in &parts {
        if *start != next {
            return Err(gap(object, next, *start));
        }
        next += piece.frames;
    }
    let all: usize = shape[..shape.len() - 2].iter().product();
    if next != all {
        return Err(gap(object, next, all));
    }
    Ok(parts.into_iter().map(|p| p.1).collect())
}

fn gap(object: &Object, from: usize, to: usize) -> IoError {
    IoError::UnsupportedLayout(
        object
            .fault()
            .expected("a source for every frame of the virtual dataset, once")
            .found(format!("frames {from} to {to} with no source or with two"))
            .action("complete the virtual dataset"),
    )
}

/// First frame and source of one mapping.
fn part(dataset: &Dataset, shape: &[usize], mapping: &Mapping) -> Result<(usize, Piece), IoError> {
    let object = dataset.object();
    let unsupported = |found: String| {
        IoError::UnsupportedLayout(
            object
                .fault()
                .expected("mappings of whole frames")
                .found(found)
                .action("rewrite it as a plain dataset"),
        )
    };
    let container = object.container();
    let path = container.linked_path(&mapping.file).map_err(|missing| {
        IoError::MissingExternalFile(
            object
                .fault()
                .expected(format!("the source file {}", missing.display()))
                .found(format!(
                    "no such file (the virtual dataset says `{}`)",
                    mapping.file
                ))
                .action("put the source files beside the master"),
        )
    })?;
    let source = container
        .open_linked(&path)?
        .root()?
        .find(&mapping.dataset)?
        .as_ref()
        .and_then(Dataset::of)
        .ok_or_else(|| {
            IoError::MissingExternalFile(
                Fault::of(&path)
                    .object(&mapping.dataset)
                    .expected("the source dataset of a virtual dataset")
                    .found("no such dataset")
                    .action("check the source file"),
            )
        })?;
    if source.is_virtual() {
        return Err(unsupported(format!(
            "a virtual dataset as source: {}",
            mapping.dataset
        )));
    }
    let array = source.array()?;
    let same_detector =
        array.shape().len() >= 2 && array.shape().ends_with(&shape[shape.len() - 2..]);
    if !same_detector || source.sample()?.kind != dataset.sample()?.kind {
        return Err(IoError::InconsistentFrames(
            Fault::of(&path)
                .object(&mapping.dataset)
                .expected(format!(
                    "{} frames of {}",
                    dataset.sample()?.kind.dtype(),
                    tuple(&shape[shape.len() - 2..])
                ))
                .found(format!(
                    "{} in shape {}",
                    source.sample()?.kind.dtype(),
                    tuple(array.shape())
                ))
                .action("check the source files"),
        ));
    }
    if array.shape().len() < 3 || rank(array.shape()) > 4 {
        return Err(unsupported(format!(
            "a source of shape {}",
            tuple(array.shape())
        )));
    }
    let run = |shape: &[usize], region: &Option<Vec<(usize, usize)>>| {
        frame_run(shape, region.as_deref())
            .ok_or_else(|| unsupported(format!("the region {region:?} of shape {}", tuple(shape))))
    };
    let (start, frames) = run(shape, &mapping.target)?;
    let (skip, available) = run(array.shape(), &mapping.source)?;
    if frames != available {
        return Err(unsupported(format!(
            "{available} frames mapped onto {frames}"
        )));
    }
    let piece = Piece {
        skip,
        frames,
        ..Piece::whole(array)
    };
    Ok((start, piece))
}

/// First frame and number of frames of a box that holds whole frames in a row; `None` otherwise.
fn frame_run(shape: &[usize], region: Option<&[(usize, usize)]>) -> Option<(usize, usize)> {
    let (axes, detector) = shape.split_at(shape.len() - 2);
    let Some(region) = region else {
        return Some((0, axes.iter().product()));
    };
    if region.len() != shape.len() {
        return None;
    }
    let inside = region
        .iter()
        .zip(shape)
        .all(|((s, n), extent)| s + n <= *extent);
    let (frames, pixels) = region.split_at(axes.len());
    if !inside || !pixels.iter().zip(detector).all(|(p, n)| *p == (0, *n)) {
        return None;
    }
    // Beyond the first axis with more than one index, all must be whole.
    let partial = frames.iter().position(|f| f.1 != 1).unwrap_or(frames.len());
    let whole = frames
        .iter()
        .zip(axes)
        .skip(partial + 1)
        .all(|(f, n)| *f == (0, *n));
    whole.then(|| {
        let start = frames.iter().zip(axes).fold(0, |at, (f, n)| at * n + f.0);
        (start, frames.iter().map(|f| f.1).product())
    })
}
