//! Seeded random numbers that are the same on every machine and for any number of threads.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// One independent stream of a seed.
#[derive(Debug, Clone)]
pub(crate) struct Draws(ChaCha8Rng);

impl Draws {
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(stream);
        Self(generator)
    }

    /// Uniform in [0, 1), a multiple of 2^-53.
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (0.5_f64).powi(53)
    }

    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Standard normal (Box and Muller; the second value is not used).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.uniform())).sqrt();
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }

    /// A Poisson count of the expected value `rate` (electrons).
    ///
    /// Below 10 by inversion; above by transformed rejection with squeeze (W. Hörmann, Insurance:
    /// Mathematics and Economics 12 (1993) 39, algorithm PTRS). Logarithms and exponentials come
    /// from portable code, so that the same stream gives the same counts everywhere.
    pub(crate) fn poisson(&mut self, rate: f64) -> u64 {
        if rate <= 0.0 {
            0
        } else if rate < 10.0 {
            self.poisson_by_inversion(rate)
        } else {
            self.poisson_by_rejection(rate)
        }
    }

    fn poisson_by_inversion(&mut self, rate: f64) -> u64 {
        let target = self.uniform();
        let mut term = libm::exp(-rate);
        let mut sum = term;
        let mut count = 0_u64;
        // The terms fall below the spacing of `sum` long before 200 for a rate below 10.
        while target >= sum && count < 200 {
            count += 1;
            term *= rate / count as f64;
            sum += term;
        }
        count
    }

    fn poisson_by_rejection(&mut self, rate: f64) -> u64 {
        let b = 0.931 + 2.53 * rate.sqrt();
        let a = -0.059 + 0.024_83 * b;
        let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
        let v_r = 0.9277 - 3.6224 / (b - 2.0);
        let log_rate = libm::log(rate);
        loop {
            let u = self.uniform() - 0.5;
            let v = self.uniform();
            let us = 0.5 - u.abs();
            let count = ((2.0 * a / us + b) * u + rate + 0.43).floor();
            if us >= 0.07 && v <= v_r {
                return count as u64;
            }
            if count < 0.0 || (us < 0.013 && v > us) {
                continue;
            }
            let left = libm::log(v) + libm::log(inverse_alpha) - libm::log(a / (us * us) + b);
            if left <= -rate + count * log_rate - libm::lgamma(count + 1.0) {
                return count as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chi-squared of 100,000 draws against the Poisson probabilities, bins of 20 or more.
    fn chi_squared_per_bin(rate: f64) -> (f64, usize) {
        let draws = 100_000;
        let mut random = Draws::new(7, 3);
        let mut histogram = vec![0_u32; (rate + 20.0 * rate.sqrt()) as usize + 20];
        for _ in 0..draws {
            histogram[random.poisson(rate) as usize] += 1;
        }
        let expected = |k: usize| {
            let k = k as f64;
            f64::from(draws) * libm::exp(k * libm::log(rate) - rate - libm::lgamma(k + 1.0))
        };
        let bins: Vec<usize> = (0..histogram.len())
            .filter(|k| expected(*k) >= 20.0)
            .collect();
        let sum: f64 = bins
            .iter()
            .map(|k| (f64::from(histogram[*k]) - expected(*k)).powi(2) / expected(*k))
            .sum();
        let rare: u32 = (0..histogram.len())
            .filter(|k| !bins.contains(k))
            .map(|k| histogram[k])
            .sum();
        assert!(
            f64::from(rare) < 0.02 * f64::from(draws),
            "{rare} rare values"
        );
        (sum / bins.len() as f64, bins.len())
    }

    #[test]
    fn counts_follow_the_poisson_law() {
        for rate in [0.01, 0.7, 4.2, 9.99, 10.0, 31.5, 400.0] {
            let (per_bin, bins) = chi_squared_per_bin(rate);
            // Mean 1, standard deviation sqrt(2 / bins): five of them.
            let bound = 1.0 + 5.0 * (2.0 / bins as f64).sqrt();
            assert!(per_bin < bound, "rate {rate}: {per_bin} over {bins} bins");
        }
    }

    #[test]
    fn streams_differ_and_repeat() {
        let draw = |seed, stream| {
            let mut d = Draws::new(seed, stream);
            [d.poisson(5.0), d.poisson(500.0), d.poisson(1e6)]
        };
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2), draw(1, 3));
        assert_ne!(draw(1, 2), draw(2, 2));
        assert_eq!(Draws::new(1, 1).poisson(0.0), 0);
        let large = Draws::new(1, 1).poisson(3e9) as f64;
        assert!((large - 3e9).abs() < 10.0 * 3e9_f64.sqrt());
    }
}
