//! NPY files: a 4-D array or a stack of frames, nothing else.

use std::path::Path;

use super::hdf5_frames::tuple;
use super::{Candidate, Format, Found};
use crate::IoError;
use crate::error::Fault;
use crate::frames::Piece;
use crate::npy::Header;
use crate::options::OpenOptions;

pub(super) const FORMAT: Format = Format {
    name: "NPY",
    probe: |candidate| candidate.head.starts_with(b"\x93NUMPY"),
    open,
};

fn open(candidate: &Candidate, options: &OpenOptions) -> Result<Found, IoError> {
    let header = Header::read(&candidate.file)?;
    let shape = header.shape.clone();
    let n = shape.len();
    candidate.no_dataset(options, "an NPY file, which holds one array")?;
    check_axes(candidate.path(), "", &shape)?;
    let mut piece = Piece::whole(header.array(candidate.file.clone())?);
    if header.fortran {
        piece.reverse_axes();
    }
    let mut found = Found::new("npy", "", vec![piece]);
    found.stored_scan = (n == 4).then(|| [shape[0], shape[1]]);
    Ok(found)
}

/// Three or four axes, none of length 0.
pub(super) fn check_axes(path: &Path, object: &str, shape: &[usize]) -> Result<(), IoError> {
    if !matches!(shape.len(), 3 | 4) {
        return Err(IoError::No4dData(
            Fault::of(path)
                .object(object)
                .expected("an array of 3 or 4 axes")
                .found(format!("shape {}", tuple(shape)))
                .action("check that this is the right file"),
        ));
    }
    if shape.contains(&0) {
        let frames: usize = shape[..shape.len() - 2].iter().product();
        return Err(IoError::ZeroSize(
            Fault::of(path)
                .object(object)
                .expected("at least one frame with at least one pixel")
                .found(format!("{frames} frames in shape {}", tuple(shape)))
                .action("save the array again"),
        ));
    }
    Ok(())
}
