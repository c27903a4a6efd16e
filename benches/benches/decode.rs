//! Opening and decoding a file on one thread and on two, and gathering its bright-field columns.
//!
//!     cargo bench -p ssb-benches --bench decode -- FILE [RUNS]
//!
//! `rivals/h5py_bitshuffle.py` makes the files and times h5py with hdf5plugin on them. Prints one JSON
//! line: seconds (min, median, max) and the bytes decoded.

use std::path::Path;

use serde_json::json;
use ssb_benches::{Timing, alternate};
use ssb_core::Control;
use ssb_io::OpenOptions;

fn pass(path: &Path, threads: &rayon::ThreadPool) -> u64 {
    threads.install(|| {
        let source = ssb_io::open(path, &OpenOptions::default()).expect("the file opens");
        source
            .decode_pass(&Control::default())
            .expect("the file decodes")
    })
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
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
    let timings = alternate(
        runs,
        &mut [
            &mut || {
                pass(path, &one);
            },
            &mut || {
                pass(path, &two);
            },
        ],
    );
    let list = |t: &Timing| [t.min, t.median, t.max];
    println!(
        "{}",
        json!({
            "bench": "open and decode",
            "file": file,
            "decoded_bytes": bytes,
            "one_thread_seconds_min_median_max": list(&timings[0]),
            "two_threads_seconds_min_median_max": list(&timings[1]),
        })
    );
}
