//! Contrast limits from percentiles.

use super::FigureError;

/// The values shown as the darkest and the brightest colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Contrast {
    pub low: f32,
    pub high: f32,
}

impl Contrast {
    /// Limits that are never equal: a constant array sits in the middle of a small range.
    pub fn new(low: f32, high: f32) -> Contrast {
        if high > low {
            return Contrast { low, high };
        }
        let half = if low == 0.0 { 0.5 } else { low.abs() * 1e-3 };
        Contrast {
            low: low - half,
            high: low + half,
        }
    }

    /// Position of `value` between the limits, 0 to 1.
    pub fn position(self, value: f32) -> f32 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// Limits at two percentiles of the finite values; 0 to 1 when there are none.
    pub fn percentiles(values: impl Iterator<Item = f32>, low: f64, high: f64) -> Contrast {
        let mut sorted: Vec<f32> = values.filter(|value| value.is_finite()).collect();
        sorted.sort_unstable_by(f32::total_cmp);
        match (percentile(&sorted, low), percentile(&sorted, high)) {
            (Some(low), Some(high)) => Contrast::new(low, high),
            _ => Contrast {
                low: 0.0,
                high: 1.0,
            },
        }
    }
}

/// Percentile of sorted values with linear interpolation between neighbours (NumPy's default).
pub(super) fn percentile(sorted: &[f32], percent: f64) -> Option<f32> {
    let last = sorted.len().checked_sub(1)?;
    let place = percent / 100.0 * last as f64;
    let below = place.floor() as usize;
    let (a, b) = (*sorted.get(below)?, *sorted.get((below + 1).min(last))?);
    Some((f64::from(a) + (place - below as f64) * (f64::from(b) - f64::from(a))) as f32)
}

pub(super) fn check_percentiles(low: f64, high: f64) -> Result<(), FigureError> {
    if (0.0..=100.0).contains(&low) && (0.0..=100.0).contains(&high) && low < high {
        return Ok(());
    }
    Err(FigureError::Percentiles { low, high })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_interpolate_as_numpy_does() {
        let values: Vec<f32> = (0..=10).map(|i| i as f32).collect();
        // np.percentile(np.arange(11), [0.5, 25, 50, 99.5, 100])
        for (percent, expected) in [
            (0.5, 0.05),
            (25.0, 2.5),
            (50.0, 5.0),
            (99.5, 9.95),
            (100.0, 10.0),
        ] {
            assert!((percentile(&values, percent).unwrap() - expected).abs() < 1e-6);
        }
        assert_eq!(percentile(&[], 50.0), None);
        assert_eq!(percentile(&[3.0], 99.5), Some(3.0));
    }

    #[test]
    fn limits_differ_even_for_constant_values() {
        for constant in [0.0, -2.0, 1e-20, 7.0] {
            let contrast = Contrast::percentiles([constant; 5].into_iter(), 0.5, 99.5);
            assert!(contrast.high > contrast.low, "{contrast:?}");
            assert!((contrast.position(constant) - 0.5).abs() < 0.01);
        }
    }

    #[test]
    fn percentiles_out_of_order_are_refused() {
        for (low, high) in [
            (99.0, 1.0),
            (-1.0, 50.0),
            (0.0, 100.5),
            (f64::NAN, 50.0),
            (5.0, 5.0),
        ] {
            assert!(check_percentiles(low, high).is_err());
        }
        assert!(check_percentiles(0.0, 100.0).is_ok());
    }
}
