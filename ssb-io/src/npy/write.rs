//! Writing NPY files: to a temporary name beside the target, then renamed.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use num_complex::Complex32;
use ssb_core::ndarray::{ArrayView, Dimension};

use crate::IoError;

/// The name an unfinished file has.
fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    path.with_file_name(name)
}

fn write<T: Copy, D: Dimension>(
    path: &Path,
    array: ArrayView<'_, T, D>,
    descr: &str,
    put: impl Fn(T, &mut dyn Write) -> io::Result<()>,
) -> Result<(), IoError> {
    let part = unfinished(path);
    let whole = || -> io::Result<()> {
        let mut out = BufWriter::new(File::create(&part)?);
        out.write_all(&header(descr, array.shape()))?;
        for value in array.iter() {
            put(*value, &mut out)?;
        }
        out.into_inner()
            .map_err(io::IntoInnerError::into_error)?
            .sync_all()?;
        std::fs::rename(&part, path)
    };
    whole().map_err(|error| {
        // The error that matters is the first one.
        let _ = std::fs::remove_file(&part);
        IoError::system(path, &error)
    })
}

/// A version 1 header, padded so that the data start at a multiple of 64 bytes.
fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let items: Vec<String> = shape.iter().map(|n| format!("{n},")).collect();
    let text = format!(
        "{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}), }}",
        items.join(" ")
    );
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    let mut out = super::header::MAGIC.to_vec();
    out.extend([1, 0]);
    out.extend((length as u16).to_le_bytes());
    out.extend(text.as_bytes());
    out.resize(10 + length - 1, b' ');
    out.push(b'\n');
    out
}

macro_rules! writers {
    ($($(#[doc = $doc:literal])+ $name:ident, $type:ty, $descr:literal, |$value:ident, $out:ident| $put:expr;)*) => {
        $(
            $(#[doc = $doc])+
            ///
            /// # Errors
            /// [`IoError::System`] and [`IoError::NotFound`]; nothing is left behind.
            pub fn $name<D: Dimension>(path: &Path, array: ArrayView<'_, $type, D>) -> Result<(), IoError> {
                write(path, array, $descr, |$value, $out| $put)
            }
        )*
    };
}

writers! {
    /// Writes an array of float64.
    write_f64, f64, "<f8", |value, out| out.write_all(&value.to_le_bytes());
    /// Writes an array of float32.
    write_f32, f32, "<f4", |value, out| out.write_all(&value.to_le_bytes());
    /// Writes an array of int32.
    write_i32, i32, "<i4", |value, out| out.write_all(&value.to_le_bytes());
    /// Writes an array of complex64.
    write_complex64, Complex32, "<c8", |value, out| {
        out.write_all(&value.re.to_le_bytes())?;
        out.write_all(&value.im.to_le_bytes())
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::npy::read_f64_2d;
    use ssb_core::ndarray::Array2;

    #[test]
    fn arrays_come_back_and_no_part_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("image.npy");
        let image = Array2::from_shape_fn((3, 5), |(r, c)| r as f64 - 0.25 * c as f64);
        write_f64(&path, image.view()).unwrap();
        assert_eq!(read_f64_2d(&path).unwrap(), image);
        write_f64(&path, image.t()).unwrap();
        assert_eq!(read_f64_2d(&path).unwrap(), image.t());
        write_f32(&path, image.mapv(|v| v as f32).view()).unwrap();
        assert_eq!(read_f64_2d(&path).unwrap(), image);
        write_i32(&path, image.mapv(|v| 4 * v as i32).view()).unwrap();
        assert_eq!(read_f64_2d(&path).unwrap()[(2, 0)], 8.0);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let nowhere = folder.path().join("no/image.npy");
        assert_eq!(
            write_f64(&nowhere, image.view()).unwrap_err().kind(),
            "not_found"
        );
    }

    #[test]
    fn complex_arrays_have_their_size_and_type() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("object.npy");
        write_complex64(&path, Array2::<Complex32>::zeros((4, 6)).view()).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 128 + 4 * 6 * 8);
        assert_eq!(read_f64_2d(&path).unwrap_err().kind(), "unsupported_dtype");
    }
}
