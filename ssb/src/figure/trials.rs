//! Phase images of several trials side by side.

use ndarray::Array2;

use super::FigureError;
use super::canvas::{Canvas, Rect, RgbImage};
use super::colour_map::ColourMap;
use super::compose::{GAP, MARGIN, SUBTITLE, TITLE, trim};
use super::contrast::Contrast;
use super::data::{Display, finite};
use super::picture::Picture;
use super::scale_bar::Quantity;

/// Panels of one row, at most.
const ACROSS: usize = 5;
const PANEL_WIDTH: f32 = 400.0;
/// Room for the lines above and below a picture.
const WORDS: f32 = 260.0;

/// The phase image of one trial.
#[derive(Clone, Debug)]
pub struct TrialPicture {
    /// Headline, for example `trial 17, tpe`.
    pub title: String,
    /// Lines of small print: its loss and parameters.
    pub lines: Vec<String>,
    /// Phase, shape `[R, C]`, radians.
    pub phase: Array2<f32>,
}

/// Draws phase images side by side, five in a row, each with its own contrast, scale bar and colour bar.
///
/// `pixel_step_a` is the step (row, col) in Å between pixels of every phase.
///
/// # Errors
/// No trial, an empty image, or values that are not finite.
pub fn render_trials(
    title: &str,
    subtitle: &str,
    trials: &[TrialPicture],
    pixel_step_a: [f64; 2],
    display: &Display,
) -> Result<RgbImage, FigureError> {
    if trials.is_empty() {
        return Err(FigureError::Empty {
            name: "list of trials",
            rows: 0,
            cols: 0,
        });
    }
    let mut tallest = 0.0_f32;
    for trial in trials {
        finite("phase", trial.phase.view())?;
        let (rows, cols) = trial.phase.dim();
        let ratio = rows as f64 * pixel_step_a[0] / (cols as f64 * pixel_step_a[1]);
        tallest = tallest.max((ratio * f64::from(PANEL_WIDTH)).min(1000.0) as f32);
    }
    let across = trials.len().min(ACROSS);
    let width = 2.0 * MARGIN + across as f32 * (PANEL_WIDTH + GAP) - GAP;
    let down = trials.len().div_ceil(ACROSS) as f32;
    let bound = 600.0 + down * (tallest + WORDS + GAP);
    let mut canvas = Canvas::new(width as usize, bound as usize)?;
    let inner = width - 2.0 * MARGIN;
    let mut y = canvas.paragraph(title, MARGIN, MARGIN - 14.0, inner, TITLE);
    y = canvas.paragraph(subtitle, MARGIN, y + 2.0, inner, SUBTITLE) + 22.0;
    let [low, high] = display.contrast_percent;
    for row in trials.chunks(ACROSS) {
        let mut bottom = y;
        for (i, trial) in row.iter().enumerate() {
            let x = MARGIN + i as f32 * (PANEL_WIDTH + GAP);
            let slot = Rect::new(x, y, PANEL_WIDTH, tallest + 40.0);
            let rest = canvas.header(slot, None, &trial.title);
            let picture = Picture {
                values: trial.phase.view(),
                step: pixel_step_a,
                quantity: Quantity::LengthA,
                colours: ColourMap::Gray,
                contrast: Contrast::percentiles(trial.phase.iter().copied(), low, high),
                unit: "rad",
            };
            let frame = picture.draw(&mut canvas, rest, |_, _| ());
            bottom = bottom.max(canvas.caption(x, frame.bottom, PANEL_WIDTH, &trial.lines));
        }
        y = bottom + GAP;
    }
    Ok(trim(canvas, y - GAP + MARGIN - 12.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_stand_side_by_side_in_rows_of_five() {
        let picture = |n: usize| TrialPicture {
            title: format!("trial {n}, tpe"),
            lines: vec!["loss 1.2e-3 rad²".into(), "C10 3 nm".into()],
            phase: Array2::from_shape_fn((20, 30), |(r, c)| ((r * n + c) as f32).sin()),
        };
        let drawn = |n: usize| {
            let trials: Vec<TrialPicture> = (1..=n).map(picture).collect();
            render_trials("scan.h5", "cpu", &trials, [0.3, 0.3], &Display::default())
        };
        let [one, five, seven] = [1, 5, 7].map(|n| drawn(n).unwrap());
        assert_eq!((one.width, five.width), (480, 2208));
        assert_eq!(seven.width, five.width);
        assert!(seven.height > five.height + 200 && five.height == one.height);
        assert!(drawn(0).is_err());
        let mut bad = picture(1);
        bad.phase[(1, 1)] = f32::NAN;
        assert!(render_trials("", "", &[bad], [0.3, 0.3], &Display::default()).is_err());
    }
}
