//! Frames at equal distances in a file, with a header or a footer that is no part of the image: the
//! raw files of EMPAD and Merlin.

/// How the frames lie, and what stands before each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Records {
    /// Byte of the first image.
    pub(crate) address: u64,
    /// Bytes from one image to the next.
    pub(crate) stride: u64,
    /// The header before each image.
    pub(crate) header: Option<RecordHeader>,
    /// How pixels are packed.
    pub(crate) packing: PixelPacking,
}

/// A text header before each image, of which some fields must not change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordHeader {
    /// Bytes of the header.
    pub(crate) len: usize,
    /// Number and value of the comma-separated fields that every header repeats.
    pub(crate) fields: Vec<(usize, String)>,
}

/// How the pixels of an image are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PixelPacking {
    /// One number after the other.
    Plain,
    /// 64-bit words with the order of their pixels reversed; bits of one pixel in a word.
    CounterWords { bits: u32 },
}

impl PixelPacking {
    /// Stored bytes of an image of so many pixels of so many bytes.
    pub(crate) fn stored(self, pixels: u64, bytes: u64) -> u64 {
        match self {
            Self::Plain => pixels * bytes,
            Self::CounterWords { bits } => pixels * u64::from(bits) / 8,
        }
    }

    /// Writes the pixels of an image, little-endian unless plain.
    pub(crate) fn unpack(self, stored: &[u8], out: &mut [u8]) {
        match self {
            Self::Plain => out.copy_from_slice(stored),
            Self::CounterWords { bits: 1 } => {
                for (word, pixels) in stored.chunks_exact(8).zip(out.chunks_exact_mut(64)) {
                    for (i, pixel) in pixels.iter_mut().enumerate() {
                        *pixel = word[7 - i / 8] >> (i % 8) & 1;
                    }
                }
            }
            Self::CounterWords { .. } => {
                for (word, pixels) in stored.chunks_exact(8).zip(out.chunks_exact_mut(8)) {
                    // Pixels in reverse order, each big-endian: all bytes reversed, as
                    // little-endian pixels.
                    for (i, byte) in pixels.iter_mut().enumerate() {
                        *byte = word[7 - i];
                    }
                }
            }
        }
    }
}

impl RecordHeader {
    /// Compares the fields; an error says which differs.
    pub(crate) fn check(&self, header: &[u8]) -> Result<(), String> {
        let mut split = header.split(|b| *b == b',');
        let mut next = 0;
        for (number, expected) in &self.fields {
            let field = split.nth(number - next);
            next = number + 1;
            let field = field.map(|f| String::from_utf8_lossy(f).trim().to_owned());
            if field.as_deref() != Some(expected) {
                let found: String = field.unwrap_or_default().chars().take(32).collect();
                return Err(format!(
                    "a frame header whose field {number} is `{found}`, not `{expected}`"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counter_words_hold_their_pixels_in_reverse() {
        let mut out = [0; 64];
        // Pixel 0 is the low bit of the last byte, pixel 63 the high bit of the first.
        PixelPacking::CounterWords { bits: 1 }.unpack(&[0x80, 0, 0, 0, 0, 0, 0, 1], &mut out);
        assert_eq!((out[0], out[63]), (1, 1));
        assert_eq!(out.iter().sum::<u8>(), 2);
        let mut out = [0; 8];
        PixelPacking::CounterWords { bits: 16 }.unpack(&[0, 4, 0, 3, 0, 2, 1, 1], &mut out);
        // Big-endian 0x0101 is the first pixel.
        assert_eq!(out, [1, 1, 2, 0, 3, 0, 4, 0]);
        let packing = PixelPacking::CounterWords { bits: 1 };
        assert_eq!(packing.stored(65536, 1), 8192);
    }

    #[test]
    fn changed_header_fields_are_named() {
        let header = RecordHeader {
            len: 20,
            fields: vec![(0, "MQ1".into()), (2, "00384".into())],
        };
        assert!(header.check(b"MQ1,000007,00384,01").is_ok());
        let error = header.check(b"MQ1,000007,00385,01").unwrap_err();
        assert!(error.contains("field 2"), "{error}");
        assert!(header.check(b"MQ").is_err());
    }
}
