//! `parity`, `bench`: what this machine computes, how exactly and how fast.

use serde_json::Value;

use crate::simulated::{document, program, told};

#[test]
fn parity_passes_on_the_cpu_and_says_how_near_to_the_bounds() {
    let run = program()
        .args(["parity", "--backend=cpu", "--problems=16x31,8x8", "--json"])
        .output()
        .unwrap();
    let found = document(&run);
    assert_eq!(run.status.code(), Some(0), "{found}");
    assert_eq!(found["backend"], "cpu");
    assert_eq!(found["software_adapter"], false);
    assert_eq!(found["problems"], serde_json::json!(["8x8", "16x31"]));
    let outcomes = found["outcomes"].as_array().unwrap();
    assert_eq!(found["checks"], outcomes.len());
    assert!(outcomes.iter().all(|o| o["passed"] == true), "{found}");
    let worst = found["worst"].as_array().unwrap();
    let loss = worst.iter().find(|k| k["check"] == "loss").unwrap();
    let ratio = loss["ratio"].as_f64().unwrap();
    assert!(ratio > 0.0 && ratio <= 1.0, "{loss}");
    assert!(
        outcomes.iter().all(|o| {
            o["check"] != "loss" || o["measured"].as_f64() <= loss["measured"].as_f64()
        })
    );
}

#[test]
fn parity_prints_a_line_a_check_and_a_failure_is_exit_code_1() {
    let lines = |args: &[&str]| {
        let run = program().arg("parity").args(args).output().unwrap();
        let text = String::from_utf8(run.stdout.clone()).unwrap();
        (run.status.code(), text, told(&run))
    };
    let (code, text, all) = lines(&["--backend=cpu", "--problems=9x8"]);
    assert_eq!(code, Some(0), "{all}");
    let passed = text.lines().filter(|l| l.starts_with("pass 9x8")).count();
    assert!(
        passed > 20 && all.contains("not a software adapter"),
        "{all}"
    );
    assert!(
        text.contains(&format!("{passed} checks, all passed")),
        "{all}"
    );
    // Nothing can be prepared in one byte.
    let (code, text, all) = lines(&["--backend=cpu", "--problems=9x8", "--max-memory=1"]);
    assert_eq!(code, Some(1), "{all}");
    assert!(
        text.contains("FAIL 9x8") && text.contains("FAILED"),
        "{all}"
    );
}

#[test]
fn parity_refuses_unknown_problems_and_backends() {
    for (args, word) in [
        (["--backend=cpu", "--problems=7x5"], "256x256"),
        (["--backend=abacus", "--problems=8x8"], "abacus"),
        (["--backend=cpu", "--device=9"], "not number 9"),
    ] {
        let run = program()
            .args(["parity", "--json"])
            .args(args)
            .output()
            .unwrap();
        let found: Value = document(&run);
        assert_eq!(run.status.code(), Some(1), "{found}");
        let message = found["error"]["message"].as_str().unwrap();
        assert!(message.contains(word), "{message}");
    }
}

#[test]
fn bench_prints_one_json_line_a_benchmark() {
    let run = program()
        .args(["bench", "--backend=cpu", "--bf=60", "--runs=3", "--json"])
        .args(["--scan-shape=24x20", "--scan-shape=16x21", "--threads=2"])
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", told(&run));
    let text = String::from_utf8(run.stdout).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |shape: [usize; 2]| {
        let shape = serde_json::json!(shape);
        let kept = lines.iter().filter(|l| l["scan_shape"] == shape);
        kept.map(|l| l["bench"].as_str().unwrap())
            .collect::<Vec<_>>()
    };
    let names = [
        "prepare",
        "loss x1",
        "loss x2",
        "loss x4",
        "mean phase",
        "object",
        "agreement",
        "agreement x4",
        "thick loss",
        "every-term loss",
    ];
    assert_eq!(
        (of([24, 20]), of([16, 21])),
        (names.to_vec(), names.to_vec())
    );
    let g_bytes = 8 * 24 * 11 * 60;
    for line in &lines {
        assert_eq!(
            (&line["backend"], &line["threads"]),
            (&"cpu".into(), &2.into())
        );
        assert_eq!((&line["bf_active"], &line["runs"]), (&60.into(), &3.into()));
        assert_eq!(line["speed_claim"], true);
        let seconds = |name: &str| line["seconds"][name].as_f64().unwrap();
        assert!(
            seconds("min") > 0.0 && seconds("min") <= seconds("median"),
            "{line}"
        );
        assert!(
            seconds("median") <= seconds("max") && seconds("first") > 0.0,
            "{line}"
        );
        let copied = line["copy_bytes_per_s"].as_f64().unwrap();
        if line["bench"] == "prepare" {
            assert!(line["model_bytes"].is_null() && line["fraction_of_copy"].is_null());
        } else {
            let moved = line["model_bytes"].as_f64().unwrap() / seconds("median");
            let fraction = line["fraction_of_copy"].as_f64().unwrap();
            assert!((fraction / (moved / copied) - 1.0).abs() < 1e-9, "{line}");
        }
    }
    let bytes = |name: &str| {
        let mut first = lines.iter().filter(|l| l["bench"] == name);
        first.next().unwrap()["model_bytes"].as_u64().unwrap()
    };
    assert_eq!(bytes("object"), g_bytes);
    assert_eq!(bytes("agreement"), g_bytes);
    // The corrected half plane of a pixel stays in cache.
    assert_eq!(bytes("loss x1"), g_bytes);
    assert_eq!(bytes("loss x2"), g_bytes);
    assert!(
        lines
            .iter()
            .all(|l| l["commit"].is_string() || l["commit"].is_null())
    );
}

#[test]
fn bench_talks_to_people_and_refuses_what_it_cannot_do() {
    let bench = |args: &[&str]| program().arg("bench").args(args).output().unwrap();
    let run = bench(&[
        "--backend=oracle",
        "--scan-shape=4x5",
        "--bf=30",
        "--runs=1",
    ]);
    let text = String::from_utf8(run.stdout.clone()).unwrap();
    assert!(run.status.success(), "{}", told(&run));
    assert_eq!(text.lines().count(), 8, "{text}");
    assert!(text.contains("4x5 x 30 BF  object"), "{text}");
    assert!(told(&run).contains("agreement left out"), "{}", told(&run));
    for (args, word) in [
        (["--backend=cpu", "--scan-shape=4x5"], "at least 8"),
        (["--backend=cpu", "--scan-shape=1x5"], "2 x 2"),
        (["--backend=cpu", "--bf=900000000000000"], "choose fewer"),
        (["--backend=cpu", "--max-memory=1MB"], "max-memory"),
    ] {
        let run = bench(&args);
        assert_eq!(run.status.code(), Some(1), "{}", told(&run));
        assert!(told(&run).contains(word), "{}", told(&run));
    }
}
