//! `ssb_core::trig` on a device against float64.

use cubecl::prelude::*;
use cubecl::wgpu::{WgpuDevice, WgpuRuntime};
use ssb_core::trig::{atan2, sinc, turn};

use crate::device::{DeviceArray, Faults};
use crate::kernel::launch::launch;

/// `x` (turns), then `y` in; cos, sin, sinc of `x`, then the angle of `(x, y)` out.
#[cube(launch_unchecked)]
fn trial(input: &Array<f32>, output: &mut Array<f32>, count: u32) {
    if ABSOLUTE_POS < count as usize {
        let n = count as usize;
        let x = input[ABSOLUTE_POS];
        let y = input[n + ABSOLUTE_POS];
        let circle = turn(x);
        output[ABSOLUTE_POS] = circle.cos;
        output[n + ABSOLUTE_POS] = circle.sin;
        output[2 * n + ABSOLUTE_POS] = sinc(x);
        output[3 * n + ABSOLUTE_POS] = atan2(y, x);
    }
}

#[test]
fn sine_cosine_sinc_and_arctangent_are_exact_to_two_ulp() {
    let client = WgpuRuntime::client(&WgpuDevice::Cpu);
    let n = 4096_usize;
    let spread = |i: usize, by: usize| ((i * by) % 8191) as f32 / 4095.5 - 1.0;
    let mut x: Vec<f32> = (0..n).map(|i| spread(i, 7919) * 60.0).collect();
    let mut y: Vec<f32> = (0..n).map(|i| spread(i, 104_729) * 3.0).collect();
    // Axes, the origin, eighths of a turn, the smallest arguments.
    let special = [
        0.0_f32, 0.125, 0.25, -0.25, 0.5, -0.5, 1.0, 1e-30, -1e-7, 0.5001,
    ];
    for (i, (a, b)) in special
        .iter()
        .flat_map(|a| special.map(|b| (*a, b)))
        .enumerate()
    {
        (x[i], y[i]) = (a, b);
    }
    let input = DeviceArray::uploaded(&client, &[&x[..], &y[..]].concat());
    let output = DeviceArray::uploaded(&client, &vec![f32::NAN; 4 * n]);
    launch!(
        WgpuRuntime,
        trial,
        &client,
        CubeCount::Static(n.div_ceil(64) as u32, 1, 1),
        CubeDim::new_1d(64),
        input.arg(),
        output.arg(),
        n as u32,
    );
    let got = output.read(&client, &Faults::default()).unwrap();
    let two_ulp = 2.0 * f64::from(f32::EPSILON);
    for i in 0..n {
        let (turns, across) = (f64::from(x[i]), f64::from(y[i]));
        let (sin, cos) = (std::f64::consts::TAU * (turns - turns.round())).sin_cos();
        let phase = std::f64::consts::TAU * turns;
        let sinc = if phase == 0.0 { 1.0 } else { sin / phase };
        let exact = [cos, sin, sinc, across.atan2(turns)];
        for (part, exact) in exact.into_iter().enumerate() {
            let got = f64::from(got[part * n + i]);
            // Relative to the value, to 1e-3 near the zeros of sine and cosine.
            let bound = two_ulp * exact.abs().max(if part < 3 { 1e-3 } else { 0.0 });
            assert!(
                (got - exact).abs() <= bound,
                "{part} of ({turns}, {across}): {got} {exact}"
            );
        }
    }
}
