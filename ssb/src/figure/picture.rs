//! One array as a picture: exact area resampling, physical aspect ratio, scale bar, colour bar.

use super::canvas::{Canvas, Rect, ink};
use super::colour_map::ColourMap;
use super::contrast::Contrast;
use super::lettering::{Anchor, CAPITAL, Style};
use super::marks::Point;
use super::numbers::{linear_ticks, superscript};
use super::scale_bar::{Quantity, ScaleBar};
use ndarray::{Array2, ArrayView2};

/// Width kept free on the right of a picture for its colour bar.
const GUTTER: f32 = 92.0;
const BAR_WIDTH: f32 = 18.0;

pub(super) const HEADER: Style = Style {
    size: 21.0,
    bold: true,
    colour: ink::TEXT,
};
pub(super) const LABEL: Style = Style {
    size: 16.0,
    bold: false,
    colour: ink::TEXT,
};
pub(super) const CAPTION: Style = Style {
    size: 15.5,
    bold: false,
    colour: ink::QUIET,
};
const SCALE_LABEL: Style = Style {
    size: 19.0,
    bold: true,
    colour: [255, 255, 255],
};

/// An array, its steps and its colours.
pub(super) struct Picture<'a> {
    pub values: ArrayView2<'a, f32>,
    /// Steps (row, col) in the unit of `quantity`.
    pub step: [f64; 2],
    pub quantity: Quantity,
    pub colours: ColourMap,
    pub contrast: Contrast,
    /// Unit written over the colour bar.
    pub unit: &'a str,
}

/// Where an array came to lie on the canvas.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub image: Rect,
    /// Canvas pixels per array pixel (row, col).
    pub zoom: [f32; 2],
    /// Where captions may start, below image, colour bar and scale bar.
    pub bottom: f32,
}

impl Frame {
    /// Canvas position of the centre of array pixel (row, col), which may be fractional.
    pub fn center_of(&self, row: f64, col: f64) -> Point {
        (
            self.image.x + (col as f32 + 0.5) * self.zoom[1],
            self.image.y + (row as f32 + 0.5) * self.zoom[0],
        )
    }
}

impl Canvas {
    /// Draws the letter and title of a panel; returns the slot that is left below.
    pub fn header(&mut self, slot: Rect, letter: Option<char>, title: &str) -> Rect {
        let mut x = slot.x;
        if let Some(letter) = letter {
            x += self.text(&letter.to_string(), x, slot.y + 18.0, Anchor::Left, HEADER) + 12.0;
        }
        let top = self.paragraph(title, x, slot.y - 3.0, slot.right() - x, HEADER) + 6.0;
        Rect::new(slot.x, top, slot.w, (slot.bottom() - top).max(1.0))
    }

    /// Draws lines of small print; returns the y below them.
    pub fn caption(&mut self, x: f32, top: f32, width: f32, lines: &[String]) -> f32 {
        lines.iter().fold(top + 6.0, |y, line| {
            self.paragraph(line, x, y, width, CAPTION)
        })
    }
}

