//! The table of aberrations and the facts below it.

use super::canvas::{Canvas, Rect, ink};
use super::data::{AberrationRow, FigureData};
use super::lettering::{Anchor, Style};
use super::numbers::{concise, fixed, significant};

const CELL: Style = Style {
    size: 16.5,
    bold: false,
    colour: ink::TEXT,
};
const HEAD: Style = Style {
    size: 15.5,
    bold: false,
    colour: ink::QUIET,
};
const ROW_HEIGHT: f32 = 28.0;

/// One column: its head, its cells, and whether it holds numbers (set to the right).
struct Column {
    head: &'static str,
    cells: Vec<String>,
    numeric: bool,
}

pub(super) fn draw_table(
    canvas: &mut Canvas,
    slot: Rect,
    letter: Option<char>,
    data: &FigureData,
) -> f32 {
    let title = if data.search.is_some() {
        "Aberrations"
    } else {
        "Aberrations: taken as given, not fitted"
    };
    let rest = canvas.header(slot, letter, title);
    let mut y = rest.y + 4.0;
    if data.aberrations.is_empty() {
        y = canvas.paragraph("no aberration: all terms are zero", rest.x, y, rest.w, CELL);
    } else {
        y = draw_columns(
            canvas,
            Rect::new(rest.x, y, rest.w, 0.0),
            &columns(&data.aberrations),
        );
    }
    draw_facts(
        canvas,
        Rect::new(rest.x, y + 14.0, rest.w, 0.0),
        &data.facts,
    )
}

/// A length in nm or Å: three decimals while they say something, whole numbers when it is large.
fn length(value: f64) -> String {
    match value.abs() {
        v if v < 1e3 => fixed(value, 3),
        v if v < 1e5 => fixed(value, 1),
        v if v < 1e8 => fixed(value, 0),
        _ => significant(value, 5),
    }
}

fn columns(rows: &[AberrationRow]) -> Vec<Column> {
    let column = |head, numeric, cell: &dyn Fn(&AberrationRow) -> String| Column {
        head,
        cells: rows.iter().map(cell).collect(),
        numeric,
    };
    let or_blank = |value: Option<f64>, show: &dyn Fn(f64) -> String| match value {
        Some(value) => show(value),
        None => String::new(),
    };
    let degrees = |value: f64| fixed(value.to_degrees(), 2);
    let mut columns = vec![
        column("term", false, &|row| row.name.clone()),
        column("nm", true, &|row| length(row.value_nm)),
        column("Å", true, &|row| length(row.value_nm * 10.0)),
        column("angle °", true, &|row| or_blank(row.angle_rad, &degrees)),
        column("rad", true, &|row| {
            or_blank(row.angle_rad, &|v| fixed(v, 4))
        }),
        column("state", false, &|row| {
            let angle = row.angle_state.filter(|state| *state != row.state);
            match angle {
                Some(angle) => format!("{}, φ {}", row.state.label(), angle.label()),
                None => row.state.label().to_string(),
            }
        }),
        column("range nm", true, &|row| match row.range_nm {
            Some([low, high]) => {
                format!("{} to {}", concise(low, 4), concise(high, 4))
            }
            None => String::new(),
        }),
        column("truth nm", true, &|row| or_blank(row.truth_nm, &length)),
        column("truth °", true, &|row| {
            or_blank(row.truth_angle_rad, &degrees)
        }),
    ];
    columns.retain(|column| column.cells.iter().any(|cell| !cell.is_empty()));
    columns
}

