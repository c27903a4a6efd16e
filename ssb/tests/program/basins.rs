//! Where a search from cold could end elsewhere: short spacings, wrong geometry.

use ssb::ndarray::Array2;

use crate::fits::{fit, near, quadratic, simulated};
use crate::simulated::Data;

/// The phase in rad of a square lattice of columns 2.4 Å apart.
fn short_lattice(side: usize, step_a: f64) -> Array2<f64> {
    let from_column = |i: usize| {
        let x = i as f64 * step_a % 2.4;
        x.min(2.4 - x)
    };
    Array2::from_shape_fn((side, side), |(row, col)| {
        let r2 = from_column(row).powi(2) + from_column(col).powi(2);
        0.3 * (-r2 / (2.0 * 0.35_f64.powi(2))).exp()
    })
}

/// The first reflections, at 0.417 1/Å, lie beyond the first band, which holds nothing but noise.
#[test]
fn a_lattice_of_short_spacings_is_found() {
    let folder = Data::empty("phase.npy");
    ssb_io::npy::write_f64(&folder.file, short_lattice(96, 0.25).view()).unwrap();
    for (dose, c10) in [("2000", 15.0), ("2000", 8.0), ("300", -22.0)] {
        let truth = format!("--aberration=C10={c10}nm");
        let data = simulated(&[
            "--object",
            folder.file.to_str().unwrap(),
            "--scan-shape=96x96",
            "--semiangle-mrad=25",
            "--dose-e-per-pattern",
            dose,
            &truth,
            "--aberration=C12=4nm",
            "--aberration=phi12=30deg",
        ]);
        let found = fit(&data, &[]);
        let (sin, cos) = (60_f64).to_radians().sin_cos();
        let expected = [c10, 4.0 * cos, 4.0 * sin];
        let got = quadratic(&found["best"]);
        assert!(near(got, expected, 1.0), "{truth}: {got:?}");
    }
}

/// A rotation of the wrong sign leads anywhere; the result says that something is wrong.
#[test]
fn a_wrong_rotation_is_not_passed_over() {
    let data = simulated(&[
        "--object=lattice",
        "--scan-shape=96x80",
        "--scan-step-a=0.3",
        "--semiangle-mrad=25",
        "--dose-e-per-pattern=2000",
        "--rotation-deg=-12",
        "--aberration=C10=15nm",
        "--aberration=C12=5nm",
        "--aberration=phi12=30deg",
    ]);
    for wrong in ["--rotation-deg=12", "--rotation-deg=78", "--transpose"] {
        let said = fit(&data, &[wrong])["warnings"].to_string();
        assert!(said.contains("explain only"), "{wrong}: {said}");
    }
    let said = fit(&data, &[])["warnings"].to_string();
    assert_eq!(said, "[]");
}
