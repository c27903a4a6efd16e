//! The data sets of the independent NumPy reference (float64, literal) with its answers.
//!
//! The fixtures lie in `ssb-testkit/refdata` and are read at run time, so that the program does not
//! carry them; `convert.py` beside them says how they were made and in which layout.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use serde::Deserialize;
use ssb_core::ndarray::{Array2, Axis};
use ssb_core::num_complex::Complex64;
use ssb_core::{
    BfDisk, Calibration, Candidate, Columns, Evidence, Geometry, Problem, Sample, Sourced,
};

use crate::Error;

/// Names of the data sets.
pub const NAMES: [&str; 3] = ["wpo64", "rect", "sto128"];

/// One candidate with the scalars that the reference found.
#[derive(Debug, Clone, Deserialize)]
pub struct RefCase {
    /// Label, e.g. `true`; arrays are named after it.
    pub label: String,
    /// The bright-field disk it belongs to: `fitted`, `true_center` or `wide`.
    pub disk: String,
    /// The candidate.
    pub candidate: Candidate,
    /// Phase variance in rad^2.
    pub loss: f64,
    /// Agreement S, where the reference has it.
    pub agreement: Option<f64>,
    /// Degenerate fraction, where the reference has it.
    pub degenerate_fraction: Option<f64>,
    /// BF pixels with a zero aperture, where the reference counted them.
    pub zero_aperture_pixels: Option<usize>,
}

#[derive(Debug, Deserialize)]
struct Disk {
    center_px: [f64; 2],
    radius_px: f64,
    columns: Vec<usize>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    name: String,
    dtype: String,
    shape: Vec<usize>,
}

#[derive(Debug, Deserialize)]
struct Header {
    voltage_kv: f64,
    semiangle_mrad: f64,
    scan_step_a: [f64; 2],
    det_step_mrad: [f64; 2],
    rotation_deg: f64,
    scan_shape: [usize; 2],
    dc: f64,
    wavelength_a: f64,
    debug_bf_index: usize,
    pixels: Vec<[u32; 2]>,
    disks: BTreeMap<String, Disk>,
    cases: Vec<RefCase>,
    arrays: Vec<Entry>,
}

/// A data set with the reference's answers.
#[derive(Debug)]
pub struct RefData {
    /// Name, one of [`NAMES`].
    pub name: String,
    /// Calibration as the reference used it.
    pub calibration: Calibration,
    /// Candidates with expected scalars.
    pub cases: Vec<RefCase>,
    /// `mean_b G_b(0)` of the fitted disk in counts.
    pub dc: f64,
    /// Electron wavelength in Å.
    pub wavelength_a: f64,
    /// The BF pixel (of the fitted disk) whose intermediates `dbg_G`, `dbg_gamma`, `dbg_C` and
    /// `dbg_O` are given, for the candidate `true`.
    pub debug_bf_index: usize,
    /// Sum of all patterns, shape (detector rows, detector cols).
    pub pattern_sum: Array2<f64>,
    scan_shape: [usize; 2],
    pixels: Vec<[u32; 2]>,
    disks: BTreeMap<String, Disk>,
    columns: Columns,
    reals: BTreeMap<String, Array2<f64>>,
    complexes: BTreeMap<String, Array2<Complex64>>,
}

