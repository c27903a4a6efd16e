//! `ssb parity`: the conformance suite on a backend of this machine, one line a check.

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::{Value, json};
use ssb_core::{Backend, PrepareOptions};
use ssb_testkit::conformance::{self, CheckOutcome};
use ssb_testkit::synthetic::{LARGE_PROBLEMS, PROBLEMS, Synthetic};

use super::Ending;
use super::args::ParityArgs;
use super::console::Console;
use crate::{Error, REGISTRY};

/// The problems asked for, in the suite's order.
fn problems(a: &ParityArgs) -> Result<Vec<Synthetic>, Error> {
    let all = || PROBLEMS.iter().chain(LARGE_PROBLEMS);
    for name in &a.problems {
        if !all().any(|p| p.name == name) {
            let names: Vec<_> = all().map(|p| p.name).collect();
            return Err(Error::request(
                "--problems",
                format!("`{name}` is not a problem of the suite"),
                format!("choose among {}", names.join(", ")),
            ));
        }
    }
    let wanted = |p: &&Synthetic| a.problems.iter().any(|name| name == p.name);
    Ok(if !a.problems.is_empty() {
        all().filter(wanted).cloned().collect()
    } else if a.large {
        all().cloned().collect()
    } else {
        PROBLEMS.to_vec()
    })
}

/// The outcome of each kind of check that came nearest to its bound, or beyond.
#[derive(Default)]
struct Worst {
    kinds: BTreeMap<String, CheckOutcome>,
}

/// Measured over allowed; 0 for an exact check that passed, infinite for a backend that failed.
fn ratio(outcome: &CheckOutcome) -> f64 {
    if outcome.measured == 0.0 {
        0.0
    } else if outcome.measured.is_nan() {
        f64::INFINITY
    } else {
        outcome.measured / outcome.bound
    }
}

impl Worst {
    fn add(&mut self, outcome: &CheckOutcome) {
        let kept = self.kinds.entry(outcome.check.clone());
        let kept = kept.or_insert_with(|| outcome.clone());
        if ratio(outcome) > ratio(kept) {
            *kept = outcome.clone();
        }
    }

    /// Nearest to their bounds first.
    fn sorted(self) -> Vec<CheckOutcome> {
        let mut all: Vec<_> = self.kinds.into_values().collect();
        all.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
        all
    }
}

pub fn run(a: &ParityArgs, console: &Console) -> Result<Ending, Error> {
    let problems = problems(a)?;
    let backend = Backend::from(a.backend.backend.as_str());
    let chosen = REGISTRY.select(&backend, a.backend.device)?;
    let device = &chosen.device;
    let adapter = if device.software {
        "a software adapter"
    } else {
        "not a software adapter"
    };
    let place = format!(
        "{}, device {} ({}, {adapter})",
        chosen.entry.name, device.index, device.name
    );
    console.note(&format!("backend: {place}; {}", chosen.reason));
    let control = console.control();
    let prepare = |problem, asked: &PrepareOptions| {
        let options = PrepareOptions {
            device: Some(device.index),
            threads: asked.threads.or(a.backend.threads),
            max_memory_bytes: asked.max_memory_bytes.or(a.backend.max_memory),
            topology: a.backend.topology.clone(),
            ..asked.clone()
        };
        (chosen.entry.prepare)(problem, &options, control)
    };
    let (mut worst, mut checks) = (Worst::default(), Vec::new());
    let since = Instant::now();
    let summary = conformance::run(&prepare, &problems, control, &mut |outcome| {
        console.say(&outcome.to_string());
        worst.add(outcome);
        checks.push(json!(outcome));
    })
    .map_err(|e| match e {
        ssb_testkit::Error::Core(e) => Error::Core(e),
        other => Error::Core(ssb_core::Error::Internal(other.to_string())),
    })?;
    let seconds = since.elapsed().as_secs_f64();
    let kinds = worst.sorted();
    let text = text(
        &place,
        &kinds,
        summary.checks,
        summary.failed.len(),
        seconds,
    );
    let of_kind = |outcome: &CheckOutcome| -> Value {
        let mut kind = json!(outcome);
        // An infinite ratio, of a backend that failed, is null in JSON.
        kind["ratio"] = json!(ratio(outcome));
        kind
    };
    let document = json!({
        "backend": chosen.entry.name,
        "device": device.name,
        "device_index": device.index,
        "software_adapter": device.software,
        "problems": problems.iter().map(|p| p.name).collect::<Vec<_>>(),
        "passed": summary.passed(),
        "checks": summary.checks,
        "failed": summary.failed.len(),
        "worst": kinds.iter().map(of_kind).collect::<Vec<_>>(),
        "outcomes": checks,
        "seconds": seconds,
    });
    console.finish(&document, &text);
    Ok(if summary.passed() {
        Ending::Done
    } else {
        Ending::Failed
    })
}

fn text(place: &str, kinds: &[CheckOutcome], checks: usize, failed: usize, seconds: f64) -> String {
    let mut lines = vec![String::new(), "worst measured / bound of each kind:".into()];
    for kind in kinds {
        let ratio = match ratio(kind) {
            _ if kind.bound == 0.0 && kind.passed => "exact".into(),
            r if r.is_finite() => format!("{r:.3}"),
            _ => "failed".into(),
        };
        lines.push(format!("  {ratio:>7}  {:<40} {}", kind.check, kind.problem));
    }
    let verdict = match failed {
        0 => "all passed".into(),
        n => format!("{n} FAILED"),
    };
    lines.push(format!(
        "{place}: {checks} checks, {verdict}, {seconds:.0} s"
    ));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(check: &str, measured: f64, bound: f64) -> CheckOutcome {
        CheckOutcome {
            problem: "8x8".into(),
            check: check.into(),
            measured,
            bound,
            passed: measured <= bound,
            at: String::new(),
        }
    }

    #[test]
    fn the_worst_of_each_kind_leads_and_a_fault_is_worse_than_any_number() {
        let mut worst = Worst::default();
        for (check, measured, bound) in [
            ("loss", 1e-7, 1e-6),
            ("loss", 5e-7, 1e-6),
            ("loss", 2e-7, 1e-6),
            ("runs", 0.0, 0.0),
            ("object", 3e-6, 1e-6),
            ("object", f64::NAN, 1e-6),
        ] {
            worst.add(&outcome(check, measured, bound));
        }
        let kinds = worst.sorted();
        let names: Vec<_> = kinds.iter().map(|k| k.check.as_str()).collect();
        assert_eq!(names, ["object", "loss", "runs"]);
        assert!(kinds[0].measured.is_nan());
        assert_eq!(kinds[1].measured, 5e-7);
        let text = text("cpu", &kinds, 6, 2, 1.0);
        for word in ["failed  object", "0.500  loss", "exact  runs", "2 FAILED"] {
            assert!(text.contains(word), "{text}");
        }
    }
}
