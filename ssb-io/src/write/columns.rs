//! The companion of a scan: its bright-field columns, detector-major, as the narrowest integers that
//! are proven to hold them, with everything else that a reconstruction needs.

use std::path::Path;

use serde_json::json;
use ssb_core::ndarray::Array2;
use ssb_core::{BfDisk, CalibrationHints, Columns, Control, Evidence, ndarray};

use super::message::{Type, Value};
use super::stream::{Attributes, Group, Node, Stream};
use super::{Failure, StoredCount, write_file};
use crate::IoError;
use crate::columns::{COLUMNS, DESCRIPTION, MARK, MEAN, Packing, VERSION};
use crate::mean_pattern::MeanPattern;

/// What a companion holds; see [`write_columns`].
#[derive(Debug, Clone, Copy)]
pub struct BfColumns<'a> {
    /// The counts of the disk's pixels over the scan.
    pub evidence: &'a Evidence,
    /// Their mean sum, the DC value.
    pub dc: f64,
    /// The disk.
    pub disk: &'a BfDisk,
    /// The mean pattern.
    pub pattern: &'a MeanPattern,
    /// Good pixels, where some are not.
    pub mask: Option<&'a Array2<bool>>,
    /// What is known of the calibration.
    pub calibration: &'a CalibrationHints,
    /// SHA-256 of mean pattern and columns, compared when they are read.
    pub content_sha256: &'a str,
    /// Where the counts come from, for the provenance.
    pub origin: &'a serde_json::Value,
}

/// Writes the companion and returns the bits that a count takes: 4, 8, 16 or those of its type.
///
/// Counts are narrowed only when every one of them was looked at and fits.
///
/// # Errors
/// [`IoError::System`] when the disk refuses, [`ssb_core::Error::Cancelled`].
pub fn write_columns(
    path: &Path,
    content: &BfColumns<'_>,
    control: &Control,
) -> Result<u32, IoError> {
    let packing = Packing::of(content.evidence.columns());
    write_file(path, |stream| write(stream, content, packing, control))?;
    Ok(packing.bits())
}

fn write(
    mut stream: Stream,
    content: &BfColumns<'_>,
    packing: Packing,
    control: &Control,
) -> Result<(), Failure> {
    let evidence = content.evidence;
    let [rows, cols] = evidence.scan_shape();
    let pixels = evidence.len() as u64;
    let mut start = None;
    let mut bytes = Vec::new();
    for b in 0..evidence.len() {
        control.check()?;
        bytes.clear();
        packing.pack(evidence.columns(), b, &mut bytes);
        let address = stream.put(&bytes)?;
        start.get_or_insert(address);
        control.report("write columns", b as u64 + 1, pixels);
    }
    let (kind, dims) = match packing {
        Packing::Nibbles => {
            let bytes = (rows * cols).div_ceil(2) as u64;
            (Type::unsigned(1), vec![pixels, bytes])
        }
        Packing::Unsigned { bytes } => {
            let kind = Type::unsigned(bytes);
            (kind, vec![pixels, rows as u64, cols as u64])
        }
        Packing::Native => {
            let kind = native(evidence.columns());
            (kind, vec![pixels, rows as u64, cols as u64])
        }
    };
    let attributes: Attributes = vec![
        ("bits", Value::u64(u64::from(packing.bits()))),
        ("dtype", Value::heap_text(evidence.columns().dtype())),
        ("dc", Value::f64(content.dc)),
        ("units", Value::heap_text("counts")),
    ];
    let address = start.unwrap_or(super::message::UNDEFINED);
    let columns = stream.contiguous(kind, &dims, address, &attributes)?;
    let mean = &content.pattern.mean;
    let values = mean.iter().flat_map(|v| v.to_le_bytes()).collect();
    let mean = Value::new(Type::F64, &[mean.nrows(), mean.ncols()], values);
    let list: Vec<u8> = content
        .disk
        .pixels
        .iter()
        .flatten()
        .flat_map(|v| (*v as i32).to_le_bytes())
        .collect();
    let int32 = Type::Integer {
        bytes: 4,
        signed: true,
    };
    let pixels = Value::new(int32, &[content.disk.pixels.len(), 2], list);
    let description = json!({
        "scan_shape": [rows, cols],
        "disk": content.disk,
        "max_count": content.pattern.max_count,
        "saturated_pixels": content.pattern.saturated_pixels,
        "non_finite": content.pattern.non_finite,
        "calibration": content.calibration,
        "content_sha256": content.content_sha256,
        "origin": content.origin,
    });
    let mut root = Group::new(vec![(MARK, Value::u64(VERSION))])
        .with(COLUMNS, Node::At(columns))
        .with(
            MEAN,
            Node::Value(mean, vec![("units", Value::heap_text("counts"))]),
        )
        .value("bf_pixels", pixels)
        .value(DESCRIPTION, Value::text(&description.to_string()));
    if let Some(mask) = content.mask {
        // As in data files: 0 marks a good pixel.
        let bytes = mask.iter().map(|good| u8::from(!good)).collect();
        let mask = Value::new(Type::unsigned(1), &[mask.nrows(), mask.ncols()], bytes);
        root = root.value("pixel_mask", mask);
    }
    Ok(stream.finish(&root)?)
}

