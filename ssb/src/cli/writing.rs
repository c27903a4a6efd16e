//! Places to write to: checked before long work, filled in one step at its end.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::Error;

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Whether both names lead to one file.
pub fn same(x: &Path, y: &Path) -> bool {
    match (x.canonicalize(), y.canonicalize()) {
        (Ok(x), Ok(y)) => x == y,
        _ => false,
    }
}

/// Refuses to replace an input, or an HDF5 file (data or a result) by something that is none.
pub fn check_not_data(path: &Path, inputs: &[&Path]) -> Result<(), Error> {
    if inputs.iter().any(|input| same(path, input)) {
        return Err(Error::output(
            path,
            "it is an input of this command",
            "choose another name",
        ));
    }
    if is_hdf5(path) {
        return Err(Error::output(
            path,
            "it exists and is an HDF5 file",
            "choose another name",
        ));
    }
    Ok(())
}

fn is_hdf5(path: &Path) -> bool {
    let mut start = [0; 8];
    path.is_file()
        && std::fs::File::open(path)
            .and_then(|mut file| file.read_exact(&mut start))
            .is_ok()
        && &start == b"\x89HDF\r\n\x1a\n"
}

/// Refuses to empty a file that is no earlier trace (a JSON array).
pub fn check_trace(path: &Path) -> Result<(), Error> {
    let mut first = [0];
    let foreign = path.is_file()
        && std::fs::File::open(path)
            .and_then(|mut file| file.read_exact(&mut first))
            .is_ok()
        && &first != b"[";
    if foreign {
        return Err(Error::output(
            path,
            "it exists and is no trace",
            "choose another --trace file",
        ));
    }
    Ok(())
}

/// As [`check_place`] for a picture or array: its name must end as its kind does, and a file that
/// exists must be of that kind, told by its first bytes.
pub fn check_kind(path: &Path, (ending, mark): (&str, &[u8])) -> Result<(), Error> {
    check_place(path)?;
    let named = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case(ending));
    if !named {
        return Err(Error::output(
            path,
            format!("what is written there is of the kind .{ending}"),
            format!("give a name that ends in .{ending}"),
        ));
    }
    if path.exists() {
        let bytes =
            std::fs::read(path).map_err(|e| Error::output(path, e, "choose another name"))?;
        if !bytes.starts_with(mark) {
            return Err(Error::output(
                path,
                format!("it exists and is no .{ending} file"),
                "choose another name, or remove it first",
            ));
        }
    }
    Ok(())
}

/// Endings and first bytes of what `show`, `export` and `report` write.
pub const PNG: (&str, &[u8]) = ("png", b"\x89PNG");
/// Little-endian TIFF.
pub const TIFF: (&str, &[u8]) = ("tif", b"II*\0");
/// NumPy array.
pub const NPY: (&str, &[u8]) = ("npy", b"\x93NUMPY");

/// A page of our own.
pub const HTML: (&str, &[u8]) = ("html", b"<!doctype html>");

/// Refuses a place that cannot be written, before anything is computed; leaves nothing behind.
pub fn check_place(path: &Path) -> Result<(), Error> {
    if path.is_dir() {
        return Err(Error::output(path, "it is a folder", "give a file name"));
    }
    // A device or a pipe would be replaced by a file, not written to.
    if path.exists() && !path.is_file() {
        return Err(Error::output(
            path,
            "it is a device or a pipe, not a file",
            "give a file name",
        ));
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
