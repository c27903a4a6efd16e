//! Plans of devices that nobody here needs to own: snapshots in `plans.txt`, traffic, and memory.
//!
//! `SSB_WRITE_PLANS=1` writes the snapshots anew; read the difference before it is committed.

#![allow(clippy::unwrap_used)]

use std::fmt::Write;

use ssb_core::Limits;
use ssb_kernels::device::profiles;
use ssb_kernels::plan::{Arrangement, Request, Scan, TOPOLOGIES, plan};

fn request(rows: usize, cols: usize, stored: usize) -> Request {
    Request {
        scan: Scan { rows, cols },
        stored,
        sample_bytes: 2,
        unequal: false,
        bf_block: None,
    }
}

fn half_plane_bytes(arrangement: &Request) -> u64 {
    let Scan { rows, cols } = arrangement.scan;
    8 * (rows * (cols / 2 + 1)) as u64
}

#[test]
fn plans_are_as_recorded() {
    let mut text = String::new();
    for (name, limits) in profiles::all() {
        for (rows, cols, stored) in [
            (64, 64, 300),
            (128, 128, 2500),
            (100, 117, 900),
            (512, 512, 8829),
            (1024, 1024, 8829),
            (61, 2053, 40),
        ] {
            write!(text, "{name}, ").unwrap();
            match plan(&request(rows, cols, stored), &limits, None) {
                Ok(arrangement) => writeln!(text, "{arrangement}\n").unwrap(),
                Err(why) => {
                    writeln!(text, "{rows} x {cols}, {stored} BF pixels: {}\n", why.0).unwrap()
                }
            }
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/plans.txt");
    if std::env::var_os("SSB_WRITE_PLANS").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let recorded = std::fs::read_to_string(path).unwrap();
    for (number, (now, then)) in text.lines().zip(recorded.lines()).enumerate() {
        assert_eq!(now, then, "line {} of plans.txt", number + 1);
    }
    assert_eq!(text.lines().count(), recorded.lines().count());
}

#[test]
fn every_topology_has_plans_and_keeps_to_the_limits() {
    for topology in TOPOLOGIES {
        let mut planned = 0;
        for (name, limits) in profiles::all() {
            for (rows, cols) in [(16, 16), (31, 37), (64, 64), (128, 128), (512, 512)] {
                let request = request(rows, cols, 500);
                let Ok(arrangement) = (topology.plan)(&request, &limits) else {
                    continue;
                };
                planned += 1;
                let summary = arrangement.summary(0);
                assert!(
                    summary.device_bytes <= limits.device_bytes,
                    "{name}: {arrangement}"
                );
                assert_eq!(summary.topology, topology.name);
                assert!(summary.blocks * summary.bf_block >= request.stored);
            }
        }
        assert!(planned >= 7, "{} planned {planned} times", topology.name);
    }
}

#[test]
fn small_scans_stay_on_chip_where_they_fit() {
    let named = |rows, cols, limits: fn() -> Limits| {
        plan(&request(rows, cols, 300), &limits(), None)
            .unwrap()
            .topology
    };
    // 66,560 bytes of half plane and its scratch fit 99 KiB, not 32 KiB.
    assert_eq!(named(128, 128, profiles::rtx_4090), "on-chip");
    assert_eq!(named(128, 128, profiles::h200), "on-chip");
    assert_eq!(named(128, 128, profiles::apple_m_series), "two-pass");
    assert_eq!(named(48, 48, profiles::apple_m_series), "on-chip");
    let kib_64 = || Limits {
        shared_memory_bytes: 64 << 10,
        ..profiles::mobile_vulkan()
    };
    assert_eq!(named(112, 112, kib_64), "on-chip");
    assert_eq!(named(128, 128, kib_64), "two-pass");
}

#[test]
fn traffic_is_within_the_cost_model() {
    let request = request(512, 512, 8829);
    let g = half_plane_bytes(&request) * 8829;
    // On a software adapter dispatches are short and nothing is claimed.
    for (name, limits) in profiles::all().into_iter().filter(|(_, l)| !l.software) {
        let limits = Limits {
            device_bytes: limits.device_bytes.max(40 << 30),
            ..limits
        };
        let arrangement: Arrangement = plan(&request, &limits, Some("two-pass")).unwrap();
        for m in [1, 2] {
            let most = 1.05 * (1 + 2 * m) as f64 * g as f64;
            let moved = arrangement.loss_bytes(m) as f64;
            assert!(moved <= most, "{name}: {moved} of {most} for {m}");
        }
        let object = arrangement.object_bytes() as f64;
        assert!(object <= 1.05 * g as f64, "{name}: object {object}");
    }
}

#[test]
fn little_memory_means_streaming_and_then_a_refusal() {
    let request = request(256, 256, 1000);
    let mut limits = profiles::rtx_4090();
    let roomy = plan(&request, &limits, Some("two-pass")).unwrap();
    assert!(roomy.to_string().contains("G resident"));
    limits.device_bytes = roomy.summary(0).device_bytes - 1;
    let tight = plan(&request, &limits, Some("two-pass")).unwrap();
    assert!(tight.to_string().contains("G streamed"), "{tight}");
    assert!(tight.summary(0).device_bytes <= limits.device_bytes);
    limits.device_bytes = 1 << 20;
    let why = plan(&request, &limits, Some("two-pass")).unwrap_err().0;
    assert!(why.contains("bytes of device memory"), "{why}");
    let why = plan(&request, &limits, Some("magic")).unwrap_err().0;
    assert!(why.contains("on-chip, two-pass, stepwise"), "{why}");
}
