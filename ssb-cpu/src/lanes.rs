//! Fixed lanes: BF pixels in contiguous runs, each summed in order, combined in order.

use std::ops::AddAssign;

use rayon::prelude::*;
use ssb_core::{Control, Error};

use crate::candidate_tables::CandidateTables;
use crate::evaluator::CpuEvaluator;
use crate::pixel::Pixel;

/// Pixels summed in float32 before they go into a lane's float64 sums.
const SHORT_SUM: usize = 32;

/// What one lane does with its pixels, in order.
pub trait LaneWork {
    /// The lane's result.
    type Sums: Send;
    /// Adds one pixel.
    fn add(&mut self, pixel: &Pixel<'_>);
    /// Moves short float32 sums, where there are any, into the lane's float64 sums.
    fn flush(&mut self);
    /// Ends the lane, after a last flush.
    fn finish(self) -> Self::Sums;
}

impl CpuEvaluator {
    /// Runs a lane's work over all pixels with an open aperture; one result a lane, in order.
    pub(crate) fn over_lanes<W: LaneWork>(
        &self,
        tables: &CandidateTables,
        control: &Control,
        start: impl Fn() -> W + Sync,
    ) -> Result<Vec<W::Sums>, Error> {
        run(
            &self.pool,
            self.spectra.len(),
            self.lane_length,
            control,
            |range| {
                let mut work = start();
                for (i, spectrum) in self.spectra[range].iter().enumerate() {
                    control.check()?;
                    if let Some(pixel) = self.pixel(tables, spectrum) {
                        work.add(&pixel);
                    }
                    if i % SHORT_SUM == SHORT_SUM - 1 {
                        work.flush();
                    }
                }
                work.flush();
                Ok(work.finish())
            },
        )
    }
}

/// Adds one lane's sums to the total, element by element.
pub fn add_to<T: AddAssign>(total: &mut [T], lane: Vec<T>) {
    for (sum, value) in total.iter_mut().zip(lane) {
        *sum += value;
    }
}

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
