//! Merlin (Medipix): `.mib`, a text header before each big-endian frame, and a `.hdr` beside it
//! (`formats.md` section 3.7). Detector rows are as stored.

use std::sync::Arc;

use ssb_core::Sourced;

use super::{Candidate, Format, Found};
use crate::IoError;
use crate::error::Fault;
use crate::frames::Piece;
use crate::options::OpenOptions;
use crate::records::{PixelPacking, RecordHeader, Records};
use crate::sample_type::{SampleKind, SampleType};
use crate::stored_array::{Place, StoredArray};

pub(super) const FORMAT: Format = Format {
    name: "Merlin MIB",
    probe: |candidate| candidate.head.starts_with(b"MQ1,"),
    open,
};

/// The longest header, several chips included.
const MAX_HEADER: usize = 1 << 16;
/// The most pixels along an axis.
const MAX_SIDE: usize = 1 << 13;

/// The parts of a frame's header that matter.
#[derive(Debug, PartialEq)]
struct Header {
    len: usize,
    cols: usize,
    rows: usize,
    kind: SampleKind,
    packing: PixelPacking,
    exposure_s: Option<f64>,
    /// Fields that every frame repeats.
    fields: Vec<(usize, String)>,
}

fn parse(text: &str) -> Result<Header, String> {
    let fields: Vec<&str> = text.split(',').map(str::trim).collect();
    let field = |i: usize| {
        fields
            .get(i)
            .copied()
            .ok_or_else(|| format!("a header of {} fields", fields.len()))
    };
    let number = |i: usize, low: usize, high: usize| -> Result<usize, String> {
        let value: usize = field(i)?
            .parse()
            .map_err(|_| format!("`{}` in field {i}", field(i).unwrap_or_default()))?;
        (low..=high)
            .contains(&value)
            .then_some(value)
            .ok_or_else(|| format!("{value} in field {i}"))
    };
    if field(0)? != "MQ1" {
        return Err("a header that does not begin with MQ1".into());
    }
    let len = number(2, 32, MAX_HEADER)?;
    let chips = number(3, 1, 64)?;
    let (cols, rows) = (number(4, 1, MAX_SIDE)?, number(5, 1, MAX_SIDE)?);
    let plain = PixelPacking::Plain;
    let (kind, packing) = match field(6)? {
        "U01" | "U08" => (SampleKind::U8, plain),
        "U16" => (SampleKind::U16, plain),
        "U32" => (SampleKind::U32, plain),
        "R64" if chips != 1 => {
            return Err(format!("raw counter words (R64) of {chips} chips"));
        }
        "R64" => {
            // The depth is the last field of the second part of the header.
            let at = fields.iter().position(|f| *f == "MQ1A");
            let depth = at.and_then(|at| fields.get(at + 3));
            let words = |bits| PixelPacking::CounterWords { bits };
            match depth.copied() {
                Some("1") => (SampleKind::U8, words(1)),
                Some("6") => (SampleKind::U8, words(8)),
                Some("12") => (SampleKind::U16, words(16)),
                other => return Err(format!("raw counter words (R64) of depth {other:?}")),
            }
        }
        other => return Err(format!("pixels of type `{other}`")),
    };
    if packing != plain && !cols.is_multiple_of(64) {
        return Err(format!("raw counter words in rows of {cols} pixels"));
    }
    Ok(Header {
        len,
        cols,
        rows,
        kind,
        packing,
        exposure_s: fields.get(10).and_then(|f| f.parse().ok()),
        fields: [0, 2, 3, 4, 5, 6]
            .iter()
            .map(|i| (*i, fields[*i].to_owned()))
            .collect(),
    })
}

