//! The server behind a text runtime.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use cubecl::backtrace::BackTrace;
use cubecl::bytes::Bytes;
use cubecl::device::{Device, DeviceId, DeviceService, ServerUtilitiesHandle};
use cubecl::future::DynFut;
use cubecl::prelude::KernelId;
use cubecl::profile::ProfileDuration;
use cubecl::server::{
    Binding, ComputeServer, CopyDescriptor, CubeCount, Handle, KernelArguments, MemoryLayout,
    MemoryLayoutDescriptor, MemoryLayoutPolicy, ProfileError, ProfilingToken, ServerCommunication,
    ServerError, ServerUtilities,
};
use cubecl::stream_id::StreamId;
use cubecl::{CubeTask, ExecutionMode, MemoryAllocationMode, MemoryUsage};
use cubecl_cpp::shared::CppCompiler;
use cubecl_runtime::allocator::{ContiguousMemoryLayoutPolicy, PitchedMemoryLayoutPolicy};
use cubecl_runtime::logging::ServerLogger;
use cubecl_runtime::memory_management::ManagedMemoryHandle;
use cubecl_runtime::storage::ManagedResource;
use cubecl_runtime::timestamp_profiler::TimestampProfiler;

use super::device::{Mode, TextDevice};
use super::language::Language;
use super::launch::{Kernel, panicked};
use super::memory::{HostMemory, HostRange, HostStorage};

/// A kernel that CubeCL can turn into text.
pub type Task<L> = Box<dyn CubeTask<CppCompiler<<L as Language>::Dialect>>>;

/// Compiles kernels to texts of the language `L`, and runs or records them.
#[derive(Debug)]
pub struct TextServer<L: Language> {
    pub(super) device: TextDevice,
    pub(super) memory: HostMemory,
    pub(super) kernels: HashMap<KernelId, Kernel>,
    errors: HashMap<StreamId, Vec<ServerError>>,
    timestamps: TimestampProfiler,
    pub(super) utilities: Arc<ServerUtilities<Self>>,
}

/// How buffers are laid out.
pub enum LayoutPolicy {
    /// Rows of tensors may be padded.
    Pitched(PitchedMemoryLayoutPolicy),
    /// No padding.
    Contiguous(ContiguousMemoryLayoutPolicy),
}

impl MemoryLayoutPolicy for LayoutPolicy {
    fn apply(
        &self,
        stream: StreamId,
        descriptors: &[MemoryLayoutDescriptor],
    ) -> (Handle, Vec<MemoryLayout>) {
        match self {
            LayoutPolicy::Pitched(policy) => policy.apply(stream, descriptors),
            LayoutPolicy::Contiguous(policy) => policy.apply(stream, descriptors),
        }
    }
}

impl<L: Language> DeviceService for TextServer<L> {
    fn init(id: DeviceId) -> Self {
        let device = TextDevice::from_id(id);
        let properties = L::properties(&device);
        let logger = Arc::new(ServerLogger::default());
        let alignment = properties.memory.alignment as usize;
        let policy = if L::PITCHED {
            LayoutPolicy::Pitched(PitchedMemoryLayoutPolicy::new(alignment))
        } else {
            LayoutPolicy::Contiguous(ContiguousMemoryLayoutPolicy::new(alignment))
        };
        TextServer {
            memory: HostMemory::new(&properties.memory, logger.clone()),
            kernels: HashMap::new(),
            errors: HashMap::new(),
            timestamps: TimestampProfiler::default(),
            utilities: Arc::new(ServerUtilities::new(
                properties,
                logger,
                device.clone(),
                policy,
            )),
            device,
        }
    }

    fn utilities(&self) -> ServerUtilitiesHandle {
        self.utilities.clone()
    }
}

impl<L: Language> ServerCommunication for TextServer<L> {
    const SERVER_COMM_ENABLED: bool = false;
}

impl<L: Language> TextServer<L> {
    fn fail(&mut self, stream: StreamId, error: impl Into<ServerError>) {
        self.errors.entry(stream).or_default().push(error.into());
    }

    /// The errors of a stream since they were last taken.
    fn health(&mut self, stream: StreamId) -> Result<(), ServerError> {
        let errors = self.errors.remove(&stream).unwrap_or_default();
        if errors.is_empty() {
            return Ok(());
        }
        self.timestamps.error(ProfileError::Unknown {
            reason: format!("{errors:?}"),
            backtrace: BackTrace::capture(),
        });
        Err(ServerError::ServerUnhealthy {
            errors,
            backtrace: BackTrace::capture(),
        })
    }

