//! `ssb bench`: a catalogue of benchmarks on one backend, one line a benchmark and scan shape.

use std::time::Instant;

use serde_json::json;
use ssb_core::{
    Backend, Candidate, Control, Evaluator, EvaluatorInfo, Geometry, Plan, PrepareOptions, Problem,
    Selection,
};
use ssb_testkit::synthetic::benchmark_problem;
use ssb_testkit::timed::{commit, every_term, low_order, thick};

use super::Ending;
use super::args::BenchArgs;
use super::console::{Console, peak_rss_bytes};
use crate::{Error, REGISTRY};

/// Timed runs of preparing, at most.
const PREPARE_RUNS: usize = 3;

/// One benchmark of a prepared evaluator.
struct Benchmark {
    name: &'static str,
    /// Candidates of one run.
    batch: usize,
    /// A candidate of this kind, with this C10 in nm.
    candidate: fn(&Geometry, f64) -> Candidate,
    run: fn(&mut dyn Evaluator, &[Candidate], &Control) -> Result<(), ssb_core::Error>,
    /// Bytes that the cost model moves (numerics section 7).
    bytes: fn(&Plan) -> u64,
}

/// Every benchmark, in the order in which they run.
const CATALOGUE: &[Benchmark] = &[
    Benchmark {
        name: "loss x1",
        batch: 1,
        candidate: low_order,
        run: losses,
        bytes: |plan| loss_bytes(plan, 1),
    },
    Benchmark {
        name: "loss x2",
        batch: 2,
        candidate: low_order,
        run: losses,
        bytes: |plan| loss_bytes(plan, 2),
    },
    Benchmark {
        name: "loss x4",
        batch: 4,
        candidate: low_order,
        run: losses,
        bytes: |plan| loss_bytes(plan, 4),
    },
    Benchmark {
        name: "mean phase",
        batch: 1,
        candidate: low_order,
        run: |e, c, control| e.mean_phase(&c[0], control).map(drop),
        bytes: |plan| loss_bytes(plan, 1),
    },
    Benchmark {
        name: "object",
        batch: 1,
        candidate: low_order,
        run: |e, c, control| e.object(&c[0], 1, control).map(drop),
        bytes: |plan| plan.object_bytes,
    },
    Benchmark {
        name: "agreement",
        batch: 1,
        candidate: low_order,
        run: |e, c, control| e.agreements(c, control).map(drop),
        bytes: |plan| plan.object_bytes,
    },
    Benchmark {
        name: "agreement x4",
        batch: 4,
        candidate: low_order,
        run: |e, c, control| e.agreements(c, control).map(drop),
        bytes: |plan| plan.object_bytes,
    },
    Benchmark {
        name: "thick loss",
        batch: 1,
        candidate: thick,
        run: losses,
        bytes: |plan| loss_bytes(plan, 1),
    },
    Benchmark {
        name: "every-term loss",
        batch: 1,
        candidate: every_term,
        run: losses,
        bytes: |plan| loss_bytes(plan, 1),
    },
];

fn losses(
    evaluator: &mut dyn Evaluator,
    candidates: &[Candidate],
    control: &Control,
) -> Result<(), ssb_core::Error> {
    evaluator.evaluate(candidates, control).map(drop)
}

/// One read of G, and an intermediate for each candidate.
fn loss_bytes(plan: &Plan, candidates: u64) -> u64 {
    plan.object_bytes + candidates * plan.loss_bytes.saturating_sub(plan.object_bytes)
}

/// The processor's name, where the system tells it.
fn cpu() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim().to_owned())
}

/// Seconds of a first run, which may compile, and of the timed ones, ascending.
struct Timing {
    first: f64,
    runs: Vec<f64>,
}

impl Timing {
    fn new(runs: usize, mut run: impl FnMut(usize) -> Result<f64, Error>) -> Result<Self, Error> {
        let first = run(0)?;
        let mut runs = (1..=runs).map(run).collect::<Result<Vec<_>, _>>()?;
        runs.sort_by(f64::total_cmp);
        Ok(Self { first, runs })
    }

    fn min(&self) -> f64 {
        self.runs[0]
    }

    fn median(&self) -> f64 {
        self.runs[self.runs.len() / 2]
    }

    fn max(&self) -> f64 {
        self.runs[self.runs.len() - 1]
    }
}

/// The machine under test.
struct Bench<'a> {
    console: &'a Console,
    chosen: Selection,
    options: PrepareOptions,
    runs: usize,
    /// Measured copy bandwidth in bytes a second; none where no speed is claimed.
    copy_bytes_per_s: Option<f64>,
}

