//! NVIDIA GPUs through CUDA.

use ssb_core::{BackendEntry, BackendKind};

use super::{prepare, rows};
use crate::device::{copy_bandwidth, cuda};

const NAME: &str = "cuda";

/// The CUDA backend.
pub const ENTRY: BackendEntry = BackendEntry {
    name: NAME,
    about: "NVIDIA GPUs through CUDA",
    kind: BackendKind::Gpu,
    devices: || rows(cuda::found()),
    prepare: |problem, options, control| {
        prepare(
            cuda::connect(NAME, options.device)?,
            problem,
            options,
            control,
        )
    },
    copy_bandwidth: |device, _| copy_bandwidth(&cuda::connect(NAME, device)?),
};
