//! HDF5 structures as bytes: types, values, header messages and their checksum.
//!
//! Source: HDF5 file format specification version 3.0, the parts that every library since
//! HDF5 1.8 reads (superblock 2, object header 2, data layout 3, version 1 chunk tree).

/// The address that means "none".
pub(super) const UNDEFINED: u64 = u64::MAX;

/// A stored type, little-endian.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Type {
    /// An integer of so many bytes.
    Integer { bytes: u8, signed: bool },
    /// IEEE float32.
    F32,
    /// IEEE float64.
    F64,
    /// UTF-8 text of a fixed length, padded with NUL, as instruments write it.
    Text { bytes: u32 },
    /// UTF-8 text in the file's heap, as Python programs write it.
    HeapText,
}

impl Type {
    pub(super) const fn unsigned(bytes: u8) -> Self {
        Self::Integer {
            bytes,
            signed: false,
        }
    }

    pub(super) fn size(self) -> u32 {
        match self {
            Self::Integer { bytes, .. } => u32::from(bytes),
            Self::F32 => 4,
            Self::F64 => 8,
            Self::Text { bytes } => bytes,
            Self::HeapText => 16,
        }
    }

    /// The datatype message.
    pub(super) fn encode(self) -> Vec<u8> {
        let mut out = Vec::with_capacity(24);
        let head = |class: u8, bits: [u8; 3]| [0x10 | class, bits[0], bits[1], bits[2]];
        match self {
            Self::Integer { bytes, signed } => {
                out.extend(head(0, [if signed { 8 } else { 0 }, 0, 0]));
                out.extend(u32::from(bytes).to_le_bytes());
                out.extend([0, 0]);
                out.extend((u16::from(bytes) * 8).to_le_bytes());
            }
            Self::F32 => {
                out.extend(head(1, [0x20, 31, 0]));
                out.extend(4_u32.to_le_bytes());
                out.extend([0, 0, 32, 0, 23, 8, 0, 23]);
                out.extend(127_u32.to_le_bytes());
            }
            Self::F64 => {
                out.extend(head(1, [0x20, 63, 0]));
                out.extend(8_u32.to_le_bytes());
                out.extend([0, 0, 64, 0, 52, 11, 0, 52]);
                out.extend(1023_u32.to_le_bytes());
            }
            Self::Text { bytes } => {
                out.extend(head(3, [0x11, 0, 0]));
                out.extend(bytes.to_le_bytes());
            }
            Self::HeapText => {
                out.extend(head(9, [0x01, 0x01, 0]));
                out.extend(16_u32.to_le_bytes());
                out.extend(Self::Text { bytes: 1 }.encode());
            }
        }
        out
    }
}

/// A small value: an attribute, or the whole content of a dataset.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Value {
    pub(super) kind: Type,
    /// Empty for a scalar.
    pub(super) dims: Vec<u64>,
    /// As stored; of [`Type::HeapText`] the text itself until it has its place in the heap.
    pub(super) bytes: Vec<u8>,
}

impl Value {
    pub(super) fn new(kind: Type, dims: &[usize], bytes: Vec<u8>) -> Self {
        Self {
            kind,
            dims: dims.iter().map(|d| *d as u64).collect(),
            bytes,
        }
    }

    pub(super) fn f64(value: f64) -> Self {
        Self::new(Type::F64, &[], value.to_le_bytes().to_vec())
    }

    pub(super) fn f64s(values: &[f64]) -> Self {
        let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        Self::new(Type::F64, &[values.len()], bytes)
    }

    pub(super) fn integer(value: i64, bytes: u8, signed: bool) -> Self {
        let kind = Type::Integer { bytes, signed };
        Self::new(
            kind,
            &[],
            value.to_le_bytes()[..usize::from(bytes)].to_vec(),
        )
    }

    pub(super) fn u64(value: u64) -> Self {
        Self::new(Type::unsigned(8), &[], value.to_le_bytes().to_vec())
    }

    pub(super) fn i64s(values: &[usize]) -> Self {
        let kind = Type::Integer {
            bytes: 8,
            signed: true,
        };
        let bytes = values
            .iter()
            .flat_map(|v| (*v as i64).to_le_bytes())
            .collect();
        Self::new(kind, &[values.len()], bytes)
    }

    pub(super) fn heap_text(text: &str) -> Self {
        Self::new(Type::HeapText, &[], text.as_bytes().to_vec())
    }

    pub(super) fn text(text: &str) -> Self {
        // A type of zero bytes is not allowed; empty text is one NUL.
        let bytes = if text.is_empty() {
            vec![0]
        } else {
            text.as_bytes().to_vec()
        };
        let kind = Type::Text {
            bytes: bytes.len() as u32,
        };
        Self::new(kind, &[], bytes)
    }
}

/// The dataspace message; no `dims` is a scalar. `growing` leaves the first axis unlimited.
pub(super) fn dataspace(dims: &[u64], growing: bool) -> Vec<u8> {
    let simple = u8::from(!dims.is_empty());
    let mut out = vec![2, dims.len() as u8, u8::from(growing), simple];
    out.extend(dims.iter().flat_map(|d| d.to_le_bytes()));
    if growing {
        for (axis, d) in dims.iter().enumerate() {
            out.extend(if axis == 0 { u64::MAX } else { *d }.to_le_bytes());
        }
    }
    out
}

