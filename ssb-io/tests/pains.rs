//! What users of such programs suffered from, and what must happen instead: the entries on files. (Those on
//! units, signs, memory, backends, results and cancelling: `ssb/tests/program/pains.rs`; a kernel that
//! does not compile: `ssb-kernels/src/evaluator/self_test.rs` and its tests.)
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use ssb_core::Control;
use ssb_core::ndarray::Array3;
use ssb_io::{IoError, OpenOptions, npy, open};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn shaped(rows: usize, cols: usize) -> OpenOptions {
    OpenOptions {
        scan_shape: Some([rows, cols]),
        ..OpenOptions::default()
    }
}

/// A copy of a fixture's folder.
fn copied(folder: &str) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(fixtures().join(folder)).unwrap() {
        let file = entry.unwrap().path();
        std::fs::copy(&file, copy.path().join(file.file_name().unwrap())).unwrap();
    }
    copy
}

fn refused(path: &Path, options: &OpenOptions, kind: &str, words: &[&str]) -> IoError {
    let error = match open(path, options) {
        Err(error) => error,
        Ok(source) => source.counts(&Control::default()).unwrap_err(),
    };
    assert_eq!(error.kind(), kind, "{error}");
    for word in words {
        assert!(error.to_string().contains(word), "`{word}` in: {error}");
    }
    error
}

#[test]
fn p01_a_missing_data_file_is_named_and_only_whole_rows_can_be_kept() {
    let copy = copied("arina_u16_3files");
    let master = copy.path().join("arina_u16_3files_master.h5");
    let second = copy.path().join("arina_u16_3files_data_000002.h5");
    std::fs::remove_file(&second).unwrap();
    let error = refused(
        &master,
        &shaped(12, 10),
        "missing_external_file",
        &[second.to_str().unwrap(), "--complete-rows-only"],
    );
    let [found, expected] = error.frames().unwrap();
    assert_eq!(expected, 120);
    assert!(found < 120, "{found}");
    // The rows before the gap, said aloud.
    let kept = OpenOptions {
        complete_rows_only: true,
        ..shaped(12, 10)
    };
    let source = open(&master, &kept).unwrap();
    assert!(source.shape()[0] < 12);
    assert!(source.warnings().iter().any(|w| w.contains("data_000002")));
    // The pair renamed, the links inside not: the base names beside the master do not fit either.
    let renamed = copy.path().join("other_master.h5");
    std::fs::rename(&master, &renamed).unwrap();
    refused(
        &renamed,
        &shaped(12, 10),
        "missing_external_file",
        &["data_000002"],
    );
}

#[test]
fn p02_a_scan_shape_is_taken_from_the_file_or_asked_for_and_a_square_is_said() {
    let stack = fixtures().join("stack3d_nometa_u16.h5");
    refused(
        &stack,
        &OpenOptions::default(),
        "needs_scan_shape",
        &["12x10", "10x12", "120 frames"],
    );
    // 11 x 10 leaves 10 frames over: a whole line. 31 x 33 lacks frames.
    refused(
        &stack,
        &shaped(11, 10),
        "frame_count_mismatch",
        &["110", "120"],
    );
    refused(
        &stack,
        &shaped(31, 33),
        "frame_count_mismatch",
        &["1023", "120"],
    );
    // Data stored in four axes are taken as they are.
    let four = open(
        &fixtures().join("filt_gzip_u16.h5"),
        &OpenOptions::default(),
    )
    .unwrap();
    assert_eq!(four.shape(), [12, 10, 24, 20]);
    refused(
        &fixtures().join("filt_gzip_u16.h5"),
        &shaped(10, 12),
        "frame_count_mismatch",
        &["10 x 12", "12 x 10"],
    );
    let folder = tempfile::tempdir().unwrap();
    let square = folder.path().join("square.npy");
    npy::write_i32(&square, Array3::<i32>::ones((16, 3, 4)).view()).unwrap();
    let source = open(&square, &OpenOptions::default()).unwrap();
    assert_eq!(source.shape()[..2], [4, 4]);
    assert!(source.warnings().iter().any(|w| w.contains("guessed")));
}

#[test]
fn p03_masked_pixels_are_left_out_and_an_unmasked_one_at_the_maximum_is_counted() {
    let source = open(&fixtures().join("dead_u16.h5"), &OpenOptions::default()).unwrap();
    assert_eq!(source.masked_pixels(), 4);
    let pattern = source.mean_pattern(&Control::default()).unwrap();
    // The mask names four pixels; one frame of another holds 65535.
    assert_eq!(pattern.saturated_pixels, [[12, 10]]);
    for pixel in [(5, 3), (5, 4), (17, 12), (22, 0)] {
        assert_eq!(pattern.mean[pixel], 0.0);
    }
    let unmasked = OpenOptions {
        mask: ssb_io::MaskChoice::None,
        ..OpenOptions::default()
    };
    let source = open(&fixtures().join("dead_u16.h5"), &unmasked).unwrap();
    let pattern = source.mean_pattern(&Control::default()).unwrap();
    assert_eq!(pattern.saturated_pixels.len(), 5);
    assert_eq!(pattern.max_count, 65535.0);
}

