//! The prepared CPU evaluator: exact loss and mean phase over fixed lanes (numerics section 1).

use ndarray::Array2;
use num_complex::Complex64;
use rustfft::num_complex::Complex32;
use ssb_core::{
    Candidate, Control, Error, Evaluation, Evaluator, EvaluatorInfo, Geometry, MeanPhase, PhaseSums,
};

use crate::candidate_tables::{CandidateTables, Lattice};
use crate::lanes::{self, LaneWork};
use crate::nyquist::separate;
use crate::phase::{RealPart, accumulate};
use crate::pixel::{Line, Pixel, PixelScratch, Stretch};
use crate::prepare::PixelSpectrum;
use crate::support::Frame;
use crate::transform::{TransformScratch, Transforms};

/// G in memory with everything an evaluation needs.
pub struct CpuEvaluator {
    pub(crate) info: EvaluatorInfo,
    pub(crate) geometry: Geometry,
    pub(crate) lattice: Lattice,
    pub(crate) transforms: Transforms,
    pub(crate) spectra: Vec<PixelSpectrum>,
    pub(crate) frame: Frame,
    pub(crate) pool: rayon::ThreadPool,
    pub(crate) lane_length: usize,
}

/// The sums of one lane.
struct LaneSums {
    phase: Vec<f64>,
    squares: f64,
    degenerate: u64,
}

/// What one worker needs for one BF pixel.
struct Workspace {
    pixel: PixelScratch,
    transform: TransformScratch,
    /// `S` as `[half_cols][rows]`.
    plane: Vec<Complex32>,
    nyquist_row: Vec<Complex32>,
    real_line: Vec<Complex32>,
    /// The real term that varies over the rows (Nyquist column).
    over_rows: Vec<f32>,
    /// DC (1 in its own units) plus and minus the real term that varies over the columns (Nyquist row).
    base: [Vec<f32>; 2],
    /// Phases of at most [`SHORT_SUM`] pixels.
    phase: Vec<f32>,
}

impl Workspace {
    fn new(lattice: &Lattice, transforms: &Transforms) -> Self {
        let zero = Complex32::default();
        Self {
            pixel: PixelScratch::new(lattice),
            transform: transforms.scratch(),
            plane: vec![zero; lattice.rows * lattice.half_cols],
            nyquist_row: vec![zero; lattice.cols],
            real_line: vec![zero; lattice.rows.max(lattice.cols)],
            over_rows: vec![0.0; lattice.rows],
            base: [vec![0.0; lattice.cols], vec![0.0; lattice.cols]],
            phase: vec![0.0; lattice.rows * lattice.cols],
        }
    }
}

/// One lane of the exact loss.
struct LossLane<'a> {
    evaluator: &'a CpuEvaluator,
    workspace: Workspace,
    sums: LaneSums,
}

impl LaneWork for LossLane<'_> {
    type Sums = LaneSums;

    fn add(&mut self, pixel: &Pixel<'_>) {
        pulp::Arch::new().dispatch(AddPixel { lane: self, pixel });
    }

    fn flush(&mut self) {
        for (short, long) in self.workspace.phase.iter_mut().zip(&mut self.sums.phase) {
            *long += f64::from(*short);
            *short = 0.0;
        }
    }

    fn finish(self) -> LaneSums {
        self.sums
    }
}

/// Adds one pixel to a lane, compiled for the widest vectors found at run time. (A closure would not
/// do: its call is not inlined into the function that has the wide vectors.)
struct AddPixel<'a, 'b> {
    lane: &'a mut LossLane<'b>,
    pixel: &'a Pixel<'a>,
}

impl pulp::WithSimd for AddPixel<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let LossLane {
            evaluator,
            workspace,
            sums,
        } = self.lane;
        evaluator.add_pixel(self.pixel, workspace, sums);
    }
}

impl CpuEvaluator {
    /// Rotates the BF pixels into the frame that a candidate asks for.
    pub(crate) fn turn_to(&mut self, candidate: &Candidate) {
        let rotation_deg = self.geometry.rotation_of(candidate);
        if rotation_deg.to_bits() != self.frame.rotation_deg.to_bits() {
            let (geometry, outer) = (&self.geometry, self.lattice.outer_per_a);
            self.frame = self
                .pool
                .install(|| Frame::new(geometry, rotation_deg, outer));
        }
    }

    /// Builds a candidate's tables in this evaluator's pool.
    pub(crate) fn tables(&self, candidate: &Candidate) -> CandidateTables {
        self.pool
            .install(|| CandidateTables::new(&self.lattice, candidate))
    }

