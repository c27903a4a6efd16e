//! The data ready for a backend: calibration, bright-field disk, mean pattern and the counts of the
//! disk's pixels.

use ssb_core::ndarray::Array2;
pub use ssb_core::{BfDisk, BfOptions, Calibration, Geometry, SourceRecord, Sourced};
use ssb_core::{CalibrationHints, Control, Evidence, Problem, merge_calibration};
pub use ssb_io::{LoadPlan, MaskChoice, Region, ScanOrder};

pub use crate::counts::Counts;
pub use crate::curl::RotationEstimate;
use crate::{Error, Source, counts};

/// What is done about pixels that are not masked and reach the largest value of their type, or the saturation that
/// the file states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HotPixels {
    /// Nothing.
    Off,
    /// They are counted and listed.
    #[default]
    Report,
    /// They are listed and left out like masked ones.
    Exclude,
}

/// How the disk is chosen and what is known of the calibration.
#[derive(Debug, Clone, Default)]
pub struct AcquisitionOptions {
    /// Values that win over those of the file.
    pub calibration: CalibrationHints,
    /// Choice of the bright-field disk; the default fits it.
    pub disk: BfOptions,
    /// What is done about pixels that reach the largest value.
    pub hot_pixels: HotPixels,
    /// Threads that decode; `None` is one per core.
    pub threads: Option<usize>,
    /// The most memory that columns and buffers may take; `None` is what is free.
    pub max_memory_bytes: Option<u64>,
}

/// What a backend needs of a data set, and what a result records of it.
#[derive(Debug)]
pub struct Acquisition {
    /// Checked calibration with the origin of each value.
    pub calibration: Calibration,
    /// The bright-field disk.
    pub disk: BfDisk,
    /// Mean counts of each detector pixel, masked ones 0.
    pub mean_pattern: Array2<f64>,
    /// Good detector pixels; `None` when all are.
    pub mask: Option<Array2<bool>>,
    /// Geometry in Å, 1/Å and radians.
    pub geometry: Geometry,
    /// The data that went in, with their hash.
    pub record: SourceRecord,
    /// Sentences for people.
    pub warnings: Vec<String>,
    pub(crate) evidence: Evidence,
}

/// Says so when the disk overlaps no shifted copy of itself, so that there is nothing to reconstruct from.
fn overlap_warning(geometry: &Geometry) -> Option<String> {
    let least = [geometry.q_row_per_a(), geometry.q_col_per_a()]
        .iter()
        .filter_map(|q| q.get(1).copied())
        .fold(f64::INFINITY, f64::min);
    let widest = 2.0 * geometry.semiangle_rad / geometry.wavelength_a;
    (least >= widest).then(|| {
        format!(
            "overlap: the lowest scan frequency, {least:.3} 1/Å, lies beyond twice the semi-angle ({widest:.3} 1/Å): no two \
             disks overlap; check --scan-step-a and --semiangle-mrad, or scan a larger field"
        )
    })
}

/// What the disk's size says about the calibration.
fn disk_warnings(
    disk: &BfDisk,
    calibration: &Calibration,
    det_shape: (usize, usize),
) -> Vec<String> {
    let mut warnings = Vec::new();
    let last = [det_shape.0, det_shape.1].map(|n| n as f64 - 0.5);
    let beyond = (0..2)
        .map(|axis| {
            let (centre, radius) = (disk.center_px[axis], disk.radius_px);
            (radius - centre - 0.5).max(centre + radius - last[axis])
        })
        .fold(0.0, f64::max);
    // Half a pixel is within what the fit of a disk can tell.
    if beyond > 0.5 {
        warnings.push(format!(
            "bright-field disk: cut by the edge of the detector, which it passes by {beyond:.1} pixels; what lies beyond is \
             missing from every sum"
        ));
    }
    if 2.0 * disk.radius_px < 4.0 {
        warnings.push(format!(
            "bright-field disk: only {:.1} pixels across; use a finer detector step (less binning)",
            2.0 * disk.radius_px
        ));
    }
    let [row, col] = calibration.det_step_mrad.value;
    let measured = disk.radius_px * (row * col).sqrt();
    let stated = calibration.semiangle_mrad.value;
    if (measured / stated - 1.0).abs() > 0.1 {
        warnings.push(format!(
            "calibration: the disk's radius of {:.2} px is {measured:.2} mrad with the stated \
             detector step, but the semi-angle is {stated} mrad; check --det-step-mrad, \
             --semiangle-mrad and --bf-radius-px",
            disk.radius_px
        ));
    }
    warnings
}

