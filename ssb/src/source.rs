//! An opened data set that remembers how it was opened.

use std::ops::Deref;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use ssb_io::{MaskChoice, OpenOptions, Region, ScanOrder};

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
    let _span = tracing::info_span!("open", path = %path.as_ref().display()).entered();
    Ok(Source {
        inner: ssb_io::open(path.as_ref(), options)?,
        options: options.clone(),
    })
}

impl Source {
    /// Selection and orientation as given, for the provenance.
    pub(crate) fn options_record(&self) -> Value {
        let o = &self.options;
        let mut record = json!({
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
        });
        // Results of whole scans say nothing of regions.
        if let Some(region) = o.region {
            record["region"] = json!({
                "rows": region.rows,
                "cols": region.cols,
                "of": self.whole_scan(),
            });
        }
        record
    }

    /// How it was opened.
    #[cfg(feature = "view")]
    pub(crate) fn options(&self) -> &OpenOptions {
        &self.options
    }

    /// The region that is used, for people.
    pub(crate) fn region_in_words(&self) -> Option<String> {
        region_in_words(self.options_record().get("region")?)
    }
}

/// The region in the options of a [`ssb_core::SourceRecord`], also that of the data which a companion was made
/// of.
pub(crate) fn region_of(record: &Value) -> Option<&Value> {
    let own = |r: &'_ Value| r.get("open").is_some_and(|o| o.get("region").is_some());
    let record = if own(record) {
        record
    } else {
        record.get("converted_from")?.get("options")?
    };
    record.get("open")?.get("region")
}

/// A region for people.
pub(crate) fn region_in_words(region: &Value) -> Option<String> {
    let range =
        |key: &str| -> Option<[usize; 2]> { serde_json::from_value(region.get(key)?.clone()).ok() };
    let ([r0, r1], [c0, c1], [rows, cols]) = (range("rows")?, range("cols")?, range("of")?);
    Some(format!(
        "region: rows {r0} to {r1}, columns {c0} to {c1} (ends not included) of {rows} x {cols}"
    ))
}

/// The options behind an [`Source::options_record`]; the error names the part that is of no known kind.
pub(crate) fn options_of(record: &Value) -> Result<OpenOptions, String> {
    fn part<T: DeserializeOwned>(record: &Value, key: &str) -> Result<T, String> {
        let value = record.get(key).cloned().unwrap_or_default();
        serde_json::from_value(value).map_err(|e| format!("{key}: {e}"))
    }
    let region: Option<Value> = part(record, "region")?;
    let region = region.map(|r| -> Result<Region, String> {
        Ok(Region {
            rows: part(&r, "rows")?,
            cols: part(&r, "cols")?,
        })
    });
    Ok(OpenOptions {
        dataset: part(record, "dataset")?,
        scan_shape: part(record, "scan_shape")?,
        skip_frames: part(record, "skip_frames")?,
        flyback_cols: part(record, "flyback_cols")?,
        scan_order: match part::<String>(record, "scan_order")?.as_str() {
            "raster" => ScanOrder::Raster,
            "serpentine" => ScanOrder::Serpentine,
            other => return Err(format!("scan_order: `{other}`")),
        },
        complete_rows_only: part(record, "complete_rows_only")?,
        region: region.transpose()?,
        transpose: part(record, "transpose")?,
        flip_rows: part(record, "flip_rows")?,
        flip_cols: part(record, "flip_cols")?,
        mask: match part::<String>(record, "mask")?.as_str() {
            "file" => MaskChoice::FromFile,
            "none" => MaskChoice::None,
            path => MaskChoice::File(path.into()),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_come_back_from_their_record() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("frames.npy");
        let frames =
            ndarray::Array3::<i32>::from_shape_fn((40, 5, 6), |(n, r, c)| (n + r * c) as i32);
        ssb_io::npy::write_i32(&path, frames.view()).unwrap();
        let mask = folder.path().join("mask.npy");
        ssb_io::npy::write_i32(&mask, ndarray::Array2::<i32>::zeros((5, 6)).view()).unwrap();
        let all = OpenOptions {
            scan_shape: Some([5, 7]),
            skip_frames: 2,
            flyback_cols: 1,
            scan_order: ScanOrder::Serpentine,
            complete_rows_only: true,
            region: Some(Region {
                rows: [1, 4],
                cols: [0, 6],
            }),
            transpose: true,
            flip_rows: true,
            flip_cols: true,
            mask: MaskChoice::File(mask),
            dataset: None,
        };
        let plain = OpenOptions {
            scan_shape: Some([5, 8]),
            mask: MaskChoice::None,
            ..OpenOptions::default()
        };
        for options in [all, plain] {
            let source = open(&path, &options).unwrap();
            assert_eq!(options_of(&source.options_record()), Ok(options));
        }
        assert!(options_of(&Value::Null).is_err());
    }
}
