//! Vulkan held to the smallest devices: 16 KiB of shared memory and 256 units a cube.

use ssb_core::{BackendEntry, BackendKind, Error};

use super::{prepare, rows};
use crate::device::{Api, Connection, connect, copy_bandwidth};

const NAME: &str = "vulkan-small";

pub const ENTRY: BackendEntry = BackendEntry {
    name: NAME,
    about: "Vulkan held to 16 KiB of shared memory and 256 units a cube",
    // Only ever by name.
    kind: BackendKind::Reference,
    devices: || rows(Api::Vulkan.found()),
    prepare: |problem, options, control| {
        prepare(small(options.device)?, problem, options, control)
    },
    copy_bandwidth: |device, _| copy_bandwidth(&small(device)?),
};

fn small(device: Option<usize>) -> Result<Connection<cubecl::wgpu::WgpuRuntime>, Error> {
    let mut connection = connect(NAME, Api::Vulkan, device)?;
    let limits = &mut connection.connected.limits;
    limits.shared_memory_bytes = limits.shared_memory_bytes.min(16 << 10);
    limits.units_per_cube = limits.units_per_cube.min(256);
    Ok(connection)
}
