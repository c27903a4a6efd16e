//! `fit`, `reconstruct`, `show`, `export`, `demo`: results are written whole, found again, drawn.

use crate::simulated::{Data, document, done, json, program, told};

fn number(document: &serde_json::Value, key: &str) -> f64 {
    document[key]
        .as_f64()
        .unwrap_or_else(|| panic!("{key}: {document}"))
}

#[test]
fn a_fit_finds_the_truth_and_is_reused() {
    let data = Data::of(&[
        "--scan-shape=40x36",
        "--det-shape=24x24",
        "--dose-e-per-pattern=1e5",
    ]);
    let output = data.path("r.h5");
    let out = output.to_str().unwrap();
    let args = [
        "-o",
        out,
        "--method=tpe",
        "--trials=120",
        "--search=C10=-25nm:25nm",
        "--search=C12",
    ];
    let fit = done("fit", &data.file, &args);
    let best = &fit["best"];
    assert!((number(best, "C10_nm") - 9.0).abs() < 0.5, "{best}");
    assert!((number(best, "C12_nm") - 3.0).abs() < 0.5, "{best}");
    assert!((number(best, "phi12_rad") - 0.349).abs() < 0.15, "{best}");
    let trials = fit["trials"].as_array().unwrap();
    let sampled = trials
        .iter()
        .filter(|t| t["method"] != "nelder-mead")
        .count();
    assert_eq!(sampled, 120);
    assert_eq!(trials[0]["method"], "start");
    assert_eq!(trials[0]["candidate"]["C12_nm"], 5.0);
    let lowest = trials
        .iter()
        .filter(|t| t["eligible"] == true)
        .map(|t| number(t, "loss"))
        .fold(f64::INFINITY, f64::min);
    assert_eq!(number(&fit, "loss"), lowest);
    assert!(number(&fit, "evaluations") <= trials.len() as f64);
    assert_eq!(fit["agreement_evaluations"], 0);
    assert!(fit["gain"].is_null() && number(&fit, "agreement") > 0.0);
    assert_eq!(fit["cancelled"], false);
    assert_eq!(fit["reused"], false);
    assert_eq!(fit["search"]["C10_nm"], serde_json::json!([-25.0, 25.0]));
    assert_eq!(
        fit["column_sign"]["state"], "positive",
        "{}",
        fit["column_sign"]
    );

    // The score of `eval` at the best candidate is the loss of the fit.
    let list = serde_json::json!([best]).to_string();
    let candidates = data.write("best.json", &list);
    let again = done(
        "eval",
        &data.file,
        &["--candidates", candidates.to_str().unwrap()],
    );
    let loss = number(&again["results"][0], "loss");
    assert!((loss / lowest - 1.0).abs() < 1e-7, "{loss} {lowest}");

    let written = std::fs::metadata(&output).unwrap().modified().unwrap();
    let reused = done("fit", &data.file, &args);
    assert_eq!(reused["reused"], true);
    assert_eq!(reused["loss"], fit["loss"]);
    assert_eq!(reused["trials"], fit["trials"]);
    assert_eq!(
        std::fs::metadata(&output).unwrap().modified().unwrap(),
        written
    );
    let forced = done("fit", &data.file, &[&args[..], &["--force"]].concat());
    assert_eq!(forced["reused"], false);
    assert_eq!(
        forced["loss"], fit["loss"],
        "the same seed gives the same fit"
    );
    let other = done("fit", &data.file, &[&args[..], &["--seed=7"]].concat());
    assert_eq!(other["reused"], false);

    drawn_and_exported(&data, out);
    reconstructed_from(&data, out, number(&other, "loss"));
}

