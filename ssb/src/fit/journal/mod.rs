//! The journal of a fit: every exact loss and every agreement that the search was given, on disk before the
//! search goes on, so that a fit that was cancelled or killed continues to the same trials bit for bit.
//!
//! A text file beside the result, one line a record: a checksum, then JSON. The first line says which fit it
//! belongs to; float64 are stored as their bits. A search is deterministic: it is run again, and what the
//! journal knows is not evaluated again.

mod evaluator;
mod identity;
mod line;
mod on_disk;

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;
use ssb_core::Evaluation;

pub(crate) use evaluator::JournaledEvaluator;
use line::{Agreements, Losses, Record};
use on_disk::OnDisk;

use crate::Error;

/// The journal of a fit that is running or was stopped; see [`crate::Session::fit_recorded`].
///
/// Nothing is on disk before the first evaluation. While it is open no other process can open it.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    identity: Value,
    /// `None` until the first record of a new journal.
    file: Option<OnDisk>,
    losses: HashMap<String, Evaluation>,
    agreements: HashMap<String, f64>,
    recorded: usize,
    /// Why a record could not be written, with all that the evaluator's error cannot say.
    fault: Option<Error>,
}

fn broken(path: &Path, object: impl Into<String>, problem: impl Into<String>) -> Error {
    Error::Journal {
        path: path.to_owned(),
        object: object.into(),
        problem: problem.into(),
        action: "start the fit anew with --force".into(),
    }
}

fn refused(path: &Path, error: &io::Error) -> Error {
    Error::Journal {
        path: path.to_owned(),
        object: "file".into(),
        problem: error.to_string(),
        action: "check the folder, its permissions and the free space; --resume then continues"
            .into(),
    }
}

/// Takes the journal for this process alone.
fn locked(path: &Path, file: &File) -> Result<(), Error> {
    file.try_lock().map_err(|e| match e {
        std::fs::TryLockError::WouldBlock => Error::Journal {
            path: path.to_owned(),
            object: "file".into(),
            problem: "another fit is writing it".into(),
            action: "wait for that fit, or choose another output".into(),
        },
        std::fs::TryLockError::Error(e) => refused(path, &e),
    })
}

impl Journal {
    /// Where the journal of this result file is: `R.h5.journal` beside `R.h5`.
    ///
    /// ```
    /// let path = ssb::fit::Journal::beside("out/R.h5".as_ref());
    /// assert_eq!(path, std::path::Path::new("out/R.h5.journal"));
    /// ```
    #[must_use]
    pub fn beside(output: &Path) -> PathBuf {
        let mut name = output.file_name().unwrap_or_default().to_owned();
        name.push(".journal");
        output.with_file_name(name)
    }

    /// A new journal; `identity` is [`crate::Session::fit_identity`]. One that lies there is replaced with
    /// the first record.
    ///
    /// # Errors
    /// [`Error::Journal`] for a file of that name that is no journal, or that another fit is writing.
    pub fn create(path: &Path, identity: &Value) -> Result<Self, Error> {
        if path.exists() {
            let old = File::open(path).map_err(|e| refused(path, &e))?;
            locked(path, &old)?;
            if !line::is_journal(path).map_err(|e| refused(path, &e))? {
                return Err(Error::Journal {
                    path: path.to_owned(),
                    object: "file".into(),
                    problem: "it exists and is no journal of a fit".into(),
                    action: "rename it, or choose another output".into(),
                });
            }
        }
        Ok(Self {
            path: path.to_owned(),
            identity: identity.clone(),
            file: None,
            losses: HashMap::new(),
            agreements: HashMap::new(),
            recorded: 0,
            fault: None,
        })
    }

    /// Opens the journal of a fit that was stopped. Its last record may be torn; it is dropped, and the
    /// sentence that says so comes back.
    ///
    /// # Errors
    /// [`Error::Journal`] for a journal of another request (all differences are named), a damaged record
    /// before the last (its line and byte are named), one that another fit is writing, or a disk that
    /// refuses.
    pub fn resume(path: &Path, identity: &Value) -> Result<(Self, Option<String>), Error> {
        let file = OpenOptions::new().read(true).append(true).open(path);
        let file = file.map_err(|e| refused(path, &e))?;
        locked(path, &file)?;
        let bytes = std::fs::read(path).map_err(|e| refused(path, &e))?;
        let mut records = line::Lines::new(path, &bytes);
        let Some(header) = records.next().transpose()? else {
            return Err(broken(path, "line 1", "it has no complete first line"));
        };
        let recorded = header.identity(path)?;
        let different = identity::differences(&recorded, identity);
        if !different.is_empty() {
            return Err(Error::Journal {
                path: path.to_owned(),
                object: "request".into(),
                problem: format!("it belongs to another fit: {}", different.join("; ")),
                action: "ask for the same fit, or start anew with --force".into(),
            });
        }
        let mut journal = Self {
            path: path.to_owned(),
            identity: recorded,
            file: None,
            losses: HashMap::new(),
            agreements: HashMap::new(),
            recorded: 0,
            fault: None,
        };
        for record in records.by_ref() {
            journal.learn(record?.answers(path)?);
        }
        journal.recorded = journal.losses.len() + journal.agreements.len();
        let whole = records.whole_bytes();
        let torn = bytes.len() - whole;
        if torn > 0 {
            let cut = file.set_len(whole as u64).and_then(|()| file.sync_all());
            cut.map_err(|e| refused(path, &e))?;
        }
        journal.file = Some(OnDisk::new(file).map_err(|e| refused(path, &e))?);
        let word = (torn > 0).then(|| {
            format!(
                "journal {}: the last record was torn ({torn} bytes from byte {whole} on) and is dropped",
                path.display()
            )
        });
        Ok((journal, word))
    }

