//! Discovery, connection and measurement on the adapters of this machine.
//!
//! Without an adapter these say so and check nothing; with `SSB_REQUIRE_ADAPTER` set, as in CI, they
//! fail.

use cubecl::prelude::*;
use cubecl::wgpu::WgpuRuntime;

use super::*;

const UNITS: usize = 64;

/// Reverses every block of 64 values in shared memory, scales them, and counts the cubes.
#[cube(launch)]
fn reversed(
    from: &Array<f32>,
    shifts: &Array<i32>,
    to: &mut Array<f32>,
    cubes: &mut Array<u32>,
    scale: f32,
    offset: u32,
) {
    let mut block = SharedMemory::<f32>::new(UNITS);
    let unit = UNIT_POS as usize;
    block[unit] = from[ABSOLUTE_POS] * scale;
    sync_cube();
    let shift = f32::cast_from(shifts[ABSOLUTE_POS]);
    to[ABSOLUTE_POS] = block[UNITS - 1 - unit] + shift + f32::cast_from(offset);
    if unit == 0 {
        cubes[CUBE_POS] = CUBE_POS as u32 + offset;
    }
}

/// Uses as much shared memory as it is told.
#[cube(launch)]
fn greedy(to: &mut Array<f32>, #[comptime] floats: usize) {
    let mut block = SharedMemory::<f32>::new(floats);
    block[UNIT_POS as usize] = to[ABSOLUTE_POS];
    sync_cube();
    to[ABSOLUTE_POS] = block[floats - 1 - UNIT_POS as usize];
}

fn apis() -> Vec<Api> {
    #[cfg(not(target_os = "macos"))]
    let native = Api::Vulkan;
    #[cfg(target_os = "macos")]
    let native = Api::Metal;
    vec![native, Api::WebGpu]
}

fn connected(api: Api) -> Option<Connection<WgpuRuntime>> {
    match connect("tested", api, None) {
        Ok(connection) => Some(connection),
        Err(error) => {
            assert!(std::env::var_os("SSB_REQUIRE_ADAPTER").is_none(), "{error}");
            eprintln!("SKIPPED {api:?}: {error}");
            None
        }
    }
}

/// A device of its own for tests that make it fail.
fn alone(api: Api) -> Option<Connection<WgpuRuntime>> {
    connected(api)?;
    let (index, found) = connection::chosen("tested", api.found(), None).unwrap();
    Some(connection::opened("tested", api, index, found).unwrap())
}

fn run_reversed(connection: &Connection<WgpuRuntime>) {
    let Connection { client, connected } = connection;
    let (cubes, offset, scale) = (5usize, 7u32, 0.5f32);
    let values: Vec<f32> = (0..cubes * UNITS).map(|i| i as f32).collect();
    let shifts: Vec<i32> = (0..cubes * UNITS).map(|i| -(i as i32)).collect();
    let from = DeviceArray::uploaded(client, &values);
    let to = DeviceArray::uploaded(client, &vec![f32::NAN; values.len()]);
    let counted = DeviceArray::uploaded(client, &vec![u32::MAX; cubes]);
    reversed::launch::<WgpuRuntime>(
        client,
        CubeCount::Static(cubes as u32, 1, 1),
        CubeDim::new_1d(UNITS as u32),
        from.arg(),
        DeviceArray::uploaded(client, &shifts).arg(),
        to.arg(),
        counted.arg(),
        scale,
        offset,
    );
    let expected: Vec<f32> = (0..values.len())
        .map(|i| {
            let mirrored = i / UNITS * UNITS + UNITS - 1 - i % UNITS;
            values[mirrored] * scale + shifts[i] as f32 + offset as f32
        })
        .collect();
    assert_eq!(to.read(client, &connected.faults).unwrap(), expected);
    let numbers: Vec<u32> = (0..cubes as u32).map(|c| c + offset).collect();
    assert_eq!(counted.read(client, &connected.faults).unwrap(), numbers);
}

#[test]
fn one_kernel_runs_through_the_native_language_and_through_wgsl() {
    for api in apis() {
        if let Some(connection) = connected(api) {
            run_reversed(&connection);
            let language = WgpuRuntime::name(&connection.client);
            assert_eq!(language == "wgpu<wgsl>", api == Api::WebGpu, "{language}");
        }
    }
}

