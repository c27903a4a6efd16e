//! The simulator against sums written out from the definition.

use ndarray::Array2;
use ssb_core::num_complex::Complex64;
use ssb_core::{Aberrations, Angle, BfOptions, Control, Length, Sourced, ndarray};

use super::literal::Literal;
use super::{Counts, Simulation, Specimen};

use std::f64::consts::{PI, TAU};

/// Rotated, off-centre, unequal steps, odd and even axes, several orders of aberrations.
fn small() -> Simulation {
    let demo = Simulation::demo();
    let mut calibration = demo.calibration.clone();
    calibration.scan_step_a = Sourced::new([0.5, 0.4], "test");
    calibration.det_step_mrad = Sourced::new([6.0, 5.0], "test");
    calibration.rotation_deg = Sourced::new(33.0, "test");
    let aberrations = Aberrations::default()
        .with(0, Length::from_nm(3.0), Angle::default())
        .with(1, Length::from_nm(2.0), Angle::from_rad(0.3))
        .with(2, Length::from_nm(60.0), Angle::from_rad(-0.8))
        .with(4, Length::from_nm(900.0), Angle::default())
        .with(9, Length::from_nm(4e4), Angle::from_rad(0.5));
    Simulation {
        calibration,
        aberrations,
        scan_shape: [9, 14],
        det_shape: [11, 13],
        bf_center_px: [5.2, 5.9],
        ..demo
    }
}

fn phase(shape: [usize; 2], scale: f64) -> Array2<f64> {
    Array2::from_shape_fn(shape, |(r, c)| {
        let (r, c) = (r as f64 / shape[0] as f64, c as f64 / shape[1] as f64);
        scale * ((TAU * r).cos() + (TAU * (r - 2.0 * c)).sin() + 0.5 * (TAU * (2.0 * r + c)).cos())
    })
}

/// Expected counts of every detector pixel, row-major.
fn all_expected(simulation: &Simulation) -> Vec<Array2<f64>> {
    let prepared = simulation.prepare().unwrap();
    let mut memory = prepared.memory();
    let [rows, cols] = simulation.det_shape;
    (0..rows * cols)
        .map(|n| {
            let expected = prepared
                .expected([n / cols, n % cols], &mut memory)
                .to_vec();
            Array2::from_shape_vec(simulation.scan_shape, expected).unwrap()
        })
        .collect()
}

#[test]
fn expected_counts_are_the_direct_sum() {
    // The grid that the simulation takes is a multiple of the scan at least as fine as the phase;
    // giving it exactly that grid makes both sums run over the same frequencies.
    let fine = phase([27, 42], 0.3);
    let simulation = Simulation {
        specimen: Specimen::Phase(fine.clone()),
        ..small()
    };
    let literal = Literal::new(&simulation);
    let brightest = simulation.electrons_per_pattern / literal.beam();
    for pixel in [[5, 6], [3, 4], [8, 8], [1, 5], [10, 12], [0, 0]] {
        let got = simulation.expected_counts(pixel).unwrap();
        for at in [[0, 0], [4, 9], [8, 13]] {
            let want = literal.intensity(&fine, pixel, at);
            let difference = (got[at] - want).abs();
            assert!(
                difference < 1e-10 * brightest,
                "{pixel:?} {at:?}: {} {want}",
                got[at]
            );
        }
    }
}

