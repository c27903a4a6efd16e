//! Files that appear under their name only when they are complete.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// A file under a temporary name beside its target; dropping it unfinished removes it.
#[derive(Debug)]
pub(crate) struct Replacement {
    target: PathBuf,
    temporary: PathBuf,
    finished: bool,
}

impl Replacement {
    /// Creates the temporary file, in the target's folder so that the rename cannot cross disks.
    pub(crate) fn create(target: &Path) -> io::Result<(Self, File)> {
        let name = target
            .file_name()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"))?;
        for attempt in 0..100_u32 {
            let mut hidden = std::ffi::OsString::from(".");
            hidden.push(name);
            hidden.push(format!(".{}-{attempt}.part", std::process::id()));
            let temporary = target.with_file_name(hidden);
            match OpenOptions::new()
                .read(true)
                .write(true)
                .create_new(true)
                .open(&temporary)
            {
                Ok(file) => {
                    let replacement = Self {
                        target: target.to_owned(),
                        temporary,
                        finished: false,
                    };
                    return Ok((replacement, file));
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
        Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "every temporary name beside the target is taken",
        ))
    }

    /// Moves the complete file to its name, replacing an older one.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        fs::rename(&self.temporary, &self.target)?;
        self.finished = true;
        Ok(())
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if !self.finished {
            // Nothing better can be done about a failure here; the name says what it is.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn an_abandoned_file_leaves_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.h5");
        fs::write(&target, b"old").unwrap();
        let (replacement, mut file) = Replacement::create(&target).unwrap();
        file.write_all(b"half").unwrap();
        drop(replacement);
        assert_eq!(fs::read(&target).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

        let (replacement, mut file) = Replacement::create(&target).unwrap();
        file.write_all(b"new").unwrap();
        replacement.finish().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_missing_folder_is_an_error() {
        assert!(Replacement::create(Path::new("no/such/folder/a.h5")).is_err());
        assert!(Replacement::create(Path::new("..")).is_err());
    }
}
