//! The drawing surface: opaque RGB pixels, rectangles with exact coverage, clipping.

use super::FigureError;
use super::colour_map::Rgb;
use super::lettering::Typeface;

/// A picture: 8-bit RGB, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RgbImage {
    /// Width, pixels.
    pub width: usize,
    /// Height, pixels.
    pub height: usize,
    /// `height * width * 3` bytes, row by row.
    pub pixels: Vec<u8>,
}

impl RgbImage {
    /// Colour at (row, col), or `None` outside.
    pub fn pixel(&self, row: usize, col: usize) -> Option<[u8; 3]> {
        if row >= self.height || col >= self.width {
            return None;
        }
        let at = (row * self.width + col) * 3;
        Some([self.pixels[at], self.pixels[at + 1], self.pixels[at + 2]])
    }
}

/// A rectangle in pixels; y points down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rect {
    pub x: f32,
    pub y: f32,
    pub w: f32,
    pub h: f32,
}

impl Rect {
    pub fn new(x: f32, y: f32, w: f32, h: f32) -> Rect {
        Rect { x, y, w, h }
    }

    pub fn right(self) -> f32 {
        self.x + self.w
    }

    pub fn bottom(self) -> f32 {
        self.y + self.h
    }

    fn intersection(self, other: Rect) -> Rect {
        let (x, y) = (self.x.max(other.x), self.y.max(other.y));
        let w = (self.right().min(other.right()) - x).max(0.0);
        let h = (self.bottom().min(other.bottom()) - y).max(0.0);
        Rect { x, y, w, h }
    }
}

/// Colours used throughout the figure.
pub(super) mod ink {
    use super::Rgb;
    pub const PAPER: Rgb = [255, 255, 255];
    pub const TEXT: Rgb = [24, 26, 30];
    pub const QUIET: Rgb = [92, 98, 108];
    pub const RULE: Rgb = [205, 209, 215];
    pub const AMBER: Rgb = [166, 84, 0];
    pub const CIRCLE: Rgb = [86, 214, 255];
    pub const EDGE: Rgb = [0, 44, 66];
}

/// An image being drawn, with its typeface and a clipping rectangle.
pub(super) struct Canvas {
    pub image: RgbImage,
    pub typeface: Typeface,
    clip: Rect,
}

impl Canvas {
    pub fn new(width: usize, height: usize) -> Result<Canvas, FigureError> {
        let pixels = ink::PAPER.repeat(width * height);
        Ok(Canvas {
            image: RgbImage {
                width,
                height,
                pixels,
            },
            typeface: Typeface::load()?,
            clip: Rect::new(0.0, 0.0, width as f32, height as f32),
        })
    }

    /// Draws with everything outside `region` left untouched.
    pub fn clipped(&mut self, region: Rect, draw: impl FnOnce(&mut Canvas)) {
        let before = self.clip;
        self.clip = before.intersection(region);
        draw(self);
        self.clip = before;
    }

    /// Mixes `colour` into one pixel with weight `coverage` (0 to 1).
    pub fn blend(&mut self, x: i64, y: i64, colour: Rgb, coverage: f32) {
        let (cx, cy) = (x as f32 + 0.5, y as f32 + 0.5);
        let inside = cx > self.clip.x
            && cx < self.clip.right()
            && cy > self.clip.y
            && cy < self.clip.bottom();
        if !inside || coverage <= 0.0 {
            return;
        }
        let coverage = coverage.min(1.0);
        let at = (y as usize * self.image.width + x as usize) * 3;
        for (old, new) in self.image.pixels[at..at + 3].iter_mut().zip(colour) {
            let mixed = f32::from(*old) + coverage * (f32::from(new) - f32::from(*old));
            *old = mixed.round() as u8;
        }
    }

    /// Visits the pixels that a rectangle touches, within the clip.
    pub fn for_each_pixel(&mut self, bounds: Rect, mut visit: impl FnMut(&mut Canvas, i64, i64)) {
        let bounds = bounds.intersection(self.clip);
        if bounds.w <= 0.0 || bounds.h <= 0.0 {
            return;
        }
        for y in bounds.y.floor() as i64..bounds.bottom().ceil() as i64 {
            for x in bounds.x.floor() as i64..bounds.right().ceil() as i64 {
                visit(self, x, y);
            }
        }
    }

    /// Fills a rectangle; partly covered edge pixels are mixed by their covered area.
    pub fn fill(&mut self, rect: Rect, colour: Rgb, opacity: f32) {
        let overlap = |low: f32, high: f32, pixel: i64| {
            (high.min(pixel as f32 + 1.0) - low.max(pixel as f32)).clamp(0.0, 1.0)
        };
        self.for_each_pixel(rect, |canvas, x, y| {
            let area = overlap(rect.x, rect.right(), x) * overlap(rect.y, rect.bottom(), y);
            canvas.blend(x, y, colour, area * opacity);
        });
    }

    /// Draws the outline of a rectangle just outside it.
    pub fn outline(&mut self, rect: Rect, width: f32, colour: Rgb) {
        let Rect { x, y, w, h } = rect;
        self.fill(
            Rect::new(x - width, y - width, w + 2.0 * width, width),
            colour,
            1.0,
        );
        self.fill(
            Rect::new(x - width, y + h, w + 2.0 * width, width),
            colour,
            1.0,
        );
        self.fill(Rect::new(x - width, y, width, h), colour, 1.0);
        self.fill(Rect::new(x + w, y, width, h), colour, 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fractional_rectangle_covers_its_area() {
        let mut canvas = Canvas::new(20, 20).unwrap();
        canvas.fill(Rect::new(2.25, 3.5, 10.5, 6.25), [0, 0, 0], 1.0);
        let dark: f64 = canvas
            .image
            .pixels
            .chunks(3)
            .map(|p| (255.0 - f64::from(p[0])) / 255.0)
            .sum();
        assert!((dark - 10.5 * 6.25).abs() < 0.1, "{dark}");
    }

    #[test]
    fn nothing_is_drawn_outside_the_clip_or_the_canvas() {
        let mut canvas = Canvas::new(10, 10).unwrap();
        canvas.clipped(Rect::new(2.0, 2.0, 3.0, 3.0), |canvas| {
            canvas.fill(Rect::new(-50.0, -50.0, 200.0, 200.0), [0, 0, 0], 1.0);
        });
        let dark = canvas.image.pixels.chunks(3).filter(|p| p[0] == 0).count();
        assert_eq!(dark, 9);
        canvas.fill(Rect::new(-5.0, 8.0, 100.0, 100.0), [9, 9, 9], 1.0);
        assert_eq!(canvas.image.pixel(9, 9), Some([9, 9, 9]));
        assert_eq!(canvas.image.pixel(10, 0), None);
    }
}
