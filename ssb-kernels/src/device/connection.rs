//! From a chosen device to a client that runs kernels on it.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use cubecl::prelude::*;
use cubecl::wgpu::{RuntimeOptions, WgpuRuntime, WgpuSetup, init_device};
use ssb_core::{Error, Limits};

use super::{Api, Faults, Found};

/// What is known of a device that is in use.
#[derive(Debug, Clone)]
pub struct Connected {
    /// Name of the backend.
    pub backend: &'static str,
    /// Name and driver of the device.
    pub device: String,
    /// A software emulation of a GPU.
    pub software: bool,
    /// What it allows.
    pub limits: Limits,
    /// Where its failures are noted.
    pub faults: Faults,
}

/// A device in use: kernels go to `client`, failures come from `connected.faults`.
pub struct Connection<R: Runtime> {
    /// Runs kernels.
    pub client: ComputeClient<R>,
    /// What is known of the device.
    pub connected: Connected,
}

impl<R: Runtime> Clone for Connection<R> {
    fn clone(&self) -> Self {
        Self {
            client: self.client.clone(),
            connected: self.connected.clone(),
        }
    }
}

impl<R: Runtime> Connection<R> {
    /// Binds a client to what discovery knows, narrowed by what the client itself reports.
    pub(super) fn new(
        backend: &'static str,
        client: ComputeClient<R>,
        found: Found,
        faults: Faults,
    ) -> Self {
        let limits = narrowed(found.limits, &client);
        Self {
            client,
            connected: Connected {
                backend,
                device: found.name,
                software: limits.software,
                limits,
                faults,
            },
        }
    }
}

/// The smaller of what discovery and CubeCL report, since CubeCL refuses launches beyond its own.
fn narrowed<R: Runtime>(limits: Limits, client: &ComputeClient<R>) -> Limits {
    let properties = client.properties();
    let hardware = &properties.hardware;
    let (x, y, z) = hardware.max_cube_count;
    Limits {
        binding_bytes: limits.binding_bytes.min(properties.memory.max_page_size),
        buffers_per_kernel: limits.buffers_per_kernel.min(hardware.max_bindings),
        shared_memory_bytes: limits
            .shared_memory_bytes
            .min(hardware.max_shared_memory_size as u64),
        units_per_cube: limits
            .units_per_cube
            .min(hardware.max_units_per_cube)
            .min(hardware.max_cube_dim.0),
        cubes_per_dimension: limits.cubes_per_dimension.min(x).min(y).min(z),
        ..limits
    }
}

/// The device that was asked for, or the first usable one.
///
/// # Errors
/// [`Error::BackendUnavailable`] when it does not exist or cannot be used.
pub(super) fn chosen(
    backend: &'static str,
    found: Vec<Found>,
    device: Option<usize>,
) -> Result<(usize, Found), Error> {
    let unavailable = |reason: String| Error::BackendUnavailable {
        backend: backend.into(),
        reason,
    };
    let index = device
        .or_else(|| found.iter().position(|f| f.unusable.is_none()))
        .unwrap_or(0);
    let count = found.len();
    let Some(found) = found.into_iter().nth(index) else {
        return Err(unavailable(format!(
            "it has {count} device(s), not number {index}"
        )));
    };
    match &found.unusable {
        Some(reason) => Err(unavailable(format!(
            "device {index} ({}): {reason}",
            found.name
        ))),
        None => Ok((index, found)),
    }
}

/// Connects to an adapter of this interface. CubeCL keeps a device for the life of the process, so
/// that a second call returns the first connection.
///
/// # Errors
/// [`Error::BackendUnavailable`] when the device does not exist, cannot be used or does not open.
pub fn connect(
    backend: &'static str,
    api: Api,
    device: Option<usize>,
) -> Result<Connection<WgpuRuntime>, Error> {
    static OPEN: Mutex<BTreeMap<(Api, usize), Connection<WgpuRuntime>>> =
        Mutex::new(BTreeMap::new());
    let (index, found) = chosen(backend, api.found(), device)?;
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(connection) = open.get(&(api, index)) {
        return Ok(connection.clone());
    }
    let connection = opened(backend, api, index, found)?;
    open.insert((api, index), connection.clone());
    Ok(connection)
}

/// A device of its own, which nobody else uses.
pub(super) fn opened(
    backend: &'static str,
    api: Api,
    index: usize,
    found: Found,
) -> Result<Connection<WgpuRuntime>, Error> {
    // The adapter exists: there are as many usable rows as adapters.
    let adapter = api.adapters()[index].clone();
    let faults = Faults::default();
    let noting = faults.clone();
    // CubeCL's set-up panics on failures of the driver.
    let client = catch_unwind(AssertUnwindSafe(|| client(api, adapter, noting)))
        .unwrap_or_else(|_| Err("the driver refused to open it".into()))
        .map_err(|reason| Error::BackendUnavailable {
            backend: backend.into(),
            reason: format!("device {index} ({}): {reason}", found.name),
        })?;
    Ok(Connection::new(backend, client, found, faults))
}

fn client(
    api: Api,
    adapter: wgpu::Adapter,
    faults: Faults,
) -> Result<ComputeClient<WgpuRuntime>, String> {
    let (device, queue) = match api {
        #[cfg(not(target_os = "macos"))]
        Api::Vulkan => {
            cubecl::future::block_on(cubecl::wgpu::vulkan::request_vulkan_device(&adapter))
                .ok_or("its driver lacks what SPIR-V kernels need")?
        }
        #[cfg(target_os = "macos")]
        Api::Metal => cubecl::future::block_on(cubecl::wgpu::metal::request_metal_device(&adapter)),
        Api::WebGpu => plain_device(&adapter)?,
    };
    let noting = faults.clone();
    device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
        noting.record(error.to_string());
    }));
    device.set_device_lost_callback(move |reason, message| {
        if reason != wgpu::DeviceLostReason::Destroyed {
            faults.record(format!("the device was lost: {message}"));
        }
    });
    // CubeCL chooses the kernel language by this value: SPIR-V for Vulkan, MSL for Metal, else WGSL.
    let backend = match api {
        Api::WebGpu => wgpu::Backend::BrowserWebGpu,
        _ => adapter.get_info().backend,
    };
    let setup = WgpuSetup {
        instance: api.system().instance.clone(),
        adapter,
        device,
        queue,
        backend,
    };
    Ok(WgpuRuntime::client(&init_device(
        setup,
        RuntimeOptions::default(),
    )))
}

/// A device with no more than WebGPU knows: none of wgpu's native features, no shaders past its
/// validation, and the limits of the adapter.
fn plain_device(adapter: &wgpu::Adapter) -> Result<(wgpu::Device, wgpu::Queue), String> {
    // CubeCL measures by timestamps and offers planes wherever the adapter has them.
    let known = wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::SUBGROUP;
    cubecl::future::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        label: Some("ssb"),
        required_features: adapter.features() & known,
        required_limits: adapter.limits(),
        memory_hints: wgpu::MemoryHints::MemoryUsage,
        ..wgpu::DeviceDescriptor::default()
    }))
    .map_err(|error| error.to_string())
}
