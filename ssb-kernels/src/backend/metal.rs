//! Apple GPUs through Metal: kernels as MSL.

use ssb_core::{BackendEntry, BackendKind};

use super::{prepare, rows};
use crate::device::{Api, connect, copy_bandwidth};

const NAME: &str = "metal";

/// The Metal backend.
pub const ENTRY: BackendEntry = BackendEntry {
    name: NAME,
    about: "Apple GPUs through Metal, kernels as MSL",
    kind: BackendKind::Gpu,
    devices: || rows(Api::Metal.found()),
    prepare: |problem, options, control| {
        prepare(
            connect(NAME, Api::Metal, options.device)?,
            problem,
            options,
            control,
        )
    },
    copy_bandwidth: |device, _| copy_bandwidth(&connect(NAME, Api::Metal, device)?),
};
