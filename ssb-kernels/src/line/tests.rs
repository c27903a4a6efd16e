//! Lines against the naive transform in float64.

use cubecl::prelude::*;
use cubecl::wgpu::{WgpuDevice, WgpuRuntime};
use num_complex::Complex64;

use super::{LinePlan, Method};
use crate::device::{DeviceArray, Faults};
use crate::kernel::launch::launch;
use crate::kernel::lines::inverse_lines;

fn naive(line: &[Complex64]) -> Vec<Complex64> {
    let n = line.len();
    let turn = |m: usize| std::f64::consts::TAU * (m % n) as f64 / n as f64;
    (0..n)
        .map(|k| {
            line.iter()
                .enumerate()
                .map(|(j, z)| z * Complex64::from_polar(1.0, turn(j * k)))
                .sum()
        })
        .collect()
}

/// Relative L2 error of three lines of `n` points, `lines` a cube.
fn error<R: Runtime>(client: &ComputeClient<R>, plan: &LinePlan, lines: usize) -> f64 {
    let (n, count) = (plan.n, 3);
    let input: Vec<f32> = (0..2 * n * count)
        .map(|i| ((i * 7919 + 13) % 1009) as f32 / 504.5 - 1.0)
        .collect();
    let target = DeviceArray::uploaded(client, &input);
    let table = DeviceArray::uploaded(client, &plan.table());
    launch!(
        R,
        inverse_lines,
        client,
        CubeCount::Static(count.div_ceil(lines) as u32, 1, 1),
        CubeDim::new_1d((lines * plan.units) as u32),
        target.vectors(2),
        table.vectors(2),
        count as u32,
        lines,
        plan.clone(),
    );
    let output = target.read(client, &Faults::default()).unwrap();
    let (mut wrong, mut size) = (0.0, 0.0);
    for l in 0..count {
        let at = 2 * n * l;
        let pair =
            |v: &[f32], i: usize| Complex64::new(v[at + 2 * i].into(), v[at + 2 * i + 1].into());
        let exact = naive(&(0..n).map(|i| pair(&input, i)).collect::<Vec<_>>());
        for (i, z) in exact.iter().enumerate() {
            wrong += (pair(&output, i) - z).norm_sqr();
            size += z.norm_sqr();
        }
    }
    (wrong / size).sqrt()
}

#[test]
fn lines_of_every_kind_equal_the_naive_transform() {
    let client = WgpuRuntime::client(&WgpuDevice::Cpu);
    let lengths = [
        1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 37, 49, 60, 97, 125, 128, 512, 720,
    ];
    for n in lengths {
        let plan = LinePlan::new(n, 16 << 10, 256).unwrap();
        let error = error(&client, &plan, 2);
        let bound = if plan.method == Method::Bluestein {
            6e-7
        } else {
            3e-7
        };
        assert!(error < bound, "{n}: {error:e} {plan:?}");
    }
}

#[test]
fn the_longest_lines_fit_the_smallest_device() {
    let client = WgpuRuntime::client(&WgpuDevice::Cpu);
    for (n, method) in [
        (4096, Method::Radices),
        (1031, Method::Bluestein),
        (2053, Method::Direct),
    ] {
        let plan = LinePlan::new(n, 16 << 10, 256).unwrap();
        assert_eq!(plan.method, method);
        // One line a cube: two would need twice the memory.
        let error = error(&client, &plan, 1);
        assert!(error < 1e-6, "{n}: {error:e} {plan:?}");
    }
}
