//! The conformance suite on the CUDA C++ and MSL texts, executed on the host: a wrong kernel fails on a machine
//! that has neither GPU.

#![allow(clippy::unwrap_used)]

use ssb_core::{Control, Limits, PrepareOptions};
use ssb_kernels::device::{Connected, Faults, profiles};
use ssb_kernels::text::{CudaText, MetalText, Target, TextDevice};
use ssb_testkit::conformance;
use ssb_testkit::synthetic::{PROBLEMS, Synthetic};

use cubecl::Runtime;

/// 16 x 16 with equal detector steps, 32 x 24 with unequal ones, and a prime axis.
fn problems() -> Vec<Synthetic> {
    let base = |name| PROBLEMS.iter().find(|p| p.name == name).cloned().unwrap();
    vec![
        Synthetic {
            name: "16x16",
            scan_shape: [16, 16],
            ..base("8x8")
        },
        Synthetic {
            name: "32x24",
            scan_shape: [32, 24],
            radius_px: 3.2,
            ..base("9x8")
        },
        Synthetic {
            name: "17x20",
            scan_shape: [17, 20],
            radius_px: 3.2,
            ..base("8x11")
        },
    ]
}

fn conforms<R: Runtime<Device = TextDevice>>(target: Target, limits: Limits, topology: &str) {
    let control = Control::default();
    let device = TextDevice::new(target);
    let prepare = |problem, options: &PrepareOptions| {
        let connected = Connected {
            backend: "text",
            device: target.name().into(),
            software: true,
            limits: Limits {
                software: true,
                ..limits.clone()
            }
            .capped(options.max_memory_bytes),
            faults: Faults::default(),
        };
        let options = PrepareOptions {
            topology: Some(topology.into()),
            ..options.clone()
        };
        ssb_kernels::prepare(R::client(&device), connected, problem, &options, &control)
    };
    // One cube does not take prime axes.
    let problems: Vec<_> = problems()
        .into_iter()
        .filter(|p| topology != "on-chip" || p.scan_shape[0] != 17)
        .collect();
    let mut failures = Vec::new();
    let summary = conformance::run(&prepare, &problems, &control, &mut |outcome| {
        println!("{outcome}");
        if !outcome.passed {
            failures.push(outcome.to_string());
        }
    })
    .unwrap();
    assert!(summary.passed(), "{topology}: {}", failures.join("\n"));
}

#[test]
fn cuda_texts_conform() {
    conforms::<CudaText>(Target::Sm90, profiles::h200(), "on-chip");
    conforms::<CudaText>(Target::Sm90, profiles::h200(), "two-pass");
}

#[test]
fn metal_texts_conform() {
    conforms::<MetalText>(Target::AppleM, profiles::apple_m_series(), "on-chip");
    conforms::<MetalText>(Target::AppleM, profiles::apple_m_series(), "two-pass");
}
