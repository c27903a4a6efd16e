//! The LZF filter 32000 of h5py: literal runs and matches of up to 8 KiB back.

/// Decodes an LZF stream; `out` must be filled exactly.
pub(crate) fn decode(input: &[u8], out: &mut [u8]) -> Result<(), String> {
    let short = "the LZF stream is cut short";
    let long = "the LZF stream decodes to more bytes than the chunk has";
    let (mut at, mut written) = (0, 0);
    let next = |at: &mut usize| {
        let byte = input.get(*at).copied();
        *at += 1;
        byte
    };
    while at < input.len() {
        let control = usize::from(next(&mut at).ok_or(short)?);
        if control < 32 {
            let length = control + 1;
            let source = input.get(at..at + length).ok_or(short)?;
            out.get_mut(written..written + length)
                .ok_or(long)?
                .copy_from_slice(source);
            at += length;
            written += length;
        } else {
            let mut length = control >> 5;
            if length == 7 {
                length += usize::from(next(&mut at).ok_or(short)?);
            }
            length += 2;
            let low = usize::from(next(&mut at).ok_or(short)?);
            let offset = ((control & 31) << 8 | low) + 1;
            if offset > written {
                return Err("an LZF match points before the chunk".into());
            }
            if length > out.len() - written {
                return Err(long.into());
            }
            super::lz4::copy_match(out, written, offset, length);
            written += length;
        }
    }
    if written == out.len() {
        Ok(())
    } else {
        Err(format!(
            "the LZF stream decodes to {written} bytes, the chunk has {}",
            out.len()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_matches_decode() {
        // 3 literals, then a match of 6 at offset 3.
        let stream = [2, b'a', b'b', b'c', 4 << 5, 2];
        let mut out = [0; 9];
        decode(&stream, &mut out).unwrap();
        assert_eq!(&out, b"abcabcabc");
        for cut in 0..stream.len() {
            assert!(decode(&stream[..cut], &mut [0; 9]).is_err());
        }
        assert!(decode(&stream, &mut [0; 8]).is_err());
    }
}
