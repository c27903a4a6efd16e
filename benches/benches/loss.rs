//! One exact loss on the CPU backend beside an FFT-only floor: the same number of bare complex64
//! inverse 2-D transforms by RustFFT into a new array, same threads, alternating runs.
//!
//! `cargo bench --package ssb-benches -- [rows cols bf threads]`; one JSON line.

use rayon::prelude::*;
use rustfft::num_complex::Complex32;
use rustfft::{FftDirection, FftPlanner};
use ssb_benches::alternate;
use ssb_core::{Angle, Candidate, Control, Length, PrepareOptions};
use ssb_testkit::synthetic::benchmark_problem;

type Failure = Box<dyn std::error::Error>;

/// Bare inverse transforms of `planes` planes: rows, transpose, rows.
fn floor(input: &[Complex32], rows: usize, cols: usize, pool: &rayon::ThreadPool) -> f32 {
    let mut planner = FftPlanner::new();
    let along_rows = planner.plan_fft(cols, FftDirection::Inverse);
    let along_cols = planner.plan_fft(rows, FftDirection::Inverse);
    let mut output = vec![Complex32::default(); input.len()];
    pool.install(|| {
        output
            .par_chunks_mut(rows * cols)
            .zip(input.par_chunks(rows * cols))
            .for_each_init(
                || vec![Complex32::default(); rows * cols],
                |turned, (out, plane)| {
                    out.copy_from_slice(plane);
                    along_rows.process(out);
                    for r in 0..rows {
                        for c in 0..cols {
                            turned[c * rows + r] = out[r * cols + c];
                        }
                    }
                    along_cols.process(turned);
                    for r in 0..rows {
                        for c in 0..cols {
                            out[r * cols + c] = turned[c * rows + r];
                        }
                    }
                },
            );
    });
    output[output.len() / 2].re
}

fn main() -> Result<(), Failure> {
    let numbers: Vec<usize> = std::env::args()
        .skip(1)
        .filter_map(|a| a.parse().ok())
        .collect();
    let [rows, cols, bf, threads] = match numbers[..] {
        [rows, cols, bf, threads] => [rows, cols, bf, threads],
        _ => [256, 256, 1000, std::thread::available_parallelism()?.get()],
    };
    let control = Control::default();
    let options = PrepareOptions {
        threads: Some(threads),
        ..PrepareOptions::default()
    };
    let mut evaluator =
        (ssb_cpu::CPU.prepare)(benchmark_problem([rows, cols], bf)?, &options, &control)?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()?;
    let planes = vec![Complex32::new(0.25, -0.5); bf * rows * cols];
    let mut candidate = Candidate::default();
    candidate.aberrations = candidate
        .aberrations
        .with(0, Length::from_nm(12.5), Angle::default())
        .with(1, Length::from_nm(3.0), Angle::from_rad(0.25));
    let plan = evaluator.info().plan.clone();
    let mut losses = Vec::new();
    let mut sink = 0.0;
    let mut failure = None;
    let timings = alternate(
        7,
        &mut [
            &mut || match evaluator.evaluate(std::slice::from_ref(&candidate), &control) {
                Ok(result) => losses.push(result[0].loss),
                Err(error) => failure = Some(error),
            },
            &mut || sink += floor(&planes, rows, cols, &pool),
        ],
    );
    if let Some(error) = failure {
        return Err(error.into());
    }
    let line = |t: ssb_benches::Timing| serde_json::json!([t.min, t.median, t.max]);
    println!(
        "{}",
        serde_json::json!({
            "bench": "loss", "backend": "cpu", "scan_shape": [rows, cols], "bf_pixels": bf,
            "threads": threads, "model_bytes": plan.loss_bytes, "g_bytes": plan.object_bytes,
            "loss_seconds_min_median_max": line(timings[0]),
            "bare_inverse_fft_seconds_min_median_max": line(timings[1]),
            "ratio_of_medians": timings[0].median / timings[1].median,
            "loss": losses.first(), "checksum": sink,
        })
    );
    Ok(())
}
