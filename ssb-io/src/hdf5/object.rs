//! An open HDF5 file and the objects in it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hdf5_reader::error::Error;
use hdf5_reader::messages::HdfMessage;
use hdf5_reader::object_header::ObjectHeader;
use hdf5_reader::{Hdf5File, OpenOptions};

use super::{parse_error, raw_header};
use crate::IoError;
use crate::error::Fault;
use crate::positioned_file::PositionedFile;

/// Files opened on behalf of one source, so that each is opened once.
type Opened = Arc<Mutex<HashMap<PathBuf, Arc<Container>>>>;

/// An open HDF5 file.
pub(crate) struct Container {
    file: Arc<PositionedFile>,
    hdf5: Hdf5File,
    opened: Opened,
}

/// The first bytes of an HDF5 file, also found at 512, 1024, ... behind a user block.
const SIGNATURE: &[u8; 8] = b"\x89HDF\r\n\x1a\n";

impl Container {
    /// Whether a file carries the HDF5 signature.
    pub(crate) fn is_hdf5(file: &PositionedFile) -> bool {
        let mut head = [0; 8];
        let mut offset = 0;
        while offset + 8 <= file.len() && offset <= 1 << 20 {
            if file.read_at(offset, &mut head).is_ok() && &head == SIGNATURE {
                return true;
            }
            offset = if offset == 0 { 512 } else { 2 * offset };
        }
        false
    }

    /// Opens an HDF5 file and compares its length with the one it was written with.
    pub(crate) fn open(path: &Path) -> Result<Arc<Self>, IoError> {
        Self::open_among(path, Opened::default())
    }

    /// Opens another file that a link of this one names.
    pub(crate) fn open_linked(&self, path: &Path) -> Result<Arc<Self>, IoError> {
        if path == self.path() {
            return Self::open_among(path, Arc::clone(&self.opened));
        }
        let known = self.lock().get(path).cloned();
        if let Some(container) = known {
            return Ok(container);
        }
        let container = Self::open_among(path, Opened::default())?;
        self.lock().insert(path.to_owned(), Arc::clone(&container));
        Ok(container)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, Arc<Self>>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_among(path: &Path, opened: Opened) -> Result<Arc<Self>, IoError> {
        let file = Arc::new(PositionedFile::open(path)?);
        if file.len() == 0 {
            return Err(IoError::EmptyFile(
                Fault::of(path)
                    .expected("an HDF5 file")
                    .found("an empty file of 0 bytes")
                    .action("copy the file again"),
            ));
        }
        if !Self::is_hdf5(&file) {
            return Err(IoError::NotHdf5(
                Fault::of(path)
                    .expected("an HDF5 file")
                    .found("a file without the HDF5 signature")
                    .action("check that this is the right file"),
            ));
        }
        let options = OpenOptions {
            chunk_cache_bytes: 0,
            max_object_header_bytes: 16 << 20,
            ..OpenOptions::default()
        };
        let storage: Arc<dyn hdf5_reader::Storage> = file.clone();
        let hdf5 = Hdf5File::from_storage_with_options(storage, options)
            .map_err(|error| parse_error(path, "", &error))?;
        let end = hdf5.superblock().eof_address;
        if end != u64::MAX && end > file.len() {
            return Err(IoError::Truncated(
                Fault::of(path)
                    .expected(format!("{end} bytes"))
                    .found(format!("{} bytes: the file is truncated", file.len()))
                    .action("copy the file again"),
            ));
        }
        Ok(Arc::new(Self { file, hdf5, opened }))
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    pub(crate) fn file(&self) -> &Arc<PositionedFile> {
        &self.file
    }

    pub(super) fn storage(&self) -> &dyn hdf5_reader::Storage {
        self.hdf5.storage()
    }

    /// Where addresses count from: the end of the user block.
    pub(super) fn base(&self) -> u64 {
        self.hdf5.superblock().base_address
    }

    /// Bytes of an address and of a length in this file.
    pub(super) fn widths(&self) -> (u8, u8) {
        let superblock = self.hdf5.superblock();
        (superblock.offset_size, superblock.length_size)
    }

    /// The root group.
    pub(crate) fn root(self: &Arc<Self>) -> Result<Object, IoError> {
        let address = self
            .hdf5
            .superblock()
            .root_object_header_address()
            .map_err(|error| parse_error(self.path(), "/", &error))?;
        self.object(address, "/")
    }

    /// The object whose header is at `address`; `path` is its name in messages.
    pub(super) fn object(self: &Arc<Self>, address: u64, path: &str) -> Result<Object, IoError> {
        let fail = |error: &Error| parse_error(self.path(), path, error);
        let (header, virtual_heap) = match self.hdf5.get_or_parse_header(address) {
            Ok(header) => (header, None),
            Err(error) if is_virtual(&error) => {
                let (header, heap) = raw_header::parse(self, address).map_err(|e| fail(&e))?;
                (Arc::new(header), heap)
            }
            Err(error) => return Err(fail(&error)),
        };
        Ok(Object {
            container: Arc::clone(self),
            path: path.to_owned(),
            address,
            header,
            virtual_heap,
        })
    }
}

/// The parser does not know layout class 3, the virtual dataset.
fn is_virtual(error: &Error) -> bool {
    match error {
        Error::UnsupportedLayoutClass(3) => true,
        Error::Context { source, .. } => is_virtual(source),
        _ => false,
    }
}

/// A group or dataset of an open file.
#[derive(Clone)]
pub(crate) struct Object {
    pub(super) container: Arc<Container>,
    pub(super) path: String,
    pub(super) address: u64,
    pub(super) header: Arc<ObjectHeader>,
    /// Global heap address and index of a virtual dataset's mappings.
    pub(super) virtual_heap: Option<(u64, u32)>,
}

impl Object {
    /// Path inside the file.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn container(&self) -> &Arc<Container> {
        &self.container
    }

    /// The file the object is in.
    pub(crate) fn file_path(&self) -> &Path {
        self.container.path()
    }

    /// A fault at this object.
    pub(crate) fn fault(&self) -> Box<Fault> {
        Fault::of(self.file_path()).object(&self.path)
    }

    pub(super) fn error(&self, error: &Error) -> IoError {
        parse_error(self.file_path(), &self.path, error)
    }

    pub(super) fn messages(&self) -> &[HdfMessage] {
        &self.header.messages
    }

    /// What tells objects apart: the file and the place in it.
    pub(crate) fn key(&self) -> (PathBuf, u64) {
        (self.file_path().to_owned(), self.address)
    }
}
