//! Values: what the texts compute.
#![allow(unsafe_code, reason = "launches without bounds checks in the kernel")]

use cubecl::prelude::*;
use cubecl::server::Handle;
use ssb_kernels::text::TextDevice;

use crate::{array, download, upload};

type C32 = Vector<f32, Const<2>>;

#[cube(launch_unchecked)]
pub fn reverse_in_cube(
    input: &Array<f32>,
    output: &mut Array<f32>,
    scale: f32,
    #[comptime] n: usize,
) {
    let mut line = SharedMemory::<f32>::new(n);
    let unit = UNIT_POS as usize;
    line[unit] = input[ABSOLUTE_POS] * scale;
    sync_cube();
    let turned = line[n - 1 - unit];
    sync_cube();
    line[unit] = turned + 1.0;
    sync_cube();
    output[ABSOLUTE_POS] = line[unit] + line[(unit + 1) % n];
}

fn shared_memory_and_barriers<R: Runtime<Device = TextDevice>>(device: &TextDevice) {
    const UNITS: usize = 96;
    const CUBES: usize = 5;
    let client = R::client(device);
    let values: Vec<f32> = (0..UNITS * CUBES).map(|i| i as f32 * 0.5).collect();
    let (input, output) = (upload(&client, &values), client.empty(UNITS * CUBES * 4));
    // SAFETY: one unit per element.
    unsafe {
        reverse_in_cube::launch_unchecked::<R>(
            &client,
            CubeCount::Static(CUBES as u32, 1, 1),
            CubeDim::new_1d(UNITS as u32),
            array(&input, values.len()),
            array(&output, values.len()),
            3.0,
            UNITS,
        );
    }
    let found: Vec<f32> = download(&client, output).unwrap();
    for (cube, found) in found.chunks(UNITS).enumerate() {
        let turned = |unit: usize| 3.0 * values[cube * UNITS + UNITS - 1 - unit] + 1.0;
        for (unit, found) in found.iter().enumerate() {
            assert_eq!(*found, turned(unit) + turned((unit + 1) % UNITS));
        }
    }
}
on_both!(shared_memory_and_barriers);

/// What changes the generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Shape {
    radix: usize,
    forward: bool,
}

#[cube(launch_unchecked)]
fn small_transform(
    input: &Array<C32>,
    output: &mut Array<C32>,
    turn: &Array<C32>,
    #[comptime] shape: Shape,
) {
    let radix = comptime!(shape.radix);
    let first = ABSOLUTE_POS * radix;
    let mut points = Array::<C32>::new(radix);
    #[unroll]
    for j in 0..radix {
        points[j] = input[first + j];
    }
    #[unroll]
    for k in 0..radix {
        let mut re = 0.0f32;
        let mut im = 0.0f32;
        #[unroll]
        for j in 0..radix {
            let p = points[j];
            let w = turn[comptime!((j * k) % radix)];
            let (wr, wi) = (
                w[0],
                if comptime!(shape.forward) {
                    w[1]
                } else {
                    -w[1]
                },
            );
            re += p[0] * wr - p[1] * wi;
            im += p[0] * wi + p[1] * wr;
        }
        let mut sum = C32::empty();
        sum[0] = re;
        sum[1] = im;
        output[first + k] = sum;
    }
}

