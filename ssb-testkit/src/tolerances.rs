//! The accuracy that every backend must show against the float64 reference (numerics section 6).
//! Tests use these and never looser ones.

/// Loss of any candidate, the degenerate starts included: relative.
pub const LOSS_RELATIVE: f64 = 1e-6;

/// Share of the mean-phase pixels that must lie within [`MEAN_PHASE_RAD`].
pub const MEAN_PHASE_SHARE: f64 = 0.999;

/// Mean phase of that share of the pixels: radians, differences taken modulo 2 pi.
pub const MEAN_PHASE_RAD: f64 = 2e-6;

/// Mean phase of every pixel: radians, differences taken modulo 2 pi.
pub const MEAN_PHASE_WORST_RAD: f64 = 1e-4;

/// Complex object: relative L2.
pub const OBJECT_RELATIVE_L2: f64 = 1e-6;

/// Agreement S: relative.
pub const AGREEMENT_RELATIVE: f64 = 1e-5;

/// The same candidate alone, in any batch, with any BF block size, cached or streamed G: loss,
/// relative.
pub const SAME_LOSS_RELATIVE: f64 = 1e-7;

/// Two runs on one device: values that differ in any bit.
pub const DIFFERING_VALUES: f64 = 0.0;

/// Degenerate fraction: a ratio of two counts that must be the reference's exactly; this allows for
/// the rounding of the division only.
pub const DEGENERATE_FRACTION: f64 = 1e-12;

/// `mean_b G_b(0)`, a mean of exact sums: relative.
pub const DC_RELATIVE: f64 = 1e-12;
