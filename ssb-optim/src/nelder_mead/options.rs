//! Steps, tolerances and limit of a Nelder-Mead search.

use serde::{Deserialize, Serialize};

use crate::error::OptimError;
use crate::space::Space;

/// Steps, tolerances and limit of a [`NelderMead`](super::NelderMead) search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NelderMeadOptions {
    /// Smallest first step of each dimension, in its unit; positive.
    pub steps: Vec<f64>,
    /// First step as a share of the coordinate, where that is larger (0.05).
    pub relative_step: f64,
    /// Largest distance of a vertex from the best, each dimension in its unit, to stop at; positive.
    pub tolerances: Vec<f64>,
    /// Largest difference from the best value, as a share of it, to stop at (1e-5).
    pub relative_spread: f64,
    /// Told values, memo hits included, after which the search stops in any case (400).
    pub max_evaluations: usize,
}

impl NelderMeadOptions {
    /// The given steps and tolerances a dimension, the rest as the fields say.
    pub fn new(steps: Vec<f64>, tolerances: Vec<f64>) -> Self {
        Self {
            steps,
            relative_step: 0.05,
            tolerances,
            relative_spread: 1e-5,
            max_evaluations: 400,
        }
    }

    pub(super) fn check(&self, space: &Space) -> Result<(), OptimError> {
        space.check_len("steps", &self.steps)?;
        space.check_len("tolerances", &self.tolerances)?;
        let invalid = |option, expected: &str, received| {
            Err(OptimError::OptionInvalid {
                option,
                expected: expected.to_owned(),
                received,
            })
        };
        for (option, list) in [("steps", &self.steps), ("tolerances", &self.tolerances)] {
            if let Some(&x) = list.iter().find(|x| !(x.is_finite() && **x > 0.0)) {
                return invalid(option, "positive and finite", x);
            }
        }
        for (option, x) in [
            ("relative_step", self.relative_step),
            ("relative_spread", self.relative_spread),
        ] {
            if !(x.is_finite() && x >= 0.0) {
                return invalid(option, "finite and at least 0", x);
            }
        }
        let vertices = self.steps.len() + 1;
        if self.max_evaluations < vertices {
            let expected = format!("at least {vertices}, the vertices of the first simplex");
            return invalid("max_evaluations", &expected, self.max_evaluations as f64);
        }
        Ok(())
    }
}
