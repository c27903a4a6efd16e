//! Power spectrum of the phase: `log10 (P / max P)`, `P = |FFT2[w (phase - mean)]|²`, `w` a Hann window.

use super::canvas::{Canvas, Rect, ink};
use super::colour_map::ColourMap;
use super::contrast::{Contrast, percentile};
use super::data::FigureData;
use super::lettering::Style;
use super::numbers::significant;
use super::picture::Picture;
use super::scale_bar::Quantity;
use ndarray::{Array2, ArrayView2, Axis, s};
use rustfft::{FftPlanner, num_complex::Complex};

/// Power this many decades below the strongest frequency is not told from zero.
const FLOOR: f32 = -12.0;

/// Power spectrum of a real picture.
#[derive(Clone, Debug)]
pub struct PowerSpectrum {
    /// `log10` of power over the largest power, at least -12; shape of the picture, zero frequency at
    /// `(rows / 2, cols / 2)`.
    pub log10_power: Array2<f32>,
    /// Frequency step (row, col), 1/Å.
    pub step_per_a: [f64; 2],
}

/// Power spectrum of `values` after a Hann window and subtraction of the windowed mean.
///
/// Units: `pixel_step_a` in Å, so frequencies are in 1/Å and may step differently along rows and columns.
/// A constant picture has no power anywhere and gives -12 throughout.
pub fn power_spectrum(values: ArrayView2<'_, f32>, pixel_step_a: [f64; 2]) -> PowerSpectrum {
    let (rows, cols) = values.dim();
    let (row_window, col_window) = (hann(rows), hann(cols));
    let weight = |row: usize, col: usize| row_window[row] * col_window[col];
    let (mut sum, mut weights) = (0.0, 0.0);
    for ((row, col), &value) in values.indexed_iter() {
        sum += weight(row, col) * f64::from(value);
        weights += weight(row, col);
    }
    let mean = sum / weights;
    let mut field = Array2::from_shape_fn((rows, cols), |(row, col)| {
        Complex::new(
            weight(row, col) * (f64::from(values[(row, col)]) - mean),
            0.0,
        )
    });
    let scale = field.iter().map(|value| value.re.abs()).fold(0.0, f64::max);
    let mut planner = FftPlanner::new();
    for axis in [Axis(1), Axis(0)] {
        let transform = planner.plan_fft_forward(field.len_of(axis));
        for mut lane in field.lanes_mut(axis) {
            let mut line = lane.to_vec();
            transform.process(&mut line);
            lane.iter_mut()
                .zip(line)
                .for_each(|(target, value)| *target = value);
        }
    }
    let largest = field.iter().map(Complex::norm_sqr).fold(0.0, f64::max);
    // rounding of the mean leaves a constant picture with noise only
    let has_power = scale > 1e-9 * mean.abs() && largest > 0.0;
    let log10_power = Array2::from_shape_fn((rows, cols), |(row, col)| {
        let from = (
            (row + rows - rows / 2) % rows,
            (col + cols - cols / 2) % cols,
        );
        let relative = if has_power {
            field[from].norm_sqr() / largest
        } else {
            0.0
        };
        (relative.log10() as f32).max(FLOOR)
    });
    let step_per_a = [
        1.0 / (rows as f64 * pixel_step_a[0]),
        1.0 / (cols as f64 * pixel_step_a[1]),
    ];
    PowerSpectrum {
        log10_power,
        step_per_a,
    }
}

/// Hann window sampled at pixel centres, nowhere zero.
fn hann(length: usize) -> Vec<f64> {
    (0..length)
        .map(|i| {
            (std::f64::consts::PI * (i as f64 + 0.5) / length as f64)
                .sin()
                .powi(2)
        })
        .collect()
}

