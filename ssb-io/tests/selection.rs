//! What the caller says about a file: scan, order, flyback, orientation, mask; and folders.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use ssb_core::Control;
use ssb_core::ndarray::{Array, Array2, Array3, Array4, Dimension};
use ssb_io::{IoError, MaskChoice, OpenOptions, Region, ScanOrder, Source, npy, open};

/// Counts that tell frame and pixel apart.
fn sample(frame: usize, k: usize, l: usize) -> i32 {
    (1000 * frame + 10 * k + l) as i32
}

fn stack(frames: usize) -> Array3<i32> {
    Array3::from_shape_fn((frames, 3, 4), |(n, k, l)| sample(n, k, l))
}

fn write<D: Dimension>(folder: &Path, array: &Array<i32, D>) -> PathBuf {
    let path = folder.join("frames.npy");
    npy::write_i32(&path, array.view()).unwrap();
    path
}

fn opened(path: &Path, options: OpenOptions) -> Source {
    open(path, &options).unwrap()
}

/// One pixel over the scan.
fn column(source: &Source, pixel: [u32; 2]) -> Vec<f64> {
    let [rows, cols, ..] = source.shape();
    let mut out = vec![0.0; rows * cols];
    let evidence = source.gather(&[pixel], &Control::default()).unwrap();
    evidence.read_f64(0, &mut out);
    out
}

fn shaped(rows: usize, cols: usize) -> OpenOptions {
    OpenOptions {
        scan_shape: Some([rows, cols]),
        ..OpenOptions::default()
    }
}

#[test]
fn frames_are_skipped_and_lines_run_both_ways() {
    let folder = tempfile::tempdir().unwrap();
    // One frame to skip, then two lines of three frames and one of flyback.
    let path = write(folder.path(), &stack(9));
    let options = OpenOptions {
        skip_frames: 1,
        flyback_cols: 1,
        scan_order: ScanOrder::Serpentine,
        ..shaped(2, 3)
    };
    let source = opened(&path, options);
    assert_eq!(source.shape(), [2, 3, 3, 4]);
    let frames = column(&source, [0, 0])
        .iter()
        .map(|v| v / 1000.0)
        .collect::<Vec<_>>();
    assert_eq!(frames, [1.0, 2.0, 3.0, 7.0, 6.0, 5.0]);
    // Without the last flyback frame the scan is still whole.
    let path = write(folder.path(), &stack(8));
    let options = OpenOptions {
        skip_frames: 1,
        flyback_cols: 1,
        ..shaped(2, 3)
    };
    assert_eq!(column(&opened(&path, options), [0, 0])[5], 7000.0);
}

#[test]
fn flyback_columns_of_stored_scans_are_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let array = stack(12).into_shape_with_order((3, 4, 3, 4)).unwrap();
    let path = write(folder.path(), &array);
    let options = OpenOptions {
        flyback_cols: 1,
        ..OpenOptions::default()
    };
    let source = opened(&path, options);
    assert_eq!(source.shape(), [3, 3, 3, 4]);
    assert_eq!(column(&source, [1, 2])[3], f64::from(sample(4, 1, 2)));
}

#[test]
fn wrong_shapes_are_refused_with_both_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let mention = |error: IoError, words: &[&str]| {
        assert_eq!(error.kind(), "frame_count_mismatch", "{error}");
        for word in words {
            assert!(error.to_string().contains(word), "{word} in {error}");
        }
    };
    let path = write(folder.path(), &stack(16));
    mention(open(&path, &shaped(3, 5)).unwrap_err(), &["15", "16"]);
    mention(open(&path, &shaped(5, 4)).unwrap_err(), &["20", "16"]);
    assert_eq!(opened(&path, shaped(2, 8)).shape()[1], 8);
    let array = stack(12).into_shape_with_order((3, 4, 3, 4)).unwrap();
    let path = write(folder.path(), &array);
    mention(open(&path, &shaped(4, 3)).unwrap_err(), &["4 x 3", "3 x 4"]);
    assert!(open(&path, &shaped(3, 4)).is_ok());
}