impl Bench<'_> {
    /// Every line of one scan shape.
    fn shape(&self, scan_shape: [usize; 2], bf: usize) -> Result<(), Error> {
        let control = self.console.control();
        control.report("counts", 0, 0);
        let problem = benchmark_problem(scan_shape, bf).map_err(|e| match e {
            ssb_testkit::Error::Core(e) => Error::Core(e),
            other => Error::Core(ssb_core::Error::Internal(other.to_string())),
        })?;
        control.check().map_err(Error::Core)?;
        let geometry = problem.geometry().clone();
        let mut evaluator = self.prepare(problem)?;
        for (index, benchmark) in CATALOGUE.iter().enumerate() {
            control.report(benchmark.name, index as u64, CATALOGUE.len() as u64);
            let timing = Timing::new(self.runs, |run| {
                // No two candidates are alike: nothing can be remembered.
                let c10_nm = |i: usize| 12.5 + 0.01 * (run * benchmark.batch + i) as f64;
                let candidates: Vec<_> = (0..benchmark.batch)
                    .map(|i| (benchmark.candidate)(&geometry, c10_nm(i)))
                    .collect();
                let since = Instant::now();
                (benchmark.run)(evaluator.as_mut(), &candidates, control)?;
                Ok(since.elapsed().as_secs_f64())
            });
            match timing {
                Ok(timing) => {
                    let bytes = (benchmark.bytes)(&evaluator.info().plan);
                    self.line(
                        benchmark.name,
                        scan_shape,
                        evaluator.info(),
                        &timing,
                        Some(bytes),
                    );
                }
                // A scan of few positions leaves too few points for the agreement.
                Err(Error::Core(e @ ssb_core::Error::BadEvidence { .. })) => {
                    self.console
                        .warn(&format!("{} left out: {e}", benchmark.name));
                }
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Prepares a few times and keeps the last.
    fn prepare(&self, problem: Problem) -> Result<Box<dyn Evaluator>, Error> {
        let scan_shape = problem.geometry().scan_shape;
        let mut kept = None;
        let timing = Timing::new(self.runs.min(PREPARE_RUNS), |_| {
            // Memory for one G at a time.
            kept = None;
            let problem = problem.clone();
            let since = Instant::now();
            let control = self.console.control();
            kept = Some((self.chosen.entry.prepare)(
                problem,
                &self.options,
                control,
            )?);
            Ok(since.elapsed().as_secs_f64())
        })?;
        let evaluator = kept
            .ok_or_else(|| Error::Core(ssb_core::Error::Internal("nothing was prepared".into())))?;
        self.line("prepare", scan_shape, evaluator.info(), &timing, None);
        Ok(evaluator)
    }

    fn line(
        &self,
        what: &str,
        scan_shape: [usize; 2],
        info: &EvaluatorInfo,
        timing: &Timing,
        bytes: Option<u64>,
    ) {
        let moved_per_s = bytes.map(|b| b as f64 / timing.median());
        let fraction = moved_per_s
            .zip(self.copy_bytes_per_s)
            .map(|(moved, copied)| moved / copied);
        let document = json!({
            "bench": what,
            "scan_shape": scan_shape,
            "bf_pixels": info.bf_pixels,
            "bf_active": info.bf_active,
            "backend": info.backend,
            "device": info.device,
            "device_index": self.chosen.device.index,
            "software_adapter": info.software_adapter,
            "speed_claim": !info.software_adapter,
            "precision": info.precision,
            "threads": info.threads,
            "runs": timing.runs.len(),
            "seconds": {
                "first": timing.first,
                "median": timing.median(),
                "min": timing.min(),
                "max": timing.max(),
            },
            "model_bytes": bytes,
            "copy_bytes_per_s": self.copy_bytes_per_s,
            "fraction_of_copy": fraction,
            "plan": info.plan,
            "peak_rss_bytes": peak_rss_bytes(),
            "version": env!("CARGO_PKG_VERSION"),
            "commit": commit(),
            "cpu": cpu(),
        });
        let [rows, cols] = scan_shape;
        let mut text = format!(
            "{rows}x{cols} x {} BF  {what:<16} median {:9.2} ms  min {:9.2} ms  first {:9.2} ms",
            info.bf_active,
            timing.median() * 1e3,
            timing.min() * 1e3,
            timing.first * 1e3,
        );
        if info.software_adapter {
            text += "  software adapter: no measure of speed";
        } else if let Some((bytes, fraction)) = bytes.zip(fraction) {
            let gb = bytes as f64 * 1e-9;
            text += &format!("  {gb:.3} GB, {:.1} % of a copy", fraction * 1e2);
        }
        self.console.record(&document, &text);
    }
}

pub fn run(a: &BenchArgs, console: &Console) -> Result<Ending, Error> {
    let backend = Backend::from(a.backend.backend.as_str());
    let chosen = REGISTRY.select(&backend, a.backend.device)?;
    console.note(&format!(
        "backend: {} ({}); {}",
        chosen.entry.name, chosen.device.name, chosen.reason
    ));
    let copy_bytes_per_s = if chosen.device.software {
        console
            .warn("a software adapter: the times show that it works, never how fast a device is");
        None
    } else {
        console.control().report("copy bandwidth", 0, 0);
        match (chosen.entry.copy_bandwidth)(Some(chosen.device.index), a.backend.threads) {
            Ok(measured) => {
                console.note(&format!("copy bandwidth: {:.1} GB/s", measured * 1e-9));
                Some(measured)
            }
            Err(e) => {
                console.warn(&format!("the copy bandwidth was not measured: {e}"));
                None
            }
        }
    };
    let options = PrepareOptions {
        device: Some(chosen.device.index),
        threads: a.backend.threads,
        max_memory_bytes: a.backend.max_memory,
        topology: a.backend.topology.clone(),
        ..PrepareOptions::default()
    };
    let bench = Bench {
        console,
        chosen,
        options,
        runs: a.runs,
        copy_bytes_per_s,
    };
    let usual = [[128, 128], [256, 256]];
    let shapes = if a.scan_shape.is_empty() {
        &usual[..]
    } else {
        &a.scan_shape
    };
    for shape in shapes {
        bench.shape(*shape, a.bf)?;
    }
    console.end();
    Ok(Ending::Done)
}
