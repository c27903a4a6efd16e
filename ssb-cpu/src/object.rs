//! The complex object: the mean of `C_b` first, then one inverse transform (numerics section 5).

use ndarray::Array2;
use num_complex::Complex64;
use ssb_core::{Candidate, Control, Error, check_upsampling, object_image};

use crate::candidate_tables::Lattice;
use crate::evaluator::CpuEvaluator;
use crate::lanes::{self, LaneWork};
use crate::pixel::{Line, Pixel, PixelScratch};

/// One lane of `sum_b S_b` over the half plane `[half_cols][rows]` and the Nyquist row.
struct SpectrumLane {
    scratch: PixelScratch,
    rows: usize,
    /// Short sums, real and imaginary.
    short_plane: [Vec<f32>; 2],
    short_row: [Vec<f32>; 2],
    plane: Vec<Complex64>,
    row: Vec<Complex64>,
}

impl SpectrumLane {
    fn new(lattice: &Lattice) -> Self {
        let (cells, cols) = (lattice.rows * lattice.half_cols, lattice.cols);
        Self {
            scratch: PixelScratch::new(lattice),
            rows: lattice.rows,
            short_plane: [vec![0.0; cells], vec![0.0; cells]],
            short_row: [vec![0.0; cols], vec![0.0; cols]],
            plane: vec![Complex64::default(); cells],
            row: vec![Complex64::default(); cols],
        }
    }
}

impl LaneWork for SpectrumLane {
    type Sums = [Vec<Complex64>; 2];

    fn add(&mut self, pixel: &Pixel<'_>) {
        pulp::Arch::new().dispatch(AddSpectrum { lane: self, pixel });
    }

    fn flush(&mut self) {
        let plane = (&mut self.short_plane, &mut self.plane);
        let row = (&mut self.short_row, &mut self.row);
        for ([re, im], long) in [plane, row] {
            for (z, (re, im)) in long.iter_mut().zip(re.iter_mut().zip(im)) {
                *z += Complex64::new(f64::from(*re), f64::from(*im));
                (*re, *im) = (0.0, 0.0);
            }
        }
    }

    fn finish(self) -> Self::Sums {
        [self.plane, self.row]
    }
}

/// Adds one pixel's `S` to the sums, compiled for the widest vectors found at run time.
struct AddSpectrum<'a> {
    lane: &'a mut SpectrumLane,
    pixel: &'a Pixel<'a>,
}

impl pulp::WithSimd for AddSpectrum<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Self { lane, pixel } = self;
        let SpectrumLane {
            scratch,
            rows,
            short_plane,
            short_row,
            ..
        } = lane;
        pixel.fill_axes(scratch);
        pixel.correct::<true>(
            scratch,
            f64::INFINITY,
            #[inline(always)]
            |stretch| {
                let (sums, start) = match stretch.line {
                    Line::Column(col) => (&mut *short_plane, col * *rows + stretch.start),
                    Line::NyquistRow(_) => (&mut *short_row, stretch.start),
                };
                for (sum, s) in sums.iter_mut().zip(stretch.s) {
                    for (sum, s) in sum[start..].iter_mut().zip(s) {
                        *sum += s;
                    }
                }
            },
        );
    }
}

impl CpuEvaluator {
    pub(crate) fn fourier_sum(
        &mut self,
        candidate: &Candidate,
        upsample: usize,
        control: &Control,
    ) -> Result<Array2<Complex64>, Error> {
        check_upsampling(upsample)?;
        self.turn_to(candidate);
        let tables = self.tables(candidate);
        let lanes = self.over_lanes(&tables, control, || SpectrumLane::new(&self.lattice))?;
        let mut plane = vec![Complex64::default(); self.lattice.rows * self.lattice.half_cols];
        let mut row = vec![Complex64::default(); self.lattice.cols];
        for [lane_plane, lane_row] in lanes {
            lanes::add_to(&mut plane, lane_plane);
            lanes::add_to(&mut row, lane_row);
        }
        object_image(
            [self.lattice.rows, self.lattice.cols],
            &plane,
            &row,
            self.info.dc,
            self.info.bf_pixels,
            upsample,
        )
    }
}