fn open(candidate: &Candidate, options: &OpenOptions) -> Result<Found, IoError> {
    let path = candidate.path();
    candidate.no_dataset(options, "a MIB file, which holds one series of frames")?;
    let head = candidate.file.head(768)?;
    let text: String = head
        .iter()
        .take_while(|b| b.is_ascii())
        .map(|b| char::from(*b))
        .collect();
    let header = parse(&text).map_err(|found| {
        IoError::BadHeader(
            Fault::of(path)
                .expected("a MIB frame header with U08, U16, U32 or single-chip R64 pixels")
                .found(found)
                .action("check that this is the right file; export R64 of several chips as U16"),
        )
    })?;
    let pixels = (header.rows * header.cols) as u64;
    let stored = header.packing.stored(pixels, header.kind.bytes() as u64);
    let stride = header.len as u64 + stored;
    let frames = (candidate.file.len() / stride) as usize;
    let rest = candidate.file.len() % stride;
    let sample = SampleType {
        kind: header.kind,
        // Counter words come out little-endian.
        big_endian: header.packing == PixelPacking::Plain,
    };
    let place = Place::Records(Records {
        address: header.len as u64,
        stride,
        header: Some(RecordHeader {
            len: header.len,
            fields: header.fields.clone(),
        }),
        packing: header.packing,
    });
    let shape = vec![frames, header.rows, header.cols];
    let array = StoredArray::new(Arc::clone(&candidate.file), "", sample, shape, place)?;
    let mut pieces = Vec::new();
    if frames > 0 {
        pieces.push(Piece::whole(array));
    }
    let raw = header.packing != PixelPacking::Plain;
    let layout = if raw { "merlin-mib-r64" } else { "merlin-mib" };
    let mut found = Found::new(layout, "", pieces);
    if let Some(s) = header.exposure_s.filter(|s| *s > 0.0) {
        let source = "file:header field 10 (exposure)";
        found.metadata.push(("dwell_s", Sourced::new(s, source)));
    }
    beside(candidate, &mut found);
    let expected = found.frames_expected.as_ref().map(|e| e.value);
    let lacks = expected.is_some_and(|n| frames < n);
    if rest != 0 || lacks {
        let of = expected.map_or_else(String::new, |n| format!(" of {n}"));
        found.missing = Some(IoError::Truncated(
            Fault::of(path)
                .expected(format!(
                    "whole frames of {stride} bytes, {} in all",
                    expected.map_or_else(|| "a whole number".into(), |n| n.to_string())
                ))
                .found(format!(
                    "{frames}{of} frames and {rest} bytes of another: cut short or still being written"
                ))
                .action("copy the file again, or keep the complete rows with --complete-rows-only")
                .frames(frames, expected.unwrap_or(frames + 1)),
        ));
    }
    Ok(found)
}

/// Frames and scan that the `.hdr` beside the data states.
fn beside(candidate: &Candidate, found: &mut Found) {
    let file = candidate.path().with_extension("hdr");
    let Ok(bytes) = std::fs::read(&file) else {
        found.warnings.push(format!(
            "no {} beside the data: nothing says how many frames there should be",
            file.file_name().unwrap_or_default().to_string_lossy()
        ));
        return;
    };
    let text = String::from_utf8_lossy(&bytes);
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let number = |key: &str| -> Option<usize> {
        let line = text.lines().find_map(|line| {
            let (name, value) = line.split_once(['\t', ':'])?;
            let name = name.trim().trim_end_matches(':');
            name.eq_ignore_ascii_case(key)
                .then(|| value.trim_matches([':', '\t', ' ']))
        })?;
        line.trim().parse().ok().filter(|n| *n > 0)
    };
    let frames = number("Frames in Acquisition (Number)");
    let line = number("Frames per Trigger (Number)");
    let source = |what: &str| format!("file:{name}#{what}");
    if let Some(frames) = frames {
        found.frames_expected = Some(Sourced::new(frames, source("Frames in Acquisition")));
    }
    if let (Some(rows), Some(cols)) = (number("ScanY"), number("ScanX")) {
        found.scan_hint = Some(Sourced::new([rows, cols], source("ScanY,ScanX")));
    } else if let (Some(frames), Some(line)) = (frames, line)
        && line > 1
        && line < frames
        && frames.is_multiple_of(line)
    {
        let what = "Frames in Acquisition / Frames per Trigger";
        found.scan_hint = Some(Sourced::new([frames / line, line], source(what)));
        found.warnings.push(format!(
            "scan shape: one trigger a line ({} lines of {line}, from {what}); --scan-shape overrides",
            frames / line
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "MQ1,000001,00384,01,0020,0024,U16,   1x1,01,2026-11-30,0.000100,0,";

    #[test]
    fn headers_parse_and_odd_ones_are_refused() {
        let header = parse(PLAIN).unwrap();
        assert_eq!((header.len, header.rows, header.cols), (384, 24, 20));
        assert_eq!(
            (header.kind, header.exposure_s),
            (SampleKind::U16, Some(1e-4))
        );
        for (from, to) in [
            ("00384", "99999999"),
            ("0020", "0000"),
            ("U16", "R64"),
            ("U16", "X16"),
            ("MQ1", "MQ2"),
            ("0024", "x"),
        ] {
            assert!(parse(&PLAIN.replace(from, to)).is_err(), "{to}");
        }
        let raw = "MQ1,000001,00384,01,0256,0256,R64,1x1,01,t,0.001,0,3RX,1,MQ1A,t,1000000ns,12, ";
        let header = parse(raw).unwrap();
        assert_eq!(header.packing, PixelPacking::CounterWords { bits: 16 });
        assert!(parse(&raw.replace(",01,0256", ",04,0256")).is_err());
    }
}
