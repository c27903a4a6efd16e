//! The registry of samplers: one file and one line each.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use crate::error::OptimError;
use crate::space::Space;
use crate::study::Score;

mod grid;
mod parzen;
mod random;
mod tpe;
mod truncated_normal;

/// What a sampler may look at to choose its next candidate.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    /// The space to choose from.
    pub(crate) space: &'a Space,
    /// Told candidates and their scores, in the order asked.
    pub(crate) told: &'a [(&'a [f64], Score)],
    /// Number of candidates that this sampler gave before.
    pub(crate) asked: usize,
    /// Number that it will have given when the budget is spent.
    pub(crate) total: usize,
}

/// A way to choose candidates; a row of [`SAMPLERS`].
#[derive(Debug)]
pub struct Sampler {
    /// Name, as given on the command line and recorded in the trials.
    pub name: &'static str,
    /// One line for a help text.
    pub about: &'static str,
    /// The next candidate, within the bounds; `None` when there are no more.
    pub(crate) sample: fn(&Request<'_>, &mut ChaCha8Rng) -> Option<Vec<f64>>,
}

/// Every sampler there is.
pub static SAMPLERS: &[Sampler] = &[
    Sampler {
        name: "tpe",
        about: "univariate Parzen estimators",
        sample: tpe::sample,
    },
    Sampler {
        name: "random",
        about: "uniform and independent",
        sample: random::sample,
    },
    Sampler {
        name: "grid",
        about: "centres of equal cells",
        sample: grid::sample,
    },
];

/// Finds a sampler by name.
///
/// Errors: no sampler has it; the message lists those there are.
pub fn sampler(name: &str) -> Result<&'static Sampler, OptimError> {
    SAMPLERS
        .iter()
        .find(|sampler| sampler.name == name)
        .ok_or_else(|| OptimError::UnknownSampler {
            name: name.to_owned(),
            known: SAMPLERS
                .iter()
                .map(|s| s.name)
                .collect::<Vec<_>>()
                .join(", "),
        })
}

/// A uniform number from 0 to below 1 with 53 random bits.
fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}
