//! Arrays go to Burn and come back: the same bits, and in host memory the same allocation.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use burn_ndarray::NdArray;
use burn_tensor::{Int, Tensor};
use ssb_core::Columns;
use ssb_core::ndarray::{Array2, Array3};
use ssb_core::num_complex::{Complex32, Complex64};
use ssb_gradient::{
    GradientError, array_data, columns_data, complex_data, data_array, data_complex,
};

type Host = NdArray<f32>;

#[test]
fn spectra_travel_without_a_copy() {
    let spectra = Array2::from_shape_fn((3, 5), |(b, i)| Complex32::new(b as f32, i as f32 - 2.0));
    let (before, address) = (spectra.clone(), spectra.as_ptr() as usize);
    let data = complex_data(spectra);
    let dtype = data.dtype;
    let tensor = Tensor::<Host, 3>::from_data(data, (&Default::default(), dtype));
    assert_eq!(tensor.dims(), [3, 5, 2]);
    let back: Array2<Complex32> = data_complex(tensor.into_data()).unwrap();
    assert_eq!(back, before);
    assert_eq!(back.as_ptr() as usize, address, "a copy was made");
}

#[test]
fn an_object_in_another_order_is_put_in_order() {
    let object = Array2::from_shape_fn((4, 3), |(r, c)| Complex64::new(r as f64, -(c as f64)));
    let turned = object.t().to_owned();
    let fortran = object.reversed_axes();
    assert!(!fortran.is_standard_layout());
    let back: Array2<Complex64> = data_complex(complex_data(fortran)).unwrap();
    assert_eq!(back, turned);
}

#[test]
fn counts_keep_their_type_and_their_allocation() {
    let counts = Array2::from_shape_fn((2, 6), |(b, p)| (60_000 + 100 * b + p) as u16);
    let (before, address) = (counts.clone(), counts.as_ptr() as usize);
    let data = columns_data(Columns::U16(counts)).unwrap();
    let dtype = data.dtype;
    let tensor = Tensor::<Host, 2, Int>::from_data(data, (&Default::default(), dtype));
    let back = data_array::<u16>(tensor.into_data()).unwrap();
    assert_eq!(back, before.into_dyn());
    assert_eq!(back.as_ptr() as usize, address, "a copy was made");
}

#[test]
fn a_part_of_an_array_is_that_part() {
    let all = Array3::from_shape_fn((4, 2, 2), |(a, b, c)| (4 * a + 2 * b + c) as f32);
    let part = all.slice_move(ssb_core::ndarray::s![1..3, .., ..]);
    let before = part.clone();
    assert_eq!(
        data_array::<f32>(array_data(part)).unwrap(),
        before.into_dyn()
    );
}

#[test]
fn data_of_another_kind_is_refused() {
    let real = Array2::<f32>::zeros((2, 3));
    let refused = data_complex::<f32>(array_data(real.clone()));
    assert!(
        matches!(refused, Err(GradientError::Data { .. })),
        "{refused:?}"
    );
    let refused = data_array::<f64>(array_data(real));
    let message = refused.unwrap_err().to_string();
    assert!(
        message.contains("F32") && message.contains("f64"),
        "{message}"
    );
}