impl Picture<'_> {
    /// Draws the picture as large as `slot` allows, from its top left corner.
    ///
    /// `overlay` draws on the picture, clipped to it and below the scale bar.
    pub fn draw(
        &self,
        canvas: &mut Canvas,
        slot: Rect,
        overlay: impl FnOnce(&mut Canvas, &Frame),
    ) -> Frame {
        let (rows, cols) = self.values.dim();
        let field = [rows as f64 * self.step[0], cols as f64 * self.step[1]];
        let room = [
            f64::from(slot.h.max(1.0)),
            f64::from((slot.w - GUTTER).max(1.0)),
        ];
        let zoom = (room[0] / field[0]).min(room[1] / field[1]);
        let side = |axis: usize| (field[axis] * zoom).round().clamp(1.0, room[axis]) as f32;
        let image = Rect::new(slot.x.round(), slot.y.round(), side(1), side(0));
        self.paint(canvas, image);
        canvas.outline(image, 1.0, ink::QUIET);
        let mut frame = Frame {
            image,
            zoom: [image.h / rows as f32, image.w / cols as f32],
            bottom: image.bottom(),
        };
        canvas.clipped(image, |canvas| overlay(canvas, &frame));
        let scale_bottom = self.draw_scale_bar(canvas, image, field[1]);
        let bar_bottom = self.draw_colour_bar(canvas, image);
        frame.bottom = frame.bottom.max(scale_bottom).max(bar_bottom);
        frame
    }

    fn paint(&self, canvas: &mut Canvas, image: Rect) {
        let shown = resample(self.values, image.h as usize, image.w as usize);
        for ((row, col), &value) in shown.indexed_iter() {
            let colour = self.colours.colour(self.contrast.position(value));
            canvas.blend(
                image.x as i64 + col as i64,
                image.y as i64 + row as i64,
                colour,
                1.0,
            );
        }
    }

    /// White on a dark patch inside the picture, or dark below a picture too small for that. Returns the y below it.
    fn draw_scale_bar(&self, canvas: &mut Canvas, image: Rect, field: f64) -> f32 {
        let bar = ScaleBar::for_field(field, self.quantity);
        let length = (bar.length / field) as f32 * image.w;
        let text = canvas.typeface.width(&bar.label, SCALE_LABEL);
        let width = length.max(text) + 24.0;
        let inside = image.h >= 100.0 && image.w >= width + 20.0;
        let patch = if inside {
            Rect::new(image.x + 10.0, image.bottom() - 62.0, width, 52.0)
        } else {
            Rect::new(image.x, image.bottom() + 4.0, width, 48.0)
        };
        let style = if inside {
            canvas.fill(patch, [0, 0, 0], 0.55);
            SCALE_LABEL
        } else {
            Style {
                colour: ink::TEXT,
                ..SCALE_LABEL
            }
        };
        let middle = patch.x + width / 2.0;
        canvas.text(&bar.label, middle, patch.y + 26.0, Anchor::Middle, style);
        let line = Rect::new(middle - length / 2.0, patch.y + 36.0, length, 6.0);
        canvas.fill(line, style.colour, 1.0);
        patch.bottom()
    }

    /// Returns the y below the bar.
    fn draw_colour_bar(&self, canvas: &mut Canvas, image: Rect) -> f32 {
        let x = image.right() + 12.0;
        let top = image.y + 30.0;
        let bar = Rect::new(x, top, BAR_WIDTH, (image.bottom() - top).max(60.0).round());
        let count = (bar.h / 70.0).clamp(2.0, 7.0) as usize;
        let exponent = colour_bar(canvas, bar, self.colours, self.contrast, count);
        let unit = match exponent {
            0 => self.unit.to_string(),
            power => format!("10{} {}", superscript(power), self.unit),
        };
        canvas.text(&unit, bar.x - 1.0, image.y + 13.0, Anchor::Left, LABEL);
        bar.bottom() + 2.0
    }
}

/// Mean of the array over the area of every output pixel: blocks when enlarged, averages when reduced.
fn resample(values: ArrayView2<'_, f32>, height: usize, width: usize) -> Array2<f32> {
    let columns = average_rows(values.t(), width);
    average_rows(columns.t(), height)
}

/// Averages along the first axis onto `count` equal intervals.
fn average_rows(values: ArrayView2<'_, f32>, count: usize) -> Array2<f32> {
    let (rows, cols) = values.dim();
    let mut out = Array2::zeros((count, cols));
    for (i, mut target) in out.outer_iter_mut().enumerate() {
        let (start, end) = (
            (i * rows) as f64 / count as f64,
            ((i + 1) * rows) as f64 / count as f64,
        );
        for row in start as usize..(end.ceil() as usize).min(rows) {
            let weight = (end.min(row as f64 + 1.0) - start.max(row as f64)) / (end - start);
            target.scaled_add(weight as f32, &values.row(row));
        }
    }
    out
}

