//! The bright-field disk: which detector pixels, which centre, which radius.

use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

use crate::Error;

/// How the disk is chosen; the default fits it from the mean pattern.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct BfOptions {
    /// Centre (row, col) in pixels of the (transformed) detector.
    pub center_px: Option<[f64; 2]>,
    /// Radius in pixels.
    pub radius_px: Option<f64>,
    /// Pixels at or below this fraction of the brightest are left out. Default 0.
    pub threshold: Option<f64>,
}

/// The selected bright-field pixels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BfDisk {
    /// Centre (row, col) in pixels, sub-pixel.
    pub center_px: [f64; 2],
    /// Radius in pixels.
    pub radius_px: f64,
    /// Detector pixels (row, col) in row-major order.
    pub pixels: Vec<[u32; 2]>,
}

impl BfDisk {
    /// Whether a detector pixel (row, col) lies within the radius, selected or not.
    #[must_use]
    pub fn contains(&self, pixel: [u32; 2]) -> bool {
        let [row, col] = [0, 1].map(|i| f64::from(pixel[i]) - self.center_px[i]);
        row * row + col * col <= self.radius_px * self.radius_px
    }
}

fn no_disk(problem: impl Into<String>) -> Error {
    Error::NoDisk {
        problem: problem.into(),
        action: "give --bf-center and --bf-radius-px, or check the detector axes and the mask"
            .into(),
    }
}

/// Selects the bright-field disk from the mean diffraction pattern.
///
/// Bright pixels are those above mean + one standard deviation; the centre is the unweighted mean
/// of their coordinates and the radius that of a circle of their area, `sqrt(n / pi)`. With an
/// explicit radius the centre is the intensity-weighted mean over the pixels above the threshold.
/// Pixels within the radius and above `threshold` x maximum are selected. `good` marks pixels
/// that are not masked (`None`: all are good); masked ones are neither counted nor selected.
/// Source: the rule of the independent reference, numerics section 4 (frames).
///
/// # Errors
/// [`Error::NoDisk`] when nothing stands out, when the bright pixels do not form a disk, or when no
/// pixel is selected; [`Error::BadValue`] for a radius, centre or threshold out of range.
pub fn select_bf(
    mean: ArrayView2<'_, f64>,
    good: Option<&Array2<bool>>,
    options: &BfOptions,
) -> Result<BfDisk, Error> {
    let is_good = |r: usize, c: usize| good.is_none_or(|g| g[(r, c)]);
    let pixels: Vec<([f64; 2], f64)> = mean
        .indexed_iter()
        .filter(|((r, c), _)| is_good(*r, *c))
        .map(|((r, c), v)| ([r as f64, c as f64], *v))
        .collect();
    if let Some(([r, c], v)) = pixels.iter().find(|(_, v)| !v.is_finite()) {
        return Err(no_disk(format!(
            "the mean pattern is {v} at pixel ({r}, {c})"
        )));
    }
    let max = pixels.iter().map(|p| p.1).fold(f64::NEG_INFINITY, f64::max);
    if pixels.is_empty() || max <= 0.0 {
        return Err(no_disk("the mean pattern holds no counts"));
    }
    let threshold = options.threshold.unwrap_or(0.0);
    check_options(options, threshold, mean.dim())?;
    let lit: Vec<&([f64; 2], f64)> = pixels.iter().filter(|p| p.1 > max * threshold).collect();
    let (center_px, radius_px) = match options.radius_px {
        Some(radius_px) => {
            let total: f64 = lit.iter().map(|p| p.1).sum();
            let along = |axis: usize| lit.iter().map(|p| p.0[axis] * p.1).sum::<f64>() / total;
            (
                options.center_px.unwrap_or_else(|| [along(0), along(1)]),
                radius_px,
            )
        }
        None => {
            let (center, radius) = fit_disk(&pixels)?;
            (options.center_px.unwrap_or(center), radius)
        }
    };
    let selected: Vec<[u32; 2]> = lit
        .iter()
        .map(|p| p.0)
        .filter(|[r, c]| {
            (r - center_px[0]).powi(2) + (c - center_px[1]).powi(2) <= radius_px * radius_px
        })
        .map(|[r, c]| [r as u32, c as u32])
        .collect();
    if selected.is_empty() {
        return Err(no_disk(format!(
            "no lit pixel lies within {radius_px} px of ({}, {})",
            center_px[0], center_px[1]
        )));
    }
    Ok(BfDisk {
        center_px,
        radius_px,
        pixels: selected,
    })
}

fn check_options(
    options: &BfOptions,
    threshold: f64,
    (rows, cols): (usize, usize),
) -> Result<(), Error> {
    let bad = |object: &str, expected: String, found: String| {
        Err(Error::BadValue {
            object: object.into(),
            expected,
            found,
            action: "correct the value".into(),
        })
    };
    if let Some(r) = options.radius_px
        && !(r.is_finite() && r > 0.0)
    {
        return bad(
            "bf radius",
            "a positive number of pixels".into(),
            r.to_string(),
        );
    }
    if !(0.0..1.0).contains(&threshold) {
        return bad(
            "bf threshold",
            "a fraction from 0 to below 1".into(),
            threshold.to_string(),
        );
    }
    if let Some([r, c]) = options.center_px
        && !((0.0..rows as f64).contains(&r) && (0.0..cols as f64).contains(&c))
    {
        return bad(
            "bf center",
            format!("a pixel of the {rows} x {cols} detector"),
            format!("({r}, {c})"),
        );
    }
    Ok(())
}

