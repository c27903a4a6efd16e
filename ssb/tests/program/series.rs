//! `ssb series`: natural order, shared and own fits, failures apart, nothing made twice.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;
use ssb::ResultFile;

use crate::simulated::{document, program, told};

const FIT: [&str; 4] = [
    "--method=tpe",
    "--trials=30",
    "--refine=none",
    "--search=C10=-20nm:20nm",
];

fn simulate(folder: &Path, name: &str, more: &[&str]) -> PathBuf {
    let file = folder.join(name);
    let run = program()
        .arg("simulate")
        .arg(&file)
        .args([
            "--det-shape=20x20",
            "--aberration=C10=9nm",
            "--scan-step-a=0.3",
            "--quiet",
        ])
        .args(more)
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", told(&run));
    file
}

/// Four acquisitions: number 3 is of another shape, number 11 is broken.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for n in [2, 10] {
        let seed = format!("--seed={n}");
        simulate(
            folder.path(),
            &format!("scan_{n}.h5"),
            &["--scan-shape=24x30", &seed],
        );
    }
    simulate(folder.path(), "scan_3.h5", &["--scan-shape=24x24"]);
    let whole = std::fs::read(folder.path().join("scan_2.h5")).unwrap();
    std::fs::write(folder.path().join("scan_11.h5"), &whole[..whole.len() / 2]).unwrap();
    std::fs::write(folder.path().join("gain.h5"), "x").unwrap();
    folder
}

fn series(folder: &Path, out: &Path, more: &[&str]) -> (i32, Value) {
    let run = program()
        .arg("series")
        .arg(folder)
        .arg("-o")
        .arg(out)
        .args(FIT)
        .args(more)
        .arg("--json")
        .output()
        .unwrap();
    (run.status.code().unwrap(), document(&run))
}

fn column(document: &Value, key: &str) -> Vec<Value> {
    let list = document["acquisitions"].as_array().unwrap();
    list.iter().map(|a| a[key].clone()).collect()
}

#[test]
fn a_shared_fit_serves_all_and_failures_stand_apart() {
    let (data, out) = (folder(), tempfile::tempdir().unwrap());
    let out = out.path().join("results");
    let (code, made) = series(data.path(), &out, &[]);
    assert_eq!(code, 1, "{made}");
    assert_eq!(
        column(&made, "name"),
        ["scan_2", "scan_3", "scan_10", "scan_11"]
    );
    assert_eq!(column(&made, "state"), ["done", "done", "done", "failed"]);
    let broken = &made["acquisitions"][3]["error"];
    assert_eq!(broken["kind"], "truncated", "{broken}");
    assert!(broken["file"].as_str().unwrap().ends_with("scan_11.h5"));
    assert_eq!(
        (made["done"].as_u64(), made["failed"].as_u64()),
        (Some(3), Some(1))
    );
    let best = column(&made, "best");
    assert!(best[1] == best[0] && best[2] == best[0]);
    let of = |n: u32| ResultFile::read(out.join(format!("scan_{n}.h5"))).unwrap();
    assert!(of(2).outcome.fitted && !of(10).outcome.fitted);

    // One file with the phases of one shape; the other shape is named, not cropped.
    assert_eq!(made["stacked"], 2);
    assert_eq!(made["not_in_stack"][0]["name"], "scan_3");
    let stack = ssb::open(out.join("phases.h5"), &ssb::OpenOptions::default());
    assert!(stack.is_err() || stack.unwrap().shape()[..2] == [1, 2]);
    assert!(ssb_io::result::PhaseStack::is_stack(&out.join("phases.h5")));

    // Nothing is made twice, and a repaired acquisition is made alone.
    let fixed = data.path().join("scan_11.h5");
    std::fs::remove_file(&fixed).unwrap();
    simulate(
        data.path(),
        "scan_11.h5",
        &["--scan-shape=24x30", "--seed=11"],
    );
    let (code, again) = series(data.path(), &out, &[]);
    assert_eq!(code, 0, "{again}");
    assert_eq!(column(&again, "reused"), [true, true, true, false]);
    assert_eq!(again["stacked"], 3);

    // The fit of another member, by name.
    let (_, named) = series(data.path(), &out, &["--fit-on=scan_10"]);
    assert!(of(10).outcome.fitted && !of(2).outcome.fitted, "{named}");
    let (code, error) = series(data.path(), &out, &["--fit-on=scan_4"]);
    assert!(
        code == 1 && error["error"]["message"].to_string().contains("scan_11"),
        "{error}"
    );
}

