//! What the program says: one JSON document on stdout, everything for people on stderr.

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use serde_json::{Value, json};
use ssb_core::Control;

use super::args::TalkArgs;
use super::trace::Trace;
use crate::Error;

/// The voice of one run.
pub struct Console {
    json: bool,
    quiet: bool,
    control: Control,
    bar: Option<ProgressBar>,
    trace: Arc<Mutex<Trace>>,
}

/// How a task with so many units is shown: its rate, and the time left where the end is known.
fn style(total: u64) -> Option<ProgressStyle> {
    ProgressStyle::with_template(match total {
        0 => "{msg} {pos}, {rate}, {elapsed} gone",
        _ => "{msg} {bar:20} {pos}/{len}, {rate}, {elapsed} gone, {eta} left",
    })
    .ok()
    .map(|style| {
        style.with_key(
            "rate",
            |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                let rate = state.per_sec();
                let decimals = if rate < 10.0 { 2 } else { 0 };
                // A bar that cannot be drawn does not stop the work.
                let _ = write!(out, "{rate:.decimals$}/s");
            },
        )
    })
}

fn bar(quiet: bool) -> Option<ProgressBar> {
    if quiet || !std::io::stderr().is_terminal() {
        return None;
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.set_style(style(0)?);
    bar.enable_steady_tick(Duration::from_millis(200));
    Some(bar)
}

impl Console {
    /// Starts to listen for Ctrl-C and opens the trace.
    ///
    /// # Errors
    /// A trace file that cannot be written.
    pub fn new(talk: &TalkArgs) -> Result<Self, Error> {
        let trace = Arc::new(Mutex::new(Trace::open(talk.trace.as_deref())?));
        let bar = bar(talk.quiet);
        let control = {
            let (bar, trace, last) = (bar.clone(), Arc::clone(&trace), Mutex::new(String::new()));
            Control::watched(move |p| {
                if let Some(bar) = &bar {
                    if let Ok(mut last) = last.lock()
                        && *last != p.task
                    {
                        p.task.clone_into(&mut last);
                        bar.reset();
                        bar.set_message(p.task.to_owned());
                        if let Some(style) = style(p.total) {
                            bar.set_style(style);
                        }
                    }
                    if p.total > 0 {
                        bar.set_length(p.total);
                    }
                    bar.set_position(p.done);
                }
                if let Ok(mut trace) = trace.lock() {
                    trace.progress(p.task, p.done, p.total);
                }
            })
        };
        let listening = {
            let control = control.clone();
            ctrlc::set_handler(move || {
                if control.is_cancelled() {
                    // A second request does not wait for anything.
                    std::process::exit(130);
                }
                control.cancel();
            })
        };
        let console = Self {
            json: talk.json,
            quiet: talk.quiet,
            control,
            bar,
            trace,
        };
        if let Err(e) = listening {
            console.warn(&format!(
                "Ctrl-C cannot be caught here ({e}); it will end the program at once"
            ));
        }
        Ok(console)
    }

    /// The switch and watcher of this run.
    pub fn control(&self) -> &Control {
        &self.control
    }

    fn line(&self, text: &str) {
        let write = || {
            // Nothing is left to be told when stderr itself is gone.
            let _ = writeln!(std::io::stderr().lock(), "{text}");
        };
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// A note for people.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            self.line(text);
        }
    }

    /// A line of the answer on stdout while the rest is still being found; with `--json` it stands in the
    /// document instead.
    pub fn say(&self, text: &str) {
        if !self.json {
            self.out(&text);
        }
    }

    /// One answer of several: a JSON line on stdout, or the text for people.
    pub fn record(&self, document: &Value, text: &str) {
        if self.json {
            self.out(document);
        } else {
            self.out(&text);
        }
    }

    /// Where a server can be reached, before it serves: for people also when they asked for quiet.
    #[cfg(feature = "view")]
    pub fn address(&self, document: &Value, text: &str) {
        self.end();
        if self.json {
            print_json(document);
        }
        self.line(text);
    }

    fn out(&self, line: &dyn std::fmt::Display) {
        let write = || {
            let _ = writeln!(std::io::stdout().lock(), "{line}");
        };
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// A warning for people.
    pub fn warn(&self, text: &str) {
        self.line(&format!("warning: {text}"));
    }

    /// Marks a stage in the trace and returns what measures it.
    pub fn stage(&self, name: &'static str) -> Stage {
        Stage {
            name,
            since: Instant::now(),
            trace: Arc::clone(&self.trace),
        }
    }

    /// Ends a run whose answers are all out.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Ends the run with its document: JSON on stdout, or the text for people.
    pub fn finish(&self, document: &Value, text: &str) {
        self.end();
        if self.json {
            print_json(document);
        } else if !text.is_empty() {
            let _ = writeln!(std::io::stdout().lock(), "{text}");
        }
    }
}

impl Drop for Console {
    /// The handler of Ctrl-C keeps its own hold of the trace until the process ends.
    fn drop(&mut self) {
        if let Ok(mut trace) = self.trace.lock() {
            trace.end();
        }
    }
}

/// A stage that is being timed.
pub struct Stage {
    name: &'static str,
    since: Instant,
    trace: Arc<Mutex<Trace>>,
}

impl Stage {
    /// Ends the stage; seconds.
    pub fn end(self) -> f64 {
        let seconds = self.since.elapsed().as_secs_f64();
        if let Ok(mut trace) = self.trace.lock() {
            trace.stage(self.name, seconds);
        }
        seconds
    }
}

/// Prints one JSON document.
pub fn print_json(document: &Value) {
    let _ = writeln!(std::io::stdout().lock(), "{document}");
}

/// A failure for machines.
pub fn failure(error: &Error) -> Value {
    json!({
        "kind": error.kind(),
        "file": error.file(),
        "object": error.object(),
        "message": error.to_string(),
    })
}

/// Reports a failure: one message for people, or one JSON document.
pub fn fail(json: bool, error: &Error) {
    if json {
        print_json(&json!({"error": failure(error)}));
    } else {
        let _ = writeln!(std::io::stderr().lock(), "error: {error}");
    }
}

/// Highest resident memory of this process so far, in bytes; `None` where the system does not say.
pub fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
