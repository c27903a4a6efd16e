//! Loss against trial, with the best so far.

use super::canvas::{Canvas, Rect, ink};
use super::colour_map::Rgb;
use super::data::{FigureData, Search, Trial};
use super::lettering::{Anchor, CAPITAL, Style};
use super::loss_axis::LossAxis;
use super::numbers::{grouped, linear_ticks, significant, superscript};
use super::picture::LABEL;

const DEGENERATE: Rgb = [150, 155, 163];
const BEST: Rgb = [190, 24, 60];

/// Colour-blind safe colours of the methods; names not listed take turns at the rest.
fn method_colour(method: &str, turn: usize) -> Rgb {
    match method {
        "start" => [24, 26, 30],
        "random" => [130, 137, 147],
        "tpe" => [0, 114, 178],
        "guided" => [0, 158, 115],
        "nelder-mead" => [230, 130, 0],
        "gradient" => [170, 80, 160],
        "grid" => [86, 150, 210],
        _ => [[128, 96, 0], [0, 128, 128], [96, 64, 160], [200, 90, 90]][turn % 4],
    }
}

/// Losses that may be compared: finite and not degenerate.
pub(super) fn comparable(trial: &Trial) -> bool {
    trial.loss.is_finite() && !trial.degenerate
}

pub(super) fn draw_loss(
    canvas: &mut Canvas,
    slot: Rect,
    letter: Option<char>,
    data: &FigureData,
) -> f32 {
    let rest = canvas.header(slot, letter, "Loss against trial");
    let Some(search) = &data.search else {
        let style = Style {
            size: 19.0,
            bold: false,
            colour: ink::AMBER,
        };
        let text = "No search: aberrations taken as given, not fitted.";
        return canvas.paragraph(text, slot.x, rest.y + 6.0, slot.w, style);
    };
    let losses: Vec<f64> = search
        .trials
        .iter()
        .filter(|t| comparable(t))
        .map(|t| t.loss)
        .collect();
    let axis = LossAxis::for_losses(&losses);
    let plot = Rect::new(
        rest.x + 64.0,
        rest.y + 28.0,
        rest.w - 72.0,
        (rest.h - 160.0).max(80.0),
    );
    draw_axes(canvas, rest, plot, &axis, search.trials.len());
    draw_points(canvas, plot, &axis, search);
    let y = draw_legend(
        canvas,
        Rect::new(rest.x, plot.bottom() + 56.0, rest.w, 0.0),
        search,
    );
    canvas.caption(rest.x, y, rest.w, &summary(search))
}

fn x_of(plot: Rect, index: usize, count: usize) -> f32 {
    let margin = 10.0;
    let part = if count > 1 {
        index as f32 / (count - 1) as f32
    } else {
        0.5
    };
    plot.x + margin + part * (plot.w - 2.0 * margin)
}

fn draw_axes(canvas: &mut Canvas, rest: Rect, plot: Rect, axis: &LossAxis, count: usize) {
    let (ticks, exponent) = axis.ticks();
    let power = if exponent == 0 {
        String::new()
    } else {
        format!("10{} ", superscript(exponent))
    };
    let scale = if axis.log { ", log scale" } else { "" };
    let title = format!("loss (phase variance), {power}rad²{scale}");
    canvas.text(&title, rest.x, rest.y + 14.0, Anchor::Left, LABEL);
    for (value, label) in ticks {
        let y = plot.bottom() - axis.position(value) * plot.h;
        canvas.fill(Rect::new(plot.x, y - 0.5, plot.w, 1.0), ink::RULE, 0.7);
        canvas.text(
            &label,
            plot.x - 8.0,
            y + LABEL.size * CAPITAL / 2.0,
            Anchor::Right,
            LABEL,
        );
    }
    canvas.outline(plot, 1.0, ink::QUIET);
    // Trials are numbered from 0, as everywhere.
    let ticks = linear_ticks(0.0, count.max(2) as f64 - 1.0, 6);
    for value in ticks
        .values
        .iter()
        .filter(|v| (*v - v.round()).abs() < 1e-6)
    {
        let trial = value.round() as usize;
        if trial >= count {
            continue;
        }
        let x = x_of(plot, trial, count);
        canvas.fill(
            Rect::new(x - 0.5, plot.bottom() + 1.0, 1.0, 5.0),
            ink::TEXT,
            1.0,
        );
        let label = grouped(trial);
        canvas.text(&label, x, plot.bottom() + 22.0, Anchor::Middle, LABEL);
    }
    let middle = plot.x + plot.w / 2.0;
    canvas.text("trial", middle, plot.bottom() + 42.0, Anchor::Middle, LABEL);
}