#[test]
fn squares_are_guessed_aloud_and_others_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), &stack(16));
    let source = opened(&path, OpenOptions::default());
    assert_eq!(source.shape(), [4, 4, 3, 4]);
    assert!(source.warnings().iter().any(|w| w.contains("guessed")));
    let path = write(folder.path(), &stack(12));
    let error = open(&path, &OpenOptions::default()).unwrap_err();
    assert_eq!(error.kind(), "needs_scan_shape");
    assert!(error.to_string().contains("3x4"), "{error}");
}

#[test]
fn stopped_scans_keep_their_complete_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), &stack(11));
    let error = open(&path, &shaped(4, 3)).unwrap_err();
    assert_eq!(error.frames(), Some([11, 12]));
    assert!(error.to_string().contains("3 complete rows"), "{error}");
    let options = OpenOptions {
        complete_rows_only: true,
        ..shaped(4, 3)
    };
    let source = opened(&path, options);
    assert_eq!(source.shape(), [3, 3, 3, 4]);
    assert_eq!((source.frames_found(), source.frames_expected()), (11, 12));
    assert!(source.warnings().iter().any(|w| w.contains("3 of 4 rows")));
}

#[test]
fn detector_transforms_move_pixels_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), &stack(4));
    let plain = opened(&path, shaped(2, 2));
    let mean = plain.mean_pattern(&Control::default()).unwrap().mean;
    let turned = opened(
        &path,
        OpenOptions {
            transpose: true,
            flip_rows: true,
            ..shaped(2, 2)
        },
    );
    assert_eq!(turned.shape(), [2, 2, 4, 3]);
    let turned_mean = turned.mean_pattern(&Control::default()).unwrap().mean;
    for ((r, c), value) in turned_mean.indexed_iter() {
        assert_eq!(*value, mean[(c, 3 - r)]);
        let expected = f64::from(sample(2, c, 3 - r));
        assert_eq!(column(&turned, [r as u32, c as u32])[2], expected);
    }
    let control = Control::default();
    assert_eq!(
        turned.counts(&control).unwrap(),
        plain.counts(&control).unwrap()
    );
    let error = plain.gather(&[[3, 0]], &control).unwrap_err();
    assert_eq!(error.kind(), "bad_option");
}

#[test]
fn mask_files_leave_pixels_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), &stack(4));
    let mask = folder.path().join("mask.npy");
    let mut bad = Array2::<i32>::zeros((3, 4));
    bad[(1, 3)] = 5;
    npy::write_i32(&mask, bad.view()).unwrap();
    let options = OpenOptions {
        mask: MaskChoice::File(mask.clone()),
        flip_cols: true,
        ..shaped(2, 2)
    };
    let source = opened(&path, options);
    assert_eq!(source.masked_pixels(), 1);
    assert!(!source.mask().unwrap()[(1, 0)]);
    let mean = source.mean_pattern(&Control::default()).unwrap();
    assert_eq!(mean.mean[(1, 0)], 0.0);
    assert_eq!(mean.max_count, f64::from(sample(3, 2, 3)));
    npy::write_i32(&mask, Array2::<i32>::zeros((4, 3)).view()).unwrap();
    let options = OpenOptions {
        mask: MaskChoice::File(mask),
        ..shaped(2, 2)
    };
    assert_eq!(open(&path, &options).unwrap_err().kind(), "bad_option");
}

#[test]
fn folders_stand_for_their_one_master() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let source = opened(&fixtures.join("arina_u16_sidecar"), OpenOptions::default());
    assert_eq!(source.shape(), [12, 10, 24, 20]);
    assert_eq!(source.layout(), "dectris-master");
    let empty = tempfile::tempdir().unwrap();
    let kind = |path: &Path| open(path, &OpenOptions::default()).unwrap_err().kind();
    assert_eq!(kind(empty.path()), "not_a_file");
    assert_eq!(kind(&empty.path().join("none.h5")), "not_found");
}

#[test]
fn a_missing_data_file_is_counted() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let folder = fixtures.join("broken_missing_data_file");
    let error = open(&folder, &shaped(12, 10)).unwrap_err();
    assert_eq!(error.kind(), "missing_external_file");
    assert_eq!(error.frames(), Some([70, 120]));
    let options = OpenOptions {
        complete_rows_only: true,
        ..shaped(12, 10)
    };
    let source = opened(&folder, options);
    assert_eq!(source.shape(), [5, 10, 24, 20]);
    assert_eq!((source.frames_found(), source.frames_expected()), (70, 120));
}

