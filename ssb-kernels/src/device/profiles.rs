//! Published limits of devices that plans are tested for without owning one.

use ssb_core::{DeviceFamily, Limits};

use super::budget_bytes;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

fn gpu(family: DeviceFamily, memory_bytes: u64, shared_with_host: bool) -> Limits {
    Limits {
        family,
        device_bytes: budget_bytes(memory_bytes, shared_with_host),
        units_per_cube: 1024,
        cubes_per_dimension: 65535,
        plane_size: 32,
        ..Limits::default()
    }
}

/// NVIDIA H200 (sm_90): 141 GB, 132 SMs, 50 MiB of L2, 227 KiB of shared memory a block.
#[must_use]
pub fn h200() -> Limits {
    let memory_bytes = 143_771 * MIB;
    Limits {
        binding_bytes: memory_bytes / 4,
        buffers_per_kernel: 1024,
        shared_memory_bytes: 227 * KIB,
        cache_bytes: 50 * MIB,
        processors: 132,
        ..gpu(DeviceFamily::Cuda, memory_bytes, false)
    }
}

/// A 24 GB consumer card: GeForce RTX 4090 (sm_89), 128 SMs, 72 MiB of L2. sm_120 has the same 99 KiB
/// of shared memory a block.
#[must_use]
pub fn rtx_4090() -> Limits {
    let memory_bytes = 24_564 * MIB;
    Limits {
        binding_bytes: memory_bytes / 4,
        buffers_per_kernel: 1024,
        shared_memory_bytes: 99 * KIB,
        cache_bytes: 72 * MIB,
        processors: 128,
        ..gpu(DeviceFamily::Cuda, memory_bytes, false)
    }
}

/// An Apple M-series GPU with 24 GB, of which Metal recommends two thirds; wgpu binds at most 4 GiB.
#[must_use]
pub fn apple_m_series() -> Limits {
    Limits {
        binding_bytes: u64::from(u32::MAX),
        buffers_per_kernel: 30,
        shared_memory_bytes: 32 * KIB,
        ..gpu(DeviceFamily::Apple, 16 * GIB, false)
    }
}

/// An integrated Intel GPU through Vulkan on a machine with 16 GB: planes of 8 to 32 units.
#[must_use]
pub fn intel_integrated() -> Limits {
    Limits {
        binding_bytes: GIB,
        buffers_per_kernel: 63,
        shared_memory_bytes: 32 * KIB,
        plane_size: 0,
        ..gpu(DeviceFamily::Other, 8 * GIB, true)
    }
}

/// A phone's Vulkan GPU of the Adreno and Mali class: bindings of 128 MiB, cubes of 512 units.
#[must_use]
pub fn mobile_vulkan() -> Limits {
    Limits {
        binding_bytes: 128 * MIB,
        buffers_per_kernel: 23,
        shared_memory_bytes: 32 * KIB,
        units_per_cube: 512,
        plane_size: 0,
        ..gpu(DeviceFamily::Other, 4 * GIB, true)
    }
}

/// What every WebGPU device grants; its memory is not told.
#[must_use]
pub fn webgpu_defaults() -> Limits {
    Limits {
        binding_bytes: 128 * MIB,
        buffers_per_kernel: 7,
        shared_memory_bytes: 16 * KIB,
        units_per_cube: 256,
        plane_size: 0,
        ..gpu(DeviceFamily::Other, 4 * GIB, false)
    }
}

/// Mesa's software Vulkan on a host with 16 GB.
#[must_use]
pub fn lavapipe() -> Limits {
    Limits {
        software: true,
        binding_bytes: 128 * MIB,
        buffers_per_kernel: 31,
        shared_memory_bytes: 32 * KIB,
        plane_size: 8,
        ..gpu(DeviceFamily::Other, 16 * GIB, true)
    }
}

/// Every profile with its name.
#[must_use]
pub fn all() -> Vec<(&'static str, Limits)> {
    vec![
        ("h200", h200()),
        ("rtx_4090", rtx_4090()),
        ("apple_m_series", apple_m_series()),
        ("intel_integrated", intel_integrated()),
        ("mobile_vulkan", mobile_vulkan()),
        ("webgpu_defaults", webgpu_defaults()),
        ("lavapipe", lavapipe()),
    ]
}
