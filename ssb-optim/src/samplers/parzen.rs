//! The Parzen estimator of one dimension: a mixture of normals truncated to the bounds.
//!
//! One kernel an observation and one for the prior, as in Optuna 4's univariate TPESampler
//! (`prior_weight` 1, `consider_magic_clip` true, `consider_endpoints` false, `default_weights`).

use libm::{exp, log};
use rand_chacha::ChaCha8Rng;

use super::truncated_normal::{LOG_SQRT_2PI, mass, quantile};
use super::uniform;
use crate::space::Dim;

/// Observations that keep full weight, the newest ones.
const FLAT: usize = 25;

struct Kernel {
    weight: f64,
    mu: f64,
    sigma: f64,
    /// log of weight / (sigma sqrt(2 pi) mass), which the kernel's density starts from.
    log_scale: f64,
}

/// The estimated density of one dimension.
pub(super) struct Parzen {
    low: f64,
    high: f64,
    kernels: Vec<Kernel>,
}

impl Parzen {
    /// Builds the estimator from observations in the order asked, each within the bounds.
    pub(super) fn new(observations: &[f64], dim: &Dim) -> Self {
        let (low, high, range) = (dim.low, dim.high, dim.range());
        let mut weights = weights(observations.len());
        weights.push(1.0);
        let sum: f64 = weights.iter().sum();
        let mut sigmas = sigmas(observations, low, high);
        sigmas.push(range);
        let mus = observations.iter().copied().chain([0.5 * (low + high)]);
        let kernels = (mus.zip(sigmas).zip(weights))
            .map(|((mu, sigma), weight)| {
                let weight = weight / sum;
                let mass = mass((low - mu) / sigma, (high - mu) / sigma);
                let log_scale = log(weight) - log(mass) - log(sigma) - LOG_SQRT_2PI;
                Kernel {
                    weight,
                    mu,
                    sigma,
                    log_scale,
                }
            })
            .collect();
        Self { low, high, kernels }
    }

    /// Draws `count` values: first a kernel for each, then the values.
    pub(super) fn sample(&self, count: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let chosen: Vec<&Kernel> = (0..count).map(|_| self.choose(uniform(rng))).collect();
        let draw = |kernel: &Kernel| {
            let (mu, sigma) = (kernel.mu, kernel.sigma);
            let x = quantile(
                uniform(rng),
                (self.low - mu) / sigma,
                (self.high - mu) / sigma,
            );
            (mu + sigma * x).clamp(self.low, self.high)
        };
        chosen.into_iter().map(draw).collect()
    }

    /// The kernel into whose share of the weights `q` falls.
    fn choose(&self, q: f64) -> &Kernel {
        let mut sum = 0.0;
        let past = |kernel: &&Kernel| {
            sum += kernel.weight;
            q < sum
        };
        // The weights may sum to a little less than one.
        self.kernels
            .iter()
            .find(past)
            .unwrap_or(&self.kernels[self.kernels.len() - 1])
    }

    /// log of the density at `x`, which lies within the bounds.
    pub(super) fn log_pdf(&self, x: f64) -> f64 {
        let logs: Vec<f64> = (self.kernels.iter())
            .map(|k| k.log_scale - 0.5 * square((x - k.mu) / k.sigma))
            .collect();
        let max = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        max + log(logs.iter().map(|l| exp(l - max)).sum::<f64>())
    }
}

fn square(x: f64) -> f64 {
    x * x
}

/// Weights of `n` observations, oldest first: a linear ramp from 1/n to 1, then the newest flat.
fn weights(n: usize) -> Vec<f64> {
    let ramp = n.saturating_sub(FLAT);
    let start = 1.0 / n as f64;
    let weight = |i: usize| match ramp.saturating_sub(1) {
        _ if i >= ramp => 1.0,
        0 => start,
        last => start + (1.0 - start) * i as f64 / last as f64,
    };
    (0..n).map(weight).collect()
}

