//! Bitshuffle with LZ4, HDF5 filter 32008, encoding side (formats section 3.2).

/// The filter's number.
pub(super) const FILTER: u16 = 32008;
/// The filter's name in the file.
pub(super) const FILTER_NAME: &str = "bitshuffle";

/// The filter's client values: version 0.4, element size, default block, LZ4.
pub(super) fn client_values(element_bytes: usize) -> [u32; 5] {
    [0, 4, element_bytes as u32, 0, 2]
}

/// Elements in one block: 8 KiB of data.
fn block_elements(element_bytes: usize) -> usize {
    (8192 / element_bytes / 8 * 8).max(128)
}

/// Encodes one chunk of little-endian elements.
pub(super) fn encode(raw: &[u8], element_bytes: usize) -> Vec<u8> {
    let block_bytes = block_elements(element_bytes) * element_bytes;
    let mut out = Vec::with_capacity(raw.len() / 4 + 64);
    out.extend((raw.len() as u64).to_be_bytes());
    out.extend((block_bytes as u32).to_be_bytes());
    // Elements beyond the last multiple of eight are stored as they are.
    let shuffled_bytes = raw.len() / (8 * element_bytes) * (8 * element_bytes);
    let mut planes = vec![0; block_bytes];
    for block in raw[..shuffled_bytes].chunks(block_bytes) {
        let planes = &mut planes[..block.len()];
        transpose(block, element_bytes, planes);
        let compressed = lz4_flex::block::compress(planes);
        out.extend((compressed.len() as u32).to_be_bytes());
        out.extend(compressed);
    }
    out.extend(&raw[shuffled_bytes..]);
    out
}

/// Bit plane `8 b + k` holds bit `k` of byte `b` of every element, eight elements a byte.
fn transpose(block: &[u8], element_bytes: usize, planes: &mut [u8]) {
    let plane_bytes = block.len() / element_bytes / 8;
    for (group, elements) in block.chunks_exact(8 * element_bytes).enumerate() {
        for byte in 0..element_bytes {
            let mut bits = [0_u8; 8];
            for (slot, element) in bits.iter_mut().zip(elements.chunks_exact(element_bytes)) {
                *slot = element[byte];
            }
            let turned = transpose_bits(u64::from_le_bytes(bits)).to_le_bytes();
            for (k, value) in turned.into_iter().enumerate() {
                planes[(8 * byte + k) * plane_bytes + group] = value;
            }
        }
    }
}

/// Transposes an 8 x 8 bit matrix, one row a byte (H. S. Warren, Hacker's Delight, section 7-3).
fn transpose_bits(mut x: u64) -> u64 {
    for (shift, mask) in [
        (7, 0x00AA_00AA_00AA_00AA),
        (14, 0x0000_CCCC_0000_CCCC),
        (28, 0x0000_0000_F0F0_F0F0),
    ] {
        let swap = (x ^ (x >> shift)) & mask;
        x ^= swap ^ (swap << shift);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The layout as formats section 3.2 words it, bit by bit.
    fn decode(chunk: &[u8], element_bytes: usize) -> Vec<u8> {
        let total = u64::from_be_bytes(chunk[..8].try_into().unwrap()) as usize;
        let block_bytes = u32::from_be_bytes(chunk[8..12].try_into().unwrap()) as usize;
        let (mut at, mut out) = (12, Vec::new());
        let shuffled = total / (8 * element_bytes) * (8 * element_bytes);
        while out.len() < shuffled {
            let length = u32::from_be_bytes(chunk[at..at + 4].try_into().unwrap()) as usize;
            let bytes = block_bytes.min(shuffled - out.len());
            let planes =
                lz4_flex::block::decompress(&chunk[at + 4..at + 4 + length], bytes).unwrap();
            at += 4 + length;
            let n = bytes / element_bytes;
            for element in 0..n {
                for byte in 0..element_bytes {
                    let bit = |k: usize| {
                        planes[(8 * byte + k) * (n / 8) + element / 8] >> (element % 8) & 1
                    };
                    out.push((0..8).map(|k| bit(k) << k).sum());
                }
            }
        }
        out.extend(&chunk[at..]);
        out
    }

    #[test]
    fn chunks_decode_to_what_was_encoded() {
        for (element_bytes, elements) in [(1, 9000), (2, 37 * 41), (4, 2050), (2, 5), (4, 0)] {
            let raw: Vec<u8> = (0..element_bytes * elements)
                .map(|i| (i * i / 7 % 251) as u8)
                .collect();
            assert_eq!(decode(&encode(&raw, element_bytes), element_bytes), raw);
        }
    }
}
