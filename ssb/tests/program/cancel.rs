//! Ctrl-C: the program stops within a second and keeps the best so far, marked.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::simulated::{Data, program};

fn interrupt(id: u32) {
    let sent = Command::new("kill")
        .args(["-INT", &id.to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
}

#[test]
fn a_cancelled_fit_keeps_its_best() {
    let data = Data::of(&["--scan-shape=64x64", "--det-shape=24x24"]);
    let (output, trace) = (data.path("r.h5"), data.path("trace.jsonl"));
    let mut child = program()
        .args([
            "fit",
            data.file.to_str().unwrap(),
            "--json",
            "--trials=100000",
        ])
        .args(["--method=random", "-o", output.to_str().unwrap()])
        .args(["--trace", trace.to_str().unwrap()])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = || {
        std::fs::read_to_string(&trace).is_ok_and(|t| t.matches(r#""task":"search""#).count() > 3)
    };
    let since = Instant::now();
    while !begun() {
        assert!(
            since.elapsed() < Duration::from_secs(30),
            "the search did not begin"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(!output.exists());
    let asked = Instant::now();
    interrupt(child.id());
    let status = child.wait().unwrap();
    let waited = asked.elapsed();
    assert_eq!(status.code(), Some(130));
    assert!(
        waited < Duration::from_secs(2),
        "it took {waited:?} to stop"
    );
    let mut stdout = String::new();
    std::io::Read::read_to_string(child.stdout.as_mut().unwrap(), &mut stdout).unwrap();
    let document: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(document["cancelled"], true);
    assert!(document["agreement"].is_null());
    let kept = ssb::ResultFile::read(&output).unwrap();
    assert!(kept.outcome.cancelled);
    assert_eq!(kept.outcome.loss, document["loss"].as_f64().unwrap());
    let lowest = kept
        .trials
        .iter()
        .filter(|t| t.eligible)
        .map(|t| t.loss)
        .fold(f64::INFINITY, f64::min);
    assert_eq!(kept.outcome.loss, lowest);
}

#[test]
fn cancelled_before_anything_is_found_leaves_nothing() {
    let data = Data::of(&["--scan-shape=64x64", "--det-shape=24x24"]);
    let before = data.listing();
    let mut child = program()
        .args(["eval", data.file.to_str().unwrap(), "--backend=oracle"])
        .args(["--save-phase", data.path("p.npy").to_str().unwrap()])
        .args([
            "--candidates",
            data.write("c.json", "[{}, {}, {}, {}, {}, {}]")
                .to_str()
                .unwrap(),
        ])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(700));
    let asked = Instant::now();
    interrupt(child.id());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(asked.elapsed() < Duration::from_secs(2));
    std::fs::remove_file(data.path("c.json")).unwrap();
    assert_eq!(data.listing(), before);
}

#[test]
fn benchmarks_and_parity_stop() {
    for args in [
        [
            "bench",
            "--backend=cpu",
            "--runs=1000000",
            "--scan-shape=64x64",
        ],
        ["parity", "--backend=oracle", "--large", "--quiet"],
    ] {
        let mut child = program()
            .args(args)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_secs(4));
        assert!(child.try_wait().unwrap().is_none(), "{args:?} ended early");
        let asked = Instant::now();
        interrupt(child.id());
        assert_eq!(child.wait().unwrap().code(), Some(130), "{args:?}");
        let waited = asked.elapsed();
        assert!(waited < Duration::from_secs(3), "{args:?} took {waited:?}");
    }
}
