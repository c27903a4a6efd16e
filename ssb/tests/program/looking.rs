//! `devices`, `inspect`, `simulate`: what there is, and where values come from.

use crate::simulated::{Data, document, done, json, program, told};

#[test]
fn devices_lists_every_backend_and_the_choice() {
    let run = program().args(["devices", "--json"]).output().unwrap();
    let list = document(&run);
    let names: Vec<&str> = list["backends"]
        .as_array()
        .unwrap()
        .iter()
        .map(|b| b["name"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"cpu") && names.contains(&"oracle"),
        "{names:?}"
    );
    assert_ne!(list["auto"]["backend"], "oracle");
}

/// The list of devices with these variables set; nothing may panic.
fn devices(variables: &[(&str, &str)]) -> serde_json::Value {
    let run = program()
        .args(["devices", "--json"])
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(!told.contains("panicked"), "{told}");
    document(&run)
}

fn array(value: &serde_json::Value) -> &[serde_json::Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn every_device_tells_its_limits_or_what_is_missing() {
    let list = devices(&[]);
    let chosen = &list["auto"];
    let mut hardware = false;
    for backend in array(&list["backends"]) {
        for device in array(&backend["devices"]) {
            match device["unusable"].as_str() {
                Some(reason) => assert!(reason.len() > 10, "{device}"),
                None => assert_eq!(device["limits"].is_object(), backend["kind"] == "gpu"),
            }
            hardware |= backend["name"] == chosen["backend"]
                && device["index"] == chosen["device"]
                && device["software"] == false;
        }
    }
    assert!(hardware, "auto took an emulation: {list}");
}

#[test]
#[cfg(target_os = "linux")]
fn without_a_vulkan_driver_the_list_says_so_and_the_backend_is_refused() {
    let none = [
        ("VK_DRIVER_FILES", "/nonexistent"),
        ("VK_ICD_FILENAMES", "/nonexistent"),
    ];
    for backend in array(&devices(&none)["backends"]) {
        if backend["name"] == "vulkan" || backend["name"] == "webgpu" {
            let device = &backend["devices"][0];
            let reason = device["unusable"].as_str().unwrap();
            assert!(reason.contains("install"), "{reason}");
            assert!(device["limits"].is_null(), "{device}");
        }
    }
    let data = Data::new();
    let candidates = data.write("c.json", r#"[{"C10_nm": 9}]"#);
    let run = program()
        .args(["eval", "--backend", "vulkan", "--json", "--candidates"])
        .args([&candidates, &data.file])
        .envs(none)
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(1), "{run:?}");
    assert!(told(&run).contains("`vulkan` is not usable"), "{run:?}");
}

#[test]
fn a_device_that_does_not_exist_is_refused() {
    let data = Data::new();
    let candidates = data.write("c.json", r#"[{"C10_nm": 9}]"#);
    let candidates = candidates.to_str().unwrap();
    let built = ssb::backends::REGISTRY
        .entries
        .iter()
        .map(|entry| entry.name);
    for backend in built.filter(|name| ["cpu", "oracle", "vulkan", "webgpu"].contains(name)) {
        let asked = ["--candidates", candidates, "--backend", backend];
        let (code, failure) = json("eval", &data.file, &[&asked[..], &["--device=77"]].concat());
        assert_eq!(code, 1, "{failure}");
        let message = failure["error"]["message"].to_string();
        assert!(message.contains("not number 77"), "{message}");
    }
}

#[test]
fn inspect_tells_values_with_their_origin() {
    let data = Data::new();
    let plain = done("inspect", &data.file, &[]);
    assert_eq!(plain["shape"], serde_json::json!([24, 30, 20, 18]));
    assert_eq!(plain["frames_found"], 720);
    assert_eq!(plain["frames_expected"], 720);
    assert_eq!(plain["masked_pixels"], 0);
    assert!(plain.get("counts_sum").is_none());
    let kv = &plain["calibration"]["voltage_kv"];
    assert_eq!(kv["value"], 300.0);
    assert!(kv["source"].as_str().unwrap().starts_with("file:/"), "{kv}");

    let full = done(
        "inspect",
        &data.file,
        &["--counts", "--rotation-deg", "-27", "--voltage-kv=200"],
    );
    assert_eq!(full["calibration"]["rotation_deg"]["value"], -27.0);
    assert_eq!(full["calibration"]["voltage_kv"]["source"], "argument");
    assert_eq!(full["calibration"]["voltage_kv"]["file"]["value"], 300.0);
    assert_eq!(full["sha256_le"].as_str().unwrap().len(), 64);
    assert!(
        full["counts_sum"].is_u64() && full["max_count"].is_u64(),
        "{full}"
    );
    let bf = &full["bf"];
    assert!(bf["pixels"].as_u64().unwrap() > 60, "{bf}");
    assert!(
        (bf["center_px"][0].as_f64().unwrap() - 9.5).abs() < 0.5,
        "{bf}"
    );
}

#[test]
fn every_layout_holds_the_same_counts() {
    let mut hashes = Vec::new();
    for layout in ["plain", "arina", "emd"] {
        let data = Data::of(&[
            "--scan-shape=10x12",
            "--det-shape=16x14",
            "--layout",
            layout,
        ]);
        let master = data.path("scan_master.h5");
        let file = if layout == "arina" {
            &master
        } else {
            &data.file
        };
        let found = done("inspect", file, &["--counts"]);
        assert_eq!(
            found["shape"],
            serde_json::json!([10, 12, 16, 14]),
            "{layout}"
        );
        hashes.push(found["sha256_le"].as_str().unwrap().to_owned());
        let truth = std::fs::read_to_string(data.path("scan_truth.json")).unwrap();
        let truth: serde_json::Value = serde_json::from_str(&truth).unwrap();
        assert_eq!(truth["candidate"]["C10_nm"], 9.0);
        assert!(data.path("scan_truth_phase.npy").exists());
    }
    assert!(hashes.iter().all(|h| *h == hashes[0]), "{hashes:?}");
}

#[test]
fn quiet_is_quiet_and_json_is_alone() {
    let data = Data::new();
    let candidates = data.write("c.json", r#"[{"C10_nm": 9}]"#);
    let run = program()
        .args(["eval", data.file.to_str().unwrap(), "--quiet", "--json"])
        .args(["--candidates", candidates.to_str().unwrap()])
        .output()
        .unwrap();
    assert!(run.status.success());
    document(&run);
    assert!(run.stderr.is_empty(), "{}", told(&run));
}

#[test]
fn suspicious_calibration_is_said() {
    let data = Data::new();
    let candidates = data.write("c.json", r#"[{"C10_nm": 9, "phi12_rad": 11}]"#);
    let run = program()
        .args(["eval", data.file.to_str().unwrap(), "--det-step-mrad=3.6"])
        .args(["--candidates", candidates.to_str().unwrap()])
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{stderr}");
    for word in [
        "semi-angle is 30 mrad",
        "det_step_mrad: using",
        "full turn",
        "auto chose",
    ] {
        assert!(stderr.contains(word), "{word}: {stderr}");
    }
}

#[test]
fn an_unknown_rotation_is_said_and_not_silently_zero() {
    let data = Data::new();
    let stack = data.path("stack.npy");
    let frames = ssb::ndarray::Array4::<f32>::from_shape_fn((8, 8, 20, 18), |(r, c, kr, kc)| {
        let inside = (kr as f32 - 9.5).hypot(kc as f32 - 8.5) < 6.0;
        f32::from(inside) * (50.0 + ((r * 3 + c * 5 + kr * kc) % 7) as f32)
    });
    ssb_io::npy::write_f32(&stack, frames.view()).unwrap();
    let candidates = data.write("c.json", r#"[{"C10_nm": 9}]"#);
    let mut args = vec![
        "--candidates",
        candidates.to_str().unwrap(),
        "--voltage-kv=300",
        "--semiangle-mrad=30",
        "--scan-step-a=0.3",
        "--det-step-mrad=5",
    ];
    let mentions = |args: &[&str]| {
        done("eval", &stack, args)["warnings"]
            .to_string()
            .contains("rotation_deg")
    };
    assert!(mentions(&args));
    args.extend(["--rotation-deg", "-27"]);
    assert!(!mentions(&args));
    assert!(done("inspect", &stack, &[])["calibration"]["rotation_deg"]["value"].is_null());
}