#[test]
fn a_weak_thick_specimen_scatters_with_the_depth_averaged_weights() {
    let scale = 1e-5;
    let fine = phase([27, 42], scale);
    let simulation = Simulation {
        specimen: Specimen::Phase(fine.clone()),
        thickness_nm: 6.0,
        tilt_mrad: [25.0, -40.0],
        slice_nm: 0.15,
        ..small()
    };
    let literal = Literal::new(&simulation);
    let field = literal.field_a();
    let [rows, cols] = simulation.scan_shape;
    let (lambda, t_a) = (literal.wavelength_a, 60.0);
    let sinc = |x: f64| if x == 0.0 { 1.0 } else { x.sin() / x };
    let unit = simulation.electrons_per_pattern / literal.beam();
    let mut thin_differs = false;
    for pixel in [[5, 6], [4, 4], [7, 8]] {
        let k = literal.k(pixel);
        let counts = simulation.expected_counts(pixel).unwrap();
        for g in [[1_i64, 0_i64], [1, -2], [2, 1], [-1, 2]] {
            let q = [g[0] as f64 / field[0], g[1] as f64 / field[1]];
            let transform = |array: &Array2<f64>| -> Complex64 {
                let (n, m) = array.dim();
                array
                    .indexed_iter()
                    .map(|((r, c), v)| {
                        let turns =
                            g[0] as f64 * r as f64 / n as f64 + g[1] as f64 * c as f64 / m as f64;
                        v * Complex64::cis(-TAU * turns)
                    })
                    .sum::<Complex64>()
                    / (n * m) as f64
            };
            let got = transform(&counts) / unit;
            let [minus, plus] = [-1.0, 1.0].map(|s| [k[0] + s * q[0], k[1] + s * q[1]]);
            let squared = |u: [f64; 2]| lambda * lambda * (u[0] * u[0] + u[1] * u[1]);
            let tilt = TAU * (q[0] * 25e-3 - q[1] * 40e-3);
            let r1 = -(PI / lambda) * (squared(minus) - squared(k)) - tilt;
            let r2 = (PI / lambda) * (squared(plus) - squared(k)) - tilt;
            let here = literal.probe(k);
            let term = |u: [f64; 2]| literal.probe(u) * here.conj();
            let gamma =
                term(minus) * sinc(r1 * t_a / 2.0) - (term(plus) * sinc(r2 * t_a / 2.0)).conj();
            let thin = term(minus) - term(plus).conj();
            let want = Complex64::i() * transform(&fine) * gamma;
            // Second order in the phase, and the slices' finite number.
            let bound = 1e-3 * transform(&fine).norm();
            assert!((got - want).norm() < bound, "{pixel:?} {g:?}: {got} {want}");
            thin_differs |= (thin - gamma).norm() > 0.1;
        }
    }
    assert!(thin_differs);
    assert_eq!([rows, cols], [9, 14]);
}

#[test]
fn no_thickness_is_the_thin_object() {
    let thin = Simulation {
        specimen: Specimen::Atoms,
        ..small()
    };
    let flat = Simulation {
        tilt_mrad: [20.0, -10.0],
        ..thin.clone()
    };
    let hardly = Simulation {
        thickness_nm: 1e-8,
        slice_nm: 1.0,
        ..flat.clone()
    };
    let thick = Simulation {
        thickness_nm: 8.0,
        ..flat.clone()
    };
    let pixel = [5, 4];
    let [thin, flat, hardly, thick] =
        [thin, flat, hardly, thick].map(|s| s.expected_counts(pixel).unwrap());
    assert_eq!(thin, flat);
    let largest = thin.iter().copied().fold(0.0, f64::max);
    let off = |other: &Array2<f64>| {
        (other - &thin)
            .iter()
            .fold(0.0_f64, |m, d| m.max(d.abs() / largest))
    };
    assert!(off(&hardly) < 1e-6, "{}", off(&hardly));
    assert!(off(&thick) > 1e-2, "{}", off(&thick));
}

#[test]
fn multislice_conserves_electrons() {
    let mut simulation = Simulation {
        specimen: Specimen::Phase(phase([9, 14], 0.4)),
        thickness_nm: 5.0,
        tilt_mrad: [10.0, 5.0],
        det_shape: [30, 34],
        bf_center_px: [15.0, 17.0],
        ..small()
    };
    simulation.calibration.scan_step_a = Sourced::new([0.8, 0.7], "test");
    let mut sum = Array2::<f64>::zeros((9, 14));
    for expected in all_expected(&simulation) {
        sum += &expected;
    }
    // A detector of finite pixels samples interference fringes of the overlapping disks.
    for total in &sum {
        assert!((total / 1e4 - 1.0).abs() < 0.02, "{total}");
    }
}

#[test]
fn vacuum_and_sub_pixel_averages() {
    let vacuum = Simulation {
        specimen: Specimen::Phase(Array2::zeros((9, 14))),
        det_shape: [16, 18],
        bf_center_px: [7.3, 8.9],
        ..small()
    };
    for points_per_pixel in [1, 3] {
        let s = Simulation {
            points_per_pixel,
            ..vacuum.clone()
        };
        let mut total = 0.0;
        for counts in all_expected(&s) {
            assert!(counts.iter().all(|v| (v - counts[(0, 0)]).abs() < 1e-9));
            total += counts[(0, 0)];
        }
        assert!((total - 1e4).abs() < 1e-6, "{total}");
    }
    // Averages of the centres of a detector three times finer.
    let fine = {
        let mut s = Simulation {
            points_per_pixel: 1,
            specimen: Specimen::Atoms,
            ..small()
        };
        s.calibration.det_step_mrad.value = s.calibration.det_step_mrad.value.map(|v| v / 3.0);
        s.bf_center_px = s.bf_center_px.map(|c| 3.0 * c + 1.0);
        s
    };
    let coarse = Simulation {
        points_per_pixel: 3,
        specimen: Specimen::Atoms,
        ..small()
    };
    // Well inside the disk, where the soft edge (of different widths) does not matter.
    let mut simulation = fine.expected_counts([15, 18]).unwrap() * 0.0;
    for r in 0..3 {
        for c in 0..3 {
            simulation += &fine.expected_counts([15 + r, 18 + c]).unwrap();
        }
    }
    let averaged = coarse.expected_counts([5, 6]).unwrap();
    let ratio = &simulation / &averaged;
    let mean = ratio.mean().unwrap();
    let spread = ratio.iter().map(|v| (v - mean).abs()).fold(0.0, f64::max);
    assert!(
        (mean - 1.0).abs() < 0.05 && spread < 0.05,
        "{mean} {spread}"
    );
}

