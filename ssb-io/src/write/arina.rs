//! Dectris ARINA: data files, master and sidecar (formats sections 3.1 and 3.2).

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use ssb_core::Control;
use ssb_core::ndarray::Axis;

use super::message::Value;
use super::plain::calibration_attributes;
use super::stream::{Group, Node, Stream};
use super::{Acquisition, Failure, StoredCount, bitshuffle, write_file};
use crate::IoError;

/// Frames compressed at once, so that little is held in memory.
const FRAMES_AT_ONCE: usize = 256;

fn class(name: &str) -> Group {
    Group::new(vec![("NX_class", Value::text(name))])
}

/// Writes data files, sidecar and, last, the master, which is named first in the answer.
pub(super) fn write<T: StoredCount>(
    path: &Path,
    acquisition: &Acquisition<'_, T>,
    frames_per_file: usize,
    control: &Control,
) -> Result<Vec<PathBuf>, IoError> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let base = stem.strip_suffix("_master").unwrap_or(&stem);
    let master = path.with_file_name(format!("{base}_master.h5"));
    let sidecar = path.with_file_name(format!("{base}.h5"));
    let [rows, cols] = acquisition.scan_shape();
    let frames = rows * cols;
    let mut written = vec![master.clone()];
    let mut links = Vec::new();
    for (index, first) in (0..frames).step_by(frames_per_file).enumerate() {
        let number = index + 1;
        let name = format!("{base}_data_{number:06}.h5");
        let target = path.with_file_name(&name);
        let range = first..(first + frames_per_file).min(frames);
        write_file(&target, |stream| {
            write_data(stream, acquisition, range, control)
        })?;
        written.push(target);
        links.push((format!("data_{number:06}"), name));
    }
    write_file(&sidecar, |stream| write_sidecar(stream, acquisition))?;
    write_file(&master, |stream| write_master(stream, acquisition, links))?;
    written.push(sidecar);
    Ok(written)
}

fn write_data<T: StoredCount>(
    mut stream: Stream,
    acquisition: &Acquisition<'_, T>,
    range: std::ops::Range<usize>,
    control: &Control,
) -> Result<(), Failure> {
    let [_, cols] = acquisition.scan_shape();
    let total = acquisition.scan_shape().iter().product::<usize>() as u64;
    let element_bytes = usize::from(T::BYTES);
    let kind = super::message::Type::unsigned(T::BYTES);
    let mut frames = Stream::frames(kind, acquisition.det_shape());
    for first in range.clone().step_by(FRAMES_AT_ONCE) {
        control.check()?;
        let end = (first + FRAMES_AT_ONCE).min(range.end);
        let encoded: Vec<Vec<u8>> = (first..end)
            .into_par_iter()
            .map(|n| {
                let row = acquisition.counts.index_axis(Axis(0), n / cols);
                let frame = row.index_axis(Axis(0), n % cols);
                let mut raw = Vec::with_capacity(frame.len() * element_bytes);
                frame.iter().for_each(|v| v.put_le(&mut raw));
                bitshuffle::encode(&raw, element_bytes)
            })
            .collect();
        for chunk in &encoded {
            stream.frame(&mut frames, chunk)?;
        }
        control.report("write frames", end as u64, total);
    }
    let dataset = stream.finish_frames(
        &frames,
        (
            bitshuffle::FILTER,
            bitshuffle::FILTER_NAME,
            &bitshuffle::client_values(element_bytes),
        ),
        &vec![
            ("image_nr_low", Value::u64(range.start as u64 + 1)),
            ("image_nr_high", Value::u64(range.end as u64)),
        ],
    )?;
    let data = class("NXdata").with("data", Node::At(dataset));
    let entry = class("NXentry").with("data", Node::Group(data));
    Ok(stream.finish(&Group::default().with("entry", Node::Group(entry)))?)
}

/// `/STEM Metadata`: what the microscope knows of the scan.
fn write_sidecar<T: StoredCount>(
    stream: Stream,
    acquisition: &Acquisition<'_, T>,
) -> Result<(), Failure> {
    let c = acquisition.calibration;
    let [rows, cols] = acquisition.scan_shape();
    let mut group = Group::new(vec![
        ("NumPixelsX", Value::i64s(&[cols])),
        ("NumPixelsY", Value::i64s(&[rows])),
        ("NumPixelsPrescan", Value::i64s(&[0])),
        ("High Tension", Value::f64s(&[c.voltage_kv.value * 1e3])),
        ("Rotation", Value::f64s(&[c.rotation_deg.value])),
    ]);
    // One pixel size in nm for both axes; unequal steps are in the master alone.
    let [row_a, col_a] = c.scan_step_a.value;
    if row_a == col_a {
        group
            .attributes
            .push(("Pixel Size", Value::f64s(&[row_a / 10.0])));
    }
    Ok(stream.finish(&Group::default().with("STEM Metadata", Node::Group(group)))?)
}

fn write_master<T: StoredCount>(
    stream: Stream,
    acquisition: &Acquisition<'_, T>,
    links: Vec<(String, String)>,
) -> Result<(), Failure> {
    let scan_shape = acquisition.scan_shape();
    let [det_rows, det_cols] = acquisition.det_shape();
    let bits = i64::from(T::BYTES) * 8;
    let mask = Value::new(
        super::message::Type::unsigned(4),
        &[det_rows, det_cols],
        vec![0; 4 * det_rows * det_cols],
    );
    let voltage_ev = acquisition.calibration.voltage_kv.value * 1e3;
    let specific = class("NXcollection")
        .value("nimages", Value::u64(1))
        .value(
            "ntrigger",
            Value::u64(scan_shape.iter().product::<usize>() as u64),
        )
        .value("pixel_mask", mask)
        .value("x_pixels_in_detector", Value::u64(det_cols as u64))
        .value("y_pixels_in_detector", Value::u64(det_rows as u64))
        .measured("photon_energy", Value::f64(voltage_ev), "eV")
        .value("compression", Value::text("bslz4"))
        .value("trigger_mode", Value::text("exts"));
    let detector = class("NXdetector")
        .value("description", Value::text("simulated by ssb"))
        .value("bit_depth_image", Value::integer(bits, 2, false))
        .value("pixel_mask_applied", Value::integer(0, 1, true))
        .value("countrate_correction_applied", Value::integer(0, 1, true))
        .with("detectorSpecific", Node::Group(specific));
    let instrument = class("NXinstrument").with("detector", Node::Group(detector));
    let mut data = class("NXdata");
    data.attributes.push(("signal", Value::text("data_000001")));
    for (link, file) in links {
        let object = "/entry/data/data".to_owned();
        data = data.with(link, Node::External { file, object });
    }
    let mut entry = class("NXentry")
        .value("definition", Value::text("NXmx"))
        .with("data", Node::Group(data))
        .with("instrument", Node::Group(instrument));
    entry.attributes.push(("default", Value::text("data")));
    let mut attributes = calibration_attributes(acquisition.calibration, scan_shape);
    attributes.push(("default", Value::text("entry")));
    let root = Group::new(attributes).with("entry", Node::Group(entry));
    Ok(stream.finish(&root)?)
}
