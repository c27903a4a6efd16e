//! Cancelling and watching long work from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Error;

/// How far a named piece of work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    /// What is being done, e.g. `read frames`.
    pub task: &'a str,
    /// Units finished so far.
    pub done: u64,
    /// Units in all; 0 when unknown.
    pub total: u64,
}

type Watcher = dyn Fn(&Progress<'_>) + Send + Sync;

/// A handle that can stop long work within a second and receives its progress.
///
/// Clones share the same switch.
///
/// ```
/// let control = ssb_core::Control::default();
/// control.cancel();
/// assert!(control.check().is_err());
/// ```
#[derive(Clone, Default)]
pub struct Control {
    cancelled: Arc<AtomicBool>,
    watcher: Option<Arc<Watcher>>,
}

impl std::fmt::Debug for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control")
            .field("cancelled", &self.is_cancelled())
            .finish_non_exhaustive()
    }
}

impl Control {
    /// A handle whose progress goes to `watcher` (called from worker threads).
    #[must_use]
    pub fn watched(watcher: impl Fn(&Progress<'_>) + Send + Sync + 'static) -> Self {
        Self {
            cancelled: Arc::default(),
            watcher: Some(Arc::new(watcher)),
        }
    }

    /// Asks the work to stop.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the work was asked to stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Returns [`Error::Cancelled`] once [`Control::cancel`] was called; to be polled in loops.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn check(&self) -> Result<(), Error> {
        if self.is_cancelled() {
            Err(Error::Cancelled)
        } else {
            Ok(())
        }
    }

    /// Reports progress to the watcher, if there is one.
    pub fn report(&self, task: &str, done: u64, total: u64) {
        if let Some(watcher) = &self.watcher {
            watcher(&Progress { task, done, total });
        }
    }
}
