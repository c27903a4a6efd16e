//! What wgpu does not tell about an adapter: its memory, and whether SPIR-V kernels can run on it.

/// Facts from below wgpu.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hardware {
    /// Bytes of memory local to the device.
    pub memory_bytes: Option<u64>,
    /// What CubeCL's SPIR-V kernels need and this driver lacks.
    pub lacks: Vec<&'static str>,
}

#[cfg(not(target_os = "macos"))]
#[allow(
    unsafe_code,
    reason = "the memory heaps and features are reachable only through Vulkan itself"
)]
pub fn inspect(adapter: &wgpu::Adapter) -> Hardware {
    use ash::vk;

    // SAFETY: the handle is used while `adapter` is borrowed and is not destroyed.
    let Some(hal) = (unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() }) else {
        return Hardware::default();
    };
    let instance = hal.shared_instance().raw_instance();
    let device = hal.raw_physical_device();
    let mut model = vk::PhysicalDeviceVulkanMemoryModelFeatures::default();
    let mut address = vk::PhysicalDeviceBufferDeviceAddressFeatures::default();
    let has_features2 = hal.shared_instance().instance_api_version() >= vk::API_VERSION_1_1;
    // SAFETY: `device` belongs to `instance`, both outlive the calls; a driver leaves structures that
    // it does not know as they are, which is all `false`; the call exists from Vulkan 1.1 on.
    let (memory, queues) = unsafe {
        if has_features2 {
            let mut features = vk::PhysicalDeviceFeatures2::default()
                .push_next(&mut model)
                .push_next(&mut address);
            instance.get_physical_device_features2(device, &mut features);
        }
        (
            instance.get_physical_device_memory_properties(device),
            instance.get_physical_device_queue_family_properties(device),
        )
    };
    let local = memory
        .memory_heaps_as_slice()
        .iter()
        .filter(|heap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL))
        .map(|heap| heap.size)
        .max();
    // CubeCL takes the first queue family.
    let computes = queues
        .first()
        .is_some_and(|family| family.queue_flags.contains(vk::QueueFlags::COMPUTE));
    let needs = [
        (model.vulkan_memory_model, "the Vulkan memory model"),
        (
            model.vulkan_memory_model_device_scope,
            "the Vulkan memory model at device scope",
        ),
        (address.buffer_device_address, "buffer device addresses"),
        (u32::from(computes), "compute in its first queue family"),
    ];
    Hardware {
        memory_bytes: local,
        lacks: needs
            .into_iter()
            .filter_map(|(has, what)| (has == vk::FALSE).then_some(what))
            .collect(),
    }
}

/// The share of the machine's memory that Metal recommends, when there is one GPU only.
#[cfg(target_os = "macos")]
pub fn inspect(_adapter: &wgpu::Adapter) -> Hardware {
    use objc2_metal::{MTLCreateSystemDefaultDevice, MTLDevice};

    Hardware {
        memory_bytes: MTLCreateSystemDefaultDevice().map(|d| d.recommendedMaxWorkingSetSize()),
        lacks: Vec::new(),
    }
}

/// Whether the loader of the graphics interface is installed, or what to install.
#[cfg(not(target_os = "macos"))]
#[allow(unsafe_code, reason = "only loading tells whether a library loads")]
pub fn vulkan_loader() -> Result<(), String> {
    let names: &[&str] = if cfg!(windows) {
        &["vulkan-1.dll"]
    } else {
        &["libvulkan.so.1", "libvulkan.so"]
    };
    // SAFETY: the Vulkan loader has no initialiser of its own with conditions for its caller.
    if names
        .iter()
        .any(|name| unsafe { libloading::Library::new(*name) }.is_ok())
    {
        return Ok(());
    }
    Err(format!(
        "the Vulkan loader ({}) was not found: install the package libvulkan1 or the graphics driver",
        names[0]
    ))
}
