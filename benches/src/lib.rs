//! Problems and timing for the benchmarks: fixed seeds, the work stated, several runs.

use std::time::Instant;

use ndarray::Array2;
use ssb_core::{BfDisk, Calibration, Columns, Error, Evidence, Geometry, Problem, Sourced};

/// A problem of `bf_pixels` BF pixels (the ones nearest to the disk's centre) whose aperture just covers
/// them: 300 kV, 21.4 mrad, 0.25 Å steps, counts of about 20 with noise.
///
/// # Errors
/// Never for a scan of at least 2 x 2 and one or more pixels; the error is the core's.
pub fn problem(scan_shape: [usize; 2], bf_pixels: usize) -> Result<Problem, Error> {
    let radius_px = (bf_pixels as f64 / std::f64::consts::PI).sqrt();
    let side = 2 * (radius_px.ceil() as u32 + 2);
    let center_px = [f64::from(side) / 2.0 - 0.3, f64::from(side) / 2.0 + 0.2];
    let distance =
        |p: &[u32; 2]| (f64::from(p[0]) - center_px[0]).hypot(f64::from(p[1]) - center_px[1]);
    let mut pixels: Vec<[u32; 2]> = (0..side)
        .flat_map(|r| (0..side).map(move |c| [r, c]))
        .collect();
    pixels.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    pixels.truncate(bf_pixels);
    pixels.sort_unstable();
    let source = "benchmark";
    let calibration = Calibration {
        voltage_kv: Sourced::new(300.0, source),
        semiangle_mrad: Sourced::new(21.4, source),
        scan_step_a: Sourced::new([0.25, 0.25], source),
        det_step_mrad: Sourced::new([21.4 / radius_px; 2], source),
        rotation_deg: Sourced::new(0.0, source),
    };
    let geometry = Geometry::new(
        &calibration,
        scan_shape,
        &BfDisk {
            center_px,
            radius_px,
            pixels,
        },
    )?;
    let [rows, cols] = scan_shape;
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let counts = Array2::from_shape_fn((bf_pixels, rows * cols), |(b, i)| {
        // A multiplicative generator is noise enough for a timing.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let noise = (state >> 61) as f64;
        let (r, c) = ((i / cols) as f64, (i % cols) as f64);
        (16.0 + 3.0 * (0.4 * r + 0.1 * b as f64).sin() + 3.0 * (0.3 * c).cos() + noise) as u8
    });
    Problem::new(geometry, Evidence::new(scan_shape, Columns::U8(counts))?)
}

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
