//! Buffers kept from one evaluation to the next: fresh memory costs a page fault every 4 KiB.

use std::sync::Mutex;

/// Spare values of one kind.
pub struct Reuse<T>(Mutex<Vec<T>>);

impl<T> Default for Reuse<T> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<T> Reuse<T> {
    /// A spare value as it was left, or a new one.
    pub fn take(&self, new: impl FnOnce() -> T) -> T {
        let spare = self.0.lock().ok().and_then(|mut spare| spare.pop());
        spare.unwrap_or_else(new)
    }

    /// Gives values back.
    pub fn put(&self, values: impl IntoIterator<Item = T>) {
        if let Ok(mut spare) = self.0.lock() {
            spare.extend(values);
        }
    }
}
