//! Arrays on the wire: length of the header (u32), header (JSON), then every plane as float32, all
//! little-endian, each part a multiple of four bytes long.

use serde_json::{Value, json};
use ssb_core::ndarray::{Array2, ArrayView2};

/// A named array.
pub type NamedPlane = (&'static str, Array2<f32>);

/// A frame: the header with a list of its planes (`name`, `rows`, `cols`), and their values in row-major
/// order.
pub fn frame(mut header: Value, planes: &[NamedPlane]) -> Vec<u8> {
    header["planes"] = planes
        .iter()
        .map(|(name, plane)| json!({"name": name, "rows": plane.nrows(), "cols": plane.ncols()}))
        .collect();
    let mut text = header.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let values: usize = planes.iter().map(|(_, plane)| plane.len()).sum();
    let mut bytes = Vec::with_capacity(4 + text.len() + 4 * values);
    bytes.extend((text.len() as u32).to_le_bytes());
    bytes.extend(text);
    for (_, plane) in planes {
        bytes.extend(plane.iter().flat_map(|v| v.to_le_bytes()));
    }
    bytes
}

/// As float32.
pub fn single(array: ArrayView2<'_, f64>) -> Array2<f32> {
    array.mapv(|v| v as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_can_be_taken_apart_again() {
        let plane = Array2::from_shape_fn((2, 3), |(r, c)| (r * 3 + c) as f32);
        for extra in ["", "a", "ab", "abc"] {
            let bytes = frame(json!({"extra": extra}), &[("phase", plane.clone())]);
            let head = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
            assert_eq!(head % 4, 0);
            let header: Value = serde_json::from_slice(&bytes[4..4 + head]).unwrap();
            assert_eq!(header["planes"][0]["cols"], 3);
            let values: Vec<f32> = bytes[4 + head..]
                .chunks(4)
                .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
                .collect();
            assert_eq!(values, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        }
    }
}
