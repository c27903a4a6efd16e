//! Uniform random search: every coordinate independent and uniform between its bounds.

use rand_chacha::ChaCha8Rng;

use super::{Request, uniform};

pub(super) fn sample(request: &Request<'_>, rng: &mut ChaCha8Rng) -> Option<Vec<f64>> {
    let dims = request.space.dims().iter();
    Some(
        dims.map(|dim| (dim.low + uniform(rng) * dim.range()).min(dim.high))
            .collect(),
    )
}