    /// Removes a journal that the same fit left behind when it was killed with its result already written; `fit` is
    /// what is known of it, part of [`crate::Session::fit_identity`]. Another fit's journal stays.
    ///
    /// # Errors
    /// [`Error::Journal`] for one that another fit is writing, or a disk that refuses.
    pub fn remove_finished(path: &Path, fit: &Value) -> Result<bool, Error> {
        let file = File::open(path).map_err(|e| refused(path, &e))?;
        locked(path, &file)?;
        let bytes = std::fs::read(path).map_err(|e| refused(path, &e))?;
        let header = line::Lines::new(path, &bytes).next();
        let Some(Ok(header)) = header else {
            return Ok(false);
        };
        let Ok(identity) = header.identity(path) else {
            return Ok(false);
        };
        let mut known = fit.as_object().into_iter().flatten();
        if !known.all(|(key, value)| identity.get(key) == Some(value)) {
            return Ok(false);
        }
        std::fs::remove_file(path).map_err(|e| refused(path, &e))?;
        Ok(true)
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Evaluations that were in it when it was opened, exact ones and agreements.
    #[must_use]
    pub fn recorded(&self) -> usize {
        self.recorded
    }

    /// Keeps the file for a fit that goes on later, all of it on disk.
    ///
    /// # Errors
    /// [`Error::Journal`] when the disk refuses.
    pub fn keep(self) -> Result<(), Error> {
        let closed = self.file.map_or(Ok(()), |mut file| file.close());
        closed.map_err(|e| refused(&self.path, &e))
    }

    /// Removes the file: the result is written, and nothing is left to resume.
    ///
    /// # Errors
    /// [`Error::Journal`] when the disk refuses.
    pub fn remove(self) -> Result<(), Error> {
        match self.file {
            Some(_) => std::fs::remove_file(&self.path).map_err(|e| refused(&self.path, &e)),
            None => Ok(()),
        }
    }

    pub(crate) fn take_fault(&mut self) -> Option<Error> {
        self.fault.take()
    }

    fn learn(&mut self, record: Record) {
        match record {
            Record::Losses(Losses(found)) => self.losses.extend(found),
            Record::Agreements(Agreements(found)) => self.agreements.extend(found),
        }
    }

    /// Puts a record on disk, then among what is known.
    fn append(&mut self, record: Record) -> Result<(), ssb_core::Error> {
        let put = match &mut self.file {
            Some(file) => file.append(&record.line()),
            None => self.begin(&record.line()),
        };
        if let Err(e) = put {
            self.fault = Some(refused(&self.path, &e));
            return Err(ssb_core::Error::Internal(format!(
                "journal {}: {e}",
                self.path.display()
            )));
        }
        self.learn(record);
        Ok(())
    }

    /// Makes the file with its first line and record; it appears under its name complete. What an earlier
    /// process left of its own beginning is overwritten.
    fn begin(&mut self, record: &str) -> io::Result<()> {
        let mut name = std::ffi::OsString::from(".");
        name.push(self.path.file_name().unwrap_or_default());
        name.push(".part");
        let part = self.path.with_file_name(name);
        // Two fits that began together with one output must not take turns in one file.
        if let Ok(other) = File::open(&self.path) {
            other.try_lock().map_err(io::Error::from)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        let mut file = options.open(&part)?;
        file.try_lock().map_err(io::Error::from)?;
        let mut make = || -> io::Result<()> {
            file.set_len(0)?;
            file.write_all(line::header(&self.identity).as_bytes())?;
            file.write_all(record.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&part, &self.path)
        };
        if let Err(e) = make() {
            // The first failure is told; a leftover part is no second one.
            let _ = std::fs::remove_file(&part);
            return Err(e);
        }
        settle_name(&self.path)?;
        self.file = Some(OnDisk::new(file)?);
        Ok(())
    }
}

/// Puts the name of a new file on disk too, where the system does not do so by itself.
fn settle_name(path: &Path) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
