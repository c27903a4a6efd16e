//! What a caller may say about a file: which dataset, which scan, which orientation, which mask.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

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

/// Part of a scan: half-open ranges of its rows and columns, without flyback.
///
/// ```
/// let region: ssb_io::Region = "10:50,0:64".parse()?;
/// assert_eq!((region.rows, region.cols), ([10, 50], [0, 64]));
/// assert_eq!(region.to_string(), "10:50,0:64");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// First row, and the one behind the last.
    pub rows: [usize; 2],
    /// First column, and the one behind the last.
    pub cols: [usize; 2],
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([r0, r1], [c0, c1]) = (self.rows, self.cols);
        write!(f, "{r0}:{r1},{c0}:{c1}")
    }
}

impl FromStr for Region {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let range = |text: &str| -> Option<[usize; 2]> {
            let (from, to) = text.split_once(':')?;
            Some([from.trim().parse().ok()?, to.trim().parse().ok()?])
        };
        let both = || {
            let (rows, cols) = text.split_once(',')?;
            Some((range(rows)?, range(cols)?))
        };
        both()
            .map(|(rows, cols)| Self { rows, cols })
            .ok_or_else(|| format!("expected R0:R1,C0:C1 as in 10:50,0:64, found `{text}`"))
    }
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
    /// The part of the scan that is used; `None` is all of it.
    pub region: Option<Region>,
    /// Transpose the detector; applied first.
    pub transpose: bool,
    /// Reverse the detector's rows; applied second.
    pub flip_rows: bool,
    /// Reverse the detector's columns; applied third.
    pub flip_cols: bool,
    /// Which detector pixels are left out.
    pub mask: MaskChoice,
}
