//! Anti-aliased lines, rings and plot marks, drawn from signed distances.

use super::canvas::{Canvas, Rect, ink};
use super::colour_map::Rgb;

/// A point (x, y) in pixels.
pub(super) type Point = (f32, f32);

impl Canvas {
    /// Colours every pixel by how far inside a shape its centre lies; `distance` is negative inside.
    fn shade(
        &mut self,
        bounds: Rect,
        colour: Rgb,
        opacity: f32,
        distance: impl Fn(f32, f32) -> f32,
    ) {
        self.for_each_pixel(bounds, |canvas, x, y| {
            let d = distance(x as f32 + 0.5, y as f32 + 0.5);
            canvas.blend(x, y, colour, (0.5 - d).clamp(0.0, 1.0) * opacity);
        });
    }

    /// A straight line with round ends.
    pub fn line(&mut self, a: Point, b: Point, width: f32, colour: Rgb) {
        let reach = width / 2.0 + 1.0;
        let (left, top) = (a.0.min(b.0) - reach, a.1.min(b.1) - reach);
        let bounds = Rect::new(
            left,
            top,
            a.0.max(b.0) + reach - left,
            a.1.max(b.1) + reach - top,
        );
        let (ux, uy) = (b.0 - a.0, b.1 - a.1);
        let length_squared = (ux * ux + uy * uy).max(1e-12);
        self.shade(bounds, colour, 1.0, |x, y| {
            let t = (((x - a.0) * ux + (y - a.1) * uy) / length_squared).clamp(0.0, 1.0);
            (x - a.0 - t * ux).hypot(y - a.1 - t * uy) - width / 2.0
        });
    }

    /// A filled disc.
    pub fn disc(&mut self, (cx, cy): Point, radius: f32, colour: Rgb, opacity: f32) {
        let reach = radius + 1.0;
        let bounds = Rect::new(cx - reach, cy - reach, 2.0 * reach, 2.0 * reach);
        self.shade(bounds, colour, opacity, |x, y| {
            (x - cx).hypot(y - cy) - radius
        });
    }

    /// The outline of an ellipse with semi-axes (x, y); `dash` is the number of dashes, 0 for a full line.
    pub fn ring(&mut self, (cx, cy): Point, semi: Point, width: f32, colour: Rgb, dash: u32) {
        let (a, b) = (semi.0.max(0.5), semi.1.max(0.5));
        let reach = width / 2.0 + 1.0;
        let bounds = Rect::new(
            cx - a - reach,
            cy - b - reach,
            2.0 * (a + reach),
            2.0 * (b + reach),
        );
        self.shade(bounds, colour, 1.0, |x, y| {
            let (x, y) = (x - cx, y - cy);
            if dash > 0 {
                let turn = (y / b).atan2(x / a) / std::f32::consts::TAU + 0.5;
                if (turn * dash as f32).fract() > 0.6 {
                    return f32::MAX;
                }
            }
            // distance to f = 1 to first order, f = |(x/a, y/b)|
            let f = (x / a).hypot(y / b).max(1e-6);
            let slope = (x / (a * a)).hypot(y / (b * b)) / f;
            ((f - 1.0) / slope.max(1e-9)).abs() - width / 2.0
        });
    }

    /// A ring with dark edges, to be seen on bright and dark ground.
    pub fn edged_ring(&mut self, center: Point, semi: Point, width: f32, colour: Rgb, dash: u32) {
        self.ring(center, semi, width + 2.4, ink::EDGE, dash);
        self.ring(center, semi, width, colour, dash);
    }

    /// A filled square standing on a corner.
    pub fn diamond(&mut self, (cx, cy): Point, radius: f32, colour: Rgb) {
        let reach = radius + 1.0;
        let bounds = Rect::new(cx - reach, cy - reach, 2.0 * reach, 2.0 * reach);
        self.shade(bounds, colour, 1.0, |x, y| {
            ((x - cx).abs() + (y - cy).abs() - radius) * std::f32::consts::FRAC_1_SQRT_2
        });
    }

    /// A diagonal cross.
    pub fn cross(&mut self, (cx, cy): Point, radius: f32, width: f32, colour: Rgb) {
        self.line(
            (cx - radius, cy - radius),
            (cx + radius, cy + radius),
            width,
            colour,
        );
        self.line(
            (cx - radius, cy + radius),
            (cx + radius, cy - radius),
            width,
            colour,
        );
    }

    /// An upright cross.
    pub fn plus(&mut self, (cx, cy): Point, radius: f32, width: f32, colour: Rgb) {
        self.line((cx - radius, cy), (cx + radius, cy), width, colour);
        self.line((cx, cy - radius), (cx, cy + radius), width, colour);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Darkness of black marks on white, in pixels.
    fn ink_area(draw: impl Fn(&mut Canvas)) -> f64 {
        let mut canvas = Canvas::new(120, 120).unwrap();
        draw(&mut canvas);
        canvas
            .image
            .pixels
            .chunks(3)
            .map(|p| (255.0 - f64::from(p[0])) / 255.0)
            .sum()
    }

    #[test]
    fn shapes_cover_their_areas() {
        use std::f64::consts::PI;
        let black = [0, 0, 0];
        let cases = [
            (
                "disc",
                ink_area(|c| c.disc((60.2, 59.7), 20.0, black, 1.0)),
                PI * 400.0,
            ),
            (
                "ring",
                ink_area(|c| c.ring((60.0, 60.0), (40.0, 40.0), 3.0, black, 0)),
                PI * 240.0,
            ),
            (
                "diamond",
                ink_area(|c| c.diamond((60.0, 60.0), 20.0, black)),
                800.0,
            ),
            (
                "line",
                ink_area(|c| c.line((20.0, 30.0), (90.0, 75.0), 4.0, black)),
                4.0 * 70f64.hypot(45.0) + PI * 4.0,
            ),
        ];
        for (name, area, expected) in cases {
            assert!(
                (area / expected - 1.0).abs() < 0.02,
                "{name}: {area} against {expected}"
            );
        }
    }
}