fn local_arrays_and_comptime<R: Runtime<Device = TextDevice>>(device: &TextDevice) {
    const RADIX: usize = 5;
    const LINES: usize = 12;
    let client = R::client(device);
    let angle = |k: usize| -std::f64::consts::TAU * k as f64 / RADIX as f64;
    let turn: Vec<f32> = (0..RADIX)
        .flat_map(|k| [angle(k).cos() as f32, angle(k).sin() as f32])
        .collect();
    let points: Vec<f32> = (0..2 * RADIX * LINES)
        .map(|i| (i * 7 % 11) as f32)
        .collect();
    let transform = |input: &Handle, forward: bool| {
        let output = client.empty(points.len() * 4);
        let shape = Shape {
            radix: RADIX,
            forward,
        };
        // SAFETY: one unit per line.
        unsafe {
            small_transform::launch_unchecked::<R>(
                &client,
                CubeCount::Static(LINES as u32 / 4, 1, 1),
                CubeDim::new_1d(4),
                array(input, RADIX * LINES),
                array(&output, RADIX * LINES),
                array(&upload(&client, &turn), RADIX),
                shape,
            );
        }
        output
    };
    let spectrum = transform(&upload(&client, &points), true);
    let back: Vec<f32> = download(&client, transform(&spectrum, false)).unwrap();
    let spectrum: Vec<f32> = download(&client, spectrum).unwrap();
    let sum: f32 = points[..2 * RADIX].iter().step_by(2).sum();
    assert!((spectrum[0] - sum).abs() < 1e-4);
    assert!(spectrum[3].abs() > 1e-2);
    for (back, point) in back.iter().zip(&points) {
        assert!((back / RADIX as f32 - point).abs() < 1e-5);
    }
}
on_both!(local_arrays_and_comptime);

#[cube(launch_unchecked)]
fn unpack_bytes(packed: &Array<u32>, sums: &mut Array<u32>, scalar: u32) {
    let word = packed[ABSOLUTE_POS];
    let mut sum = scalar;
    #[unroll]
    for byte in 0..4u32 {
        sum += ((word >> (byte * 8)) & 0xff) * (byte + 1);
    }
    sums[ABSOLUTE_POS] = sum;
}

fn packed_reads<R: Runtime<Device = TextDevice>>(device: &TextDevice) {
    let client = R::client(device);
    let bytes: Vec<u8> = (0..256).map(|i| (i * 37 % 251) as u8).collect();
    let (packed, sums) = (client.create_from_slice(&bytes), client.empty(256));
    // SAFETY: one unit per word.
    unsafe {
        unpack_bytes::launch_unchecked::<R>(
            &client,
            CubeCount::Static(2, 1, 1),
            CubeDim::new_1d(32),
            array(&packed, 64),
            array(&sums, 64),
            1000,
        );
    }
    let found: Vec<u32> = download(&client, sums).unwrap();
    let expected: Vec<u32> = bytes
        .chunks(4)
        .map(|c| {
            1000 + (0..4)
                .map(|i| u32::from(c[i]) * (i as u32 + 1))
                .sum::<u32>()
        })
        .collect();
    assert_eq!(found, expected);
}
on_both!(packed_reads);

#[cube(launch_unchecked)]
fn numbers(
    x: &Array<f32>,
    y: &Array<f32>,
    floats: &mut Array<f32>,
    words: &mut Array<u32>,
    #[comptime] n: usize,
) {
    let i = ABSOLUTE_POS;
    let (a, b) = (x[i], y[i]);
    floats[i] = fma(a, b, 0.25);
    floats[n + i] = f32::floor(a);
    floats[2 * n + i] = f32::round(a);
    floats[3 * n + i] = f32::abs(a);
    floats[4 * n + i] = f32::min(a, b);
    floats[5 * n + i] = f32::max(a, b);
    floats[6 * n + i] = f32::sqrt(f32::abs(b));
    floats[7 * n + i] = select(a > b, a, -b);
    floats[8 * n + i] = f32::inverse_sqrt(f32::abs(b));
    floats[9 * n + i] = f32::reinterpret(u32::reinterpret(a) ^ 0x8000_0000u32);
    words[i] = u32::reinterpret(a) >> 23;
    words[n + i] = u32::mul_hi(u32::reinterpret(a), u32::reinterpret(b));
    words[2 * n + i] = u32::cast_from(i32::cast_from(a)) % 7;
    words[3 * n + i] = u32::min(u32::reinterpret(a), 77) + u32::max(i as u32, 5);
}

