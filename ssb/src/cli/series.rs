//! `ssb series`: numbered acquisitions of a folder, one shared fit or one each, and all phases in one file.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use indicatif::HumanDuration;
use serde_json::{Value, json};
use ssb_core::{Calibration, Candidate};
use ssb_io::result::{PhaseStack, ResultFile};
use ssb_io::{Numbered, numbered_acquisitions};

use super::args::{FitArgs, SeriesArgs};
use super::console::{Console, failure, peak_rss_bytes};
use super::{Ending, fit, reconstruct, writing};
use crate::record::Estimator;
use crate::{Error, FitOptions, Journal};

/// Name of the file with all phases.
const STACK: &str = "phases.h5";

/// What became of one acquisition.
enum State {
    Done {
        reused: bool,
        resumed: usize,
    },
    Cancelled,
    Failed(Error),
    /// Why nothing was tried.
    NotReached(&'static str),
}

struct Member {
    number: usize,
    acquisition: Numbered,
    output: PathBuf,
    state: State,
    loss: Option<f64>,
    best: Option<Candidate>,
}

impl Member {
    fn document(&self) -> Value {
        let mut document = json!({
            "name": self.acquisition.name,
            "file": self.acquisition.path.display().to_string(),
            "output": self.output.display().to_string(),
            "loss": self.loss,
            "best": self.best,
        });
        match &self.state {
            State::Done { reused, resumed } => {
                document["state"] = "done".into();
                document["reused"] = (*reused).into();
                document["resumed_evaluations"] = (*resumed).into();
            }
            State::Cancelled => document["state"] = "cancelled".into(),
            State::Failed(error) => {
                document["state"] = "failed".into();
                document["error"] = failure(error);
            }
            State::NotReached(why) => {
                document["state"] = "not reached".into();
                document["reason"] = (*why).into();
            }
        }
        document
    }

    fn line(&self) -> String {
        let name = &self.acquisition.name;
        let what = match &self.state {
            State::Done { reused, .. } => {
                let loss = self.loss.unwrap_or(f64::NAN);
                let again = if *reused { ", reused" } else { "" };
                format!(
                    "done, loss {loss:.6e} rad²{again}: {}",
                    self.output.display()
                )
            }
            State::Cancelled => "cancelled".into(),
            State::Failed(error) => format!("FAILED: {error}"),
            State::NotReached(why) => format!("not made: {why}"),
        };
        format!("{name:<24} {what}")
    }

    /// Takes over what was made.
    fn made(&mut self, result: &ResultFile, reused: bool, resumed: usize) {
        self.loss = Some(result.outcome.loss);
        self.best = Some(result.outcome.best.clone());
        self.state = if result.outcome.cancelled {
            State::Cancelled
        } else {
            State::Done { reused, resumed }
        };
    }

    fn stopped(&mut self, error: Error) {
        self.state = if error.is_cancelled() {
            State::Cancelled
        } else {
            State::Failed(error)
        };
    }

    /// The arguments of this acquisition alone; an interrupted fit goes on.
    fn arguments(&self, a: &SeriesArgs) -> FitArgs {
        let mut one = a.fit.clone();
        one.data.file.clone_from(&self.acquisition.path);
        one.result.output.clone_from(&self.output);
        one.resume = !one.result.force && Journal::beside(&self.output).exists();
        one
    }

    fn fit(&mut self, a: &SeriesArgs, options: &FitOptions, console: &Console) {
        match fit::make(&self.arguments(a), options, console) {
            Ok(made) => self.made(&made.result, made.reused, made.resumed),
            Err(error) => self.stopped(error),
        }
    }