/// The attribute message, version 3.
pub(super) fn attribute(name: &str, value: &Value) -> Vec<u8> {
    let kind = value.kind.encode();
    let space = dataspace(&value.dims, false);
    let mut out = vec![3, 0];
    out.extend((name.len() as u16 + 1).to_le_bytes());
    out.extend((kind.len() as u16).to_le_bytes());
    out.extend((space.len() as u16).to_le_bytes());
    out.push(1);
    out.extend(name.as_bytes());
    out.push(0);
    out.extend(kind);
    out.extend(space);
    out.extend(&value.bytes);
    out
}

/// Where a name in a group leads.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Target {
    /// An object header in this file.
    Here(u64),
    /// An object of another file.
    External { file: String, object: String },
}

/// The link message.
pub(super) fn link(name: &str, target: &Target) -> Vec<u8> {
    // Flags: a two-byte name length, link type and character set present.
    let mut out = vec![1, 0x01 | 0x08 | 0x10];
    out.push(match target {
        Target::Here(_) => 0,
        Target::External { .. } => 64,
    });
    out.push(1);
    out.extend((name.len() as u16).to_le_bytes());
    out.extend(name.as_bytes());
    match target {
        Target::Here(address) => out.extend(address.to_le_bytes()),
        Target::External { file, object } => {
            out.extend((file.len() as u16 + object.len() as u16 + 3).to_le_bytes());
            out.push(0);
            out.extend(file.as_bytes());
            out.push(0);
            out.extend(object.as_bytes());
            out.push(0);
        }
    }
    out
}

/// The filter pipeline message with one filter.
pub(super) fn filter(id: u16, name: &str, client_values: &[u32]) -> Vec<u8> {
    let mut out = vec![2, 1];
    out.extend(id.to_le_bytes());
    out.extend((name.len() as u16 + 1).to_le_bytes());
    out.extend(0_u16.to_le_bytes());
    out.extend((client_values.len() as u16).to_le_bytes());
    out.extend(name.as_bytes());
    out.push(0);
    out.extend(client_values.iter().flat_map(|v| v.to_le_bytes()));
    out
}

/// An object header with its checksum. Messages are `(type, body)`.
pub(super) fn object_header(messages: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let size: usize = messages.iter().map(|(_, body)| 4 + body.len()).sum();
    let mut out = b"OHDR".to_vec();
    // Version 2; flags: the size of the messages takes four bytes.
    out.extend([2, 0x02]);
    out.extend((size as u32).to_le_bytes());
    for (kind, body) in messages {
        out.push(*kind);
        out.extend((body.len() as u16).to_le_bytes());
        out.push(0);
        out.extend(body);
    }
    let sum = checksum(&out);
    out.extend(sum.to_le_bytes());
    out
}

/// The superblock, version 2, for a file of `end` bytes.
pub(super) fn superblock(root: u64, end: u64) -> Vec<u8> {
    let mut out = b"\x89HDF\r\n\x1a\n".to_vec();
    out.extend([2, 8, 8, 0]);
    for address in [0, UNDEFINED, end, root] {
        out.extend(address.to_le_bytes());
    }
    let sum = checksum(&out);
    out.extend(sum.to_le_bytes());
    out
}

/// Bob Jenkins' lookup3 hash, the checksum of all version 2 structures.
fn checksum(bytes: &[u8]) -> u32 {
    let start = 0xdead_beef_u32.wrapping_add(bytes.len() as u32);
    let mut s = [start; 3];
    let mut rest = bytes;
    while rest.len() > 12 {
        add(&mut s, &rest[..12]);
        for (to, by, turn) in [
            (0, 2, 4),
            (1, 0, 6),
            (2, 1, 8),
            (0, 2, 16),
            (1, 0, 19),
            (2, 1, 4),
        ] {
            s[to] = s[to].wrapping_sub(s[by]) ^ s[by].rotate_left(turn);
            let third = 3 - to - by;
            s[by] = s[by].wrapping_add(s[third]);
        }
        rest = &rest[12..];
    }
    if !rest.is_empty() {
        add(&mut s, rest);
        for (to, by, turn) in [
            (2, 1, 14),
            (0, 2, 11),
            (1, 0, 25),
            (2, 1, 16),
            (0, 2, 4),
            (1, 0, 14),
            (2, 1, 24),
        ] {
            s[to] = (s[to] ^ s[by]).wrapping_sub(s[by].rotate_left(turn));
        }
    }
    s[2]
}

/// Adds up to twelve bytes, missing ones as 0, to the state.
fn add(state: &mut [u32; 3], bytes: &[u8]) {
    for (i, byte) in bytes.iter().enumerate() {
        state[i / 4] = state[i / 4].wrapping_add(u32::from(*byte) << (8 * (i % 4)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_lookup3() {
        // Values printed by the hash's own test driver.
        assert_eq!(checksum(b""), 0xdead_beef);
        assert_eq!(checksum(b"Four score and seven years ago"), 0x1777_0551);
    }
}
