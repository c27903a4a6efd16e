//! Anti-aliased text in the compiled-in DejaVu Sans (licence: `ssb/assets/LICENSE-DejaVu.txt`).

use super::FigureError;
use super::canvas::{Canvas, ink};
use super::colour_map::Rgb;
use ab_glyph::{Font, FontRef, Glyph, PxScale, ScaleFont, point};

static REGULAR: &[u8] = include_bytes!("../../assets/DejaVuSans-subset.ttf");
static BOLD: &[u8] = include_bytes!("../../assets/DejaVuSans-Bold-subset.ttf");

/// Height of capital letters over the type size.
pub(super) const CAPITAL: f32 = 0.729;

/// How a piece of text looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// Type size (em), pixels.
    pub size: f32,
    pub bold: bool,
    pub colour: Rgb,
}

/// Which part of the text stands at the given x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Left,
    Middle,
    Right,
}

/// The two weights of the typeface.
pub(super) struct Typeface {
    regular: FontRef<'static>,
    bold: FontRef<'static>,
}

impl Typeface {
    pub fn load() -> Result<Typeface, FigureError> {
        Ok(Typeface {
            regular: FontRef::try_from_slice(REGULAR)?,
            bold: FontRef::try_from_slice(BOLD)?,
        })
    }

    fn font(&self, style: Style) -> &FontRef<'static> {
        if style.bold {
            &self.bold
        } else {
            &self.regular
        }
    }

    /// Glyphs on a baseline at y = 0 from x = 0, and the width of the line.
    fn set(&self, text: &str, style: Style) -> (Vec<Glyph>, f32) {
        let font = self.font(style);
        let em = font.units_per_em().unwrap_or(1.0);
        let scale = PxScale::from(style.size * font.height_unscaled() / em);
        let scaled = font.as_scaled(scale);
        let (mut x, mut last, mut glyphs) = (0.0, None, Vec::new());
        for letter in text.chars() {
            let id = font.glyph_id(letter);
            if let Some(last) = last {
                x += scaled.kern(last, id);
            }
            glyphs.push(id.with_scale_and_position(scale, point(x, 0.0)));
            x += scaled.h_advance(id);
            last = Some(id);
        }
        (glyphs, x)
    }

    /// Width of one line, pixels.
    pub fn width(&self, text: &str, style: Style) -> f32 {
        self.set(text, style).1
    }

    /// Breaks text into lines no wider than `width`, at plain spaces where possible (never at no-break spaces).
    pub fn wrap(&self, text: &str, style: Style, width: f32) -> Vec<String> {
        let mut lines = Vec::new();
        let mut line = String::new();
        for word in text.split([' ', '\n']).filter(|word| !word.is_empty()) {
            let joined = if line.is_empty() {
                word.to_string()
            } else {
                format!("{line} {word}")
            };
            if self.width(&joined, style) <= width {
                line = joined;
                continue;
            }
            if !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            for letter in word.chars() {
                line.push(letter);
                if self.width(&line, style) > width && line.chars().count() > 1 {
                    line.pop();
                    lines.push(std::mem::take(&mut line));
                    line.push(letter);
                }
            }
        }
        if !line.is_empty() {
            lines.push(line);
        }
        lines
    }
}

impl Canvas {
    /// Draws one line with its baseline at `y`; returns its width.
    pub fn text(&mut self, text: &str, x: f32, y: f32, anchor: Anchor, style: Style) -> f32 {
        let (glyphs, width) = self.typeface.set(text, style);
        let left = match anchor {
            Anchor::Left => x,
            Anchor::Middle => x - width / 2.0,
            Anchor::Right => x - width,
        };
        // whole-pixel baselines keep stems and bars crisp
        let y = y.round();
        for mut glyph in glyphs {
            glyph.position.x += left;
            glyph.position.y += y;
            let Some(outline) = self.typeface.font(style).outline_glyph(glyph) else {
                continue;
            };
            let corner = outline.px_bounds().min;
            outline.draw(|gx, gy, coverage| {
                let (px, py) = (
                    corner.x as i64 + i64::from(gx),
                    corner.y as i64 + i64::from(gy),
                );
                self.blend(px, py, style.colour, coverage);
            });
        }
        width
    }

    /// Draws one line from `x` with dark edges, to be read on bright and dark ground.
    pub fn edged_text(&mut self, text: &str, x: f32, y: f32, style: Style) {
        let edge = Style {
            colour: ink::EDGE,
            ..style
        };
        for (right, down) in [(-1.2, 0.0), (1.2, 0.0), (0.0, -1.0), (0.0, 1.0)] {
            self.text(text, x + right, y + down, Anchor::Left, edge);
        }
        self.text(text, x, y, Anchor::Left, style);
    }

    /// Draws wrapped text whose first line starts at `top`; returns the y below the last line.
    pub fn paragraph(&mut self, text: &str, x: f32, top: f32, width: f32, style: Style) -> f32 {
        let mut y = top;
        for line in self.typeface.wrap(text, style, width) {
            self.text(&line, x, y + style.size, Anchor::Left, style);
            y += line_height(style);
        }
        y
    }
}

/// Distance between the baselines of wrapped lines.
pub(super) fn line_height(style: Style) -> f32 {
    (style.size * 1.35).round()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STYLE: Style = Style {
        size: 20.0,
        bold: false,
        colour: [0, 0, 0],
    };

    #[test]
    fn every_sign_a_figure_uses_has_a_glyph() {
        let typeface = Typeface::load().unwrap();
        for letter in "AZaz09 Åµ°±×−·–—…φλαχπσ²³⁻¹⁰⁴⁵⁶⁷⁸⁹₁₀₂ü≤≥≈→".chars()
        {
            for font in [&typeface.regular, &typeface.bold] {
                assert_ne!(font.glyph_id(letter).0, 0, "no glyph for {letter:?}");
            }
        }
    }

    #[test]
    fn wrapped_lines_fit_and_lose_nothing() {
        let typeface = Typeface::load().unwrap();
        let text =
            "a long title with a_file_name_that_has_no_space_to_break_at_whatever.h5 and more";
        let lines = typeface.wrap(text, STYLE, 180.0);
        assert!(lines.len() > 2);
        for line in &lines {
            assert!(typeface.width(line, STYLE) <= 180.0, "{line}");
        }
        let strip = |s: &str| s.split_whitespace().collect::<String>();
        assert_eq!(strip(&lines.concat()), strip(text));
        assert!(typeface.wrap("", STYLE, 100.0).is_empty());
        assert_eq!(typeface.wrap("abc", STYLE, 0.0).concat(), "abc");
    }

    #[test]
    fn text_stands_where_it_is_anchored() {
        for (anchor, first, last) in [
            (Anchor::Left, 100, 135),
            (Anchor::Middle, 80, 120),
            (Anchor::Right, 65, 100),
        ] {
            let mut canvas = Canvas::new(200, 40).unwrap();
            canvas.text("HH", 100.0, 30.0, anchor, STYLE);
            let dark: Vec<usize> = (0..200)
                .filter(|&col| (0..40).any(|row| canvas.image.pixel(row, col) != Some([255; 3])))
                .collect();
            assert!(
                dark[0] >= first && dark[dark.len() - 1] < last,
                "{anchor:?} {dark:?}"
            );
            assert!(canvas.image.pixel(30, 100).is_some());
        }
    }
}
