//! The members of a zip file and where their bytes are, for containers that are zip files.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::ops::Range;
use std::path::Path;

use zip::{CompressionMethod, ZipArchive};

use crate::IoError;
use crate::error::Fault;
use crate::positioned_file::PositionedFile;

/// Members by name.
pub(crate) type Members = HashMap<String, Member>;

/// The largest member that is read whole (descriptions, never data).
const MAX_TEXT: u64 = 64 << 20;

/// One member.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member {
    start: u64,
    bytes: u64,
    /// Stored as it is; compressed members are not read.
    stored: bool,
}

/// Whether a file starts as zip files do.
pub(super) fn is_zip(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")
}

/// Lists a zip file; of members with one name the last counts.
///
/// # Errors
/// [`IoError::Truncated`] or [`IoError::BadHeader`] when the list does not read.
pub(super) fn list(path: &Path) -> Result<Members, IoError> {
    let bad = |error: zip::result::ZipError| {
        let fault = Fault::of(path)
            .expected("a zip file with its list of members at the end")
            .found(error.to_string())
            .action("copy the file again");
        match error {
            zip::result::ZipError::Io(error) => IoError::system(path, &error),
            _ => IoError::Truncated(fault),
        }
    };
    let file = File::open(path).map_err(|error| IoError::system(path, &error))?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(bad)?;
    let mut members = Members::new();
    for index in 0..archive.len() {
        let member = archive.by_index_raw(index).map_err(bad)?;
        let name = String::from_utf8_lossy(member.name_raw()).into_owned();
        let (Some(start), stored) = (
            member.data_start(),
            member.compression() == CompressionMethod::Stored,
        ) else {
            continue;
        };
        members.insert(
            name,
            Member {
                start,
                bytes: member.compressed_size(),
                stored,
            },
        );
    }
    Ok(members)
}

/// The error for a member that should be there.
pub(super) fn absent(path: &Path, name: &str) -> IoError {
    IoError::BadHeader(
        Fault::of(path)
            .object(name)
            .expected("a member of this name in the zip file")
            .found("none")
            .action("copy the file again"),
    )
}

impl Member {
    /// Where the bytes are.
    ///
    /// # Errors
    /// [`IoError::UnsupportedLayout`] for a compressed member, [`IoError::Truncated`] for a file that ends too
    /// early.
    pub(super) fn range(&self, file: &PositionedFile, name: &str) -> Result<Range<u64>, IoError> {
        let fault = || Fault::of(file.path()).object(name);
        if !self.stored {
            return Err(IoError::UnsupportedLayout(
                fault()
                    .expected("members that the zip file stores as they are")
                    .found("a member that the zip file compresses")
                    .action("unpack the zip file, or pack it without compression (zip -0)"),
            ));
        }
        let range = self.start..self.start.saturating_add(self.bytes);
        if range.end > file.len() {
            return Err(IoError::Truncated(
                fault()
                    .expected(format!("{} bytes", range.end))
                    .found(format!("{} bytes", file.len()))
                    .action("copy the file again"),
            ));
        }
        Ok(range)
    }

    /// All bytes of a small member.
    ///
    /// # Errors
    /// As [`Member::range`], and [`IoError::BadHeader`] for a member that is too large for a text.
    pub(super) fn read(&self, file: &PositionedFile, name: &str) -> Result<Vec<u8>, IoError> {
        let range = self.range(file, name)?;
        if self.bytes > MAX_TEXT {
            return Err(IoError::BadHeader(
                Fault::of(file.path())
                    .object(name)
                    .expected(format!("a text of at most {MAX_TEXT} bytes"))
                    .found(format!("{} bytes", self.bytes))
                    .action("check that this is the right file"),
            ));
        }
        let mut out = vec![0; self.bytes as usize];
        file.read_at(range.start, &mut out)
            .map_err(|error| IoError::system(file.path(), &error))?;
        Ok(out)
    }
}
