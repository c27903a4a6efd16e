//! Scale bars with round lengths.

use super::numbers::fixed;

/// What the axes of a picture measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Lengths in Å, labelled in pm, Å, nm, µm or mm.
    LengthA,
    /// Spatial frequencies in 1/Å.
    FrequencyPerA,
    /// Angles in mrad, labelled in µrad, mrad or rad.
    AngleMrad,
}

/// A scale bar: a round length (1, 2 or 5 times a power of ten) and its label.
#[derive(Clone, Debug, PartialEq)]
pub struct ScaleBar {
    /// Length in the unit of its [`Quantity`].
    pub length: f64,
    /// Label such as `2 nm`; a whole number, except for frequencies below 1/Å.
    pub label: String,
}

impl ScaleBar {
    /// The longest round bar of at most 0.35 times a field of view.
    ///
    /// Units: `field` in the unit of `quantity`. The bar is at least 0.14 times `field` long.
    pub fn for_field(field: f64, quantity: Quantity) -> ScaleBar {
        let limit = 0.35 * field;
        let power = limit.log10().floor() as i32;
        let fits = |factor: &u32| round_length(*factor, power) <= limit * (1.0 + 1e-12);
        let length = round_length([5, 2].into_iter().find(fits).unwrap_or(1), power);
        ScaleBar {
            length,
            label: label(length, power, quantity),
        }
    }
}

fn round_length(factor: u32, power: i32) -> f64 {
    if power >= 0 {
        f64::from(factor) * 10f64.powi(power)
    } else {
        f64::from(factor) / 10f64.powi(-power)
    }
}

fn label(length: f64, power: i32, quantity: Quantity) -> String {
    let (per_unit, unit) = match quantity {
        Quantity::LengthA => match power {
            ..=-1 => (0.01, "pm"),
            0 => (1.0, "Å"),
            1..=3 => (10.0, "nm"),
            4..=6 => (1e4, "µm"),
            _ => (1e7, "mm"),
        },
        Quantity::FrequencyPerA => (1.0, "Å⁻¹"),
        Quantity::AngleMrad => match power {
            ..=-1 => (1e-3, "µrad"),
            0..=2 => (1.0, "mrad"),
            _ => (1e3, "rad"),
        },
    };
    let value = length / per_unit;
    // smaller than the smallest unit: as many decimals as the number needs
    let decimals = (-value.log10().floor()).max(0.0) as usize;
    format!("{} {unit}", fixed(value, decimals))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_round_fit_and_say_their_length() {
        for i in 0..400 {
            let field = 10f64.powf(-1.0 + i as f64 * 0.02);
            let bar = ScaleBar::for_field(field, Quantity::LengthA);
            let part = bar.length / field;
            assert!(part <= 0.35 + 1e-9 && part > 0.139, "{field}: {bar:?}");
            let (number, unit) = bar.label.split_once(' ').unwrap();
            let value: u64 = number.parse().expect("whole number");
            let unit_a = match unit {
                "pm" => 0.01,
                "Å" => 1.0,
                "nm" => 10.0,
                "µm" => 1e4,
                "mm" => 1e7,
                _ => panic!("{unit}"),
            };
            assert!(
                (value as f64 * unit_a / bar.length - 1.0).abs() < 1e-12,
                "{bar:?}"
            );
        }
    }

    #[test]
    fn known_fields() {
        let length = |field| ScaleBar::for_field(field, Quantity::LengthA).label;
        assert_eq!(length(16.0), "5 Å");
        assert_eq!(length(31.24), "1 nm");
        assert_eq!(length(2.0), "50 pm");
        assert_eq!(length(64_000.0), "2 µm");
        assert_eq!(
            ScaleBar::for_field(4.0, Quantity::FrequencyPerA).label,
            "1 Å⁻¹"
        );
        assert_eq!(
            ScaleBar::for_field(2.5, Quantity::FrequencyPerA).label,
            "0.5 Å⁻¹"
        );
        assert_eq!(
            ScaleBar::for_field(91.0, Quantity::AngleMrad).label,
            "20 mrad"
        );
        assert_eq!(
            ScaleBar::for_field(1.0, Quantity::AngleMrad).label,
            "200 µrad"
        );
    }
}
