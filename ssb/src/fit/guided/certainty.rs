//! How sure the best basin is: clearness, rivals, and the standard deviations of what was searched.

use ssb_optim::{QuadraticDescent, QuadraticOptions, Score};

use super::basins::quadratic_of;
use super::clearness::Clearness;
use super::climbing::Guided;
use crate::Error;
use crate::fit::outcome::{AgreementBest, Deviation};

/// Difference of two log likelihoods from which the higher one is sure.
const SURE: f64 = 12.0;

impl Guided<'_> {
    /// Noise, clearness of the peak, and the standard deviations of what was searched.
    pub(super) fn say_how_sure(
        &mut self,
        best: &AgreementBest,
        second: Option<&AgreementBest>,
    ) -> Result<Vec<Deviation>, Error> {
        let clearness = Clearness::of(
            self.evaluator,
            self.geometry,
            &best.candidate,
            best.agreement,
            self.control,
        )?;
        let noise = clearness.noise;
        let second = second.filter(|b| !self.is_other_branch(best, b));
        if let (None, Some(second)) = (clearness.doubt(), second) {
            let lead = (best.agreement - second.agreement) / (2.0 * noise);
            if lead < SURE {
                let [a, b] = [best, second].map(|c| quadratic_of(&c.candidate));
                self.warnings.push(format!(
                    "agreement: two basins are nearly equal (log likelihoods {lead:.1} apart, {SURE} are sure): C10 {:.2} nm \
                     with C12 {:.2} nm, and C10 {:.2} nm with C12 {:.2} nm; the phase variance decided",
                    a[0] / 10.0,
                    a[1].hypot(a[2]) / 10.0,
                    b[0] / 10.0,
                    b[1].hypot(b[2]) / 10.0
                ));
            }
        }
        let chart = self.chart.only(&best.candidate, |_| true);
        let options = QuadraticOptions {
            steps: self.steps(&chart, 0.25),
            tolerances: chart.tolerances.clone(),
            value_tolerance: 1e-9,
            max_evaluations: usize::MAX,
        };
        let centre = chart.point(&best.candidate);
        let mut stencil = QuadraticDescent::new(centre.clone(), options)?;
        if let Some(points) = stencil.ask() {
            let candidates: Vec<_> = points.iter().map(|p| chart.candidate(p)).collect();
            let values = self.evaluator.agreements(&candidates, self.control)?;
            self.agreement_evaluations += values.len();
            let scores: Vec<_> = values.iter().map(|s| Score::new(-s)).collect();
            stencil.tell(&scores)?;
        }
        let information: Vec<f64> = (stencil.hessian().iter())
            .map(|h| h / (2.0 * noise))
            .collect();
        let Some(covariance) = ssb_optim::inverse_of_positive(&information, chart.len()) else {
            self.warnings.push(
                "uncertainties: the agreement has no maximum in all searched quantities at once; search fewer, or check the \
                 rotation (its sign), the detector axes and the scan shape: a wrong one does the same"
                    .into(),
            );
            return Ok(Vec::new());
        };
        Ok((chart.deviations(&centre, &covariance).into_iter())
            .map(|(quantity, noise)| Deviation {
                quantity,
                noise,
                sigma: noise,
            })
            .collect())
    }
}
