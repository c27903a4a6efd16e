//! Trials of a result are listed, drawn and reconstructed again; the result itself stays as it is.

use serde_json::Value;

use crate::simulated::{Data, done, json, program, told};

fn fitted() -> (Data, String) {
    let data = Data::of(&["--scan-shape=32x28", "--det-shape=20x20"]);
    let output = data.path("r0.h5");
    let out = output.to_str().unwrap().to_owned();
    done(
        "fit",
        &data.file,
        &[
            "-o",
            &out,
            "--method=tpe",
            "--trials=24",
            "--refine=none",
            "--hot-pixels=off",
        ],
    );
    (data, out)
}

fn numbers(shown: &Value) -> Vec<u64> {
    let trials = shown["trials"].as_array().unwrap();
    trials
        .iter()
        .map(|t| t["number"].as_u64().unwrap())
        .collect()
}

#[test]
fn trials_are_listed_and_drawn() {
    let (data, r0) = fitted();
    let before = std::fs::read(&r0).unwrap();
    let listed = done("show", r0.as_ref(), &["--trials=first=3"]);
    assert_eq!(numbers(&listed), [0, 1, 2]);
    assert_eq!(
        numbers(&done("show", r0.as_ref(), &["--trials=last=2"])),
        [23, 22]
    );
    let first = &listed["trials"][0];
    assert_eq!(
        (first["method"].as_str(), first["objective"].as_str()),
        (Some("start"), Some("phase-variance"))
    );
    assert_eq!(first["rotation_deg"], 0.0);
    assert!(first["loss"].as_f64().unwrap() > 0.0);

    let figure = data.path("trials.png");
    let best = ["--trials=best=4", "-o", figure.to_str().unwrap()];
    let drawn = done("show", r0.as_ref(), &best);
    assert_eq!(numbers(&drawn).len(), 4);
    assert_eq!(&std::fs::read(&figure).unwrap()[1..4], b"PNG");
    assert!(drawn["width_px"].as_u64().unwrap() > 4 * 400);

    // The data moved: a list needs none, a picture asks for them.
    let moved = data.path("moved.h5");
    std::fs::rename(&data.file, &moved).unwrap();
    std::fs::remove_file(&figure).unwrap();
    assert_eq!(
        numbers(&done("show", r0.as_ref(), &["--trials=best=4"])),
        numbers(&drawn)
    );
    let (code, error) = json("show", r0.as_ref(), &best);
    let message = error["error"]["message"].as_str().unwrap();
    assert!(
        code == 1 && message.contains("scan.h5") && message.contains("--source"),
        "{error}"
    );
    assert!(!figure.exists());
    let source = ["--source", moved.to_str().unwrap()];
    assert_eq!(
        numbers(&done("show", r0.as_ref(), &[&best[..], &source].concat())),
        numbers(&drawn)
    );
    let other = Data::of(&["--scan-shape=32x28", "--det-shape=20x20", "--seed=7"]);
    let source = ["--source", other.file.to_str().unwrap()];
    let (code, error) = json("show", r0.as_ref(), &[&best[..], &source].concat());
    let message = error["error"]["message"].as_str().unwrap();
    assert!(code == 1 && message.contains("SHA-256"), "{error}");
    assert_eq!(std::fs::read(&r0).unwrap(), before);
}

#[test]
fn trials_and_changed_fits_are_reconstructed() {
    let (data, r0) = fitted();
    let before = std::fs::read(&r0).unwrap();
    let out = data.path("again.h5");
    let reconstruct = |more: &[&str]| {
        let args = ["-o", out.to_str().unwrap(), "--from", &r0];
        json("reconstruct", &data.file, &[&args[..], more].concat())
    };
    let loss = |document: &Value| document["loss"].as_f64().unwrap();
    let stored = ssb::ResultFile::read(&r0).unwrap();

    let (code, trial) = reconstruct(&["--trial=5"]);
    assert_eq!(code, 0, "{trial}");
    assert!(
        (loss(&trial) / stored.trials[5].loss - 1.0).abs() < 1e-6,
        "{trial}"
    );
    assert_eq!(
        ssb::ResultFile::read(&out).unwrap().outcome.best,
        stored.trials[5].candidate
    );
    assert_eq!(
        (&trial["from"]["trial"], &trial["fitted"]),
        (&5.into(), &false.into())
    );
    assert_eq!(reconstruct(&["--trial=5"]).1["reused"], true);
    // Another trial, another coefficient, another result: none answers for another.
    let (_, sixth) = reconstruct(&["--trial=6"]);
    assert_eq!(sixth["reused"], false);
    assert!((loss(&sixth) / stored.trials[6].loss - 1.0).abs() < 1e-6);
    let (code, changed) = reconstruct(&["--aberration=C30=5um", "--aberration=phi12=10deg"]);
    assert_eq!((code, &changed["reused"]), (0, &false.into()), "{changed}");
    let best = &changed["best"];
    assert_eq!(
        (&best["C30_nm"], &best["C10_nm"]),
        (
            &5000.0.into(),
            &serde_json::json!(stored.outcome.best)["C10_nm"]
        )
    );
    assert_eq!(changed["from"]["changed"], true);
    assert_ne!(loss(&changed), loss(&sixth));
    let (_, same) = reconstruct(&[]);
    assert!((loss(&same) / stored.outcome.loss - 1.0).abs() < 1e-6);
    assert_eq!(same["reused"], false);

    let (code, error) = reconstruct(&["--trial=999"]);
    let message = error["error"]["message"].as_str().unwrap();
    assert!(code == 1 && message.contains("0 to 23"), "{error}");
    let alone = program()
        .args(["reconstruct", "x.h5", "-o", "y.h5", "--trial=1"])
        .output()
        .unwrap();
    assert_eq!(alone.status.code(), Some(2), "{}", told(&alone));
    assert_eq!(std::fs::read(&r0).unwrap(), before);
}
