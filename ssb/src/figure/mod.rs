//! Figures of a result: phase, power spectrum, mean pattern, loss against trial, C10–C12 scatter, aberration table.
//!
//! Pure functions: plain data in ([`FigureData`]), an [`RgbImage`] out, then PNG bytes. No file, device or system
//! library is touched; the typeface is compiled in. Arrays are never flipped: element (0, 0) is at the top left of
//! its panel, rows run down and columns to the right, and unequal pixel steps are drawn in their physical ratio.
//!
//! - [`render_figure`] composes everything, [`render_panel`] draws one [`Panel`] (`ssb show --panel NAME`).
//! - [`RgbImage::png`] encodes a picture, [`gray_png`] exports one array as a plain grey PNG (`ssb export --png`).

mod canvas;
mod colour_map;
mod compose;
mod contrast;
mod data;
mod encode;
mod error;
mod lettering;
mod loss;
mod marks;
mod numbers;
mod pattern;
mod phase;
mod picture;
mod scale_bar;
mod scatter;
mod spectrum;
mod table;

pub use canvas::RgbImage;
pub use compose::{Panel, render_figure, render_panel};
pub use data::{
    AberrationRow, Display, FigureData, MeanPattern, PhaseKind, Search, TermState, Trial,
};
pub use encode::{GrayDepth, GrayPng, gray_png};
pub use error::FigureError;
pub use scale_bar::{Quantity, ScaleBar};
pub use spectrum::{PowerSpectrum, power_spectrum};

#[cfg(test)]
mod tests;
