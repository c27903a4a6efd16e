//! Runs one evaluation of the CPU backend for every line on standard input and prints its seconds, so
//! that a rival in another process can be timed in turn with it (`benches/rivals/side_by_side.py`).
//!
//! `on_request ROWS COLS BF THREADS`; a line is one of the names in [`WORK`].

use std::io::{BufRead, Write};
use std::time::Instant;

use ssb_core::{Candidate, Control, Error, Evaluator, Geometry, PrepareOptions};
use ssb_testkit::synthetic::benchmark_problem;
use ssb_testkit::timed::{commit, every_term, low_order, thick};

type Run = fn(&mut dyn Evaluator, &[Candidate], &Control) -> Result<(), Error>;
type Kind = fn(&Geometry, f64) -> Candidate;

/// Name, candidates in one call, their kind, and what is asked.
const WORK: &[(&str, usize, Kind, Run)] = &[
    ("loss", 1, low_order, losses),
    ("pair", 2, low_order, losses),
    ("four", 4, low_order, losses),
    ("every-term", 1, every_term, losses),
    ("thick", 1, thick, losses),
    ("mean-phase", 1, low_order, |e, c, control| {
        e.mean_phase(&c[0], control).map(drop)
    }),
    ("object", 1, low_order, |e, c, control| {
        e.object(&c[0], 1, control).map(drop)
    }),
    ("agreement", 1, low_order, |e, c, control| {
        e.agreements(c, control).map(drop)
    }),
    ("agreement x4", 4, low_order, |e, c, control| {
        e.agreements(c, control).map(drop)
    }),
];

fn losses(
    evaluator: &mut dyn Evaluator,
    candidates: &[Candidate],
    control: &Control,
) -> Result<(), Error> {
    evaluator.evaluate(candidates, control).map(drop)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let numbers: Vec<usize> = std::env::args()
        .skip(1)
        .filter_map(|a| a.parse().ok())
        .collect();
    let [rows, cols, bf, threads] = numbers[..] else {
        return Err("usage: on_request ROWS COLS BF THREADS".into());
    };
    let control = Control::default();
    let options = PrepareOptions {
        threads: Some(threads),
        max_memory_bytes: std::env::var("SSB_BENCH_MEMORY_BYTES")
            .ok()
            .and_then(|v| v.parse().ok()),
        ..PrepareOptions::default()
    };
    let problem = benchmark_problem([rows, cols], bf)?;
    let geometry = problem.geometry().clone();
    let since = Instant::now();
    let mut evaluator = (ssb_cpu::CPU.prepare)(problem, &options, &control)?;
    let mut out = std::io::stdout().lock();
    let info = evaluator.info();
    writeln!(
        out,
        "{}",
        serde_json::json!({
            "prepare_seconds": since.elapsed().as_secs_f64(),
            "device": info.device, "threads": info.threads, "plan": info.plan,
            "commit": commit(),
        })
    )?;
    out.flush()?;
    for (turn, line) in std::io::stdin().lock().lines().enumerate() {
        let line = line?;
        let Some((_, count, kind, run)) = WORK.iter().find(|w| w.0 == line.trim()) else {
            return Err(format!("no work is called {line}").into());
        };
        // No two candidates are alike.
        let candidates: Vec<_> = (0..*count)
            .map(|i| kind(&geometry, 12.5 + 0.01 * (turn * 4 + i) as f64))
            .collect();
        let since = Instant::now();
        run(evaluator.as_mut(), &candidates, &control)?;
        writeln!(out, "{}", since.elapsed().as_secs_f64())?;
        out.flush()?;
    }
    Ok(())
}