    /// The pixel behind a stored spectrum, unless its aperture is 0 in the current frame.
    pub(crate) fn pixel<'a>(
        &'a self,
        tables: &'a CandidateTables,
        spectrum: &'a PixelSpectrum,
    ) -> Option<Pixel<'a>> {
        let aperture = self.frame.apertures[spectrum.pixel];
        (aperture > 0.0).then(|| {
            let k = self.frame.k_per_a[spectrum.pixel];
            Pixel::new(&self.lattice, tables, spectrum, k, aperture)
        })
    }

    fn loss(&mut self, candidate: &Candidate, control: &Control) -> Result<MeanPhase, Error> {
        self.turn_to(candidate);
        let tables = self.tables(candidate);
        let scan = self.lattice.rows * self.lattice.cols;
        let lanes = self.over_lanes(&tables, control, || LossLane {
            evaluator: self,
            workspace: Workspace::new(&self.lattice, &self.transforms),
            sums: LaneSums {
                phase: vec![0.0; scan],
                squares: 0.0,
                degenerate: 0,
            },
        })?;
        let mut sums = PhaseSums {
            scan_shape: [self.lattice.rows, self.lattice.cols],
            squares_rad2: 0.0,
            degenerate: 0,
            supported: self.frame.supported,
            bf_pixels: self.info.bf_pixels,
        };
        let mut phase_rad = vec![0.0; scan];
        for lane in lanes {
            sums.squares_rad2 += lane.squares;
            sums.degenerate += lane.degenerate;
            lanes::add_to(&mut phase_rad, lane.phase);
        }
        sums.mean_phase(&phase_rad, self.info.backend)
    }

    /// Adds the phase of one BF pixel to the sums.
    #[inline(always)]
    fn add_pixel(&self, pixel: &Pixel<'_>, workspace: &mut Workspace, sums: &mut LaneSums) {
        let (rows, cols) = (self.lattice.rows, self.lattice.cols);
        let occupied = pixel.occupied();
        let Workspace {
            pixel: scratch,
            plane,
            nyquist_row,
            ..
        } = workspace;
        plane[..occupied * rows].fill(Complex32::default());
        nyquist_row.fill(Complex32::default());
        let mut touches_row = false;
        pixel.fill_axes(scratch);
        sums.degenerate += pixel.correct::<true>(
            scratch,
            f64::INFINITY,
            #[inline(always)]
            |stretch| {
                let out = match stretch.line {
                    Line::Column(col) => &mut plane[col * rows + stretch.start..],
                    Line::NyquistRow(_) => {
                        touches_row = true;
                        &mut nyquist_row[stretch.start..]
                    }
                };
                interleave(&stretch, out);
            },
        );
        self.nyquist_lines(occupied, touches_row, workspace);
        let Workspace {
            plane,
            over_rows,
            base,
            phase,
            ..
        } = workspace;
        let transform = &mut workspace.transform;
        self.transforms
            .columns_inverse(&mut plane[..occupied * rows], transform);
        self.transforms.rows_inverse(
            plane,
            occupied,
            transform,
            #[inline(always)]
            |row, line| {
                let real = |row: usize| RealPart {
                    base: &base[row % 2],
                    col_term: over_rows.get(row).copied().unwrap_or(0.0),
                };
                let (first, rest) = phase[row * cols..].split_at_mut(cols);
                let second = rest.get_mut(..cols);
                sums.squares += accumulate(line, [real(row), real(row + 1)], first, second);
            },
        );
    }

    /// Splits the Nyquist lines and transforms their real terms.
    #[inline(always)]
    fn nyquist_lines(&self, occupied: usize, touches_row: bool, workspace: &mut Workspace) {
        let (rows, cols) = (self.lattice.rows, self.lattice.cols);
        let corner = self.lattice.nyquist_row().zip(self.lattice.nyquist_col());
        workspace.over_rows.fill(0.0);
        workspace.base.iter_mut().for_each(|b| b.fill(1.0));
        if touches_row && let Some(nyquist) = self.lattice.nyquist_row() {
            if let Some((row, col)) = corner
                && col < occupied
            {
                // The corner belongs to both lines; the column takes it.
                workspace.plane[col * rows + row] = workspace.nyquist_row[col];
            }
            let real = &mut workspace.real_line[..cols];
            separate(&mut workspace.nyquist_row, real);
            if let Some((_, col)) = corner {
                real[col] = Complex32::default();
            }
            for col in (0..occupied).filter(|col| corner.is_none_or(|c| c.1 != *col)) {
                workspace.plane[col * rows + nyquist] = workspace.nyquist_row[col];
            }
            self.transforms.line_inverse(real, &mut workspace.transform);
            let [even, odd] = &mut workspace.base;
            for (col, z) in real.iter().enumerate() {
                even[col] += z.re;
                odd[col] -= z.re;
            }
        }
        if let Some(col) = self.lattice.nyquist_col()
            && col < occupied
        {
            let real = &mut workspace.real_line[..rows];
            separate(&mut workspace.plane[col * rows..][..rows], real);
            self.transforms.line_inverse(real, &mut workspace.transform);
            for (term, z) in workspace.over_rows.iter_mut().zip(real) {
                *term = z.re;
            }
        }
    }
}

#[inline(always)]
fn interleave(stretch: &Stretch<'_>, out: &mut [Complex32]) {
    let [re, im] = stretch.s;
    for (z, (re, im)) in out.iter_mut().zip(re.iter().zip(im)) {
        *z = Complex32::new(*re, *im);
    }
}

impl Evaluator for CpuEvaluator {
    fn info(&self) -> &EvaluatorInfo {
        &self.info
    }

    fn evaluate(
        &mut self,
        candidates: &[Candidate],
        control: &Control,
    ) -> Result<Vec<Evaluation>, Error> {
        candidates
            .iter()
            .map(|c| self.loss(c, control).map(|m| m.evaluation))
            .collect()
    }

    fn mean_phase(&mut self, candidate: &Candidate, control: &Control) -> Result<MeanPhase, Error> {
        self.loss(candidate, control)
    }

    fn object(
        &mut self,
        candidate: &Candidate,
        upsample: usize,
        control: &Control,
    ) -> Result<Array2<Complex64>, Error> {
        self.fourier_sum(candidate, upsample, control)
    }

    fn agreements(
        &mut self,
        candidates: &[Candidate],
        control: &Control,
    ) -> Result<Vec<f64>, Error> {
        candidates
            .iter()
            .map(|c| self.agreement(c, control))
            .collect()
    }
}