    fn reconstruct(&mut self, a: &SeriesArgs, shared: &Shared, console: &Console) {
        let one = self.arguments(a);
        let wanted = reconstruct::Wanted {
            candidate: shared.candidate.clone(),
            origin: json!({"shared_fit_of": shared.name}),
            found_under: Some(shared.calibration.clone()),
            estimator: Estimator::PhaseOfMean,
            upsample: 1,
        };
        match reconstruct::make((&one.data, &one.backend, &one.result), &wanted, console) {
            Ok(made) => self.made(&made.result, made.reused, 0),
            Err(error) => self.stopped(error),
        }
    }
}

/// The fit that all acquisitions are reconstructed with.
struct Shared {
    candidate: Candidate,
    calibration: Calibration,
    name: String,
}

/// The folder of the results, made when it is not there.
fn folder(a: &SeriesArgs) -> Result<&Path, Error> {
    let folder = &a.fit.result.output;
    let refused = |problem: String, action: &str| Err(Error::output(folder, problem, action));
    if folder.exists() && !folder.is_dir() {
        return refused("it is a file".into(), "name a folder");
    }
    if writing::same(folder, &a.fit.data.file) {
        return refused("it is the folder of the data".into(), "name another folder");
    }
    if let Err(e) = std::fs::create_dir_all(folder) {
        return refused(e.to_string(), "choose a folder that can be written");
    }
    let stack = folder.join(STACK);
    writing::check_place(&stack)?;
    if stack.exists() && !PhaseStack::is_stack(&stack) {
        return Err(Error::output(
            stack,
            "it exists and is no stack of phases",
            "choose another folder, or remove it first",
        ));
    }
    Ok(folder)
}

fn members(a: &SeriesArgs, folder: &Path, console: &Console) -> Result<Vec<Member>, Error> {
    let series = numbered_acquisitions(&a.fit.data.file, a.pattern.as_deref())?;
    if !series.left_out.is_empty() {
        console.note(&format!("left out: {}", series.left_out.join(", ")));
    }
    let numbered = series.acquisitions.into_iter().enumerate();
    Ok(numbered
        .map(|(number, acquisition)| Member {
            number,
            output: folder.join(format!("{}.h5", acquisition.name)),
            acquisition,
            state: State::NotReached("cancelled before it"),
            loss: None,
            best: None,
        })
        .collect())
}

/// Which acquisition the shared fit is made on.
fn fitted_on(a: &SeriesArgs, members: &[Member]) -> Result<usize, Error> {
    let Some(name) = &a.fit_on else { return Ok(0) };
    let is = |m: &Member| m.acquisition.name == *name || m.acquisition.path.ends_with(name);
    members.iter().position(is).ok_or_else(|| {
        let names: Vec<&str> = members
            .iter()
            .map(|m| m.acquisition.name.as_str())
            .collect();
        let problem = format!(
            "the series has no acquisition `{name}`: {}",
            names.join(", ")
        );
        Error::request("--fit-on", problem, "name one of them")
    })
}

/// What a series still takes when the rest is as fast as what is done, in words; nothing before the first is done.
fn time_left(gone: Duration, done: usize, count: usize) -> String {
    if done == 0 {
        return String::new();
    }
    let each = gone.as_secs_f64() / done as f64;
    let left = HumanDuration(Duration::from_secs_f64(each * (count - done) as f64));
    format!(" ({each:.1} s each, {left:#} left)")
}

/// Makes all results, one after the other; a failure stops none but its own.
fn all(
    a: &SeriesArgs,
    options: &FitOptions,
    members: &mut [Member],
    console: &Console,
) -> Result<(), Error> {
    let count = members.len();
    let tell = |m: &Member, what: &str, left: &str| {
        let (number, name) = (m.number + 1, &m.acquisition.name);
        console.note(&format!("[{number}/{count}] {name}: {what}{left}"));
    };
    let shared = if a.mode == "shared" {
        let first = &mut members[fitted_on(a, members)?];
        tell(first, "the shared fit", "");
        first.fit(a, options, console);
        let State::Done { .. } = first.state else {
            let why = match first.state {
                State::Failed(_) => "the shared fit failed",
                _ => "cancelled before it",
            };
            let number = first.number;
            for m in members.iter_mut().filter(|m| m.number != number) {
                m.state = State::NotReached(why);
            }
            return Ok(());
        };
        let provenance = ResultFile::read_provenance(&first.output)?;
        first.best.clone().map(|candidate| Shared {
            candidate,
            calibration: provenance.calibration,
            name: first.acquisition.name.clone(),
        })
    } else {
        None
    };
    let since = Instant::now();
    for (done, m) in members.iter_mut().enumerate() {
        if console.control().is_cancelled() {
            return Ok(());
        }
        let left = time_left(since.elapsed(), done, count);
        match &shared {
            Some(shared) if shared.name == m.acquisition.name => {}
            Some(shared) => {
                tell(m, "reconstruct", &left);
                m.reconstruct(a, shared, console);
            }
            None => {
                tell(m, "fit", &left);
                m.fit(a, options, console);
            }
        }
        if let State::Failed(error) = &m.state {
            console.warn(&format!("{}: {error}", m.acquisition.name));
        }
    }
    Ok(())
}

/// Shape and pixel step of a phase.
type Grid = ([usize; 2], [f64; 2]);

fn grid(result: &ResultFile) -> Grid {
    let (rows, cols) = result.phase_rad.dim();
    let step = result.provenance.calibration.scan_step_a.value;
    ([rows, cols], step)
}

/// Writes the phases of the most common grid; those of another are listed.
fn stack(members: &[Member], path: &Path, console: &Console) -> Result<Vec<Value>, Error> {
    let done = |m: &&Member| matches!(m.state, State::Done { .. });
    let mut results = Vec::new();
    for m in members.iter().filter(done) {
        results.push((m, ResultFile::read(&m.output)?));
    }
    let grids: Vec<Grid> = results.iter().map(|(_, r)| grid(r)).collect();
    let votes = |g: &Grid| grids.iter().filter(|other| *other == g).count();
    // The first of the most common ones.
    let Some(chosen) = grids.iter().rev().max_by_key(|g| votes(g)).copied() else {
        return Ok(Vec::new());
    };
    let mut whole = PhaseStack {
        names: Vec::new(),
        phases_rad: Vec::new(),
        losses: Vec::new(),
        step_a: chosen.1,
        program: concat!("ssb ", env!("CARGO_PKG_VERSION")).into(),
    };
    let mut others = Vec::new();
    for ((m, result), (shape, step_a)) in results.into_iter().zip(grids) {
        let name = m.acquisition.name.clone();
        if (shape, step_a) == chosen {
            whole.names.push(name);
            whole.losses.push(result.outcome.loss);
            whole.phases_rad.push(result.phase_rad);
            continue;
        }
        console.warn(&format!(
            "{name}: its phase of {} x {}, step {step_a:?} Å, does not fit into the stack of {} x {}, step \
             {:?} Å, and stands in its own file only",
            shape[0], shape[1], chosen.0[0], chosen.0[1], chosen.1
        ));
        others.push(json!({"name": name, "shape": shape, "step_a": step_a}));
    }
    whole.write(path)?;
    Ok(others)
}

pub fn run(a: &SeriesArgs, console: &Console) -> Result<Ending, Error> {
    let options = fit::options(&a.fit)?;
    options.check()?;
    if a.mode == "each" && a.fit_on.is_some() {
        return Err(Error::request(
            "--fit-on",
            "every acquisition has its own fit",
            "drop it, or give --fit shared",
        ));
    }
    let folder = folder(a)?;
    let mut members = members(a, folder, console)?;
    all(a, &options, &mut members, console)?;
    let path = folder.join(STACK);
    let others = stack(&members, &path, console)?;
    let count = |which: fn(&State) -> bool| members.iter().filter(|m| which(&m.state)).count();
    let done = count(|s| matches!(s, State::Done { .. }));
    let failed = count(|s| matches!(s, State::Failed(_)));
    let stacked = done - others.len();
    let written = (done > 0).then(|| path.display().to_string());
    let document = json!({
        "output": folder.display().to_string(),
        "fit": a.mode,
        "acquisitions": members.iter().map(Member::document).collect::<Vec<_>>(),
        "done": done,
        "failed": failed,
        "stack": written,
        "stacked": stacked,
        "not_in_stack": others,
        "cancelled": console.control().is_cancelled(),
        "peak_rss_bytes": peak_rss_bytes(),
    });
    let mut lines: Vec<String> = members.iter().map(Member::line).collect();
    lines.push(format!("{done} of {} done, {failed} failed", members.len()));
    if let Some(written) = written {
        lines.push(format!("{stacked} phases: {written}"));
    }
    console.finish(&document, &lines.join("\n"));
    Ok(
        if console.control().is_cancelled() && done < members.len() {
            Ending::Cancelled
        } else if done < members.len() {
            Ending::Failed
        } else {
            Ending::Done
        },
    )
}