fn numbers_of_both_kinds<R: Runtime<Device = TextDevice>>(device: &TextDevice) {
    let client = R::client(device);
    let x: Vec<f32> = (0..64).map(|i| (i as f32 - 31.0) * 0.37).collect();
    let y: Vec<f32> = (0..64)
        .map(|i| (i as f32 * 1.7).cos() * 9.0 + 0.01)
        .collect();
    let (floats, words) = (client.empty(10 * 64 * 4), client.empty(4 * 64 * 4));
    // SAFETY: one unit per element.
    unsafe {
        numbers::launch_unchecked::<R>(
            &client,
            CubeCount::Static(1, 2, 1),
            CubeDim::new_2d(8, 4),
            array(&upload(&client, &x), 64),
            array(&upload(&client, &y), 64),
            array(&floats, 10 * 64),
            array(&words, 4 * 64),
            64,
        );
    }
    let floats: Vec<f32> = download(&client, floats).unwrap();
    let words: Vec<u32> = download(&client, words).unwrap();
    for (i, (&a, &b)) in x.iter().zip(&y).enumerate() {
        let expected = [
            a.mul_add(b, 0.25),
            a.floor(),
            a.round_ties_even(),
            a.abs(),
            a.min(b),
            a.max(b),
            b.abs().sqrt(),
            if a > b { a } else { -b },
            1.0 / b.abs().sqrt(),
            -a,
        ];
        for (kind, expected) in expected.into_iter().enumerate() {
            assert_eq!(floats[kind * 64 + i], expected, "kind {kind} of {a}, {b}");
        }
        let (ua, ub) = (a.to_bits(), b.to_bits());
        let expected = [
            ua >> 23,
            ((u64::from(ua) * u64::from(ub)) >> 32) as u32,
            (a as i32 as u32) % 7,
            ua.min(77) + (i as u32).max(5),
        ];
        for (kind, expected) in expected.into_iter().enumerate() {
            assert_eq!(words[kind * 64 + i], expected, "kind {kind} of {a}, {b}");
        }
    }
}
on_both!(numbers_of_both_kinds);

#[cube(launch_unchecked)]
fn positions(places: &mut Array<u32>) {
    let width = CUBE_COUNT_X * CUBE_DIM_X;
    let height = CUBE_COUNT_Y * CUBE_DIM_Y;
    let at = (ABSOLUTE_POS_Z * height + ABSOLUTE_POS_Y) * width + ABSOLUTE_POS_X;
    places[at as usize] = CUBE_POS_X
        + 10 * CUBE_POS_Y
        + 100 * CUBE_POS_Z
        + 1000 * UNIT_POS
        + 100_000 * (CUBE_POS as u32);
}

fn grids_of_three_axes<R: Runtime<Device = TextDevice>>(device: &TextDevice) {
    let client = R::client(device);
    let (count, dim) = ([3u32, 2, 4], [4u32, 3, 2]);
    let total = (count.iter().product::<u32>() * dim.iter().product::<u32>()) as usize;
    let places = client.empty(total * 4);
    // SAFETY: one unit per element.
    unsafe {
        positions::launch_unchecked::<R>(
            &client,
            CubeCount::Static(count[0], count[1], count[2]),
            CubeDim::new_3d(dim[0], dim[1], dim[2]),
            array(&places, total),
        );
    }
    let found: Vec<u32> = download(&client, places).unwrap();
    for (at, found) in found.into_iter().enumerate() {
        let (width, height) = (count[0] * dim[0], count[1] * dim[1]);
        let at = at as u32;
        let position = [at % width, at / width % height, at / width / height];
        let cube: Vec<u32> = (0..3).map(|axis| position[axis] / dim[axis]).collect();
        let unit: Vec<u32> = (0..3).map(|axis| position[axis] % dim[axis]).collect();
        let unit_pos = unit[0] + dim[0] * (unit[1] + dim[1] * unit[2]);
        let cube_pos = cube[0] + count[0] * (cube[1] + count[1] * cube[2]);
        let expected =
            cube[0] + 10 * cube[1] + 100 * cube[2] + 1000 * unit_pos + 100_000 * cube_pos;
        assert_eq!(found, expected);
    }
}
on_both!(grids_of_three_axes);

