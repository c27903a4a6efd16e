//! C12 against C10 of every trial, coloured by loss.

use super::canvas::{Canvas, Rect, ink};
use super::colour_map::ColourMap;
use super::contrast::Contrast;
use super::data::{FigureData, Search};
use super::lettering::{Anchor, CAPITAL};
use super::loss::{comparable, draw_best};
use super::numbers::{linear_ticks, superscript};
use super::picture::{LABEL, colour_bar};

const TRUTH: [u8; 3] = [190, 24, 60];

/// A trial to draw: C10 and C12 in nm, loss, index.
type Dot = ([f64; 2], f64, usize);

/// Trials that have a place in the scatter, worst first so that good ones lie on top.
fn dots(search: &Search) -> Vec<Dot> {
    let mut dots: Vec<Dot> = search
        .trials
        .iter()
        .enumerate()
        .filter(|(_, trial)| comparable(trial))
        .filter_map(|(index, trial)| {
            let at = trial
                .c10_c12_nm
                .filter(|at| at.iter().all(|v| v.is_finite()))?;
            Some((at, trial.loss, index))
        })
        .collect();
    dots.sort_by(|a, b| b.1.total_cmp(&a.1));
    dots
}

/// True when there is something to scatter.
pub(super) fn has_scatter(data: &FigureData) -> bool {
    data.search
        .as_ref()
        .is_some_and(|search| !dots(search).is_empty())
}

pub(super) fn draw_scatter(
    canvas: &mut Canvas,
    slot: Rect,
    letter: Option<char>,
    data: &FigureData,
    search: &Search,
) -> f32 {
    let rest = canvas.header(slot, letter, "Trials in C10 and C12, by loss");
    let dots = dots(search);
    let truth = true_place(data);
    let places = || dots.iter().map(|dot| dot.0).chain(truth);
    let range = [0, 1].map(|axis| padded(places().map(|at| at[axis])));
    let plot = Rect::new(
        rest.x + 56.0,
        rest.y + 28.0,
        rest.w - 160.0,
        (rest.h - 160.0).max(80.0),
    );
    let contrast = Contrast::percentiles(dots.iter().map(|dot| dot.1 as f32), 0.0, 100.0);

    let place = |at: [f64; 2]| {
        let part = [0, 1].map(|i| ((at[i] - range[i].0) / (range[i].1 - range[i].0)) as f32);
        (plot.x + part[0] * plot.w, plot.bottom() - part[1] * plot.h)
    };
    let ticks = range.map(|(low, high)| linear_ticks(low, high, 5));
    for (value, label) in ticks[0].values.iter().zip(&ticks[0].labels) {
        let (x, _) = place([*value, 0.0]);
        canvas.fill(Rect::new(x - 0.5, plot.y, 1.0, plot.h), ink::RULE, 0.7);
        canvas.text(label, x, plot.bottom() + 22.0, Anchor::Middle, LABEL);
    }
    for (value, label) in ticks[1].values.iter().zip(&ticks[1].labels) {
        let (_, y) = place([0.0, *value]);
        canvas.fill(Rect::new(plot.x, y - 0.5, plot.w, 1.0), ink::RULE, 0.7);
        canvas.text(
            label,
            plot.x - 8.0,
            y + LABEL.size * CAPITAL / 2.0,
            Anchor::Right,
            LABEL,
        );
    }
    canvas.outline(plot, 1.0, ink::QUIET);
    let named = |name: &str, exponent: i32| match exponent {
        0 => format!("{name}, nm"),
        power => format!("{name}, 10{} nm", superscript(power)),
    };
    canvas.text(
        &named("C12", ticks[1].exponent),
        rest.x,
        rest.y + 14.0,
        Anchor::Left,
        LABEL,
    );
    let middle = plot.x + plot.w / 2.0;
    let title = named("C10", ticks[0].exponent);
    canvas.text(&title, middle, plot.bottom() + 42.0, Anchor::Middle, LABEL);

    for (at, loss, _) in &dots {
        let colour = ColourMap::Viridis.colour(contrast.position(*loss as f32));
        canvas.disc(place(*at), 5.0, colour, 0.9);
    }
    if let Some(at) = truth {
        canvas.plus(place(at), 13.0, 4.5, [255, 255, 255]);
        canvas.plus(place(at), 12.0, 2.4, TRUTH);
    }
    if let Some((at, ..)) = dots.iter().find(|dot| dot.2 == search.best) {
        draw_best(canvas, place(*at));
    }
    draw_loss_bar(canvas, plot, rest.y, contrast);

    let cross = if truth.is_some() {
        ", cross: truth"
    } else {
        ""
    };
    let line = format!("dark: low loss, ring: best{cross}");
    canvas.caption(rest.x, plot.bottom() + 50.0, rest.w, &[line])
}

fn draw_loss_bar(canvas: &mut Canvas, plot: Rect, label_top: f32, contrast: Contrast) {
    let bar = Rect::new(plot.right() + 16.0, plot.y, 16.0, plot.h);
    let exponent = colour_bar(canvas, bar, ColourMap::Viridis, contrast, 5);
    let unit = match exponent {
        0 => "loss, rad²".to_string(),
        power => format!("loss, 10{} rad²", superscript(power)),
    };
    canvas.text(
        &unit,
        bar.right() + 60.0,
        label_top + 14.0,
        Anchor::Right,
        LABEL,
    );
}

/// Range of values with a margin, never empty.
fn padded(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
        (low.min(v), high.max(v))
    });
    if low > high {
        return (0.0, 1.0);
    }
    let margin = (0.06 * (high - low)).max(1e-3 * low.abs().max(1.0));
    (low - margin, high + margin)
}

/// True C10 and C12, nm, when the table holds both.
fn true_place(data: &FigureData) -> Option<[f64; 2]> {
    let truth = |name: &str| {
        data.aberrations
            .iter()
            .find(|row| row.name == name)?
            .truth_nm
    };
    Some([truth("C10")?, truth("C12")?])
}