/// The stored type of columns that are kept as they are.
fn native(columns: &Columns) -> Type {
    let integer = |bytes, signed| Type::Integer { bytes, signed };
    match columns {
        Columns::U8(_) => integer(1, false),
        Columns::U16(_) => integer(2, false),
        Columns::U32(_) => integer(4, false),
        Columns::I8(_) => integer(1, true),
        Columns::I16(_) => integer(2, true),
        Columns::I32(_) => integer(4, true),
        Columns::F32(_) => Type::F32,
        _ => Type::F64,
    }
}

impl Packing {
    /// The narrowest packing that holds every count.
    fn of(columns: &Columns) -> Self {
        fn largest<T: Copy + Into<i64>>(a: &Array2<T>) -> Option<i64> {
            let values = a.iter().map(|v| (*v).into());
            let (low, high) =
                values.fold((0, 0), |(l, h): (i64, i64), v: i64| (l.min(v), h.max(v)));
            (low >= 0).then_some(high)
        }
        let largest = match columns {
            Columns::U8(a) => largest(a),
            Columns::U16(a) => largest(a),
            Columns::U32(a) => largest(a),
            Columns::I8(a) => largest(a),
            Columns::I16(a) => largest(a),
            Columns::I32(a) => largest(a),
            _ => None,
        };
        match largest {
            Some(0..=15) => Self::Nibbles,
            Some(16..=255) => Self::Unsigned { bytes: 1 },
            Some(256..=65_535) => Self::Unsigned { bytes: 2 },
            _ => Self::Native,
        }
    }

    fn bits(self) -> u32 {
        match self {
            Self::Nibbles => 4,
            Self::Unsigned { bytes } => 8 * u32::from(bytes),
            Self::Native => 0,
        }
    }

    /// Appends column `b`.
    fn pack(self, columns: &Columns, b: usize, out: &mut Vec<u8>) {
        fn each<T: Copy + Into<i64>>(
            packing: Packing,
            row: ndarray::ArrayView1<'_, T>,
            out: &mut Vec<u8>,
        ) {
            let mut values = row.iter().map(|v| (*v).into() as u64);
            match packing {
                Packing::Nibbles => {
                    while let Some(low) = values.next() {
                        out.push((low | values.next().unwrap_or(0) << 4) as u8);
                    }
                }
                Packing::Unsigned { bytes } => {
                    for value in values {
                        out.extend_from_slice(&value.to_le_bytes()[..usize::from(bytes)]);
                    }
                }
                Packing::Native => {}
            }
        }
        if self == Self::Native {
            match columns {
                Columns::U8(a) => a.row(b).iter().for_each(|v| v.put_le(out)),
                Columns::U16(a) => a.row(b).iter().for_each(|v| v.put_le(out)),
                Columns::U32(a) => a.row(b).iter().for_each(|v| v.put_le(out)),
                Columns::I8(a) => out.extend(a.row(b).iter().flat_map(|v| v.to_le_bytes())),
                Columns::I16(a) => out.extend(a.row(b).iter().flat_map(|v| v.to_le_bytes())),
                Columns::I32(a) => out.extend(a.row(b).iter().flat_map(|v| v.to_le_bytes())),
                Columns::F32(a) => out.extend(a.row(b).iter().flat_map(|v| v.to_le_bytes())),
                Columns::F64(a) => out.extend(a.row(b).iter().flat_map(|v| v.to_le_bytes())),
                _ => {}
            }
            return;
        }
        match columns {
            Columns::U8(a) => each(self, a.row(b), out),
            Columns::U16(a) => each(self, a.row(b), out),
            Columns::U32(a) => each(self, a.row(b), out),
            Columns::I8(a) => each(self, a.row(b), out),
            Columns::I16(a) => each(self, a.row(b), out),
            Columns::I32(a) => each(self, a.row(b), out),
            _ => {}
        }
    }
}