#[test]
fn webgpu_compiles_wgsl_text() {
    // The child runs one kernel with CubeCL's log of compiled texts, which is read at start only.
    if std::env::var_os("SSB_TEST_WGSL_CHILD").is_some() {
        run_reversed(&connected(Api::WebGpu).unwrap());
        return;
    }
    if connected(Api::WebGpu).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("compiled.log");
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "device::tests::webgpu_compiles_wgsl_text"])
        .env("SSB_TEST_WGSL_CHILD", "1")
        .env("CUBECL_DEBUG_LOG", &log)
        .output()
        .unwrap();
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    assert!(child.status.success(), "{child:?}");
    for word in ["@compute", "var<workgroup>", "workgroupBarrier()"] {
        assert!(text.contains(word), "no {word} in: {text}");
    }
    assert!(!text.contains("OpEntryPoint"), "{text}");
}

#[test]
fn p12_a_failed_launch_is_an_error_and_the_next_one_works() {
    for api in apis() {
        let Some(connection) = alone(api) else {
            continue;
        };
        let Connection { client, connected } = &connection;
        let to = DeviceArray::uploaded(client, &[1f32; UNITS]);
        let floats = connected.limits.shared_memory_bytes as usize / 4;
        let launch = |floats| {
            greedy::launch::<WgpuRuntime>(
                client,
                CubeCount::new_single(),
                CubeDim::new_1d(UNITS as u32),
                to.arg(),
                floats,
            );
        };
        launch(floats + 1);
        let message = connected.faults.finish(client).unwrap_err().to_string();
        assert!(message.contains("shared memory"), "{message}");
        assert!(!message.contains("Backtrace"), "{message}");
        launch(floats);
        connected.faults.finish(client).unwrap();
        run_reversed(&connection);
    }
}

#[test]
fn an_allocation_beyond_the_device_is_an_error_and_the_next_one_works() {
    for api in apis() {
        let Some(connection) = alone(api) else {
            continue;
        };
        let Connection { client, connected } = &connection;
        let huge = DeviceArray::<f32>::reserved(client, 1 << 44);
        greedy::launch::<WgpuRuntime>(
            client,
            CubeCount::new_single(),
            CubeDim::new_1d(UNITS as u32),
            huge.arg(),
            UNITS,
        );
        assert!(connected.faults.finish(client).is_err());
        run_reversed(&connection);
    }
}

#[test]
fn a_large_buffer_takes_no_more_than_its_size_and_gives_it_back() {
    for api in apis() {
        let Some(Connection { client, connected }) = alone(api) else {
            continue;
        };
        let reserved = || {
            connected.faults.finish(&client).unwrap();
            client.memory_usage().unwrap().bytes_reserved
        };
        let (floats, before) = (9 << 20, reserved());
        let bytes = 4 * floats as u64;
        let one = DeviceArray::<f32>::reserved(&client, floats);
        let two = DeviceArray::uploaded(&client, &vec![1f32; floats]);
        assert_eq!(reserved() - before, 2 * bytes, "{api:?}");
        drop(one);
        // The same size again takes the place of the first.
        let three = DeviceArray::<f32>::reserved(&client, floats);
        assert_eq!(reserved() - before, 2 * bytes, "{api:?}");
        drop((two, three));
        client.memory_cleanup();
        assert_eq!(reserved(), before, "{api:?}");
    }
}

#[test]
fn what_the_driver_reports_later_is_an_error_once() {
    let Some(Connection { client, connected }) = connected(Api::WebGpu) else {
        return;
    };
    let faults = Faults::default();
    faults.clone().record("the device was lost".into());
    let message = faults.flush(&client).unwrap_err().to_string();
    assert!(message.contains("the device was lost"), "{message}");
    faults.flush(&client).unwrap();
    connected.faults.flush(&client).unwrap();
}

#[test]
fn a_copy_measures_bandwidth() {
    for api in apis() {
        if let Some(connection) = connected(api) {
            let bytes_per_s = copy_bandwidth(&connection).unwrap();
            assert!(
                (1e7..1e14).contains(&bytes_per_s),
                "{api:?}: {bytes_per_s} bytes/s"
            );
        }
    }
}