/// Widths of the observations' kernels: the larger distance to a neighbour, clipped.
///
/// The bounds are neighbours only of a single observation. The clip is from the range over
/// min(100, 1 + kernels) to the range.
fn sigmas(observations: &[f64], low: f64, high: f64) -> Vec<f64> {
    let n = observations.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| observations[i].total_cmp(&observations[j]));
    let minimum = (high - low) / (2.0 + n as f64).min(100.0);
    let mut sigmas = vec![0.0; n];
    for (place, &i) in order.iter().enumerate() {
        let x = observations[i];
        let below = place.checked_sub(1).map(|p| x - observations[order[p]]);
        let above = order.get(place + 1).map(|&j| observations[j] - x);
        let sigma = match (below, above) {
            (Some(below), Some(above)) => below.max(above),
            (Some(distance), None) | (None, Some(distance)) => distance,
            (None, None) => (x - low).max(high - x),
        };
        sigmas[i] = sigma.clamp(minimum, high - low);
    }
    sigmas
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// Relative difference, absolute below 1.
    fn close(a: f64, b: f64, tolerance: f64, what: &str) {
        assert!(
            (a - b).abs() <= tolerance * b.abs().max(1.0),
            "{what}: {a} is not Optuna's {b}"
        );
    }

    fn numbers(value: &Value) -> Vec<f64> {
        value
            .as_array()
            .unwrap()
            .iter()
            .map(|x| x.as_f64().unwrap())
            .collect()
    }

    /// Optuna's own estimators on fixed observations, from tests/optuna/parzen_values.py.
    #[test]
    fn estimator_equals_optuna() {
        let fixture = include_str!("../../tests/optuna/parzen_values.json");
        let fixture: Value = serde_json::from_str(fixture).unwrap();
        let cases = fixture["cases"].as_array().unwrap();
        assert!(cases.len() >= 10);
        for case in cases {
            let dim = Dim::new(
                "x",
                case["low"].as_f64().unwrap(),
                case["high"].as_f64().unwrap(),
            );
            let observations = numbers(&case["observations"]);
            let n = observations.len();
            let parzen = Parzen::new(&observations, &dim);
            for (list, get) in [
                ("weights", (|k| k.weight) as fn(&Kernel) -> f64),
                ("mus", |k| k.mu),
                ("sigmas", |k| k.sigma),
            ] {
                let expected = numbers(&case[list]);
                assert_eq!(expected.len(), parzen.kernels.len());
                for (kernel, expected) in parzen.kernels.iter().zip(expected) {
                    close(get(kernel), expected, 1e-12, &format!("{list} of {n}"));
                }
            }
            let xs = numbers(&case["xs"]);
            for (x, expected) in xs.into_iter().zip(numbers(&case["log_pdf"])) {
                close(
                    parzen.log_pdf(x),
                    expected,
                    1e-12,
                    &format!("log density of {n} at {x}"),
                );
            }
        }
    }

    #[test]
    fn quantiles_equal_optuna() {
        let fixture = include_str!("../../tests/optuna/parzen_values.json");
        let fixture: Value = serde_json::from_str(fixture).unwrap();
        let cases = fixture["quantiles"].as_array().unwrap();
        assert!(cases.len() >= 50);
        for case in cases {
            let [q, a, b, x] = numbers(case)[..] else {
                panic!("four numbers a case")
            };
            close(
                quantile(q, a, b),
                x,
                1e-9,
                &format!("quantile {q} of [{a}, {b}]"),
            );
        }
    }

    #[test]
    fn density_integrates_to_one_and_samples_follow_it() {
        use rand_chacha::rand_core::SeedableRng;
        let dim = Dim::new("x", -2.0, 3.0);
        let parzen = Parzen::new(&[0.5, 2.9, -2.0, 0.6, 3.0], &dim);
        let cells = 50_000;
        let width = dim.range() / cells as f64;
        let density = |i: usize| exp(parzen.log_pdf(dim.low + (i as f64 + 0.5) * width)) * width;
        let total: f64 = (0..cells).map(density).sum();
        assert!((total - 1.0).abs() < 1e-8, "integral {total}");
        let count = 40_000;
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let samples = parzen.sample(count, &mut rng);
        assert!(samples.iter().all(|x| (dim.low..=dim.high).contains(x)));
        for quarter in 1..4 {
            let edge = cells * quarter / 4;
            let expected: f64 = (0..edge).map(density).sum();
            let limit = dim.low + edge as f64 * width;
            let share = samples.iter().filter(|&&x| x < limit).count() as f64 / count as f64;
            // Four standard deviations of a share of 40,000 draws.
            assert!(
                (share - expected).abs() < 0.01,
                "{share} below {limit}, expected {expected}"
            );
        }
    }
}
