//! Kernel texts run on the host: CUDA C++ and MSL of the same kernels against plain Rust.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use cubecl::prelude::*;
use cubecl::server::{Handle, ServerError};
use ssb_kernels::text::{Target, TextDevice};

/// Runs a test on both languages.
macro_rules! on_both {
    ($name:ident) => {
        mod $name {
            use ssb_kernels::text::{CudaText, MetalText, Target};

            #[test]
            fn cuda() {
                super::$name::<CudaText>(&crate::device(Target::Sm90));
            }

            #[test]
            fn metal() {
                super::$name::<MetalText>(&crate::device(Target::AppleM));
            }
        }
    };
}

mod faults;
mod recording;
mod values;

fn device(target: Target) -> TextDevice {
    TextDevice::new(target)
}

fn upload<R: Runtime, T: CubeElement>(client: &ComputeClient<R>, data: &[T]) -> Handle {
    client.create_from_slice(T::as_bytes(data))
}

fn download<R: Runtime, T: CubeElement>(
    client: &ComputeClient<R>,
    handle: Handle,
) -> Result<Vec<T>, ServerError> {
    Ok(T::from_bytes(&client.read_one(handle)?).to_vec())
}

#[allow(unsafe_code, reason = "CubeCL takes the length on trust")]
fn array<R: Runtime>(handle: &Handle, length: usize) -> ArrayArg<R> {
    // SAFETY: the tests give the length of the buffer.
    unsafe { ArrayArg::from_raw_parts(handle.clone(), length) }
}

fn fault<T: std::fmt::Debug>(outcome: Result<T, ServerError>) -> String {
    outcome.expect_err("the fault is reported").to_string()
}