#[cube(launch_unchecked)]
fn planes(input: &Array<f32>, output: &mut Array<f32>, #[comptime] n: usize) {
    let value = input[ABSOLUTE_POS];
    output[ABSOLUTE_POS] = plane_sum(value);
    output[n + ABSOLUTE_POS] = plane_shuffle_xor(value, 5);
    output[2 * n + ABSOLUTE_POS] = plane_max(value);
    output[3 * n + ABSOLUTE_POS] = plane_shuffle_up(value, 1);
}

fn plane_operations<R: Runtime<Device = TextDevice>>(device: &TextDevice) {
    const N: usize = 128;
    let client = R::client(device);
    let values: Vec<f32> = (0..N).map(|i| (i * i % 61) as f32).collect();
    let output = client.empty(4 * N * 4);
    // SAFETY: one unit per element.
    unsafe {
        planes::launch_unchecked::<R>(
            &client,
            CubeCount::Static(2, 1, 1),
            CubeDim::new_1d(64),
            array(&upload(&client, &values), N),
            array(&output, 4 * N),
            N,
        );
    }
    let found: Vec<f32> = download(&client, output).unwrap();
    for (i, value) in values.iter().enumerate() {
        let plane = &values[i / 32 * 32..][..32];
        let lane = i % 32;
        assert_eq!(found[i], plane.iter().sum::<f32>());
        assert_eq!(found[N + i], plane[lane ^ 5]);
        assert_eq!(found[2 * N + i], plane.iter().copied().fold(0.0, f32::max));
        let below = if lane == 0 { *value } else { plane[lane - 1] };
        assert_eq!(found[3 * N + i], below);
    }
}
on_both!(plane_operations);

#[cube(launch)]
fn transpose(input: &Tensor<f32>, output: &mut Tensor<f32>) {
    let (row, col) = (ABSOLUTE_POS_Y as usize, ABSOLUTE_POS_X as usize);
    if row < input.shape(0) && col < input.shape(1) {
        output[col * output.stride(0) + row * output.stride(1)] =
            input[row * input.stride(0) + col * input.stride(1)];
    }
}

fn shapes_and_padded_rows<R: Runtime<Device = TextDevice>>(device: &TextDevice) {
    const ROWS: usize = 5;
    const COLS: usize = 9;
    let client = R::client(device);
    let values: Vec<f32> = (0..ROWS * COLS).map(|i| i as f32).collect();
    let bytes = f32::as_bytes(&values);
    let input = client.create_tensor_from_slice(bytes, [ROWS, COLS].into(), 4);
    let output = client.empty_tensor([COLS, ROWS].into(), 4);
    let (strides, shape) = (output.strides.clone(), [COLS, ROWS].into());
    transpose::launch::<R>(
        &client,
        CubeCount::Static(2, 1, 1),
        CubeDim::new_2d(8, 8),
        // SAFETY: shapes and strides are the layouts' own.
        unsafe { TensorArg::from_raw_parts(input.memory, input.strides, [ROWS, COLS].into()) },
        // SAFETY: as above.
        unsafe { TensorArg::from_raw_parts(output.memory.clone(), output.strides, shape) },
    );
    let copy = output
        .memory
        .copy_descriptor([COLS, ROWS].into(), strides, 4);
    let bytes = &client.read_tensor(vec![copy])[0];
    let found = f32::from_bytes(bytes);
    for (i, found) in found.iter().enumerate() {
        assert_eq!(*found, values[i % ROWS * COLS + i / ROWS]);
    }
}
on_both!(shapes_and_padded_rows);
