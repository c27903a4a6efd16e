//! One float32 image as an uncompressed little-endian TIFF (revision 6.0) with its pixel size.

use ndarray::ArrayView2;

use crate::Error;

const SHORT: u16 = 3;
const LONG: u16 = 4;
const ASCII: u16 = 2;
const RATIONAL: u16 = 5;

/// Header, directory, long values, then rows of samples.
///
/// The resolution tags hold pixels per centimetre of the specimen; ImageJ reads the step in Å from
/// the description.
///
/// # Errors
/// An image beyond the 4 GiB of the format.
pub fn float32(
    image: ArrayView2<'_, f32>,
    step_a: [f64; 2],
    name: &str,
    unit: &str,
) -> Result<Vec<u8>, Error> {
    let (rows, cols) = image.dim();
    let sample_bytes = image.len() * 4;
    let (Ok(rows), Ok(cols), Ok(bytes)) = (
        u32::try_from(rows),
        u32::try_from(cols),
        u32::try_from(sample_bytes + 4096),
    ) else {
        return Err(Error::request(
            "--tiff",
            "the image is larger than 4 GiB",
            "use --npy",
        ));
    };
    let samples = bytes - 4096;
    let description = format!(
        "{name} in {unit}; pixel step (row, col) {} x {} Angstrom\0",
        step_a[0], step_a[1]
    );
    let count = 14_u16;
    let tail = 8 + 2 + 12 * u32::from(count) + 4;
    let text_at = tail + 16;
    let data_at = text_at + description.len().next_multiple_of(4) as u32;
    let mut out = Vec::with_capacity(data_at as usize + samples as usize);
    out.extend(b"II*\0");
    out.extend(8_u32.to_le_bytes());
    out.extend(count.to_le_bytes());
    let mut tag = |id: u16, kind: u16, n: u32, value: u32| {
        out.extend(id.to_le_bytes());
        out.extend(kind.to_le_bytes());
        out.extend(n.to_le_bytes());
        out.extend(value.to_le_bytes());
    };
    tag(256, LONG, 1, cols);
    tag(257, LONG, 1, rows);
    tag(258, SHORT, 1, 32);
    tag(259, SHORT, 1, 1); // no compression
    tag(262, SHORT, 1, 1); // black is zero
    tag(270, ASCII, description.len() as u32, text_at);
    tag(273, LONG, 1, data_at);
    tag(277, SHORT, 1, 1);
    tag(278, LONG, 1, rows);
    tag(279, LONG, 1, samples);
    tag(282, RATIONAL, 1, tail);
    tag(283, RATIONAL, 1, tail + 8);
    tag(296, SHORT, 1, 3); // per centimetre
    tag(339, SHORT, 1, 3); // IEEE floating point
    out.extend(0_u32.to_le_bytes());
    for step in [step_a[1], step_a[0]] {
        // 1e8 Å in a centimetre; 1000 / (1000 step / 1e8) kept within 32 bits.
        let per_cm = (1e8 / step).clamp(1.0, f64::from(u32::MAX));
        out.extend((per_cm.round() as u32).to_le_bytes());
        out.extend(1_u32.to_le_bytes());
    }
    out.extend(description.as_bytes());
    out.resize(data_at as usize, 0);
    for value in image {
        out.extend(value.to_le_bytes());
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn samples_and_directory_are_in_place() {
        let image = array![[1.0_f32, -2.5], [0.25, 3.0], [0.0, 1e-9]];
        let bytes = float32(image.view(), [0.25, 0.5], "phase", "rad").unwrap();
        assert_eq!(&bytes[..4], b"II*\0");
        let at = |i: usize| u32::from_le_bytes(bytes[i..i + 4].try_into().unwrap());
        let entry = |n: usize| at(10 + 12 * n + 8);
        assert_eq!((entry(0), entry(1)), (2, 3));
        let data = entry(6) as usize;
        assert_eq!(bytes.len(), data + 24);
        let second = f32::from_le_bytes(bytes[data + 4..data + 8].try_into().unwrap());
        assert_eq!(second, -2.5);
        assert_eq!(at(entry(10) as usize), 200_000_000);
        assert_eq!(at(entry(11) as usize), 400_000_000);
    }
}
