//! The two branches of the scan-detector rotation, 180 degrees apart (numerics section 4).
//!
//! Reversing every `k` gives the conjugate object and the same loss: terms that are even in `k` (C10, C12, C30, …) and
//! the tilt change sign, the others stay. Atom columns are bright in phase on the right branch, so the skewness of the
//! phase decides; where it does not, nothing is changed and the result says so.

use std::f64::consts::PI;

use ndarray::Array2;
use serde::Serialize;
use ssb_core::num_complex::Complex64;
use ssb_core::{Candidate, Control, Evaluation, Evaluator, Geometry, TERMS, Term};

use super::Fit;
use crate::{ColumnSign, ColumnState, Error, Session, column_sign};

/// One of the two branches, as it was computed.
#[derive(Debug, Clone, Serialize)]
pub struct Branch {
    /// Its candidate, with the rotation in it.
    pub candidate: Candidate,
    /// Its exact phase variance in rad².
    pub loss: f64,
    /// Whether atom columns are bright in it.
    pub column_sign: ColumnSign,
    /// `arg` of its object in radians, shape (scan rows, scan cols).
    #[serde(skip)]
    pub phase_rad: Array2<f64>,
}

/// Whether a term's path is even (`Some(true)`) or odd in `k`; `None` when it is neither.
fn parity(term: &Term) -> Option<bool> {
    if term.own.is_none() {
        return Some(term.n % 2 == 1);
    }
    let samples = [[11e-3, 0.0], [4e-3, -9e-3], [-7e-3, -2e-3], [1e-3, 16e-3]];
    let same = |sign: f64| {
        samples.iter().all(|[row, col]| {
            let (there, back) = (term.path([*row, *col], 0.3), term.path([-*row, -*col], 0.3));
            (there - sign * back).abs() <= 1e-9 * there.abs().max(back.abs())
        })
    };
    match (same(1.0), same(-1.0)) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    }
}

/// The candidate of the other branch: the rotation turned by 180 degrees. `None` when a term with a formula of its own
/// is neither even nor odd, so that no value of it describes the reversed lens.
pub(crate) fn partner(candidate: &Candidate, geometry: &Geometry) -> Option<Candidate> {
    let mut turned = candidate.clone();
    let rotation_deg = geometry.rotation_of(candidate);
    turned.rotation_deg = Some(if rotation_deg > 0.0 {
        rotation_deg - 180.0
    } else {
        rotation_deg + 180.0
    });
    turned.tilt_mrad = candidate.tilt_mrad.map(|t| if t == 0.0 { 0.0 } else { -t });
    for (index, term) in TERMS.iter().enumerate() {
        let value = turned.aberrations.get_mut(index);
        if value.magnitude_a == 0.0 || !parity(term)? {
            continue;
        }
        if term.m == 0 {
            value.magnitude_a = -value.magnitude_a;
        } else {
            // -C at phi is C at phi + pi/m, kept within half a period of 0.
            let (half, period) = (PI / f64::from(term.m), term.angle_period_rad());
            let angle = value.angle_rad + half;
            value.angle_rad = angle - period * (angle / period).round();
        }
    }
    Some(turned)
}

impl Session {
    fn branch(
        evaluator: &mut dyn Evaluator,
        candidate: &Candidate,
        known: Option<f64>,
        control: &Control,
    ) -> Result<Branch, Error> {
        let object = evaluator.object(candidate, 1, control)?;
        let phase_rad = object.mapv(Complex64::arg);
        let loss = match known {
            Some(loss) => loss,
            None => (evaluator
                .evaluate(std::slice::from_ref(candidate), control)?
                .first())
            .map_or(f64::NAN, |e: &Evaluation| e.loss),
        };
        Ok(Branch {
            candidate: candidate.clone(),
            loss,
            column_sign: column_sign::column_sign(phase_rad.view()),
            phase_rad,
        })
    }

