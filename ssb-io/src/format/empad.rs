//! EMPAD: `.raw` of 130 x 128 float32 a frame, of which the last two rows are no part of the image, and
//! an `.xml` beside it (`formats.md` section 3.7).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ssb_core::Sourced;

use super::{Candidate, Format, Found};
use crate::IoError;
use crate::error::Fault;
use crate::frames::Piece;
use crate::options::OpenOptions;
use crate::positioned_file::PositionedFile;
use crate::records::{PixelPacking, Records};
use crate::sample_type::{SampleKind, SampleType};
use crate::stored_array::{Place, StoredArray};

pub(super) const FORMAT: Format = Format {
    name: "EMPAD raw or XML",
    probe: |candidate| {
        let extension = candidate.path().extension().and_then(|e| e.to_str());
        match extension.map(str::to_lowercase).as_deref() {
            Some("raw") => {
                candidate.file.len().is_multiple_of(FRAME_BYTES)
                    || scan_of_name(candidate.path()).is_some()
            }
            Some("xml") => matches!(raw_beside(candidate.path()), Ok(Some(_))),
            _ => false,
        }
    },
    open,
};

/// Image rows and columns, and the bytes of a frame with its footer.
const SIDE: usize = 128;
const FRAME_BYTES: u64 = 130 * 128 * 4;
/// The largest description that is read.
const MAX_XML: u64 = 16 << 20;

/// What an XML file says; lengths in m, angles in rad.
#[derive(Debug, Default, PartialEq)]
struct Description {
    raw: Option<String>,
    /// `(rows, cols)`.
    scan: Option<[usize; 2]>,
    series: Option<usize>,
    volt: Option<f64>,
    camera_length_m: Option<f64>,
    /// `(rows, cols)` of the whole scan.
    field_m: Option<[f64; 2]>,
    /// Of the longer scan axis (version 1.2).
    longer_field_m: Option<f64>,
    det_step_rad: Option<f64>,
    rotation_rad: Option<f64>,
}

fn parse(text: &str) -> Option<Description> {
    let document = roxmltree::Document::parse(text).ok()?;
    let root = document.root_element();
    let child = |name: &str| root.children().find(|n| n.has_tag_name(name));
    let number_of = |node: roxmltree::Node<'_, '_>| -> Option<f64> {
        node.text()?
            .trim()
            .parse()
            .ok()
            .filter(|v: &f64| v.is_finite())
    };
    let raw = child("raw_file")?.attribute("filename")?.to_owned();
    let measured = child("iom_measurements");
    let value = |name: &str| {
        let node = measured?.children().find(|n| n.has_tag_name(name))?;
        number_of(node)
    };
    let count = |name: &str| child(name).and_then(number_of).map(|n| n as usize);
    let pair = |name: &str| -> Option<[f64; 2]> {
        let node = measured?.children().find(|n| n.has_tag_name(name))?;
        let text = node.text()?.trim().strip_prefix('[')?.strip_suffix(']')?;
        let mut numbers = text.split(',').map(|n| n.trim().parse::<f64>().ok());
        let (x, y) = (numbers.next()??, numbers.next()??);
        (x > 0.0 && y > 0.0).then_some([y, x])
    };
    let new_field = measured
        .and_then(|m| {
            m.children()
                .find(|n| n.has_tag_name("full_scan_field_of_view"))
        })
        .and_then(|node| {
            let inner = |name: &str| number_of(node.children().find(|n| n.has_tag_name(name))?);
            let scale = inner("scale_factor").filter(|s| *s > 0.0)?;
            Some(inner("x")? / scale).filter(|x| *x > 0.0)
        });
    let series = root
        .children()
        .filter(|n| n.has_tag_name("scan_parameters"))
        .find_map(|n| number_of(n.children().find(|c| c.has_tag_name("series_count"))?));
    Some(Description {
        scan: count("pix_y").zip(count("pix_x")).map(|(r, c)| [r, c]),
        series: series.map(|n| n as usize),
        raw: Some(raw),
        volt: value("source.get_voltage").or_else(|| value("high_voltage")),
        camera_length_m: value("optics.get_cameralength")
            .or_else(|| value("nominal_camera_length")),
        field_m: pair("optics.get_full_scan_field_of_view"),
        longer_field_m: new_field,
        det_step_rad: value("calibrated_diffraction_angle"),
        rotation_rad: value("column.get_scanrotation"),
    })
}

