//! Any GPU through WebGPU: kernels as WGSL, which wgpu translates for Vulkan, Metal or Direct3D 12.

use ssb_core::{BackendEntry, BackendKind};

use super::{prepare, rows};
use crate::device::{Api, connect, copy_bandwidth};

const NAME: &str = "webgpu";

/// The WebGPU backend.
pub const ENTRY: BackendEntry = BackendEntry {
    name: NAME,
    about: "GPUs through WebGPU, kernels as WGSL",
    kind: BackendKind::Gpu,
    devices: || rows(Api::WebGpu.found()),
    prepare: |problem, options, control| {
        prepare(
            connect(NAME, Api::WebGpu, options.device)?,
            problem,
            options,
            control,
        )
    },
    copy_bandwidth: |device, _| copy_bandwidth(&connect(NAME, Api::WebGpu, device)?),
};
