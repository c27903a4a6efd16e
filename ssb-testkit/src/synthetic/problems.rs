//! The recipes of the conformance suite.

use super::{Stored, Synthetic};

const BASE: Synthetic = Synthetic {
    name: "",
    seed: 0,
    scan_shape: [8, 8],
    scan_step_a: [0.45, 0.45],
    voltage_kv: 300.0,
    semiangle_mrad: 24.0,
    det_step_mrad: [6.0, 6.0],
    symmetric: false,
    radius_px: 4.9,
    rotation_deg: 0.0,
    counts: 40.0,
    stored: Stored::U16,
};

/// The problems of the conformance suite, from the smallest scan to 128 x 128.
pub const PROBLEMS: &[Synthetic] = &[
    Synthetic {
        name: "2x2",
        seed: 1,
        scan_shape: [2, 2],
        scan_step_a: [0.3, 0.3],
        counts: 400.0,
        ..BASE
    },
    Synthetic {
        name: "3x2",
        seed: 2,
        scan_shape: [3, 2],
        scan_step_a: [0.3, 0.3],
        counts: 400.0,
        stored: Stored::F64,
        ..BASE
    },
    Synthetic {
        name: "8x8",
        seed: 3,
        rotation_deg: 90.0,
        stored: Stored::U8,
        ..BASE
    },
    Synthetic {
        name: "9x8",
        seed: 4,
        scan_shape: [9, 8],
        scan_step_a: [0.5, 0.37],
        det_step_mrad: [5.1, 6.6],
        rotation_deg: -33.0,
        stored: Stored::F32,
        ..BASE
    },
    Synthetic {
        name: "8x11",
        seed: 5,
        scan_shape: [8, 11],
        stored: Stored::I16,
        ..BASE
    },
    Synthetic {
        name: "13x17",
        seed: 6,
        scan_shape: [13, 17],
        voltage_kv: 80.0,
        semiangle_mrad: 27.0,
        det_step_mrad: [5.0, 4.6],
        radius_px: 6.1,
        rotation_deg: 161.0,
        ..BASE
    },
    Synthetic {
        name: "16x31",
        seed: 7,
        scan_shape: [16, 31],
        scan_step_a: [0.3, 0.41],
        ..BASE
    },
    Synthetic {
        name: "31x37",
        seed: 8,
        scan_shape: [31, 37],
        voltage_kv: 200.0,
        counts: 300.0,
        rotation_deg: 12.5,
        ..BASE
    },
    Synthetic {
        name: "45x97",
        seed: 9,
        scan_shape: [45, 97],
        scan_step_a: [0.42, 0.29],
        det_step_mrad: [5.6, 6.3],
        rotation_deg: -71.0,
        counts: 12.0,
        stored: Stored::U8,
        ..BASE
    },
    Synthetic {
        name: "60x75",
        seed: 10,
        scan_shape: [60, 75],
        scan_step_a: [0.4, 0.31],
        voltage_kv: 80.0,
        semiangle_mrad: 25.0,
        det_step_mrad: [4.8, 5.0],
        radius_px: 5.9,
        rotation_deg: 27.0,
        ..BASE
    },
    Synthetic {
        name: "64x64",
        seed: 11,
        scan_shape: [64, 64],
        scan_step_a: [0.25, 0.25],
        semiangle_mrad: 30.0,
        symmetric: true,
        radius_px: 5.3,
        counts: 120.0,
        ..BASE
    },
    Synthetic {
        name: "96x80",
        seed: 12,
        scan_shape: [96, 80],
        scan_step_a: [0.27, 0.27],
        voltage_kv: 200.0,
        semiangle_mrad: 21.0,
        det_step_mrad: [5.2, 5.2],
        radius_px: 4.2,
        counts: 2e5,
        stored: Stored::U32,
        ..BASE
    },
    Synthetic {
        name: "128x128",
        seed: 13,
        scan_shape: [128, 128],
        scan_step_a: [0.24, 0.24],
        voltage_kv: 200.0,
        semiangle_mrad: 21.0,
        det_step_mrad: [6.3, 6.3],
        radius_px: 3.6,
        counts: 11.0,
        stored: Stored::U8,
        ..BASE
    },
    Synthetic {
        name: "16x74",
        seed: 14,
        scan_shape: [16, 74],
        scan_step_a: [0.35, 0.35],
        rotation_deg: 45.0,
        ..BASE
    },
    Synthetic {
        name: "61x67",
        seed: 15,
        scan_shape: [61, 67],
        scan_step_a: [0.3, 0.3],
        voltage_kv: 200.0,
        semiangle_mrad: 21.0,
        det_step_mrad: [5.9, 5.5],
        radius_px: 3.7,
        rotation_deg: -9.0,
        ..BASE
    },
    Synthetic {
        name: "100x100",
        seed: 16,
        scan_shape: [100, 100],
        scan_step_a: [0.26, 0.26],
        semiangle_mrad: 22.0,
        det_step_mrad: [6.4, 6.4],
        radius_px: 3.7,
        counts: 70.0,
        ..BASE
    },
    Synthetic {
        name: "125x128",
        seed: 17,
        scan_shape: [125, 128],
        scan_step_a: [0.22, 0.25],
        det_step_mrad: [7.0, 7.0],
        radius_px: 3.4,
        rotation_deg: 180.0,
        ..BASE
    },
];

/// Scans so large that the float64 reference takes most of the time: for `ssb parity --large`.
pub const LARGE_PROBLEMS: &[Synthetic] = &[Synthetic {
    name: "256x256",
    seed: 18,
    scan_shape: [256, 256],
    scan_step_a: [0.2, 0.2],
    det_step_mrad: [7.4, 7.4],
    radius_px: 3.3,
    counts: 25.0,
    stored: Stored::U8,
    ..BASE
}];
