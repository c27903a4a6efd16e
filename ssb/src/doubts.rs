//! What speaks against a fit: aberrations that the sampling cannot show, an agreement that does not stand out, a loss
//! that is flat.

use ssb_core::{Aberrations, Control, Evaluator};

use crate::{Error, Fit, Session, fit};

/// Share of the median loss by which the best must lie below it, or the loss is called flat.
const FLAT_LOSS: f64 = 0.005;

impl Session {
    /// Says so when the agreement of the best candidate does not stand out of noise, or the losses of a whole search
    /// hardly differ.
    pub(crate) fn doubt_the_peak(
        &self,
        evaluator: &mut dyn Evaluator,
        fit: &mut Fit,
        control: &Control,
    ) -> Result<(), Error> {
        if let Some(agreement) = fit.agreement {
            let clearness =
                fit::Clearness::of(evaluator, self.geometry(), &fit.best, agreement, control)?;
            if let Some(doubt) = clearness.doubt() {
                // The curvature of noise says nothing of the aberrations.
                fit.deviations.clear();
                fit.warnings.insert(0, doubt);
            } else if let Some(word) = clearness.unexplained() {
                fit.warnings.insert(0, word);
            }
        }
        let mut losses: Vec<f64> = (fit.trials.iter())
            .filter(|t| t.eligible && ssb_optim::sampler(&t.method).is_ok() && t.loss.is_finite())
            .map(|t| t.loss)
            .collect();
        losses.sort_by(f64::total_cmp);
        if let Some(median) = losses.get(losses.len() / 2)
            && fit.loss > (1.0 - FLAT_LOSS) * median
        {
            fit.warnings.push(format!(
                "loss: nearly flat: the best lies {:.2} % below the median trial; compare the agreement S, which tells aberrations \
                 apart at few electrons (--method guided)",
                100.0 * (1.0 - fit.loss / median)
            ));
        }
        Ok(())
    }

    /// What the size of fitted aberrations says against them (numerics section 8).
    pub(crate) fn doubts(&self, aberrations: &Aberrations) -> Vec<String> {
        let g = self.geometry();
        let size_a = aberrations.get(0).magnitude_a.abs() + aberrations.get(1).magnitude_a.abs();
        let mut doubts = Vec::new();
        for (limit_a, why) in [
            (
                fit::washed_out_a(g),
                "a detector pixel washes out detail of 2 Å",
            ),
            (
                2.0 * fit::half_field_a(g),
                "the probe is wider than the field of view",
            ),
        ] {
            if size_a > limit_a {
                doubts.push(format!(
                    "sampling: |C10| + C12 is {:.1} nm; beyond {:.1} nm {why}",
                    size_a / 10.0,
                    limit_a / 10.0
                ));
            }
        }
        let edge_rad = std::f64::consts::PI / g.wavelength_a * g.semiangle_rad.powi(2) * size_a;
        if edge_rad < 0.5
            && aberrations.values()[2..]
                .iter()
                .all(|v| v.magnitude_a == 0.0)
        {
            doubts.push(
                "nearly zero aberrations: on noisy data the loss is biased towards them; compare \
                 the agreement S of other candidates (`ssb eval --objective agreement`)"
                    .into(),
            );
        }
        doubts
    }
}