pub(super) fn draw_spectrum(
    canvas: &mut Canvas,
    slot: Rect,
    letter: Option<char>,
    data: &FigureData,
) -> f32 {
    let rest = canvas.header(slot, letter, "Power spectrum of the phase");
    let spectrum = power_spectrum(data.phase.view(), data.pixel_step_a);
    let limit_per_a = 2.0 * data.semiangle_per_a;
    let step = spectrum.step_per_a;
    let (rows, cols) = spectrum.log10_power.dim();
    let zero = [rows / 2, cols / 2];

    // when little but empty space lies outside 2 alpha, show the part around it
    let reach = [0, 1].map(|axis| (1.3 * limit_per_a / step[axis]).ceil() as usize);
    let zoomed = (0..2).all(|axis| reach[axis] * 4 <= zero[axis] * 3);
    let view = if zoomed {
        let [row, col] =
            [0, 1].map(|axis| (zero[axis] - reach[axis])..(zero[axis] + reach[axis] + 1));
        spectrum.log10_power.slice(s![row, col])
    } else {
        spectrum.log10_power.view()
    };
    let middle = if zoomed { reach } else { zero };

    let picture = Picture {
        values: view,
        step,
        quantity: Quantity::FrequencyPerA,
        colours: ColourMap::Inferno,
        contrast: contrast(&spectrum, limit_per_a),
        unit: "log₁₀ P",
    };
    let style = Style {
        size: 17.0,
        bold: true,
        colour: ink::CIRCLE,
    };
    let frame = picture.draw(canvas, rest, |canvas, frame| {
        let center = frame.center_of(middle[0] as f64, middle[1] as f64);
        for (radius, dash, name) in [(limit_per_a, 0, "2α/λ"), (data.semiangle_per_a, 36, "α/λ")]
        {
            let a = (radius / step[1]) as f32 * frame.zoom[1];
            let b = (radius / step[0]) as f32 * frame.zoom[0];
            canvas.edged_ring(center, (a, b), 1.8, ink::CIRCLE, dash);
            let (x, y) = (center.0 + a * 0.72, center.1 - b * 0.72);
            // a ring that leaves the picture before its label stays without one
            if x < frame.image.right() && y > frame.image.y + style.size {
                let last = frame.image.right() - canvas.typeface.width(name, style) - 4.0;
                canvas.edged_text(name, x.min(last), y, style);
            }
        }
    });

    let half = [0, 1].map(|axis| 0.5 / data.pixel_step_a[axis]);
    let nyquist = if (half[0] / half[1] - 1.0).abs() < 1e-9 {
        format!("±{}\u{a0}Å⁻¹", significant(half[0], 3))
    } else {
        format!(
            "±{} × ±{}\u{a0}Å⁻¹",
            significant(half[0], 3),
            significant(half[1], 3)
        )
    };
    let beyond = match limit_per_a {
        limit if limit <= half[0].min(half[1]) => "",
        limit if limit < half[0].hypot(half[1]) => ", partly beyond the Nyquist limit",
        _ => ", beyond the Nyquist limit",
    };
    let shown = if zoomed {
        format!(
            ", shown to ±{}\u{a0}Å⁻¹",
            significant(reach[0] as f64 * step[0], 3)
        )
    } else {
        String::new()
    };
    let lines = [
        format!(
            "2α/λ = {}\u{a0}Å⁻¹ ({}\u{a0}Å){}",
            significant(limit_per_a, 3),
            significant(1.0 / limit_per_a, 3),
            beyond,
        ),
        format!("Nyquist limit {nyquist}{shown}"),
        "Hann window, mean subtracted, strongest frequency = 0".to_string(),
    ];
    canvas.caption(slot.x, frame.bottom, slot.w, &lines)
}

/// From the lower quartile inside 2 alpha (the noise floor), at most six decades down, to the strongest frequency.
fn contrast(spectrum: &PowerSpectrum, limit_per_a: f64) -> Contrast {
    let (rows, cols) = spectrum.log10_power.dim();
    let frequency =
        |index: usize, count: usize, step: f64| (index as f64 - (count / 2) as f64) * step;
    let mut inside: Vec<f32> = spectrum
        .log10_power
        .indexed_iter()
        .filter(|((row, col), _)| {
            let q_row = frequency(*row, rows, spectrum.step_per_a[0]);
            let q_col = frequency(*col, cols, spectrum.step_per_a[1]);
            q_row.hypot(q_col) <= limit_per_a
        })
        .map(|(_, &value)| value)
        .collect();
    inside.sort_unstable_by(f32::total_cmp);
    let low = percentile(&inside, 25.0).unwrap_or(-6.0).clamp(-6.0, -1.0);
    Contrast::new(low, 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plane wave of known frequency peaks at that frequency, for unequal shapes and steps.
    #[test]
    fn a_plane_wave_peaks_at_its_frequency() {
        for (rows, cols, steps, cycles) in [
            (60, 75, [0.4, 0.31], (7, -11)),
            (31, 37, [0.2, 0.2], (-4, 9)),
            (8, 8, [1.0, 2.0], (2, 1)),
        ] {
            let values = Array2::from_shape_fn((rows, cols), |(r, c)| {
                let turns = cycles.0 as f64 * r as f64 / rows as f64
                    + cycles.1 as f64 * c as f64 / cols as f64;
                (0.7 + 0.1 * (std::f64::consts::TAU * turns).cos()) as f32
            });
            let spectrum = power_spectrum(values.view(), steps);
            let at = |sign: i64| {
                (
                    (rows as i64 / 2 + sign * cycles.0) as usize,
                    (cols as i64 / 2 + sign * cycles.1) as usize,
                )
            };
            for peak in [at(1), at(-1)] {
                assert!(spectrum.log10_power[peak] > -1e-3, "{rows} x {cols}");
            }
            let strongest = spectrum.log10_power.iter().filter(|&&v| v > -0.3).count();
            assert_eq!(strongest, 2);
            assert!((spectrum.step_per_a[1] - 1.0 / (cols as f64 * steps[1])).abs() < 1e-15);
        }
    }

    #[test]
    fn a_constant_picture_has_no_power() {
        for constant in [0.0f32, 0.1, -3.7e5] {
            let spectrum = power_spectrum(Array2::from_elem((9, 14), constant).view(), [1.0, 1.0]);
            assert!(spectrum.log10_power.iter().all(|&v| v == FLOOR));
        }
    }
}
