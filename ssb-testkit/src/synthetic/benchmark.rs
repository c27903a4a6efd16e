//! Problems of any size for timings: cheap counts without physics over a consistent geometry.

use rayon::prelude::*;
use ssb_core::ndarray::Array2;
use ssb_core::{BfDisk, Calibration, Columns, Evidence, Geometry, Problem, Sourced};

use crate::Error;

/// A problem of `bf_pixels` BF pixels, the ones nearest to the disk's centre, whose aperture just covers
/// them: detector step times radius is the semi-angle, and every pixel is active. 300 kV, 21.4 mrad, 0.25 Å
/// steps, counts of about 20 with noise as `uint8`.
///
/// # Errors
/// [`Error::Core`] for a scan with an axis below 2, no pixel, or counts that memory does not hold.
pub fn benchmark_problem(scan_shape: [usize; 2], bf_pixels: usize) -> Result<Problem, Error> {
    let mut counts = memory(scan_shape, bf_pixels)?;
    let radius_px = (bf_pixels as f64 / std::f64::consts::PI).sqrt();
    let side = 2 * (radius_px.ceil() as u32 + 2);
    let center_px = [f64::from(side) / 2.0 - 0.3, f64::from(side) / 2.0 + 0.2];
    let distance =
        |p: &[u32; 2]| (f64::from(p[0]) - center_px[0]).hypot(f64::from(p[1]) - center_px[1]);
    let mut pixels: Vec<[u32; 2]> = (0..side)
        .flat_map(|r| (0..side).map(move |c| [r, c]))
        .collect();
    pixels.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    pixels.truncate(bf_pixels);
    pixels.sort_unstable();
    let source = "benchmark";
    let calibration = Calibration {
        voltage_kv: Sourced::new(300.0, source),
        semiangle_mrad: Sourced::new(21.4, source),
        scan_step_a: Sourced::new([0.25, 0.25], source),
        det_step_mrad: Sourced::new([21.4 / radius_px; 2], source),
        rotation_deg: Sourced::new(0.0, source),
    };
    let disk = BfDisk {
        center_px,
        radius_px,
        pixels,
    };
    let geometry = Geometry::new(&calibration, scan_shape, &disk)?;
    fill(&mut counts, scan_shape);
    let counts = Array2::from_shape_vec((bf_pixels, scan_shape[0] * scan_shape[1]), counts)
        .map_err(|e| ssb_core::Error::Internal(e.to_string()))?;
    let evidence = Evidence::new(scan_shape, Columns::U8(counts))?;
    Ok(Problem::new(geometry, evidence)?)
}

/// Memory for every count, 0 each.
fn memory(scan_shape: [usize; 2], bf_pixels: usize) -> Result<Vec<u8>, Error> {
    let [rows, cols] = scan_shape;
    let mut counts = Vec::new();
    rows.checked_mul(cols)
        .and_then(|points| points.checked_mul(bf_pixels))
        .and_then(|bytes| counts.try_reserve_exact(bytes).ok().map(|()| bytes))
        .map(|bytes| counts.resize(bytes, 0))
        .ok_or_else(|| ssb_core::Error::BadValue {
            object: "size of the benchmark".into(),
            expected: "counts that fit into memory".into(),
            found: format!("{bf_pixels} BF pixels over {rows} x {cols} positions"),
            action: "choose fewer".into(),
        })?;
    Ok(counts)
}

fn fill(counts: &mut [u8], [rows, cols]: [usize; 2]) {
    let across: Vec<f32> = (0..cols).map(|c| 3.0 * (0.3 * c as f32).cos()).collect();
    let columns = counts.par_chunks_exact_mut(rows * cols).enumerate();
    columns.for_each(|(b, column)| {
        // A multiplicative generator is noise enough for a timing.
        let mut state = 0x9E37_79B9_7F4A_7C15_u64 ^ (b as u64).wrapping_mul(0xD134_2543_DE82_EF95);
        for (row, line) in column.chunks_exact_mut(cols).enumerate() {
            let along = 16.0 + 3.0 * (0.4 * row as f32 + 0.1 * b as f32).sin();
            for (count, across) in line.iter_mut().zip(&across) {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                *count = (along + across + (state >> 61) as f32) as u8;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pixel_is_active_and_every_column_varies() {
        for bf_pixels in [1, 7, 100, 1000, 8829] {
            let problem = benchmark_problem([8, 9], bf_pixels).unwrap();
            let geometry = problem.geometry();
            assert_eq!(geometry.bf_pixels(), bf_pixels);
            assert_eq!(geometry.bf_active(), bf_pixels);
            let radius_px = (bf_pixels as f64 / std::f64::consts::PI).sqrt();
            let reach_rad = geometry.det_step_rad[0] * radius_px;
            assert!((reach_rad - geometry.semiangle_rad).abs() < 1e-12);
            assert!(problem.evidence().varies());
            let mean = problem.evidence().dc() / 72.0;
            assert!((10.0..30.0).contains(&mean), "{mean}");
        }
        for (scan_shape, bf_pixels) in [([8, 9], 0), ([1, 9], 5), ([1 << 40, 1 << 40], 5)] {
            assert!(benchmark_problem(scan_shape, bf_pixels).is_err());
        }
        assert!(benchmark_problem([1 << 20, 1 << 20], 1 << 21).is_err());
    }
}
