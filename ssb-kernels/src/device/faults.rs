//! Launch failures made visible: CubeCL and wgpu only log them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use cubecl::bytes::Bytes;
use cubecl::prelude::*;
use cubecl::server::{Handle, ServerError};
use ssb_core::Error;

/// What a device reported outside of any call: filled by the driver's callbacks, emptied by the
/// checks below.
#[derive(Debug, Clone, Default)]
pub struct Faults(Arc<Mutex<Vec<String>>>);

impl Faults {
    /// Notes one failure.
    pub fn record(&self, text: String) {
        tracing::error!("device fault: {text}");
        self.list().push(text);
    }

    fn list(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends pending work to the device.
    ///
    /// # Errors
    /// [`Error::Internal`] when a launch, an allocation or a compilation failed since the last check.
    pub fn flush<R: Runtime>(&self, client: &ComputeClient<R>) -> Result<(), Error> {
        self.checked(|| client.flush())
    }

    /// Waits for all work of this thread.
    ///
    /// # Errors
    /// As [`Faults::flush`].
    pub fn finish<R: Runtime>(&self, client: &ComputeClient<R>) -> Result<(), Error> {
        self.checked(|| cubecl::future::block_on(client.sync()))
    }

    /// Waits for the work that fills a buffer and returns its bytes.
    ///
    /// # Errors
    /// As [`Faults::flush`].
    pub fn read<R: Runtime>(
        &self,
        client: &ComputeClient<R>,
        handle: Handle,
    ) -> Result<Bytes, Error> {
        self.flush(client)?;
        self.checked(|| client.read_one(handle))
    }

    /// CubeCL's worker reports some failures as panics of the caller, hence the catch.
    fn checked<T>(&self, call: impl FnOnce() -> Result<T, ServerError>) -> Result<T, Error> {
        let outcome = catch_unwind(AssertUnwindSafe(call));
        let mut told = std::mem::take(&mut *self.list());
        match outcome {
            Ok(Ok(value)) if told.is_empty() => return Ok(value),
            Ok(Ok(_)) => {}
            Ok(Err(error)) => told.push(in_words(&error)),
            Err(_) => told.push("the device's worker stopped".into()),
        }
        Err(Error::Internal(format!(
            "the device failed: {}",
            told.join("; ")
        )))
    }
}

/// The messages without the backtraces that CubeCL's errors carry.
fn in_words(error: &ServerError) -> String {
    match error {
        ServerError::ServerUnhealthy { errors, .. } => {
            errors.iter().map(in_words).collect::<Vec<_>>().join("; ")
        }
        other => other
            .to_string()
            .lines()
            .map(str::trim)
            .take_while(|line| !is_backtrace(line))
            .collect::<Vec<_>>()
            .join(" "),
    }
}

fn is_backtrace(line: &str) -> bool {
    ["Backtrace", "No backtrace", "stack backtrace", "0:"]
        .iter()
        .any(|start| line.starts_with(start))
}
