//! The data ready for a backend: calibration, bright-field disk, mean pattern and the counts of the
//! disk's pixels.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use ssb_core::ndarray::Array2;
use ssb_core::{
    BfDisk, BfOptions, Calibration, CalibrationHints, Columns, Control, Evidence, Geometry,
    Problem, SourceRecord, merge_calibration, select_bf,
};

use crate::{Error, Source};

/// How the disk is chosen and what is known of the calibration.
#[derive(Debug, Clone, Default)]
pub struct AcquisitionOptions {
    /// Values that win over those of the file.
    pub calibration: CalibrationHints,
    /// Choice of the bright-field disk; the default fits it.
    pub disk: BfOptions,
    /// Whether pixels at the type's largest value are left unsaid.
    pub ignore_hot_pixels: bool,
    /// Threads that decode; `None` is one per core.
    pub threads: Option<usize>,
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
    evidence: Evidence,
}

fn update<'a, T: Copy + 'a, const N: usize>(
    hash: &mut Sha256,
    values: impl IntoIterator<Item = &'a T>,
    bytes: impl Fn(T) -> [u8; N],
) {
    let mut buffer = Vec::with_capacity(1 << 16);
    for value in values {
        buffer.extend(bytes(*value));
        if buffer.len() >= 1 << 16 {
            hash.update(&buffer);
            buffer.clear();
        }
    }
    hash.update(&buffer);
}

/// SHA-256 of the mean pattern and of every column, little-endian.
fn content_hash(mean: &Array2<f64>, columns: &Columns) -> Result<String, Error> {
    let mut hash = Sha256::new();
    update(&mut hash, mean, f64::to_le_bytes);
    let h = &mut hash;
    match columns {
        Columns::U8(a) => update(h, a, u8::to_le_bytes),
        Columns::U16(a) => update(h, a, u16::to_le_bytes),
        Columns::U32(a) => update(h, a, u32::to_le_bytes),
        Columns::I8(a) => update(h, a, i8::to_le_bytes),
        Columns::I16(a) => update(h, a, i16::to_le_bytes),
        Columns::I32(a) => update(h, a, i32::to_le_bytes),
        Columns::F32(a) => update(h, a, f32::to_le_bytes),
        Columns::F64(a) => update(h, a, f64::to_le_bytes),
        other => {
            return Err(ssb_core::Error::Internal(format!(
                "columns of {} cannot be hashed",
                other.dtype()
            ))
            .into());
        }
    }
    Ok(hex(&hash.finalize()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn mask_record(source: &Source) -> Value {
    source.mask().map_or(Value::Null, |mask| {
        let bytes: Vec<u8> = mask.iter().map(|good| u8::from(!good)).collect();
        json!({
            "source": source.mask_source(),
            "masked_pixels": source.masked_pixels(),
            "sha256": hex(&Sha256::digest(&bytes)),
        })
    })
}

/// What the disk's size says about the calibration.
fn disk_warnings(disk: &BfDisk, calibration: &Calibration) -> Vec<String> {
    let mut warnings = Vec::new();
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
        let Some(threads) = options.threads else {
            return Self::read(source, options, control);
        };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|e| ssb_core::Error::Internal(format!("no threads: {e}")))?;
        pool.install(|| Self::read(source, options, control))
    }

    fn read(
        source: &Source,
        options: &AcquisitionOptions,
        control: &Control,
    ) -> Result<Self, Error> {
        let (calibration, notes) = merge_calibration(&options.calibration, source.calibration())?;
        let mut warnings = source.warnings().to_vec();
        warnings.extend(notes);
        let shape = source.shape();
        let pattern = source.mean_pattern(control)?;
        if pattern.saturated_pixels > 0 && !options.ignore_hot_pixels {
            warnings.push(format!(
                "{} pixels that are not masked reach the largest value of {}: dead, hot or \
                 saturated (--mask leaves pixels out)",
                pattern.saturated_pixels,
                source.dtype()
            ));
        }
        let disk = select_bf(pattern.mean.view(), source.mask(), &options.disk)?;
        warnings.extend(disk_warnings(&disk, &calibration));
        let geometry = Geometry::new(&calibration, [shape[0], shape[1]], &disk)?;
        // A pixel whose samples are all NaN has a mean of 0 and is not selected, but lies in the disk.
        let mut wanted = pattern.non_finite_pixels.clone();
        wanted.retain(|p| disk.contains(*p) && !disk.pixels.contains(p));
        if !wanted.is_empty() {
            source.gather(&wanted, control)?;
        }
        let evidence = source.gather(&disk.pixels, control)?;
        if pattern.non_finite > 0 {
            warnings.push(format!(
                "{} samples outside the bright-field disk are NaN or infinite and count as 0 in \
                 the mean pattern",
                pattern.non_finite
            ));
        }
        let record = SourceRecord {
            path: source.path().display().to_string(),
            layout: source.layout().to_owned(),
            dataset: source.dataset().to_owned(),
            shape,
            dtype: source.dtype().to_owned(),
            content_sha256: content_hash(&pattern.mean, evidence.columns())?,
            options: json!({"open": source.options_record(), "disk": options.disk}),
            mask: mask_record(source),
        };
        Ok(Self {
            calibration,
            disk,
            mean_pattern: pattern.mean,
            mask: source.mask().cloned(),
            geometry,
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
