//! The stages of a run with their times, one JSON object a line (`--trace FILE`).

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use serde_json::json;

use super::writing;
use crate::Error;

/// A trace, or nothing when none was asked for.
pub struct Trace {
    file: Option<BufWriter<File>>,
    since: Instant,
}

impl Trace {
    /// # Errors
    /// A file that cannot be created.
    pub fn open(path: Option<&Path>) -> Result<Self, Error> {
        let file = path
            .map(|p| {
                // A data file named by mistake would be emptied.
                writing::check_trace(p)?;
                File::create(p)
                    .map(BufWriter::new)
                    .map_err(|e| Error::output(p, e, "choose another --trace file"))
            })
            .transpose()?;
        Ok(Self {
            file,
            since: Instant::now(),
        })
    }

    fn write(&mut self, mut record: serde_json::Value) {
        if let Some(file) = &mut self.file {
            record["at_seconds"] = self.since.elapsed().as_secs_f64().into();
            // A trace that cannot be written does not stop the work it watches.
            let _ = writeln!(file, "{record}").and_then(|()| file.flush());
        }
    }

    /// A stage that ended.
    pub fn stage(&mut self, name: &str, seconds: f64) {
        self.write(json!({"stage": name, "seconds": seconds}));
    }

    /// Progress of a task.
    pub fn progress(&mut self, task: &str, done: u64, total: u64) {
        self.write(json!({"task": task, "done": done, "total": total}));
    }
}
