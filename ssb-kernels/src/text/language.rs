//! The two languages: how CubeCL's CUDA and Metal runtimes set up their compiler, and what they say of a device.
//!
//! Both follow version 0.10 of `cubecl-cuda` (`runtime.rs`) and `cubecl-wgpu` (`runtime.rs`, `backend/metal.rs`).

use cubecl::features::{AtomicUsage, Plane, Tma, TypeUsage};
use cubecl::ir::{
    AddressType, BarrierLevel, ContiguousElements, DeviceProperties, ElemType, FloatKind,
    HardwareProperties, IntKind, MatrixLayout, MemoryDeviceProperties, MmaProperties, OpaqueType,
    SemanticType, StorageType, TargetProperties, Type, UIntKind, VectorSize,
};
use cubecl::profile::TimingMethod;
use cubecl_cpp::cuda::CudaDialect;
use cubecl_cpp::cuda::arch::CudaArchitecture;
use cubecl_cpp::cuda::mma::{CudaWmmaCompiler, contiguous_elements_cuda};
use cubecl_cpp::metal::MslDialect;
use cubecl_cpp::metal::arch::MetalArchitecture;
use cubecl_cpp::shared::{
    CompilationOptions, CppSupportedFeatures, register_mma_features, register_wmma_features,
};
use cubecl_cpp::{Dialect, DialectWmmaCompiler, register_supported_types};

use super::device::{Target, TextDevice};

/// A language of kernel texts.
pub trait Language: Clone + std::fmt::Debug + Send + Sync + 'static {
    /// CubeCL's description of the language.
    type Dialect: Dialect;
    /// The name of CubeCL's runtime for it.
    const RUNTIME: &'static str;
    /// The ending of its files.
    const ENDING: &'static str;
    /// Whether lengths of arrays are passed to kernels.
    const ARRAY_LENGTHS: bool;
    /// Whether an empty grid is an error.
    const REFUSES_EMPTY_GRID: bool;
    /// Whether rows of tensors may be padded.
    const PITCHED: bool;
    /// Whether shapes and strides of tensors are a buffer of their own.
    const LENGTHS_APART: bool;
    /// The largest number of cubes along each axis.
    const MAX_CUBE_COUNT: (u32, u32, u32);

    /// Whether the target's text is in this language.
    fn speaks(target: Target) -> bool;
    /// The compiler's options for a device.
    fn options(device: &TextDevice) -> CompilationOptions;
    /// What the runtime says of a device.
    fn properties(device: &TextDevice) -> DeviceProperties;
    /// What the runtime says of its targets.
    fn target_properties() -> TargetProperties;
}

/// CUDA C++.
#[derive(Clone, Debug)]
pub struct Cuda;

/// The Metal shading language.
#[derive(Clone, Debug)]
pub struct Metal;

fn capability(device: &TextDevice) -> u32 {
    device.target.compute_capability().unwrap_or(0)
}

impl Language for Cuda {
    type Dialect = CudaDialect<CudaWmmaCompiler>;
    const RUNTIME: &'static str = "cuda";
    const ENDING: &'static str = "cu";
    const ARRAY_LENGTHS: bool = true;
    const REFUSES_EMPTY_GRID: bool = true;
    const PITCHED: bool = true;
    const LENGTHS_APART: bool = true;
    const MAX_CUBE_COUNT: (u32, u32, u32) = (i32::MAX as u32, u16::MAX as u32, u16::MAX as u32);

    fn speaks(target: Target) -> bool {
        target.compute_capability().is_some()
    }

    fn options(device: &TextDevice) -> CompilationOptions {
        let arch = capability(device);
        CompilationOptions {
            warp_size: device.plane_size,
            supports_features: CppSupportedFeatures {
                grid_constants: arch >= 70,
                clusters: arch >= 90,
                fast_math: true,
                fast_tanh: arch >= 75,
                elect_sync: arch >= 90,
            },
        }
    }

    fn properties(device: &TextDevice) -> DeviceProperties {
        let version = capability(device);
        let arch = CudaArchitecture { version };
        let wmma = CudaWmmaCompiler::supported_wmma_combinations(&arch);
        let hardware = HardwareProperties {
            load_width: 128,
            plane_size_min: device.plane_size,
            plane_size_max: device.plane_size,
            max_bindings: 1024,
            max_shared_memory_size: device.shared_memory_bytes,
            max_cube_count: Self::MAX_CUBE_COUNT,
            max_units_per_cube: device.units_per_cube,
            max_cube_dim: (device.units_per_cube, device.units_per_cube, 64),
            num_streaming_multiprocessors: device.processors,
            num_tensor_cores: [80, 90].contains(&version).then_some(4),
            min_tensor_cores_dim: (!wmma.is_empty()).then_some(8),
            num_cpu_cores: None,
            max_vector_size: VectorSize::MAX,
        };
        let mut props = with_memory(device.memory_bytes / 4, 512, hardware);
        register_supported_types(&mut props);
        cuda_types(&mut props, version);
        props.features.memory_reinterpret = true;
        props.features.alignment = true;
        props.features.copy_async = version >= 80;
        for plane in [Plane::Sync, Plane::Ops, Plane::NonUniformControlFlow] {
            props.features.plane.insert(plane);
        }
        register_wmma_features(wmma, &mut props);
        register_mma_features(
            CudaWmmaCompiler::supported_mma_combinations(&arch),
            &mut props,
        );
        props
    }

