//! A detector's own format: `CNT1`, four 32-bit numbers (scan rows, scan columns, detector rows, detector columns), the
//! scan step in Å as a 64-bit float, then the counts of all frames, 16 bits each; everything little-endian.

use ssb_core::Sourced;

use super::{Candidate, Format, Found};
use crate::IoError;
use crate::error::Fault;
use crate::frames::Piece;
use crate::options::OpenOptions;
use crate::sample_type::{SampleKind, SampleType};
use crate::stored_array::{Place, StoredArray};

const HEADER_BYTES: usize = 28;

pub(super) const FORMAT: Format = Format {
    name: "CNT1",
    probe: |candidate| candidate.head.starts_with(b"CNT1"),
    open,
};

fn open(candidate: &Candidate, options: &OpenOptions) -> Result<Found, IoError> {
    candidate.no_dataset(options, "a CNT1 file, which holds one array")?;
    let file = &candidate.file;
    let head = file.head(HEADER_BYTES)?;
    let fault = || Fault::of(file.path()).action("copy the file again");
    let Some((shape, step)) = header(&head) else {
        return Err(IoError::Truncated(
            fault()
                .expected(format!("a header of {HEADER_BYTES} bytes"))
                .found(format!("{} bytes", head.len())),
        ));
    };
    // A number of bytes that no file can have is a wrong one, too.
    let wanted = (shape.iter()).fold(2_u64, |bytes, n| bytes.saturating_mul(*n as u64));
    let counts = file.len() - HEADER_BYTES as u64;
    if counts != wanted {
        return Err(IoError::Truncated(
            fault()
                .expected(format!("{wanted} bytes of counts for the shape {shape:?}"))
                .found(format!("{counts}")),
        ));
    }
    let sample = SampleType {
        kind: SampleKind::U16,
        big_endian: false,
    };
    let place = Place::Contiguous {
        address: HEADER_BYTES as u64,
    };
    let array = StoredArray::new(file.clone(), "", sample, shape.to_vec(), place)?;
    let mut found = Found::new("cnt1", "", vec![Piece::whole(array)]);
    found.stored_scan = Some([shape[0], shape[1]]);
    found.calibration.scan_step_a = Some(Sourced::new([step; 2], "file:header"));
    Ok(found)
}

/// Shape and scan step, when the header is whole.
fn header(head: &[u8]) -> Option<([usize; 4], f64)> {
    let word = |i: usize| Some(u32::from_le_bytes(*head.get(4 * i..)?.first_chunk()?) as usize);
    let shape = [word(1)?, word(2)?, word(3)?, word(4)?];
    let step = f64::from_le_bytes(*head.get(20..)?.first_chunk()?);
    Some((shape, step))
}