#[test]
fn work_stops_when_cancelled_and_reports_progress() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), &stack(4));
    let source = opened(&path, shaped(2, 2));
    let control = Control::default();
    control.cancel();
    assert_eq!(
        source.mean_pattern(&control).unwrap_err().kind(),
        "cancelled"
    );
    assert_eq!(
        source.gather(&[[0, 0]], &control).unwrap_err().kind(),
        "cancelled"
    );
    assert_eq!(source.counts(&control).unwrap_err().kind(), "cancelled");
    let (send, receive) = std::sync::mpsc::channel();
    let watched = Control::watched(move |p| {
        let _ = send.send((p.task.to_owned(), p.done, p.total));
    });
    source.mean_pattern(&watched).unwrap();
    source.gather(&[[0, 0]], &watched).unwrap();
    drop(watched);
    let reports: Vec<_> = receive.iter().collect();
    assert_eq!(
        reports,
        [
            ("mean pattern".to_owned(), 4, 4),
            ("bright-field columns".to_owned(), 4, 4)
        ]
    );
}

#[test]
fn columns_do_not_depend_on_how_the_work_is_cut() {
    // More frames than one piece of work holds, so that batches and runs are exercised.
    let folder = tempfile::tempdir().unwrap();
    let array = Array4::from_shape_fn((70, 50, 3, 4), |(r, c, k, l)| sample(50 * r + c, k, l));
    let path = write(folder.path(), &array);
    let source = opened(&path, OpenOptions::default());
    let expected: Vec<f64> = (0..3500).map(|n| f64::from(sample(n, 2, 1))).collect();
    assert_eq!(column(&source, [2, 1]), expected);
    let mean = source.mean_pattern(&Control::default()).unwrap().mean;
    assert_eq!(mean[(2, 1)], expected.iter().sum::<f64>() / 3500.0);
}

#[test]
fn a_region_is_the_same_part_of_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    // Chunks of several frames, a frame to skip, flyback, and lines that run both ways.
    let path = write(folder.path(), &stack(1 + 8 * 9));
    let whole = OpenOptions {
        skip_frames: 1,
        flyback_cols: 1,
        scan_order: ScanOrder::Serpentine,
        ..shaped(8, 8)
    };
    let all = column(&opened(&path, whole.clone()), [1, 2]);
    for text in ["0:8,0:8", "2:5,1:7", "7:8,7:8", "0:1,0:8", "3:8,0:2"] {
        let region: Region = text.parse().unwrap();
        let options = OpenOptions {
            region: Some(region),
            ..whole.clone()
        };
        let source = opened(&path, options);
        let ([r0, r1], [c0, c1]) = (region.rows, region.cols);
        assert_eq!(source.shape(), [r1 - r0, c1 - c0, 3, 4]);
        assert_eq!(source.whole_scan(), [8, 8]);
        let expected: Vec<f64> = (r0..r1)
            .flat_map(|r| (c0..c1).map(move |c| r * 8 + c))
            .map(|i| all[i])
            .collect();
        assert_eq!(column(&source, [1, 2]), expected, "{text}");
        let mean = source.mean_pattern(&Control::default()).unwrap().mean;
        let expected = expected.iter().sum::<f64>() / expected.len() as f64;
        assert!((mean[(1, 2)] - expected).abs() < 1e-9 * expected, "{text}");
    }
}

#[test]
fn a_region_that_is_empty_or_beyond_the_scan_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), &stack(12));
    for text in ["1:1,0:3", "2:1,0:3", "0:2,3:3", "0:5,0:3", "0:4,0:4"] {
        let options = OpenOptions {
            region: Some(text.parse().unwrap()),
            ..shaped(4, 3)
        };
        let error = open(&path, &options).unwrap_err();
        assert_eq!(error.kind(), "bad_option", "{error}");
        for word in [text, "R1 <= 4", "C1 <= 3", "--region"] {
            assert!(error.to_string().contains(word), "{word}: {error}");
        }
    }
    for text in ["", "1:2", "1:2,3", "a:b,c:d", "1:2,3:4,5:6", "-1:2,0:3"] {
        assert!(text.parse::<Region>().is_err(), "{text}");
    }
}
