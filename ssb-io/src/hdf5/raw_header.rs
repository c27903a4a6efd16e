//! Object headers that `hdf5-reader` refuses because they describe a virtual dataset: the same
//! messages, read one by one. Source: HDF5 file format specification, "Data Object Headers".

use hdf5_reader::error::{Error, Result};
use hdf5_reader::io::Cursor;
use hdf5_reader::messages;
use hdf5_reader::object_header::ObjectHeader;

use super::Container;

/// Message numbers with a meaning here.
const LAYOUT: u16 = 0x0008;
const CONTINUATION: u16 = 0x0010;
/// Header bytes beyond any real header.
const LIMIT: u64 = 16 << 20;

/// The header at `address`, and the global heap place of the mappings of a virtual layout.
pub(super) fn parse(
    container: &Container,
    address: u64,
) -> Result<(ObjectHeader, Option<(u64, u32)>)> {
    let storage = container.storage();
    let (offset_size, length_size) = container.widths();
    let prefix = storage.read_range(address, 16)?;
    let mut cursor = Cursor::new(&prefix);
    let version = if prefix.starts_with(b"OHDR") { 2 } else { 1 };
    let (first, flags) = if version == 1 {
        cursor.skip(8)?;
        ((address + 16, u64::from(cursor.read_u32_le()?)), 0)
    } else {
        cursor.skip(5)?;
        let flags = cursor.read_u8()?;
        // Times, then the attribute phase change values.
        let skipped =
            if flags & 0x20 == 0 { 0 } else { 16 } + if flags & 0x10 == 0 { 0 } else { 4 };
        let size_at = address + 6 + skipped;
        let width = 1_usize << (flags & 3);
        let size = storage.read_range(size_at, width)?;
        let size = Cursor::new(&size).read_uvar(width)?;
        ((size_at + width as u64, size), flags)
    };
    let mut header = ObjectHeader {
        version,
        messages: Vec::new(),
        reference_count: 1,
        modification_time: None,
    };
    let mut heap = None;
    let mut pending = vec![first];
    let mut total = 0;
    while let Some((start, size)) = pending.pop() {
        total += size;
        if total > LIMIT {
            return Err(Error::ResourceLimit("an object header above 16 MiB".into()));
        }
        let size = usize::try_from(size).map_err(|_| Error::OffsetOutOfBounds(start))?;
        let bytes = storage.read_range(start, size)?;
        let mut cursor = Cursor::new(&bytes);
        let prefix = match (version, flags & 4) {
            (1, _) => 8,
            (_, 0) => 4,
            _ => 6,
        };
        while cursor.remaining() >= prefix {
            let (kind, length) = if version == 1 {
                (cursor.read_u16_le()?, cursor.read_u16_le()?)
            } else {
                (u16::from(cursor.read_u8()?), cursor.read_u16_le()?)
            };
            cursor.skip(if version == 1 { 4 } else { prefix as usize - 3 })?;
            let body = cursor.read_bytes(usize::from(length))?;
            let mut message = Cursor::new(body);
            if kind == CONTINUATION {
                let at = message.read_offset(offset_size)?;
                let len = message.read_length(length_size)?;
                // A version 2 continuation is framed by a signature and a checksum.
                pending.push(if version == 1 {
                    (at, len)
                } else {
                    (at.saturating_add(4), len.saturating_sub(8))
                });
            } else if kind == LAYOUT && body.get(1) == Some(&3) {
                message.skip(2)?;
                heap = Some((message.read_offset(offset_size)?, message.read_u32_le()?));
            } else {
                header.messages.push(messages::parse_message(
                    kind,
                    body.len(),
                    &mut message,
                    offset_size,
                    length_size,
                )?);
            }
        }
    }
    Ok((header, heap))
}
