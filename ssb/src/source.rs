//! An opened data set that remembers how it was opened.

use std::ops::Deref;
use std::path::Path;

use serde_json::{Value, json};
#[cfg(feature = "view")]
use ssb_io::ScanOrder;
use ssb_io::{MaskChoice, OpenOptions};

use crate::Error;

/// A 4D-STEM data set with the options it was opened with; see [`ssb_io::Source`].
#[derive(Debug, Clone)]
pub struct Source {
    inner: ssb_io::Source,
    options: OpenOptions,
}

impl Deref for Source {
    type Target = ssb_io::Source;

    fn deref(&self) -> &Self::Target {
        &self.inner
    }
}

/// Opens a data file, a master file, or a folder with one master; no sample is read yet.
///
/// # Errors
/// [`Error::Io`] naming the file, the object, what was expected and found, and what to do.
///
/// ```
/// let error = ssb::open("no-such-file.h5", &ssb::OpenOptions::default()).unwrap_err();
/// assert_eq!((error.kind(), error.exit_code()), ("not_found", 1));
/// ```
pub fn open(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Source, Error> {
    Ok(Source {
        inner: ssb_io::open(path.as_ref(), options)?,
        options: options.clone(),
    })
}

impl Source {
    /// Selection and orientation as given, for the provenance.
    pub(crate) fn options_record(&self) -> Value {
        let o = &self.options;
        json!({
            "dataset": o.dataset,
            "scan_shape": o.scan_shape,
            "skip_frames": o.skip_frames,
            "flyback_cols": o.flyback_cols,
            "scan_order": format!("{:?}", o.scan_order).to_lowercase(),
            "complete_rows_only": o.complete_rows_only,
            "transpose": o.transpose,
            "flip_rows": o.flip_rows,
            "flip_cols": o.flip_cols,
            "mask": match &o.mask {
                MaskChoice::FromFile => Value::from("file"),
                MaskChoice::None => Value::from("none"),
                MaskChoice::File(path) => Value::from(path.display().to_string()),
            },
        })
    }

    /// The options of a record; what it does not say stays at its default.
    #[cfg(feature = "view")]
    pub(crate) fn recorded_options(record: &Value) -> OpenOptions {
        let (text, flag) = (
            |key: &str| record[key].as_str().map(str::to_owned),
            |key: &str| record[key].as_bool().unwrap_or_default(),
        );
        let count = |key: &str| record[key].as_u64().unwrap_or_default() as usize;
        OpenOptions {
            dataset: text("dataset"),
            scan_shape: serde_json::from_value(record["scan_shape"].clone()).unwrap_or_default(),
            skip_frames: count("skip_frames"),
            flyback_cols: count("flyback_cols"),
            scan_order: match record["scan_order"].as_str() {
                Some("serpentine") => ScanOrder::Serpentine,
                _ => ScanOrder::Raster,
            },
            complete_rows_only: flag("complete_rows_only"),
            transpose: flag("transpose"),
            flip_rows: flag("flip_rows"),
            flip_cols: flag("flip_cols"),
            mask: match text("mask").as_deref() {
                None | Some("file") => MaskChoice::FromFile,
                Some("none") => MaskChoice::None,
                Some(path) => MaskChoice::File(path.into()),
            },
        }
    }
}
