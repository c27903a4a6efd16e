//! GPUs through Vulkan: kernels as SPIR-V.

use ssb_core::{BackendEntry, BackendKind};

use super::{prepare, rows};
use crate::device::{Api, connect, copy_bandwidth};

const NAME: &str = "vulkan";

/// The Vulkan backend.
pub const ENTRY: BackendEntry = BackendEntry {
    name: NAME,
    about: "GPUs through Vulkan, kernels as SPIR-V",
    kind: BackendKind::Gpu,
    devices: || rows(Api::Vulkan.found()),
    prepare: |problem, options, control| {
        prepare(
            connect(NAME, Api::Vulkan, options.device)?,
            problem,
            options,
            control,
        )
    },
    copy_bandwidth: |device, _| copy_bandwidth(&connect(NAME, Api::Vulkan, device)?),
};
