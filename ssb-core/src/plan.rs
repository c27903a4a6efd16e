//! Planning: what a backend will allocate and do, decided before anything is allocated.

use std::fmt;

use serde::Serialize;

/// The size of a problem, all that a plan depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Footprint {
    /// Scan positions (rows, cols).
    pub scan_shape: [usize; 2],
    /// Selected BF pixels.
    pub bf_pixels: usize,
    /// BF pixels with a non-zero aperture.
    pub bf_active: usize,
    /// Bytes of the stored BF columns.
    pub column_bytes: u64,
}

impl Footprint {
    /// Bytes of one BF pixel's half plane of complex64: `8 N_row (N_col / 2 + 1)`.
    #[must_use]
    pub fn half_plane_bytes(&self) -> u64 {
        8 * self.scan_shape[0] as u64 * (self.scan_shape[1] as u64 / 2 + 1)
    }

    /// Bytes of the half-plane G of all active BF pixels.
    #[must_use]
    pub fn g_bytes(&self) -> u64 {
        self.half_plane_bytes() * self.bf_active as u64
    }
}

/// What kind of processor a plan is for, as far as arrangements differ between kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceFamily {
    /// The host's own cores: no device.
    #[default]
    Host,
    /// NVIDIA GPUs driven by CUDA.
    Cuda,
    /// Apple GPUs.
    Apple,
    /// Every other GPU, software adapters included.
    Other,
}

/// What a host and a device allow. Host backends fill the first two fields; the others are 0.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Limits {
    /// Bytes of host memory the plan may use, or `None` for no stated budget.
    pub host_bytes: Option<u64>,
    /// Worker threads on the host.
    pub threads: usize,
    /// Kind of processor.
    pub family: DeviceFamily,
    /// An emulation on the host: correct, and never a measure of speed.
    pub software: bool,
    /// Bytes of device memory the plan may use.
    pub device_bytes: u64,
    /// Largest single buffer binding in bytes.
    pub binding_bytes: u64,
    /// Buffers one kernel may use.
    pub buffers_per_kernel: u32,
    /// Shared memory of one cube in bytes.
    pub shared_memory_bytes: u64,
    /// Most units in one cube.
    pub units_per_cube: u32,
    /// Most cubes along one axis of a launch.
    pub cubes_per_dimension: u32,
    /// Units of a plane (warp, SIMD group, subgroup); 0 when it is unknown or varies.
    pub plane_size: u32,
    /// Bytes of the last cache before device memory; 0 when unknown.
    pub cache_bytes: u64,
    /// Independent processors (SMs, GPU cores); 0 when unknown.
    pub processors: u32,
}

impl Limits {
    /// Those of a backend that works in host memory alone.
    #[must_use]
    pub fn host(host_bytes: Option<u64>, threads: usize) -> Self {
        Self {
            host_bytes,
            threads,
            ..Self::default()
        }
    }

    /// The same limits under `--max-memory`: host and device memory each capped.
    #[must_use]
    pub fn capped(self, max_memory_bytes: Option<u64>) -> Self {
        let Some(cap) = max_memory_bytes else {
            return self;
        };
        Self {
            host_bytes: Some(self.host_bytes.map_or(cap, |b| b.min(cap))),
            device_bytes: self.device_bytes.min(cap),
            ..self
        }
    }
}

/// Why a topology cannot serve a problem on a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsuitable(pub String);

/// A kernel arrangement: a name and a pure planning function.
#[derive(Debug, Clone, Copy)]
pub struct Topology {
    /// Name as printed and asked for.
    pub name: &'static str,
    /// Plans the problem within the limits, or says why it cannot.
    pub plan: fn(&Footprint, &Limits) -> Result<Plan, Unsuitable>,
}

/// What will be allocated and moved, printable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// Name of the topology.
    pub topology: &'static str,
    /// BF pixels in one block.
    pub bf_block: usize,
    /// Number of blocks in one pass over the BF pixels.
    pub blocks: usize,
    /// Bytes of host memory at the peak of preparing and evaluating.
    pub host_bytes: u64,
    /// Bytes of device memory at the peak; 0 for a host backend.
    pub device_bytes: u64,
    /// Bytes moved by one exact loss in the cost model of numerics section 7.
    pub loss_bytes: u64,
    /// Bytes moved by one object or agreement.
    pub object_bytes: u64,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        write!(
            f,
            "{}: {} blocks of {} BF pixels, host {:.0} MiB, device {:.0} MiB, {:.0} MiB moved a loss",
            self.topology,
            self.blocks,
            self.bf_block,
            mib(self.host_bytes),
            mib(self.device_bytes),
            mib(self.loss_bytes)
        )
    }
}
