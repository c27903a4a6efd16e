//! PNG encoding: figures in RGB, single arrays in grey.

use super::canvas::RgbImage;
use super::contrast::{Contrast, check_percentiles};
use super::data::finite;
use super::error::FigureError;
use ndarray::ArrayView2;

/// Resolution written into figures, pixels per inch: 1800 pixels print 183 mm wide.
const PIXELS_PER_INCH: f64 = 250.0;

impl RgbImage {
    /// The picture as the bytes of a PNG file (8-bit RGB, 250 pixels per inch).
    ///
    /// # Errors
    /// [`FigureError::Png`] when the encoder refuses, for example an image of zero size.
    pub fn png(&self) -> Result<Vec<u8>, FigureError> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let per_metre = (PIXELS_PER_INCH / 0.0254).round() as u32;
        encoder.set_pixel_dims(Some(png::PixelDimensions {
            xppu: per_metre,
            yppu: per_metre,
            unit: png::Unit::Meter,
        }));
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.pixels)?;
        writer.finish()?;
        Ok(bytes)
    }
}

/// Grey levels of an exported array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrayDepth {
    /// 256 levels.
    Eight,
    /// 65536 levels.
    Sixteen,
}

/// A grey PNG and the values that black and white stand for.
#[derive(Clone, Debug)]
pub struct GrayPng {
    /// Bytes of the PNG file, one pixel per array element, element (0, 0) at the top left.
    pub bytes: Vec<u8>,
    /// Value shown black; smaller ones are black too.
    pub black: f32,
    /// Value shown white; larger ones are white too.
    pub white: f32,
}

/// One array as a grey PNG without any decoration, scaled linearly between two percentiles (0 and 100: full range).
///
/// The values of black and white are returned, and stand in the file as the text chunk `Comment`.
///
/// # Errors
/// An empty array, values that are not finite, percentiles out of order, or an encoder failure.
pub fn gray_png(
    values: ArrayView2<'_, f32>,
    percentiles: [f64; 2],
    depth: GrayDepth,
) -> Result<GrayPng, FigureError> {
    finite("the exported array", values)?;
    check_percentiles(percentiles[0], percentiles[1])?;
    let contrast = Contrast::percentiles(values.iter().copied(), percentiles[0], percentiles[1]);
    let (rows, cols) = values.dim();
    let positions = values.iter().map(|&value| contrast.position(value));
    let samples: Vec<u8> = match depth {
        GrayDepth::Eight => positions.map(|p| (p * 255.0).round() as u8).collect(),
        GrayDepth::Sixteen => positions
            .flat_map(|p| ((p * 65535.0).round() as u16).to_be_bytes())
            .collect(),
    };
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, cols as u32, rows as u32);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(match depth {
        GrayDepth::Eight => png::BitDepth::Eight,
        GrayDepth::Sixteen => png::BitDepth::Sixteen,
    });
    let comment = format!("black = {:e}, white = {:e}", contrast.low, contrast.high);
    encoder.add_text_chunk("Comment".to_string(), comment)?;
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&samples)?;
    writer.finish()?;
    Ok(GrayPng {
        bytes,
        black: contrast.low,
        white: contrast.high,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};

    fn decode(bytes: &[u8]) -> (png::OutputInfo, Vec<u8>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes))
            .read_info()
            .unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        (info, pixels)
    }

    #[test]
    fn rgb_pixels_survive_the_file() {
        let image = RgbImage {
            width: 3,
            height: 2,
            pixels: (0..18).map(|i| i * 13).collect(),
        };
        let (info, pixels) = decode(&image.png().unwrap());
        assert_eq!((info.width, info.height), (3, 2));
        assert_eq!(pixels, image.pixels);
    }

    #[test]
    fn gray_values_are_linear_and_in_place() {
        let values = array![[0.0f32, 0.25, 0.5], [1.0, 0.75, 0.1]];
        let eight = gray_png(values.view(), [0.0, 100.0], GrayDepth::Eight).unwrap();
        assert_eq!((eight.black, eight.white), (0.0, 1.0));
        assert_eq!(decode(&eight.bytes).1, [0, 64, 128, 255, 191, 26]);
        let sixteen = gray_png(values.view(), [0.0, 100.0], GrayDepth::Sixteen).unwrap();
        let (info, pixels) = decode(&sixteen.bytes);
        assert_eq!(
            (info.width, info.height, info.bit_depth),
            (3, 2, png::BitDepth::Sixteen)
        );
        assert_eq!(&pixels[2..6], [0x40, 0x00, 0x80, 0x00]);
    }

    #[test]
    fn unfit_arrays_are_refused() {
        let full = [0.0, 100.0];
        let empty = Array2::<f32>::zeros((0, 4));
        assert!(matches!(
            gray_png(empty.view(), full, GrayDepth::Eight),
            Err(FigureError::Empty { .. })
        ));
        let holes = array![[0.0f32, f32::NAN]];
        assert!(matches!(
            gray_png(holes.view(), full, GrayDepth::Eight),
            Err(FigureError::NotFinite {
                row: 0,
                col: 1,
                count: 1,
                ..
            })
        ));
        assert!(gray_png(array![[1.0f32]].view(), [50.0, 50.0], GrayDepth::Eight).is_err());
    }
}
