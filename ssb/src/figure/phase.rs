//! The phase and amplitude panels.

use super::canvas::{Canvas, Rect};
use super::colour_map::ColourMap;
use super::contrast::Contrast;
use super::data::FigureData;
use super::numbers::{concise, significant};
use super::picture::Picture;
use super::scale_bar::Quantity;
use ndarray::Array2;

pub(super) fn draw_phase(
    canvas: &mut Canvas,
    slot: Rect,
    letter: Option<char>,
    data: &FigureData,
) -> f32 {
    draw(
        canvas,
        slot,
        letter,
        data,
        data.phase_kind.label(),
        &data.phase,
        "rad",
    )
}

pub(super) fn draw_amplitude(
    canvas: &mut Canvas,
    slot: Rect,
    letter: Option<char>,
    data: &FigureData,
    amplitude: &Array2<f32>,
) -> f32 {
    draw(
        canvas,
        slot,
        letter,
        data,
        "Amplitude of the mean object",
        amplitude,
        "",
    )
}

fn draw(
    canvas: &mut Canvas,
    slot: Rect,
    letter: Option<char>,
    data: &FigureData,
    title: &str,
    values: &Array2<f32>,
    unit: &str,
) -> f32 {
    let [low, high] = data.display.contrast_percent;
    let rest = canvas.header(slot, letter, title);
    let picture = Picture {
        values: values.view(),
        step: data.pixel_step_a,
        quantity: Quantity::LengthA,
        colours: ColourMap::Gray,
        contrast: Contrast::percentiles(values.iter().copied(), low, high),
        unit,
    };
    let frame = picture.draw(canvas, rest, |_, _| ());
    let (rows, cols) = values.dim();
    let [step_row, step_col] = data.pixel_step_a;
    let lines = [
        format!("{rows} × {cols} px, {}", step_text(step_row, step_col, "Å")),
        format!(
            "contrast {low}–{high} %, full range {}",
            range_text(values, unit)
        ),
    ];
    canvas.caption(slot.x, frame.bottom, slot.w, &lines)
}

/// Pixel steps, once when they are equal.
pub(super) fn step_text(row: f64, col: f64, unit: &str) -> String {
    if (row / col - 1.0).abs() < 1e-9 {
        format!("step {}\u{a0}{unit}", concise(row, 4))
    } else {
        format!(
            "steps {} × {}\u{a0}{unit}",
            concise(row, 4),
            concise(col, 4)
        )
    }
}

fn range_text(values: &Array2<f32>, unit: &str) -> String {
    let (low, high) = values
        .iter()
        .fold((f32::MAX, f32::MIN), |(low, high), &value| {
            (low.min(value), high.max(value))
        });
    let text = |value: f32| significant(f64::from(value), 3);
    format!("{} to {}\u{a0}{unit}", text(low), text(high))
        .trim_end()
        .to_string()
}
