//! The devices that the text runtimes imitate.

use std::sync::{Mutex, PoisonError};

use cubecl::device::{Device, DeviceId};

/// A family of GPUs whose compiler the text is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// NVIDIA Ampere (A100): CUDA, 163 KiB of shared memory.
    #[default]
    Sm80,
    /// NVIDIA Hopper (H100, H200): CUDA, 227 KiB of shared memory.
    Sm90,
    /// NVIDIA Blackwell of the RTX line: CUDA, 99 KiB of shared memory.
    Sm120,
    /// Apple M-series: Metal, 32 KiB of threadgroup memory.
    AppleM,
}

impl Target {
    /// Every target.
    pub const ALL: [Target; 4] = [Target::Sm80, Target::Sm90, Target::Sm120, Target::AppleM];

    /// The targets whose text is CUDA C++.
    pub const CUDA: [Target; 3] = [Target::Sm80, Target::Sm90, Target::Sm120];

    /// The compute capability times ten; `None` where the text is MSL.
    pub fn compute_capability(self) -> Option<u32> {
        match self {
            Target::Sm80 => Some(80),
            Target::Sm90 => Some(90),
            Target::Sm120 => Some(120),
            Target::AppleM => None,
        }
    }

    /// A short name: `sm_90`, `apple-m`.
    pub fn name(self) -> &'static str {
        match self {
            Target::Sm80 => "sm_80",
            Target::Sm90 => "sm_90",
            Target::Sm120 => "sm_120",
            Target::AppleM => "apple-m",
        }
    }
}

/// What a device does with a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Mode {
    Run,
    /// The number tells one recorder from another.
    Record(u32),
}

/// A device that a text runtime imitates. Devices that are equal share one server, like two handles of one GPU.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TextDevice {
    /// Which compiler's text is made.
    pub target: Target,
    /// Shared memory that one cube may use.
    pub shared_memory_bytes: usize,
    /// The largest number of units in a cube.
    pub units_per_cube: u32,
    /// Units in a plane (a warp or simdgroup), at most 64.
    pub plane_size: u32,
    /// Device memory; a single buffer may have a quarter of it.
    pub memory_bytes: u64,
    /// Multiprocessors, where the runtime tells them.
    pub processors: Option<u32>,
    pub(super) mode: Mode,
}

impl TextDevice {
    /// The usual device of a target; the fields can be changed.
    pub fn new(target: Target) -> Self {
        let (shared_memory_bytes, memory_gib, processors) = match target {
            Target::Sm80 => (163 << 10, 80, Some(108)),
            Target::Sm90 => (227 << 10, 141, Some(132)),
            Target::Sm120 => (99 << 10, 96, Some(188)),
            Target::AppleM => (32 << 10, 24, None),
        };
        TextDevice {
            target,
            shared_memory_bytes,
            units_per_cube: 1024,
            plane_size: 32,
            memory_bytes: memory_gib << 30,
            processors,
            mode: Mode::Run,
        }
    }
}

impl Default for TextDevice {
    fn default() -> Self {
        TextDevice::new(Target::default())
    }
}

/// CubeCL names a device by two 16-bit numbers. The first is ours alone, so that no GPU shares the server's thread; the
/// second is the place of the device in this list.
static DEVICES: Mutex<Vec<TextDevice>> = Mutex::new(Vec::new());
const TEXT_DEVICES: u16 = 0x7e87;

impl Device for TextDevice {
    fn from_id(id: DeviceId) -> Self {
        let devices = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
        devices
            .get(id.index_id as usize)
            .cloned()
            .unwrap_or_default()
    }

    fn to_id(&self) -> DeviceId {
        let mut devices = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
        let place = devices.iter().position(|d| d == self).unwrap_or_else(|| {
            devices.push(self.clone());
            devices.len() - 1
        });
        DeviceId {
            type_id: TEXT_DEVICES,
            index_id: place as u16,
        }
    }
}
