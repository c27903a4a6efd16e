//! Results written and read back, and files that are no results.

use std::fs;

use ndarray::Array2;
use num_complex::Complex32;
use serde_json::json;
use ssb_core::{BfDisk, Calibration, Candidate, Provenance, SourceRecord, Sourced, ndarray};

use super::{Outcome, ResultFile, Trial};
use crate::IoError;

fn calibration() -> Calibration {
    let origin = "file:/4d@voltage_kV";
    Calibration {
        voltage_kv: Sourced::new(300.0, origin),
        semiangle_mrad: Sourced::new(21.4 / 3.0, origin),
        scan_step_a: Sourced::new([0.1 + 0.2, 0.3], origin),
        det_step_mrad: Sourced::new([1.0 / 3.0, 2.85], "argument"),
        rotation_deg: Sourced::new(-27.000_000_000_000_004, "argument"),
    }
}

fn result(pixels: u32) -> ResultFile {
    let (rows, cols) = (6, 5);
    let wave = |r: usize, c: usize| ((r * 7 + c * 3) as f32 * 0.37).sin() / 3.0;
    let candidate = |i: usize| {
        let mut c = Candidate::default();
        c.aberrations.get_mut(0).magnitude_a = 123.456_789 / (i + 1) as f64;
        c.aberrations.get_mut(1).magnitude_a = (i as f64).sqrt();
        c.aberrations.get_mut(1).angle_rad = (i as f64).sin();
        c.tilt_mrad = [i as f64 / 3.0, -1.0];
        c.rotation_deg = (i == 2).then_some(0.1);
        c
    };
    let trials = (0..4).map(|i| Trial {
        number: i,
        method: ["start", "tpe", "", "nelder-mead µ"][i as usize].into(),
        candidate: candidate(i as usize),
        loss: if i == 3 {
            f64::INFINITY
        } else {
            0.1 / (i + 3) as f64
        },
        agreement: (i == 1).then_some(1.0 / 3.0),
        degenerate_fraction: 0.013,
        eligible: i != 3,
    });
    ResultFile {
        object: Array2::from_shape_fn((2 * rows, 2 * cols), |(r, c)| {
            Complex32::new(wave(r, c), -0.0 * wave(c, r))
        }),
        phase_rad: Array2::from_shape_fn((2 * rows, 2 * cols), |(r, c)| wave(r, c + 1)),
        amplitude: Array2::from_shape_fn((2 * rows, 2 * cols), |(r, c)| wave(r + 1, c)),
        mean_phase_rad: Some(Array2::from_shape_fn((rows, cols), |(r, c)| wave(c, r))),
        other_branch_phase_rad: Some(Array2::from_shape_fn((rows, cols), |(r, c)| -wave(r, c))),
        mean_pattern: Array2::from_shape_fn((9, 8), |(r, c)| wave(r, c) * 100.0),
        outcome: Outcome {
            best: candidate(2),
            loss: 0.1 / 3.0,
            degenerate_fraction: 0.0,
            agreement: Some(1.0 / 7.0),
            gain: None,
            fitted: true,
            cancelled: false,
            estimator: "phase-of-mean".into(),
            upsample: 2,
            details: json!({"start": {"C12_nm": 5}, "evaluations": 240, "x": 0.1 + 0.2}),
        },
        trials: trials.collect(),
        provenance: Provenance {
            program: "ssb 0.1.0".into(),
            numerics_version: "1".into(),
            source: SourceRecord {
                path: "scan \"µ\".h5".into(),
                layout: "plain".into(),
                dataset: "/4d".into(),
                shape: [rows, cols, 9, 8],
                dtype: "uint16".into(),
                content_sha256: "00ff".into(),
                options: json!({}),
                mask: json!(null),
            },
            calibration: calibration(),
            disk: BfDisk {
                center_px: [4.1, 3.7],
                radius_px: 3.0,
                pixels: (0..pixels).map(|i| [i, i / 2]).collect(),
            },
            request: json!({"seed": 42, "search": {"C10": [-40.0, 40.0]}}),
            evaluator: json!({"backend": "cpu"}),
            seconds: json!({"fit": 1.25}),
            warnings: vec!["rotation taken as 0".into()],
        },
    }
}

