//! Lines against the naive transform in float64.

use cubecl::prelude::*;
use cubecl::wgpu::{WgpuDevice, WgpuRuntime};
use num_complex::Complex64;

use super::{LinePlan, Method};
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

/// Relative L2 error of three lines of `n` points, two lines a cube.
fn error<R: Runtime>(client: &ComputeClient<R>, plan: &LinePlan) -> f64 {
    let (n, count, lines) = (plan.n, 3, 2);
    let input: Vec<f32> = (0..2 * n * count)
        .map(|i| ((i * 7919 + 13) % 1009) as f32 / 504.5 - 1.0)
        .collect();
    let source = client.create_from_slice(f32::as_bytes(&input));
    let poison = vec![f32::NAN; input.len()];
    let target = client.create_from_slice(f32::as_bytes(&poison));
    let values = plan.table();
    let table = client.create_from_slice(f32::as_bytes(&values));
    let complex = |handle, floats: usize| unsafe { ArrayArg::from_raw_parts(handle, floats / 2) };
    inverse_lines::launch::<R>(
        client,
        CubeCount::Static(count.div_ceil(lines) as u32, 1, 1),
        CubeDim::new_1d((lines * plan.units) as u32),
        complex(source, input.len()),
        complex(target.clone(), input.len()),
        complex(table, values.len()),
        count as u32,
        lines,
        plan.clone(),
    );
    let bytes = client.read_one(target).unwrap();
    let output = f32::from_bytes(&bytes);
    let (mut wrong, mut size, mut along) = (0.0, 0.0, 0.0);
    for l in 0..count {
        let at = 2 * n * l;
        let pair = |v: &[f32], i: usize| Complex64::new(v[at + 2 * i].into(), v[at + 2 * i + 1].into());
        let exact = naive(&(0..n).map(|i| pair(&input, i)).collect::<Vec<_>>());
        for (i, z) in exact.iter().enumerate() {
            wrong += (pair(output, i) - z).norm_sqr();
            size += z.norm_sqr();
            along += (pair(output, i) * z.conj()).re;
        }
    }
    println!("{n} {:?} bias {:e} rms {:e}", plan.radices, along / size - 1.0, (wrong / size).sqrt());
    (wrong / size).sqrt()
}

#[test]
fn lines_of_every_kind_equal_the_naive_transform() {
    let client = WgpuRuntime::client(&WgpuDevice::Cpu);
    let lengths: Vec<usize> = (1..=16)
        .chain([20, 24, 31, 37, 45, 49, 60, 64, 75, 96, 97, 100, 101, 125, 128, 211, 243, 256, 343])
        .chain([360, 509, 512, 625, 720, 1000, 1024, 2048])
        .collect();
    for n in lengths {
        let plan = LinePlan::new(n, 16 << 10, 256).unwrap();
        let error = error(&client, &plan);
        let bound = if plan.method == Method::Bluestein { 6e-7 } else { 3e-7 };
        assert!(error < bound, "{n}: {error:e} {plan:?}");
    }
}

#[test]
fn the_longest_lines_fit_the_smallest_device() {
    let client = WgpuRuntime::client(&WgpuDevice::Cpu);
    for (n, method) in [
        (4096, Method::Radices),
        (3000, Method::Radices),
        (2039, Method::Bluestein),
        (2053, Method::Direct),
    ] {
        let plan = LinePlan::new(n, 16 << 10, 256).unwrap();
        assert_eq!(plan.method, method);
        // One line a cube: two would need twice the memory.
        let error = error(&client, &plan);
        assert!(error < 1e-6, "{n}: {error:e} {plan:?}");
    }
}
