//! `--region`: a part of the scan is fitted; its aberrations serve the whole.

use serde_json::json;

use crate::simulated::{Data, done, json, program, told};

#[test]
fn a_region_is_fitted_and_its_fit_serves_the_whole() {
    let data = Data::of(&[
        "--scan-shape=40x44",
        "--det-shape=20x20",
        "--dose-e-per-pattern=1e5",
    ]);
    let (part, whole) = (data.path("part.h5"), data.path("whole.h5"));
    let region = json!({"rows": [4, 30], "cols": [8, 40], "of": [40, 44]});
    let args = [
        "-o",
        part.to_str().unwrap(),
        "--region=4:30,8:40",
        "--method=tpe",
        "--trials=60",
    ];
    let fit = done("fit", &data.file, &args);
    assert_eq!(fit["region"], region);
    assert!(
        (fit["best"]["C10_nm"].as_f64().unwrap() - 9.0).abs() < 1.0,
        "{}",
        fit["best"]
    );
    let stored = ssb::ResultFile::read(&part).unwrap();
    assert_eq!(stored.phase_rad.dim(), (26, 32));
    assert_eq!(stored.provenance.source.shape, [26, 32, 20, 20]);
    assert_eq!(stored.provenance.source.options["open"]["region"], region);
    assert_eq!(done("fit", &data.file, &args)["reused"], true);

    // Its loss is that of the same positions alone.
    let candidates = data.write("c.json", &json!([fit["best"]]).to_string());
    let eval = |more: &[&str]| {
        let args = ["--candidates", candidates.to_str().unwrap()];
        done("eval", &data.file, &[&args[..], more].concat())["results"][0]["loss"]
            .as_f64()
            .unwrap()
    };
    let loss = fit["loss"].as_f64().unwrap();
    assert!((eval(&["--region=4:30,8:40"]) / loss - 1.0).abs() < 1e-6);
    assert!((eval(&[]) / loss - 1.0).abs() > 1e-4);

    let from = [
        "-o",
        whole.to_str().unwrap(),
        "--from",
        part.to_str().unwrap(),
    ];
    let image = done("reconstruct", &data.file, &from);
    assert_eq!(image["best"], fit["best"]);
    assert!(image.get("region").is_none());
    assert_eq!(
        ssb::ResultFile::read(&whole).unwrap().phase_rad.dim(),
        (40, 44)
    );
    // The region is another result than the whole, and people are told which it is.
    let other = done(
        "reconstruct",
        &data.file,
        &[&from[..], &["--region=0:16,0:44"]].concat(),
    );
    assert_eq!(other["reused"], false);
    let run = program()
        .args([
            "reconstruct",
            data.file.to_str().unwrap(),
            "--region=0:16,0:44",
        ])
        .args(from)
        .output()
        .unwrap();
    let text = String::from_utf8(run.stdout.clone()).unwrap();
    assert!(
        text.contains("rows 0 to 16, columns 0 to 44 (ends not included) of 40 x 44"),
        "{}",
        told(&run)
    );
    // A companion of the region gives the same, and still says of which.
    let columns = data.path("cols.h5");
    done(
        "convert",
        &data.file,
        &["-o", columns.to_str().unwrap(), "--region=4:30,8:40"],
    );
    let again = data.path("again.h5");
    let args = [
        "-o",
        again.to_str().unwrap(),
        "--from",
        part.to_str().unwrap(),
    ];
    let of_columns = done("reconstruct", &columns, &args);
    assert_eq!(of_columns["region"], region);
    assert!((of_columns["loss"].as_f64().unwrap() / loss - 1.0).abs() < 1e-7);
    let refused = json(
        "reconstruct",
        &columns,
        &[&args[..], &["--region=0:9,0:9"]].concat(),
    );
    assert_eq!(refused.0, 1, "{}", refused.1);
    // Aberrations under another rotation are not the same: that is said.
    let turned = done(
        "reconstruct",
        &data.file,
        &[&args[..], &["--rotation-deg=90"]].concat(),
    );
    assert!(
        turned["warnings"]
            .to_string()
            .contains("rotation_deg is 90, there 0"),
        "{turned}"
    );
    // Trials of a region are drawn from the region.
    let figure = data.path("trials.png");
    let drawn = ["--trials=best=2", "-o", figure.to_str().unwrap()];
    done("show", &part, &drawn);
}

#[test]
fn impossible_regions_are_refused() {
    let data = Data::new();
    let out = data.path("r.h5");
    let before = data.listing();
    for (region, code) in [
        ("5:5,0:30", 1),
        ("9:3,0:30", 1),
        ("0:25,0:30", 1),
        ("0:24,0:31", 1),
        ("0:24", 2),
        ("a:b,c:d", 2),
    ] {
        let asked = format!("--region={region}");
        let (found, error) = json("fit", &data.file, &["-o", out.to_str().unwrap(), &asked]);
        assert_eq!(found, code, "{error}");
        let message = error["error"]["message"].as_str().unwrap();
        assert!(
            message.contains("--region") && message.contains(region),
            "{message}"
        );
    }
    assert_eq!(data.listing(), before);
    let shape = &done("inspect", &data.file, &["--region=2:9,3:30"])["shape"];
    assert_eq!(*shape, json!([7, 27, 20, 18]));
}
