//! Texts without runs: for problems whose size makes running senseless.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use cubecl::Runtime;
use cubecl::client::ComputeClient;
use cubecl::server::ServerError;

use super::compiler::host_compiler;
use super::device::{Mode, Target, TextDevice};
use super::error::TextError;
use super::language::{Cuda, Language, Metal};
use super::source::fingerprint;

/// One launch: a kernel's text and how it was launched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedKernel {
    /// The name that the recorder was given for what it recorded.
    pub plan: String,
    /// The kernel's name in its text.
    pub kernel: String,
    /// The text, as the target's compiler gets it.
    pub text: String,
    /// The compiler that the text is for.
    pub target: Target,
    /// Units along each axis of a cube.
    pub cube_dim: [u32; 3],
    /// Cubes along each axis of the launch.
    pub cube_count: [u32; 3],
    /// Shared memory of one cube.
    pub shared_memory_bytes: usize,
    /// Whether the kernel is one of the fused ones, which must not spill registers. The recorder leaves it `false`.
    pub fused: bool,
}

impl RecordedKernel {
    /// Compiles the text on the host, without running it.
    ///
    /// # Errors
    ///
    /// If there is no C++ compiler, or the text does not compile.
    pub fn check_on_host(&self) -> Result<(), TextError> {
        let ending = self.ending();
        host_compiler()?
            .object(&self.text, &self.kernel, ending)
            .map(drop)
    }

    /// The lines of the text in alphabetical order, names of variables left out: the same for the same kernel, whatever
    /// the order in which CubeCL wrote independent instructions.
    pub fn canonical(&self) -> String {
        let words = |line: &str| {
            line.split(|c: char| !c.is_alphanumeric() && c != '_')
                .filter(|word| !word.starts_with("l_") && !word.is_empty())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let mut lines: Vec<String> = self.text.lines().map(words).collect();
        lines.sort_unstable();
        lines.join("\n")
    }

    /// A name for the text: the same for the same kernel, whatever the order in which CubeCL wrote its types.
    pub fn fingerprint(&self) -> String {
        fingerprint(&self.text, &self.kernel, "")
    }

    /// The ending of the text's file: `cu` or `metal`.
    pub fn ending(&self) -> &'static str {
        if Cuda::speaks(self.target) {
            Cuda::ENDING
        } else {
            Metal::ENDING
        }
    }
}

static RECORDS: Mutex<Option<HashMap<u32, Vec<RecordedKernel>>>> = Mutex::new(None);

/// Adds a launch to a recorder's list.
pub(super) fn add(recorder: u32, kernel: RecordedKernel) {
    let mut records = RECORDS.lock().unwrap_or_else(PoisonError::into_inner);
    let records = records.get_or_insert_default();
    records.entry(recorder).or_default().push(kernel);
}

/// Keeps the texts of what is launched on its client.
pub struct Recorder<R: Runtime> {
    plan: String,
    number: u32,
    device: TextDevice,
    client: ComputeClient<R>,
}

/// A recorder that imitates `device`. `plan` names what is recorded.
///
/// Nothing runs on its client: launches are compiled to text and kept, writes are forgotten, and reads return zeros, so no
/// memory is needed for buffers of any size.
pub fn record<R: Runtime<Device = TextDevice>>(
    device: &TextDevice,
    plan: impl Into<String>,
) -> Recorder<R> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let mut device = device.clone();
    device.mode = Mode::Record(number);
    let client = R::client(&device);
    Recorder {
        plan: plan.into(),
        number,
        device,
        client,
    }
}

impl<R: Runtime<Device = TextDevice>> Recorder<R> {
    /// The client to launch on.
    pub fn client(&self) -> &ComputeClient<R> {
        &self.client
    }

    /// The device, for code that makes its own client.
    pub fn device(&self) -> &TextDevice {
        &self.device
    }

    /// Everything launched so far, in order.
    ///
    /// # Errors
    ///
    /// If a launch since the last call had no text or did not fit the device.
    pub fn texts(&self) -> Result<Vec<RecordedKernel>, ServerError> {
        self.client.flush()?;
        let records = RECORDS.lock().unwrap_or_else(PoisonError::into_inner);
        let launched = records.as_ref().and_then(|r| r.get(&self.number));
        let mut texts = launched.cloned().unwrap_or_default();
        for text in &mut texts {
            text.plan.clone_from(&self.plan);
        }
        Ok(texts)
    }
}
