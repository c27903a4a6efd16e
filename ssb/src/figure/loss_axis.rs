//! The axis of losses: linear, or logarithmic when the losses span more than a factor of twenty.

use super::numbers::{fixed, linear_ticks, log_ticks, superscript};

/// A loss range wider than this factor gets a logarithmic axis.
const LOG_FROM_RATIO: f64 = 20.0;

/// A linear or logarithmic axis of losses.
pub(super) struct LossAxis {
    pub low: f64,
    pub high: f64,
    pub log: bool,
}

impl LossAxis {
    /// An axis that holds all `losses` with a margin; logarithmic when they span much.
    pub fn for_losses(losses: &[f64]) -> LossAxis {
        let low = losses.iter().copied().fold(f64::INFINITY, f64::min);
        let high = losses.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if losses.is_empty() {
            return LossAxis {
                low: 0.0,
                high: 1.0,
                log: false,
            };
        }
        if low > 0.0 && high / low > LOG_FROM_RATIO {
            let margin = (high / low).powf(0.05);
            return LossAxis {
                low: low / margin,
                high: high * margin,
                log: true,
            };
        }
        let margin = match 0.06 * (high - low) {
            m if m > 0.0 => m,
            _ if low == 0.0 => 0.5,
            _ => low.abs() * 0.05,
        };
        LossAxis {
            low: low - margin,
            high: high + margin,
            log: false,
        }
    }

    /// 0 at the low end, 1 at the high end; losses beyond the axis stand on its edge.
    pub fn position(&self, loss: f64) -> f32 {
        let place = if self.log {
            (loss.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (loss - self.low) / (self.high - self.low)
        };
        place.clamp(0.0, 1.0) as f32
    }

    /// Tick positions and labels, and the power of ten taken out.
    pub fn ticks(&self) -> (Vec<(f64, String)>, i32) {
        if self.log {
            let label = |value: f64| {
                let power = value.log10().floor();
                let factor = fixed((value / 10f64.powf(power)).round(), 0);
                let factor = if factor == "1" {
                    String::new()
                } else {
                    format!("{factor}·")
                };
                format!("{factor}10{}", superscript(power as i32))
            };
            return (
                log_ticks(self.low, self.high)
                    .iter()
                    .map(|&v| (v, label(v)))
                    .collect(),
                0,
            );
        }
        let ticks = linear_ticks(self.low, self.high, 5);
        (
            ticks.values.into_iter().zip(ticks.labels).collect(),
            ticks.exponent,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_holds_every_loss_and_is_logarithmic_only_when_needed() {
        for (losses, log) in [
            (vec![0.00275, 0.0089], false),
            (vec![1e-6, 3.0], true),
            (vec![0.0, 5.0], false),
            (vec![0.25], false),
            (vec![0.0], false),
            (vec![], false),
        ] {
            let axis = LossAxis::for_losses(&losses);
            assert_eq!(axis.log, log, "{losses:?}");
            assert!(axis.high > axis.low);
            for loss in &losses {
                let place = axis.position(*loss);
                assert!(place > 0.01 && place < 0.99, "{losses:?} {place}");
            }
            let (ticks, _) = axis.ticks();
            assert!(ticks.len() >= 2, "{losses:?} {ticks:?}");
            assert!(ticks.iter().all(|(v, _)| *v >= axis.low && *v <= axis.high));
        }
    }
}
