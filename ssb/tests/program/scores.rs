//! `eval`: the numbers of the evaluator, unchanged, in order, in any batch, and saved arrays.

use serde_json::{Value, json as value};

use crate::simulated::{Data, done};

fn losses(document: &Value) -> Vec<f64> {
    document["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["loss"].as_f64().unwrap())
        .collect()
}

fn candidates(data: &Data) -> String {
    let list = value!([
        {"C10_nm": 9, "C12_nm": 3, "phi12_rad": 0.349},
        {"C10_nm": -4, "C12_nm": 1, "phi12_rad": -0.4, "C21_nm": 60, "phi21_rad": 1},
        {"C10_nm": 9, "rotation_deg": 12, "tilt_mrad": [3, -4], "depth_spread_nm": 8},
    ]);
    let path = data.write("c.json", &list.to_string());
    path.to_str().unwrap().to_owned()
}

#[test]
fn backends_batches_and_threads_agree() {
    let data = Data::new();
    let file = candidates(&data);
    let with = |more: &[&str]| {
        let mut args = vec!["--candidates", &file];
        args.extend(more);
        done("eval", &data.file, &args)
    };
    let cpu = with(&["--backend=cpu"]);
    for key in [
        "backend",
        "device",
        "software_adapter",
        "bf_pixels",
        "bf_active",
        "bf_center_px",
        "bf_radius_px",
        "dc",
        "results",
        "seconds",
        "peak_rss_bytes",
    ] {
        assert!(cpu.get(key).is_some(), "{key} is missing");
    }
    let oracle = losses(&with(&["--backend=oracle"]));
    for (a, b) in losses(&cpu).iter().zip(&oracle) {
        assert!((a / b - 1.0).abs() < 1e-6, "{a} {b}");
    }
    for more in [["--batch=1"], ["--threads=1"], ["--batch=2"]] {
        for (a, b) in losses(&with(&more)).iter().zip(losses(&cpu)) {
            assert!((a / b - 1.0).abs() < 1e-7, "{more:?}: {a} {b}");
        }
    }
    let agreement = with(&["--objective=agreement"]);
    assert!(agreement["results"][0]["agreement"].as_f64().unwrap() > 0.0);
    let band = &agreement["band_per_A"];
    assert!(band[0].as_f64().unwrap() < band[1].as_f64().unwrap());
}

#[test]
fn saved_arrays_have_their_shape_and_type() {
    let data = Data::new();
    let file = candidates(&data);
    let (phase, object) = (data.path("phase.npy"), data.path("object.npy"));
    let args = [
        "--candidates",
        &file,
        "--save-phase",
        phase.to_str().unwrap(),
        "--save-object",
        object.to_str().unwrap(),
        "--upsample=2",
    ];
    done("eval", &data.file, &args);
    let header = |path: &std::path::Path| {
        let bytes = std::fs::read(path).unwrap();
        (
            String::from_utf8_lossy(&bytes[..128]).into_owned(),
            bytes.len(),
        )
    };
    let (text, bytes) = header(&phase);
    assert!(
        text.contains("<f8") && text.contains("(3, 24, 30"),
        "{text}"
    );
    assert_eq!(bytes, 128 + 3 * 24 * 30 * 8);
    let (text, bytes) = header(&object);
    assert!(
        text.contains("<c8") && text.contains("(3, 48, 60"),
        "{text}"
    );
    assert_eq!(bytes, 128 + 3 * 48 * 60 * 8);
}
