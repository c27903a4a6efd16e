//! The plain data that a figure is drawn from, and the checks made before drawing.

use super::FigureError;
use ndarray::{Array2, ArrayView2};

/// Which of the two phase pictures is shown; they differ and must be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseKind {
    /// `arg(mean over b of O_b)`: the phase of the mean object.
    OfMeanObject,
    /// `mean over b of arg(O_b)`: the mean phase, which belongs to the loss.
    MeanPhase,
}

impl PhaseKind {
    pub(super) fn label(self) -> &'static str {
        match self {
            PhaseKind::OfMeanObject => "Phase of the mean object",
            PhaseKind::MeanPhase => "Mean phase over BF pixels",
        }
    }
}

/// Everything a figure shows.
///
/// Axes are (row, col). Nothing here refers to a device, a file or another type of the workspace.
#[derive(Clone, Debug)]
pub struct FigureData {
    /// Headline, for example the name of the source file.
    pub title: String,
    /// Second line, for example backend, device, seed and version.
    pub subtitle: String,
    /// Phase, shape `[R, C]`, radians.
    pub phase: Array2<f32>,
    /// Which phase it is.
    pub phase_kind: PhaseKind,
    /// Step between pixels of `phase` (row, col), Å; after upsampling, so scan step over upsampling factor.
    pub pixel_step_a: [f64; 2],
    /// Semi-angle over wavelength, 1/Å.
    pub semiangle_per_a: f64,
    /// Amplitude of the mean object on the grid of `phase`; any normalisation.
    pub amplitude: Option<Array2<f32>>,
    /// Mean diffraction pattern with its bright-field disk.
    pub pattern: MeanPattern,
    /// The search for aberrations; `None` when they were taken as given.
    pub search: Option<Search>,
    /// One row per aberration term to list.
    pub aberrations: Vec<AberrationRow>,
    /// Short `(name, value)` pairs listed under the table, such as `("voltage", "300 kV")`.
    pub facts: Vec<(String, String)>,
    /// Warnings of the run, one sentence each.
    pub warnings: Vec<String>,
    /// How to show it.
    pub display: Display,
}

/// Mean diffraction pattern and the bright-field disk found in it.
#[derive(Clone, Debug)]
pub struct MeanPattern {
    /// Mean counts, shape `[kr, kc]`.
    pub counts: Array2<f32>,
    /// Masked detector pixels (row, col); their counts may be anything, NaN included.
    pub masked: Vec<[usize; 2]>,
    /// Centre of the disk (row, col), pixels.
    pub bf_center_px: [f64; 2],
    /// Radius of the disk, pixels.
    pub bf_radius_px: f64,
    /// Number of bright-field pixels used.
    pub bf_pixels: usize,
    /// Number of those with a non-zero aperture.
    pub bf_active: usize,
    /// Detector step (row, col), mrad.
    pub det_step_mrad: [f64; 2],
}

/// The trials of a search, in the order they were evaluated.
#[derive(Clone, Debug)]
pub struct Search {
    /// All exact evaluations, the start first.
    pub trials: Vec<Trial>,
    /// Index of the best one in `trials`.
    pub best: usize,
}

/// One exact evaluation.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Phase variance, rad²; not finite when the evaluation failed.
    pub loss: f64,
    /// Who asked: `start`, `tpe`, `random`, `grid`, `guided`, `nelder-mead`, `gradient`, or another name.
    pub method: String,
    /// True when most frequencies carried no information at this candidate (its loss cannot be compared).
    pub degenerate: bool,
    /// C10 and C12 of the candidate, nm; `None` when the search did not move them.
    pub c10_c12_nm: Option<[f64; 2]>,
}

/// How a value of the table came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermState {
    /// Found by the search.
    Fitted,
    /// Held during the search.
    Fixed,
    /// Taken as given, no search.
    AsGiven,
    /// The start of a search that did not improve on it.
    Start,
}

impl TermState {
    pub(crate) fn label(self) -> &'static str {
        match self {
            TermState::Fitted => "fitted",
            TermState::Fixed => "fixed",
            TermState::AsGiven => "as given",
            TermState::Start => "start",
        }
    }
}

