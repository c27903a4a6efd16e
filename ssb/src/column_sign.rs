//! Whether atom columns are bright in phase: skewness of the phase about its median
//! (numerics section 4).
//!
//! Reversing every `k` (a scan rotation off by 180 degrees) gives the conjugate object, whose
//! columns are dark. Nothing is flipped here: the score is reported.

use ndarray::ArrayView2;
use serde::{Deserialize, Serialize};

/// Outcome of the check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnState {
    /// Columns are bright: the score is above 0.2.
    Positive,
    /// Columns are dark: below -0.2; the rotation may be off by 180 degrees.
    Reversed,
    /// Between -0.2 and 0.2.
    Inconclusive,
}

/// Score of the atom columns and what follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ColumnSign {
    /// `mean((x - m)^3) / mean((x - m)^2)^1.5` with `m` the median of the phase.
    pub score: f64,
    /// The outcome.
    pub state: ColumnState,
}

/// Scores a phase image in radians; a constant image scores 0.
///
/// ```
/// use ndarray::Array2;
/// let mut phase = Array2::<f64>::zeros((8, 8));
/// phase[(3, 4)] = 1.0;
/// assert_eq!(ssb::record::column_sign(phase.view()).state, ssb::record::ColumnState::Positive);
/// ```
#[must_use]
pub fn column_sign(phase_rad: ArrayView2<'_, f64>) -> ColumnSign {
    let mut sorted: Vec<f64> = phase_rad.iter().copied().collect();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    let median = match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[half],
        _ => 0.5 * (sorted[half - 1] + sorted[half]),
    };
    let moment = |power: i32| {
        sorted.iter().map(|x| (x - median).powi(power)).sum::<f64>() / sorted.len().max(1) as f64
    };
    let second = moment(2);
    let score = if second > 0.0 {
        moment(3) / second.powf(1.5)
    } else {
        0.0
    };
    let state = if score < -0.2 {
        ColumnState::Reversed
    } else if score > 0.2 {
        ColumnState::Positive
    } else {
        ColumnState::Inconclusive
    };
    ColumnSign { score, state }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    #[test]
    fn the_three_outcomes() {
        let atoms = Array2::from_shape_fn((32, 32), |(r, c)| {
            (-0.5 * ((r as f64 % 8.0 - 4.0).powi(2) + (c as f64 % 8.0 - 4.0).powi(2))).exp()
        });
        assert_eq!(column_sign(atoms.view()).state, ColumnState::Positive);
        let dark = atoms.mapv(|x| -x);
        let score = column_sign(dark.view());
        assert_eq!(score.state, ColumnState::Reversed);
        assert!((score.score + column_sign(atoms.view()).score).abs() < 1e-12);
        let wave = Array2::from_shape_fn((32, 32), |(r, _)| {
            (r as f64 * std::f64::consts::FRAC_PI_8).sin()
        });
        assert_eq!(column_sign(wave.view()).state, ColumnState::Inconclusive);
        let flat = column_sign(Array2::<f64>::zeros((4, 4)).view());
        assert_eq!(flat.score, 0.0);
    }
}
