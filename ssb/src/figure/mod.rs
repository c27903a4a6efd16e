//! Figures of a result: phase, power spectrum, mean pattern, loss against trial, C10–C12 scatter, aberration table.
//!
//! Pure functions: plain data in ([`FigureData`]), an [`RgbImage`] out, then PNG bytes. No file, device or system
//! library is touched; the typeface is compiled in. Arrays are never flipped: element (0, 0) is at the top left of
//! its panel, rows run down and columns to the right, and unequal pixel steps are drawn in their physical ratio.
//!
//! - [`render_figure`] composes everything, [`render_panel`] draws one [`Panel`] (`ssb show --panel NAME`).
//! - [`render_trials`] sets phase images of several trials side by side (`ssb show --trials best=5`).
//! - [`RgbImage::png`] encodes a picture, [`gray_png`] exports one array as a plain grey PNG (`ssb export --png`).
//!
//! ```
//! use ndarray::Array2;
//! use ssb::figure::{
//!     AberrationRow, Display, FigureData, MeanPattern, Panel, PhaseKind, TermState, render_panel,
//! };
//!
//! let data = FigureData {
//!     title: "scan.h5".into(),
//!     subtitle: "backend cpu".into(),
//!     phase: Array2::from_shape_fn((64, 64), |(row, col)| 0.1 * ((row + 2 * col) as f32).sin()),
//!     phase_kind: PhaseKind::OfMeanObject,
//!     pixel_step_a: [0.25, 0.25],
//!     semiangle_per_a: 30e-3 / 0.019687,
//!     amplitude: None,
//!     pattern: MeanPattern {
//!         counts: Array2::ones((32, 32)),
//!         masked: vec![],
//!         bf_center_px: [15.5, 15.5],
//!         bf_radius_px: 10.3,
//!         bf_pixels: 332,
//!         bf_active: 308,
//!         det_step_mrad: [2.85, 2.85],
//!     },
//!     search: None,
//!     aberrations: vec![AberrationRow {
//!         name: "C10".into(),
//!         value_nm: 15.0,
//!         angle_rad: None,
//!         state: TermState::AsGiven,
//!         angle_state: None,
//!         range_nm: None,
//!         truth_nm: None,
//!         truth_angle_rad: None,
//!     }],
//!     facts: vec![("beam".into(), "300 kV, semi-angle 30 mrad".into())],
//!     warnings: vec![],
//!     display: Display::default(),
//! };
//! let png: Vec<u8> = render_panel(&data, Panel::Phase)?.png()?;
//! assert_eq!(&png[1..4], b"PNG");
//! # Ok::<(), ssb::figure::FigureError>(())
//! ```

mod canvas;
mod colour_map;
mod compose;
mod contrast;
mod data;
mod encode;
mod error;
mod lettering;
mod loss;
mod loss_axis;
mod marks;
mod numbers;
mod pattern;
mod phase;
mod picture;
mod scale_bar;
mod scatter;
mod spectrum;
mod table;
mod trials;

#[cfg(feature = "view")]
pub(crate) use colour_map::tables as colour_tables;

pub use canvas::RgbImage;
pub use compose::{Panel, render_figure, render_panel};
pub use data::{
    AberrationRow, Display, FigureData, MeanPattern, PhaseKind, Search, TermState, Trial,
};
pub use encode::{GrayDepth, GrayPng, gray_png};
pub use error::FigureError;
pub use scale_bar::{Quantity, ScaleBar};
pub use spectrum::{PowerSpectrum, power_spectrum};
pub use trials::{TrialPicture, render_trials};

#[cfg(test)]
mod tests;
