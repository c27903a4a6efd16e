//! The data of an earlier result, opened and gathered again as they were then, to look at its other trials.

use std::path::{Path, PathBuf};

use ssb_core::{BfOptions, Calibration, CalibrationHints, Control, Provenance};
use ssb_io::LoadPlan;

use crate::source::options_of;
use crate::{Acquisition, AcquisitionOptions, Error, HotPixels, open};

fn hints(calibration: &Calibration) -> CalibrationHints {
    let c = calibration.clone();
    CalibrationHints {
        voltage_kv: Some(c.voltage_kv),
        semiangle_mrad: Some(c.semiangle_mrad),
        scan_step_a: Some(c.scan_step_a),
        det_step_mrad: Some(c.det_step_mrad),
        det_step_per_a: None,
        rotation_deg: Some(c.rotation_deg),
    }
}

/// Where to read, and how much it may take.
#[derive(Debug, Clone, Default)]
pub struct ReplayOptions {
    /// The data, where they are no longer where the result says.
    pub source: Option<PathBuf>,
    /// Threads that decode; `None` is one per core.
    pub threads: Option<usize>,
    /// The most memory that columns and buffers may take; `None` is what is free.
    pub max_memory_bytes: Option<u64>,
}

impl Acquisition {
    /// Gathers the data of an earlier result again, with its selection, calibration and disk.
    ///
    /// # Errors
    /// Data that are not where the result says (the file is named), or are others than they were; those of
    /// [`Acquisition::gather`].
    pub fn again(
        provenance: &Provenance,
        options: &ReplayOptions,
        control: &Control,
        tell: &(dyn Fn(&LoadPlan) + Sync),
    ) -> Result<Self, Error> {
        let recorded = &provenance.source;
        let path = options
            .source
            .as_deref()
            .unwrap_or_else(|| Path::new(&recorded.path));
        let shown = path.display();
        if !path.exists() {
            return Err(Error::request(
                "--source",
                format!("the data of this result, {shown}, are not there"),
                "give --source FILE",
            ));
        }
        let unknown = |e: String| {
            Error::request(
                "provenance",
                format!("its source options are not those of this version ({e})"),
                "compute the result again",
            )
        };
        let opened = options_of(&recorded.options["open"]).map_err(unknown)?;
        let disk: BfOptions = serde_json::from_value(recorded.options["disk"].clone())
            .map_err(|e| unknown(e.to_string()))?;
        let excluded = recorded.options.get("hot_pixels_excluded").is_some();
        let source = open(path, &opened)?;
        let gathered = Self::gather_telling(
            &source,
            &AcquisitionOptions {
                calibration: hints(&provenance.calibration),
                disk,
                hot_pixels: if excluded {
                    HotPixels::Exclude
                } else {
                    HotPixels::Off
                },
                threads: options.threads,
                max_memory_bytes: options.max_memory_bytes,
            },
            control,
            tell,
        )?;
        if gathered.record.content_sha256 != recorded.content_sha256 {
            return Err(Error::request(
                "--source",
                format!(
                    "{shown} does not hold the counts that this result was made of (SHA-256 {} now, {} then)",
                    gathered.record.content_sha256, recorded.content_sha256
                ),
                "give --source FILE with the original data",
            ));
        }
        Ok(gathered)
    }
}
