//! Where a Zarr tree is kept: a folder or a zip file.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value as Json;

use super::zip_members::Members;
use crate::IoError;
use crate::error::Fault;
use crate::positioned_file::PositionedFile;

/// A tree of keys and bytes.
pub(super) enum Store<'a> {
    Zip(&'a Arc<PositionedFile>, Option<&'a Members>),
    Folder(&'a Path),
}

/// Folders looked into, and how deep.
const MAX_FOLDERS: usize = 10_000;
const MAX_DEPTH: usize = 8;

impl Store<'_> {
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Zip(file, _) => file.path(),
            Self::Folder(path) => path,
        }
    }

    /// Paths of all arrays, sorted.
    pub(super) fn arrays(&self) -> Result<Vec<String>, IoError> {
        let mut arrays = Vec::new();
        match self {
            Self::Zip(_, members) => {
                let names = members.iter().flat_map(|m| m.keys());
                arrays.extend(
                    names
                        .filter_map(|n| n.strip_suffix("/.zarray"))
                        .map(str::to_owned),
                );
            }
            Self::Folder(root) => {
                let mut pending = vec![(String::new(), 0)];
                let mut seen = 0;
                while let Some((path, depth)) = pending.pop() {
                    seen += 1;
                    if depth > MAX_DEPTH || seen > MAX_FOLDERS {
                        break;
                    }
                    let folder = root.join(&path);
                    if folder.join(".zarray").is_file() {
                        arrays.push(path);
                        continue;
                    }
                    let system = |error: std::io::Error| IoError::system(&folder, &error);
                    for entry in std::fs::read_dir(&folder).map_err(system)? {
                        let entry = entry.map_err(system)?;
                        if entry.path().is_dir() {
                            let name = entry.file_name().to_string_lossy().into_owned();
                            let below = if path.is_empty() {
                                name
                            } else {
                                format!("{path}/{name}")
                            };
                            pending.push((below, depth + 1));
                        }
                    }
                }
            }
        }
        arrays.sort();
        Ok(arrays)
    }

    /// A JSON text; `None` when there is none.
    pub(super) fn json(&self, key: &str) -> Result<Option<Json>, IoError> {
        let key = key.trim_start_matches('/');
        let bytes = match self {
            Self::Zip(file, members) => match members.and_then(|m| m.get(key)) {
                Some(member) => member.read(file, key)?,
                None => return Ok(None),
            },
            Self::Folder(root) => {
                let path = root.join(key);
                if !path.is_file() {
                    return Ok(None);
                }
                std::fs::read(&path).map_err(|error| IoError::system(&path, &error))?
            }
        };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| {
            IoError::BadHeader(
                Fault::of(self.path())
                    .object(key)
                    .expected("JSON")
                    .found(error.to_string())
                    .action("copy the file again"),
            )
        })
    }

    /// The bytes of a chunk: in the zip file, or in a file of its own; `None` when it was never
    /// written.
    pub(super) fn range(&self, key: &str) -> Result<Option<Range<u64>>, IoError> {
        let key = key.trim_start_matches('/');
        match self {
            Self::Zip(file, members) => {
                let Some(member) = members.and_then(|m| m.get(key)) else {
                    return Ok(None);
                };
                member.range(file, key).map(Some)
            }
            Self::Folder(root) => match std::fs::metadata(root.join(key)) {
                Ok(about) => Ok(Some(0..about.len())),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(IoError::system(&root.join(key), &error)),
            },
        }
    }
}
