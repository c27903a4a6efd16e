//! EMD 1.0 as py4DSTEM 0.14 and later write it (formats section 3.3).

use ssb_core::{Control, wavelength_a};

use super::message::{Type, Value};
use super::stream::{Group, Node, Stream};
use super::{Acquisition, Failure, StoredCount};

fn kind(group_type: &str, class: Option<&str>) -> Group {
    let mut attributes = vec![("emd_group_type", Value::heap_text(group_type))];
    attributes.extend(class.map(|c| ("python_class", Value::heap_text(c))));
    Group::new(attributes)
}

fn number(value: f64) -> Node {
    Node::Value(
        Value::f64(value),
        vec![("type", Value::heap_text("number"))],
    )
}

fn string(text: &str) -> Node {
    Node::Value(
        Value::heap_text(text),
        vec![("type", Value::heap_text("string"))],
    )
}

/// A linear axis is stored as its first two values.
fn axis(name: &str, units: &str, step: f64) -> Node {
    Node::Value(
        Value::f64s(&[0.0, step]),
        vec![
            ("name", Value::heap_text(name)),
            ("units", Value::heap_text(units)),
        ],
    )
}

pub(super) fn write<T: StoredCount>(
    mut stream: Stream,
    acquisition: &Acquisition<'_, T>,
    control: &Control,
) -> Result<(), Failure> {
    let data = acquisition.put_contiguous(&mut stream, control)?;
    let [rows, cols] = acquisition.scan_shape().map(|n| n as u64);
    let [det_rows, det_cols] = acquisition.det_shape().map(|n| n as u64);
    let dataset = stream.contiguous(
        Type::unsigned(T::BYTES),
        &[rows, cols, det_rows, det_cols],
        data,
        &vec![("units", Value::heap_text("pixel intensity"))],
    )?;
    let c = acquisition.calibration;
    let scan_step_a = c.scan_step_a.value;
    let per_a = 1e-3 / wavelength_a(c.voltage_kv.value);
    let det_step_per_a = c.det_step_mrad.value.map(|s| s * per_a);
    let cube = kind("array", Some("DataCube"))
        .with("data", Node::At(dataset))
        .with("dim0", axis("Rx", "A", scan_step_a[0]))
        .with("dim1", axis("Ry", "A", scan_step_a[1]))
        .with("dim2", axis("Qx", "A^-1", det_step_per_a[0]))
        .with("dim3", axis("Qy", "A^-1", det_step_per_a[1]));
    let rotation_deg = c.rotation_deg.value;
    let flip = Node::Value(
        Value::integer(0, 1, true),
        vec![("type", Value::heap_text("bool"))],
    );
    let mut calibration = kind("metadata", Some("Calibration"))
        .with("accelerating_voltage", number(c.voltage_kv.value * 1e3))
        .with("convergence_semiangle_mrad", number(c.semiangle_mrad.value))
        .with("QR_rotation", number(rotation_deg.to_radians()))
        .with("QR_rotation_degrees", number(rotation_deg))
        .with("QR_flip", flip);
    // The bundle has one pixel size for both axes; unequal steps are in the axes alone.
    if scan_step_a[0] == scan_step_a[1] {
        calibration = calibration
            .with("R_pixel_size", number(scan_step_a[0]))
            .with("R_pixel_units", string("A"));
    }
    if det_step_per_a[0] == det_step_per_a[1] {
        calibration = calibration
            .with("Q_pixel_size", number(det_step_per_a[0]))
            .with("Q_pixel_units", string("A^-1"));
    }
    let bundle = kind("metadatabundle", None).with("calibration", Node::Group(calibration));
    let experiment = kind("root", Some("Root"))
        .with("datacube", Node::Group(cube))
        .with("metadatabundle", Node::Group(bundle));
    let mut root = kind("file", None).with("experiment", Node::Group(experiment));
    root.attributes.extend([
        ("version_major", Value::integer(1, 8, true)),
        ("version_minor", Value::integer(0, 8, true)),
        ("authoring_program", Value::heap_text("ssb")),
        ("authoring_user", Value::heap_text("")),
    ]);
    Ok(stream.finish(&root)?)
}
