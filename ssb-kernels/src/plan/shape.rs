//! How lines are gathered into cubes within the limits of a device.

use serde::Serialize;
use ssb_core::{DeviceFamily, Limits, Unsuitable};

use crate::line::{LONGEST_LINE, LinePlan};

/// Units of a cube in the kernels without lines.
pub(crate) const SUM_UNITS: usize = 128;

/// A line and how many of them a cube takes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct LineShape {
    pub(crate) line: LinePlan,
    pub(crate) lines: usize,
}

impl LineShape {
    /// Lines of `n` points along `axis`, several a cube, within the shared memory that leaves two cubes a
    /// processor, `even` numbers of lines where possible: about 256 units, 512 on Apple GPUs. (On CUDA, 512 make the
    /// fused kernels spill: 64 to 192 bytes at 512 and 1024 points.)
    pub(crate) fn new(
        axis: &str,
        n: usize,
        limits: &Limits,
        even: bool,
    ) -> Result<Self, Unsuitable> {
        // CUDA gives 48 KiB without asking; two cubes a processor hide each other's barriers.
        let shared = limits.shared_memory_bytes.min(48 << 10) as usize;
        let most_units = limits.units_per_cube as usize;
        let line = LinePlan::new(n, shared, most_units).ok_or_else(|| {
            Unsuitable(format!(
                "{n} {axis} need a line that this device cannot hold: lines of 1 to {LONGEST_LINE} points, \
                 4 bytes a point in {shared} bytes of shared memory"
            ))
        })?;
        let wanted = match limits.family {
            DeviceFamily::Apple => 512,
            _ => 256,
        };
        let by_units = wanted.min(most_units) / line.units;
        let cuda = limits.family == DeviceFamily::Cuda;
        let roomy = if !cuda && 16 * line.staged_floats() <= shared {
            shared / 2
        } else {
            shared
        };
        let by_memory = roomy / (4 * line.staged_floats()).max(1);
        let mut lines = by_units.min(by_memory).clamp(1, 32);
        if even && lines > 1 {
            lines -= lines % 2;
        }
        Ok(Self { line, lines })
    }
}
