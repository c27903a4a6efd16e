//! BloscLZ, the codec of Blosc that descends from FastLZ level 2: runs of up to 32 literals, and
//! matches near (13-bit distance) or far (16 bits more).

/// The distance from which on two more bytes hold the rest.
const NEAR: usize = 8191;

/// Decodes a stream; `out` must be filled exactly.
pub(crate) fn decode(input: &[u8], out: &mut [u8]) -> Result<(), String> {
    let short = "the BloscLZ stream is cut short";
    let long = "the BloscLZ stream decodes to more bytes than its block has";
    let (mut at, mut written) = (0, 0);
    let next = |at: &mut usize| -> Result<usize, String> {
        let byte = input.get(*at).copied().ok_or(short)?;
        *at += 1;
        Ok(usize::from(byte))
    };
    // The first control byte also carries the level in its upper bits.
    let mut control = next(&mut at)? & 31;
    loop {
        if control < 32 {
            let length = control + 1;
            let source = input.get(at..at + length).ok_or(short)?;
            out.get_mut(written..written + length)
                .ok_or(long)?
                .copy_from_slice(source);
            at += length;
            written += length;
        } else {
            let mut length = (control >> 5) - 1;
            if length == 6 {
                loop {
                    let more = next(&mut at)?;
                    length += more;
                    if more != 255 {
                        break;
                    }
                }
            }
            length += 3;
            let high = (control & 31) << 8;
            let low = next(&mut at)?;
            let mut distance = high + low + 1;
            if low == 255 && high == 31 << 8 {
                let far = next(&mut at)? << 8 | next(&mut at)?;
                distance = NEAR + far + 1;
            }
            if distance > written {
                return Err("a BloscLZ match points before its block".into());
            }
            if length > out.len() - written {
                return Err(long.into());
            }
            super::lz4::copy_match(out, written, distance, length);
            written += length;
        }
        if at >= input.len() {
            break;
        }
        control = next(&mut at)?;
    }
    if written == out.len() {
        Ok(())
    } else {
        Err(format!(
            "the BloscLZ stream decodes to {written} bytes, not {}",
            out.len()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_near_and_far_matches_decode() {
        // Level 2 with 3 literals, then a match of 3 + 4 at distance 3, then one literal.
        let stream = [0x22, b'a', b'b', b'c', 5 << 5, 2, 0, b'z'];
        let mut out = [0; 11];
        decode(&stream, &mut out).unwrap();
        assert_eq!(&out, b"abcabcabcaz");
        for cut in 0..stream.len() - 2 {
            assert!(decode(&stream[..cut], &mut [0; 11]).is_err(), "{cut}");
        }
        assert!(decode(&stream, &mut [0; 10]).is_err());
        // 8200 zeros as a run, then a far match at distance 8192.
        let mut far = vec![0x20, 7];
        far.extend([7 << 5]);
        let run = 8200 - 9;
        far.extend(std::iter::repeat_n(255, run / 255));
        far.extend([(run % 255) as u8, 0]);
        far.extend([1 << 5 | 31, 255, 0, 0]);
        let mut out = vec![0; 8201 + 3];
        decode(&far, &mut out).unwrap();
        assert!(out.iter().all(|b| *b == 7));
    }
}
