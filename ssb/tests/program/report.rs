//! The report, the trace, the manual pages and the completions.

use std::path::Path;

use serde_json::Value;

use crate::simulated::{Data, document, done, json, program, told};

/// The text between two marks.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let start = text.find(from).unwrap_or_else(|| panic!("no {from}")) + from.len();
    let length = text[start..]
        .find(to)
        .unwrap_or_else(|| panic!("no {to} after {from}"));
    &text[start..start + length]
}

/// The doubles of a row of a table, by its first cell.
fn doubles(page: &str, name: &str) -> Vec<f64> {
    let row = between(page, &format!("<th scope=\"row\">{name}</th>"), "</tr>");
    row.split("<data value=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap().parse().unwrap())
        .collect()
}

fn fitted(data: &Data, more: &[&str]) -> (Value, String) {
    let (result, page) = (data.path("r.h5"), data.path("r.html"));
    let mut args = vec!["-o", result.to_str().unwrap()];
    args.extend(more);
    let fit = done("fit", &data.file, &args);
    let told = done("report", &result, &["-o", page.to_str().unwrap()]);
    assert_eq!(told["warnings"], fit["warnings"]);
    let html = std::fs::read_to_string(&page).unwrap();
    assert_eq!(told["bytes"], html.len());
    (fit, html)
}

#[test]
fn a_report_has_the_numbers_of_the_json_and_needs_nothing_else() {
    let data = Data::new();
    let (fit, page) = fitted(&data, &["--rotation-deg=3"]);
    let embedded = between(
        &page,
        "<script type=\"application/json\" id=\"result\">",
        "</script>",
    );
    let embedded: Value = serde_json::from_str(embedded).unwrap();
    for key in [
        "best",
        "loss",
        "uncertainty",
        "trials",
        "warnings",
        "search",
    ] {
        assert_eq!(embedded[key], fit[key], "{key}");
    }
    let number = |value: &Value| value.as_f64().unwrap();
    for (name, key) in [("C10", "C10_nm"), ("C12", "C12_nm"), ("phi12", "phi12_rad")] {
        let [value, other, sigma, ..] = doubles(&page, name)[..] else {
            panic!("{name}");
        };
        assert_eq!(value, number(&fit["best"][key]), "{name}");
        let factor = if name == "phi12" {
            1f64.to_degrees()
        } else {
            10.0
        };
        assert!((other - factor * value).abs() <= 1e-12 * other.abs());
        assert_eq!(sigma, number(&fit["uncertainty"][key]), "{name}");
    }
    assert_eq!(
        doubles(&page, "loss (exact phase variance)"),
        [number(&fit["loss"])]
    );
    // Every panel that the figure has, as a picture in the page.
    for panel in [
        "phase",
        "spectrum",
        "pattern",
        "loss",
        "scatter",
        "amplitude",
    ] {
        let figure = between(
            &page,
            &format!("<figure id=\"panel-{panel}\">"),
            "</figure>",
        );
        assert!(
            figure.contains("src=\"data:image/png;base64,iVBORw0KGgo"),
            "{panel}"
        );
    }
    // Nothing is fetched.
    for outside in ["http:", "https:", "src=\"/", "<link", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    let order = [
        "id=\"warnings\"",
        "id=\"aberrations\"",
        "id=\"figures\"",
        "id=\"provenance\"",
        "id=\"cite\"",
    ]
    .map(|id| page.find(id).unwrap());
    assert!(order.is_sorted(), "{order:?}");
}

#[test]
fn warnings_stand_first_and_names_stay_text() {
    let data = Data::of(&["--scan-shape=16x16", "--det-shape=20x18"]);
    let odd = data.path("<b>&scan.h5");
    std::fs::rename(&data.file, &odd).unwrap();
    let data = Data { file: odd, ..data };
    let (fit, page) = fitted(&data, &["--search=C10=-5nm:5nm", "--start=C10=1nm"]);
    let warnings = fit["warnings"].as_array().unwrap();
    assert!(!warnings.is_empty(), "{fit}");
    let listed = between(&page, "id=\"warnings\"", "</section>");
    assert_eq!(listed.matches("<li>").count(), warnings.len(), "{listed}");
    assert!(page.contains("<h1>&lt;b&gt;&amp;scan.h5</h1>"));
    assert!(!page.contains("<b>"));
}

#[test]
fn a_reconstruction_says_that_nothing_was_fitted() {
    let data = Data::new();
    let (result, page) = (data.path("r.h5"), data.path("r.html"));
    let [result_name, page_name] = [&result, &page].map(|p| p.to_str().unwrap());
    done(
        "reconstruct",
        &data.file,
        &[
            "-o",
            result_name,
            "--aberration=C10=9nm",
            "--tilt-mrad=1,-2",
            "--depth-spread-nm=5",
        ],
    );
    done("report", &result, &["-o", page_name]);
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("Taken as given, not fitted."));
    assert_eq!(doubles(&html, "C10")[0], 9.0);
    assert_eq!(doubles(&html, "tilt_row")[0], 1.0);
    assert_eq!(doubles(&html, "depth_spread")[0], 5.0);
    // Neither data nor another kind of file is replaced.
    let (code, refused) = json("report", &result, &["-o", result_name]);
    assert_eq!((code, &refused["error"]["kind"]), (1, &"output".into()));
    let notes = data.write("notes.html", "my notes");
    let (code, _) = json("report", &result, &["-o", notes.to_str().unwrap()]);
    assert_eq!(code, 1);
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "my notes");
}

