//! What a run did and when, in the format of Chrome's trace viewer (`--trace FILE`): the library's spans as bars, stages and
//! progress as marks. Perfetto and `chrome://tracing` open it.

use std::fs::File;
use std::io::{Result as IoResult, Write};
use std::path::Path;

use tracing_chrome::{ChromeLayerBuilder, EventOrSpan, FlushGuard};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::prelude::*;

use super::writing;
use crate::Error;

/// A trace, or nothing when none was asked for.
pub struct Trace {
    writer: Option<FlushGuard>,
}

/// A file whose faults are dropped: a trace that cannot be written does not stop the work it watches.
struct Forgiving(File);

impl Write for Forgiving {
    fn write(&mut self, bytes: &[u8]) -> IoResult<usize> {
        let _ = self.0.write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> IoResult<()> {
        let _ = self.0.flush();
        Ok(())
    }
}

impl Trace {
    /// # Errors
    /// A file that cannot be created.
    pub fn open(path: Option<&Path>) -> Result<Self, Error> {
        let Some(path) = path else {
            return Ok(Self { writer: None });
        };
        // A data file named by mistake would be emptied.
        writing::check_trace(path)?;
        let file = File::create(path)
            .map_err(|e| Error::output(path, e, "choose another --trace file"))?;
        let (layer, writer) = ChromeLayerBuilder::new()
            .writer(Forgiving(file))
            .include_args(true)
            .include_locations(false)
            .name_fn(Box::new(|what| match what {
                EventOrSpan::Event(event) => event.metadata().name().to_owned(),
                EventOrSpan::Span(span) => span.metadata().name().to_owned(),
            }))
            .build();
        let ours = filter_fn(|metadata| metadata.target().starts_with("ssb"));
        let set = tracing_subscriber::registry()
            .with(layer.with_filter(ours))
            .try_init();
        if let Err(e) = set {
            return Err(Error::output(path, e, "drop --trace"));
        }
        Ok(Self {
            writer: Some(writer),
        })
    }

    /// A stage that ended.
    pub fn stage(&mut self, name: &str, seconds: f64) {
        tracing::info!(name: "stage", stage = %name, seconds);
        self.flush();
    }

    /// Progress of a task.
    pub fn progress(&mut self, task: &str, done: u64, total: u64) {
        tracing::info!(name: "progress", task = %task, done, total);
        self.flush();
    }

    /// Ends the array; what comes later is not traced.
    pub fn end(&mut self) {
        self.writer = None;
    }

    fn flush(&self) {
        if let Some(writer) = &self.writer {
            writer.flush();
        }
    }
}