    pub(super) fn records(&self) -> bool {
        matches!(self.device.mode, Mode::Record(_))
    }

    fn read_all(
        &mut self,
        copies: &[CopyDescriptor],
        stream: StreamId,
    ) -> Result<Vec<Bytes>, ServerError> {
        self.health(stream)?;
        let mut all = Vec::with_capacity(copies.len());
        for copy in copies {
            let bytes = if self.records() {
                vec![0; copy.shape.iter().product::<usize>() * copy.elem_size]
            } else {
                self.memory.read(copy)?
            };
            all.push(Bytes::from_bytes_vec(bytes));
        }
        Ok(all)
    }
}

impl<L: Language> ComputeServer for TextServer<L> {
    type Kernel = Task<L>;
    type Storage = HostStorage;
    type MemoryLayoutPolicy = LayoutPolicy;
    type Info = TextDevice;

    fn initialize_memory(&mut self, memory: ManagedMemoryHandle, size: u64, stream: StreamId) {
        if !self.records()
            && let Err(error) = self.memory.allocate(memory, size)
        {
            self.fail(stream, error);
        }
    }

    fn logger(&self) -> Arc<ServerLogger> {
        self.utilities.logger.clone()
    }

    fn utilities(&self) -> Arc<ServerUtilities<Self>> {
        self.utilities.clone()
    }

    fn read(
        &mut self,
        copies: Vec<CopyDescriptor>,
        stream: StreamId,
    ) -> DynFut<Result<Vec<Bytes>, ServerError>> {
        let bytes = self.read_all(&copies, stream);
        Box::pin(async move { bytes })
    }

    fn write(&mut self, copies: Vec<(CopyDescriptor, Bytes)>, stream: StreamId) {
        if self.records() {
            return;
        }
        for (copy, data) in copies {
            if let Err(error) = self.memory.write(&copy, &data) {
                self.fail(stream, error);
            }
        }
    }

    fn sync(&mut self, stream: StreamId) -> DynFut<Result<(), ServerError>> {
        let health = self.health(stream);
        Box::pin(async move { health })
    }

    fn get_resource(
        &mut self,
        binding: Binding,
        _stream: StreamId,
    ) -> Result<ManagedResource<HostRange>, ServerError> {
        let range = self.memory.resource(&binding)?;
        Ok(ManagedResource::new(binding.memory, range))
    }

    #[allow(unsafe_code, reason = "the trait's method is unsafe")]
    // SAFETY: nothing unsafe is done here. Accesses of a kernel that checks no bounds are checked by the host run.
    unsafe fn launch(
        &mut self,
        kernel: Task<L>,
        count: CubeCount,
        arguments: KernelArguments,
        mode: ExecutionMode,
        stream: StreamId,
    ) {
        let name = kernel.name();
        // CubeCL's compilers panic on what they do not know, and the server's thread would only log it.
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            self.launch_text(kernel, count, arguments, mode)
        }));
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.fail(stream, error),
            Err(panic) => self.fail(stream, panicked(name, panic.as_ref())),
        }
    }

    fn flush(&mut self, stream: StreamId) -> Result<(), ServerError> {
        self.health(stream)
    }

    fn memory_usage(&mut self, _stream: StreamId) -> Result<MemoryUsage, ServerError> {
        Ok(self.memory.usage())
    }

    fn memory_cleanup(&mut self, _stream: StreamId) {
        self.memory.cleanup();
    }

    fn start_profile(&mut self, stream: StreamId) -> Result<ProfilingToken, ServerError> {
        self.health(stream)?;
        Ok(self.timestamps.start())
    }

    fn end_profile(
        &mut self,
        stream: StreamId,
        token: ProfilingToken,
    ) -> Result<ProfileDuration, ProfileError> {
        if let Err(error) = self.health(stream) {
            self.timestamps.error(ProfileError::Server(Box::new(error)));
        }
        self.timestamps.stop(token)
    }

    // Every buffer has a block of its own, whatever the mode.
    fn allocation_mode(&mut self, _mode: MemoryAllocationMode, _stream: StreamId) {}
}
