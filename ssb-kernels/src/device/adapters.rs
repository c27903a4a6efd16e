//! Adapters that wgpu sees: Vulkan, Metal, and either of them as a WebGPU device.

use std::sync::OnceLock;

use ssb_core::{DeviceFamily, Limits};

use super::hardware::{self, Hardware};
use super::{Found, budget_bytes};

/// Memory assumed where no interface tells.
const UNTOLD_MEMORY_BYTES: u64 = 4 << 30;
/// PCI vendor of Apple.
const APPLE: u32 = 0x106b;
/// Least shared memory and units of a cube that any plan can use: those that WebGPU grants.
const LEAST: (u64, u32) = (16 << 10, 256);

/// A loaded interface and its adapters.
#[derive(Debug)]
pub(super) struct System {
    pub instance: wgpu::Instance,
    pub adapters: Vec<wgpu::Adapter>,
}

/// The interface and kernel language through which an adapter is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Api {
    /// SPIR-V through Vulkan.
    #[cfg(not(target_os = "macos"))]
    Vulkan,
    /// MSL through Metal.
    #[cfg(target_os = "macos")]
    Metal,
    /// WGSL, which wgpu translates for the native interface.
    WebGpu,
}

impl Api {
    /// The native interface below.
    fn backends(self) -> wgpu::Backends {
        #[cfg(target_os = "macos")]
        let native = wgpu::Backends::METAL;
        #[cfg(windows)]
        let native = match self {
            Self::Vulkan => wgpu::Backends::VULKAN,
            Self::WebGpu => wgpu::Backends::VULKAN | wgpu::Backends::DX12,
        };
        #[cfg(not(any(target_os = "macos", windows)))]
        let native = wgpu::Backends::VULKAN;
        native
    }

    /// The devices of this interface; one unusable row that says what is missing when there is none.
    #[must_use]
    pub fn found(self) -> Vec<Found> {
        let adapters = self.adapters();
        if adapters.is_empty() {
            return vec![Found::missing("no device", Self::absence())];
        }
        adapters
            .iter()
            .map(|adapter| self.describe(adapter))
            .collect()
    }

    /// The adapters in the order of the driver, which is that of `--device`.
    pub(super) fn adapters(self) -> &'static [wgpu::Adapter] {
        &self.system().adapters
    }

    /// The loaded interface. Asked for once.
    pub(super) fn system(self) -> &'static System {
        static NATIVE: OnceLock<System> = OnceLock::new();
        static WEB: OnceLock<System> = OnceLock::new();
        let system = if self == Self::WebGpu { &WEB } else { &NATIVE };
        system.get_or_init(|| {
            let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
                backends: self.backends(),
                ..wgpu::InstanceDescriptor::new_without_display_handle()
            });
            let adapters = instance.enumerate_adapters(self.backends());
            System {
                adapters: cubecl::future::block_on(adapters),
                instance,
            }
        })
    }

    fn absence() -> String {
        #[cfg(target_os = "macos")]
        return "Metal has no device".into();
        #[cfg(not(target_os = "macos"))]
        hardware::vulkan_loader().err().unwrap_or_else(|| {
            "no Vulkan driver was found: install that of the graphics card; on Debian, \
             mesa-vulkan-drivers has those for Intel and AMD and a software adapter"
                .into()
        })
    }

    fn describe(self, adapter: &wgpu::Adapter) -> Found {
        let info = adapter.get_info();
        let Hardware {
            memory_bytes,
            lacks,
        } = hardware::inspect(adapter);
        let limits = limits(&info, &adapter.limits(), memory_bytes);
        Found {
            name: full_name(&info),
            memory_bytes,
            unusable: self.unusable(&limits, &lacks),
            limits,
        }
    }

    fn unusable(self, limits: &Limits, lacks: &[&str]) -> Option<String> {
        if self != Self::WebGpu && !lacks.is_empty() {
            return Some(format!("its driver lacks {}", lacks.join(", ")));
        }
        let (bytes, units) = (limits.shared_memory_bytes, limits.units_per_cube);
        (bytes < LEAST.0 || units < LEAST.1).then(|| {
            format!(
                "it allows {bytes} bytes of shared memory and {units} units in a cube; at least {} \
                 and {} are needed",
                LEAST.0, LEAST.1
            )
        })
    }
}

fn full_name(info: &wgpu::AdapterInfo) -> String {
    let driver = format!("{} {}", info.driver, info.driver_info);
    match driver.trim() {
        "" => info.name.clone(),
        driver => format!("{}, {driver}", info.name),
    }
}

/// Emulations on the host, by type or by name.
fn is_software(info: &wgpu::AdapterInfo) -> bool {
    let name = info.name.to_lowercase();
    info.device_type == wgpu::DeviceType::Cpu
        || [
            "llvmpipe",
            "lavapipe",
            "swiftshader",
            "basic render",
            "softpipe",
        ]
        .iter()
        .any(|emulation| name.contains(emulation))
}

/// Our limits from those of wgpu.
pub(super) fn limits(
    info: &wgpu::AdapterInfo,
    granted: &wgpu::Limits,
    memory_bytes: Option<u64>,
) -> Limits {
    let apple = info.vendor == APPLE || info.backend == wgpu::Backend::Metal;
    let software = is_software(info);
    // Metal recommends a share of the common memory, which is a budget already.
    let shared = software || (info.device_type == wgpu::DeviceType::IntegratedGpu && !apple);
    let family = if apple {
        DeviceFamily::Apple
    } else {
        DeviceFamily::Other
    };
    let plane = match (info.subgroup_min_size, info.subgroup_max_size) {
        _ if apple => 32,
        (least, most) if least == most => least,
        _ => 0,
    };
    Limits {
        host_bytes: None,
        threads: 0,
        family,
        software,
        device_bytes: budget_bytes(memory_bytes.unwrap_or(UNTOLD_MEMORY_BYTES), shared),
        binding_bytes: granted
            .max_storage_buffer_binding_size
            .min(granted.max_buffer_size),
        // CubeCL passes lengths and scalars in one more.
        buffers_per_kernel: granted
            .max_storage_buffers_per_shader_stage
            .saturating_sub(1),
        shared_memory_bytes: u64::from(granted.max_compute_workgroup_storage_size),
        units_per_cube: granted
            .max_compute_invocations_per_workgroup
            .min(granted.max_compute_workgroup_size_x),
        cubes_per_dimension: granted.max_compute_workgroups_per_dimension,
        plane_size: plane,
        cache_bytes: 0,
        processors: 0,
    }
}
