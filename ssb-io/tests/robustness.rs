//! Damaged copies of fixtures: bytes changed, bits flipped, cut short. An error or a result, never a
//! panic, an abort or a hang.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use ssb_core::Control;
use ssb_io::{OpenOptions, open};

/// A small generator of numbers, the same on every machine.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % n
    }
}

/// Opens and reads whatever can be read.
fn exercise(path: &Path) -> bool {
    let control = Control::default();
    let options = OpenOptions {
        scan_shape: Some([12, 10]),
        complete_rows_only: true,
        ..OpenOptions::default()
    };
    let mut good = true;
    for options in [OpenOptions::default(), options] {
        match open(path, &options) {
            Ok(source) => {
                good &= source.counts(&control).is_ok();
                good &= source.mean_pattern(&control).is_ok();
                good &= source.gather(&[[0, 0], [3, 4]], &control).is_ok();
            }
            Err(error) => {
                assert!(!error.to_string().is_empty() && !error.kind().is_empty());
                good = false;
            }
        }
    }
    good
}

/// Copies a fixture's folder, damages one file, and exercises the copy.
fn damage(open_path: &str, file: &str, rounds: usize, seed: u64) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let folder = tempfile::tempdir().unwrap();
    let copy = |name: &str| -> PathBuf { folder.path().join(Path::new(name).file_name().unwrap()) };
    let mut names = vec![open_path.to_owned()];
    if let Some((parent, _)) = open_path.split_once('/') {
        let all = std::fs::read_dir(fixtures.join(parent)).unwrap();
        names = all
            .map(|e| format!("{parent}/{}", e.unwrap().file_name().to_string_lossy()))
            .collect();
    }
    for name in &names {
        std::fs::copy(fixtures.join(name), copy(name)).unwrap();
    }
    let whole = std::fs::read(fixtures.join(file)).unwrap();
    let mut numbers = Numbers(seed);
    let mut noticed = 0;
    for round in 0..rounds {
        let mut bytes = whole.clone();
        match round % 3 {
            0 => bytes.truncate(numbers.below(whole.len())),
            1 => {
                for _ in 0..1 + numbers.below(8) {
                    let at = numbers.below(whole.len());
                    bytes[at] ^= 1 << numbers.below(8);
                }
            }
            _ => {
                // The first bytes hold most of the structure.
                for _ in 0..1 + numbers.below(4) {
                    let at = numbers.below(whole.len().min(4096));
                    bytes[at] = [0, 0xff, 0x80, 0x7f][numbers.below(4)];
                }
            }
        }
        std::fs::write(copy(file), &bytes).unwrap();
        noticed += usize::from(!exercise(&copy(open_path)));
    }
    // Every cut must be noticed; flipped bits may lie in unused bytes.
    assert!(noticed >= rounds / 3, "{noticed} of {rounds}");
}

#[test]
fn damaged_plain_files_are_survived() {
    damage("filt_bslz4_u16_odd.h5", "filt_bslz4_u16_odd.h5", 300, 1);
    damage("filt_f32_gzip.h5", "filt_f32_gzip.h5", 150, 2);
}

#[test]
fn damaged_masters_and_data_files_are_survived() {
    let folder = "arina_u16_3files/arina_u16_3files";
    let master = format!("{folder}_master.h5");
    damage(&master, &master, 200, 3);
    damage(&master, &format!("{folder}_data_000002.h5"), 150, 4);
}

#[test]
fn damaged_virtual_and_emd_files_are_survived() {
    damage("vds_3files/vds.h5", "vds_3files/vds.h5", 200, 5);
    damage("py4dstem_v012_u16.h5", "py4dstem_v012_u16.h5", 150, 6);
    damage("berkeley_emd02_u16.emd", "berkeley_emd02_u16.emd", 150, 7);
}

#[test]
fn damaged_npy_files_are_survived() {
    damage("npy_u16_4d.npy", "npy_u16_4d.npy", 300, 8);
}

#[test]
fn damaged_files_of_other_programs_are_survived() {
    for (seed, file) in (9..).zip([
        "velox_v10_u16.emd",
        "hyperspy_zip_u16.zspy",
        "hyperspy_u16.hspy",
        "nion_ndata1_u8.ndata1",
        "nexus_nxdata_u16.nxs",
        "merlin_u16_hdr/merlin_u16_hdr.mib",
        "filt_blosc2_lz4_bitshuffle_u16.h5",
        "filt_blosc_blosclz_u8.h5",
        "filt_zstd_shuffle_u32.h5",
    ]) {
        damage(file, file, 60, seed);
    }
}
