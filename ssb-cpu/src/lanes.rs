//! Fixed lanes: BF pixels in contiguous runs, each summed in order, combined in order.

use rayon::prelude::*;
use ssb_core::{Control, Error};

use crate::aligned::Aligned;
use crate::evaluator::CpuEvaluator;
use crate::loss::Workspace;
use crate::reuse::Reuse;
use crate::vectors::Vectors;

/// Pixels summed in float32 before they go into a lane's float64 sums.
pub const SHORT_SUM: usize = 32;

/// Lanes whose results are held at the same time.
pub const WAVE: usize = 32;

/// A BF pixel with an open aperture.
pub(crate) struct OpenPixel<'a> {
    pub g: &'a [f32],
    pub k: [f64; 2],
    pub aperture: f64,
}

/// What is summed over the pixels of a lane.
pub(crate) trait Lane: Send {
    /// Moves short sums into long ones.
    fn flush(&mut self);
}

impl CpuEvaluator {
    /// Cuts all pixels into lanes, which run in parallel: each starts with `start` and gets every open pixel by
    /// `add`. Hands the lanes to `combine`, in lane order, a wave at a time.
    pub(crate) fn over_lanes<T: Lane>(
        &self,
        control: &Control,
        start: impl Fn() -> T + Sync,
        add: impl Fn(&mut T, &OpenPixel<'_>, &mut Workspace) + Sync,
        mut combine: impl FnMut(Vec<T>) + Send,
    ) -> Result<(), Error> {
        let (count, length) = (self.store.pixels.len(), self.lane_length.max(1));
        let lanes = count.div_ceil(length);
        self.pool.install(|| {
            for first in (0..lanes).step_by(WAVE) {
                let done: Result<Vec<T>, Error> = (first..(first + WAVE).min(lanes))
                    .into_par_iter()
                    .with_max_len(1)
                    .map(|lane| {
                        let range = lane * length..((lane + 1) * length).min(count);
                        self.lane(range, control, start(), &add)
                    })
                    .collect();
                combine(done?);
            }
            Ok(())
        })
    }

    fn lane<T: Lane>(
        &self,
        range: std::ops::Range<usize>,
        control: &Control,
        mut lane: T,
        add: &impl Fn(&mut T, &OpenPixel<'_>, &mut Workspace),
    ) -> Result<T, Error> {
        control.check()?;
        let new = || Workspace::new(&self.lattice, &self.half_plane);
        let mut workspace = self.workspaces.take(new);
        let mut made = workspace.made.take();
        for (i, index) in range.enumerate() {
            control.check()?;
            if i > 0 && i % SHORT_SUM == 0 {
                lane.flush();
            }
            let Some((k, aperture)) = self.open(index) else {
                continue;
            };
            let (half_plane, vectors) = (&self.half_plane, self.vectors);
            let g = self.store.g(half_plane, vectors, index, &mut made);
            add(&mut lane, &OpenPixel { g, k, aperture }, &mut workspace);
        }
        workspace.made = made;
        self.workspaces.put([workspace]);
        Ok(lane)
    }
}

/// Sums over the pixels of a lane: short ones in float32, and float64 ones once there are several.
pub struct LaneSums {
    pub short: Aligned,
    long: Option<Vec<f64>>,
}

impl LaneSums {
    /// Sums that start at 0.
    pub fn new(mut short: Aligned) -> Self {
        short.get_mut().fill(0.0);
        Self { short, long: None }
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

impl Lane for LaneSums {
    fn flush(&mut self) {
        let short = self.short.get_mut();
        let long = self.long.get_or_insert_with(|| vec![0.0; short.len()]);
        for (short, long) in short.iter_mut().zip(long) {
            *long += f64::from(*short);
            *short = 0.0;
        }
    }
}

impl<T: Lane> Lane for Vec<T> {
    fn flush(&mut self) {
        self.iter_mut().for_each(T::flush);
    }
}

/// Adds the lanes' sums of each candidate to its total, and gives their buffers back.
pub(crate) fn combine(
    vectors: Vectors,
    totals: &mut [Vec<f64>],
    lanes: Vec<Vec<LaneSums>>,
    spare: &Reuse<Aligned>,
) {
    let mut of_candidate: Vec<Vec<LaneSums>> = totals.iter().map(|_| Vec::new()).collect();
    for lane in lanes {
        for (of_candidate, sums) in of_candidate.iter_mut().zip(lane) {
            of_candidate.push(sums);
        }
    }
    for (total, lanes) in totals.iter_mut().zip(of_candidate) {
        add_lanes(vectors, total, &lanes);
        spare.put(lanes.into_iter().map(|lane| lane.short));
    }
}

/// Values combined by one task.
const PIECE: usize = 4096;

/// Adds the lanes' sums to the total, lane by lane at every element.
fn add_lanes(vectors: Vectors, total: &mut [f64], lanes: &[LaneSums]) {
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
