//! Every bad input: exit code 1, one clear message, nothing written.

use ndarray::{Array2, Array4};
use ssb::ndarray;

use crate::simulated::{Data, json, program, told};

const CALIBRATION: [&str; 5] = [
    "--voltage-kv=300",
    "--semiangle-mrad=30",
    "--scan-step-a=0.3",
    "--det-step-mrad=5",
    "--rotation-deg=-27",
];

/// The error of `reconstruct` with its document, after checking that nothing was written.
fn refused(data: &Data, file: &std::path::Path, args: &[&str]) -> (String, String) {
    refused_verb("reconstruct", data, file, args)
}

fn refused_verb(
    verb: &str,
    data: &Data,
    file: &std::path::Path,
    args: &[&str],
) -> (String, String) {
    let before = data.listing();
    let output = data.path("out.h5");
    let mut all = vec!["-o", output.to_str().unwrap()];
    all.extend(args);
    let (code, document) = json(verb, file, &all);
    assert_eq!(code, 1, "{document}");
    assert_eq!(data.listing(), before, "something was written");
    let error = &document["error"];
    let keys: Vec<&String> = document.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["error"]);
    let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
    let message = text("message");
    assert!(!message.contains('\n') && !message.is_empty(), "{message}");
    // People get the same message on stderr and nothing on stdout.
    let plain = program().arg(verb).arg(file).args(&all).output().unwrap();
    assert_eq!(plain.status.code(), Some(1));
    assert!(plain.stdout.is_empty(), "{}", told(&plain));
    let stderr = String::from_utf8_lossy(&plain.stderr);
    assert!(stderr.contains(&format!("error: {message}")), "{stderr}");
    (text("kind"), message)
}

#[test]
fn files_that_are_none() {
    let data = Data::new();
    let missing = data.path("nothing.h5");
    let (kind, message) = refused(&data, &missing, &[]);
    assert_eq!(kind, "not_found");
    assert!(message.contains("nothing.h5"), "{message}");

    let folder = tempfile::tempdir().unwrap();
    let (kind, message) = refused(&data, folder.path(), &[]);
    assert_eq!(kind, "not_a_file", "{message}");

    let text = data.write("text.h5", "hello, this is no HDF5 file\n");
    let (kind, message) = refused(&data, &text, &[]);
    assert_eq!(kind, "not_hdf5");
    assert!(message.contains("text.h5"), "{message}");

    let empty = data.write("empty.h5", "");
    assert_eq!(refused(&data, &empty, &[]).0, "empty_file");
}

#[test]
fn calibration_and_shape() {
    let data = Data::new();
    let stack = data.path("stack.npy");
    let frames = Array4::<f32>::from_shape_fn((6, 8, 20, 18), |(r, c, kr, kc)| {
        let inside = (kr as f32 - 9.5).hypot(kc as f32 - 8.5) < 6.0;
        if inside {
            50.0 + ((r * 3 + c * 5 + kr * kc) % 7) as f32
        } else {
            0.0
        }
    });
    ssb_io::npy::write_f32(&stack, frames.view()).unwrap();
    let (kind, message) = refused(&data, &stack, &["--voltage-kv=300"]);
    assert_eq!(kind, "missing_calibration");
    for flag in ["--semiangle-mrad", "--scan-step-a", "--det-step-mrad"] {
        assert!(message.contains(flag), "{message}");
    }
    assert!(!message.contains("--voltage-kv"), "{message}");

    let flat = frames.to_shape((48, 20, 18)).unwrap();
    let flat_path = data.path("flat.npy");
    ssb_io::npy::write_f32(&flat_path, flat.view()).unwrap();
    let (kind, message) = refused(&data, &flat_path, &CALIBRATION);
    assert_eq!(kind, "needs_scan_shape");
    assert!(message.contains("--scan-shape"), "{message}");
    let mut wrong = CALIBRATION.to_vec();
    wrong.push("--scan-shape=7x7");
    let (kind, message) = refused(&data, &flat_path, &wrong);
    assert_eq!(kind, "frame_count_mismatch");
    assert!(
        message.contains("48") && message.contains("49"),
        "{message}"
    );

    let (kind, message) = refused(&data, &data.file, &["--voltage-kv=300000"]);
    assert_eq!(kind, "bad_value");
    assert!(message.contains("kV"), "{message}");
}

