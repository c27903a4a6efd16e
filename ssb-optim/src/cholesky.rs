//! Symmetric positive definite systems of a few unknowns.

/// The lower triangle `L` of `matrix = L L^T` (row-major, `n` by `n`); `None` unless positive definite.
pub(crate) fn cholesky(matrix: &[f64], n: usize) -> Option<Vec<f64>> {
    let mut lower = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let before: f64 = (0..j).map(|k| lower[i * n + k] * lower[j * n + k]).sum();
            let rest = matrix[i * n + j] - before;
            lower[i * n + j] = if i == j {
                if !(rest.is_finite() && rest > 0.0) {
                    return None;
                }
                rest.sqrt()
            } else {
                rest / lower[j * n + j]
            };
        }
    }
    Some(lower)
}

/// Solves `L L^T x = b`.
pub(crate) fn solve(lower: &[f64], b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let mut x = b.to_vec();
    for i in 0..n {
        let before: f64 = (0..i).map(|k| lower[i * n + k] * x[k]).sum();
        x[i] = (x[i] - before) / lower[i * n + i];
    }
    for i in (0..n).rev() {
        let after: f64 = (i + 1..n).map(|k| lower[k * n + i] * x[k]).sum();
        x[i] = (x[i] - after) / lower[i * n + i];
    }
    x
}

/// The inverse of a symmetric positive definite matrix (row-major, `n` by `n`); `None` for any other.
///
/// ```
/// let inverse = ssb_optim::inverse_of_positive(&[4.0, 2.0, 2.0, 2.0], 2).unwrap();
/// assert_eq!(inverse, [0.5, -0.5, -0.5, 1.0]);
/// assert!(ssb_optim::inverse_of_positive(&[1.0, 2.0, 2.0, 1.0], 2).is_none());
/// ```
pub fn inverse_of_positive(matrix: &[f64], n: usize) -> Option<Vec<f64>> {
    let lower = cholesky(matrix, n)?;
    let mut inverse = vec![0.0; n * n];
    for j in 0..n {
        let mut unit = vec![0.0; n];
        unit[j] = 1.0;
        for (i, x) in solve(&lower, &unit).into_iter().enumerate() {
            inverse[i * n + j] = x;
        }
    }
    Some(inverse)
}
