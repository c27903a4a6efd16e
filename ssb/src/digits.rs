//! Numbers as people read them, in plain ASCII; programs get every digit in JSON.

/// A number to so many significant digits; in powers of ten where it is very large or small.
pub(crate) fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    // Rounding may carry into one more digit before the point.
    let rounded = format!("{value:.*e}", digits.saturating_sub(1));
    let power: i32 = rounded
        .split_once('e')
        .and_then(|(_, power)| power.parse().ok())
        .unwrap_or_default();
    if (-4..7).contains(&power) {
        let decimals = usize::try_from(digits as i32 - 1 - power).unwrap_or(0);
        format!("{value:.decimals$}")
    } else {
        rounded
    }
}

#[cfg(test)]
mod tests {
    use super::significant;

    #[test]
    fn digits_are_counted_from_the_first_that_is_not_zero() {
        for (value, digits, text) in [
            (0.0938807711076824, 6, "0.0938808"),
            (15.67594437773643, 4, "15.68"),
            (-23.5, 4, "-23.50"),
            (9.9996, 4, "10.00"),
            (123456.7, 3, "123457"),
            (1.5e-7, 3, "1.50e-7"),
            (3.6804e9, 5, "3.6804e9"),
            (0.0, 3, "0"),
            (f64::NAN, 3, "NaN"),
        ] {
            assert_eq!(significant(value, digits), text);
        }
    }
}