#[test]
fn aberrations() {
    let data = Data::new();
    let (kind, message) = refused(&data, &data.file, &["--aberration=C11=3nm"]);
    assert_eq!(kind, "unknown_aberration");
    assert!(
        message.contains("C11") && message.contains("C12"),
        "{message}"
    );
    let (kind, message) = refused(&data, &data.file, &["--aberration", "C10=12"]);
    assert_eq!(kind, "bad_value");
    assert!(
        message.contains("C10") && message.contains("unit"),
        "{message}"
    );
    for (args, word) in [
        (["--search=C10=-40:40"], "unit"),
        (["--search=C10=40nm:-40nm"], "lower end"),
        (["--search=C99=0nm:1nm"], "C99"),
        (["--start=C10=100nm"], "outside"),
        (["--fix=C12=3"], "unit"),
        (["--method=simplex"], "tpe"),
    ] {
        let (_, message) = refused_verb("fit", &data, &data.file, &args);
        assert!(message.contains(word), "{args:?}: {message}");
    }
}

#[test]
fn counts_that_cannot_be() {
    let data = Data::new();
    let disk = |kr: usize, kc: usize| (kr as f32 - 9.5).hypot(kc as f32 - 8.5) < 6.0;
    let mut frames = Array4::<f32>::from_shape_fn((8, 8, 20, 18), |(r, c, kr, kc)| {
        if disk(kr, kc) {
            50.0 + ((r * 3 + c * 5 + kr * kc) % 7) as f32
        } else {
            0.0
        }
    });
    frames[(2, 5, 9, 8)] = f32::NAN;
    let nan = data.path("nan.npy");
    ssb_io::npy::write_f32(&nan, frames.view()).unwrap();
    let (kind, message) = refused(&data, &nan, &CALIBRATION);
    assert_eq!(kind, "non_finite", "{message}");
    assert!(message.contains("nan.npy"), "{message}");
    // NaN in every frame: the pixel's mean is 0 and the threshold leaves it out, but the disk holds it.
    frames.slice_mut(ndarray::s![.., .., 9, 8]).fill(f32::NAN);
    ssb_io::npy::write_f32(&nan, frames.view()).unwrap();
    assert_eq!(refused(&data, &nan, &CALIBRATION).0, "non_finite");

    // The same scattered pattern everywhere: bright pixels that form no disk.
    let noise = Array4::<f32>::from_shape_fn((8, 8, 20, 18), |(_, _, kr, kc)| {
        (((kr * 18 + kc) as u32).wrapping_mul(2_654_435_761) >> 20) as f32
    });
    let scattered = data.path("noise.npy");
    ssb_io::npy::write_f32(&scattered, noise.view()).unwrap();
    let (kind, message) = refused(&data, &scattered, &CALIBRATION);
    assert_eq!(kind, "no_bf_disk");
    assert!(message.contains("--bf-center"), "{message}");

    let dark = data.path("dark.npy");
    ssb_io::npy::write_f32(&dark, Array4::<f32>::zeros((8, 8, 20, 18)).view()).unwrap();
    assert_eq!(refused(&data, &dark, &CALIBRATION).0, "no_bf_disk");
}

