//! Fixed lanes: BF pixels in contiguous runs, each summed in order, combined in order.

use rayon::prelude::*;
use ssb_core::{Control, Error};

use crate::evaluator::CpuEvaluator;
use crate::vectors::Vectors;

/// Pixels summed in float32 before they go into a lane's float64 sums.
pub const SHORT_SUM: usize = 32;

/// Lanes whose results are held at the same time.
pub const WAVE: usize = 32;

impl CpuEvaluator {
    /// Runs `work` over all pixels cut into lanes, in parallel, and hands the lanes' results to `combine`, in
    /// lane order, a wave at a time. `work` gets the index range of its lane and must poll `control`.
    pub(crate) fn over_lanes<T: Send>(
        &self,
        control: &Control,
        work: impl Fn(std::ops::Range<usize>) -> Result<T, Error> + Sync,
        mut combine: impl FnMut(Vec<T>) + Send,
    ) -> Result<(), Error> {
        let (count, length) = (self.store.pixels.len(), self.lane_length.max(1));
        let lanes = count.div_ceil(length);
        self.pool.install(|| {
            for start in (0..lanes).step_by(WAVE) {
                let done: Result<Vec<T>, Error> = (start..(start + WAVE).min(lanes))
                    .into_par_iter()
                    .with_max_len(1)
                    .map(|lane| {
                        control.check()?;
                        work(lane * length..((lane + 1) * length).min(count))
                    })
                    .collect();
                combine(done?);
            }
            Ok(())
        })
    }
}

/// Sums over the pixels of a lane: short ones in float32, and float64 ones once there are several.
pub struct LaneSums {
    pub short: crate::aligned::Aligned,
    long: Option<Vec<f64>>,
}

impl LaneSums {
    /// Sums that start at 0.
    pub fn new(mut short: crate::aligned::Aligned) -> Self {
        short.get_mut().fill(0.0);
        Self { short, long: None }
    }

    /// Moves the short sums into the float64 ones.
    pub fn flush(&mut self) {
        let short = self.short.get_mut();
        let long = self.long.get_or_insert_with(|| vec![0.0; short.len()]);
        for (short, long) in short.iter_mut().zip(long) {
            *long += f64::from(*short);
            *short = 0.0;
        }
    }

    /// Adds one stretch of the sums to `total`.
    #[inline(always)]
    fn add_to(&self, start: usize, total: &mut [f64]) {
        let short = &self.short.get()[start..][..total.len()];
        match &self.long {
            Some(long) => {
                for ((total, long), short) in total.iter_mut().zip(&long[start..]).zip(short) {
                    *total += *long + f64::from(*short);
                }
            }
            None => {
                for (total, short) in total.iter_mut().zip(short) {
                    *total += f64::from(*short);
                }
            }
        }
    }
}

/// Values combined by one task.
const PIECE: usize = 4096;

/// Adds the lanes' sums to the total, lane by lane at every element.
pub fn add_lanes(vectors: Vectors, total: &mut [f64], lanes: &[LaneSums]) {
    total
        .par_chunks_mut(PIECE)
        .enumerate()
        .for_each(|(piece, total)| {
            vectors.run(AddPiece {
                start: piece * PIECE,
                total,
                lanes,
            });
        });
}

struct AddPiece<'a> {
    start: usize,
    total: &'a mut [f64],
    lanes: &'a [LaneSums],
}

impl pulp::WithSimd for AddPiece<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        for lane in self.lanes {
            lane.add_to(self.start, self.total);
        }
    }
}
