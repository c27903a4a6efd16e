//! The file of a journal. A record is with the system before the search goes on, so that it survives the end of
//! the process; a thread of its own puts it on the disk itself, which takes as long as many evaluations.

use std::fs::File;
use std::io::{self, Write};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

/// A file that grows by whole records.
#[derive(Debug)]
pub(super) struct OnDisk {
    file: File,
    /// `None` once closed.
    syncing: Option<(Sender<()>, JoinHandle<io::Result<()>>)>,
}

impl OnDisk {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let (wake, woken) = channel();
        let copy = file.try_clone()?;
        let work = move || {
            while woken.recv().is_ok() {
                // All that was written meanwhile goes with it.
                while woken.try_recv().is_ok() {}
                copy.sync_data()?;
            }
            Ok(())
        };
        let thread = std::thread::Builder::new()
            .name("journal".into())
            .spawn(work)?;
        Ok(Self {
            file,
            syncing: Some((wake, thread)),
        })
    }

    /// Writes a record.
    ///
    /// # Errors
    /// The disk refuses this record or one before it.
    pub(super) fn append(&mut self, record: &str) -> io::Result<()> {
        self.file.write_all(record.as_bytes())?;
        let waits = |(wake, _): &(Sender<()>, _)| wake.send(()).is_ok();
        if self.syncing.as_ref().is_some_and(waits) {
            return Ok(());
        }
        self.close()?;
        Err(io::Error::other("records no longer reach the disk"))
    }

    /// Waits until all is on disk.
    pub(super) fn close(&mut self) -> io::Result<()> {
        let Some((wake, thread)) = self.syncing.take() else {
            return Ok(());
        };
        drop(wake);
        thread.join().unwrap_or_else(|_| {
            Err(io::Error::other(
                "the thread that puts records on disk ended",
            ))
        })
    }
}

impl Drop for OnDisk {
    fn drop(&mut self) {
        // Who wants to know closes it first.
        let _ = self.close();
    }
}
