//! Loss and mean phase from the sums over b (numerics section 1).

use ndarray::Array2;

use crate::{Error, Evaluation, MeanPhase};

/// What one pass over the BF pixels leaves.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseSums {
    /// Scan positions (rows, cols).
    pub scan_shape: [usize; 2],
    /// `sum_R sum_b phi_b(R)^2` in rad^2.
    pub squares_rad2: f64,
    /// Points with `|Gamma| <= 1e-8` among the supported ones.
    pub degenerate: u64,
    /// Supported points of all BF pixels ([`crate::support::supported_points`]).
    pub supported: u64,
    /// Selected BF pixels, inactive ones included.
    pub bf_pixels: usize,
}

impl PhaseSums {
    /// Loss and degenerate fraction; `squared_sums_rad2` is `sum_R (sum_b phi_b(R))^2` in rad^2 and
    /// `backend` is named in the error.
    ///
    /// # Errors
    /// [`Error::Internal`] unless the loss is positive and finite.
    pub fn evaluation(&self, squared_sums_rad2: f64, backend: &str) -> Result<Evaluation, Error> {
        let pixels = self.bf_pixels as f64;
        let scan = (self.scan_shape[0] * self.scan_shape[1]) as f64;
        let mean_of_squares = self.squares_rad2 / (pixels * scan);
        let square_of_means = squared_sums_rad2 / (pixels * pixels * scan);
        let loss = mean_of_squares - square_of_means;
        if !(loss.is_finite() && loss > 0.0) {
            return Err(Error::Internal(format!(
                "the loss came out as {loss}; counts that do not vary over the scan carry no phase, \
                 and anything else is a fault of the {backend} backend"
            )));
        }
        Ok(Evaluation {
            loss,
            degenerate_fraction: self.degenerate as f64 / self.supported.max(1) as f64,
        })
    }

    /// The mean phase with loss and degenerate fraction; `phase_rad` is `sum_b phi_b(R)` in radians, row-major.
    ///
    /// # Errors
    /// As [`PhaseSums::evaluation`].
    ///
    /// ```
    /// let sums = ssb_core::PhaseSums {
    ///     scan_shape: [1, 2],
    ///     squares_rad2: 0.75,
    ///     degenerate: 1,
    ///     supported: 4,
    ///     bf_pixels: 2,
    /// };
    /// let mean = sums.mean_phase(&[0.5, -0.5], "test")?;
    /// assert_eq!(mean.phase_rad[(0, 0)], 0.25);
    /// assert_eq!((mean.evaluation.loss, mean.evaluation.degenerate_fraction), (0.125, 0.25));
    /// # Ok::<(), ssb_core::Error>(())
    /// ```
    pub fn mean_phase(&self, phase_rad: &[f64], backend: &str) -> Result<MeanPhase, Error> {
        let [rows, cols] = self.scan_shape;
        let pixels = self.bf_pixels as f64;
        let squared_sums_rad2 = phase_rad.iter().map(|p| p * p).sum::<f64>();
        Ok(MeanPhase {
            evaluation: self.evaluation(squared_sums_rad2, backend)?,
            phase_rad: Array2::from_shape_fn((rows, cols), |(r, c)| {
                phase_rad[r * cols + c] / pixels
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_that_is_not_positive_names_the_backend() {
        let sums = |squares_rad2| PhaseSums {
            scan_shape: [1, 2],
            squares_rad2,
            degenerate: 0,
            supported: 1,
            bf_pixels: 1,
        };
        assert!(sums(2.5).mean_phase(&[1.0, 1.0], "test").is_ok());
        for squares_rad2 in [2.0, 1.0, f64::NAN, f64::INFINITY] {
            let message = sums(squares_rad2)
                .mean_phase(&[1.0, 1.0], "test")
                .unwrap_err();
            assert!(message.to_string().contains("the test backend"));
        }
    }
}
