//! The model of a band is the agreement of the float64 reference.

use ssb_core::ndarray::Array2;
use ssb_core::{Candidate, Control, PrepareOptions, agreement_band_points};
use ssb_cpu_oracle::ORACLE;
use ssb_testkit::synthetic::PROBLEMS;
use ssb_testkit::tolerances::AGREEMENT_RELATIVE;

use super::band_model::{BandModel, BandSpectra};
use super::basins::{Astigmatism, Searched, quadratic_of, with_quadratic};

const FREE: Searched = Searched {
    c10: Some([-300.0, 300.0]),
    c12: Astigmatism::Free { most: 150.0 },
};

#[test]
fn the_band_model_equals_the_reference() {
    let control = Control::default();
    let mut compared = 0;
    for recipe in PROBLEMS {
        let problem = recipe.problem().unwrap();
        let geometry = problem.geometry().clone();
        let points = agreement_band_points(&geometry);
        let enough: u32 = points.iter().map(|p| p.weight).sum();
        if enough < 16 || geometry.scan_shape.iter().product::<usize>() > 1200 {
            continue;
        }
        let mut oracle = (ORACLE.prepare)(problem, &PrepareOptions::default(), &control).unwrap();
        let dc = oracle.info().dc;
        let spectra = oracle.spectra(&points, &control).unwrap();
        let band = BandSpectra {
            points,
            spectra: Array2::from_shape_fn(spectra.dim(), |i| spectra[i] / dc as f32),
        };
        let mut held = Candidate {
            rotation_deg: Some(geometry.rotation_deg + 13.0),
            ..Candidate::default()
        };
        for (name, value) in [("C21", "70nm"), ("phi21", "0.7rad"), ("C30", "-3um")] {
            held.aberrations.set(name, value).unwrap();
        }
        let model = BandModel::new(&geometry, &band, &held);
        let quadratics = [[0.0; 3], [120.0, -30.0, 45.0], [-210.0, 8.0, -3.0]];
        let found = model.agreements(&quadratics);
        let candidates = quadratics.map(|m| with_quadratic(&held, &FREE, m));
        let exact = oracle.agreements(&candidates, &control).unwrap();
        for ((found, exact), m) in found.iter().zip(exact).zip(quadratics) {
            let error = (found * dc * dc / exact - 1.0).abs();
            assert!(
                error < AGREEMENT_RELATIVE,
                "{} {m:?}: {error:e}",
                recipe.name
            );
        }
        // Held or added, C10 and C12 are the same.
        let with = BandModel::new(&geometry, &band, &candidates[1]).agreements(&[[0.0; 3]])[0];
        assert!((with / found[1] - 1.0).abs() < AGREEMENT_RELATIVE);
        compared += 1;
    }
    assert!(compared >= 4, "{compared}");
}

#[test]
fn astigmatism_keeps_its_sign_in_both_coordinates() {
    for m in [[120.0, -30.0, 45.0], [-210.0, 8.0, -3.0], [0.0, -5.0, 0.0]] {
        let back = quadratic_of(&with_quadratic(&Candidate::default(), &FREE, m));
        assert!(
            m.iter().zip(back).all(|(a, b)| (a - b).abs() < 1e-9),
            "{back:?}"
        );
    }
}
