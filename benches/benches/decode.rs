//! Opening and decoding a file on one thread and on two, and gathering its bright-field columns.
//!
//!     cargo bench -p ssb-benches --bench decode -- FILE [RUNS [JOB]]
//!
//! JOB is one of pass1, pass2, columns1, columns2 (the number is that of threads); all by default.
//!
//! `rivals/h5py_bitshuffle.py` makes the files and times h5py with hdf5plugin on them. Prints one JSON
//! line: seconds (min, median, max) and the bytes decoded.

#![allow(
    clippy::expect_used,
    reason = "a benchmark stops where it cannot go on"
)]

use std::path::Path;

use serde_json::json;
use ssb_benches::alternate;
use ssb_core::{BfOptions, Control, select_bf};
use ssb_io::{MeanPattern, OpenOptions};

fn pass(path: &Path, threads: &rayon::ThreadPool) -> u64 {
    threads.install(|| {
        let source = ssb_io::open(path, &OpenOptions::default()).expect("the file opens");
        source
            .decode_pass(&Control::default())
            .expect("the file decodes")
    })
}

/// Opening to columns of the bright-field disk as the program does it: a guess from a sample, one pass, and a
/// second one when the guess is wrong. Returns the number of columns and of passes.
fn columns(path: &Path, threads: &rayon::ThreadPool) -> (usize, u8) {
    threads.install(|| {
        let control = Control::default();
        let source = ssb_io::open(path, &OpenOptions::default()).expect("the file opens");
        let disk = |mean: &MeanPattern| {
            select_bf(mean.mean.view(), source.mask(), &BfOptions::default()).expect("a disk")
        };
        let sample = source.sampled_mean_pattern(&control).expect("a sample");
        let mut guess = disk(&sample.expect("enough frames"));
        guess.radius_px += 1.5;
        let [_, _, rows, cols] = source.shape().map(|n| n as u32);
        let all = (0..rows).flat_map(|r| (0..cols).map(move |c| [r, c]));
        let around = all.filter(|p| guess.contains(*p) && guess.pixels.binary_search(p).is_err());
        let around: Vec<[u32; 2]> = around.collect();
        let (mean, guessed) = source
            .mean_pattern_and_guess(&guess.pixels, &around, &control)
            .expect("the file decodes");
        let disk = disk(&mean);
        match source
            .evidence_of_guess(guessed, &disk.pixels)
            .expect("finite counts")
        {
            Some(evidence) => (evidence.len(), 1),
            None => (
                source
                    .gather(&disk.pixels, &control)
                    .expect("columns")
                    .len(),
                2,
            ),
        }
    })
}

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    let Some(file) = arguments.first() else {
        eprintln!("decode: no FILE given, nothing to do");
        return;
    };
    let path = Path::new(file);
    let runs = arguments.get(1).and_then(|n| n.parse().ok()).unwrap_or(15);
    let pool = |n| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(n)
            .build()
            .expect("threads")
    };
    let (one, two) = (pool(1), pool(2));
    let bytes = pass(path, &one);
    let scan = bytes > 500_000_000;
    let found = if scan { columns(path, &two) } else { (0, 0) };
    let only = arguments.get(2).map(String::as_str);
    let mut seconds = serde_json::Map::new();
    let mut pass_one = || {
        pass(path, &one);
    };
    let mut pass_two = || {
        pass(path, &two);
    };
    let mut columns_one = || {
        columns(path, &one);
    };
    let mut columns_two = || {
        columns(path, &two);
    };
    let mut names = Vec::new();
    let mut jobs: Vec<&mut dyn FnMut()> = Vec::new();
    let every: [(&str, bool, &mut dyn FnMut()); 4] = [
        ("pass1", false, &mut pass_one),
        ("pass2", false, &mut pass_two),
        ("columns1", true, &mut columns_one),
        ("columns2", true, &mut columns_two),
    ];
    for (name, of_scan, job) in every {
        if only.is_none_or(|o| o == name) && (scan || !of_scan) {
            names.push(name);
            jobs.push(job);
        }
    }
    for (name, t) in names.iter().zip(alternate(runs.max(1), &mut jobs)) {
        seconds.insert((*name).to_owned(), json!([t.min, t.median, t.max]));
    }
    println!(
        "{}",
        json!({
            "bench": "open and decode",
            "file": file,
            "decoded_bytes": bytes,
            "columns": found.0,
            "passes": found.1,
            "seconds_min_median_max": seconds,
        })
    );
}
