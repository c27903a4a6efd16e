//! What a caller may say about a file: which dataset, which scan, which orientation, which mask.

use std::path::PathBuf;

/// The order in which the probe visits the scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScanOrder {
    /// Every row from left to right.
    #[default]
    Raster,
    /// Odd rows run from right to left.
    Serpentine,
}

/// Which detector pixels are left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum MaskChoice {
    /// Those that the data file marks as bad.
    #[default]
    FromFile,
    /// None.
    None,
    /// Those that are not 0 in this NPY file (the detector as stored, before the transforms).
    File(PathBuf),
}

/// How a file is read. The default takes everything from the file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OpenOptions {
    /// Path of the object inside the container.
    pub dataset: Option<String>,
    /// Scan `(rows, cols)` that are kept, without the flyback columns.
    pub scan_shape: Option<[usize; 2]>,
    /// Frames before the first scan position.
    pub skip_frames: usize,
    /// Frames at the end of each line that are dropped.
    pub flyback_cols: usize,
    /// The order of the scan.
    pub scan_order: ScanOrder,
    /// Keep the whole rows of a stopped scan.
    pub complete_rows_only: bool,
    /// Transpose the detector; applied first.
    pub transpose: bool,
    /// Reverse the detector's rows; applied second.
    pub flip_rows: bool,
    /// Reverse the detector's columns; applied third.
    pub flip_cols: bool,
    /// Which detector pixels are left out.
    pub mask: MaskChoice,
}
