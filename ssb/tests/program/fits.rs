//! Searches find what was simulated: guided, all terms, tilt, rotation; and say how sure they are.

use serde_json::Value;

use crate::simulated::{Data, done, program};

/// A simulated file of these arguments.
pub fn simulated(arguments: &[&str]) -> Data {
    let data = Data::empty("simulated.h5");
    let run = program()
        .args(["simulate", data.file.to_str().unwrap(), "--quiet"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", crate::simulated::told(&run));
    data
}

pub fn fit(data: &Data, arguments: &[&str]) -> Value {
    let out = data.path("fit.h5");
    let mut all = vec!["-o", out.to_str().unwrap(), "--force"];
    all.extend(arguments);
    done("fit", &data.file, &all)
}

fn number(value: &Value, key: &str) -> f64 {
    value[key]
        .as_f64()
        .unwrap_or_else(|| panic!("{key}: {value}"))
}

/// C10 and both components of C12, in nm.
pub fn quadratic(candidate: &Value) -> [f64; 3] {
    let (c12, phi12) = (number(candidate, "C12_nm"), number(candidate, "phi12_rad"));
    let (sin, cos) = (2.0 * phi12).sin_cos();
    [number(candidate, "C10_nm"), c12 * cos, c12 * sin]
}

pub fn near(found: [f64; 3], expected: [f64; 3], within: f64) -> bool {
    found
        .iter()
        .zip(expected)
        .all(|(a, b)| (a - b).abs() <= within)
}

#[test]
fn guided_finds_the_basins_of_the_reference_data() {
    // C10, C12 in nm, phi12 in rad: the minimum of the exact loss; the lowest loss known (refdata).
    for (name, c10, c12, phi12) in [
        ("wpo64", 15.03, 5.98, 0.498),
        ("rect", -11.86, 4.99, -0.7),
        ("sto128", -18.5, 3.94, 0.355),
    ] {
        let (data, _) = crate::reference::reference_file(name);
        let found = fit(&data, &[]);
        let (sin, cos) = (2.0_f64 * phi12).sin_cos();
        let got = quadratic(&found["best"]);
        assert!(
            near(got, [c10, c12 * cos, c12 * sin], 0.3),
            "{name}: {got:?}"
        );
        assert!(number(&found, "evaluations") <= 30.0, "{name}");
        let exact = fit(&data, &["--method=tpe"]);
        let ratio = number(&found, "loss") / number(&exact, "loss");
        assert!(ratio <= 1.001, "{name}: {ratio}");
        let lowest = found["trials"].as_array().unwrap().iter();
        let lowest = lowest
            .filter(|t| t["eligible"] == true)
            .map(|t| number(t, "loss"))
            .fold(f64::INFINITY, f64::min);
        assert_eq!(number(&found, "loss"), lowest, "{name}");
        // The same again, to the bit.
        let again = fit(&data, &[]);
        assert_eq!(again["trials"], found["trials"], "{name}");
    }
}

#[test]
fn few_electrons_do_not_lead_away_from_the_peak() {
    // The phase variance of 474 electrons a pattern is lowest at 0, 5 nm, far from the truth.
    let data = simulated(&[
        "--scan-shape=128x128",
        "--det-shape=45x45",
        "--dose-e-per-pattern=474",
        "--seed=39",
        "--semiangle-mrad=15",
        "--scan-step-a=0.5",
        "--det-step-mrad=1",
        "--aberration=C10=-14.717nm",
        "--aberration=C12=22.531nm",
        "--aberration=phi12=-0.8393rad",
    ]);
    let found = fit(
        &data,
        &["--search=C10=-100nm:100nm", "--search=C12=0nm:50nm"],
    );
    let (sin, cos) = (2.0 * -0.8393_f64).sin_cos();
    let got = quadratic(&found["best"]);
    assert!(
        near(got, [-14.717, 22.531 * cos, 22.531 * sin], 1.0),
        "{got:?}"
    );
    let warned = found["warnings"].to_string();
    assert!(
        warned.contains("is not taken for the aberrations"),
        "{warned}"
    );
}

#[test]
fn noise_alone_has_no_clear_peak() {
    let data = simulated(&[
        "--scan-shape=48x48",
        "--det-shape=24x24",
        "--dose-e-per-pattern=3",
        "--aberration=C10=8nm",
    ]);
    let found = fit(&data, &[]);
    let warned = found["warnings"].to_string();
    assert!(warned.contains("no clear peak"), "{warned}");
}

#[test]
fn five_terms_are_found_with_their_uncertainties() {
    let truth = [
        ("C10_nm", 12.0),
        ("C12_nm", 5.0),
        ("C21_nm", 300.0),
        ("C23_nm", 250.0),
        ("C30_nm", 15_000.0),
    ];
    let data = simulated(&[
        "--scan-shape=80x72",
        "--det-shape=36x36",
        "--semiangle-mrad=30",
        "--scan-step-a=0.3",
        "--aberration=C10=12nm",
        "--aberration=C12=5nm",
        "--aberration=phi12=0.4rad",
        "--aberration=C21=300nm",
        "--aberration=phi21=0.8rad",
        "--aberration=C23=250nm",
        "--aberration=phi23=-0.3rad",
        "--aberration=C30=15um",
    ]);
    let searched = [
        "--search=C10=-30nm:30nm",
        "--search=C12=0nm:15nm",
        "--search=C21=0nm:1000nm",
        "--search=C23=0nm:1000nm",
        "--search=C30=-40um:40um",
    ];
    // The program is built with every feature for its tests.
    let mut by_gradient = searched.to_vec();
    by_gradient.push("--refine=gradient");
    let climbed = fit(&data, &by_gradient);
    for (key, expected) in truth {
        let got = number(&climbed["best"], key);
        assert!((got - expected).abs() < 0.05 * expected, "{key}: {got}");
    }
    let found = fit(&data, &searched);
    for (key, expected) in truth {
        let got = number(&found["best"], key);
        let sigma = number(&found["uncertainty"], key);
        assert!((got - expected).abs() < 0.05 * expected, "{key}: {got}");
        assert!(
            sigma > 0.0 && sigma < 0.05 * expected,
            "{key}: {got} ± {sigma}"
        );
        // Five stated deviations, and the error that both estimators share with the simulation's pixels.
        assert!(
            (got - expected).abs() < 5.0 * sigma + 0.01 * expected,
            "{key}: {got} ± {sigma}"
        );
    }
}

const THICK: [&str; 9] = [
    "--object=lattice",
    "--scan-shape=64x64",
    "--det-shape=30x30",
    "--semiangle-mrad=25",
    "--scan-step-a=0.35",
    "--dose-e-per-pattern=10000",
    "--aberration=C10=8nm",
    "--aberration=C12=3nm",
    "--thickness-nm=15",
];

fn tilt_of(found: &Value) -> [f64; 2] {
    [0, 1].map(|i| found["best"]["tilt_mrad"][i].as_f64().unwrap())
}

#[test]
fn the_tilt_of_a_thick_crystal_is_found() {
    let mut backends = vec!["cpu"];
    if crate::reference::vulkan_is_usable() {
        backends.push("vulkan");
    }
    for (tilt, expected) in [
        ("--tilt-mrad=3,-4", [3.0, -4.0]),
        ("--tilt-mrad=0,0", [0.0; 2]),
    ] {
        let mut arguments = THICK.to_vec();
        arguments.push(tilt);
        let data = simulated(&arguments);
        for backend in &backends {
            let found = fit(&data, &["--tilt", "--backend", backend]);
            let got = tilt_of(&found);
            let off = (0..2)
                .map(|i| (got[i] - expected[i]).abs())
                .fold(0.0, f64::max);
            assert!(off < 0.3, "{tilt} on {backend}: {got:?}");
            let gain = number(&found, "gain");
            let said = found["warnings"].to_string();
            if expected == [0.0; 2] {
                assert!(
                    gain < 1.002 && said.contains("not a measurement"),
                    "{gain} {said}"
                );
            } else {
                assert!(
                    gain > 1.01 && !said.contains("not a measurement"),
                    "{gain} {said}"
                );
            }
        }
    }
}

#[test]
fn a_tilt_at_its_bound_is_no_measurement() {
    let mut arguments = THICK.to_vec();
    arguments.push("--tilt-mrad=6,0");
    let data = simulated(&arguments);
    let found = fit(
        &data,
        &["--tilt", "--search=tilt_row=-2mrad:2mrad", "--method=tpe"],
    );
    let said = found["warnings"].to_string();
    assert!(said.contains("not a measurement"), "{said}");
    let trials = found["trials"].as_array().unwrap();
    assert!(trials.len() > 200 && trials[1]["agreement"].as_f64().unwrap() > 0.0);
    // Only the best is evaluated exactly.
    assert_eq!(found["evaluations"], 1);
    assert!(found["loss"].as_f64().unwrap() > 0.0 && trials[1]["loss"].is_null());
}

const ROTATED: [&str; 8] = [
    "--scan-shape=64x72",
    "--det-shape=30x30",
    "--semiangle-mrad=25",
    "--scan-step-a=0.3",
    "--dose-e-per-pattern=10000",
    "--rotation-deg=27",
    "--aberration=C10=8nm",
    "--aberration=C12=3nm",
];

#[test]
fn the_rotation_is_found_and_both_branches_end_on_one_specimen() {
    let data = simulated(&ROTATED);
    let deg = |found: &Value| number(&found["best"], "rotation_deg");
    for search in [
        "--search=rotation=10deg:60deg",
        "--search=rotation=-180deg:180deg",
        "--rotation-from-curl",
    ] {
        let found = fit(&data, &[search]);
        assert!(
            (deg(&found) - 27.0).abs() < 0.5,
            "{search}: {}",
            deg(&found)
        );
        assert!(
            (number(&found["best"], "C10_nm") - 8.0).abs() < 0.3,
            "{search}"
        );
    }
    let right = fit(&data, &["--rotation-deg=27"]);
    let turned = fit(&data, &["--rotation-deg=-153"]);
    assert_eq!(deg(&turned), 27.0);
    let [a, b] = [&right, &turned].map(|f| quadratic(&f["best"]));
    assert!(near(a, b, 0.05), "{a:?} {b:?}");
    let branches = turned["branches"].as_array().unwrap();
    let states: Vec<_> = branches
        .iter()
        .map(|b| &b["column_sign"]["state"])
        .collect();
    assert_eq!(states, ["positive", "reversed"]);
    assert_eq!(right["branches"].as_array().unwrap().len(), 1);
    let kept = fit(&data, &["--rotation-deg=-153", "--check-rotation=off"]);
    assert!(kept["column_sign"].is_null() && kept["best"]["rotation_deg"].is_null());
}

#[test]
fn an_unresolved_branch_is_reported_and_nothing_is_flipped() {
    use ssb::ndarray::Array2;
    // A phase whose bright and dark parts are alike has no skewness.
    let data = Data::empty("even.h5");
    let object = data.path("even.npy");
    let wave = |i: usize, n: f64| (std::f64::consts::TAU * n * i as f64 / 64.0).sin();
    let phase = Array2::from_shape_fn((64, 64), |(r, c)| {
        (0.02 * (wave(r, 5.0) + wave(c, 6.0) + wave(r + c, 4.0))) as f32
    });
    ssb_io::npy::write_f32(&object, phase.view()).unwrap();
    let run = program()
        .args([
            "simulate",
            data.file.to_str().unwrap(),
            "--quiet",
            "--object",
        ])
        .args([
            object.to_str().unwrap(),
            "--scan-shape=64x64",
            "--scan-step-a=0.3",
        ])
        .args([
            "--det-shape=30x30",
            "--semiangle-mrad=25",
            "--aberration=C10=8nm",
        ])
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", crate::simulated::told(&run));
    let found = fit(&data, &["--rotation-deg=180"]);
    assert_eq!(found["column_sign"]["state"], "inconclusive");
    assert!(
        found["warnings"]
            .to_string()
            .contains("nothing was flipped")
    );
    assert!(found["best"]["rotation_deg"].is_null(), "{found}");
}

#[test]
fn ranges_beyond_what_can_be_seen_do_not_hide_the_basin() {
    let data = Data::of(&["--scan-shape", "31x37", "--det-shape", "20x20"]);
    let found = fit(
        &data,
        &["--search=C10=-2000nm:2000nm", "--search=C12=0nm:500nm"],
    );
    assert!(
        (number(&found["best"], "C10_nm") - 9.0).abs() < 0.5,
        "{}",
        found["best"]
    );
    let warned = found["warnings"].to_string();
    assert!(warned.contains("looks no farther"), "{warned}");
    let small = Data::of(&["--scan-shape", "8x8", "--det-shape", "20x18"]);
    let out = small.path("fit.h5");
    let (code, document) =
        crate::simulated::json("fit", &small.file, &["-o", out.to_str().unwrap()]);
    assert_eq!(code, 1);
    let message = document["error"]["message"].to_string();
    assert!(
        message.contains("--method tpe") && !out.exists(),
        "{message}"
    );
}

#[test]
fn contradicting_rotations_are_refused() {
    let data = Data::new();
    let out = data.path("fit.h5");
    let run = program()
        .args(["fit", data.file.to_str().unwrap(), "--json", "-o"])
        .args([out.to_str().unwrap(), "--rotation-from-curl"])
        .arg("--search=rotation=0deg:5deg")
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(1));
    assert!(!out.exists());
}
