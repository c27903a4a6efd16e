//! The two runtimes.

use std::marker::PhantomData;

use cubecl::Runtime;
use cubecl::client::ComputeClient;
use cubecl::device::DeviceId;
use cubecl::ir::TargetProperties;
use cubecl::zspace::striding::has_pitched_row_major_strides;
use cubecl::zspace::{Shape, Strides};
use cubecl_cpp::shared::CppCompiler;

use super::device::TextDevice;
use super::language::{Cuda, Language, Metal};
use super::memory::contiguous_strides;
use super::server::TextServer;

/// Kernels as CUDA C++ text, for [`Target::Sm80`](super::Target::Sm80) and later.
pub type CudaText = TextRuntime<Cuda>;

/// Kernels as MSL text, for [`Target::AppleM`](super::Target::AppleM).
pub type MetalText = TextRuntime<Metal>;

/// A runtime whose kernels are texts of the language `L`.
#[derive(Clone, Debug)]
pub struct TextRuntime<L>(PhantomData<L>);

impl<L: Language> Runtime for TextRuntime<L> {
    type Compiler = CppCompiler<L::Dialect>;
    type Server = TextServer<L>;
    type Device = TextDevice;

    fn client(device: &TextDevice) -> ComputeClient<Self> {
        ComputeClient::load(device)
    }

    fn name(_client: &ComputeClient<Self>) -> &'static str {
        L::RUNTIME
    }

    fn require_array_lengths() -> bool {
        L::ARRAY_LENGTHS
    }

    fn max_cube_count() -> (u32, u32, u32) {
        L::MAX_CUBE_COUNT
    }

    fn can_read_tensor(shape: &Shape, strides: &Strides) -> bool {
        if L::PITCHED {
            has_pitched_row_major_strides(shape, strides)
        } else {
            contiguous_strides(shape) == *strides
        }
    }

    fn target_properties() -> TargetProperties {
        L::target_properties()
    }

    fn enumerate_devices(_: u16, _: &TextDevice) -> Vec<DeviceId> {
        Vec::new()
    }
}