#[test]
fn backends_and_budgets() {
    let data = Data::new();
    let (kind, message) = refused(&data, &data.file, &["--backend=abacus"]);
    assert_eq!(kind, "backend_unavailable");
    assert!(
        message.contains("abacus") && message.contains("cpu"),
        "{message}"
    );
    // What `devices` calls not usable is refused; nothing else takes its place.
    for backend in ssb::backends::REGISTRY.entries {
        if (backend.devices)().iter().any(|d| d.unusable.is_none()) {
            continue;
        }
        let name = backend.name;
        let (kind, message) = refused(&data, &data.file, &[&format!("--backend={name}")]);
        assert_eq!(kind, "backend_unavailable");
        assert!(message.contains(name), "{message}");
    }
    let (kind, _) = refused(&data, &data.file, &["--max-memory=10kB"]);
    assert_eq!(kind, "over_budget");
    assert_eq!(
        refused(&data, &data.file, &["--backend=cpu", "--device=7"]).0,
        "backend_unavailable"
    );
}

#[test]
fn candidate_files() {
    let data = Data::new();
    for (text, word) in [
        ("not json", "not a list"),
        ("[]", "empty"),
        (r#"[{"C10": 5}]"#, "unit"),
        (r#"[{"C11_nm": 5}]"#, "C11"),
        (r#"{"C10_nm": 5}"#, "list"),
    ] {
        let file = data.write("c.json", text);
        let args = ["--candidates", file.to_str().unwrap()];
        let (code, document) = json("eval", &data.file, &args);
        assert_eq!(code, 1, "{document}");
        assert_eq!(document["error"]["kind"], "bad_candidates");
        let message = document["error"]["message"].as_str().unwrap();
        assert!(message.contains(word), "{text}: {message}");
    }
}

#[test]
fn gradients_of_tilt_are_refused() {
    let data = Data::new();
    let tilted = ["--refine=gradient", "--tilt"];
    let (kind, message) = refused_verb("fit", &data, &data.file, &tilted);
    assert_eq!(kind, "bad_request");
    assert!(message.contains("no gradient"), "{message}");
}

#[test]
fn counts_without_information() {
    let data = Data::new();
    let file = data.path("flat.npy");
    let disk = |kr: usize, kc: usize| (kr as f32 - 9.5).hypot(kc as f32 - 8.5) < 6.0;
    let mut counts =
        Array4::<f32>::from_shape_fn(
            (8, 8, 20, 18),
            |(_, _, kr, kc)| {
                if disk(kr, kc) { 50.0 } else { 0.0 }
            },
        );
    let save = |counts: &Array4<f32>| {
        let frames = counts.to_shape((64, 20, 18)).unwrap();
        ssb_io::npy::write_f32(&file, frames.view()).unwrap();
    };
    let args = [&CALIBRATION[..], &["--scan-shape=8x8"]].concat();
    save(&counts);
    let (kind, message) = refused(&data, &file, &args);
    assert_eq!(kind, "bad_evidence");
    assert!(message.contains("constant counts"), "{message}");
    // One hot pixel outshines the disk: it alone is found.
    counts.slice_mut(ndarray::s![.., .., 9, 8]).fill(65_535.0);
    save(&counts);
    let (kind, message) = refused(&data, &file, &args);
    assert_eq!(kind, "bad_evidence");
    assert!(message.contains("hot pixel"), "{message}");
}

#[test]
fn usage_is_code_2() {
    for args in [
        vec!["fit", "--json"],
        vec![
            "eval",
            "x.h5",
            "--candidates",
            "c.json",
            "--scan-shape=7",
            "--json",
        ],
        vec!["nonsense", "--json"],
    ] {
        let run = program().args(&args).output().unwrap();
        assert_eq!(run.status.code(), Some(2), "{}", told(&run));
        assert_eq!(crate::simulated::document(&run)["error"]["kind"], "usage");
    }
    let run = program().args(["inspect"]).output().unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(run.stdout.is_empty());
    let mask = Array2::<f64>::zeros((3, 3));
    let data = Data::new();
    let path = data.path("mask.npy");
    ssb_io::npy::write_f64(&path, mask.view()).unwrap();
    let (kind, message) = refused(&data, &data.file, &["--mask", path.to_str().unwrap()]);
    assert_eq!(kind, "bad_option");
    assert!(message.contains("3 x 3"), "{message}");
}
