//! LZ4 blocks (no frame), and the HDF5 LZ4 filter 32004. Source: the LZ4 block format
//! description, and `formats.md` section 3.2 for the filter.

/// Extra length bytes: 255 means "more follows".
fn extra_length(input: &[u8], at: &mut usize, mut length: usize) -> Result<usize, String> {
    loop {
        let byte = *input
            .get(*at)
            .ok_or("an LZ4 length runs past the end of its block")?;
        *at += 1;
        length += usize::from(byte);
        if byte != 255 {
            return Ok(length);
        }
    }
}

/// Bytes moved at once by short copies.
const STEP: usize = 16;
/// Bytes behind the end of an output that the fast decoder may overwrite.
pub(crate) const SLACK: usize = 2 * STEP;

const PAST_INPUT: &str = "LZ4 literals run past the end of their block";
const PAST_OUTPUT: &str = "an LZ4 block decodes to more bytes than it should";

/// Decodes one LZ4 block; `out` must be filled exactly.
pub(crate) fn decode_block(input: &[u8], out: &mut [u8]) -> Result<(), String> {
    let len = out.len();
    decode_within(input, input.len(), out, len)
}

/// Decodes the LZ4 block in the first `packed` bytes of `input` into the first `len` bytes of `out`, which
/// must be filled exactly.
///
/// Bytes that follow in `input` and [`SLACK`] bytes that follow in `out` make it fast: short runs are
/// moved as whole steps, and what is moved too much is overwritten by what comes next. Matches of
/// offset 1 (runs of one byte, most of a bit-shuffled block) are filled. Every access is checked.
pub(crate) fn decode_within(
    input: &[u8],
    packed: usize,
    out: &mut [u8],
    len: usize,
) -> Result<(), String> {
    if packed > input.len() || len > out.len() {
        return Err(PAST_INPUT.into());
    }
    let (mut at, mut written) = (0, 0);
    while at < packed {
        let token = input[at];
        at += 1;
        let mut literals = usize::from(token >> 4);
        if literals < 15
            && let Some(source) = input.get(at..at + STEP)
            && let Some(target) = out.get_mut(written..written + STEP)
        {
            target.copy_from_slice(source);
            if literals > packed - at || literals > len - written {
                return Err(PAST_INPUT.into());
            }
        } else {
            if literals == 15 {
                literals = extra_length(&input[..packed], &mut at, literals)?;
            }
            if literals > len - written {
                return Err(PAST_OUTPUT.into());
            }
            let source = at
                .checked_add(literals)
                .and_then(|end| input[..packed].get(at..end))
                .ok_or(PAST_INPUT)?;
            out[written..written + literals].copy_from_slice(source);
        }
        at += literals;
        written += literals;
        if at == packed {
            break;
        }
        let [low, high] = input[..packed]
            .get(at..at + 2)
            .and_then(|b| <[u8; 2]>::try_from(b).ok())
            .ok_or("an LZ4 block ends inside a match")?;
        at += 2;
        let offset = usize::from(u16::from_le_bytes([low, high]));
        let mut length = usize::from(token & 15);
        if length == 15 {
            length = extra_length(&input[..packed], &mut at, length)?;
        }
        length += 4;
        if offset == 0 || offset > written {
            return Err("an LZ4 match points before its block".into());
        }
        if length > len - written {
            return Err(PAST_OUTPUT.into());
        }
        copy_match(out, written, offset, length);
        written += length;
    }
    if written == len {
        Ok(())
    } else {
        Err(format!(
            "an LZ4 block decodes to {written} bytes, not {len}"
        ))
    }
}

/// Copies `length` bytes from `offset` before `at`; the ranges may overlap. Up to [`SLACK`] bytes
/// behind them may be overwritten.
#[inline(always)]
pub(super) fn copy_match(out: &mut [u8], at: usize, offset: usize, length: usize) {
    let start = at - offset;
    if offset == 1 {
        let byte = out[start];
        match out.get_mut(at..at + SLACK) {
            Some(target) if length <= SLACK => target.fill(byte),
            _ => out[at..at + length].fill(byte),
        }
    } else if offset >= STEP && length <= 8 * STEP && at + length + STEP <= out.len() {
        let mut done = 0;
        while done < length {
            let mut step = [0; STEP];
            step.copy_from_slice(&out[start + done..start + done + STEP]);
            out[at + done..at + done + STEP].copy_from_slice(&step);
            done += STEP;
        }
    } else if offset >= length {
        out.copy_within(start..start + length, at);
    } else if length <= SLACK {
        for i in at..at + length {
            out[i] = out[i - offset];
        }
    } else {
        // The copied span doubles: everything written since `start` repeats with period `offset`.
        let mut done = 0;
        while done < length {
            let step = (offset + done).min(length - done);
            out.copy_within(start..start + step, at + done);
            done += step;
        }
    }
}

