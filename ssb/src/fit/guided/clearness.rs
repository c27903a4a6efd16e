//! Whether the agreement of a candidate stands out of the noise of counting.

use ssb_core::{Candidate, Control, Evaluator, Geometry, agreement_band_points};

use super::band_model::{BandModel, Residue};
use super::powers::Powers;
use crate::Error;

/// Standard deviations of noise above which an agreement is a signal.
const CLEAR: f64 = 8.0;

/// Standard deviations of noise above which the strongest frequencies are a signal; what is chosen as the strongest of
/// many is some ten already where there is nothing.
const SEEN: f64 = 100.0;

/// Share of the signal that right aberrations explain at least.
const EXPLAINED: f64 = 0.5;

/// What the noise is, and how far an agreement stands out of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clearness {
    /// Variance of one `G_b(q)`, in counts².
    pub noise: f64,
    /// Standard deviations of the agreement of noise alone.
    pub deviations: f64,
    /// Share of the signal of the strongest frequencies that the candidate explains, where they are seen and it is thin.
    pub explained: Option<f64>,
}

impl Clearness {
    /// Of a candidate with this agreement, in counts².
    ///
    /// # Errors
    /// As [`Evaluator::spectra`].
    pub fn of(
        evaluator: &mut dyn Evaluator,
        geometry: &Geometry,
        candidate: &Candidate,
        agreement: f64,
        control: &Control,
    ) -> Result<Self, Error> {
        let dc = evaluator.info().dc;
        let powers = Powers::of(evaluator, geometry, control)?;
        let strong = powers.strongest(evaluator, None, control)?;
        let model = BandModel::new(geometry, &strong, candidate);
        let Residue {
            noise,
            explained,
            seen,
        } = model.residue(&[0.0; 3], 1.0 / dc);
        let noise = noise * dc * dc;
        let weight: f64 = (agreement_band_points(geometry).iter())
            .map(|p| f64::from(p.weight))
            .sum();
        // Without a signal each pair of mirrored frequencies adds twice an exponential of mean `noise`.
        Ok(Self {
            noise,
            deviations: (agreement / noise - weight) / (2.0 * weight).sqrt(),
            explained: (seen > SEEN && candidate.depth_spread_nm == 0.0).then_some(explained),
        })
    }

    /// What is to be said when the candidate leaves most of the signal unexplained.
    pub fn unexplained(self) -> Option<String> {
        let share = self.explained.filter(|share| *share < EXPLAINED)?;
        Some(format!(
            "agreement: these aberrations explain only {:.0} % of the signal at the strongest frequencies: a wrong rotation (its \
             sign), detector orientation, scan shape or calibration, further aberrations, or a thick specimen",
            100.0 * share
        ))
    }

    /// What is to be said when nothing stands out.
    pub fn doubt(self) -> Option<String> {
        let deviations = self.deviations;
        (deviations.is_nan() || deviations < CLEAR).then(|| {
            format!(
                "agreement: no clear peak ({deviations:.1} standard deviations above noise, {CLEAR} are clear): vacuum, too few \
                 electrons, or a wrong calibration; these data do not determine the aberrations"
            )
        })
    }
}
