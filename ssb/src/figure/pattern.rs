//! The mean diffraction pattern with the bright-field disk.

use super::canvas::{Canvas, Rect, ink};
use super::colour_map::{ColourMap, Rgb};
use super::contrast::Contrast;
use super::data::FigureData;
use super::numbers::{grouped, significant};
use super::phase::step_text;
use super::picture::Picture;
use super::scale_bar::Quantity;

/// Colour of masked pixels; it occurs in no colour map used here.
const MASKED: Rgb = [120, 200, 90];
/// Upper contrast limit, percent of the unmasked pixels.
const UPPER_PERCENT: f64 = 99.9;

pub(super) fn draw_pattern(
    canvas: &mut Canvas,
    slot: Rect,
    letter: Option<char>,
    data: &FigureData,
) -> f32 {
    let pattern = &data.pattern;
    let (rows, cols) = pattern.counts.dim();
    let log = data.display.log_pattern;
    let title = if log {
        "Mean diffraction pattern, logarithmic"
    } else {
        "Mean diffraction pattern"
    };
    let rest = canvas.header(slot, letter, title);

    let mut values = pattern.counts.clone();
    for &[row, col] in &pattern.masked {
        values[(row, col)] = f32::NAN;
    }
    if log {
        // counts of zero or below have no logarithm: they are drawn as the smallest positive count
        let smallest = values
            .iter()
            .copied()
            .filter(|v| *v > 0.0)
            .fold(f32::MAX, f32::min);
        values.mapv_inplace(|v| {
            if v.is_nan() {
                v
            } else {
                v.max(smallest).log10()
            }
        });
    }
    let contrast = Contrast::percentiles(values.iter().copied(), 0.0, UPPER_PERCENT);
    values.mapv_inplace(|v| if v.is_nan() { contrast.low } else { v });
    let picture = Picture {
        values: values.view(),
        step: pattern.det_step_mrad,
        quantity: Quantity::AngleMrad,
        colours: ColourMap::Inferno,
        contrast,
        unit: if log { "log₁₀ counts" } else { "counts" },
    };
    let radius = pattern.bf_radius_px;
    let [row, col] = pattern.bf_center_px;
    let frame = picture.draw(canvas, rest, |canvas, frame| {
        for &[row, col] in &pattern.masked {
            let (x, y) = frame.center_of(row as f64, col as f64);
            let (w, h) = (frame.zoom[1].max(2.0), frame.zoom[0].max(2.0));
            canvas.fill(Rect::new(x - w / 2.0, y - h / 2.0, w, h), MASKED, 1.0);
        }
        let center = frame.center_of(row, col);
        let semi = (radius as f32 * frame.zoom[1], radius as f32 * frame.zoom[0]);
        canvas.edged_ring(center, semi, 2.0, ink::CIRCLE, 0);
        canvas.plus(center, 10.0, 5.0, ink::EDGE);
        canvas.plus(center, 9.0, 2.4, ink::CIRCLE);
    });

    let [step_row, step_col] = pattern.det_step_mrad;
    let angle = if (step_row / step_col - 1.0).abs() < 1e-9 {
        significant(radius * step_row, 3)
    } else {
        format!(
            "{} × {}",
            significant(radius * step_row, 3),
            significant(radius * step_col, 3)
        )
    };
    let mut lines = vec![
        format!(
            "BF disk: centre ({row:.2}, {col:.2}) px, radius {} px = {angle} mrad",
            significant(radius, 4)
        ),
        format!(
            "BF pixels: {} of {} used, {} with aperture > 0",
            grouped(pattern.bf_pixels),
            grouped(rows * cols),
            grouped(pattern.bf_active)
        ),
    ];
    lines.push(format!(
        "{rows} × {cols} px, {}; contrast 0–{UPPER_PERCENT}\u{a0}%",
        step_text(step_row, step_col, "mrad")
    ));
    if !pattern.masked.is_empty() {
        lines.push(format!(
            "{} masked pixels (green)",
            grouped(pattern.masked.len())
        ));
    }
    canvas.caption(slot.x, frame.bottom, slot.w, &lines)
}
