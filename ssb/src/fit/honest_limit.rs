//! How large defocus and astigmatism can be and still be seen (numerics section 8).

use ssb_core::{Geometry, Length};

/// `|C10| + C12` in Å beyond which a detector pixel, which integrates over its angle, washes out detail of 2 Å.
pub(crate) fn washed_out_a(geometry: &Geometry) -> f64 {
    1.0 / geometry.det_step_rad[0].max(geometry.det_step_rad[1])
}

/// `|C10| + C12` in Å beyond which the probe fills more than half of the field of view.
pub(crate) fn half_field_a(geometry: &Geometry) -> f64 {
    let field_a = (geometry.scan_shape[0] as f64 * geometry.scan_step_a[0])
        .min(geometry.scan_shape[1] as f64 * geometry.scan_step_a[1]);
    field_a / (4.0 * geometry.semiangle_rad)
}

/// The smaller of the two: what detector and field can honestly show.
pub(crate) fn honest_limit(geometry: &Geometry) -> Length {
    Length::from_a(washed_out_a(geometry).min(half_field_a(geometry)))
}
