//! The NPY header. Source: NumPy enhancement proposal 1 and `numpy.lib.format`.

use crate::IoError;
use crate::error::Fault;
use crate::positioned_file::PositionedFile;
use crate::sample_type::{SUPPORTED_TYPES, SampleKind, SampleType};

/// The signature of an NPY file.
pub(crate) const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// The longest header that is read.
const MAX_HEADER: usize = 1 << 20;

/// A parsed header.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Header {
    pub(crate) sample: SampleType,
    pub(crate) fortran: bool,
    pub(crate) shape: Vec<usize>,
    pub(crate) data_start: u64,
}

impl Header {
    /// Reads the header and compares the size of the file with it.
    ///
    /// # Errors
    /// [`IoError::BadHeader`], [`IoError::UnsupportedDtype`], [`IoError::Truncated`].
    pub(crate) fn read(file: &PositionedFile) -> Result<Self, IoError> {
        Self::read_within(file, 0..file.len())
    }

    /// Reads the header of an array that is a part of a file.
    ///
    /// # Errors
    /// As [`Header::read`].
    pub(crate) fn read_within(
        file: &PositionedFile,
        range: std::ops::Range<u64>,
    ) -> Result<Self, IoError> {
        let fault = || Fault::of(file.path());
        let bad = |found: &str| {
            IoError::BadHeader(
                fault()
                    .expected("an NPY header of version 1 to 3")
                    .found(found)
                    .action("save the array again"),
            )
        };
        let system = |error: std::io::Error| IoError::system(file.path(), &error);
        let available = range.end.saturating_sub(range.start);
        let mut head = vec![0; 12.min(available as usize)];
        file.read_at(range.start, &mut head).map_err(system)?;
        let version = match head.strip_prefix(MAGIC) {
            Some([major @ 1..=3, ..]) => *major,
            Some([major, ..]) => return Err(bad(&format!("version {major}"))),
            _ => return Err(bad("no NPY signature")),
        };
        let word = |n: usize| head.get(8..8 + n).ok_or_else(|| bad("a header cut short"));
        let (length, prefix) = if version == 1 {
            let b = word(2)?;
            (usize::from(u16::from_le_bytes([b[0], b[1]])), 10)
        } else {
            let b = word(4)?;
            (u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize, 12)
        };
        if length > MAX_HEADER {
            return Err(bad(&format!("a header of {length} bytes")));
        }
        let data_start = range.start.saturating_add((prefix + length) as u64);
        if data_start > range.end {
            return Err(bad("a header cut short"));
        }
        let mut text = vec![0; length];
        file.read_at(range.start + prefix as u64, &mut text)
            .map_err(system)?;
        let text = String::from_utf8(text).map_err(|_| bad("a header that is no text"))?;
        let descr = value_of(&text, "descr").ok_or_else(|| bad("no `descr`"))?;
        let sample = sample_type(descr).ok_or_else(|| {
            IoError::UnsupportedDtype(
                fault()
                    .expected(format!("samples of type {SUPPORTED_TYPES}"))
                    .found(descr)
                    .action("convert the array"),
            )
        })?;
        let fortran = match value_of(&text, "fortran_order") {
            Some("True") => true,
            Some("False") => false,
            _ => return Err(bad("no `fortran_order`")),
        };
        let shape = value_of(&text, "shape")
            .and_then(shape_of)
            .ok_or_else(|| bad("no `shape`"))?;
        let header = Self {
            sample,
            fortran,
            shape,
            data_start,
        };
        header.check_length(file, range.end)?;
        Ok(header)
    }

    fn check_length(&self, file: &PositionedFile, end: u64) -> Result<(), IoError> {
        let bytes = self
            .shape
            .iter()
            .try_fold(self.sample.kind.bytes() as u64, |n, d| {
                n.checked_mul(*d as u64)
            })
            .and_then(|n| n.checked_add(self.data_start));
        match bytes {
            Some(bytes) if bytes <= end => Ok(()),
            _ => Err(IoError::Truncated(
                Fault::of(file.path())
                    .expected(format!(
                        "{} bytes for shape {:?}",
                        bytes.map_or_else(|| "more than 2^64".into(), |n| n.to_string()),
                        self.shape
                    ))
                    .found(format!("{end} bytes"))
                    .action("copy the file again"),
            )),
        }
    }
}

/// The text of one entry of the header's dictionary, without quotes.
fn value_of<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let after = ['\'', '"']
        .iter()
        .find_map(|q| text.split_once(&format!("{q}{key}{q}")))?
        .1;
    let value = after.trim_start().strip_prefix(':')?.trim_start();
    let quote = value.chars().next()?;
    let end = match quote {
        '\'' | '"' => return value[1..].split(quote).next(),
        '(' => value.find(')')? + 1,
        '[' => value.find(']')? + 1,
        _ => value.find([',', '}'])?,
    };
    Some(value[..end].trim())
}

/// NumPy's type string, e.g. `<u2`.
pub(crate) fn sample_type(descr: &str) -> Option<SampleType> {
    let order = descr.chars().next().filter(char::is_ascii)?;
    let rest = &descr[1..];
    let kind = rest.chars().next().filter(char::is_ascii)?;
    let bytes: usize = rest[1..].parse().ok()?;
    let big_endian = match order {
        '<' | '|' | '=' => false,
        '>' => true,
        _ => return None,
    };
    let kind = match kind {
        'b' | 'u' => SampleKind::of(false, false, bytes)?,
        'i' => SampleKind::of(false, true, bytes)?,
        'f' => SampleKind::of(true, true, bytes)?,
        _ => return None,
    };
    Some(SampleType { kind, big_endian })
}

fn shape_of(text: &str) -> Option<Vec<usize>> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    inner
        .split(',')
        .map(str::trim)
        .filter(|t| !t.is_empty())
        .map(|t| t.trim_end_matches('L').parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_header_parses() {
        let text = "{'descr': '>u2', 'fortran_order': True, 'shape': (3, 4,), }";
        assert_eq!(value_of(text, "descr"), Some(">u2"));
        assert_eq!(value_of(text, "fortran_order"), Some("True"));
        assert_eq!(value_of(text, "shape").and_then(shape_of), Some(vec![3, 4]));
        assert_eq!(shape_of("()"), Some(vec![]));
        assert!(sample_type(">u2").unwrap().big_endian);
        assert_eq!(sample_type("|b1").unwrap().kind, SampleKind::U8);
        for unreadable in ["<c8", "<u8", "", "<", "<f2", "é1"] {
            assert!(sample_type(unreadable).is_none(), "{unreadable}");
        }
    }
}
