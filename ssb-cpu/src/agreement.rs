//! The agreement S of `G_b = Psi(q) Gamma_b` in least squares (numerics section 4).

use num_complex::Complex64;
use pulp::{Simd, WithSimd};
use ssb_core::{Candidate, Control, Error, agreement_band_points, agreement_of};

use crate::aligned::Aligned;
use crate::correct_tile::Sink;
use crate::evaluator::CpuEvaluator;
use crate::lanes::{LaneSums, combine};
use crate::loss::Workspace;
use crate::pixel::Pixel;
use crate::vectors::{F, Z};

/// Adds `-i G conj Gamma` and `|Gamma|^2` to a block's sums `[row][re, im, power]`.
struct OverlapSink<'a, S: Simd> {
    simd: S,
    sums: &'a mut [[S::f32s; 3]],
}

impl<S: Simd> Sink<S> for OverlapSink<'_, S> {
    #[inline(always)]
    fn put(&mut self, row: usize, s: Z<S>, gamma2: F<S>) {
        let simd = self.simd;
        let [re, im, power] = &mut self.sums[row];
        *re = simd.add_f32s(*re, s.re.v);
        *im = simd.add_f32s(*im, s.im.v);
        *power = simd.add_f32s(*power, gamma2.v);
    }

    #[inline(always)]
    fn skip(&mut self, _: std::ops::Range<usize>) {}
}

/// Adds one pixel's overlap with G over the band.
struct AddOverlap<'a> {
    rows: usize,
    blocks: usize,
    pixel: &'a Pixel<'a>,
    workspace: &'a mut Workspace,
    sums: &'a mut [f32],
}

impl WithSimd for AddOverlap<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let scratch = &mut self.workspace.pixel;
        self.pixel.fill_axes(simd, scratch);
        let sums: &mut [[S::f32s; 3]] = pulp::bytemuck::cast_slice_mut(self.sums);
        let occupied = self.pixel.occupied_blocks().min(self.blocks);
        for (block, sums) in sums.chunks_exact_mut(self.rows).enumerate().take(occupied) {
            let mut sink = OverlapSink::<S> { simd, sums };
            self.pixel
                .correct_block::<S, false>(simd, block, scratch, &mut sink);
        }
    }
}

/// Candidates that share one read of the band of G.
const TOGETHER: usize = 4;

impl CpuEvaluator {
    pub(crate) fn agreements_of(
        &mut self,
        candidates: &[Candidate],
        control: &Control,
    ) -> Result<Vec<f64>, Error> {
        self.together(candidates, TOGETHER, |this, now| {
            this.agreements_together(now, control)
        })
    }

    /// Of candidates of one rotation.
    fn agreements_together(
        &mut self,
        candidates: &[Candidate],
        control: &Control,
    ) -> Result<Vec<f64>, Error> {
        candidates.iter().take(1).for_each(|c| self.turn_to(c));
        let tables: Vec<_> = candidates.iter().map(|c| self.tables(c)).collect();
        let this = &*self;
        let layout = this.lattice.layout;
        let (rows, lanes) = (layout.rows, layout.lanes);
        let band = this.info.band;
        // A hair beyond the band: membership is decided by its points, in float64. The band ends below
        // Nyquist: no point of it lies on a Nyquist line.
        let limit_per_a = band.hi_per_a * (1.0 + 1e-9);
        let columns = (limit_per_a / this.lattice.spacing_per_a[1]).floor() as usize + 1;
        let blocks = columns.div_ceil(lanes).min(layout.blocks);
        let floats = blocks * rows * 3 * lanes;
        let mut totals = vec![vec![0.0; floats]; candidates.len()];
        let new = || LaneSums::new(this.overlaps.take(|| Aligned::new(floats)));
        this.over_lanes(
            control,
            || -> Vec<LaneSums> { tables.iter().map(|_| new()).collect() },
            |lane, open, workspace| {
                for (tables, sums) in tables.iter().zip(lane) {
                    this.vectors.run(AddOverlap {
                        rows,
                        blocks,
                        pixel: &Pixel::new(&this.lattice, tables, open, limit_per_a),
                        workspace,
                        sums: sums.short.get_mut(),
                    });
                }
            },
            |lanes| combine(this.vectors, &mut totals, lanes, &this.overlaps),
        )?;
        let points = agreement_band_points(&this.geometry);
        let at = |point: &ssb_core::BandPoint| {
            ((point.col / lanes) * rows + point.row) * 3 * lanes + point.col % lanes
        };
        let of_total = |total: Vec<f64>| {
            let overlap: Vec<_> = points
                .iter()
                .map(|p| Complex64::new(total[at(p)], total[at(p) + lanes]))
                .collect();
            let power: Vec<_> = points.iter().map(|p| total[at(p) + 2 * lanes]).collect();
            let agreement = agreement_of(&points, &overlap, &power, this.info.bf_pixels, band)?;
            // Back to counts squared: G is stored in units of the DC value.
            Ok(agreement * this.info.dc * this.info.dc)
        };
        totals.into_iter().map(of_total).collect()
    }
}