fn draw_points(canvas: &mut Canvas, plot: Rect, axis: &LossAxis, search: &Search) {
    let count = search.trials.len();
    let radius = if count > 400 { 3.2 } else { 4.2 };
    let place = |index: usize, loss: f64| {
        (
            x_of(plot, index, count),
            plot.bottom() - axis.position(loss) * plot.h,
        )
    };
    let methods = methods(search);
    for (index, trial) in search.trials.iter().enumerate() {
        let loss = if trial.loss.is_finite() {
            trial.loss
        } else {
            f64::MAX
        };
        let at = place(index, loss);
        let turn = methods
            .iter()
            .position(|(name, _)| *name == trial.method)
            .unwrap_or(0);
        let colour = method_colour(&trial.method, turn);
        match (comparable(trial), trial.method.as_str()) {
            (false, _) => canvas.cross(at, radius, 1.6, DEGENERATE),
            (true, "start") => {}
            (true, _) => canvas.disc(at, radius, colour, 0.7),
        }
    }
    let mut best = f64::INFINITY;
    let mut corner = None;
    for (index, trial) in search
        .trials
        .iter()
        .enumerate()
        .filter(|(_, t)| comparable(t))
    {
        best = best.min(trial.loss);
        let at = place(index, best);
        if let Some((x, y)) = corner {
            canvas.line((x, y), (at.0, y), 1.8, ink::TEXT);
            canvas.line((at.0, y), at, 1.8, ink::TEXT);
        }
        corner = Some(at);
    }
    if let Some((x, y)) = corner {
        canvas.line((x, y), (plot.right(), y), 1.8, ink::TEXT);
    }
    for (index, trial) in search.trials.iter().enumerate() {
        if trial.method == "start" && comparable(trial) {
            canvas.diamond(place(index, trial.loss), 8.5, [255, 255, 255]);
            canvas.diamond(place(index, trial.loss), 7.0, method_colour("start", 0));
        }
    }
    if let Some(trial) = search
        .trials
        .get(search.best)
        .filter(|t| t.loss.is_finite())
    {
        draw_best(canvas, place(search.best, trial.loss));
    }
}

/// The ring that marks the best trial.
pub(super) fn draw_best(canvas: &mut Canvas, at: (f32, f32)) {
    canvas.ring(at, (9.0, 9.0), 2.6, BEST, 0);
}

/// Methods in order of appearance, with how many comparable trials each has.
fn methods(search: &Search) -> Vec<(&str, usize)> {
    let mut found: Vec<(&str, usize)> = Vec::new();
    for trial in search.trials.iter().filter(|t| comparable(t)) {
        match found.iter_mut().find(|(name, _)| *name == trial.method) {
            Some((_, count)) => *count += 1,
            None => found.push((&trial.method, 1)),
        }
    }
    found
}

fn draw_legend(canvas: &mut Canvas, slot: Rect, search: &Search) -> f32 {
    let (mut x, mut y) = (slot.x, slot.y);
    let not_comparable = search.trials.iter().filter(|t| !comparable(t)).count();
    let methods = methods(search);
    let mut entries: Vec<(String, usize)> = methods
        .iter()
        .enumerate()
        .map(|(turn, (name, count))| (format!("{name} ({})", grouped(*count)), turn))
        .collect();
    if not_comparable > 0 {
        entries.push((
            format!("degenerate or failed ({not_comparable})"),
            usize::MAX,
        ));
    }
    entries.push(("best so far".to_string(), usize::MAX - 1));
    entries.push(("best".to_string(), usize::MAX - 2));
    for (text, turn) in entries {
        let width = 22.0 + canvas.typeface.width(&text, LABEL);
        if x > slot.x && x + width > slot.right() {
            (x, y) = (slot.x, y + 24.0);
        }
        let at = (x + 8.0, y + 9.0);
        match (turn, methods.get(turn)) {
            (_, Some(("start", _))) => canvas.diamond(at, 7.0, method_colour("start", 0)),
            (_, Some((name, _))) => canvas.disc(at, 5.0, method_colour(name, turn), 0.85),
            (usize::MAX, _) => canvas.cross(at, 4.5, 1.6, DEGENERATE),
            (turn, _) if turn == usize::MAX - 1 => {
                canvas.line((x, at.1), (x + 16.0, at.1), 1.8, ink::TEXT);
            }
            _ => draw_best(canvas, at),
        }
        canvas.text(&text, x + 22.0, y + 15.0, Anchor::Left, LABEL);
        x += width + 18.0;
    }
    y + 22.0
}

fn summary(search: &Search) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(best) = search.trials.get(search.best) {
        let first = search
            .trials
            .first()
            .filter(|first| search.best > 0 && comparable(first));
        lines.push(format!(
            "best {}\u{a0}rad², trial {} ({}){}",
            significant(best.loss, 4),
            grouped(search.best),
            best.method,
            first.map_or(String::new(), |first| format!(
                "; first {}",
                significant(first.loss, 4)
            )),
        ));
    }
    if search.trials.iter().any(|trial| !comparable(trial)) {
        lines.push("crosses: degenerate (not comparable), or failed (top edge)".into());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_counted_in_order_without_degenerate_trials() {
        let trial = |method: &str, loss, degenerate| Trial {
            loss,
            method: method.into(),
            degenerate,
            c10_c12_nm: None,
        };
        let search = Search {
            trials: vec![
                trial("start", 0.1, false),
                trial("tpe", 0.2, false),
                trial("tpe", 0.001, true),
                trial("tpe", f64::NAN, false),
                trial("nelder-mead", 0.05, false),
            ],
            best: 4,
        };
        assert_eq!(
            methods(&search),
            [("start", 1), ("tpe", 1), ("nelder-mead", 1)]
        );
        assert!(
            summary(&search)[0].starts_with("best 0.05000\u{a0}rad², trial 4 (nelder-mead); first")
        );
    }
}
