//! Climbing the program with its gradients: the quasi-Newton method of Broyden, Fletcher, Goldfarb and Shanno.

use burn_tensor::backend::AutodiffBackend;

use crate::{AgreementProgram, GradientError};

/// How far and how long to climb.
#[derive(Debug, Clone, PartialEq)]
pub struct AscentOptions {
    /// Scale of each coordinate in nm: the first step goes one scale along the gradient.
    pub scales_nm: Vec<f64>,
    /// A step smaller than this share of every scale ends the climb.
    pub tolerance: f64,
    /// Most evaluations of value and gradient.
    pub max_evaluations: usize,
}

/// Where the climb ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Ascended {
    /// Coordinates in nm.
    pub point: Vec<f64>,
    /// S there.
    pub agreement: f64,
    /// Evaluations of value and gradient.
    pub evaluations: usize,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Climbs from `start` until steps are small.
///
/// `go_on` is asked before every evaluation; `false` ends the climb where it is.
///
/// # Errors
/// As [`AgreementProgram::value_and_gradient`].
pub fn ascend<B: AutodiffBackend>(
    program: &AgreementProgram<B>,
    start: &[f64],
    options: &AscentOptions,
    mut go_on: impl FnMut() -> bool,
) -> Result<Ascended, GradientError> {
    let n = start.len();
    let scales = &options.scales_nm;
    if scales.len() != n {
        return Err(GradientError::Coordinates {
            expected: n,
            found: scales.len(),
        });
    }
    // In units of the scales, downhill on -S over its first value.
    let mut evaluations = 0;
    let mut evaluate = |y: &[f64], unit: f64| -> Result<(f64, Vec<f64>), GradientError> {
        let x: Vec<f64> = y.iter().zip(scales).map(|(y, s)| y * s).collect();
        let (value, gradient) = program.value_and_gradient(&x)?;
        evaluations += 1;
        let gradient = gradient.iter().zip(scales);
        Ok((
            -value / unit,
            gradient.map(|(g, s)| -g * s / unit).collect(),
        ))
    };
    let mut y: Vec<f64> = start.iter().zip(scales).map(|(x, s)| x / s).collect();
    let (first, mut gradient) = evaluate(&y, 1.0)?;
    let unit = first.abs().max(f64::MIN_POSITIVE);
    let mut value = first / unit;
    gradient.iter_mut().for_each(|g| *g /= unit);
    let identity = |scale: f64| -> Vec<f64> {
        (0..n * n)
            .map(|i| if i % (n + 1) == 0 { scale } else { 0.0 })
            .collect()
    };
    // The first step is one scale long.
    let mut inverse = identity(1.0 / dot(&gradient, &gradient).sqrt().max(f64::MIN_POSITIVE));
    let mut count = 1;
    'climb: while count < options.max_evaluations {
        let mut step: Vec<f64> = (0..n)
            .map(|i| -dot(&inverse[i * n..][..n], &gradient))
            .collect();
        if dot(&step, &gradient) >= 0.0 {
            inverse = identity(1.0 / dot(&gradient, &gradient).sqrt().max(f64::MIN_POSITIVE));
            step = gradient.iter().map(|g| -g * inverse[0]).collect();
        }
        let longest = step.iter().fold(0.0_f64, |m, s| m.max(s.abs()));
        if longest > 5.0 {
            step.iter_mut().for_each(|s| *s *= 5.0 / longest);
        }
        let slope = dot(&step, &gradient);
        let mut share = 1.0;
        loop {
            if step.iter().all(|s| (share * s).abs() < options.tolerance)
                || count >= options.max_evaluations
                || !go_on()
            {
                break 'climb;
            }
            let next: Vec<f64> = y.iter().zip(&step).map(|(y, s)| y + share * s).collect();
            let (found, new_gradient) = evaluate(&next, unit)?;
            count += 1;
            if found <= value + 1e-4 * share * slope {
                let moved: Vec<f64> = step.iter().map(|s| share * s).collect();
                let turned: Vec<f64> = new_gradient
                    .iter()
                    .zip(&gradient)
                    .map(|(a, b)| a - b)
                    .collect();
                update(&mut inverse, &moved, &turned);
                (y, value, gradient) = (next, found, new_gradient);
                break;
            }
            share *= 0.4;
        }
    }
    Ok(Ascended {
        point: y.iter().zip(scales).map(|(y, s)| y * s).collect(),
        agreement: -value * unit,
        evaluations,
    })
}

/// The inverse curvature after a step and the change of the gradient along it.
fn update(inverse: &mut [f64], step: &[f64], change: &[f64]) {
    let n = step.len();
    let curved = dot(step, change);
    if curved <= 1e-12 * dot(step, step).sqrt() * dot(change, change).sqrt() {
        return;
    }
    let turned: Vec<f64> = (0..n)
        .map(|i| dot(&inverse[i * n..][..n], change))
        .collect();
    let factor = (1.0 + dot(change, &turned) / curved) / curved;
    for i in 0..n {
        for j in 0..n {
            inverse[i * n + j] +=
                factor * step[i] * step[j] - (turned[i] * step[j] + step[i] * turned[j]) / curved;
        }
    }
}
