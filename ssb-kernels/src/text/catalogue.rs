//! The kernels whose texts `cargo xtask kernels` writes and reports on.
#![allow(unsafe_code, reason = "CubeCL takes the lengths of arrays on trust")]

use cubecl::Runtime;
use cubecl::prelude::*;
use cubecl::server::ServerError;

use super::device::{Target, TextDevice};
use super::record::{RecordedKernel, record};
use super::runtime::{CudaText, MetalText};

/// A sample: each cube reverses its part of an array.
#[cube(launch_unchecked)]
fn reverse(input: &Array<f32>, output: &mut Array<f32>, #[comptime] units: usize) {
    let mut part = SharedMemory::<f32>::new(units);
    part[UNIT_POS as usize] = input[ABSOLUTE_POS];
    sync_cube();
    output[ABSOLUTE_POS] = part[units - 1 - UNIT_POS as usize];
}

fn sample<R: Runtime<Device = TextDevice>>(
    target: Target,
) -> Result<Vec<RecordedKernel>, ServerError> {
    const UNITS: usize = 256;
    const CUBES: usize = 64;
    let recorder = record::<R>(&TextDevice::new(target), "sample");
    let client = recorder.client();
    let buffer = client.empty(UNITS * CUBES * size_of::<f32>());
    // SAFETY: one unit per element of both arrays.
    unsafe {
        reverse::launch_unchecked::<R>(
            client,
            CubeCount::Static(CUBES as u32, 1, 1),
            CubeDim::new_1d(UNITS as u32),
            ArrayArg::from_raw_parts(buffer.clone(), UNITS * CUBES),
            ArrayArg::from_raw_parts(buffer, UNITS * CUBES),
            UNITS,
        );
    }
    recorder.texts()
}

/// The texts of every kernel and plan.
///
/// # Errors
///
/// If a kernel has no text.
pub fn catalogue() -> Result<Vec<RecordedKernel>, ServerError> {
    let mut kernels = Vec::new();
    for target in Target::CUDA {
        kernels.extend(sample::<CudaText>(target)?);
    }
    kernels.extend(sample::<MetalText>(Target::AppleM)?);
    Ok(kernels)
}
