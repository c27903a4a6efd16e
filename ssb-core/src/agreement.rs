//! The agreement S from the sums over b at the band's points (numerics section 4).

use num_complex::Complex64;

use crate::{AgreementBand, Error, Geometry};

/// Fewest points of the band, of the whole plane, for a value.
const FEWEST_POINTS: u64 = 16;

/// A scan frequency of the stored half plane that lies in the band.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BandPoint {
    /// Column in transform order.
    pub col: usize,
    /// Row in transform order.
    pub row: usize,
    /// Points of the whole plane that it stands for: 2, or 1 in a column that mirrors onto itself.
    pub weight: u32,
}

/// The points of the agreement's band in the stored half plane, DC out, by column and then by row.
///
/// The band ends below Nyquist: no point of it lies on a Nyquist line.
#[must_use]
pub fn agreement_band_points(geometry: &Geometry) -> Vec<BandPoint> {
    band_points(geometry, geometry.agreement_band())
}

/// The points of any band that ends below Nyquist, in the same order.
#[must_use]
pub fn band_points(geometry: &Geometry, band: AgreementBand) -> Vec<BandPoint> {
    let (q_row, q_col) = (geometry.q_row_per_a(), geometry.q_col_per_a());
    let cols = q_col.len();
    let inside = |row: usize, col: usize| {
        let q_per_a = q_row[row].hypot(q_col[col]);
        q_per_a >= band.lo_per_a && q_per_a <= band.hi_per_a && (row, col) != (0, 0)
    };
    (0..=cols / 2)
        .flat_map(|col| {
            let weight = if col == 0 || 2 * col == cols { 1 } else { 2 };
            (0..q_row.len()).map(move |row| BandPoint { col, row, weight })
        })
        .filter(|point| inside(point.row, point.col))
        .collect()
}

/// Refuses points that are no ordinary points of the stored half plane.
///
/// # Errors
/// [`Error::BadValue`] for a point at DC, on a Nyquist line or outside the half plane.
pub fn check_points(points: &[BandPoint], geometry: &Geometry) -> Result<(), Error> {
    let [rows, cols] = geometry.scan_shape;
    let ordinary = |p: &BandPoint| {
        p.row < rows && 2 * p.row != rows && 2 * p.col < cols && (p.row, p.col) != (0, 0)
    };
    match points.iter().find(|p| !ordinary(p)) {
        None => Ok(()),
        Some(p) => Err(Error::BadValue {
            object: "scan frequency".into(),
            expected: format!(
                "a row below {rows} and a column below {} off DC and the Nyquist lines",
                cols.div_ceil(2)
            ),
            found: format!("row {}, column {}", p.row, p.col),
            action: "ask for points of the agreement's band".into(),
        }),
    }
}

/// S over the band in units of the squared DC value; larger is better.
///
/// `overlap` is `sum_b G_b conj Gamma_b` in units of the DC value, up to a phase; `power` is
/// `sum_b |Gamma_b|^2`; both one value a point.
///
/// # Errors
/// [`Error::BadEvidence`] when fewer than 16 points of the whole plane are usable,
/// [`Error::Internal`] for sums of another length.
pub fn agreement_of(
    points: &[BandPoint],
    overlap: &[Complex64],
    power: &[f64],
    bf_pixels: usize,
    band: AgreementBand,
) -> Result<f64, Error> {
    if overlap.len() != points.len() || power.len() != points.len() {
        return Err(Error::Internal(format!(
            "{} and {} sums for {} points of the agreement's band",
            overlap.len(),
            power.len(),
            points.len()
        )));
    }
    let floor = 1e-12 * bf_pixels as f64;
    let (mut agreement, mut usable) = (0.0, 0);
    for ((point, overlap), power) in points.iter().zip(overlap).zip(power) {
        if *power > floor {
            agreement += f64::from(point.weight) * overlap.norm_sqr() / power;
            usable += u64::from(point.weight);
        }
    }
    if usable < FEWEST_POINTS {
        return Err(Error::BadEvidence {
            object: format!(
                "band of the agreement, {:.3} to {:.3} 1/Å",
                band.lo_per_a, band.hi_per_a
            ),
            expected: format!("at least {FEWEST_POINTS} usable scan frequencies"),
            found: usable.to_string(),
            action: "scan a larger field, or check the scan step and the semi-angle".into(),
        });
    }
    Ok(agreement)
}
