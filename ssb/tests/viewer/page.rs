//! The page in a real browser: steer, fit, choose a trial, save, reopen.

use serde_json::Value;
use ssb::{Candidate, ResultFile};

use crate::browser::{Browser, installed};
use crate::serving::{Data, Serving};

const FRESH: &str = "document.getElementById('loss')?.textContent && \
    !document.getElementById('loss-line').classList.contains('stale')";

fn candidate(browser: &mut Browser) -> Candidate {
    serde_json::from_value(browser.value("ssbView.controls.candidate()")).unwrap()
}

/// A sum over the phase as it came, and the picture as it is drawn.
fn picture(browser: &mut Browser) -> (f64, String) {
    let sum = "ssbView.panels.planes.phase.values.reduce((s, v, i) => s + v * ((i % 97) + 1), 0)";
    let drawn = "document.getElementById('main-canvas').toDataURL()";
    let (sum, drawn) = (browser.value(sum), browser.value(drawn));
    (sum.as_f64().unwrap(), drawn.as_str().unwrap().to_owned())
}

fn drag_c10(browser: &mut Browser) {
    browser.wait(FRESH);
    let before = (picture(browser), browser.text("loss"), candidate(browser));
    let [x, y, w, h] = browser.place("q-C10_nm-slider");
    let middle = y + h / 2.0;
    browser.mouse("mousePressed", x + w / 2.0, middle);
    for i in 1..=20 {
        browser.mouse("mouseMoved", x + w * (0.5 + 0.006 * f64::from(i)), middle);
    }
    browser.wait("document.getElementById('loss-line').classList.contains('stale')");
    browser.mouse("mouseReleased", x + w * 0.62, middle);
    browser.wait(FRESH);
    let after = (picture(browser), browser.text("loss"), candidate(browser));
    let c10_nm = after.2.aberrations.get(0).magnitude_a / 10.0;
    assert!((5.0..15.0).contains(&c10_nm), "{c10_nm}");
    assert_ne!(before.0.0, after.0.0, "the array follows");
    assert_ne!(before.0.1, after.0.1, "the drawing follows");
    assert_ne!(before.1, after.1, "the loss is that of the new candidate");
    let label = browser.value("ssbView.panels.labels.phase");
    assert!(label.as_str().unwrap().starts_with("all "), "{label}");
}

fn steer_by_keys(browser: &mut Browser) {
    browser.value("document.activeElement.blur()");
    let before = candidate(browser);
    browser.key("q");
    let up = candidate(browser);
    assert!(up.aberrations.get(0).magnitude_a > before.aberrations.get(0).magnitude_a);
    browser.wait("ssbView.controls.history.length > 1");
    browser.key("u");
    assert_eq!(candidate(browser), before);
    browser.wait(FRESH);
}

fn fit_and_stop(browser: &mut Browser) {
    browser.value("document.getElementById('method').value = 'tpe'");
    browser.value("document.getElementById('trials').value = 50000");
    browser.click("fit-button");
    browser.wait("ssbView.fit.trials.length > 12");
    assert_eq!(browser.text("fit-button"), "Stop fit");
    browser.click("fit-button");
    browser.wait("!ssbView.fit.running");
    let line = browser.text("fit-line");
    assert!(line.starts_with("fit stopped"), "{line}");
    browser.wait(FRESH);
}

fn choose_a_trial(browser: &mut Browser) {
    browser.wait("ssbView.fit.lossPoints.length === ssbView.fit.trials.length");
    let [x, y, ..] = browser.place("loss-plot");
    let point = browser.value("ssbView.fit.lossPoints[5]");
    let [dx, dy] = [0, 1].map(|i| point[i].as_f64().unwrap());
    browser.click_at(x + dx, y + dy);
    browser.wait("ssbView.fit.chosen >= 0");
    let trial = browser.value("ssbView.fit.trials[ssbView.fit.chosen]");
    let expected: Candidate = serde_json::from_value(trial["candidate"].clone()).unwrap();
    assert_eq!(candidate(browser), expected);
    browser.wait(FRESH);
    // The loss that the page asked for is that of the trial.
    let shown: f64 = browser.text("loss").replace(" rad²", "").parse().unwrap();
    let known = trial["loss"].as_f64().unwrap();
    assert!((shown / known - 1.0).abs() < 1e-5, "{shown} {known}");
}

