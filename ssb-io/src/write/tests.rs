//! Acquisitions written in every layout and read back by the reader.

use std::path::Path;

use ndarray::Array4;
use ssb_core::{
    Calibration, CalibrationHints, Columns, Control, Sourced, merge_calibration, ndarray,
};

use super::{AcquisitionLayout, StoredCount, write_acquisition};
use crate::{OpenOptions, open};

const ARINA: AcquisitionLayout = AcquisitionLayout::Arina {
    frames_per_file: 50,
};

fn calibration(scan_step_a: [f64; 2]) -> Calibration {
    Calibration {
        voltage_kv: Sourced::new(200.0, "argument"),
        semiangle_mrad: Sourced::new(21.4, "argument"),
        scan_step_a: Sourced::new(scan_step_a, "argument"),
        det_step_mrad: Sourced::new([2.85, 2.5], "argument"),
        rotation_deg: Sourced::new(-17.0, "argument"),
    }
}

/// A scan of 12 x 10 with a detector of 9 x 7, all sizes different.
fn counts<T: TryFrom<u32>>(scale: u32) -> Array4<T> {
    Array4::from_shape_fn((12, 10, 9, 7), |(a, b, r, c)| {
        let value = ((a * 131 + b * 17 + r * 7 + c * 3) % 250) as u32 * scale;
        T::try_from(value).unwrap_or_else(|_| panic!("{value} does not fit"))
    })
}

fn read_back<T: StoredCount + PartialEq + std::fmt::Debug>(
    path: &Path,
    written: &Array4<T>,
    dtype: &str,
    unwrap: impl Fn(Columns) -> ndarray::Array2<T>,
) {
    let source = open(path, &OpenOptions::default()).unwrap();
    assert_eq!(source.shape(), [12, 10, 9, 7], "{path:?}");
    assert_eq!(source.dtype(), dtype);
    assert_eq!(source.masked_pixels(), 0);
    let pixels: Vec<[u32; 2]> = (0..9).flat_map(|r| (0..7).map(move |c| [r, c])).collect();
    let evidence = source.gather(&pixels, &Control::default()).unwrap();
    let columns = unwrap(evidence.columns().clone());
    for ((b, n), value) in columns.indexed_iter() {
        assert_eq!(*value, written[(n / 10, n % 10, b / 7, b % 7)], "{path:?}");
    }
}

#[test]
fn every_layout_and_type_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let (small, medium, large) = (
        counts::<u8>(1),
        counts::<u16>(260),
        counts::<u32>(17_000_000),
    );
    let control = Control::default();
    for (name, layout) in [
        ("plain", AcquisitionLayout::Plain),
        ("arina", ARINA),
        ("emd", AcquisitionLayout::Emd),
    ] {
        let calibration = calibration([0.25, 0.3]);
        let path = |dtype: &str| folder.path().join(format!("{name}_{dtype}.h5"));
        let write8 =
            write_acquisition(&path("u8"), layout, small.view(), &calibration, &control).unwrap();
        let write16 =
            write_acquisition(&path("u16"), layout, medium.view(), &calibration, &control).unwrap();
        let write32 =
            write_acquisition(&path("u32"), layout, large.view(), &calibration, &control).unwrap();
        read_back(&write8[0], &small, "uint8", |c| match c {
            Columns::U8(a) => a,
            other => panic!("{}", other.dtype()),
        });
        read_back(&write16[0], &medium, "uint16", |c| match c {
            Columns::U16(a) => a,
            other => panic!("{}", other.dtype()),
        });
        read_back(&write32[0], &large, "uint32", |c| match c {
            Columns::U32(a) => a,
            other => panic!("{}", other.dtype()),
        });
    }
}

#[test]
fn the_reader_finds_the_calibration() {
    let folder = tempfile::tempdir().unwrap();
    for step in [[0.25, 0.25], [0.25, 0.3]] {
        let written = calibration(step);
        for layout in [AcquisitionLayout::Plain, ARINA, AcquisitionLayout::Emd] {
            let files = write_acquisition(
                &folder.path().join("scan.h5"),
                layout,
                counts::<u16>(1).view(),
                &written,
                &Control::default(),
            )
            .unwrap();
            let source = open(&files[0], &OpenOptions::default()).unwrap();
            let (found, warnings) =
                merge_calibration(&CalibrationHints::default(), source.calibration())
                    .unwrap_or_else(|e| panic!("{layout:?} {step:?}: {e}"));
            assert!(warnings.is_empty(), "{layout:?}: {warnings:?}");
            let values = |c: &Calibration| {
                let [a, b] = c.scan_step_a.value;
                let [d, e] = c.det_step_mrad.value;
                [
                    c.voltage_kv.value,
                    c.semiangle_mrad.value,
                    a,
                    b,
                    d,
                    e,
                    c.rotation_deg.value,
                ]
            };
            for (f, w) in values(&found).into_iter().zip(values(&written)) {
                assert!((f - w).abs() < 1e-12 * w.abs(), "{layout:?}: {f} {w}");
            }
        }
    }
}

#[test]
fn a_chunk_tree_of_several_levels_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let written = Array4::from_shape_fn((72, 61, 3, 2), |(a, b, r, c)| {
        (a * 610 + b * 10 + r * 2 + c) as u16
    });
    let layout = AcquisitionLayout::Arina {
        frames_per_file: 10_000,
    };
    let path = folder.path().join("scan_master.h5");
    let step = calibration([0.25, 0.25]);
    let files =
        write_acquisition(&path, layout, written.view(), &step, &Control::default()).unwrap();
    assert_eq!(files[0], path);
    assert_eq!(files.len(), 3);
    let source = open(&path, &OpenOptions::default()).unwrap();
    let evidence = source.gather(&[[2, 1]], &Control::default()).unwrap();
    let mut column = vec![0.0; 72 * 61];
    evidence.read_f64(0, &mut column);
    for (n, value) in column.iter().enumerate() {
        assert_eq!(*value, f64::from(written[(n / 61, n % 61, 2, 1)]));
    }
}

#[test]
fn stopping_and_refusals_leave_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scan.h5");
    let control = Control::default();
    control.cancel();
    let step = calibration([0.25, 0.25]);
    for layout in [AcquisitionLayout::Plain, ARINA, AcquisitionLayout::Emd] {
        let data = counts::<u16>(1);
        let error = write_acquisition(&path, layout, data.view(), &step, &control).unwrap_err();
        assert_eq!(error.kind(), "cancelled");
        let empty = Array4::<u8>::zeros((2, 0, 3, 3));
        let error = write_acquisition(&path, layout, empty.view(), &step, &control).unwrap_err();
        assert_eq!(error.kind(), "bad_value");
        let missing = folder.path().join("no/scan.h5");
        let running = Control::default();
        let error = write_acquisition(&missing, layout, data.view(), &step, &running).unwrap_err();
        assert_eq!(error.kind(), "io");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    assert!("arinaa".parse::<AcquisitionLayout>().is_err());
    assert_eq!(
        "emd".parse::<AcquisitionLayout>().unwrap(),
        AcquisitionLayout::Emd
    );
}
