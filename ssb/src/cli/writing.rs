//! Places to write to: checked before long work, filled in one step at its end.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::Error;

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Refuses a place that cannot be written, before anything is computed; leaves nothing behind.
pub fn check_place(path: &Path) -> Result<(), Error> {
    if path.is_dir() {
        return Err(Error::output(path, "it is a folder", "give a file name"));
    }
    let folder = folder_of(path);
    if !folder.is_dir() {
        return Err(Error::output(
            path,
            format!("the folder {} does not exist", folder.display()),
            "make the folder first",
        ));
    }
    let probe = temporary(path);
    std::fs::File::create_new(&probe)
        .and_then(|_| std::fs::remove_file(&probe))
        .map_err(|e| Error::output(path, e, "choose a folder that can be written"))
}

fn temporary(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.part", std::process::id()));
    folder_of(path).join(name)
}

/// Writes a file to a temporary name beside it and renames it.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let part = temporary(path);
    let write = || -> std::io::Result<()> {
        let mut file = std::fs::File::create(&part)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&part, path)
    };
    write().map_err(|e| {
        // The message tells of the first failure; a leftover part is no second one.
        let _ = std::fs::remove_file(&part);
        Error::output(path, e, "check the disk")
    })
}
