//! One pack of BF pixels under the candidates of a batch: what a topology's kernels are launched with.

use cubecl::prelude::*;

use super::buffers::Buffers;
use crate::device::DeviceArray;
use crate::kernel::layout::Model;
use crate::plan::Arrangement;

/// A pack of BF pixels.
pub(crate) struct Pack<'a, R: Runtime> {
    pub(super) client: &'a ComputeClient<R>,
    pub(super) plan: &'a Arrangement,
    pub(super) buffers: &'a Buffers,
    pub(super) g: DeviceArray<f32>,
    pub(super) acquisition: DeviceArray<f32>,
    pub(super) model: Model,
    pub(super) candidates: usize,
    /// First BF pixel in its buffer of G.
    pub(super) first: usize,
    pub(super) pixels: usize,
    /// Number of packs of this pass before this one.
    pub(super) before: usize,
    /// Cubes that the device takes along one axis.
    pub(super) most_cubes: u32,
}

impl<R: Runtime> Pack<'_, R> {
    pub(crate) fn client(&self) -> &ComputeClient<R> {
        self.client
    }

    pub(crate) fn arrangement(&self) -> &Arrangement {
        self.plan
    }

    pub(crate) fn buffers(&self) -> &Buffers {
        self.buffers
    }

    pub(crate) fn g(&self) -> &DeviceArray<f32> {
        &self.g
    }

    pub(crate) fn acquisition(&self) -> &DeviceArray<f32> {
        &self.acquisition
    }

    pub(crate) fn model(&self) -> Model {
        self.model
    }

    pub(crate) fn candidates(&self) -> usize {
        self.candidates
    }

    pub(crate) fn first(&self) -> u32 {
        self.first as u32
    }

    pub(crate) fn pixels(&self) -> u32 {
        self.pixels as u32
    }

    /// Whether an earlier pack of this pass left sums to be added to.
    pub(crate) fn again(&self) -> u32 {
        u32::from(self.before > 0)
    }

    /// Whether an earlier pack of this pass left sums in this pack's set of images (bit 0), and in its set of
    /// squares (bit 1).
    pub(crate) fn again_in_set(&self) -> u32 {
        u32::from(self.before >= self.plan.sets)
            + 2 * u32::from(self.before >= self.plan.square_sets)
    }

    /// The set of squares that this pack adds to.
    pub(crate) fn square_set(&self) -> u32 {
        (self.before % self.plan.square_sets) as u32
    }

    pub(crate) fn square_sets(&self) -> u32 {
        self.plan.square_sets as u32
    }

    /// The set of images that this pack adds to.
    pub(crate) fn set(&self) -> u32 {
        (self.before % self.plan.sets) as u32
    }

    pub(crate) fn sets(&self) -> u32 {
        self.plan.sets as u32
    }

    /// A launch of `count` cubes within what the device takes along one axis; kernels put both axes
    /// together and leave what is beyond their lines alone.
    pub(crate) fn cubes(&self, count: u32) -> CubeCount {
        let most = self.most_cubes.max(1);
        CubeCount::Static(count.min(most), count.div_ceil(most), 1)
    }

    /// Complex values between the tables of two candidates.
    pub(crate) fn pairs_per_candidate(&self) -> u32 {
        self.plan
            .request
            .scan
            .candidate_pairs(self.model.polynomial, self.plan.pack) as u32
    }
}
