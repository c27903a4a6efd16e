//! The axis datasets of EMD files (`dim0`.. or `dim1`..): steps and units of scan and detector.

use ssb_core::CalibrationHints;

use super::units::{self, DetStep};
use crate::hdf5::{Dataset, Object, join};

/// One axis: its name, unit and step.
pub(super) struct Axis {
    pub(super) name: String,
    unit: String,
    /// `None` for an axis with fewer than two values.
    step: Option<f64>,
}

/// The axis that a dataset of its values describes.
pub(super) fn axis(object: &Object) -> Option<Axis> {
    let values = Dataset::of(object)?.value().ok()??;
    let values = values.numbers()?;
    // A linear axis may be kept as its first two values only.
    let step = match values[..] {
        [a, .., b] => Some((b - a) / (values.len() - 1) as f64),
        _ => None,
    };
    Some(Axis {
        name: object.attribute_text("name").unwrap_or_default(),
        unit: object.attribute_text("units").unwrap_or_default(),
        step,
    })
}

/// The four axes of a group, numbered from `first`; `None` when one is not there.
pub(super) fn axes(group: &Object, first: usize) -> Option<Vec<Axis>> {
    (first..first + 4)
        .map(|i| axis(&group.find(&format!("dim{i}")).ok()??))
        .collect()
}

/// Two axes with their places.
type Pair<'a> = Option<(&'a (Axis, String), &'a (Axis, String))>;

/// Fills the steps of scan and detector from pairs (row, col).
pub(super) fn take_pairs(scan: Pair<'_>, detector: Pair<'_>, calibration: &mut CalibrationHints) {
    let step = |pair: Pair<'_>| {
        let ((a, at), (b, beside)) = pair?;
        let units = [a.unit.clone(), b.unit.clone()];
        Some((
            [a.step?.abs(), b.step?.abs()],
            units,
            format!("file:{at},{beside}"),
        ))
    };
    if let Some((step, [a, b], source)) = step(scan) {
        calibration.scan_step_a = units::scan_step(step, [&a, &b], &source);
    }
    if let Some((step, [a, b], source)) = step(detector) {
        take_det_step(units::det_step(step, [&a, &b], &source), calibration);
    }
}

/// Fills the steps of scan and detector from axes in the order scan row, scan col, detector row,
/// detector col.
pub(super) fn take_steps(
    group: &Object,
    first: usize,
    axes: [&Axis; 4],
    numbers: [usize; 4],
    calibration: &mut CalibrationHints,
) {
    let pair = |a: usize, b: usize| {
        let source = format!(
            "file:{},{}",
            join(group.path(), &format!("dim{}", first + numbers[a])),
            format_args!("dim{}", first + numbers[b])
        );
        let steps = [axes[a].step?.abs(), axes[b].step?.abs()];
        Some((
            steps,
            [axes[a].unit.as_str(), axes[b].unit.as_str()],
            source,
        ))
    };
    if let Some((step, unit, source)) = pair(0, 1) {
        calibration.scan_step_a = units::scan_step(step, unit, &source);
    }
    if let Some((step, unit, source)) = pair(2, 3) {
        take_det_step(units::det_step(step, unit, &source), calibration);
    }
}

/// Puts a detector step where its unit belongs.
pub(super) fn take_det_step(step: Option<DetStep>, calibration: &mut CalibrationHints) {
    match step {
        Some(DetStep::Mrad(step)) => calibration.det_step_mrad = Some(step),
        Some(DetStep::PerA(step)) => calibration.det_step_per_a = Some(step),
        None => {}
    }
}
