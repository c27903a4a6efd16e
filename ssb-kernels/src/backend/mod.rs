//! The backends of this crate, one file each, in the order in which `auto` tries them.

#[cfg(test)]
mod tests;

use cubecl::prelude::*;
use ssb_core::{BackendEntry, Control, Device, Error, Evaluator, PrepareOptions, Problem};

use crate::device::{Connection, Found};
use crate::evaluator;

macro_rules! backends {
    ($($(#[$system:meta])* $module:ident),* $(,)?) => {
        $($(#[$system])* mod $module;)*

        /// Every backend of this system.
        pub const ENTRIES: &[BackendEntry] = &[$($(#[$system])* $module::ENTRY),*];
    };
}

// The registry: a backend is one file with its `ENTRY`, and one line here.
backends!(
    #[cfg(not(target_os = "macos"))]
    cuda,
    #[cfg(target_os = "macos")]
    metal,
    #[cfg(not(target_os = "macos"))]
    vulkan,
    webgpu,
);

/// Backends that exist on other systems only: name and where.
#[cfg(not(target_os = "macos"))]
pub const ELSEWHERE: [(&str, &str); 1] = [("metal", "Apple GPUs through Metal: on macOS only")];
/// Backends that exist on other systems only: name and where.
#[cfg(target_os = "macos")]
pub const ELSEWHERE: [(&str, &str); 2] = [
    (
        "cuda",
        "NVIDIA GPUs through CUDA: on Linux and Windows only",
    ),
    (
        "vulkan",
        "GPUs through Vulkan (SPIR-V): on Linux and Windows only",
    ),
];

fn rows(found: Vec<Found>) -> Vec<Device> {
    found
        .into_iter()
        .enumerate()
        .map(|(index, found)| found.row(index))
        .collect()
}

/// Prepares on a connected device within the memory and threads that the caller allows.
fn prepare<R: Runtime>(
    connection: Connection<R>,
    problem: Problem,
    options: &PrepareOptions,
    control: &Control,
) -> Result<Box<dyn Evaluator>, Error> {
    let Connection {
        client,
        mut connected,
    } = connection;
    connected.limits = connected.limits.capped(options.max_memory_bytes);
    connected.limits.threads = options.threads.unwrap_or_else(cores).max(1);
    evaluator::prepare(client, connected, problem, options, control)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
