//! The agreement S of `G_b = Psi(q) Gamma_b` in least squares (numerics section 4).

use num_complex::Complex64;
use ssb_core::{Candidate, Control, Error};

use crate::evaluator::CpuEvaluator;
use crate::lanes::{self, LaneWork};
use crate::pixel::{Line, Pixel, PixelScratch};

/// Fewest points of the band for a value.
const FEWEST_POINTS: u64 = 16;

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
        // A hair beyond the band: membership is decided below, in float64.
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
        self.agreement_of(&total, columns)
    }

    fn agreement_of(&self, sums: &BandSums, columns: usize) -> Result<f64, Error> {
        let band = self.info.band;
        let floor = 1e-12 * self.info.bf_pixels as f64;
        let (mut agreement, mut points) = (0.0, 0);
        for col in 0..columns {
            let mirrored = col != 0 && self.lattice.nyquist_col() != Some(col);
            let weight: u64 = if mirrored { 2 } else { 1 };
            for row in 0..self.lattice.rows {
                let q = self.lattice.q_per_a[0][row].hypot(self.lattice.q_per_a[1][col]);
                let cell = col * self.lattice.rows + row;
                let inside = q >= band.lo_per_a && q <= band.hi_per_a && (row, col) != (0, 0);
                if inside && sums.power[cell] > floor {
                    agreement += weight as f64 * sums.overlap[cell].norm_sqr() / sums.power[cell];
                    points += weight;
                }
            }
        }
        if points < FEWEST_POINTS {
            return Err(Error::BadEvidence {
                object: format!(
                    "band of the agreement, {:.3} to {:.3} 1/Å",
                    band.lo_per_a, band.hi_per_a
                ),
                expected: format!("at least {FEWEST_POINTS} usable scan frequencies"),
                found: points.to_string(),
                action: "scan a larger field, or check the scan step and the semi-angle".into(),
            });
        }
        // Back to counts squared: G is stored in units of the DC value.
        Ok(agreement * self.info.dc * self.info.dc)
    }
}
