//! Timing for the benchmarks: several runs, rivals in turn.

use std::time::Instant;

/// Minimum, median and maximum of several timings in seconds.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// Fastest run.
    pub min: f64,
    /// Median run: the figure to quote.
    pub median: f64,
    /// Slowest run.
    pub max: f64,
}

/// Runs every job in turn, `runs` times after one warm-up round, so that drift of the machine's speed
/// meets all alike.
pub fn alternate(runs: usize, jobs: &mut [&mut dyn FnMut()]) -> Vec<Timing> {
    let mut seconds = vec![Vec::with_capacity(runs); jobs.len()];
    for round in 0..=runs {
        for (job, seconds) in jobs.iter_mut().zip(&mut seconds) {
            let start = Instant::now();
            job();
            if round > 0 {
                seconds.push(start.elapsed().as_secs_f64());
            }
        }
    }
    seconds
        .into_iter()
        .map(|mut s| {
            s.sort_by(f64::total_cmp);
            Timing {
                min: s[0],
                median: s[s.len() / 2],
                max: s[s.len() - 1],
            }
        })
        .collect()
}