/// A bar of colours from the lowest value at its foot to the highest, with about `count` ticks to its
/// right; returns the power of ten taken out of their labels.
pub(super) fn colour_bar(
    canvas: &mut Canvas,
    bar: Rect,
    colours: ColourMap,
    contrast: Contrast,
    count: usize,
) -> i32 {
    for step in 0..bar.h as usize {
        let position = 1.0 - (step as f32 + 0.5) / bar.h;
        let line = Rect::new(bar.x, bar.y + step as f32, bar.w, 1.0);
        canvas.fill(line, colours.colour(position), 1.0);
    }
    canvas.outline(bar, 1.0, ink::QUIET);
    let ticks = linear_ticks(f64::from(contrast.low), f64::from(contrast.high), count);
    for (value, label) in ticks.values.iter().zip(&ticks.labels) {
        let y = bar.bottom() - contrast.position(*value as f32) * bar.h;
        canvas.fill(
            Rect::new(bar.right() + 1.0, y - 0.5, 5.0, 1.0),
            ink::TEXT,
            1.0,
        );
        let baseline = y + LABEL.size * CAPITAL / 2.0;
        canvas.text(label, bar.right() + 9.0, baseline, Anchor::Left, LABEL);
    }
    ticks.exponent
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(values: &Array2<f32>, step: [f64; 2]) -> Picture<'_> {
        Picture {
            values: values.view(),
            step,
            quantity: Quantity::LengthA,
            colours: ColourMap::Gray,
            contrast: Contrast::new(0.0, 1.0),
            unit: "rad",
        }
    }

    #[test]
    fn element_zero_zero_is_at_the_top_left_and_rows_run_down() {
        let mut values = Array2::<f32>::zeros((5, 9));
        values[(0, 0)] = 1.0;
        values[(1, 8)] = 0.5;
        let mut canvas = Canvas::new(700, 500).unwrap();
        let frame = picture(&values, [1.0, 1.0]).draw(
            &mut canvas,
            Rect::new(20.0, 30.0, 600.0, 400.0),
            |_, _| (),
        );
        let at = |row: f64, col: f64| {
            let (x, y) = frame.center_of(row, col);
            canvas.image.pixel(y as usize, x as usize).unwrap()[0]
        };
        assert_eq!(canvas.image.pixel(30, 20), Some([255; 3]));
        assert_eq!(
            (at(0.0, 0.0), at(0.0, 1.0), at(1.0, 0.0), at(1.0, 8.0)),
            (255, 0, 0, 128)
        );
    }

    #[test]
    fn unequal_steps_keep_their_physical_ratio() {
        let values = Array2::<f32>::zeros((60, 75));
        let mut canvas = Canvas::new(700, 700).unwrap();
        let frame = picture(&values, [0.4, 0.31]).draw(
            &mut canvas,
            Rect::new(0.0, 0.0, 592.0, 600.0),
            |_, _| (),
        );
        let ratio = f64::from(frame.image.h / frame.image.w);
        assert!(
            (ratio - 60.0 * 0.4 / (75.0 * 0.31)).abs() < 0.003,
            "{ratio}"
        );
    }

    /// The scale bar is as long on the canvas as its label says, by counting its white pixels.
    #[test]
    fn scale_bar_length_matches_its_label() {
        for i in 0..60 {
            let (cols, step) = (16 + 7 * i, 0.03 * 1.17f64.powi(i as i32));
            let values = Array2::<f32>::zeros((cols, cols));
            let mut canvas = Canvas::new(560, 600).unwrap();
            let slot = Rect::new(13.0, 40.0, 520.0, 500.0);
            let frame = picture(&values, [step, step]).draw(&mut canvas, slot, |_, _| ());
            let label = ScaleBar::for_field(cols as f64 * step, Quantity::LengthA).label;
            let (number, unit) = label.split_once(' ').unwrap();
            let unit_a = match unit {
                "pm" => 0.01,
                "Å" => 1.0,
                "nm" => 10.0,
                _ => 1e4,
            };
            let expected =
                number.parse::<f64>().unwrap() * unit_a / step * f64::from(frame.zoom[1]);
            let row = frame.image.bottom() as usize - 62 + 39;
            let white: f64 = (frame.image.x as usize..frame.image.right() as usize)
                .map(|col| f64::from(canvas.image.pixel(row, col).unwrap()[0]) / 255.0)
                .sum();
            assert!(
                (white - expected).abs() < 1.0,
                "{label}: {white} px, expected {expected}"
            );
        }
    }

    #[test]
    fn resampling_keeps_the_mean_and_the_blocks() {
        let values = Array2::from_shape_fn((31, 37), |(r, c)| ((r * 7 + c * 3) % 11) as f32);
        for (height, width) in [(31, 37), (62, 111), (400, 411), (10, 9), (1, 1)] {
            let shown = resample(values.view(), height, width);
            let (a, b) = (shown.mean().unwrap(), values.mean().unwrap());
            assert!((a - b).abs() < 1e-4 * b, "{height} x {width}: {a} {b}");
        }
        let double = resample(values.view(), 62, 74);
        assert!((double[(21, 15)] - values[(10, 7)]).abs() < 1e-5);
    }
}