/// Mean + one standard deviation, unweighted centre, area radius.
fn fit_disk(pixels: &[([f64; 2], f64)]) -> Result<([f64; 2], f64), Error> {
    let n = pixels.len() as f64;
    let mean = pixels.iter().map(|p| p.1).sum::<f64>() / n;
    let std = (pixels.iter().map(|p| (p.1 - mean).powi(2)).sum::<f64>() / n).sqrt();
    let bright: Vec<[f64; 2]> = pixels
        .iter()
        .filter(|p| p.1 > mean + std)
        .map(|p| p.0)
        .collect();
    if bright.is_empty() {
        return Err(no_disk(
            "no pixel is brighter than the mean by one standard deviation",
        ));
    }
    let count = bright.len() as f64;
    let along = |axis: usize| bright.iter().map(|p| p[axis]).sum::<f64>() / count;
    let center = [along(0), along(1)];
    let radius = (count / std::f64::consts::PI).sqrt();
    // A filled disk keeps almost all its pixels inside the circle of equal area (the single edge
    // pixel of leeway serves small disks); scattered noise keeps the share of the detector covered.
    let inside = bright
        .iter()
        .filter(|p| {
            (p[0] - center[0]).powi(2) + (p[1] - center[1]).powi(2) <= (radius + 1.0).powi(2)
        })
        .count() as f64;
    if inside < 0.6 * count {
        return Err(no_disk(format!(
            "the {count} brightest pixels do not form a disk: {:.0} % of them lie within {radius:.1} px \
             of their centre",
            100.0 * inside / count
        )));
    }
    Ok((center, radius))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(shape: (usize, usize), center: [f64; 2], radius: f64) -> Array2<f64> {
        Array2::from_shape_fn(shape, |(r, c)| {
            let d = (r as f64 - center[0]).hypot(c as f64 - center[1]);
            if d <= radius { 100.0 } else { 1.0 }
        })
    }

    #[test]
    fn a_disk_is_found() {
        let found = select_bf(
            disk((40, 36), [18.0, 19.5], 9.0).view(),
            None,
            &BfOptions::default(),
        )
        .unwrap();
        assert!((found.center_px[0] - 18.0).abs() < 1e-12);
        assert!((found.center_px[1] - 19.5).abs() < 1e-12);
        assert!((found.radius_px - 9.0).abs() < 0.2);
    }

    #[test]
    fn masked_pixels_do_not_count() {
        let mut mean = disk((32, 32), [15.0, 15.0], 7.0);
        mean[(2, 2)] = 1e9;
        let good = Array2::from_shape_fn((32, 32), |i| i != (2, 2) && i != (15, 15));
        let found = select_bf(mean.view(), Some(&good), &BfOptions::default()).unwrap();
        assert!((found.center_px[0] - 15.0).abs() < 1e-12);
        assert!(!found.pixels.contains(&[15, 15]) && !found.pixels.contains(&[2, 2]));
        assert!(found.pixels.contains(&[15, 16]));
    }

    #[test]
    fn flat_dark_and_noisy_patterns_have_no_disk() {
        for mean in [
            Array2::from_elem((16, 16), 3.0),
            Array2::zeros((16, 16)),
            Array2::from_shape_fn((24, 24), |(r, c)| ((r * 7919 + c * 104_729) % 101) as f64),
        ] {
            let error = select_bf(mean.view(), None, &BfOptions::default()).unwrap_err();
            assert!(matches!(error, Error::NoDisk { .. }), "{error}");
        }
    }

    #[test]
    fn explicit_values_are_used_and_checked() {
        let mean = disk((32, 32), [15.0, 15.0], 7.0);
        let options = BfOptions {
            center_px: Some([14.5, 15.5]),
            radius_px: Some(2.0),
            threshold: Some(0.5),
        };
        let found = select_bf(mean.view(), None, &options).unwrap();
        assert_eq!((found.center_px, found.radius_px), ([14.5, 15.5], 2.0));
        assert_eq!(found.pixels.len(), 12);
        for wrong in [
            BfOptions {
                radius_px: Some(0.0),
                ..BfOptions::default()
            },
            BfOptions {
                radius_px: Some(f64::NAN),
                ..BfOptions::default()
            },
            BfOptions {
                center_px: Some([99.0, 0.0]),
                ..BfOptions::default()
            },
            BfOptions {
                threshold: Some(1.0),
                ..BfOptions::default()
            },
        ] {
            assert!(select_bf(mean.view(), None, &wrong).is_err(), "{wrong:?}");
        }
    }
}