/// Reads one data set.
///
/// # Errors
/// [`Error::Refdata`] naming the file or array that is missing or malformed.
pub fn load(name: &str) -> Result<RefData, Error> {
    let fault = |problem: String| Error::Refdata {
        name: name.into(),
        problem,
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("refdata");
    let text = std::fs::read_to_string(folder.join(format!("{name}.json")))
        .map_err(|e| fault(format!("{name}.json: {e}")))?;
    let header: Header =
        serde_json::from_str(&text).map_err(|e| fault(format!("{name}.json: {e}")))?;
    let packed = std::fs::read(folder.join(format!("{name}.bin.gz")))
        .map_err(|e| fault(format!("{name}.bin.gz: {e}")))?;
    let mut blob = Vec::new();
    GzDecoder::new(&packed[..])
        .read_to_end(&mut blob)
        .map_err(|e| fault(format!("{name}.bin.gz: {e}")))?;

    let mut reals = BTreeMap::new();
    let mut complexes = BTreeMap::new();
    let mut columns = None;
    let mut rest = &blob[..];
    for entry in &header.arrays {
        let wrong = |what: &str| fault(format!("array {}: {what}", entry.name));
        let &[rows, cols] = &entry.shape[..] else {
            return Err(wrong("expected two axes"));
        };
        let shape = (rows, cols);
        match entry.dtype.as_str() {
            "float64" => {
                let words = take(&mut rest, rows * cols).ok_or_else(|| wrong("truncated"))?;
                reals.insert(
                    entry.name.clone(),
                    array(shape, words.into_iter().map(f64::from_le_bytes)),
                );
            }
            "complex128" => {
                let words = take(&mut rest, 2 * rows * cols).ok_or_else(|| wrong("truncated"))?;
                let pairs = words
                    .chunks_exact(2)
                    .map(|p| Complex64::new(f64::from_le_bytes(p[0]), f64::from_le_bytes(p[1])));
                complexes.insert(entry.name.clone(), array(shape, pairs));
            }
            "complex64" => {
                let words = take(&mut rest, 2 * rows * cols).ok_or_else(|| wrong("truncated"))?;
                let pairs = words.chunks_exact(2).map(|p| {
                    let [re, im] = [p[0], p[1]].map(f32::from_le_bytes).map(f64::from);
                    Complex64::new(re, im)
                });
                complexes.insert(entry.name.clone(), array(shape, pairs));
            }
            "uint32" => {
                let words = take(&mut rest, rows * cols).ok_or_else(|| wrong("truncated"))?;
                let values = words.into_iter().map(|w| f64::from(u32::from_le_bytes(w)));
                reals.insert(entry.name.clone(), array(shape, values));
            }
            "uint16" => {
                let words = take(&mut rest, rows * cols).ok_or_else(|| wrong("truncated"))?;
                columns = Some(Columns::U16(array(
                    shape,
                    words.into_iter().map(u16::from_le_bytes),
                )));
            }
            "uint8" => {
                let words = take(&mut rest, rows * cols).ok_or_else(|| wrong("truncated"))?;
                columns = Some(Columns::U8(array(
                    shape,
                    words.into_iter().map(u8::from_le_bytes),
                )));
            }
            other => return Err(wrong(&format!("unknown type {other}"))),
        }
    }
    if !rest.is_empty() {
        return Err(fault(format!("{} bytes are left over", rest.len())));
    }
    let sourced = |value| Sourced::new(value, "reference data");
    let pair = |value| Sourced::new(value, "reference data");
    Ok(RefData {
        name: name.into(),
        calibration: Calibration {
            voltage_kv: sourced(header.voltage_kv),
            semiangle_mrad: sourced(header.semiangle_mrad),
            scan_step_a: pair(header.scan_step_a),
            det_step_mrad: pair(header.det_step_mrad),
            rotation_deg: sourced(header.rotation_deg),
        },
        cases: header.cases,
        dc: header.dc,
        wavelength_a: header.wavelength_a,
        debug_bf_index: header.debug_bf_index,
        pattern_sum: reals
            .remove("pattern_sum")
            .ok_or_else(|| fault("no array pattern_sum".into()))?,
        scan_shape: header.scan_shape,
        pixels: header.pixels,
        disks: header.disks,
        columns: columns.ok_or_else(|| fault("no array of columns".into()))?,
        reals,
        complexes,
    })
}

/// The next `count` words of `W` bytes, whose bytes are stored plane by plane.
fn take<const W: usize>(rest: &mut &[u8], count: usize) -> Option<Vec<[u8; W]>> {
    let (planes, after) = rest.split_at_checked(count * W)?;
    *rest = after;
    let word = |i: usize| std::array::from_fn(|byte| planes[byte * count + i]);
    Some((0..count).map(word).collect())
}

fn array<T: Clone + Default>(shape: (usize, usize), values: impl Iterator<Item = T>) -> Array2<T> {
    let mut out = Array2::default(shape);
    for (to, from) in out.iter_mut().zip(values) {
        *to = from;
    }
    out
}

fn rows_of<T: Sample>(all: &Array2<T>, rows: &[usize]) -> Columns {
    T::columns(all.select(Axis(0), rows))
}

impl RefData {
    fn part(&self, disk: &str) -> Result<&Disk, Error> {
        self.disks.get(disk).ok_or_else(|| Error::Refdata {
            name: self.name.clone(),
            problem: format!("no disk {disk}; there are {:?}", self.disks.keys()),
        })
    }

    /// The bright-field disk `fitted`, `true_center` or `wide`.
    ///
    /// # Errors
    /// [`Error::Refdata`] for a disk that this data set lacks.
    pub fn disk(&self, disk: &str) -> Result<BfDisk, Error> {
        let part = self.part(disk)?;
        Ok(BfDisk {
            center_px: part.center_px,
            radius_px: part.radius_px,
            pixels: part.columns.iter().map(|i| self.pixels[*i]).collect(),
        })
    }

    /// Geometry and counts of a disk, ready to be prepared by a backend.
    ///
    /// # Errors
    /// [`Error::Refdata`] for a disk that this data set lacks.
    pub fn problem(&self, disk: &str) -> Result<Problem, Error> {
        let rows = &self.part(disk)?.columns;
        let columns = match &self.columns {
            Columns::U8(all) => rows_of(all, rows),
            Columns::U16(all) => rows_of(all, rows),
            other => {
                return Err(Error::Refdata {
                    name: self.name.clone(),
                    problem: format!("columns of uint8 or uint16, found {}", other.dtype()),
                });
            }
        };
        let geometry = Geometry::new(&self.calibration, self.scan_shape, &self.disk(disk)?)?;
        Ok(Problem::new(
            geometry,
            Evidence::new(self.scan_shape, columns)?,
        )?)
    }

    /// The case with this label.
    ///
    /// # Errors
    /// [`Error::Refdata`] when there is none.
    pub fn case(&self, label: &str) -> Result<&RefCase, Error> {
        self.cases
            .iter()
            .find(|c| c.label == label)
            .ok_or_else(|| Error::Refdata {
                name: self.name.clone(),
                problem: format!("no case {label}"),
            })
    }

    /// The mean phase of a case in radians, where it is kept.
    #[must_use]
    pub fn mean_phase_rad(&self, label: &str) -> Option<&Array2<f64>> {
        self.reals.get(&format!("{label}_mean_phase"))
    }

    /// The object of a case in counts, where it is kept; finer ones (2 and 3) as complex64.
    #[must_use]
    pub fn object(&self, label: &str, upsample: usize) -> Option<&Array2<Complex64>> {
        self.complexes.get(&match upsample {
            1 => format!("{label}_object"),
            u => format!("{label}_object_x{u}"),
        })
    }

    /// An intermediate of the debug pixel: `G`, `gamma`, `C` or `O`.
    #[must_use]
    pub fn debug(&self, what: &str) -> Option<&Array2<Complex64>> {
        self.complexes.get(&format!("dbg_{what}"))
    }
}
