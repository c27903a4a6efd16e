//! A fit that was killed or cancelled continues to the same trials and the same result.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use ssb::ResultFile;

use crate::simulated::{Data, done, json, program};

const FIT: [&str; 2] = ["--trials=300", "--backend=cpu"];
const TPE: &str = "--method=tpe";

/// Everything in a result but its times.
fn contents(path: &Path) -> ResultFile {
    let mut result = ResultFile::read(path).unwrap();
    result.provenance.seconds = Value::Null;
    result
}

/// Trials that the search says it has settled, by the trace of a run.
fn settled(trace: &Path) -> u64 {
    let text = std::fs::read_to_string(trace).unwrap_or_default();
    // One event of the array a line.
    let records = text
        .lines()
        .filter_map(|l| serde_json::from_str::<Value>(l.trim_end_matches(',')).ok());
    let of_search = records.filter(|r| r["args"]["task"] == "search");
    of_search
        .filter_map(|r| r["args"]["done"].as_str()?.parse().ok())
        .max()
        .unwrap_or(0)
}

/// Exact evaluations in the lines of a journal.
fn losses(lines: &[u8]) -> u64 {
    let text = std::str::from_utf8(lines).unwrap();
    let records = text.lines().filter_map(|l| l.split_once(' '));
    let records = records.map(|(_, json)| serde_json::from_str::<Value>(json).unwrap());
    let found = |r: Value| r["found"].as_object().map_or(0, |f| f.len() as u64);
    records.filter(|r| r["kind"] == "loss").map(found).sum()
}

/// The whole lines of a journal; nothing where there is none yet.
fn lines(journal: &Path) -> Vec<u8> {
    let mut bytes = std::fs::read(journal).unwrap_or_default();
    let end = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    bytes.truncate(end);
    bytes
}

fn count(lines: &[u8]) -> usize {
    lines.iter().filter(|b| **b == b'\n').count()
}

