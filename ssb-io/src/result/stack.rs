//! The phases of a series in one file.

use std::io;
use std::path::Path;

use hdf5_pure::{AttrValue, FileBuilder};
use hdf5_reader::Hdf5File;
use ndarray::Array2;
use ssb_core::ndarray;

use super::write::replace;
use crate::IoError;

/// Root attribute that marks a stack, and the version it holds.
const MARK: &str = "ssb_phase_stack_version";
const VERSION: i64 = 1;

/// Phase images of one shape and one pixel size.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseStack {
    /// Names of the acquisitions, in order.
    pub names: Vec<String>,
    /// Phase of each in radians.
    pub phases_rad: Vec<Array2<f32>>,
    /// Exact loss of each in rad².
    pub losses: Vec<f64>,
    /// Step between pixels (row, col) in Å.
    pub step_a: [f64; 2],
    /// Program and version.
    pub program: String,
}

impl PhaseStack {
    /// Writes `/phase` float32 `[n, R, C]` with `/name` and `/loss`; an older file is replaced only by a complete
    /// one.
    ///
    /// # Errors
    /// [`IoError::System`] when the disk refuses, or for phases of several shapes.
    pub fn write(&self, path: &Path) -> Result<(), IoError> {
        replace(path, || self.build())
    }

    fn build(&self) -> io::Result<FileBuilder> {
        let text = |value: &str| AttrValue::VarLenString(value.into());
        let (rows, cols) = self.phases_rad.first().map_or((0, 0), Array2::dim);
        if self.phases_rad.iter().any(|p| p.dim() != (rows, cols)) {
            return Err(io::Error::other("phases of several shapes are no stack"));
        }
        let values: Vec<f32> = self.phases_rad.iter().flatten().copied().collect();
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let mut builder = FileBuilder::new();
        builder.set_attr(MARK, AttrValue::I64(VERSION));
        builder.set_attr("program", text(&self.program));
        builder
            .create_dataset("phase")
            .with_f32_data(&values)
            .with_shape(&[names.len() as u64, rows as u64, cols as u64])
            .set_attr("units", text("rad"))
            .set_attr("axes", text("acquisition,scan_row,scan_col"))
            .set_attr("step_a", AttrValue::F64Array(self.step_a.to_vec()));
        builder.create_dataset("name").with_vlen_strings(&names);
        builder
            .create_dataset("loss")
            .with_f64_data(&self.losses)
            .set_attr("units", text("rad^2"));
        Ok(builder)
    }

    /// Whether a file is such a stack.
    #[must_use]
    pub fn is_stack(path: &Path) -> bool {
        let version = || -> Option<i64> {
            let file = Hdf5File::open(path).ok()?;
            let root = file.root_group().ok()?;
            root.attribute(MARK).ok()?.read_scalar().ok()
        };
        version().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_holds_what_it_was_given() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("phases.h5");
        let mut stack = PhaseStack {
            names: vec!["scan_2".into(), "scan_10".into()],
            phases_rad: (0..2_u8)
                .map(|n| Array2::from_shape_fn((3, 4), |(r, c)| f32::from(n) + (r * 4 + c) as f32))
                .collect(),
            losses: vec![0.1, 0.2],
            step_a: [0.25, 0.3],
            program: "ssb 0".into(),
        };
        stack.write(&path).unwrap();
        assert!(PhaseStack::is_stack(&path));
        let file = Hdf5File::open(&path).unwrap();
        let phase = file.dataset("phase").unwrap();
        assert_eq!(phase.shape(), [2, 3, 4]);
        let values: ndarray::ArrayD<f32> = phase.read_array().unwrap();
        assert_eq!(values[[1, 2, 3]], 12.0);
        assert_eq!(
            file.dataset("name").unwrap().read_strings().unwrap(),
            stack.names
        );
        let losses: ndarray::ArrayD<f64> = file.dataset("loss").unwrap().read_array().unwrap();
        assert_eq!(losses.into_raw_vec_and_offset().0, stack.losses);
        stack.phases_rad[1] = Array2::zeros((3, 5));
        assert!(stack.write(&path).is_err());
        assert!(PhaseStack::is_stack(&path) && !PhaseStack::is_stack(folder.path()));
    }
}