#[test]
fn everything_comes_back_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.h5");
    // 30,000 pixels make a provenance of several 100 kB.
    for (pixels, bare) in [(12, false), (30_000, false), (3, true)] {
        let mut written = result(pixels);
        if bare {
            written.trials.clear();
            written.mean_phase_rad = None;
            written.other_branch_phase_rad = None;
            written.outcome.agreement = None;
            written.outcome.gain = Some(1.01);
        }
        written.write(&path).unwrap();
        let back = ResultFile::read(&path).unwrap();
        assert_eq!(back, written);
        let bits = |r: &ResultFile| -> Vec<u32> {
            let object = r.object.iter().flat_map(|z| [z.re, z.im]);
            object
                .chain(r.phase_rad.iter().copied())
                .map(f32::to_bits)
                .collect()
        };
        assert_eq!(bits(&back), bits(&written));
        let provenance = ResultFile::read_provenance(&path).unwrap();
        assert!(provenance.answers(&written.provenance));
        assert_eq!(provenance, written.provenance);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

#[test]
fn every_image_says_its_unit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.h5");
    result(12).write(&path).unwrap();
    let file = hdf5_reader::Hdf5File::open(&path).unwrap();
    for (name, unit) in [
        ("object", "counts"),
        ("amplitude", "counts"),
        ("mean_pattern", "counts"),
        ("phase", "rad"),
        ("mean_phase", "rad"),
        ("other_branch_phase", "rad"),
    ] {
        let units = file.dataset(name).unwrap().attribute("units").unwrap();
        assert_eq!(units.read_string().unwrap(), unit, "{name}");
    }
}

#[test]
fn nothing_is_left_where_nothing_can_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let error = result(3)
        .write(folder.path().join("missing/r.h5"))
        .unwrap_err();
    assert!(matches!(error, IoError::System(_)), "{error}");
    // A folder in the file's place: the rename fails and the temporary file goes.
    let taken = folder.path().join("r.h5");
    fs::create_dir(&taken).unwrap();
    fs::write(taken.join("x"), b"x").unwrap();
    let error = result(3).write(&taken).unwrap_err();
    assert!(matches!(error, IoError::System(_)), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn other_files_are_refused_by_kind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.h5");
    let kind = || ResultFile::read(&path).unwrap_err().kind();
    assert_eq!(kind(), "not_found");
    fs::write(&path, b"").unwrap();
    assert_eq!(kind(), "empty_file");
    fs::write(&path, b"no HDF5 at all, but some text").unwrap();
    assert_eq!(kind(), "not_hdf5");
    let mut builder = hdf5_pure::FileBuilder::new();
    builder.create_dataset("object").with_f64_data(&[1.0]);
    builder.write(&path).unwrap();
    assert_eq!(kind(), "not_a_result");
    assert_eq!(
        ResultFile::read_provenance(&path).unwrap_err().kind(),
        "not_a_result"
    );
    // A marked file without its parts.
    let mut builder = hdf5_pure::FileBuilder::new();
    builder.create_dataset("object").with_f64_data(&[1.0]);
    builder.set_attr(super::MARK, hdf5_pure::AttrValue::I64(super::VERSION));
    builder.write(&path).unwrap();
    assert_eq!(kind(), "bad_result");
}

#[test]
fn a_cut_or_damaged_file_never_panics() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.h5");
    let written = result(12);
    written.write(&path).unwrap();
    let whole = fs::read(&path).unwrap();
    let mut refused = 0;
    for cut in (0..whole.len()).step_by(whole.len() / 60) {
        fs::write(&path, &whole[..cut]).unwrap();
        refused += u32::from(ResultFile::read(&path).is_err());
    }
    assert!(refused >= 60, "{refused}");
    for at in (0..whole.len()).step_by(331) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x41;
        fs::write(&path, &damaged).unwrap();
        // Either refused, or read with that byte changed; both are answers.
        let _ = ResultFile::read(&path);
    }
}