fn fit(data: &Data, output: &Path, more: &[&str]) -> Command {
    let mut command = program();
    command
        .arg("fit")
        .arg(&data.file)
        .arg("-o")
        .arg(output)
        .args(FIT)
        .args(more)
        .args(["--json", "--quiet"])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Numbers of a linear congruential generator, the same in every run.
struct Moments(u64);

impl Moments {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// Waits until the journal has so many lines, then some microseconds; false when the program ended before.
fn reaches(child: &mut Child, journal: &Path, wanted: usize, then: u64) -> bool {
    let since = Instant::now();
    while count(&lines(journal)) < wanted {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        assert!(since.elapsed() < Duration::from_secs(120), "no progress");
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_micros(then));
    child.try_wait().unwrap().is_none()
}

#[test]
fn killed_at_twenty_moments_it_ends_with_the_same_trials_and_result() {
    let data = Data::of(&["--scan-shape=48x40", "--det-shape=24x24"]);
    let (whole, pieces) = (data.path("whole.h5"), data.path("pieces.h5"));
    assert!(fit(&data, &whole, &[TPE]).status().unwrap().success());
    assert!(!ssb::fit::Journal::beside(&whole).exists());

    let journal = ssb::fit::Journal::beside(&pieces);
    let mut moments = Moments(20);
    let mut before = Vec::new();
    let trace = data.path("trace.jsonl");
    let traced = [TPE, "--resume", "--trace", trace.to_str().unwrap()];
    // Trials that were equal to earlier ones and not evaluated.
    let memo = {
        let whole = contents(&whole);
        let evaluations = whole.outcome.details["evaluations"].as_u64().unwrap();
        whole.trials.len() as u64 - evaluations
    };
    for number in 0..20 {
        let mut child = fit(&data, &pieces, &traced).spawn().unwrap();
        let running = if number % 5 == 0 {
            // While the program starts, reads, prepares or replays.
            std::thread::sleep(Duration::from_millis(moments.below(80)));
            child.try_wait().unwrap().is_none()
        } else {
            let more = 1 + moments.below(7) as usize;
            reaches(
                &mut child,
                &journal,
                count(&before).max(1) + more,
                moments.below(4000),
            )
        };
        assert!(running, "the fit ended before kill {number}");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!pieces.exists());
        // What one life recorded the next does not make again, and keeps.
        let after = lines(&journal);
        assert!(after.starts_with(&before), "kill {number}");
        // Only what was in flight is lost: every trial that the search went on from is there.
        let (kept, went_on) = (losses(&after), settled(&trace));
        assert!(kept + memo >= went_on, "kill {number}: {kept} of {went_on}");
        before = after;
    }
    let known = count(&before);
    assert!(known > 20, "only {known} records were made");
    let ended = done(
        "fit",
        &data.file,
        &[&FIT[..], &[TPE, "--resume", "-o", pieces.to_str().unwrap()]].concat(),
    );
    let (whole, pieces) = (contents(&whole), contents(&pieces));
    assert_eq!(pieces.trials.len(), whole.trials.len());
    assert!(pieces == whole, "the results differ");
    let resumed = ended["resumed_evaluations"].as_u64().unwrap();
    let evaluations = ended["evaluations"].as_u64().unwrap();
    assert!(
        resumed >= known as u64 - 1 && resumed < evaluations,
        "{resumed} of {evaluations}"
    );
    assert_eq!(pieces.outcome.details["evaluations"], evaluations);
    assert!(!journal.exists());
    assert!(data.listing().iter().all(|name| !name.ends_with(".part")));
}

/// What a fit printed, but for its times and places.
fn answer(mut document: Value) -> Value {
    let fields = document.as_object_mut().unwrap();
    for key in [
        "seconds",
        "peak_rss_bytes",
        "output",
        "reused",
        "resumed_evaluations",
    ] {
        assert!(fields.remove(key).is_some(), "{key}");
    }
    document
}

#[test]
fn searches_by_the_agreement_go_on_too() {
    let data = Data::of(&["--scan-shape=48x40", "--det-shape=24x24"]);
    for search in ["--method=guided", "--tilt", "--search=rotation=-5deg:5deg"] {
        let output = |name: &str| data.path(&format!("{name}{search}.h5"));
        let (whole, pieces) = (output("whole"), output("pieces"));
        let run = |output: &Path, more: &[&str]| {
            let args = ["-o", output.to_str().unwrap(), search];
            done("fit", &data.file, &[&FIT[..], &args, more].concat())
        };
        let expected = run(&whole, &[]);
        let journal = ssb::fit::Journal::beside(&pieces);
        let mut kills = 0;
        for wanted in [2, 5, 9] {
            let mut child = fit(&data, &pieces, &[search, "--resume"]).spawn().unwrap();
            kills += u32::from(reaches(&mut child, &journal, wanted, 0));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let ended = run(&pieces, &["--resume"]);
        assert!(kills > 0, "{search}: it was never killed");
        assert_eq!(answer(ended), answer(expected), "{search}");
        assert!(!journal.exists());
    }
}

#[cfg(unix)]
#[test]
fn a_cancelled_fit_goes_on_where_it_was() {
    let data = Data::of(&["--scan-shape=48x40", "--det-shape=24x24"]);
    let (whole, pieces) = (data.path("whole.h5"), data.path("pieces.h5"));
    assert!(
        fit(&data, &whole, &["--method=random"])
            .status()
            .unwrap()
            .success()
    );
    let journal = ssb::fit::Journal::beside(&pieces);
    let mut child = fit(&data, &pieces, &["--method=random"]).spawn().unwrap();
    assert!(reaches(&mut child, &journal, 12, 0));
    let interrupted = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(interrupted.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(contents(&pieces).outcome.cancelled && journal.exists());

    let out = pieces.to_str().unwrap();
    let asked = |more: &[&str]| {
        json(
            "fit",
            &data.file,
            &[&FIT[..], &["--method=random", "-o", out], more].concat(),
        )
    };
    let refused = |more: &[&str], words: &[&str]| {
        let kept = std::fs::read(&journal).unwrap();
        let (code, error) = asked(more);
        let message = error["error"]["message"].as_str().unwrap().to_owned();
        assert_eq!(
            (code, error["error"]["kind"].as_str()),
            (1, Some("journal")),
            "{error}"
        );
        for word in words {
            assert!(message.contains(word), "{word}: {message}");
        }
        assert_eq!(std::fs::read(&journal).unwrap(), kept);
    };
    refused(&[], &["pieces.h5.journal", "--resume", "--force"]);
    refused(
        &["--resume", "--seed=7", "--search=C10=-20nm:20nm"],
        &[
            "request.seed is 42 there and 7 now",
            "request.search",
            "--force",
        ],
    );
    assert_eq!(asked(&["--resume", "--force"]).0, 2);

    let left = std::fs::read(&journal).unwrap();
    let (code, ended) = asked(&["--resume"]);
    assert_eq!(
        (code, ended["cancelled"].as_bool()),
        (0, Some(false)),
        "{ended}"
    );
    assert!(
        ended["resumed_evaluations"].as_u64().unwrap() >= 20,
        "{ended}"
    );
    assert!(contents(&pieces) == contents(&whole), "the results differ");
    assert!(!journal.exists());
    // Nothing is left to resume: the result is found again. A journal that this fit left over, killed between its
    // result and the end, goes too.
    std::fs::write(&journal, &left).unwrap();
    let (code, again) = asked(&["--resume"]);
    assert_eq!(
        (code, again["reused"].as_bool()),
        (0, Some(true)),
        "{again}"
    );
    assert!(!journal.exists());
}

#[test]
fn a_fit_that_cannot_be_made_leaves_no_journal() {
    let data = Data::new();
    let before = data.listing();
    let out = data.path("r.h5");
    let args = ["-o", out.to_str().unwrap(), "--start=C10=90nm"];
    assert_eq!(json("fit", &data.file, &args).0, 1);
    assert_eq!(data.listing(), before);
    // Force discards what a killed fit left.
    let journal = ssb::fit::Journal::beside(&out);
    let mut child = fit(&data, &out, &[TPE]).spawn().unwrap();
    assert!(reaches(&mut child, &journal, 3, 0));
    child.kill().unwrap();
    child.wait().unwrap();
    let forced = done(
        "fit",
        &data.file,
        &[&FIT[..], &[TPE, "-o", out.to_str().unwrap(), "--force"]].concat(),
    );
    assert_eq!(forced["resumed_evaluations"], 0);
    assert!(out.exists() && !journal.exists());
}
