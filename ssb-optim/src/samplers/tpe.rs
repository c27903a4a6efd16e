//! Tree-structured Parzen estimators, each dimension by itself, as in Optuna 4's default.
//!
//! The told candidates are split into the best gamma(n) and the rest; a dimension's next value is
//! the one of 24 draws from the density of the best where log l(x) - log g(x), which rises with
//! the expected improvement, is largest (Bergstra et al. 2011). A batch draws several times from
//! one history, as Optuna does with `constant_liar` false.

use rand_chacha::ChaCha8Rng;

use super::parzen::Parzen;
use super::{Request, random};

/// Told candidates before the estimators take over from random search.
const STARTUP: usize = 10;
/// Draws a dimension of which the most promising is asked.
const CANDIDATES: usize = 24;

/// Number of candidates counted among the best of `n`.
fn gamma(n: usize) -> usize {
    ((0.1 * n as f64).ceil() as usize).min(25)
}

pub(super) fn sample(request: &Request<'_>, rng: &mut ChaCha8Rng) -> Option<Vec<f64>> {
    let n = request.told.len();
    if n < STARTUP {
        return random::sample(request, rng);
    }
    let mut ranking: Vec<usize> = (0..n).collect();
    // Stable, so that the earlier of equals ranks first.
    ranking.sort_by(|&i, &j| {
        let (a, b) = (request.told[i].1.ranked(), request.told[j].1.ranked());
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    let mut is_best = vec![false; n];
    ranking[..gamma(n)].iter().for_each(|&i| is_best[i] = true);
    let value = |(d, dim): (usize, &crate::Dim)| {
        let side = |best: bool| {
            // A caller's own candidate outside the bounds counts at the nearest bound.
            let values = (request.told.iter().zip(&is_best))
                .filter(|&(_, &is_best)| is_best == best)
                .map(|((point, _), _)| point[d].clamp(dim.low, dim.high));
            Parzen::new(&values.collect::<Vec<f64>>(), dim)
        };
        let (best, rest) = (side(true), side(false));
        let mut chosen = (f64::NEG_INFINITY, 0.5 * (dim.low + dim.high));
        for x in best.sample(CANDIDATES, rng) {
            let gain = best.log_pdf(x) - rest.log_pdf(x);
            if gain > chosen.0 {
                chosen = (gain, x);
            }
        }
        chosen.1
    };
    Some(request.space.dims().iter().enumerate().map(value).collect())
}

#[cfg(test)]
mod tests {
    use super::gamma;

    #[test]
    fn gamma_is_a_tenth_up_to_25() {
        let counts = [1, 10, 11, 20, 21, 30, 240, 250, 251, 1000];
        assert_eq!(counts.map(gamma), [1, 1, 2, 2, 3, 3, 24, 25, 25, 25]);
    }
}
