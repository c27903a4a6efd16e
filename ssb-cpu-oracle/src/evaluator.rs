//! The evaluator: the equations of the other files, in order, one BF pixel at a time.

use ssb_core::ndarray::Array2;
use ssb_core::num_complex::{Complex32, Complex64};
use ssb_core::{
    BandPoint, Candidate, Control, Error, Evaluation, Evaluator, EvaluatorInfo, MeanPhase,
    PrepareOptions, Problem, check_points, check_upsampling,
};

use crate::entry::info_of;
use crate::{
    Agreement, DegenerateCount, Gamma, MeanSpectrum, Overlap, PhaseMoments, Transform, aperture,
    corrected,
};

/// The float64 reference over one data set.
#[derive(Debug)]
pub struct Oracle {
    problem: Problem,
    transform: Transform,
    dc: f64,
    info: EvaluatorInfo,
}

/// Every intermediate of one BF pixel, for checking a backend stage by stage.
///
/// Row-major planes over the scan or over scan frequencies in transform order.
#[derive(Debug, Clone)]
pub struct Stages {
    /// `G_b(q)` in counts.
    pub g: Vec<Complex64>,
    /// `Gamma_b(q)`.
    pub gamma: Vec<Complex64>,
    /// `C_b(q)` in counts.
    pub corrected: Vec<Complex64>,
    /// `O_b(R)` in counts.
    pub image: Vec<Complex64>,
}

/// All answers about one candidate.
#[derive(Debug)]
pub struct Answers {
    /// Mean phase, loss and degenerate fraction.
    pub mean_phase: MeanPhase,
    /// The counts behind the degenerate fraction.
    pub count: DegenerateCount,
    /// The sum of every `C_b`, from which the object follows at any upsampling.
    pub spectrum: MeanSpectrum,
    /// The agreement S, or why there is none.
    pub agreement: Result<f64, Error>,
}

impl Oracle {
    /// Prepares a problem; nothing is computed before it is asked for.
    ///
    /// # Errors
    /// [`Error::OverBudget`] when the counts and a few planes exceed the memory budget,
    /// [`Error::BackendUnavailable`] for a device other than 0.
    pub fn new(problem: Problem, options: &PrepareOptions) -> Result<Self, Error> {
        let geometry = problem.geometry();
        let bf_active = geometry
            .k_per_a(geometry.rotation_deg)
            .into_iter()
            .filter(|k| aperture(*k, geometry) > 0.0)
            .count();
        let info = info_of(&problem, bf_active, options)?;
        Ok(Self {
            transform: Transform::new(geometry.scan_shape),
            dc: info.dc,
            info,
            problem,
        })
    }

    fn points(&self) -> usize {
        let [rows, cols] = self.problem.geometry().scan_shape;
        rows * cols
    }

    /// `G_b(q)`: the transform of the counts of BF pixel `b`.
    fn g(&self, b: usize) -> Vec<Complex64> {
        let mut counts = vec![0.0; self.points()];
        self.problem.evidence().read_f64(b, &mut counts);
        let mut g: Vec<Complex64> = counts.into_iter().map(Complex64::from).collect();
        self.transform.forward(&mut g);
        g
    }

    fn image(&self, corrected: &[Complex64]) -> Vec<Complex64> {
        let mut image = corrected.to_vec();
        self.transform.inverse(&mut image);
        image
    }

    /// Every intermediate of BF pixel `b`.
    #[must_use]
    pub fn stages(&self, candidate: &Candidate, b: usize) -> Stages {
        let geometry = self.problem.geometry();
        let k = geometry.k_per_a(geometry.rotation_of(candidate))[b];
        let g = self.g(b);
        let overlaps = Gamma::new(geometry, candidate, k).plane();
        let corrected = corrected(&g, &overlaps, self.dc);
        let image = self.image(&corrected);
        Stages {
            g,
            gamma: overlaps.into_iter().map(|o| o.gamma).collect(),
            corrected,
            image,
        }
    }

    /// Hands every BF pixel's `G_b` and overlaps over the plane to `visit`.
    fn each_bf_pixel(
        &self,
        task: &str,
        candidate: &Candidate,
        control: &Control,
        mut visit: impl FnMut(&[Complex64], &[Overlap]),
    ) -> Result<(), Error> {
        let geometry = self.problem.geometry();
        let ks = geometry.k_per_a(geometry.rotation_of(candidate));
        let total = ks.len() as u64;
        for (b, k) in ks.into_iter().enumerate() {
            control.check()?;
            control.report(task, b as u64, total);
            let overlaps = Gamma::new(geometry, candidate, k).plane();
            visit(&self.g(b), &overlaps);
        }
        control.report(task, total, total);
        Ok(())
    }