#[test]
fn every_acquisition_has_its_own_fit() {
    let (data, out) = (folder(), tempfile::tempdir().unwrap());
    std::fs::remove_file(data.path().join("scan_11.h5")).unwrap();
    let (code, made) = series(
        data.path(),
        out.path(),
        &["--fit=each", "--region=0:20,0:24"],
    );
    assert_eq!(code, 0, "{made}");
    let best = column(&made, "best");
    assert!(best[1] != best[0] && best[2] != best[0]);
    assert!([2, 3, 10].iter().all(|n| {
        let result = ResultFile::read(out.path().join(format!("scan_{n}.h5"))).unwrap();
        result.outcome.fitted && result.phase_rad.dim() == (20, 24)
    }));
    assert_eq!(made["stacked"], 3);
}

#[test]
fn a_killed_series_goes_on() {
    let (data, out) = (folder(), tempfile::tempdir().unwrap());
    std::fs::remove_file(data.path().join("scan_11.h5")).unwrap();
    let journal = out.path().join("scan_3.h5.journal");
    let mut child = program()
        .arg("series")
        .arg(data.path())
        .arg("-o")
        .arg(out.path())
        .args([
            "--fit=each",
            "--trials=2000",
            "--refine=none",
            "--method=random",
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let since = Instant::now();
    while !journal.exists() {
        assert!(
            since.elapsed() < Duration::from_secs(120),
            "scan_3 was not begun"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let run = program()
        .arg("series")
        .arg(data.path())
        .arg("-o")
        .arg(out.path())
        .args([
            "--fit=each",
            "--trials=2000",
            "--refine=none",
            "--method=random",
            "--json",
        ])
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", told(&run));
    let made = document(&run);
    assert_eq!(column(&made, "reused"), [true, false, false], "{made}");
    let resumed = column(&made, "resumed_evaluations");
    assert!(
        resumed[1].as_u64().unwrap() > 0 && resumed[2] == 0,
        "{made}"
    );
    assert!(!journal.exists());
}

#[test]
fn folders_that_are_no_series_are_refused() {
    let (data, out) = (folder(), tempfile::tempdir().unwrap());
    simulate(data.path(), "ref_1.h5", &["--scan-shape=24x24"]);
    let (code, error) = series(data.path(), out.path(), &[]);
    let message = error["error"]["message"].as_str().unwrap();
    assert!(
        code == 1 && message.contains("scan_#.h5 (4)") && message.contains("--pattern"),
        "{error}"
    );
    let (code, error) = series(data.path(), data.path(), &["--pattern=scan_#.h5"]);
    assert!(
        code == 1
            && error["error"]["message"]
                .to_string()
                .contains("another folder"),
        "{error}"
    );
    let (code, error) = series(&data.path().join("scan_2.h5"), out.path(), &[]);
    assert!(
        code == 1 && error["error"]["kind"] == "not_a_file",
        "{error}"
    );
    std::fs::write(out.path().join("phases.h5"), "notes").unwrap();
    let (code, error) = series(data.path(), out.path(), &["--pattern=scan_#.h5"]);
    assert!(
        code == 1 && error["error"]["message"].to_string().contains("no stack"),
        "{error}"
    );
    assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 1);
}
