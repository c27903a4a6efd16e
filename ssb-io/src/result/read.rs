//! Reading a result file.

use std::path::{Path, PathBuf};

use hdf5_reader::{Dataset, Datatype, H5Type, Hdf5File};
use ndarray::Array2;
use num_complex::Complex32;
use serde::de::DeserializeOwned;
use ssb_core::{Provenance, ndarray};

use super::candidate_columns::candidates_from;
use super::{MARK, Outcome, ROTATION_GIVEN, ResultFile, Trial, VERSION};
use crate::hdf5::Container;
use crate::{Fault, IoError};

/// An open result file.
struct Reader {
    path: PathBuf,
    bytes: u64,
    file: Hdf5File,
}

pub(super) fn read(path: &Path) -> Result<ResultFile, IoError> {
    let reader = Reader::open(path)?;
    let object = reader.object()?;
    let outcome = Outcome {
        best: reader.best()?,
        loss: reader.number("loss")?,
        degenerate_fraction: reader.number("degenerate_fraction")?,
        agreement: reader.optional_number("agreement"),
        gain: reader.optional_number("gain"),
        fitted: reader.whole("fitted")? != 0,
        cancelled: reader.whole("cancelled")? != 0,
        estimator: reader.text_attribute("estimator")?,
        upsample: usize::try_from(reader.whole("upsample")?)
            .map_err(|e| reader.damaged("attribute upsample", "a positive number", &e))?,
        details: reader.json("details")?,
    };
    Ok(ResultFile {
        object,
        phase_rad: reader.image("phase")?,
        amplitude: reader.image("amplitude")?,
        mean_phase_rad: reader
            .has("mean_phase")
            .then(|| reader.image("mean_phase"))
            .transpose()?,
        other_branch_phase_rad: reader
            .has("other_branch_phase")
            .then(|| reader.image("other_branch_phase"))
            .transpose()?,
        mean_pattern: reader.image("mean_pattern")?,
        outcome,
        trials: reader.trials()?,
        provenance: reader.json("provenance")?,
    })
}

pub(super) fn read_provenance(path: &Path) -> Result<Provenance, IoError> {
    Reader::open(path)?.json("provenance")
}

impl Reader {
    fn open(path: &Path) -> Result<Self, IoError> {
        // The container's checks tell empty, foreign and truncated files apart.
        let bytes = Container::open(path)?.file().len();
        let file = Hdf5File::open(path).map_err(|e| crate::hdf5::parse_error(path, "", &e))?;
        let reader = Self {
            path: path.to_owned(),
            bytes,
            file,
        };
        match reader.optional_whole(MARK) {
            Some(VERSION) => Ok(reader),
            found => Err(IoError::NotAResult(
                Fault::of(path)
                    .object(format!("attribute {MARK}"))
                    .expected(VERSION.to_string())
                    .found(found.map_or("no such attribute".into(), |v| v.to_string()))
                    .action("give a file written by ssb fit or ssb reconstruct of this version"),
            )),
        }
    }

    fn damaged(&self, object: &str, expected: &str, found: &dyn std::fmt::Display) -> IoError {
        IoError::BadResult(
            Fault::of(&self.path)
                .object(object)
                .expected(expected)
                .found(found.to_string())
                .action("compute the result again"),
        )
    }

    fn attribute(&self, name: &str) -> Option<hdf5_reader::Attribute> {
        self.file.root_group().ok()?.attribute(name).ok()
    }

    fn optional_whole(&self, name: &str) -> Option<i64> {
        self.attribute(name)?.read_scalar::<i64>().ok()
    }

    fn optional_number(&self, name: &str) -> Option<f64> {
        self.attribute(name)?.read_scalar::<f64>().ok()
    }

    fn absent(&self, name: &str) -> IoError {
        self.damaged(&format!("attribute {name}"), "a value", &"nothing")
    }

    fn whole(&self, name: &str) -> Result<i64, IoError> {
        self.optional_whole(name).ok_or_else(|| self.absent(name))
    }

    fn number(&self, name: &str) -> Result<f64, IoError> {
        self.optional_number(name).ok_or_else(|| self.absent(name))
    }

    fn text_attribute(&self, name: &str) -> Result<String, IoError> {
        let read = || self.attribute(name)?.read_string().ok();
        read().ok_or_else(|| self.absent(name))
    }

    fn has(&self, name: &str) -> bool {
        self.file.dataset(name).is_ok()
    }

    /// A dataset, after a look at whether the file can hold what it declares.
    fn required(&self, name: &str) -> Result<Dataset, IoError> {
        let dataset = self
            .file
            .dataset(name)
            .map_err(|e| self.damaged(name, "a dataset", &e))?;
        let bytes = dataset
            .raw_byte_len()
            .map_err(|e| self.damaged(name, "a size", &e))?;
        if bytes as u64 > self.bytes {
            let found = format!("{bytes} bytes in a file of {}", self.bytes);
            return Err(self.damaged(name, "no more than the file holds", &found));
        }
        Ok(dataset)
    }