fn events(path: &Path) -> Vec<Value> {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn a_trace_is_one_that_chrome_opens() {
    let data = Data::new();
    let (result, trace) = (data.path("r.h5"), data.path("trace.json"));
    let trace_name = trace.to_str().unwrap();
    let args = ["-o", result.to_str().unwrap(), "--trace", trace_name];
    let fit = done("fit", &data.file, &args);
    let events = events(&trace);
    let of = |phase: &str, name: &str| {
        let found = events
            .iter()
            .filter(|e| e["ph"] == phase && e["name"] == name);
        found.count()
    };
    for span in [
        "open",
        "gather counts",
        "prepare",
        "fit",
        "exact loss",
        "agreement",
        "object",
    ] {
        assert!(of("B", span) > 0, "no span {span}");
        assert_eq!(of("B", span), of("E", span), "{span}");
    }
    // One exact evaluation a candidate, as the fit counts them.
    let candidates: u64 = events
        .iter()
        .filter(|e| e["ph"] == "B" && e["name"] == "exact loss")
        .map(|e| {
            e["args"]["candidates"]
                .as_str()
                .unwrap()
                .parse::<u64>()
                .unwrap()
        })
        .sum();
    assert!(
        candidates >= fit["evaluations"].as_u64().unwrap(),
        "{candidates}"
    );
    // Bars of one thread lie in each other.
    let mut open: std::collections::HashMap<u64, Vec<&Value>> = std::collections::HashMap::new();
    for event in &events {
        let stack = open.entry(event["tid"].as_u64().unwrap()).or_default();
        match event["ph"].as_str().unwrap() {
            "B" => stack.push(&event["name"]),
            "E" => assert_eq!(stack.pop(), Some(&event["name"])),
            _ => {}
        }
    }
    assert!(open.values().all(Vec::is_empty));
    // A second run replaces a trace.
    done("inspect", &data.file, &["--trace", trace_name]);
}

#[test]
fn every_verb_has_a_manual_page() {
    let data = Data::empty("none");
    let folder = data.folder.path();
    let run = program()
        .arg("man")
        .arg(folder)
        .arg("--json")
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(0), "{}", told(&run));
    let help = program().arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let verbs: Vec<&str> = between(&help, "Commands:\n", "\n\n")
        .lines()
        .filter(|l| l.starts_with("  ") && !l.starts_with("   "))
        .filter_map(|l| l.split_whitespace().next())
        .filter(|v| *v != "help")
        .collect();
    assert!(
        verbs.contains(&"fit") && verbs.contains(&"report"),
        "{verbs:?}"
    );
    for verb in &verbs {
        let page = std::fs::read_to_string(folder.join(format!("ssb-{verb}.1"))).unwrap();
        assert!(
            page.contains(".SH NAME") && page.contains(".SH OPTIONS"),
            "{verb}: {page}"
        );
    }
    let files = document(&run)["files"].as_array().unwrap().len();
    assert_eq!(files, verbs.len() + 1);
}

#[test]
fn shells_learn_the_verbs() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = program().args(["completions", shell]).output().unwrap();
        assert_eq!(run.status.code(), Some(0), "{}", told(&run));
        let script = String::from_utf8(run.stdout).unwrap();
        for word in ["reconstruct", "report", "semiangle-mrad"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}