    fn target_properties() -> TargetProperties {
        TargetProperties {
            mma: MmaProperties {
                register_size_bits: 32,
                const_plane_size: 32,
                register_layout_a: MatrixLayout::RowMajor,
                register_layout_b: MatrixLayout::ColMajor,
                register_layout_acc: MatrixLayout::RowMajor,
                register_duplication_a: 1,
                register_duplication_b: 1,
                register_duplication_acc: 1,
                contiguous_elements: ContiguousElements::new(contiguous_elements_cuda),
            },
        }
    }
}

fn cuda_types(props: &mut DeviceProperties, version: u32) {
    let add = AtomicUsage::Add | AtomicUsage::LoadStore;
    let atomic = |kind| Type::new(StorageType::Atomic(ElemType::Float(kind)));
    props.register_type_usage(ElemType::Float(FloatKind::TF32), TypeUsage::Conversion);
    props.register_atomic_type_usage(atomic(FloatKind::F64), add);
    props.register_atomic_type_usage(atomic(FloatKind::F16), add);
    props.register_atomic_type_usage(atomic(FloatKind::F16).with_vector_size(2), add);
    props.register_semantic_type(SemanticType::Pipeline);
    for level in [BarrierLevel::Unit, BarrierLevel::Cube] {
        props.register_type_usage(OpaqueType::Barrier(level), TypeUsage::Buffer);
    }
    if version >= 90 {
        props.features.tma.insert(Tma::Base);
        props.register_semantic_type(SemanticType::TensorMap);
        props.features.cube_cluster = true;
        for size in [2, 4] {
            props.register_atomic_type_usage(atomic(FloatKind::F32).with_vector_size(size), add);
        }
    }
}

impl Language for Metal {
    type Dialect = MslDialect;
    const RUNTIME: &'static str = "wgpu<msl>";
    const ENDING: &'static str = "metal";
    const ARRAY_LENGTHS: bool = false;
    const REFUSES_EMPTY_GRID: bool = false;
    const PITCHED: bool = false;
    const LENGTHS_APART: bool = false;
    const MAX_CUBE_COUNT: (u32, u32, u32) = (u16::MAX as u32, u16::MAX as u32, u16::MAX as u32);

    fn speaks(target: Target) -> bool {
        target.compute_capability().is_none()
    }

    fn options(_device: &TextDevice) -> CompilationOptions {
        CompilationOptions::default()
    }

    fn properties(device: &TextDevice) -> DeviceProperties {
        let hardware = HardwareProperties {
            load_width: 128,
            plane_size_min: device.plane_size,
            plane_size_max: device.plane_size,
            // wgpu keeps one of Metal's 31 for itself.
            max_bindings: 30,
            max_shared_memory_size: device.shared_memory_bytes,
            max_cube_count: Self::MAX_CUBE_COUNT,
            max_units_per_cube: device.units_per_cube,
            max_cube_dim: (
                device.units_per_cube,
                device.units_per_cube,
                device.units_per_cube,
            ),
            num_streaming_multiprocessors: device.processors,
            num_tensor_cores: None,
            min_tensor_cores_dim: None,
            num_cpu_cores: None,
            max_vector_size: 4,
        };
        let page_bytes = (device.memory_bytes / 2).min(u64::from(u32::MAX) & !3);
        let mut props = with_memory(page_bytes, 256, hardware);
        metal_types(&mut props);
        props.features.alignment = true;
        for plane in [Plane::Sync, Plane::Ops, Plane::NonUniformControlFlow] {
            props.features.plane.insert(plane);
        }
        let wmma = MslDialect::supported_wmma_combinations(&MetalArchitecture::Metal3);
        register_wmma_features(wmma, &mut props);
        props
    }

    fn target_properties() -> TargetProperties {
        TargetProperties {
            mma: MmaProperties::default(),
        }
    }
}

fn metal_types(props: &mut DeviceProperties) {
    props.register_address_type(AddressType::U32);
    props.register_address_type(AddressType::U64);
    let types = [
        ElemType::UInt(UIntKind::U8),
        ElemType::UInt(UIntKind::U16),
        ElemType::UInt(UIntKind::U32),
        ElemType::UInt(UIntKind::U64),
        ElemType::Int(IntKind::I8),
        ElemType::Int(IntKind::I16),
        ElemType::Int(IntKind::I32),
        ElemType::Int(IntKind::I64),
        ElemType::Float(FloatKind::F16),
        ElemType::Float(FloatKind::F32),
        ElemType::Bool,
    ];
    for kind in types {
        props.register_type_usage(kind, TypeUsage::all());
    }
    let atomic = [
        ElemType::Int(IntKind::I32),
        ElemType::UInt(UIntKind::U32),
        ElemType::UInt(UIntKind::U64),
        ElemType::Float(FloatKind::F32),
    ];
    for kind in atomic {
        let kind = Type::new(StorageType::Atomic(kind));
        props.register_atomic_type_usage(kind, AtomicUsage::Add | AtomicUsage::LoadStore);
    }
}

fn with_memory(
    max_page_size: u64,
    alignment: u64,
    hardware: HardwareProperties,
) -> DeviceProperties {
    let memory = MemoryDeviceProperties {
        max_page_size,
        alignment,
    };
    DeviceProperties::new(Default::default(), memory, hardware, TimingMethod::System)
}