#[test]
fn counts_do_not_depend_on_threads_and_follow_the_seed() {
    let simulation = Simulation {
        specimen: Specimen::Atoms,
        ..small()
    };
    let with = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let simulation = Simulation {
            seed,
            ..simulation.clone()
        };
        pool.install(|| simulation.run(&Control::default()).unwrap())
    };
    let one = with(1, 3);
    assert_eq!(one, with(3, 3));
    assert_ne!(one.counts, with(1, 4).counts);
    assert_ne!(one.truth.phase_rad, with(1, 4).truth.phase_rad);
    assert_eq!(one.truth.candidate, simulation.candidate());
}

#[test]
fn the_sample_type_holds_the_largest_count() {
    for (dose, dtype) in [(100.0, "uint8"), (5e4, "uint16"), (1e7, "uint32")] {
        let simulation = Simulation {
            specimen: Specimen::Atoms,
            electrons_per_pattern: dose,
            ..small()
        };
        let scan = simulation.run(&Control::default()).unwrap();
        assert_eq!(scan.counts.dtype(), dtype);
        // The noise has the right size: electrons on the detector within five deviations.
        let total: f64 = scan.counts.mean_pattern().sum() * 126.0;
        let expected: f64 = all_expected(&simulation).iter().map(|a| a.sum()).sum();
        assert!((total - expected).abs() < 5.0 * expected.sqrt(), "{dtype}");
        match scan.counts {
            Counts::U8(_) => assert!(scan_max_is(&scan.counts, 0, 255)),
            Counts::U16(_) => assert!(scan_max_is(&scan.counts, 256, 65_535)),
            Counts::U32(_) => assert!(scan_max_is(&scan.counts, 65_536, u32::MAX)),
        }
    }
}

fn scan_max_is(counts: &Counts, low: u32, high: u32) -> bool {
    (low..=high).contains(&counts.max())
}

#[test]
fn the_demo_shows_its_crystal() {
    let simulation = Simulation {
        scan_shape: [48, 48],
        ..Simulation::demo()
    };
    let scan = simulation.run(&Control::default()).unwrap();
    let (problem, disk) = scan.problem(&BfOptions::default()).unwrap();
    assert_eq!(problem.evidence().len(), disk.pixels.len());
    for axis in 0..2 {
        let off = disk.center_px[axis] - scan.truth.bf_center_px[axis];
        assert!(off.abs() < 0.3, "{off}");
        assert!((disk.radius_px - scan.truth.bf_radius_px[axis]).abs() < 0.7);
    }
}

#[test]
fn impossible_requests_and_cancelling_are_answered() {
    let control = Control::default();
    for (wrong, word) in [
        (
            Simulation {
                scan_shape: [1, 8],
                ..small()
            },
            "scan shape",
        ),
        (
            Simulation {
                electrons_per_pattern: f64::NAN,
                ..small()
            },
            "dose",
        ),
        (
            Simulation {
                thickness_nm: -1.0,
                ..small()
            },
            "thickness",
        ),
        (
            Simulation {
                points_per_pixel: 0,
                ..small()
            },
            "points per pixel",
        ),
        (
            Simulation {
                electrons_per_pattern: 1e12,
                ..small()
            },
            "dose",
        ),
        (
            Simulation {
                aberrations: Aberrations::default().with(
                    0,
                    Length::from_nm(f64::NAN),
                    Angle::default(),
                ),
                ..small()
            },
            "aberrations",
        ),
    ] {
        let message = wrong.run(&control).unwrap_err().to_string();
        assert!(message.contains(word), "{message}");
    }
    control.cancel();
    let error = small().run(&control).unwrap_err();
    assert!(matches!(error, ssb_core::Error::Cancelled));
}