/// Decodes a chunk of filter 32004: total size (u64 BE), block size (u32 BE), then blocks with a
/// u32 BE length each; a block as long as the block size is stored raw.
pub(crate) fn decode_chunk(input: &[u8], out: &mut [u8]) -> Result<(), String> {
    let (total, rest) = split_u64(input).ok_or("the LZ4 chunk header is cut short")?;
    let (block, mut rest) = split_u32(rest).ok_or("the LZ4 chunk header is cut short")?;
    if total != out.len() as u64 {
        return Err(format!(
            "the LZ4 header says {total} bytes, the chunk has {}",
            out.len()
        ));
    }
    let block = (block as usize).min(out.len().max(1));
    if block == 0 {
        return Err("the LZ4 block size is 0".into());
    }
    for target in out.chunks_mut(block) {
        let (length, after) = split_u32(rest).ok_or("an LZ4 block length is cut short")?;
        let source = after
            .get(..length as usize)
            .ok_or("an LZ4 block runs past the end of the chunk")?;
        if source.len() == target.len() {
            target.copy_from_slice(source);
        } else {
            decode_block(source, target)?;
        }
        rest = &after[source.len()..];
    }
    Ok(())
}

/// Splits a big-endian u64 off the front.
pub(crate) fn split_u64(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<8>()?;
    Some((u64::from_be_bytes(*head), rest))
}

/// Splits a big-endian u32 off the front.
pub(crate) fn split_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_be_bytes(*head), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_overlapping_matches_decode() {
        // 3 literals, then a match of 9 at offset 3, then 5 literals to end the block.
        let block = [
            0x35, b'a', b'b', b'c', 3, 0, 0x50, b'v', b'w', b'x', b'y', b'z',
        ];
        let mut out = [0; 17];
        decode_block(&block, &mut out).unwrap();
        assert_eq!(&out, b"abcabcabcabcvwxyz");
    }

    #[test]
    fn runs_of_one_byte_decode() {
        // 1 literal, a match of 4 + 15 + 200 at offset 1, 1 literal.
        let block = [0x1f, 7, 1, 0, 200, 0x10, 9];
        let mut out = [0; 221];
        decode_block(&block, &mut out).unwrap();
        assert!(out[..220].iter().all(|&b| b == 7) && out[220] == 9);
    }

    /// Blocks of the reference crate decode the same with and without room behind them.
    #[test]
    fn blocks_of_another_encoder_decode() {
        let mut state = 7_u32;
        for len in [1, 5, 13, 40, 300, 8192] {
            for spread in [1, 2, 3, 17, 255] {
                // Runs, repeats of short periods, and noise.
                let plain: Vec<u8> = (0..len)
                    .map(|i| {
                        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        let noise = (state >> 24) as usize;
                        (if i % 97 < 60 {
                            i % spread
                        } else {
                            noise % spread
                        }) as u8
                    })
                    .collect();
                let mut packed = lz4_flex::block::compress(&plain);
                let mut out = vec![0; len];
                decode_block(&packed, &mut out).unwrap();
                assert_eq!(out, plain);
                let end = packed.len();
                packed.extend([0xaa; 40]);
                let mut roomy = vec![0x55; len + SLACK];
                decode_within(&packed, end, &mut roomy, len).unwrap();
                assert_eq!(roomy[..len], plain);
            }
        }
    }

    #[test]
    fn every_damage_is_an_error() {
        let block = [
            0x35, b'a', b'b', b'c', 3, 0, 0x50, b'v', b'w', b'x', b'y', b'z',
        ];
        for cut in 0..block.len() {
            assert!(decode_block(&block[..cut], &mut [0; 17]).is_err(), "{cut}");
        }
        assert!(decode_block(&block, &mut [0; 16]).is_err());
        assert!(decode_block(&block, &mut [0; 18]).is_err());
        let mut wrong = block;
        wrong[4] = 9;
        assert!(decode_block(&wrong, &mut [0; 17]).is_err());
        assert!(decode_block(&[0x0f, 0, 0], &mut [0; 30]).is_err());
    }
}