/// Draws a region with the mouse, refits on it, and returns to the whole scan.
fn refit_on_a_region(browser: &mut Browser) {
    browser.value("document.getElementById('method').value = 'random'");
    browser.value("document.getElementById('trials').value = 3");
    let [x, y, ..] = browser.place("main-canvas");
    let place = browser.value(
        "(() => { const p = ssbView.panels.pictures[0].place; return [p.x, p.y, p.w, p.h]; })()",
    );
    let [dx, dy, w, h] = [0, 1, 2, 3].map(|i| place[i].as_f64().unwrap());
    browser.shift_drag(
        [x + dx + 0.1 * w, y + dy + 0.1 * h],
        [x + dx + 0.8 * w, y + dy + 0.7 * h],
    );
    let drawn = browser.value("ssbView.panels.region");
    let [r0, c0, r1, c1] = [0, 1, 2, 3].map(|i| drawn[i].as_u64().unwrap());
    browser.click("refit");
    browser.wait("ssbView.session.region && /^fit done/.test(document.getElementById('fit-line').textContent)");
    let region = browser.value("[ssbView.session.region, ssbView.session.scan_shape]");
    assert_eq!(
        region,
        serde_json::json!([format!("{r0}:{r1},{c0}:{c1}"), [r1 - r0, c1 - c0]])
    );
    browser.wait(FRESH);
    browser.click("whole");
    browser.wait("!ssbView.session.region && ssbView.panels.planes.phase.cols === 60");
    browser.wait(FRESH);
}

fn save(browser: &mut Browser, name: &str) -> Value {
    browser.value(&format!(
        "document.getElementById('save-name').value = '{name}'"
    ));
    browser.click("save-button");
    browser.wait("/^saved/.test(document.getElementById('status').textContent)");
    browser.value("ssbView.controls.candidate()")
}

#[test]
fn steer_fit_choose_save_and_reopen() {
    let Some(chromium) = installed() else {
        eprintln!("skipped: no Chromium was found (apt-get install chromium)");
        return;
    };
    let data = Data::new();
    let serving = Serving::start(&data.file, data.folder.path());
    let mut browser = Browser::open(chromium.clone(), &serving.address);
    drag_c10(&mut browser);
    steer_by_keys(&mut browser);
    fit_and_stop(&mut browser);
    choose_a_trial(&mut browser);
    let shown = save(&mut browser, "by-hand");
    let overflow = "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]";
    assert_eq!(browser.value(overflow), serde_json::json!([1280, 720]));

    let file = data.folder.path().join("by-hand.h5");
    let result = ResultFile::read(&file).unwrap();
    let expected: Candidate = serde_json::from_value(shown.clone()).unwrap();
    assert_eq!(result.outcome.best, expected);
    assert_eq!(result.provenance.request["verb"], "view");
    assert_eq!(result.phase_rad.dim(), (64, 60));
    let loss: f64 = browser.text("loss").replace(" rad²", "").parse().unwrap();
    assert!((result.outcome.loss / loss - 1.0).abs() < 1e-5);
    browser.click("reset");
    browser.wait(FRESH);
    save(&mut browser, "fitted");
    let fitted = ResultFile::read(data.folder.path().join("fitted.h5")).unwrap();
    assert!(fitted.outcome.fitted && fitted.outcome.cancelled);
    assert!(fitted.trials.len() > 12);
    refit_on_a_region(&mut browser);
    assert!(browser.problems.is_empty(), "{:?}", browser.problems);
    drop((browser, serving));

    let again = Serving::start(&file, data.folder.path());
    let mut browser = Browser::open(chromium, &again.address);
    browser.wait("window.ssbView && ssbView.controls");
    assert_eq!(browser.value("ssbView.controls.candidate()"), shown);
    browser.wait(FRESH);
    let reopened: f64 = browser.text("loss").replace(" rad²", "").parse().unwrap();
    assert_eq!(reopened, loss);
    assert!(browser.problems.is_empty(), "{:?}", browser.problems);
}
