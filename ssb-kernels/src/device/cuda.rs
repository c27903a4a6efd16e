//! CUDA devices. The libraries are probed first: the loaders of `cudarc` panic without them.

use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::sync::{Mutex, PoisonError};

use cubecl::cuda::{CudaDevice, CudaRuntime};
use cubecl::prelude::*;
use cudarc::driver::result::{self, DriverError, device};
use cudarc::driver::sys::CUdevice_attribute as Attribute;
use ssb_core::{DeviceFamily, Error, Limits};

use super::connection::chosen;
use super::{Connection, Faults, Found, budget_bytes};

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;

/// The devices of CUDA; one unusable row that says what is missing when there is none.
#[must_use]
pub fn found() -> Vec<Found> {
    // A function that the driver lacks is a panic of `cudarc`.
    let list = catch_unwind(listed).unwrap_or_else(|_| {
        Err("the NVIDIA driver lacks functions that CUDA 12 has: install a newer driver".into())
    });
    match list {
        Ok(found) => found,
        Err(reason) => vec![Found::missing("no device", reason)],
    }
}

/// Connects to a device. CubeCL keeps it for the life of the process, so that a second call returns
/// the first connection.
///
/// # Errors
/// [`Error::BackendUnavailable`] when it does not exist or cannot be used.
pub fn connect(
    backend: &'static str,
    device: Option<usize>,
) -> Result<Connection<CudaRuntime>, Error> {
    static OPEN: Mutex<BTreeMap<usize, Connection<CudaRuntime>>> = Mutex::new(BTreeMap::new());
    let (index, mut found) = chosen(backend, found(), device)?;
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(connection) = open.get(&index) {
        return Ok(connection.clone());
    }
    // CubeCL's set-up panics on failures of the driver.
    let client = catch_unwind(|| CudaRuntime::client(&CudaDevice::new(index))).map_err(|_| {
        Error::BackendUnavailable {
            backend: backend.into(),
            reason: format!(
                "device {index} ({}): the driver refused to open it",
                found.name
            ),
        }
    })?;
    // The context is current on CubeCL's own thread only.
    if let Ok(Ok((free, _))) = client.exclusive(result::mem_get_info) {
        let limits = &mut found.limits;
        limits.device_bytes = limits.device_bytes.min(budget_bytes(free as u64, false));
    }
    let connection = Connection::new(backend, client, found, Faults::default());
    open.insert(index, connection.clone());
    Ok(connection)
}

fn listed() -> Result<Vec<Found>, String> {
    libraries()?;
    result::init().map_err(|e| in_words("the NVIDIA driver did not start", e))?;
    let count =
        device::get_count().map_err(|e| in_words("the NVIDIA driver lists no devices", e))?;
    if count == 0 {
        return Err("the NVIDIA driver lists no devices".into());
    }
    Ok((0..count)
        .map(|ordinal| {
            describe(ordinal).unwrap_or_else(|e| {
                Found::missing(
                    &format!("device {ordinal}"),
                    in_words("it does not answer", e),
                )
            })
        })
        .collect())
}

/// Driver, run-time compiler and headers, or what to install.
#[allow(unsafe_code, reason = "only loading tells whether a library loads")]
fn libraries() -> Result<(), String> {
    // SAFETY: NVIDIA's libraries set no conditions for being loaded.
    let (driver, compiler) = unsafe {
        (
            cudarc::driver::sys::is_culib_present(),
            cudarc::nvrtc::sys::is_culib_present(),
        )
    };
    let (driver_name, compiler_name) = if cfg!(windows) {
        ("nvcuda.dll", "nvrtc64_120_0.dll")
    } else {
        ("libcuda.so.1", "libnvrtc.so.12")
    };
    if !driver {
        return Err(format!(
            "{driver_name} was not found: install the NVIDIA driver"
        ));
    }
    if !compiler {
        return Err(format!(
            "NVRTC ({compiler_name}) was not found: install the CUDA toolkit, or the PyPI package \
             nvidia-cuda-nvrtc-cu12 with its folder in the library path"
        ));
    }
    let header =
        cubecl::cuda::install::cuda_path().map(|path| path.join("include").join("cuda_runtime.h"));
    match header {
        Some(header) if header.is_file() => Ok(()),
        _ => Err(
            "cuda_runtime.h was not found: install the CUDA toolkit, or the PyPI package \
             nvidia-cuda-runtime-cu12, and set CUDA_PATH to the folder that holds `include`"
                .into(),
        ),
    }
}

#[allow(
    unsafe_code,
    reason = "the driver's questions about a device are foreign functions"
)]
fn describe(ordinal: i32) -> Result<Found, DriverError> {
    let device = device::get(ordinal)?;
    let name = device::get_name(device)?;
    // SAFETY: `device` is a handle that the driver has just returned.
    let memory_bytes = unsafe { device::total_mem(device) }? as u64;
    // SAFETY: as above.
    let ask = |attribute| unsafe { device::get_attribute(device, attribute) };
    let count = |attribute| ask(attribute).map(|v| u32::try_from(v).unwrap_or(0));
    let (major, minor) = (
        ask(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
        ask(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
    );
    let limits = Limits {
        family: DeviceFamily::Cuda,
        device_bytes: budget_bytes(memory_bytes, false),
        // CubeCL's largest page.
        binding_bytes: memory_bytes / 4,
        buffers_per_kernel: 1024,
        shared_memory_bytes: u64::from(count(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        )?),
        units_per_cube: count(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        cubes_per_dimension: count(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
        plane_size: count(Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
        cache_bytes: u64::from(count(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?),
        processors: count(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        ..Limits::default()
    };
    Ok(Found {
        name: format!("{name}, sm_{major}{minor}"),
        memory_bytes: Some(memory_bytes),
        limits,
        unusable: unknown_to_compiler(major * 10 + minor),
    })
}

/// NVRTC compiles for the architectures of its own time only.
#[allow(
    unsafe_code,
    reason = "NVRTC's list of architectures is a foreign function"
)]
fn unknown_to_compiler(architecture: i32) -> Option<String> {
    use cudarc::nvrtc::sys::{nvrtcGetNumSupportedArchs, nvrtcGetSupportedArchs};

    let mut count = 0;
    // SAFETY: `count` is a valid place for the one integer written.
    unsafe { nvrtcGetNumSupportedArchs(&raw mut count) }
        .result()
        .ok()?;
    let mut known = vec![0; usize::try_from(count).ok()?];
    // SAFETY: the list has room for the `count` integers that are written.
    unsafe { nvrtcGetSupportedArchs(known.as_mut_ptr()) }
        .result()
        .ok()?;
    (!known.contains(&architecture)).then(|| {
        format!(
            "NVRTC does not know sm_{architecture} (it knows sm_{} to sm_{}): install a newer CUDA \
             toolkit",
            known.first().copied().unwrap_or(0),
            known.last().copied().unwrap_or(0)
        )
    })
}

fn in_words(what: &str, error: DriverError) -> String {
    let told = error.error_string().map_or_else(
        |_| format!("{error:?}"),
        |s| s.to_string_lossy().into_owned(),
    );
    format!("{what}: {told}")
}