#[test]
fn a_second_connection_is_the_first() {
    for api in apis() {
        if connected(api).is_some() {
            let before = connected(api).unwrap();
            let after = connected(api).unwrap();
            assert_eq!(before.connected.limits, after.connected.limits);
            let shared = DeviceArray::uploaded(&before.client, &[4f32]);
            let read = shared.read(&after.client, &after.connected.faults);
            assert_eq!(read.unwrap(), [4.0]);
        }
    }
}

#[test]
fn every_device_is_usable_or_says_what_is_missing() {
    #[allow(unused_mut)]
    let mut lists = vec![apis()[0].found(), Api::WebGpu.found()];
    #[cfg(not(target_os = "macos"))]
    lists.push(cuda::found());
    for found in lists.into_iter().flatten() {
        match &found.unusable {
            None => {
                let l = &found.limits;
                assert!(l.device_bytes > 0 && l.binding_bytes > 0, "{found:?}");
                assert!(l.shared_memory_bytes >= 16 << 10, "{found:?}");
                assert!(l.units_per_cube >= 256, "{found:?}");
                assert!(found.memory_bytes.is_none_or(|m| m >= l.device_bytes));
            }
            Some(reason) => assert!(reason.len() > 10, "{found:?}"),
        }
    }
}

#[test]
fn software_adapters_are_marked_and_are_like_their_profile() {
    for api in apis() {
        for found in api.found() {
            if found.name.contains("llvmpipe") {
                let profile = profiles::lavapipe();
                let device_bytes = profile.device_bytes;
                let limits = Limits {
                    device_bytes,
                    ..found.limits.clone()
                };
                assert_eq!(limits, profile, "{api:?}");
            }
        }
    }
}

#[test]
fn limits_of_wgpu_become_ours() {
    let info = |name: &str, device_type, vendor| wgpu::AdapterInfo {
        name: name.into(),
        vendor,
        device: 0,
        device_type,
        device_pci_bus_id: String::new(),
        driver: String::new(),
        driver_info: String::new(),
        backend: wgpu::Backend::Vulkan,
        subgroup_min_size: 32,
        subgroup_max_size: 32,
        transient_saves_memory: false,
    };
    let granted = wgpu::Limits::default();
    let card = info("GeForce", wgpu::DeviceType::DiscreteGpu, 0x10de);
    let ours = adapters::limits(&card, &granted, None);
    let expected = Limits {
        plane_size: 32,
        ..profiles::webgpu_defaults()
    };
    assert_eq!(ours, expected);
    let memory = Some(8 << 30);
    let of = |info| adapters::limits(&info, &granted, memory);
    let integrated = of(info("Iris", wgpu::DeviceType::IntegratedGpu, 0x8086));
    assert_eq!(integrated.device_bytes, 4 << 30);
    let apple = of(info("Apple M2", wgpu::DeviceType::IntegratedGpu, 0x106b));
    assert_eq!(apple.family, ssb_core::DeviceFamily::Apple);
    assert!(apple.device_bytes > 4 << 30);
    for (name, device_type) in [
        ("llvmpipe", wgpu::DeviceType::Cpu),
        ("SwiftShader Device", wgpu::DeviceType::Other),
    ] {
        assert!(of(info(name, device_type, 0)).software, "{name}");
    }
}

#[test]
fn a_device_that_is_absent_or_unusable_is_refused() {
    let usable = |name: &str| Found {
        unusable: None,
        ..Found::missing(name, String::new())
    };
    let list = || {
        vec![
            Found::missing("broken", "its driver lacks it".into()),
            usable("first"),
            usable("second"),
        ]
    };
    let name = |index| connection::chosen("tested", list(), index).map(|(i, f)| (i, f.name));
    assert_eq!(name(None).unwrap(), (1, "first".into()));
    assert_eq!(name(Some(2)).unwrap(), (2, "second".into()));
    for (index, word) in [(Some(0), "its driver lacks it"), (Some(3), "not number 3")] {
        let message = name(index).unwrap_err().to_string();
        assert!(
            message.contains(word) && message.contains("tested"),
            "{message}"
        );
    }
    let none = vec![Found::missing("none", "no adapter".into())];
    assert!(connection::chosen("tested", none, None).is_err());
}
