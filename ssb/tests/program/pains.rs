//! What users of such programs suffered from, and what must happen instead (the entries on files:
//! `ssb-io/tests/pains.rs`).

use serde_json::{Value, json};

use crate::simulated::{Data, document, program, told};

fn run(verb: &str, data: &Data, args: &[&str]) -> (Option<i32>, Value, String) {
    let output = program()
        .args([verb, data.file.to_str().unwrap(), "--json"])
        .args(args)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), document(&output), stderr)
}

fn loss(data: &Data, more: &[&str], candidate: &Value) -> f64 {
    let list = data.write("pains.json", &json!([candidate]).to_string());
    let candidates = format!("--candidates={}", list.display());
    let mut args = vec!["--backend=cpu", candidates.as_str()];
    args.extend(more);
    let (code, found, stderr) = run("eval", data, &args);
    assert_eq!(code, Some(0), "{stderr}");
    found["results"][0]["loss"].as_f64().unwrap()
}

#[test]
fn p07_units_stand_with_every_number_and_a_degree_in_a_radian_field_is_warned_of() {
    let data = Data::new();
    let out = data.path("r.h5");
    let out = format!("--output={}", out.display());
    // A bare number is refused; the same length in nm and in Å is the same length.
    let (code, error, _) = run("reconstruct", &data, &[&out, "--aberration=C10=200"]);
    assert_eq!(code, Some(1));
    assert!(
        error["error"]["message"].as_str().unwrap().contains("unit"),
        "{error}"
    );
    let same = |text: &str| {
        let args = [out.as_str(), text, "--force"];
        let (code, found, stderr) = run("reconstruct", &data, &args);
        assert_eq!(code, Some(0), "{stderr}");
        found["loss"].as_f64().unwrap()
    };
    assert_eq!(same("--aberration=C10=20nm"), same("--aberration=C10=200A"));
    let list = data.write("c.json", r#"[{"C10_nm": 9, "C12_nm": 3, "phi12_rad": 11}]"#);
    let candidates = format!("--candidates={}", list.display());
    let (_, _, stderr) = run("eval", &data, &[&candidates, "--backend=cpu"]);
    assert!(stderr.contains("degrees"), "{stderr}");
}

#[test]
fn p08_defocus_is_minus_c10_and_the_wrong_sign_scores_clearly_worse() {
    let data = Data::of(&["--scan-shape=32x32", "--det-shape=24x24"]);
    let truth = json!({"C10_nm": 9, "C12_nm": 3, "phi12_rad": 20f64.to_radians()});
    let mut wrong = truth.clone();
    wrong["C10_nm"] = json!(-9);
    let [right, wrong] = [&truth, &wrong].map(|c| loss(&data, &[], c));
    assert!(wrong > 1.02 * right, "{right} {wrong}");
    let out = format!("--output={}", data.path("r.h5").display());
    let both = ["--aberration=C10=9nm", "--aberration=defocus=-9nm"].map(|text| {
        let (code, found, stderr) = run("reconstruct", &data, &[&out, text, "--force"]);
        assert_eq!(code, Some(0), "{stderr}");
        found["loss"].as_f64().unwrap()
    });
    assert_eq!(both[0], both[1]);
}

#[test]
fn p09_transposes_and_flips_are_explicit_and_the_opposite_rotation_scores_worse() {
    let data = Data::of(&[
        "--scan-shape=32x32",
        "--det-shape=24x24",
        "--rotation-deg=25",
    ]);
    let truth = json!({"C10_nm": 9, "C12_nm": 3, "phi12_rad": 20f64.to_radians()});
    let right = loss(&data, &["--rotation-deg=25"], &truth);
    for wrong in [
        &["--rotation-deg=-25"][..],
        &["--rotation-deg=25", "--transpose"],
        &["--rotation-deg=25", "--flip-rows"],
    ] {
        let wrong_loss = loss(&data, wrong, &truth);
        assert!(wrong_loss > right, "{wrong:?}: {right} {wrong_loss}");
    }
    // A flip taken back, and the rotation with it, is the same data.
    let (_, found, _) = run("inspect", &data, &["--transpose"]);
    assert_eq!(found["shape"], json!([32, 32, 24, 24]));
}

#[test]
fn p10_a_plan_is_printed_and_a_budget_is_kept_with_numbers() {
    let data = Data::of(&["--scan-shape=40x40", "--det-shape=24x24"]);
    let out = format!("--output={}", data.path("cols.h5").display());
    let (code, _, stderr) = run("convert", &data, &[&out]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("plan: read"), "{stderr}");
    assert!(stderr.contains("bright-field columns"), "{stderr}");
    let (code, error, _) = run("convert", &data, &[&out, "--max-memory=10kB"]);
    assert_eq!(code, Some(1));
    assert_eq!(error["error"]["kind"], "over_budget");
    assert!(
        error["error"]["message"]
            .as_str()
            .unwrap()
            .contains("10.0 kB"),
        "{error}"
    );
}

#[test]
fn p11_a_backend_that_cannot_run_is_an_error_and_never_replaced() {
    let data = Data::new();
    let list = data.write("c.json", r#"[{"C10_nm": 9}]"#);
    let candidates = format!("--candidates={}", list.display());
    let (code, error, _) = run("eval", &data, &[&candidates, "--backend=metal"]);
    if cfg!(not(target_os = "macos")) {
        assert_eq!(code, Some(1), "{error}");
    }
    let (code, found, stderr) = run("eval", &data, &[&candidates, "--backend=cpu"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(
        (&found["backend"], &found["software_adapter"]),
        (&json!("cpu"), &json!(false))
    );
}

#[test]
fn p13_a_result_opens_again_with_every_bit_and_without_a_device() {
    let data = Data::new();
    let path = data.path("r.h5");
    let out = format!("--output={}", path.display());
    let (code, _, stderr) = run("reconstruct", &data, &[&out, "--aberration=C10=9nm"]);
    assert_eq!(code, Some(0), "{stderr}");
    let [first, again] = [0, 1].map(|_| ssb::ResultFile::read(&path).unwrap());
    assert_eq!(first, again);
    assert_eq!(first.object.dim(), (24, 30));
    assert!(first.object.iter().any(|z| z.norm() > 0.0));
    // Nothing but the result is left behind.
    assert!(data.listing().iter().all(|name| !name.ends_with(".part")));
}

#[cfg(unix)]
#[test]
fn p14_cancel_stops_within_two_seconds_while_reading() {
    // The fit's own test is in `cancel.rs`; this one stops the reading of a scan.
    let data = Data::of(&["--scan-shape=64x64", "--det-shape=32x32"]);
    let source = ssb::open(&data.file, &ssb::OpenOptions::default()).unwrap();
    let control = ssb::Control::default();
    control.cancel();
    let since = std::time::Instant::now();
    let options = ssb::acquisition::AcquisitionOptions::default();
    let error = ssb::acquisition::Acquisition::gather(&source, &options, &control).unwrap_err();
    assert!(error.is_cancelled(), "{error}");
    assert!(since.elapsed().as_secs() < 2);
}

#[test]
fn a_companion_gives_the_same_bits_as_the_data_it_was_made_of() {
    for layout in ["plain", "arina"] {
        let data = Data::of(&[
            "--scan-shape=40x36",
            "--det-shape=24x20",
            "--layout",
            layout,
        ]);
        let file = match layout {
            "arina" => data.path("scan_master.h5"),
            _ => data.file.clone(),
        };
        let list = data.write("c.json", r#"[{"C10_nm": 9}, {"C10_nm": 5, "C12_nm": 2}]"#);
        let columns = data.path("cols.h5");
        let converted = program()
            .args(["convert", file.to_str().unwrap(), "--json"])
            .args(["-o", columns.to_str().unwrap()])
            .output()
            .unwrap();
        assert!(converted.status.success(), "{}", told(&converted));
        let converted = document(&converted);
        assert!(
            ["u4", "u8", "u16"].contains(&converted["stored"].as_str().unwrap()),
            "{converted}"
        );
        let scores = |path: &std::path::Path| {
            let output = program()
                .args(["eval", path.to_str().unwrap(), "--json", "--backend=cpu"])
                .arg(format!("--candidates={}", list.display()))
                .output()
                .unwrap();
            assert!(output.status.success(), "{}", told(&output));
            let found = document(&output);
            (
                found["results"].clone(),
                found["dc"].clone(),
                found["bf_pixels"].clone(),
            )
        };
        assert_eq!(scores(&columns), scores(&file), "{layout}");
        // A byte of the columns changed is noticed.
        let mut bytes = std::fs::read(&columns).unwrap();
        bytes[9000] ^= 1;
        std::fs::write(&columns, &bytes).unwrap();
        let output = program()
            .args(["eval", columns.to_str().unwrap(), "--json", "--backend=cpu"])
            .arg(format!("--candidates={}", list.display()))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", told(&output));
        assert_eq!(document(&output)["error"]["kind"], "corrupt_chunk");
    }
}
