//! The backends of this build, in the order in which `auto` tries them.

use ssb_core::joined;
pub use ssb_core::{
    BackendEntry, BandPoint, Evaluation, Evaluator, EvaluatorInfo, MeanPhase, PrepareOptions,
    Progress, Registry,
};

/// CUDA, Metal, Vulkan, WebGPU, as far as this system has them.
#[cfg(feature = "gpu")]
const GPUS: &[BackendEntry] = ssb_kernels::backend::ENTRIES;
#[cfg(not(feature = "gpu"))]
const GPUS: &[BackendEntry] = &[];

const HOSTS: [BackendEntry; 2] = [ssb_cpu::CPU, ssb_cpu_oracle::ORACLE];

static ENTRIES: [BackendEntry; GPUS.len() + HOSTS.len()] = joined(GPUS, &HOSTS);

/// Every backend of this build.
///
/// ```
/// let names: Vec<_> = ssb::backends::REGISTRY.entries.iter().map(|e| e.name).collect();
/// assert!(names.ends_with(&["cpu", "oracle"]));
/// ```
pub static REGISTRY: Registry = Registry { entries: &ENTRIES };

/// Backends that this build does not have: name and why.
#[cfg(feature = "gpu")]
pub const ELSEWHERE: &[(&str, &str)] = &ssb_kernels::backend::ELSEWHERE;
/// Backends that this build does not have: name and why.
#[cfg(not(feature = "gpu"))]
pub const ELSEWHERE: &[(&str, &str)] = &[(
    "cuda, metal, vulkan, webgpu",
    "not in this build: build with the feature `gpu`",
)];
