//! The plain layout: dataset `/4d` with the calibration as attributes that carry their units.

use ssb_core::{Calibration, Control};

use super::message::{Type, Value};
use super::stream::{Attributes, Group, Node, Stream};
use super::{Acquisition, Failure, StoredCount};

/// The calibration as attributes, under the names that the reader knows (formats section 3.7).
pub(super) fn calibration_attributes(
    calibration: &Calibration,
    scan_shape: [usize; 2],
) -> Attributes {
    vec![
        ("scan_shape", Value::i64s(&scan_shape)),
        ("voltage_kV", Value::f64(calibration.voltage_kv.value)),
        (
            "semiangle_mrad",
            Value::f64(calibration.semiangle_mrad.value),
        ),
        (
            "scan_sampling_A",
            Value::f64s(&calibration.scan_step_a.value),
        ),
        (
            "det_sampling_mrad",
            Value::f64s(&calibration.det_step_mrad.value),
        ),
        ("rotation_deg", Value::f64(calibration.rotation_deg.value)),
    ]
}

pub(super) fn write<T: StoredCount>(
    mut stream: Stream,
    acquisition: &Acquisition<'_, T>,
    control: &Control,
) -> Result<(), Failure> {
    let data = acquisition.put_contiguous(&mut stream, control)?;
    let mut attributes = calibration_attributes(acquisition.calibration, acquisition.scan_shape());
    attributes.push(("units", Value::heap_text("counts")));
    attributes.push((
        "axes",
        Value::heap_text("scan_row,scan_col,det_row,det_col"),
    ));
    let [rows, cols] = acquisition.scan_shape().map(|n| n as u64);
    let [det_rows, det_cols] = acquisition.det_shape().map(|n| n as u64);
    let dims = [rows, cols, det_rows, det_cols];
    let dataset = stream.contiguous(Type::unsigned(T::BYTES), &dims, data, &attributes)?;
    let root = Group::default().with("4d", Node::At(dataset));
    Ok(stream.finish(&root)?)
}
