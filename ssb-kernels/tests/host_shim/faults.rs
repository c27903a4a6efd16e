//! Faults: what a GPU would do in silence is an error.
#![allow(unsafe_code, reason = "launches without bounds checks in the kernel")]

use cubecl::prelude::*;
use cubecl::server::ServerError;
use ssb_kernels::text::{CudaText, MetalText, Target, TextDevice};

use crate::values::reverse_in_cube;
use crate::{array, device, download, fault, upload};

#[cube(launch_unchecked)]
fn copy(input: &Array<f32>, output: &mut Array<f32>, shift: u32) {
    output[ABSOLUTE_POS + shift as usize] = input[ABSOLUTE_POS];
}

fn fresh_memory_is_nan<R: Runtime<Device = TextDevice>>(device: &TextDevice) {
    let client = R::client(device);
    let output = client.empty(64);
    // SAFETY: half of the elements.
    unsafe {
        copy::launch_unchecked::<R>(
            &client,
            CubeCount::Static(1, 1, 1),
            CubeDim::new_1d(8),
            array(&client.empty(64), 16),
            array(&output, 16),
            8,
        );
    }
    let found: Vec<f32> = download(&client, output).unwrap();
    assert!(found.iter().all(|x| x.is_nan()));
}
on_both!(fresh_memory_is_nan);

fn a_write_past_the_end_is_reported<R: Runtime<Device = TextDevice>>(device: &TextDevice) {
    let client = R::client(device);
    let run = |shift| {
        // SAFETY: the host run checks the access.
        unsafe {
            copy::launch_unchecked::<R>(
                &client,
                CubeCount::Static(1, 1, 1),
                CubeDim::new_1d(16),
                array(&client.empty(64), 16),
                array(&client.empty(64), 16),
                shift,
            );
        }
        client.flush()
    };
    let error = fault(run(1));
    assert!(error.contains("kernel copy: out of bounds"), "{error}");
    assert!(
        error.contains("unit 15 of cube 0 writes 4 bytes at byte 64"),
        "{error}"
    );
    assert!(error.contains("argument 1, which has 64 bytes"), "{error}");
    assert!(fault(run(1_000_000)).contains("out of bounds"));
    run(0).unwrap();
}
on_both!(a_write_past_the_end_is_reported);

#[cube(launch_unchecked)]
fn some_units_wait(output: &mut Array<f32>) {
    let mut line = SharedMemory::<f32>::new(64usize);
    line[UNIT_POS as usize] = 1.0;
    if UNIT_POS < 40 {
        sync_cube();
    }
    output[ABSOLUTE_POS] = line[UNIT_POS as usize];
}

#[cube(launch_unchecked)]
fn units_wait_apart(output: &mut Array<f32>) {
    if UNIT_POS < 40 {
        output[ABSOLUTE_POS] = 1.0;
        sync_cube();
    } else {
        output[ABSOLUTE_POS] = 2.0;
        sync_cube();
    }
}

fn a_divergent_barrier_is_reported<R: Runtime<Device = TextDevice>>(device: &TextDevice) {
    let client = R::client(device);
    let (count, dim) = (CubeCount::Static(2, 1, 1), CubeDim::new_1d(64));
    let output = client.empty(2 * 64 * 4);
    // SAFETY: one unit per element.
    unsafe {
        some_units_wait::launch_unchecked::<R>(&client, count.clone(), dim, array(&output, 128));
    }
    let error = fault(download::<R, f32>(&client, output.clone()));
    assert!(
        error.contains("kernel some_units_wait: divergent barrier in cube 0"),
        "{error}"
    );
    assert!(
        error.contains("40 units wait") && error.contains("24 units do not"),
        "{error}"
    );
    // SAFETY: one unit per element.
    unsafe {
        units_wait_apart::launch_unchecked::<R>(&client, count, dim, array(&output, 128));
    }
    let error = fault(cubecl::future::block_on(client.sync()));
    assert!(
        error.contains("kernel units_wait_apart: divergent barrier"),
        "{error}"
    );
    client.flush().unwrap();
}
on_both!(a_divergent_barrier_is_reported);

#[cube(launch_unchecked)]
fn neighbour(output: &mut Array<f32>, #[comptime] waits: bool) {
    let mut line = SharedMemory::<f32>::new(64usize);
    let unit = UNIT_POS as usize;
    line[unit] = unit as f32;
    if comptime!(waits) {
        sync_cube();
    }
    // The units run in order here, so that without the barrier every value is there all the same.
    output[ABSOLUTE_POS] = line[unit / 2];
}

