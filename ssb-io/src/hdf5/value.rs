//! Small values: attributes and scalar datasets as numbers or text.

use hdf5_reader::Datatype;
use hdf5_reader::error::ByteOrder;
use hdf5_reader::global_heap::GlobalHeapCollection;
use hdf5_reader::messages::datatype::StringSize;

use super::Container;

/// The values of an attribute or a small dataset.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Integers, floats, booleans and enumerations.
    Numbers(Vec<f64>),
    /// Strings of any encoding.
    Text(Vec<String>),
}

impl Value {
    /// The first number; text that is a number counts.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Numbers(n) => n.first().copied(),
            Self::Text(t) => t.first()?.trim().parse().ok(),
        }
    }

    /// Every number.
    pub(crate) fn numbers(&self) -> Option<&[f64]> {
        match self {
            Self::Numbers(n) => Some(n),
            Self::Text(_) => None,
        }
    }

    /// The first string.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Numbers(_) => None,
            Self::Text(t) => t.first().map(String::as_str),
        }
    }
}

/// Bytes of one stored element, for the types that occur in small values.
pub(super) fn element_bytes(datatype: &Datatype, offset_size: u8) -> Option<usize> {
    match datatype {
        Datatype::FixedPoint { size, .. } | Datatype::FloatingPoint { size, .. } => {
            Some(usize::from(*size))
        }
        Datatype::Enum { base, .. } => element_bytes(base, offset_size),
        Datatype::String {
            size: StringSize::Fixed(n),
            ..
        } => Some(*n as usize),
        Datatype::String { .. } | Datatype::VarLen { .. } => Some(8 + usize::from(offset_size)),
        _ => None,
    }
}

/// Decodes stored elements; `None` for types that are neither numbers nor text.
pub(super) fn decode(container: &Container, datatype: &Datatype, raw: &[u8]) -> Option<Value> {
    let (offset_size, _) = container.widths();
    let bytes = element_bytes(datatype, offset_size).filter(|n| *n > 0)?;
    let elements = raw.chunks_exact(bytes);
    match datatype {
        Datatype::Enum { base, .. } => decode(container, base, raw),
        Datatype::String {
            size: StringSize::Fixed(_),
            ..
        } => Some(Value::Text(elements.map(text).collect())),
        Datatype::String { .. } | Datatype::VarLen { .. } => elements
            .map(|e| heap_text(container, e, offset_size))
            .collect::<Option<_>>()
            .map(Value::Text),
        _ => elements
            .map(|e| number(datatype, e))
            .collect::<Option<_>>()
            .map(Value::Numbers),
    }
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).trim_end().to_owned()
}

/// A string of variable length: length, global heap address, index.
fn heap_text(container: &Container, reference: &[u8], offset_size: u8) -> Option<String> {
    let (_, rest) = reference.split_first_chunk::<4>()?;
    let (address, index) = rest.split_at_checked(usize::from(offset_size))?;
    let address = address.iter().rev().fold(0, |a, b| a << 8 | u64::from(*b));
    let index = u32::from_le_bytes(*index.first_chunk::<4>()?);
    if index == 0 {
        return Some(String::new());
    }
    let bytes = heap_object(container, address, index)?;
    Some(text(&bytes))
}

/// An object of the global heap.
pub(super) fn heap_object(container: &Container, address: u64, index: u32) -> Option<Vec<u8>> {
    let (offset_size, length_size) = container.widths();
    let storage = container.storage();
    let heap =
        GlobalHeapCollection::parse_at_storage(storage, address, offset_size, length_size).ok()?;
    let object = heap.get_object(u16::try_from(index).ok()?)?;
    Some(object.data.clone())
}

fn number(datatype: &Datatype, bytes: &[u8]) -> Option<f64> {
    let (order, float, signed) = match datatype {
        Datatype::FixedPoint {
            signed, byte_order, ..
        } => (byte_order, false, *signed),
        Datatype::FloatingPoint { byte_order, .. } => (byte_order, true, true),
        _ => return None,
    };
    let mut word = [0; 8];
    let n = bytes.len();
    if n > 8 {
        return None;
    }
    for (i, byte) in bytes.iter().enumerate() {
        let at = match order {
            ByteOrder::LittleEndian => i,
            ByteOrder::BigEndian => n - 1 - i,
        };
        word[at] = *byte;
    }
    let bits = u64::from_le_bytes(word);
    match (float, n) {
        (true, 4) => Some(f64::from(f32::from_bits(bits as u32))),
        (true, 8) => Some(f64::from_bits(bits)),
        (true, _) => None,
        (false, 0) => None,
        (false, _) if signed => {
            let unused = 64 - 8 * n as u32;
            Some(((bits << unused) as i64 >> unused) as f64)
        }
        (false, _) => Some(bits as f64),
    }
}
