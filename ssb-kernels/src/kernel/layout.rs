//! Where things lie in the buffers that the kernels share: on the host ([`Scan`]) and in the kernels
//! ([`Extent`]). Sizes travel at run time, so that one compiled kernel serves every scan; only the lines'
//! lengths are compiled in.

use cubecl::prelude::*;
use serde::Serialize;
use ssb_core::own_terms::OWN_TERMS;

/// What a problem and a candidate change in the generated code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Model {
    /// Detector steps that differ between rows and columns: an edge whose width depends on direction.
    pub unequal: bool,
    /// Weights of a thick, tilted specimen.
    pub thick: bool,
    /// Other terms than C10 and C12.
    pub polynomial: bool,
    /// Terms with a formula of their own among them.
    pub own: bool,
}

/// Sizes of the scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Scan {
    /// Scan rows.
    pub rows: usize,
    /// Scan columns.
    pub cols: usize,
}

/// Aperture shape at the head of the table of the acquisition: offset, slope, semi-angle, wavelength,
/// inner radius squared, rounded up to 8 floats.
pub const SHAPE_FLOATS: usize = 8;

/// Floats of one BF pixel: `|k|^2`, the same weighted with the squared detector steps, 1 where the
/// aperture is open (else 0), the floor of `|Gamma| / A(k)`, `A(k)`, `k` along rows and columns, unused.
pub const PIXEL_FLOATS: usize = 8;

/// Coefficients of the phase beyond C10 and C12 about one `k`: even degrees 2, 4, 6, then odd degrees 3, 5.
pub const EVEN_COEFFICIENTS: usize = 15;
/// See [`EVEN_COEFFICIENTS`].
pub const ODD_COEFFICIENTS: usize = 10;

/// Floats at the head of one candidate in the uploaded table: curvature, tilt along rows, tilt along columns,
/// unused; then coefficient (turns) and angle of every term with a formula of its own.
pub const HEAD_FLOATS: usize = 2 * HEAD_PAIRS;

/// The same as complex values in the table of a candidate.
pub const HEAD_PAIRS: usize = 2 + OWN_TERMS;

/// Floats of one BF pixel under one candidate in the uploaded table: the plane wave along rows and
/// columns in turns an index, each in a coarse and a fine part, then the coefficients.
pub const WAVE_FLOATS: usize = 4 + EVEN_COEFFICIENTS + ODD_COEFFICIENTS;

/// Complex values into which the coefficients of one BF pixel go, rounded up.
pub const COEFFICIENT_PAIRS: usize = 13;

impl Scan {
    /// Stored columns.
    #[must_use]
    pub fn half(self) -> usize {
        self.cols / 2 + 1
    }

    /// Scan positions.
    #[must_use]
    pub fn points(self) -> usize {
        self.rows * self.cols
    }

    /// Points of one stored half plane.
    #[must_use]
    pub fn plane(self) -> usize {
        self.rows * self.half()
    }

    /// Groups of four rows.
    #[must_use]
    pub fn row_blocks(self) -> usize {
        self.rows.div_ceil(ROW_BLOCK)
    }

    /// Complex values of one BF pixel in the blocked intermediate.
    #[must_use]
    pub fn intermediate(self) -> usize {
        self.row_blocks() * ROW_BLOCK * self.half()
    }

    /// Whether the rows have a Nyquist line.
    #[must_use]
    pub fn even_rows(self) -> bool {
        self.rows.is_multiple_of(2)
    }

    /// Whether the columns have a Nyquist line.
    #[must_use]
    pub fn even_cols(self) -> bool {
        self.cols.is_multiple_of(2)
    }

    /// Table of the acquisition: where the row axis begins (q, q^2, weighted q^2, each `rows` floats).
    #[must_use]
    pub fn row_axis(self) -> usize {
        SHAPE_FLOATS
    }

    /// Where the column axis begins (the same, `half` floats each).
    #[must_use]
    pub fn col_axis(self) -> usize {
        self.row_axis() + 3 * self.rows
    }

    /// Where the BF pixels of a block begin.
    #[must_use]
    pub fn pixels(self) -> usize {
        self.col_axis() + 3 * self.half()
    }

    /// Floats of one BF pixel: its own, then `2 k q` along rows and columns, and weighted likewise.
    #[must_use]
    pub fn pixel_floats(self, unequal: bool) -> usize {
        PIXEL_FLOATS + (self.rows + self.half()) * if unequal { 2 } else { 1 }
    }

    /// Table of a candidate: complex values of its quadratic phase, the half plane and then the
    /// negative columns of the Nyquist row.
    #[must_use]
    pub fn phase_pairs(self) -> usize {
        self.plane() + self.half()
    }

    /// Complex values of one BF pixel in the table of a candidate: the plane wave along rows and
    /// columns, the Nyquist row of S, the coefficients of a polynomial phase.
    #[must_use]
    pub fn wave_pairs(self, polynomial: bool) -> usize {
        self.rows + 2 * self.half() + if polynomial { COEFFICIENT_PAIRS } else { 0 }
    }

    /// Complex values of the whole table of one candidate for `pixels` BF pixels.
    #[must_use]
    pub fn candidate_pairs(self, polynomial: bool, pixels: usize) -> usize {
        HEAD_PAIRS + self.phase_pairs() + pixels * self.wave_pairs(polynomial)
    }
}

/// Rows that lie together in the intermediate, so that both passes move whole sectors.
pub const ROW_BLOCK: usize = 4;

/// [`Scan`] inside a kernel.
#[derive(CubeType, Clone, Copy)]
pub(crate) struct Extent {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    /// Stored columns.
    pub(crate) half: usize,
}

#[cube]
impl Extent {
    pub(crate) fn new(rows: usize, cols: usize) -> Extent {
        Extent {
            rows,
            cols,
            half: cols / 2 + 1,
        }
    }

    /// [`Scan::plane`].
    pub(crate) fn plane(&self) -> usize {
        self.rows * self.half
    }

    /// [`Scan::intermediate`].
    pub(crate) fn intermediate(&self) -> usize {
        self.rows.div_ceil(ROW_BLOCK) * ROW_BLOCK * self.half
    }

    /// [`Scan::even_rows`].
    pub(crate) fn even_rows(&self) -> bool {
        self.rows & 1 == 0
    }

    /// Whether `col` is the Nyquist line of an even number of columns.
    pub(crate) fn nyquist_col(&self, col: usize) -> bool {
        2 * col == self.cols
    }

    /// [`Scan::col_axis`].
    pub(crate) fn col_axis(&self) -> usize {
        SHAPE_FLOATS + 3 * self.rows
    }

    /// Where stored BF pixel `stored` begins in the table of the acquisition.
    pub(crate) fn pixel(&self, stored: usize, #[comptime] unequal: bool) -> usize {
        let each = PIXEL_FLOATS + (self.rows + self.half) * comptime!(if unequal { 2 } else { 1 });
        SHAPE_FLOATS + 3 * (self.rows + self.half) + stored * each
    }

    /// Where BF pixel `pixel` of a pack begins in the table of the candidate that begins at `candidate`.
    pub(crate) fn wave(
        &self,
        candidate: usize,
        pixel: usize,
        #[comptime] polynomial: bool,
    ) -> usize {
        let each =
            self.rows + 2 * self.half + comptime!(if polynomial { COEFFICIENT_PAIRS } else { 0 });
        candidate + comptime!(HEAD_PAIRS) + self.plane() + self.half + pixel * each
    }
}
