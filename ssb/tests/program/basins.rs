//! Where a search from cold could end elsewhere: short spacings, wrong geometry.

use crate::fits::{fit, near, quadratic, simulated};
use crate::simulated::Data;

/// A square lattice of columns 2.4 Å apart as a NumPy file of float64, phase in rad.
fn short_lattice(path: &std::path::Path, side: usize, step_a: f64) {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({side}, {side}), }}");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(118_u16.to_le_bytes());
    bytes.extend(format!("{header:<117}\n").bytes());
    let from_column = |i: usize| {
        let x = i as f64 * step_a % 2.4;
        x.min(2.4 - x)
    };
    for row in 0..side {
        for col in 0..side {
            let r2 = from_column(row).powi(2) + from_column(col).powi(2);
            let phase_rad = 0.3 * (-r2 / (2.0 * 0.35_f64.powi(2))).exp();
            bytes.extend(phase_rad.to_le_bytes());
        }
    }
    std::fs::write(path, bytes).unwrap();
}

/// The first reflections, at 0.417 1/Å, lie beyond the first band, which holds nothing but noise.
#[test]
fn a_lattice_of_short_spacings_is_found() {
    let folder = Data::empty("phase.npy");
    short_lattice(&folder.file, 96, 0.25);
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
