//! What a candidate sends to the device: short lists made in float64 (numerics section 3).

use rayon::prelude::*;
use ssb_core::own_terms::OWN_TERMS;
use ssb_core::{Aberrations, Candidate, Chi, Geometry};

use super::acquisition::{Frame, unequal_steps};
use crate::kernel::layout::{
    EVEN_COEFFICIENTS, HEAD_FLOATS, Model, ODD_COEFFICIENTS, Scan, WAVE_FLOATS,
};

/// Steps of the coarse part of a coefficient: products with indices below 4096 are exact.
const COARSE_STEPS: f64 = 4096.0;

/// The code that a candidate needs.
pub(super) fn model(geometry: &Geometry, candidate: &Candidate) -> Model {
    let chi = Chi::new(&candidate.aberrations, geometry.wavelength_a);
    Model {
        unequal: unequal_steps(geometry),
        thick: candidate.depth_spread_nm != 0.0,
        polynomial: !chi.is_quadratic(),
        own: !chi.own().is_empty(),
    }
}

/// A coefficient in turns, whole turns left out, as a coarse part and a fine rest.
fn split(turns: f64) -> [f32; 2] {
    let rest = turns - turns.round();
    let coarse = (rest * COARSE_STEPS).round() / COARSE_STEPS;
    [coarse as f32, (rest - coarse) as f32]
}

fn whole_turns_out(turns: f64) -> f32 {
    (turns - turns.round()) as f32
}

/// Spacing of the scan frequencies in 1/Å.
fn spacing_per_a(geometry: &Geometry) -> [f64; 2] {
    [0, 1].map(|axis| 1.0 / (geometry.scan_shape[axis] as f64 * geometry.scan_step_a[axis]))
}

/// C10 and C12 alone.
fn quadratic_part(aberrations: &Aberrations) -> Aberrations {
    let mut part = Aberrations::default();
    for index in [0, 1] {
        *part.get_mut(index) = aberrations.get(index);
    }
    part
}

/// The list that `phase_table` takes for one candidate.
pub(super) fn phase_list(geometry: &Geometry, scan: Scan, candidate: &Candidate) -> Vec<f32> {
    let half_depth_a = candidate.depth_spread_nm * 10.0 / 2.0;
    let tilt_rad = candidate.tilt_mrad.map(|t| t * 1e-3);
    let mut list = vec![0.0; HEAD_FLOATS];
    list[0] = (0.5 * geometry.wavelength_a * half_depth_a) as f32;
    list[1] = (tilt_rad[0] * half_depth_a) as f32;
    list[2] = (tilt_rad[1] * half_depth_a) as f32;
    let values = candidate.aberrations.values();
    let own = &values[values.len() - OWN_TERMS..];
    for (out, value) in list[4..].chunks_exact_mut(2).zip(own) {
        out[0] = (value.magnitude_a / geometry.wavelength_a) as f32;
        out[1] = value.angle_rad as f32;
    }
    let quadratic = quadratic_part(&candidate.aberrations);
    let parts = Chi::new(&quadratic, geometry.wavelength_a).polynomial_about([0.0, 0.0]);
    let [even, _] = parts.coefficients();
    let (q_row, q_col) = (geometry.q_row_per_a(), geometry.q_col_per_a());
    list.extend(q_row.iter().map(|q| whole_turns_out(-even[2][0] * q * q)));
    list.extend(
        q_col[..scan.half()]
            .iter()
            .map(|q| whole_turns_out(-even[0][2] * q * q)),
    );
    let spacing = spacing_per_a(geometry)[1];
    let cross: Vec<[f32; 2]> = q_row
        .iter()
        .map(|q| split(-even[1][1] * q * spacing))
        .collect();
    list.extend(cross.iter().map(|c| c[0]));
    list.extend(cross.iter().map(|c| c[1]));
    list
}

/// The list that `wave_table` takes for one candidate: every stored BF pixel.
pub(super) fn wave_list(geometry: &Geometry, frame: &Frame, candidate: &Candidate) -> Vec<f32> {
    let chi = Chi::new(&candidate.aberrations, geometry.wavelength_a);
    let quadratic = Chi::new(
        &quadratic_part(&candidate.aberrations),
        geometry.wavelength_a,
    );
    let base = quadratic.polynomial_about([0.0, 0.0]);
    let spacing = spacing_per_a(geometry);
    let polynomial = !chi.is_quadratic();
    let mut list = vec![0.0; WAVE_FLOATS * frame.k_per_a.len()];
    list.par_chunks_mut(WAVE_FLOATS)
        .zip(&frame.k_per_a)
        .for_each(|(out, k)| {
            let parts = chi.polynomial_about(*k);
            let [even, odd] = parts.coefficients();
            let [row, col] = [split(odd[1][0] * spacing[0]), split(odd[0][1] * spacing[1])];
            out[..4].copy_from_slice(&[row[0], row[1], col[0], col[1]]);
            if polynomial {
                let [quadratic, _] = base.coefficients();
                let rest = [2, 4, 6]
                    .into_iter()
                    .flat_map(|degree| (0..=degree).map(move |i| (i, degree - i)))
                    .map(|(i, j)| even[i][j] - if i + j == 2 { quadratic[i][j] } else { 0.0 });
                for (to, from) in out[4..].iter_mut().zip(rest) {
                    *to = from as f32;
                }
                let rest = [3, 5]
                    .into_iter()
                    .flat_map(|degree| (0..=degree).map(move |i| odd[i][degree - i]));
                let at = 4 + EVEN_COEFFICIENTS;
                for (to, from) in out[at..at + ODD_COEFFICIENTS].iter_mut().zip(rest) {
                    *to = from as f32;
                }
            }
        });
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_coefficient_times_an_index_is_exact() {
        for i in 0..2000 {
            let turns = f64::from(i) * 0.731_23 - 700.0;
            let [coarse, fine] = split(turns);
            assert!(fine.abs() <= 0.5 / COARSE_STEPS as f32);
            for index in [1.0_f32, 37.0, 1023.0, 4095.0] {
                let product = coarse * index;
                assert_eq!(f64::from(product), f64::from(coarse) * f64::from(index));
                let got = f64::from(product - product.round() + fine * index);
                let exact = turns * f64::from(index);
                let gap = got - exact;
                assert!((gap - gap.round()).abs() < 1e-7, "{turns} {index}");
            }
        }
    }
}
