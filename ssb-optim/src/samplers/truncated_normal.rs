//! The standard normal distribution restricted to an interval `[a, b]` with a <= 0 <= b, at least 1
//! wide: what a Parzen kernel within its bounds, no wider than them, needs.
//!
//! Phi is the normal distribution function. All functions come from the `libm` crate, so that
//! results are the same bits on every machine.

use std::f64::consts::SQRT_2;

use libm::{erfc, exp, log};

/// log of sqrt(2 pi), the norm of the normal density.
pub(super) const LOG_SQRT_2PI: f64 = 0.918_938_533_204_672_8;

/// Phi(x), accurate for x <= 0.
fn phi(x: f64) -> f64 {
    0.5 * erfc(-x / SQRT_2)
}

/// The probability between `a` and `b`: at least 0.34, so nothing cancels.
pub(super) fn mass(a: f64, b: f64) -> f64 {
    1.0 - phi(a) - phi(-b)
}

/// The x <= 0 with Phi(x) = `p`, for 0 < `p` <= 1/2.
///
/// Newton on the concave log Phi, from -sqrt(-2 log p), which lies below the root because
/// Phi(-t) <= exp(-t^2/2) / 2: the steps rise to the root.
fn inverse_phi(p: f64) -> f64 {
    let log_p = log(p);
    let mut x = -(-2.0 * log_p).sqrt();
    for _ in 0..60 {
        let phi_x = phi(x);
        let slope = exp(-0.5 * x * x - LOG_SQRT_2PI) / phi_x;
        let step = (log_p - log(phi_x)) / slope;
        x += step;
        if step.abs() <= 1e-14 {
            break;
        }
    }
    x
}

/// The x from a to b below which the share `q`, from 0 to below 1, of the probability between them lies.
pub(super) fn quantile(q: f64, a: f64, b: f64) -> f64 {
    if q == 0.0 {
        return a;
    }
    // The smaller of the two tails keeps its digits.
    let below = phi(a) + q * mass(a, b);
    let x = if below <= 0.5 {
        inverse_phi(below)
    } else {
        -inverse_phi((phi(-b) + (1.0 - q) * mass(a, b)).min(0.5))
    };
    x.clamp(a, b)
}
