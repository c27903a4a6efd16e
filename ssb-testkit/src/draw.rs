//! Seeded random draws: uniform, normal and Poisson numbers.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A seeded source of numbers; the same on every machine.
#[derive(Debug)]
pub(crate) struct Draw(ChaCha8Rng);

impl Draw {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Uniform in `[lo, hi)`.
    pub(crate) fn uniform(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * self.0.random::<f64>()
    }

    /// Normal, mean 0 and standard deviation 1 (Box-Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.0.random::<f64>()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.0.random::<f64>()).cos()
    }

    /// Poisson; from a mean of 30 on the rounded normal of the same variance.
    pub(crate) fn poisson(&mut self, mean: f64) -> f64 {
        if mean >= 30.0 {
            return (mean + mean.sqrt() * self.normal()).round().max(0.0);
        }
        let floor = (-mean).exp();
        let (mut count, mut product) = (0.0, self.0.random::<f64>());
        while product > floor {
            count += 1.0;
            product *= self.0.random::<f64>();
        }
        count
    }
}
