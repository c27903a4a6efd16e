//! What a path names: a file, a folder that is a Zarr tree, or the one master file in a folder.

use std::path::{Path, PathBuf};

use crate::IoError;
use crate::error::Fault;

/// The end of a master file's name.
pub(crate) const MASTER: &str = "_master.h5";

/// The data file behind a path.
///
/// # Errors
/// [`IoError::NotFound`]; [`IoError::NotAFile`] for a folder without one master.
pub(crate) fn data_file(path: &Path) -> Result<PathBuf, IoError> {
    let system = |error: std::io::Error| IoError::system(path, &error);
    if !std::fs::metadata(path).map_err(system)?.is_dir() {
        return Ok(path.to_owned());
    }
    if crate::format::is_tree(path) {
        return Ok(path.to_owned());
    }
    let mut masters = Vec::new();
    for entry in std::fs::read_dir(path).map_err(system)? {
        let file = entry.map_err(system)?.path();
        if file.is_file() && file.to_string_lossy().ends_with(MASTER) {
            masters.push(file);
        }
    }
    masters.sort();
    let fault = Fault::of(path).expected("a data file, or a folder with one *_master.h5");
    match &masters[..] {
        [one] => Ok(one.clone()),
        [] => Err(IoError::NotAFile(
            fault
                .found("a folder without a master file")
                .action("name the data file"),
        )),
        many => {
            let names: Vec<String> = many
                .iter()
                .filter_map(|m| Some(m.file_name()?.to_string_lossy().into_owned()))
                .collect();
            Err(IoError::NotAFile(
                fault
                    .found(format!("a folder with {}", names.join(", ")))
                    .action("name one of them"),
            ))
        }
    }
}
