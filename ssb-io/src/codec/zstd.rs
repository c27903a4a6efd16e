//! Zstandard frames: the HDF5 filter 32015, and the blocks of bitshuffle and Blosc.

use std::fmt;

/// A decompressor that a worker keeps between chunks.
#[derive(Default)]
pub(crate) struct Zstd(Option<zstd::bulk::Decompressor<'static>>);

impl fmt::Debug for Zstd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Zstd").finish_non_exhaustive()
    }
}

impl Zstd {
    /// Decodes one frame; `out` must be filled exactly.
    pub(crate) fn decode(&mut self, input: &[u8], out: &mut [u8]) -> Result<(), String> {
        let text = |error: std::io::Error| format!("zstd: {error}");
        let decompressor = match &mut self.0 {
            Some(ready) => ready,
            none => none.insert(zstd::bulk::Decompressor::new().map_err(text)?),
        };
        let expected = out.len();
        let written = decompressor
            .decompress_to_buffer(input, out)
            .map_err(text)?;
        if written == expected {
            Ok(())
        } else {
            Err(format!(
                "a zstd frame decodes to {written} bytes, not {expected}"
            ))
        }
    }
}