    /// Scores the atom columns of the fit's image, and takes the other branch of the rotation when they are dark in it
    /// and bright in the other. Both branches are kept in the fit.
    ///
    /// # Errors
    /// As [`ssb_core::Evaluator::object`].
    pub(crate) fn decide_branch(
        &self,
        evaluator: &mut dyn Evaluator,
        fit: &mut Fit,
        control: &Control,
    ) -> Result<(), Error> {
        let geometry = self.geometry();
        let first = Self::branch(evaluator, &fit.best, Some(fit.loss), control)?;
        fit.column_sign = Some(first.column_sign);
        let score = first.column_sign.score;
        let deg = |candidate: &Candidate| geometry.rotation_of(candidate);
        match first.column_sign.state {
            ColumnState::Positive => fit.branches = vec![first],
            ColumnState::Inconclusive => {
                fit.warnings.push(format!(
                    "column sign: inconclusive (score {score:.2}); the rotation may be off by 180 degrees; nothing was \
                     flipped"
                ));
                fit.branches = vec![first];
            }
            ColumnState::Reversed => {
                let Some(other) = partner(&fit.best, geometry) else {
                    fit.warnings.push(format!(
                        "column sign: atom columns are dark in phase (score {score:.2}), but a term with a formula of its \
                         own has no counterpart on the other branch; nothing was flipped"
                    ));
                    fit.branches = vec![first];
                    return Ok(());
                };
                let other = Self::branch(evaluator, &other, None, control)?;
                fit.evaluations += 1;
                let turned = other.column_sign;
                if turned.state == ColumnState::Positive {
                    fit.warnings.push(format!(
                        "column sign: at a rotation of {:.2} deg atom columns are dark in phase (score {score:.2}); the other \
                         branch, {:.2} deg, was computed anew and taken (score {:.2})",
                        deg(&first.candidate),
                        deg(&other.candidate),
                        turned.score
                    ));
                    fit.take(&other);
                    fit.branches = vec![other, first];
                } else {
                    fit.warnings.push(format!(
                        "column sign: atom columns are dark in phase (score {score:.2}) and not bright on the other branch \
                         either (score {:.2}); nothing was flipped",
                        turned.score
                    ));
                    fit.branches = vec![first, other];
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_partner_of_the_partner_is_the_candidate() {
        let geometry = ssb_testkit::synthetic::PROBLEMS[0]
            .problem()
            .map(|p| p.geometry().clone())
            .unwrap();
        let mut candidate = Candidate::default();
        for (name, value) in [
            ("C10", "12nm"),
            ("C12", "3nm"),
            ("phi12", "0.4rad"),
            ("C21", "80nm"),
            ("phi21", "1rad"),
            ("C30", "2um"),
        ] {
            candidate.aberrations.set(name, value).unwrap();
        }
        candidate.tilt_mrad = [3.0, -4.0];
        candidate.depth_spread_nm = 9.0;
        let other = partner(&candidate, &geometry).unwrap();
        let value = |i: usize| other.aberrations.get(i);
        assert_eq!(value(0).magnitude_a, -120.0);
        assert!((value(1).angle_rad - (0.4 + PI / 2.0 - PI)).abs() < 1e-12);
        assert_eq!((value(2).magnitude_a, value(2).angle_rad), (800.0, 1.0));
        assert_eq!(value(4).magnitude_a, -20_000.0);
        assert_eq!((other.tilt_mrad, other.depth_spread_nm), ([-3.0, 4.0], 9.0));
        let back = partner(&other, &geometry).unwrap();
        assert!((back.aberrations.get(1).angle_rad - 0.4).abs() < 1e-12);
        assert_eq!(back.tilt_mrad, candidate.tilt_mrad);
        let turned = back.rotation_deg.unwrap() - geometry.rotation_deg;
        assert!((turned / 360.0).fract().abs() < 1e-12);
    }
}
