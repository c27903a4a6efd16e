//! The objective, numerics section 1: `phi_b = arg O_b`, mean phase `mean_b phi_b`,
//! `loss = mean_R [ mean_b phi_b^2 - (mean_b phi_b)^2 ]`.

use ssb_core::num_complex::Complex64;

/// The sums over b of `phi_b(R)` and `phi_b(R)^2`.
#[derive(Debug, Clone)]
pub struct PhaseMoments {
    first_rad: Vec<f64>,
    second_rad2: Vec<f64>,
    count: usize,
}

impl PhaseMoments {
    /// Empty sums over `points` scan positions.
    #[must_use]
    pub fn new(points: usize) -> Self {
        Self {
            first_rad: vec![0.0; points],
            second_rad2: vec![0.0; points],
            count: 0,
        }
    }

    /// Adds the phase of one `O_b`.
    pub fn add(&mut self, image: &[Complex64]) {
        self.count += 1;
        let sums = self.first_rad.iter_mut().zip(&mut self.second_rad2);
        for ((first, second), value) in sums.zip(image) {
            let phase_rad = value.arg();
            *first += phase_rad;
            *second += phase_rad * phase_rad;
        }
    }

    /// `mean_b phi_b(R)` in radians.
    #[must_use]
    pub fn mean_phase_rad(&self) -> Vec<f64> {
        let b = self.count as f64;
        self.first_rad.iter().map(|sum| sum / b).collect()
    }

    /// The phase variance in rad^2.
    #[must_use]
    pub fn loss(&self) -> f64 {
        let b = self.count as f64;
        let sums = self.first_rad.iter().zip(&self.second_rad2);
        let total: f64 = sums
            .map(|(first, second)| second / b - (first / b) * (first / b))
            .sum();
        total / self.first_rad.len() as f64
    }
}