    fn values<T: H5Type>(&self, name: &str) -> Result<ndarray::ArrayD<T>, IoError> {
        self.required(name)?
            .read_array()
            .map_err(|e| self.damaged(name, "readable values", &e))
    }

    fn column<T: H5Type>(&self, name: &str) -> Result<Vec<T>, IoError> {
        Ok(self.values(name)?.into_iter().collect())
    }

    fn image(&self, name: &str) -> Result<Array2<f32>, IoError> {
        self.values(name)?
            .into_dimensionality()
            .map_err(|e| self.damaged(name, "two axes", &e))
    }

    fn object(&self) -> Result<Array2<Complex32>, IoError> {
        let dataset = self.required("object")?;
        let expected = "float32 pairs (r, i) on two axes";
        let is_complex = matches!(
            dataset.dtype(),
            Datatype::Compound { size: 8, fields }
                if fields.iter().map(|f| f.name.as_str()).eq(["r", "i"])
        );
        let (true, [rows, cols]) = (is_complex, dataset.shape()) else {
            let found = format!("{:?} of shape {:?}", dataset.dtype(), dataset.shape());
            return Err(self.damaged("object", expected, &found));
        };
        let shape = [*rows as usize, *cols as usize];
        let raw = dataset
            .read_raw_bytes()
            .map_err(|e| self.damaged("object", expected, &e))?;
        let float = |bytes: &[u8]| {
            let mut little = [0; 4];
            little.copy_from_slice(bytes);
            f32::from_le_bytes(little)
        };
        let values = raw
            .chunks_exact(8)
            .map(|z| Complex32::new(float(&z[..4]), float(&z[4..])))
            .collect();
        Array2::from_shape_vec(shape, values).map_err(|e| self.damaged("object", expected, &e))
    }

    fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T, IoError> {
        let text = self
            .required(name)?
            .read_string()
            .map_err(|e| self.damaged(name, "one text", &e))?;
        serde_json::from_str(&text).map_err(|e| self.damaged(name, "JSON of this version", &e))
    }

    fn candidates(&self, group: &str, count: usize) -> Result<Vec<ssb_core::Candidate>, IoError> {
        candidates_from(count, |name| {
            let path = format!("{group}/{name}");
            if !self.has(&path) {
                return Ok(None);
            }
            let values: Vec<f64> = self.column(&path)?;
            if values.len() == count {
                Ok(Some(values))
            } else {
                Err(self.damaged(&path, &format!("{count} values"), &values.len()))
            }
        })
    }

    fn best(&self) -> Result<ssb_core::Candidate, IoError> {
        self.required("best/C10_nm")?;
        let best = self.candidates("best", 1)?.pop();
        best.ok_or_else(|| self.damaged("best", "one candidate", &"none"))
    }

    fn trials(&self) -> Result<Vec<Trial>, IoError> {
        if !self.has("trials/number") {
            return Ok(Vec::new());
        }
        let numbers: Vec<i64> = self.column("trials/number")?;
        let count = numbers.len();
        let methods = self
            .required("trials/method")?
            .read_strings()
            .map_err(|e| self.damaged("trials/method", "texts", &e))?;
        let losses: Vec<f64> = self.column("trials/loss")?;
        let agreements: Vec<f64> = if self.has("trials/agreement") {
            self.column("trials/agreement")?
        } else {
            vec![f64::NAN; count]
        };
        let degenerate: Vec<f64> = self.column("trials/degenerate_fraction")?;
        let eligible: Vec<u8> = self.column("trials/eligible")?;
        let lengths = [
            methods.len(),
            losses.len(),
            agreements.len(),
            degenerate.len(),
            eligible.len(),
        ];
        if lengths != [count; 5] {
            let found = format!("{lengths:?} values");
            return Err(self.damaged("trials", &format!("{count} values a column"), &found));
        }
        let mut candidates = self.candidates("trials", count)?;
        let given = format!("trials/{ROTATION_GIVEN}");
        if self.has(&given) {
            let given: Vec<u8> = self.column(&given)?;
            for (candidate, given) in candidates.iter_mut().zip(given) {
                candidate.rotation_deg = candidate.rotation_deg.filter(|_| given != 0);
            }
        }
        let rows = candidates.into_iter().zip(methods).enumerate();
        Ok(rows
            .map(|(i, (candidate, method))| Trial {
                number: numbers[i] as u64,
                method,
                candidate,
                loss: losses[i],
                agreement: Some(agreements[i]).filter(|s| !s.is_nan()),
                degenerate_fraction: degenerate[i],
                eligible: eligible[i] != 0,
            })
            .collect())
    }
}