fn drawn_and_exported(data: &Data, result: &str) {
    let figure = data.path("fig.png");
    let shown = done(
        "show",
        result.as_ref(),
        &["-o", figure.to_str().unwrap(), "--trials=best=3"],
    );
    assert_eq!(&std::fs::read(&figure).unwrap()[1..4], b"PNG");
    let best: Vec<f64> = shown["trials"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| number(t, "loss"))
        .collect();
    assert!(best.len() == 3 && best.is_sorted(), "{best:?}");
    for panel in ["phase", "spectrum", "pattern", "loss", "scatter", "table"] {
        let path = data.path(&format!("{panel}.png"));
        done(
            "show",
            result.as_ref(),
            &["-o", path.to_str().unwrap(), "--panel", panel],
        );
        assert!(path.exists());
    }
    let (code, error) = json(
        "show",
        result.as_ref(),
        &["-o", data.path("x.png").to_str().unwrap(), "--panel=moon"],
    );
    assert_eq!(code, 1);
    assert!(
        error["error"]["message"]
            .as_str()
            .unwrap()
            .contains("spectrum"),
        "{error}"
    );
    assert!(!data.path("x.png").exists());

    let files = done("export", result.as_ref(), &["--npy", "--tiff", "--png"]);
    for file in files["files"].as_array().unwrap() {
        assert!(
            std::path::Path::new(file.as_str().unwrap()).exists(),
            "{file}"
        );
    }
    for name in [
        "r_object.npy",
        "r_phase.tif",
        "r_phase.png",
        "r_mean_phase.npy",
    ] {
        assert!(data.path(name).exists(), "{name}");
    }
    assert_eq!(json("export", result.as_ref(), &[]).0, 1);
}

fn reconstructed_from(data: &Data, result: &str, loss: f64) {
    let output = data.path("known.h5");
    let out = output.to_str().unwrap();
    let image = done(
        "reconstruct",
        &data.file,
        &["-o", out, "--from", result, "--upsample=2", "--loss"],
    );
    assert!((number(&image, "loss") / loss - 1.0).abs() < 1e-7);
    assert_eq!(image["fitted"], false);
    let stored = ssb::ResultFile::read(&output).unwrap();
    assert_eq!(stored.object.dim(), (80, 72));
    assert_eq!(stored.mean_phase_rad.unwrap().dim(), (40, 36));
    assert!(stored.trials.is_empty());
    // What the figure of a reconstruction shows is what the array holds.
    let run = program()
        .args(["reconstruct", data.file.to_str().unwrap(), "-o", out])
        .args(["--from", result, "--upsample=2"])
        .output()
        .unwrap();
    let text = told(&run);
    assert!(
        text.contains("reused") && text.contains("not fitted"),
        "{text}"
    );
}

#[test]
fn other_methods_take_the_same_path() {
    let data = Data::new();
    for method in ["random", "grid"] {
        let out = data.path(&format!("{method}.h5"));
        let args = [
            "-o",
            out.to_str().unwrap(),
            "--method",
            method,
            "--trials=28",
            "--refine=none",
            "--check-rotation=off",
        ];
        let fit = done("fit", &data.file, &args);
        let trials = fit["trials"].as_array().unwrap();
        assert!(trials[1..].iter().all(|t| t["method"] == method));
        assert!(trials.len() <= 28 && fit["column_sign"].is_null());
    }
}

#[test]
fn a_zero_start_and_a_bound_are_said() {
    let data = Data::new();
    let out = data.path("r.h5");
    let fit = done(
        "fit",
        &data.file,
        &[
            "-o",
            out.to_str().unwrap(),
            "--trials=30",
            "--start=C12=0nm",
            "--search=C10=-30nm:4nm",
            "--search=C12",
        ],
    );
    let warnings = fit["warnings"].to_string();
    assert!(warnings.contains("degenerate"), "{warnings}");
    assert!(warnings.contains("bound"), "{warnings}");
    assert_eq!(fit["start"]["C12_nm"], 5.0);
}

#[test]
fn the_demo_ends_with_the_truth() {
    let folder = tempfile::tempdir().unwrap();
    let wanted = folder.path().join("demo");
    for expected in ["demo", "demo-2"] {
        let run = program()
            .args(["demo", wanted.to_str().unwrap(), "--json"])
            .output()
            .unwrap();
        assert!(run.status.success(), "{}", told(&run));
        let demo = document(&run);
        for (name, difference) in demo["difference_nm"].as_object().unwrap() {
            assert!(
                difference.as_f64().unwrap().abs() < 0.3,
                "{name}: {difference}"
            );
        }
        assert!(number(&demo, "phase_correlation") >= 0.9);
        for file in ["scan.h5", "result.h5", "figure.png", "scan_truth.json"] {
            assert!(folder.path().join(expected).join(file).exists(), "{file}");
        }
    }
}