fn draw_columns(canvas: &mut Canvas, slot: Rect, columns: &[Column]) -> f32 {
    let count = columns
        .iter()
        .map(|column| column.cells.len())
        .max()
        .unwrap_or(0);
    let mut size = CELL.size;
    let widths = |canvas: &Canvas, size: f32| -> Vec<f32> {
        let width = |text: &str| canvas.typeface.width(text, Style { size, ..CELL });
        let widest = |column: &Column| {
            column
                .cells
                .iter()
                .map(|cell| width(cell))
                .fold(width(column.head), f32::max)
        };
        columns.iter().map(widest).collect()
    };
    let gaps = (columns.len().saturating_sub(1)) as f32;
    let total = |canvas: &Canvas, size: f32| widths(canvas, size).iter().sum::<f32>();
    // many columns of long numbers: smaller type, never cut
    while size > 8.0 && total(canvas, size) + 10.0 * gaps > slot.w {
        size -= 0.5;
    }
    let widths = widths(canvas, size);
    let spare = (slot.w - widths.iter().sum::<f32>()) / gaps.max(1.0);
    let gap = spare.clamp(6.0, 30.0);
    let (cell, head) = (
        Style { size, ..CELL },
        Style {
            size: size.min(HEAD.size),
            ..HEAD
        },
    );

    let used = widths.iter().sum::<f32>() + gap * gaps;
    let top = slot.y + ROW_HEIGHT;
    canvas.fill(Rect::new(slot.x, top, used, 1.5), ink::TEXT, 1.0);
    let mut x = slot.x;
    for (column, width) in columns.iter().zip(&widths) {
        let (at, anchor) = if column.numeric {
            (x + width, Anchor::Right)
        } else {
            (x, Anchor::Left)
        };
        canvas.text(column.head, at, top - 9.0, anchor, head);
        for (i, text) in column.cells.iter().enumerate() {
            let style = Style {
                bold: x == slot.x,
                ..cell
            };
            canvas.text(
                text,
                at,
                top + (i as f32 + 1.0) * ROW_HEIGHT - 8.0,
                anchor,
                style,
            );
        }
        x += width + gap;
    }
    for i in 1..=count {
        let y = top + i as f32 * ROW_HEIGHT;
        canvas.fill(Rect::new(slot.x, y, used, 1.0), ink::RULE, 1.0);
    }
    top + count as f32 * ROW_HEIGHT
}

fn draw_facts(canvas: &mut Canvas, slot: Rect, facts: &[(String, String)]) -> f32 {
    let names = facts
        .iter()
        .map(|(name, _)| canvas.typeface.width(name, HEAD));
    let indent = names.fold(0.0, f32::max).min(slot.w * 0.4) + 16.0;
    let mut y = slot.y;
    for (name, value) in facts {
        let left = canvas.paragraph(name, slot.x, y, indent - 8.0, HEAD);
        let value_style = Style {
            colour: ink::TEXT,
            ..HEAD
        };
        let right = canvas.paragraph(value, slot.x + indent, y, slot.w - indent, value_style);
        y = left.max(right) + 3.0;
    }
    y
}

#[cfg(test)]
mod tests {
    use super::super::data::TermState;
    use super::*;

    #[test]
    fn cells_show_both_units_and_leave_out_empty_columns() {
        let row = AberrationRow {
            name: "C12".into(),
            value_nm: 6.0046,
            angle_rad: Some(0.5),
            state: TermState::Fitted,
            angle_state: Some(TermState::Fixed),
            range_nm: Some([0.0, 20.0]),
            truth_nm: None,
            truth_angle_rad: None,
        };
        let columns = columns(&[row]);
        let shown: Vec<(&str, &str)> = columns
            .iter()
            .map(|column| (column.head, column.cells[0].as_str()))
            .collect();
        assert_eq!(
            shown,
            [
                ("term", "C12"),
                ("nm", "6.005"),
                ("Å", "60.046"),
                ("angle °", "28.65"),
                ("rad", "0.5000"),
                ("state", "fitted, φ fixed"),
                ("range nm", "0 to 20"),
            ]
        );
    }

    #[test]
    fn long_lengths_lose_decimals_not_digits() {
        assert_eq!(length(-15.0606), "−15.061");
        assert_eq!(length(5168.31), "5168.3");
        assert_eq!(length(977283.4), "977283");
        assert_eq!(length(9.77283e9), "9.7728 × 10⁹");
    }
}
