//! Ticks on axes and how numbers are written.

/// A round step (1, 2 or 5 times a power of ten) that divides `span` into about `count` parts.
fn round_step(span: f64, count: usize) -> f64 {
    let raw = span / count.max(1) as f64;
    let power = 10f64.powf(raw.log10().floor());
    let factor = match raw / power {
        f if f < 1.5 => 1.0,
        f if f < 3.5 => 2.0,
        f if f < 7.5 => 5.0,
        _ => 10.0,
    };
    factor * power
}

/// Ticks of a linear axis with their labels and the power of ten taken out of them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ticks {
    /// Tick positions, all within the axis.
    pub values: Vec<f64>,
    /// One label per position, without the power of ten.
    pub labels: Vec<String>,
    /// Labels are to be multiplied by ten to this power; 0 for none.
    pub exponent: i32,
}

/// About `count` round ticks within `low..=high`.
pub(super) fn linear_ticks(low: f64, high: f64, count: usize) -> Ticks {
    let span = high - low;
    if !(span.is_finite() && span > 0.0) {
        return Ticks {
            values: vec![low],
            labels: vec![significant(low, 3)],
            exponent: 0,
        };
    }
    let step = round_step(span, count);
    let slack = span * 1e-9;
    let first = ((low - slack) / step).ceil() as i64;
    let last = ((high + slack) / step).floor() as i64;
    let values: Vec<f64> = (first..=last)
        .map(|i| (i as f64 * step).clamp(low, high))
        .collect();
    let largest = low.abs().max(high.abs());
    let power = largest.log10().floor() as i32;
    let exponent = if (-2..=3).contains(&power) { 0 } else { power };
    let unit = 10f64.powi(exponent);
    let decimals = (-(step / unit).log10().floor()).clamp(0.0, 9.0) as usize;
    let labels = (first..=last)
        .map(|i| fixed(i as f64 * step / unit, decimals))
        .collect();
    Ticks {
        values,
        labels,
        exponent,
    }
}

/// Round ticks (1, 2, 5 per decade) of a logarithmic axis within `low..=high`, both above 0.
pub(super) fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let decades = (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
    let factors: &[f64] = if high / low < 300.0 {
        &[1.0, 2.0, 5.0]
    } else {
        &[1.0]
    };
    decades
        .flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)))
        .filter(|value| (low..=high).contains(value))
        .collect()
}

/// A number with a fixed count of decimals and a true minus sign; never "−0".
pub(super) fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let zero = text.chars().all(|c| matches!(c, '-' | '0' | '.'));
    if zero {
        text.replace('-', "")
    } else {
        text.replace('-', "−")
    }
}

/// A number with `digits` significant digits; very large or small ones in powers of ten.
pub(super) fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 {
            "0".to_string()
        } else {
            value.to_string()
        };
    }
    let power = value.abs().log10().floor() as i32;
    if (-3..=5).contains(&power) {
        return fixed(value, (digits as i32 - 1 - power).max(0) as usize);
    }
    let mantissa = fixed(value / 10f64.powi(power), digits.saturating_sub(1));
    format!("{mantissa} × 10{}", superscript(power))
}

/// A number with at most `digits` significant digits and no trailing zeros after the point.
pub(super) fn concise(value: f64, digits: usize) -> String {
    let text = significant(value, digits);
    if !text.contains('.') || text.contains('×') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// An integer in raised digits.
pub(super) fn superscript(value: i32) -> String {
    let raised = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    value
        .to_string()
        .chars()
        .map(|c| {
            c.to_digit(10)
                .and_then(|d| raised.get(d as usize).copied())
                .unwrap_or('⁻')
        })
        .collect()
}

/// A whole number in groups of three, parted by thin spaces.
pub(super) fn grouped(value: usize) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        for (low, high) in [
            (-0.13, 0.21),
            (0.0, 1.0),
            (-5e-7, 3e-6),
            (1e5, 1.2e5),
            (-3.0, 900.0),
            (0.0027, 0.0089),
        ] {
            let ticks = linear_ticks(low, high, 5);
            assert!(
                (3..=10).contains(&ticks.values.len()),
                "{low} {high} {ticks:?}"
            );
            assert!(ticks.values.iter().all(|v| (low..=high).contains(v)));
            assert_eq!(ticks.values.len(), ticks.labels.len());
            let unit = 10f64.powi(ticks.exponent);
            for (value, label) in ticks.values.iter().zip(&ticks.labels) {
                let shown: f64 = label.replace('−', "-").parse().unwrap();
                assert!(
                    (shown * unit - value).abs() < 1e-6 * (high - low),
                    "{label} for {value}"
                );
            }
        }
    }

    #[test]
    fn log_ticks_stay_inside() {
        assert_eq!(
            log_ticks(1.0, 100.0),
            [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]
        );
        assert!(
            log_ticks(3e-9, 2e3)
                .iter()
                .all(|v| (3e-9..=2e3).contains(v))
        );
    }

    #[test]
    fn numbers_are_written_as_people_write_them() {
        assert_eq!(fixed(-0.0004, 3), "0.000");
        assert_eq!(fixed(-12.5, 1), "−12.5");
        assert_eq!(significant(0.0027527738, 4), "0.002753");
        assert_eq!(significant(-3.2e-7, 2), "−3.2 × 10⁻⁷");
        assert_eq!(significant(0.0, 3), "0");
        assert_eq!(concise(0.25, 4), "0.25");
        assert_eq!(concise(200.0, 4), "200");
        assert_eq!(superscript(-12), "⁻¹²");
        assert_eq!(grouped(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(grouped(999), "999");
    }
}
