//! The backends of this build, in the order in which `auto` tries them.

use ssb_core::{BackendEntry, Registry};

static ENTRIES: [BackendEntry; 2] = [ssb_cpu::CPU, ssb_cpu_oracle::ORACLE];

/// Every backend of this build.
///
/// ```
/// let names: Vec<_> = ssb::REGISTRY.entries.iter().map(|e| e.name).collect();
/// assert_eq!(names, ["cpu", "oracle"]);
/// ```
pub static REGISTRY: Registry = Registry { entries: &ENTRIES };