    fn phase_variance(&self, candidate: &Candidate, control: &Control) -> Result<MeanPhase, Error> {
        let mut moments = PhaseMoments::new(self.points());
        let mut count = DegenerateCount::default();
        self.each_bf_pixel("phase variance", candidate, control, |g, overlaps| {
            moments.add(&self.image(&corrected(g, overlaps, self.dc)));
            count.add(overlaps);
        })?;
        self.mean_phase_of(&moments, count)
    }

    fn mean_phase_of(
        &self,
        moments: &PhaseMoments,
        count: DegenerateCount,
    ) -> Result<MeanPhase, Error> {
        let loss = moments.loss();
        if !(loss.is_finite() && loss > 0.0) {
            return Err(Error::Internal(format!(
                "the loss is {loss} over {} BF pixels",
                self.info.bf_pixels
            )));
        }
        let [rows, cols] = self.problem.geometry().scan_shape;
        let mut phase_rad = Array2::zeros((rows, cols));
        for (to, from) in phase_rad.iter_mut().zip(moments.mean_phase_rad()) {
            *to = from;
        }
        Ok(MeanPhase {
            phase_rad,
            evaluation: Evaluation {
                loss,
                degenerate_fraction: count.fraction(),
            },
        })
    }

    /// Everything that the reference can say about one candidate, from one pass over the BF
    /// pixels; equal to the bit to the methods of [`Evaluator`].
    ///
    /// # Errors
    /// As [`Evaluator::evaluate`]; a band without enough points is an error of
    /// [`Answers::agreement`] alone.
    pub fn answers(&self, candidate: &Candidate, control: &Control) -> Result<Answers, Error> {
        let mut moments = PhaseMoments::new(self.points());
        let mut count = DegenerateCount::default();
        let mut spectrum = MeanSpectrum::new(self.problem.geometry().scan_shape);
        let mut agreement = Agreement::new(self.points());
        self.each_bf_pixel("reference", candidate, control, |g, overlaps| {
            let c = corrected(g, overlaps, self.dc);
            moments.add(&self.image(&c));
            count.add(overlaps);
            spectrum.add(&c);
            agreement.add(g, overlaps);
        })?;
        Ok(Answers {
            mean_phase: self.mean_phase_of(&moments, count)?,
            count,
            spectrum,
            agreement: agreement.value(self.problem.geometry()),
        })
    }
}

impl Evaluator for Oracle {
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
            .map(|candidate| Ok(self.phase_variance(candidate, control)?.evaluation))
            .collect()
    }

    fn mean_phase(&mut self, candidate: &Candidate, control: &Control) -> Result<MeanPhase, Error> {
        self.phase_variance(candidate, control)
    }

    fn object(
        &mut self,
        candidate: &Candidate,
        upsample: usize,
        control: &Control,
    ) -> Result<Array2<Complex64>, Error> {
        check_upsampling(upsample)?;
        let mut spectrum = MeanSpectrum::new(self.problem.geometry().scan_shape);
        self.each_bf_pixel("object", candidate, control, |g, overlaps| {
            spectrum.add(&corrected(g, overlaps, self.dc));
        })?;
        Ok(spectrum.object(upsample))
    }

    fn agreements(
        &mut self,
        candidates: &[Candidate],
        control: &Control,
    ) -> Result<Vec<f64>, Error> {
        candidates
            .iter()
            .map(|candidate| {
                let mut agreement = Agreement::new(self.points());
                self.each_bf_pixel("agreement", candidate, control, |g, overlaps| {
                    agreement.add(g, overlaps);
                })?;
                agreement.value(self.problem.geometry())
            })
            .collect()
    }

    fn spectra(
        &mut self,
        points: &[BandPoint],
        control: &Control,
    ) -> Result<Array2<Complex32>, Error> {
        let geometry = self.problem.geometry();
        check_points(points, geometry)?;
        let cols = geometry.scan_shape[1];
        let mut spectra = Array2::zeros((self.info.bf_pixels, points.len()));
        for (b, mut row) in spectra.outer_iter_mut().enumerate() {
            control.check()?;
            let g = self.g(b);
            for (to, point) in row.iter_mut().zip(points) {
                let z = g[point.row * cols + point.col];
                *to = Complex32::new(z.re as f32, z.im as f32);
            }
        }
        Ok(spectra)
    }
}
