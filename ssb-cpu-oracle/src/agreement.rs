//! The least-squares agreement, numerics section 4:
//! `S = sum over q in the band of |sum_b G_b conj Gamma_b|^2 / sum_b |Gamma_b|^2`.

use ssb_core::num_complex::Complex64;
use ssb_core::{Error, Geometry};

use crate::Overlap;

/// S needs at least this many usable points in the band.
pub const MIN_BAND_POINTS: usize = 16;

/// The two sums over b at every scan frequency.
#[derive(Debug, Clone)]
pub struct Agreement {
    numerator: Vec<Complex64>,
    denominator: Vec<f64>,
    count: usize,
}

impl Agreement {
    /// Empty sums over `points` scan frequencies.
    #[must_use]
    pub fn new(points: usize) -> Self {
        Self {
            numerator: vec![Complex64::default(); points],
            denominator: vec![0.0; points],
            count: 0,
        }
    }

    /// Adds one BF pixel.
    pub fn add(&mut self, g: &[Complex64], overlaps: &[Overlap]) {
        self.count += 1;
        for (i, (g, Overlap { gamma, .. })) in g.iter().zip(overlaps).enumerate() {
            self.numerator[i] += g * gamma.conj();
            self.denominator[i] += gamma.norm_sqr();
        }
    }

    /// S, the sum over the band of the whole plane, DC out; larger is better.
    ///
    /// # Errors
    /// [`Error::BadEvidence`] when fewer than 16 points are usable.
    pub fn value(&self, geometry: &Geometry) -> Result<f64, Error> {
        let band = geometry.agreement_band();
        let (rows, cols) = (geometry.q_row_per_a(), geometry.q_col_per_a());
        let floor = 1e-12 * self.count as f64;
        let (mut sum, mut points) = (0.0, 0);
        for (i, (numerator, denominator)) in
            self.numerator.iter().zip(&self.denominator).enumerate()
        {
            let q_per_a = rows[i / cols.len()].hypot(cols[i % cols.len()]);
            let in_band = i > 0 && q_per_a >= band.lo_per_a && q_per_a <= band.hi_per_a;
            if in_band && *denominator > floor {
                sum += numerator.norm_sqr() / denominator;
                points += 1;
            }
        }
        if points < MIN_BAND_POINTS {
            return Err(Error::BadEvidence {
                object: format!(
                    "band of the agreement, {:.4} to {:.4} 1/Å",
                    band.lo_per_a, band.hi_per_a
                ),
                expected: format!("{MIN_BAND_POINTS} usable scan frequencies or more"),
                found: points.to_string(),
                action: "use a scan of more positions".into(),
            });
        }
        Ok(sum)
    }
}
