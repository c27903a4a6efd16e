//! Arrays to Burn's tensor data and back, moved, not copied.
//!
//! What comes out goes into `Tensor::from_data(data, (&device, data.dtype))`: a tensor in host memory (Burn's `NdArray`) takes the
//! allocation itself, a tensor on a device costs its one upload.

use burn_tensor::{Element, TensorData};
use ssb_core::Columns;
use ssb_core::ndarray::{Array, Array2, ArrayD, Dimension, IxDyn};
use ssb_core::num_complex::Complex;

use crate::GradientError;

/// Values in C order: the array's own allocation when that is its order already.
fn values<T: Clone, D: Dimension>(array: Array<T, D>) -> Vec<T> {
    if array.is_standard_layout() {
        let len = array.len();
        let (mut values, offset) = array.into_raw_vec_and_offset();
        let offset = offset.unwrap_or(0);
        if offset > 0 {
            values.drain(..offset);
        }
        values.truncate(len);
        values
    } else {
        array.iter().cloned().collect()
    }
}

/// A real or integer array of any shape (mean phase, object phase, amplitudes) as data of the same shape and type.
#[must_use]
pub fn array_data<T: Element, D: Dimension>(array: Array<T, D>) -> TensorData {
    let shape = array.shape().to_vec();
    TensorData::new(values(array), shape)
}

/// A complex array (spectra, the object) as data of its shape and a last axis `(re, im)`.
#[must_use]
pub fn complex_data<T, D>(array: Array<Complex<T>, D>) -> TensorData
where
    T: Element + bytemuck::Pod,
    Complex<T>: bytemuck::Pod,
    D: Dimension,
{
    let mut shape = array.shape().to_vec();
    shape.push(2);
    TensorData::new(
        bytemuck::allocation::cast_vec::<Complex<T>, T>(values(array)),
        shape,
    )
}

/// BF columns `[B, R*C]` as data of the type they were stored in.
///
/// # Errors
/// Columns of a type that Burn does not have.
pub fn columns_data(columns: Columns) -> Result<TensorData, GradientError> {
    Ok(match columns {
        Columns::U8(a) => array_data(a),
        Columns::U16(a) => array_data(a),
        Columns::U32(a) => array_data(a),
        Columns::I8(a) => array_data(a),
        Columns::I16(a) => array_data(a),
        Columns::I32(a) => array_data(a),
        Columns::F32(a) => array_data(a),
        Columns::F64(a) => array_data(a),
        other => {
            return Err(GradientError::Data {
                expected: "a sample type of Burn",
                found: other.dtype().into(),
            });
        }
    })
}

/// Data of a real or integer tensor as an array.
///
/// # Errors
/// Data of another type than `T`.
pub fn data_array<T: Element>(data: TensorData) -> Result<ArrayD<T>, GradientError> {
    let (shape, found) = (data.shape.to_vec(), data.dtype);
    let wrong = || GradientError::Data {
        expected: std::any::type_name::<T>(),
        found: format!("{found:?} of shape {shape:?}"),
    };
    let values = data.into_vec::<T>().map_err(|_| wrong())?;
    ArrayD::from_shape_vec(IxDyn(&shape), values).map_err(|_| wrong())
}

/// Data of a tensor (rows, columns, 2) as a complex array.
///
/// # Errors
/// Data of another type than `T`, or of another shape.
pub fn data_complex<T>(data: TensorData) -> Result<Array2<Complex<T>>, GradientError>
where
    T: Element + bytemuck::Pod,
    Complex<T>: bytemuck::Pod,
{
    let found = format!("shape {:?}", data.shape);
    let array = data_array::<T>(data)?;
    match *array.shape() {
        [rows, cols, 2] => {
            let parts = values(array);
            // An allocation whose capacity is odd cannot be handed on.
            let cells = match bytemuck::allocation::try_cast_vec::<T, Complex<T>>(parts) {
                Ok(cells) => cells,
                Err((_, parts)) => parts
                    .chunks_exact(2)
                    .map(|z| Complex::new(z[0], z[1]))
                    .collect(),
            };
            Array2::from_shape_vec([rows, cols], cells).map_err(|_| GradientError::Data {
                expected: "(rows, columns, 2)",
                found,
            })
        }
        _ => Err(GradientError::Data {
            expected: "(rows, columns, 2)",
            found,
        }),
    }
}
