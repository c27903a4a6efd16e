//! Fixed lanes: BF pixels in contiguous runs, each summed in order, combined in order.

use rayon::prelude::*;
use ssb_core::{Control, Error};

/// Runs `work` over `count` items cut into lanes of `length`, in parallel, and returns each lane's
/// result in lane order. `work` gets the index range of its lane and must poll `control` itself.
pub fn run<T: Send>(
    pool: &rayon::ThreadPool,
    count: usize,
    length: usize,
    control: &Control,
    work: impl Fn(std::ops::Range<usize>) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    let length = length.max(1);
    pool.install(|| {
        (0..count.div_ceil(length))
            .into_par_iter()
            .map(|lane| {
                control.check()?;
                work(lane * length..((lane + 1) * length).min(count))
            })
            .collect()
    })
}