/// Parses any text, for `cargo fuzz`.
#[cfg(feature = "fuzzing")]
pub(crate) fn parse_any(text: &str) {
    let _ = parse(text);
}

/// The description in an XML file, when it is EMPAD's.
fn described(path: &Path) -> Result<Option<Description>, IoError> {
    let system = |error: std::io::Error| IoError::system(path, &error);
    if std::fs::metadata(path).map_err(system)?.len() > MAX_XML {
        return Ok(None);
    }
    let bytes = std::fs::read(path).map_err(system)?;
    Ok(parse(&String::from_utf8_lossy(&bytes)))
}

/// The raw file that an XML file names, beside it, with what else it says.
fn raw_beside(xml: &Path) -> Result<Option<(PathBuf, Description)>, IoError> {
    Ok(described(xml)?.and_then(|description| {
        let name = description.raw.as_deref()?;
        let base = name.rsplit(['/', '\\']).next()?;
        Some((xml.with_file_name(base), description))
    }))
}

/// The XML file beside a raw file that names it.
fn xml_of(raw: &Path) -> Option<(PathBuf, Description)> {
    let folder = raw.parent().filter(|p| !p.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let mut files: Vec<PathBuf> = entries
        .take(10_000)
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|e| e.eq_ignore_ascii_case("xml")))
        .collect();
    files.sort();
    files.into_iter().find_map(|file| {
        let (named, description) = raw_beside(&file).ok()??;
        (named.file_name() == raw.file_name()).then_some((file, description))
    })
}

/// `(rows, cols)` of a name like `scan_x32_y64.raw`.
fn scan_of_name(path: &Path) -> Option<[usize; 2]> {
    let stem = path.file_stem()?.to_str()?;
    let number = |letter: char| {
        stem.split('_')
            .find_map(|part| part.strip_prefix(letter)?.parse::<usize>().ok())
            .filter(|n| *n > 0)
    };
    Some([number('y')?, number('x')?])
}

fn open(candidate: &Candidate, options: &OpenOptions) -> Result<Found, IoError> {
    candidate.no_dataset(options, "EMPAD data, which hold one array")?;
    let (file, xml) = match raw_beside_if_xml(candidate)? {
        Some((raw, description)) => {
            if !raw.is_file() {
                return Err(IoError::MissingExternalFile(
                    Fault::of(candidate.path())
                        .expected(format!("the data file {}", raw.display()))
                        .found("no such file")
                        .action("put the raw file beside the XML file"),
                ));
            }
            let xml = (candidate.path().to_owned(), description);
            (Arc::new(PositionedFile::open(&raw)?), Some(xml))
        }
        None => (Arc::clone(&candidate.file), xml_of(candidate.path())),
    };
    let frames = (file.len() / FRAME_BYTES) as usize;
    if frames == 0 {
        return Err(IoError::Truncated(
            Fault::of(file.path())
                .expected(format!("frames of {FRAME_BYTES} bytes"))
                .found(format!("{} bytes", file.len()))
                .action("copy the file again"),
        ));
    }
    let sample = SampleType {
        kind: SampleKind::F32,
        big_endian: false,
    };
    let place = Place::Records(Records {
        address: 0,
        stride: FRAME_BYTES,
        header: None,
        packing: PixelPacking::Plain,
    });
    let array = StoredArray::new(file.clone(), "", sample, vec![frames, SIDE, SIDE], place)?;
    let name = file.path().file_name().unwrap_or_default();
    let name = name.to_string_lossy().into_owned();
    let mut found = Found::new("empad-raw", &name, vec![Piece::whole(array)]);
    let from_name = scan_of_name(file.path());
    if let Some((path, description)) = &xml {
        take(path, description, from_name, &mut found);
    }
    if found.scan_hint.is_none() {
        found.scan_hint =
            from_name.map(|shape| Sourced::new(shape, format!("file:{name} (its name)")));
    }
    let wanted = found
        .scan_hint
        .as_ref()
        .map(|s| s.value[0].saturating_mul(s.value[1]));
    let rest = file.len() % FRAME_BYTES;
    if rest != 0 || wanted.is_some_and(|n| frames < n) {
        let of = wanted.map_or_else(String::new, |n| format!(" of {n}"));
        let fault = Fault::of(file.path())
            .expected(format!("whole frames of {FRAME_BYTES} bytes{of}"))
            .found(format!("{frames} frames and {rest} bytes of another"))
            .action("copy the file again, or keep the complete rows with --complete-rows-only")
            .frames(frames, wanted.unwrap_or(frames + 1));
        found.missing = Some(IoError::Truncated(fault));
    }
    Ok(found)
}

