//! The whole figure, and single panels by name.

use super::FigureError;
use super::canvas::{Canvas, Rect, RgbImage, ink};
use super::data::{FigureData, Search};
use super::lettering::{Style, line_height};
use super::loss::draw_loss;
use super::pattern::draw_pattern;
use super::phase::{draw_amplitude, draw_phase};
use super::scatter::{draw_scatter, has_scatter};
use super::spectrum::draw_spectrum;
use super::table::draw_table;

const WIDTH: f32 = 1800.0;
pub(super) const MARGIN: f32 = 40.0;
pub(super) const GAP: f32 = 32.0;
/// Height of a row of panels; captions may run below it.
const PANEL_HEIGHT: f32 = 500.0;
const SINGLE_WIDTH: f32 = 860.0;

pub(super) const TITLE: Style = Style {
    size: 30.0,
    bold: true,
    colour: ink::TEXT,
};
pub(super) const SUBTITLE: Style = Style {
    size: 17.0,
    bold: false,
    colour: ink::QUIET,
};
const WARNING: Style = Style {
    size: 17.0,
    bold: false,
    colour: ink::AMBER,
};

/// A part of the figure that can be drawn alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Panel {
    /// Phase with scale bar and colour bar.
    Phase,
    /// Power spectrum of the phase.
    Spectrum,
    /// Mean diffraction pattern with the bright-field disk.
    Pattern,
    /// Loss against trial.
    Loss,
    /// C12 against C10 of every trial, coloured by loss.
    Scatter,
    /// Aberrations and facts.
    Table,
    /// Amplitude of the mean object.
    Amplitude,
}

impl Panel {
    /// Every panel.
    pub const ALL: [Panel; 7] = [
        Panel::Phase,
        Panel::Spectrum,
        Panel::Pattern,
        Panel::Loss,
        Panel::Scatter,
        Panel::Table,
        Panel::Amplitude,
    ];

    /// The name by which `--panel` asks for it.
    pub fn name(self) -> &'static str {
        match self {
            Panel::Phase => "phase",
            Panel::Spectrum => "spectrum",
            Panel::Pattern => "pattern",
            Panel::Loss => "loss",
            Panel::Scatter => "scatter",
            Panel::Table => "table",
            Panel::Amplitude => "amplitude",
        }
    }

    pub(super) fn names() -> String {
        Panel::ALL.map(Panel::name).join(", ")
    }
}

impl std::fmt::Display for Panel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Panel {
    type Err = FigureError;

    fn from_str(name: &str) -> Result<Panel, FigureError> {
        Panel::ALL
            .into_iter()
            .find(|panel| panel.name() == name)
            .ok_or_else(|| FigureError::UnknownPanel {
                name: name.to_string(),
            })
    }
}

/// Draws the composed figure, 1800 pixels wide and as high as its text needs (about 1200).
///
/// # Errors
/// Data that cannot be shown truthfully: empty arrays, values that are not finite, steps that are not positive, masked
/// pixels outside the pattern, a best trial that is not there.
pub fn render_figure(data: &FigureData) -> Result<RgbImage, FigureError> {
    data.check()?;
    let mut canvas = Canvas::new(WIDTH as usize, 1)?;
    canvas = Canvas::new(WIDTH as usize, height_bound(&canvas, data, WIDTH))?;
    let inner = WIDTH - 2.0 * MARGIN;
    let mut y = canvas.paragraph(&data.title, MARGIN, MARGIN - 14.0, inner, TITLE);
    y = canvas.paragraph(&data.subtitle, MARGIN, y + 2.0, inner, SUBTITLE) + 22.0;

    let mut letters = 'a'..='z';
    let mut row = Row::new(y, &[552.0, 552.0, 552.0]);
    row.panel(&mut letters, |slot, letter| {
        draw_phase(&mut canvas, slot, letter, data)
    });
    row.panel(&mut letters, |slot, letter| {
        draw_spectrum(&mut canvas, slot, letter, data)
    });
    row.panel(&mut letters, |slot, letter| {
        draw_pattern(&mut canvas, slot, letter, data)
    });

    let scatter = data.search.as_ref().filter(|_| has_scatter(data));
    let middle = scatter.is_some() || data.amplitude.is_some();
    let widths: &[f32] = match (middle, data.search.is_some()) {
        (true, true) => &[530.0, 490.0, 636.0],
        (true, false) => &[400.0, 552.0, 704.0],
        (false, true) => &[1020.0, 668.0],
        (false, false) => &[552.0, 1136.0],
    };
    let mut row = Row::new(row.bottom + 30.0, widths);
    row.panel(&mut letters, |slot, letter| {
        draw_loss(&mut canvas, slot, letter, data)
    });
    if let Some(search) = scatter {
        row.panel(&mut letters, |slot, letter| {
            draw_scatter(&mut canvas, slot, letter, data, search)
        });
    } else if let Some(amplitude) = &data.amplitude {
        row.panel(&mut letters, |slot, letter| {
            draw_amplitude(&mut canvas, slot, letter, data, amplitude)
        });
    }
    row.panel(&mut letters, |slot, letter| {
        draw_table(&mut canvas, slot, letter, data)
    });

    y = draw_warnings(&mut canvas, data, row.bottom + 24.0, inner);
    Ok(trim(canvas, y + MARGIN - 18.0))
}