fn a_missing_barrier_is_reported<R: Runtime<Device = TextDevice>>(device: &TextDevice) {
    let client = R::client(device);
    let run = |waits| {
        let output = client.empty(64 * 4);
        // SAFETY: one unit per element.
        unsafe {
            neighbour::launch_unchecked::<R>(
                &client,
                CubeCount::Static(1, 1, 1),
                CubeDim::new_1d(64),
                array(&output, 64),
                waits,
            );
        }
        download::<R, f32>(&client, output)
    };
    assert_eq!(run(true).unwrap()[63], 31.0);
    let error = fault(run(false));
    assert!(
        error.contains("kernel neighbour: data race on shared memory"),
        "{error}"
    );
    assert!(
        error.contains("unit 1 of cube 0 reads what unit 0 wrote"),
        "{error}"
    );
}
on_both!(a_missing_barrier_is_reported);

#[cube(launch_unchecked)]
fn last_word_wins(output: &mut Array<f32>, step: u32) {
    output[UNIT_POS as usize] = (CUBE_POS as u32 * step) as f32;
}

fn cubes_that_write_one_word_are_reported<R: Runtime<Device = TextDevice>>(device: &TextDevice) {
    let client = R::client(device);
    let run = |cubes, step| {
        // SAFETY: one element per unit of a cube.
        unsafe {
            last_word_wins::launch_unchecked::<R>(
                &client,
                CubeCount::Static(cubes, 1, 1),
                CubeDim::new_1d(16),
                array(&client.empty(64), 16),
                step,
            );
        }
        client.flush()
    };
    run(1, 1).unwrap();
    // One value, whoever writes it.
    run(3, 0).unwrap();
    let error = fault(run(2, 1));
    assert!(
        error.contains("unit 0 of cube 1 writes what another cube wrote"),
        "{error}"
    );
}
on_both!(cubes_that_write_one_word_are_reported);

#[cube(launch_unchecked)]
fn through_a_buffer(scratch: &mut Array<f32>, output: &mut Array<f32>) {
    let unit = UNIT_POS as usize;
    scratch[unit] = unit as f32;
    sync_cube();
    output[unit] = scratch[63 - unit];
}

#[test]
fn a_metal_barrier_does_not_order_buffers() {
    fn run<R: Runtime<Device = TextDevice>>(target: Target) -> Result<(), ServerError> {
        let client = R::client(&device(target));
        // SAFETY: one element per unit.
        unsafe {
            through_a_buffer::launch_unchecked::<R>(
                &client,
                CubeCount::Static(1, 1, 1),
                CubeDim::new_1d(64),
                array(&client.empty(256), 64),
                array(&client.empty(256), 64),
            );
        }
        client.flush()
    }
    run::<CudaText>(Target::Sm90).unwrap();
    let error = fault(run::<MetalText>(Target::AppleM));
    assert!(error.contains("data race on argument 0"), "{error}");
}

#[cube(launch_unchecked)]
fn count_units(output: &mut Array<Atomic<u32>>) {
    output[0].fetch_add(1);
}

fn a_text_that_does_not_compile_is_reported<R: Runtime<Device = TextDevice>>(device: &TextDevice) {
    // The host has no atomics.
    let client = R::client(device);
    // SAFETY: one word for all.
    unsafe {
        count_units::launch_unchecked::<R>(
            &client,
            CubeCount::Static(1, 1, 1),
            CubeDim::new_1d(16),
            array(&client.empty(4), 1),
        );
    }
    let error = fault(client.flush());
    assert!(
        error.contains("the text of kernel count_units does not compile"),
        "{error}"
    );
    assert!(error.contains("error:"), "{error}");
}
on_both!(a_text_that_does_not_compile_is_reported);

fn limits_of_the_device_are_kept<R: Runtime<Device = TextDevice>>(device: &TextDevice) {
    let mut device = device.clone();
    device.shared_memory_bytes = 128;
    device.units_per_cube = 64;
    let client = R::client(&device);
    let run = |units: u32| {
        let n = units as usize;
        // SAFETY: one unit per element.
        unsafe {
            reverse_in_cube::launch_unchecked::<R>(
                &client,
                CubeCount::Static(1, 1, 1),
                CubeDim::new_1d(units),
                array(&upload(&client, &vec![0.0f32; n]), n),
                array(&client.empty(n * 4), n),
                1.0,
                n,
            );
        }
        client.flush()
    };
    run(32).unwrap();
    let error = fault(run(33));
    assert!(
        error.contains("132 bytes of shared memory; the device has 128"),
        "{error}"
    );
    let error = fault(run(65));
    assert!(error.contains("exceeds maximum"), "{error}");
}
on_both!(limits_of_the_device_are_kept);

#[test]
fn a_target_of_the_other_language_is_an_error() {
    let client = CudaText::client(&device(Target::AppleM));
    // SAFETY: one unit per element.
    unsafe {
        last_word_wins::launch_unchecked::<CudaText>(
            &client,
            CubeCount::Static(1, 1, 1),
            CubeDim::new_1d(16),
            array(&client.empty(64), 16),
            1,
        );
    }
    assert!(fault(client.flush()).contains("apple-m is not a target of cuda"));
}