impl Acquisition {
    /// Reads the mean pattern, finds the disk and gathers the counts of its pixels.
    ///
    /// # Errors
    /// A missing calibration value, a disk that cannot be found, samples that do not read, NaN
    /// among the counts, or cancelled.
    pub fn gather(
        source: &Source,
        options: &AcquisitionOptions,
        control: &Control,
    ) -> Result<Self, Error> {
        Self::gather_telling(source, options, control, &|_| {})
    }

    /// [`Acquisition::gather`] that tells its plan before anything large is reserved.
    ///
    /// # Errors
    /// As [`Acquisition::gather`].
    pub fn gather_telling(
        source: &Source,
        options: &AcquisitionOptions,
        control: &Control,
        tell: &(dyn Fn(&LoadPlan) + Sync),
    ) -> Result<Self, Error> {
        counts::on_threads(options.threads, || {
            Self::read(source, options, control, tell)
        })
    }

    fn read(
        source: &Source,
        options: &AcquisitionOptions,
        control: &Control,
        tell: &(dyn Fn(&LoadPlan) + Sync),
    ) -> Result<Self, Error> {
        let _span = tracing::info_span!("gather counts").entered();
        let (calibration, notes) = merge_calibration(&options.calibration, source.calibration())?;
        let mut warnings = source.warnings().to_vec();
        warnings.extend(notes);
        let counts = Counts::read(source, options, control, tell)?;
        let record = counts.record(source, options)?;
        let Counts {
            pattern,
            disk,
            evidence,
            warnings: of_counts,
        } = counts;
        warnings.extend(of_counts);
        warnings.extend(disk_warnings(&disk, &calibration, pattern.mean.dim()));
        let [rows, cols, ..] = source.shape();
        let geometry = Geometry::new(&calibration, [rows, cols], &disk)?;
        warnings.extend(overlap_warning(&geometry));
        Ok(Self {
            geometry,
            calibration,
            disk,
            mean_pattern: pattern.mean,
            mask: source.mask().cloned(),
            record,
            warnings,
            evidence,
        })
    }

    /// Takes the counts out for a backend; the rest stays.
    pub(crate) fn into_problem(self) -> Result<(Problem, AcquisitionFacts), Error> {
        // The phase variance compares bright-field pixels, and their counts over the scan.
        if self.evidence.len() < 2 || !self.evidence.varies() {
            return Err(ssb_core::Error::BadEvidence {
                object: "bright-field counts".into(),
                expected: "two or more pixels whose counts vary over the scan".into(),
                found: if self.evidence.len() < 2 {
                    "a disk of one pixel (a hot pixel?)".into()
                } else {
                    format!("{} pixels with constant counts", self.evidence.len())
                },
                action:
                    "give --bf-center and --bf-radius-px, mask hot pixels with --mask, or check \
                         the data"
                        .into(),
            }
            .into());
        }
        let problem = Problem::new(self.geometry.clone(), self.evidence)?;
        let facts = AcquisitionFacts {
            calibration: self.calibration,
            disk: self.disk,
            mean_pattern: self.mean_pattern,
            mask: self.mask,
            geometry: self.geometry,
            record: self.record,
        };
        Ok((problem, facts))
    }
}

/// All of an [`Acquisition`] but its counts.
#[derive(Debug, Clone)]
pub(crate) struct AcquisitionFacts {
    pub calibration: Calibration,
    pub disk: BfDisk,
    pub mean_pattern: Array2<f64>,
    pub mask: Option<Array2<bool>>,
    pub geometry: Geometry,
    pub record: SourceRecord,
}