#[test]
fn p04_every_common_filter_is_built_in_and_others_are_refused_by_id_before_reading() {
    for name in [
        "filt_bslz4_u16_c1.h5",
        "filt_bshuf_only_u8.h5",
        "filt_bszstd_u16_c1.h5",
        "filt_lz4_u16.h5",
        "filt_gzip_shuffle_u32.h5",
        "filt_lzf_u16.h5",
        "filt_zstd_u16.h5",
        "filt_blosc_lz4_bitshuffle_u16.h5",
        "filt_blosc2_lz4_bitshuffle_u16.h5",
        "filt_scaleoffset_u16.h5",
        "filt_contiguous_u16.h5",
        // Through a virtual dataset too.
        "eiger_vds_u16/eiger_vds_u16_master.h5",
    ] {
        let options = match name.contains("vds") {
            true => shaped(12, 10),
            false => OpenOptions::default(),
        };
        let source = open(&fixtures().join(name), &options).unwrap();
        let counts = source.counts(&Control::default()).unwrap();
        assert!(
            counts.counts_sum.to_string().parse::<i64>().unwrap() > 60_000,
            "{name}"
        );
    }
    let unknown = fixtures().join("broken_unknown_filter.h5");
    let error = open(&unknown, &OpenOptions::default()).unwrap_err();
    assert_eq!(error.kind(), "unsupported_filter");
    assert!(error.to_string().contains("33333"), "{error}");
}

#[test]
fn p05_truncated_files_are_refused_and_a_bad_chunk_names_file_dataset_frame_and_byte() {
    let copy = copied("arina_u16_3files");
    let master = copy.path().join("arina_u16_3files_master.h5");
    let second = copy.path().join("arina_u16_3files_data_000002.h5");
    let whole = std::fs::read(&second).unwrap();
    std::fs::write(&second, &whole[..whole.len() * 6 / 10]).unwrap();
    refused(
        &master,
        &shaped(12, 10),
        "truncated",
        &[second.to_str().unwrap()],
    );
    std::fs::write(&second, []).unwrap();
    refused(&master, &shaped(12, 10), "empty_file", &["data_000002"]);
    // 16 bytes of one compressed chunk zeroed.
    let file = copy.path().join("chunk.h5");
    let mut bytes = std::fs::read(fixtures().join("filt_bslz4_u16_c1.h5")).unwrap();
    let head = [0, 0, 0, 0, 0, 0, 3, 0xc0];
    let at = bytes.windows(8).position(|w| w == head).unwrap();
    bytes[at + 16..at + 32].fill(0);
    std::fs::write(&file, &bytes).unwrap();
    let place = format!("at byte {at}");
    let words = [file.to_str().unwrap(), "/data", "frame (", &place];
    let error = refused(&file, &OpenOptions::default(), "corrupt_chunk", &words);
    // Nothing half-read is passed on.
    let source = open(&file, &OpenOptions::default()).unwrap();
    let control = Control::default();
    assert_eq!(
        source.mean_pattern(&control).unwrap_err().kind(),
        error.kind()
    );
    assert_eq!(
        source.gather(&[[0, 0]], &control).unwrap_err().kind(),
        error.kind()
    );
    assert!(
        source
            .mean_pattern_and_guess(&[[0, 0]], &[], &control)
            .is_err()
    );
}

#[test]
fn p06_a_virtual_dataset_never_reads_as_fill_values_when_a_source_is_missing() {
    let copy = copied("vds_3files");
    let vds = copy.path().join("vds.h5");
    assert!(open(&vds, &shaped(12, 10)).is_ok());
    let part = copy.path().join("part1.h5");
    std::fs::rename(&part, copy.path().join("moved.h5")).unwrap();
    refused(
        &vds,
        &shaped(12, 10),
        "missing_external_file",
        &["part1.h5"],
    );
    // A source that is there and cannot be read.
    std::fs::write(&part, b"no HDF5").unwrap();
    refused(&vds, &shaped(12, 10), "not_hdf5", &["part1.h5"]);
}

#[test]
fn p10_the_plan_names_its_sizes_and_counts_columns_only() {
    let source = open(
        &fixtures().join("filt_bslz4_u16_c1.h5"),
        &OpenOptions::default(),
    )
    .unwrap();
    let plan = source.load_plan(50, 1);
    assert_eq!(plan.decoded_bytes, 12 * 10 * 24 * 20 * 2);
    assert_eq!(plan.column_bytes, 50 * 120 * 2);
    assert!(
        plan.to_string().contains("50 bright-field columns"),
        "{plan}"
    );
    let error = plan.check(Some(1000)).unwrap_err();
    assert_eq!(error.kind(), "over_budget");
    assert!(error.to_string().contains("12.0 kB"), "{error}");
}
