//! Grid search: the centres of equal cells, as many as the budget holds, last dimension fastest.
//!
//! Centres, because the two bounds of a full period are one candidate. The first dimensions get
//! the extra cells when the budget is no full power.

use rand_chacha::ChaCha8Rng;

use super::Request;

pub(super) fn sample(request: &Request<'_>, _: &mut ChaCha8Rng) -> Option<Vec<f64>> {
    let dims = request.space.dims();
    let mut cells = vec![1usize; dims.len()];
    let count = |cells: &[usize]| cells.iter().try_fold(1usize, |n, &c| n.checked_mul(c));
    for d in (0..dims.len()).cycle() {
        cells[d] += 1;
        if count(&cells).is_none_or(|n| n > request.total) {
            cells[d] -= 1;
            break;
        }
    }
    let mut rest = request.asked;
    let mut point = vec![0.0; dims.len()];
    for ((x, dim), &n) in point.iter_mut().zip(dims).zip(&cells).rev() {
        *x = dim.low + dim.range() * ((rest % n) as f64 + 0.5) / n as f64;
        rest /= n;
    }
    (rest == 0).then_some(point)
}