/// One aberration term of the table.
#[derive(Clone, Debug)]
pub struct AberrationRow {
    /// Name such as `C10` or `C12`.
    pub name: String,
    /// Value, nm.
    pub value_nm: f64,
    /// Angle, rad; `None` for rotationally symmetric terms.
    pub angle_rad: Option<f64>,
    /// How the value came about.
    pub state: TermState,
    /// How the angle came about, where that differs.
    pub angle_state: Option<TermState>,
    /// Range searched for the value, nm.
    pub range_nm: Option<[f64; 2]>,
    /// True value, nm, when the data are simulated.
    pub truth_nm: Option<f64>,
    /// True angle, rad, when the data are simulated.
    pub truth_angle_rad: Option<f64>,
}

/// Choices that change the picture, never the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Display {
    /// Lower and upper percentile of the phase and amplitude contrast; default 0.5 and 99.5.
    pub contrast_percent: [f64; 2],
    /// Show log10 of the mean pattern; default linear.
    pub log_pattern: bool,
}

impl Default for Display {
    fn default() -> Self {
        Display {
            contrast_percent: [0.5, 99.5],
            log_pattern: false,
        }
    }
}

impl FigureData {
    /// Refuses data that cannot be drawn truthfully.
    pub(super) fn check(&self) -> Result<(), FigureError> {
        finite("phase", self.phase.view())?;
        if let Some(amplitude) = &self.amplitude {
            finite("amplitude", amplitude.view())?;
        }
        let pattern = &self.pattern;
        let (rows, cols) = pattern.counts.dim();
        let mut unmasked = pattern.counts.clone();
        for &[row, col] in &pattern.masked {
            match unmasked.get_mut((row, col)) {
                Some(count) => *count = 0.0,
                None => {
                    return Err(FigureError::MaskOutside {
                        row,
                        col,
                        rows,
                        cols,
                    });
                }
            }
        }
        finite("mean pattern", unmasked.view())?;
        for (name, value) in [
            ("pixel step along rows, Å,", self.pixel_step_a[0]),
            ("pixel step along columns, Å,", self.pixel_step_a[1]),
            ("semi-angle over wavelength, 1/Å,", self.semiangle_per_a),
            ("detector step along rows, mrad,", pattern.det_step_mrad[0]),
            (
                "detector step along columns, mrad,",
                pattern.det_step_mrad[1],
            ),
            ("radius of the bright-field disk, px,", pattern.bf_radius_px),
        ] {
            if !(value.is_finite() && value > 0.0) {
                return Err(FigureError::NotPositive { name, value });
            }
        }
        for value in pattern.bf_center_px {
            number("centre of the bright-field disk, px,", value)?;
        }
        for row in &self.aberrations {
            number(&row.name, row.value_nm)?;
            number(
                &format!("angle of {}", row.name),
                row.angle_rad.unwrap_or(0.0),
            )?;
        }
        if let Some(search) = &self.search
            && search.best >= search.trials.len()
        {
            return Err(FigureError::BestTrial {
                best: search.best,
                trials: search.trials.len(),
            });
        }
        let [low, high] = self.display.contrast_percent;
        super::contrast::check_percentiles(low, high)
    }
}

fn number(name: &str, value: f64) -> Result<(), FigureError> {
    if value.is_finite() {
        return Ok(());
    }
    Err(FigureError::NotANumber {
        name: name.to_string(),
        value,
    })
}

/// Checks that an array has elements and that all are finite.
pub(super) fn finite(name: &'static str, values: ArrayView2<'_, f32>) -> Result<(), FigureError> {
    let (rows, cols) = values.dim();
    if rows == 0 || cols == 0 {
        return Err(FigureError::Empty { name, rows, cols });
    }
    let mut bad = values
        .indexed_iter()
        .filter(|(_, value)| !value.is_finite())
        .map(|(at, _)| at);
    match bad.next() {
        None => Ok(()),
        Some((row, col)) => Err(FigureError::NotFinite {
            name,
            count: 1 + bad.count(),
            row,
            col,
        }),
    }
}
