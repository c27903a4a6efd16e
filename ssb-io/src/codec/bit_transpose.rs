//! Undoing the bit transposition of a bitshuffle block.
//!
//! A block of `n` elements (a multiple of 8) of `E` bytes is stored as `8 E` planes of `n / 8`
//! bytes; plane `8 b + k` holds bit `k` of byte `b`, and bit `j` of its byte `i` belongs to element
//! `8 i + j` (`formats.md` section 3.2).

/// Restores the elements of one block.
pub(crate) fn untranspose(planes: &[u8], element: usize, out: &mut [u8]) {
    debug_assert_eq!(planes.len(), out.len());
    let stride = planes.len() / (8 * element);
    if stride == 0 {
        return;
    }
    #[cfg(target_arch = "x86_64")]
    let done = super::bit_transpose_x86::untranspose(planes, element, out);
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    untranspose_from(planes, element, out, done);
}

/// The portable kernel, from plane byte `first` on.
pub(super) fn untranspose_from(planes: &[u8], element: usize, out: &mut [u8], first: usize) {
    let stride = planes.len() / (8 * element);
    for (i, group) in out.chunks_exact_mut(8 * element).enumerate().skip(first) {
        for byte in 0..element {
            let mut rows = [0; 8];
            for (k, row) in rows.iter_mut().enumerate() {
                *row = planes[(8 * byte + k) * stride + i];
            }
            let columns = transpose_8x8(u64::from_le_bytes(rows)).to_le_bytes();
            for (j, column) in columns.into_iter().enumerate() {
                group[j * element + byte] = column;
            }
        }
    }
}

/// Transposes an 8 x 8 bit matrix whose row `k` is byte `k`, by three masked swaps.
fn transpose_8x8(mut x: u64) -> u64 {
    let mut t = (x ^ (x >> 7)) & 0x00aa_00aa_00aa_00aa;
    x ^= t ^ (t << 7);
    t = (x ^ (x >> 14)) & 0x0000_cccc_0000_cccc;
    x ^= t ^ (t << 14);
    t = (x ^ (x >> 28)) & 0x0000_0000_f0f0_f0f0;
    x ^ t ^ (t << 28)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, bit by bit.
    fn by_definition(planes: &[u8], element: usize) -> Vec<u8> {
        let stride = planes.len() / (8 * element);
        let mut out = vec![0; planes.len()];
        for i in 0..stride {
            for byte in 0..element {
                for k in 0..8 {
                    for j in 0..8 {
                        let bit = planes[(8 * byte + k) * stride + i] >> j & 1;
                        out[(8 * i + j) * element + byte] |= bit << k;
                    }
                }
            }
        }
        out
    }

    #[test]
    fn every_kernel_follows_the_definition() {
        for element in [1, 2, 4, 8, 3] {
            for groups in [1, 2, 7, 16, 33, 64, 100] {
                let mut state = 1_u32;
                let planes: Vec<u8> = (0..groups * 8 * element)
                    .map(|_| {
                        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        (state >> 24) as u8
                    })
                    .collect();
                let expected = by_definition(&planes, element);
                let mut out = vec![0; planes.len()];
                untranspose_from(&planes, element, &mut out, 0);
                assert_eq!(out, expected, "portable, {element} bytes, {groups} groups");
                #[cfg(target_arch = "x86_64")]
                {
                    out.fill(0);
                    let done =
                        super::super::bit_transpose_x86::untranspose_v2(&planes, element, &mut out);
                    untranspose_from(&planes, element, &mut out, done);
                    assert_eq!(out, expected, "SSE2, {element} bytes, {groups} groups");
                }
                out.fill(0);
                untranspose(&planes, element, &mut out);
                assert_eq!(out, expected, "chosen, {element} bytes, {groups} groups");
            }
        }
    }
}
