//! A file that is read at given offsets, from any thread, without a shared position.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::IoError;

/// An open file with its length.
#[derive(Debug)]
pub(crate) struct PositionedFile {
    path: PathBuf,
    file: File,
    len: u64,
}

impl PositionedFile {
    /// Opens a regular file.
    pub(crate) fn open(path: &Path) -> Result<Self, IoError> {
        let open = || -> io::Result<(File, u64)> {
            let file = File::open(path)?;
            let len = file.metadata()?.len();
            Ok((file, len))
        };
        let (file, len) = open().map_err(|error| IoError::system(path, &error))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            len,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes in the file when it was opened.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Fills `out` from `offset`.
    pub(crate) fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        read_exact_at(&self.file, offset, out)
    }

    /// The bytes from `offset` on, at most `len` of them.
    pub(crate) fn head(&self, len: usize) -> Result<Vec<u8>, IoError> {
        let mut out = vec![0; usize::try_from(self.len).unwrap_or(len).min(len)];
        self.read_at(0, &mut out)
            .map_err(|error| IoError::system(&self.path, &error))?;
        Ok(out)
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, offset: u64, out: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut offset: u64, mut out: &mut [u8]) -> io::Result<()> {
    while !out.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, out, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => {
                out = &mut out[n..];
                offset += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

impl hdf5_reader::Storage for PositionedFile {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_range(
        &self,
        offset: u64,
        len: usize,
    ) -> hdf5_reader::error::Result<hdf5_reader::StorageBuffer> {
        let available = self.len.saturating_sub(offset);
        if available < len as u64 {
            return Err(hdf5_reader::error::Error::UnexpectedEof {
                offset,
                needed: len as u64,
                available,
            });
        }
        let mut out = vec![0; len];
        self.read_at(offset, &mut out)?;
        Ok(hdf5_reader::StorageBuffer::from_vec(out))
    }
}