/// Draws one panel alone, 860 pixels wide.
///
/// # Errors
/// Those of [`render_figure`], and [`FigureError::Unavailable`] when the data hold no amplitude or no trials to draw.
pub fn render_panel(data: &FigureData, panel: Panel) -> Result<RgbImage, FigureError> {
    data.check()?;
    let unavailable = |reason| FigureError::Unavailable { panel, reason };
    let mut canvas = Canvas::new(SINGLE_WIDTH as usize, 1)?;
    canvas = Canvas::new(
        SINGLE_WIDTH as usize,
        height_bound(&canvas, data, SINGLE_WIDTH),
    )?;
    let width = SINGLE_WIDTH - 2.0 * MARGIN;
    let slot = Rect::new(MARGIN, MARGIN - 8.0, width, width - 40.0);
    let flat = Rect {
        h: PANEL_HEIGHT + 60.0,
        ..slot
    };
    let bottom = match panel {
        Panel::Phase => draw_phase(&mut canvas, slot, None, data),
        Panel::Spectrum => draw_spectrum(&mut canvas, slot, None, data),
        Panel::Pattern => draw_pattern(&mut canvas, slot, None, data),
        Panel::Loss => draw_loss(&mut canvas, flat, None, data),
        Panel::Scatter => {
            let search: &Search = data
                .search
                .as_ref()
                .filter(|_| has_scatter(data))
                .ok_or_else(|| unavailable("no trial of this result moved C10 and C12"))?;
            draw_scatter(&mut canvas, flat, None, data, search)
        }
        Panel::Table => draw_table(&mut canvas, slot, None, data),
        Panel::Amplitude => {
            let amplitude = data
                .amplitude
                .as_ref()
                .ok_or_else(|| unavailable("the result holds no amplitude"))?;
            draw_amplitude(&mut canvas, slot, None, data, amplitude)
        }
    };
    Ok(trim(canvas, bottom + MARGIN - 12.0))
}

/// Panels side by side.
struct Row {
    top: f32,
    x: f32,
    widths: Vec<f32>,
    bottom: f32,
}

impl Row {
    fn new(top: f32, widths: &[f32]) -> Row {
        let widths = widths.iter().rev().copied().collect();
        Row {
            top,
            x: MARGIN,
            widths,
            bottom: top,
        }
    }

    fn panel(
        &mut self,
        letters: &mut impl Iterator<Item = char>,
        draw: impl FnOnce(Rect, Option<char>) -> f32,
    ) {
        let Some(width) = self.widths.pop() else {
            return;
        };
        let slot = Rect::new(self.x, self.top, width, PANEL_HEIGHT);
        self.bottom = self.bottom.max(draw(slot, letters.next()));
        self.x += width + GAP;
    }
}

fn draw_warnings(canvas: &mut Canvas, data: &FigureData, top: f32, width: f32) -> f32 {
    let mut y = top;
    for warning in &data.warnings {
        y = canvas.paragraph(&format!("Warning: {warning}"), MARGIN, y, width, WARNING);
    }
    y
}

/// A height that the figure or any panel surely fits in; what is not used is cut off afterwards.
fn height_bound(canvas: &Canvas, data: &FigureData, width: f32) -> usize {
    let width = (width - 2.0 * MARGIN) * 0.2;
    let lines = |text: &str| canvas.typeface.wrap(text, TITLE, width).len();
    let texts = data
        .warnings
        .iter()
        .chain([&data.title, &data.subtitle])
        .map(|t| lines(t) + 1);
    let facts = data
        .facts
        .iter()
        .map(|(name, value)| lines(name) + lines(value));
    let methods = data.search.as_ref().map_or(0, |search| {
        let mut names: Vec<&str> = search.trials.iter().map(|t| t.method.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names.len()
    });
    let count = texts.sum::<usize>() + facts.sum::<usize>() + data.aberrations.len() + methods;
    2000 + count * line_height(TITLE) as usize
}

pub(super) fn trim(canvas: Canvas, bottom: f32) -> RgbImage {
    let mut image = canvas.image;
    image.height = (bottom.ceil() as usize).clamp(1, image.height);
    image.pixels.truncate(image.height * image.width * 3);
    image
}
