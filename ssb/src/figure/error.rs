//! What can be wrong with the data of a figure.

use super::Panel;

/// Why a figure, a panel or a PNG could not be made.
#[derive(Debug, thiserror::Error)]
pub enum FigureError {
    /// An array has no element.
    #[error("{name} has shape {rows} x {cols}; a picture needs at least one row and one column")]
    Empty {
        /// Which array.
        name: &'static str,
        /// Its rows.
        rows: usize,
        /// Its columns.
        cols: usize,
    },
    /// An array holds NaN or infinity outside its masked pixels.
    #[error(
        "{name} holds {count} values that are not finite, the first at (row {row}, col {col}); \
         list such pixels as masked or repair the result before drawing it"
    )]
    NotFinite {
        /// Which array.
        name: &'static str,
        /// How many such values.
        count: usize,
        /// Row of the first.
        row: usize,
        /// Column of the first.
        col: usize,
    },
    /// A number must be finite and above zero.
    #[error("{name} is {value}; it must be a finite number above 0")]
    NotPositive {
        /// Which number, with its unit.
        name: &'static str,
        /// What was given.
        value: f64,
    },
    /// A number must be finite.
    #[error("{name} is {value}; it must be a finite number")]
    NotANumber {
        /// Which number, with its unit.
        name: String,
        /// What was given.
        value: f64,
    },
    /// A masked pixel lies outside the mean pattern.
    #[error(
        "masked pixel (row {row}, col {col}) lies outside the mean pattern of {rows} x {cols}; \
         use the mask in the orientation of the pattern"
    )]
    MaskOutside {
        /// Its row.
        row: usize,
        /// Its column.
        col: usize,
        /// Rows of the pattern.
        rows: usize,
        /// Columns of the pattern.
        cols: usize,
    },
    /// The best trial is not among the trials.
    #[error("the best trial is number {best} (from 0), but there are {trials} trials")]
    BestTrial {
        /// Its index.
        best: usize,
        /// How many trials.
        trials: usize,
    },
    /// Contrast percentiles must rise within 0 to 100.
    #[error("contrast percentiles are {low} and {high}; expected 0 <= low < high <= 100")]
    Percentiles {
        /// Lower percentile.
        low: f64,
        /// Upper percentile.
        high: f64,
    },
    /// No panel has this name.
    #[error("no panel is called {name:?}; choose one of {}", Panel::names())]
    UnknownPanel {
        /// What was asked for.
        name: String,
    },
    /// The data for this panel are not there.
    #[error("panel {panel} cannot be drawn: {reason}")]
    Unavailable {
        /// Which panel.
        panel: Panel,
        /// What is missing.
        reason: &'static str,
    },
    /// The compiled-in typeface could not be read.
    #[error("the built-in typeface could not be read: {0}; rebuild the program from clean sources")]
    Typeface(#[from] ab_glyph::InvalidFont),
    /// The PNG encoder failed.
    #[error("the PNG could not be encoded: {0}")]
    Png(#[from] png::EncodingError),
}