fn raw_beside_if_xml(candidate: &Candidate) -> Result<Option<(PathBuf, Description)>, IoError> {
    let xml = candidate
        .path()
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("xml"));
    if xml {
        raw_beside(candidate.path())
    } else {
        Ok(None)
    }
}

fn take(path: &Path, d: &Description, from_name: Option<[usize; 2]>, found: &mut Found) {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let at = |name: &str| format!("file:{file}#{name}");
    if d.series.is_none() {
        found.scan_hint = d.scan.map(|shape| Sourced::new(shape, at("pix_y,pix_x")));
    }
    let calibration = &mut found.calibration;
    if let Some(volt) = d.volt.filter(|v| *v > 0.0) {
        calibration.voltage_kv = Some(Sourced::new(volt / 1e3, at("voltage")));
    }
    if let Some(rad) = d.det_step_rad.filter(|v| *v > 0.0) {
        let step = [rad * 1e3; 2];
        calibration.det_step_mrad = Some(Sourced::new(step, at("calibrated_diffraction_angle")));
    }
    if let Some(rad) = d.rotation_rad {
        calibration.rotation_deg = Some(Sourced::new(
            rad.to_degrees(),
            at("column.get_scanrotation"),
        ));
    }
    let scan = d.scan.or(from_name);
    if let (Some(field), Some([rows, cols])) = (d.field_m, scan) {
        let step = [field[0] / rows as f64 * 1e10, field[1] / cols as f64 * 1e10];
        calibration.scan_step_a =
            Some(Sourced::new(step, at("optics.get_full_scan_field_of_view")));
    } else if let (Some(field), Some([rows, cols])) = (d.longer_field_m, scan) {
        let step = field / rows.max(cols) as f64 * 1e10;
        calibration.scan_step_a = Some(Sourced::new([step; 2], at("full_scan_field_of_view")));
        found.warnings.push(
            "the field of view (divided by its scale_factor) is taken for the longer scan axis, which is \
             unproven: --scan-step-a sets the step"
                .into(),
        );
    }
    for value in d.field_m.into_iter().flatten() {
        let place = at("optics.get_full_scan_field_of_view");
        found
            .metadata
            .push(("field_of_view_m", Sourced::new(value, place)));
    }
    if let Some(metres) = d.camera_length_m.filter(|v| *v > 0.0) {
        found
            .metadata
            .push(("camera_length_m", Sourced::new(metres, at("camera length"))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_generations_of_descriptions_parse() {
        let old = "<root><pix_x>4</pix_x><pix_y>6</pix_y><raw_file filename=\"scan_x4_y6.raw\"/>\
            <iom_measurements><optics.get_cameralength>0.7225</optics.get_cameralength>\
            <source.get_voltage>300000.0</source.get_voltage>\
            <optics.get_full_scan_field_of_view>[4.5e-06, 6e-06]</optics.get_full_scan_field_of_view>\
            <calibrated_diffraction_angle>0.000429</calibrated_diffraction_angle></iom_measurements></root>";
        let old = parse(old).unwrap();
        assert_eq!((old.scan, old.volt), (Some([6, 4]), Some(3e5)));
        assert_eq!(old.field_m, Some([6e-6, 4.5e-6]));
        assert_eq!(old.det_step_rad, Some(0.000429));
        assert_eq!(old.camera_length_m, Some(0.7225));
        let new = "<root><raw_file filename=\"scan_x32_y64.raw\"/><iom_measurements>\
            <full_scan_field_of_view><scale_factor>0.72</scale_factor><x>1.44e-06</x><y>1.44e-06</y>\
            </full_scan_field_of_view><nominal_camera_length>0.369</nominal_camera_length>\
            <high_voltage>300000.0</high_voltage></iom_measurements></root>";
        let new = parse(new).unwrap();
        assert_eq!((new.scan, new.volt), (None, Some(3e5)));
        assert!((new.longer_field_m.unwrap() / 2e-6 - 1.0).abs() < 1e-12);
        assert_eq!(new.camera_length_m, Some(0.369));
        assert_eq!(
            scan_of_name(Path::new("a/scan_x32_y64.raw")),
            Some([64, 32])
        );
        assert_eq!(scan_of_name(Path::new("scan_x0_y64.raw")), None);
        assert_eq!(parse("<root/>"), None);
        assert_eq!(parse("no xml"), None);
    }
}
