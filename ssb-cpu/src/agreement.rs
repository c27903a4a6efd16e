//! The agreement S of `G_b = Psi(q) Gamma_b` in least squares (numerics section 4).

use num_complex::Complex64;
use ssb_core::{Candidate, Control, Error, agreement_band_points, agreement_of};

use crate::evaluator::CpuEvaluator;
use crate::lanes::{self, LaneWork};
use crate::pixel::{Line, Pixel, PixelScratch};

/// Sums over b for the band's points, `[col][row]` over the columns that the band touches.
struct BandSums {
    /// `sum_b -i G_b conj Gamma_b`.
    overlap: Vec<Complex64>,
    /// `sum_b |Gamma_b|^2`.
    power: Vec<f64>,
}

impl BandSums {
    fn new(cells: usize) -> Self {
        Self {
            overlap: vec![Complex64::default(); cells],
            power: vec![0.0; cells],
        }
    }
}

/// One lane of the sums over the band.
struct BandLane {
    scratch: PixelScratch,
    sums: BandSums,
    columns: usize,
    rows: usize,
    limit_per_a: f64,
}

impl LaneWork for BandLane {
    type Sums = BandSums;

    fn add(&mut self, pixel: &Pixel<'_>) {
        pulp::Arch::new().dispatch(AddOverlap { lane: self, pixel });
    }

    /// The band is small: every pixel goes into the float64 sums at once.
    fn flush(&mut self) {}

    fn finish(self) -> BandSums {
        self.sums
    }
}

/// Adds one pixel's overlap with G, compiled for the widest vectors found at run time.
struct AddOverlap<'a> {
    lane: &'a mut BandLane,
    pixel: &'a Pixel<'a>,
}

impl pulp::WithSimd for AddOverlap<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Self { lane, pixel } = self;
        let BandLane {
            scratch,
            sums,
            columns,
            rows,
            limit_per_a,
        } = lane;
        let (columns, rows, limit_per_a) = (*columns, *rows, *limit_per_a);
        pixel.fill_axes(scratch);
        pixel.correct::<false>(
            scratch,
            limit_per_a,
            #[inline(always)]
            |stretch| {
                // The band ends below Nyquist: no point of it lies on that row.
                if let Line::Column(col) = stretch.line
                    && col < columns
                {
                    let n = stretch.gamma2.len();
                    let at = col * rows + stretch.start;
                    let overlap = &mut sums.overlap[at..at + n];
                    let power = &mut sums.power[at..at + n];
                    let [re, im] = stretch.s.map(|s| &s[..n]);
                    for i in 0..n {
                        overlap[i].re += f64::from(re[i]);
                        overlap[i].im += f64::from(im[i]);
                        power[i] += f64::from(stretch.gamma2[i]);
                    }
                }
            },
        );
    }
}

impl CpuEvaluator {
    pub(crate) fn agreement(
        &mut self,
        candidate: &Candidate,
        control: &Control,
    ) -> Result<f64, Error> {
        self.turn_to(candidate);
        let tables = self.tables(candidate);
        let band = self.info.band;
        let rows = self.lattice.rows;
        let columns = ((band.hi_per_a / self.lattice.spacing_per_a[1]).floor() as usize + 1)
            .min(self.lattice.half_cols);
        // A hair beyond the band: membership is decided by its points, in float64.
        let limit_per_a = band.hi_per_a * (1.0 + 1e-9);
        let lanes = self.over_lanes(&tables, control, || BandLane {
            scratch: PixelScratch::new(&self.lattice),
            sums: BandSums::new(columns * rows),
            columns,
            rows,
            limit_per_a,
        })?;
        let mut total = BandSums::new(columns * rows);
        for lane in lanes {
            lanes::add_to(&mut total.overlap, lane.overlap);
            lanes::add_to(&mut total.power, lane.power);
        }
        let points = agreement_band_points(&self.geometry);
        let cells = || points.iter().map(|point| point.col * rows + point.row);
        let overlap: Vec<_> = cells().map(|cell| total.overlap[cell]).collect();
        let power: Vec<_> = cells().map(|cell| total.power[cell]).collect();
        let agreement = agreement_of(&points, &overlap, &power, self.info.bf_pixels, band)?;
        // Back to counts squared: G is stored in units of the DC value.
        Ok(agreement * self.info.dc * self.info.dc)
    }
}
