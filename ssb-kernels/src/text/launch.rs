//! From a kernel to its text, and from its text to a run.

use std::any::Any;
use std::sync::{Mutex, PoisonError};

use cubecl::ExecutionMode;
use cubecl::backtrace::BackTrace;
use cubecl::prelude::KernelId;
use cubecl::server::{Binding, CubeCount, KernelArguments, LaunchError, ServerError};
use cubecl_runtime::validation::{validate_cube_dim, validate_units};

use super::device::Mode;
use super::error::TextError;
use super::language::Language;
use super::memory::HostMemory;
use super::object::{Argument, Grid, LoadedKernel};
use super::record::{self, RecordedKernel};
use super::server::{Task, TextServer};

/// A kernel's text, and its compiled form once it has run.
#[derive(Debug)]
pub struct Kernel {
    name: String,
    text: String,
    cube_dim: [u32; 3],
    shared_memory_bytes: usize,
    loaded: Option<LoadedKernel>,
}

impl<L: Language> TextServer<L> {
    pub(super) fn launch_text(
        &mut self,
        task: Task<L>,
        count: CubeCount,
        arguments: KernelArguments,
        mode: ExecutionMode,
    ) -> Result<(), ServerError> {
        let mut id = task.id();
        id.mode(mode);
        if !self.kernels.contains_key(&id) {
            let kernel = self.compile(&task, &id, mode)?;
            self.kernels.insert(id.clone(), kernel);
        }
        let cube_count = self.cube_count(count)?;
        let Some(kernel) = self.kernels.get_mut(&id) else {
            return Ok(());
        };
        let refused = |reason: String| TextError::Launch {
            kernel: kernel.name.clone(),
            reason,
        };
        let max: [u32; 3] = L::MAX_CUBE_COUNT.into();
        if (0..3).any(|axis| cube_count[axis] > max[axis]) {
            let reason = format!("{cube_count:?} cubes; the runtime allows {max:?}");
            return Err(failed(refused(reason)));
        }
        if L::REFUSES_EMPTY_GRID && cube_count.contains(&0) {
            let reason = "an empty grid is an error on this target".to_owned();
            return Err(failed(refused(reason)));
        }
        if !arguments.tensor_maps.is_empty() {
            return Err(failed(refused("tensor maps have no host form".to_owned())));
        }
        if let Mode::Record(recorder) = self.device.mode {
            let launch = RecordedKernel {
                plan: String::new(),
                kernel: kernel.name.clone(),
                text: kernel.text.clone(),
                target: self.device.target,
                cube_dim: kernel.cube_dim,
                cube_count,
                shared_memory_bytes: kernel.shared_memory_bytes,
                fused: false,
            };
            record::add(recorder, launch);
            return Ok(());
        }
        let grid = Grid {
            cube_count,
            cube_dim: kernel.cube_dim,
            plane_size: self.device.plane_size,
            shared_bytes: kernel.shared_memory_bytes,
        };
        let loaded = match &mut kernel.loaded {
            Some(loaded) => loaded,
            empty => {
                let loaded = LoadedKernel::new(&kernel.text, &kernel.name, L::ENDING);
                empty.insert(loaded.map_err(failed)?)
            }
        };
        let mut info = arguments.info;
        let apart = L::LENGTHS_APART.then_some(info.dynamic_metadata_offset);
        let list = argument_list(&mut self.memory, &arguments.buffers, &mut info.data, apart)?;
        loaded.run(grid, &list).map_err(failed)
    }

    /// The text of a kernel, after the checks that the real runtime makes.
    fn compile(
        &self,
        task: &Task<L>,
        id: &KernelId,
        mode: ExecutionMode,
    ) -> Result<Kernel, ServerError> {
        // CubeCL numbers the temporaries of a text by one counter for the whole process.
        static NUMBERING: Mutex<()> = Mutex::new(());
        let properties = &self.utilities.properties;
        if !L::speaks(self.device.target) {
            return Err(failed(TextError::NoText {
                kernel: task.name().to_owned(),
                reason: format!(
                    "{} is not a target of {}",
                    self.device.target.name(),
                    L::RUNTIME
                ),
            }));
        }
        validate_cube_dim(properties, id)?;
        validate_units(properties, id)?;
        let alone = NUMBERING.lock().unwrap_or_else(PoisonError::into_inner);
        let options = L::options(&self.device);
        let compiled = task
            .compile(&mut Default::default(), &options, mode, task.address_type())
            .map_err(LaunchError::from)?;
        drop(alone);
        let shared_memory_bytes = compiled.repr.map_or(0, |repr| repr.shared_memory_size());
        if shared_memory_bytes > properties.hardware.max_shared_memory_size {
            return Err(failed(TextError::Launch {
                kernel: compiled.entrypoint_name,
                reason: format!(
                    "{shared_memory_bytes} bytes of shared memory; the device has {}",
                    properties.hardware.max_shared_memory_size
                ),
            }));
        }
        let dim = compiled.cube_dim;
        Ok(Kernel {
            name: compiled.entrypoint_name,
            text: compiled.source,
            cube_dim: [dim.x, dim.y, dim.z],
            shared_memory_bytes,
            loaded: None,
        })
    }

    fn cube_count(&mut self, count: CubeCount) -> Result<[u32; 3], ServerError> {
        match count {
            CubeCount::Static(x, y, z) => Ok([x, y, z]),
            CubeCount::Dynamic(_) if self.records() => Ok([0; 3]),
            CubeCount::Dynamic(binding) => {
                let bytes = self.memory.bytes(&binding)?;
                let mut counts = [0; 3];
                for (count, bytes) in counts.iter_mut().zip(bytes.as_chunks::<4>().0) {
                    *count = u32::from_ne_bytes(*bytes);
                }
                Ok(counts)
            }
        }
    }
}

/// The buffers of a launch, then its scalars and lengths. CUDA's texts take the part of them from `apart` on, if there is one,
/// as a buffer before the rest.
fn argument_list(
    memory: &mut HostMemory,
    buffers: &[Binding],
    info: &mut [u64],
    apart: Option<usize>,
) -> Result<Vec<Argument>, ServerError> {
    let mut list = Vec::with_capacity(buffers.len() + 1);
    for binding in buffers {
        let bytes = memory.bytes(binding)?;
        list.push(Argument {
            address: bytes.as_mut_ptr(),
            bytes: bytes.len(),
        });
    }
    if let Some(shapes) = apart.and_then(|first| info.get_mut(first..))
        && !shapes.is_empty()
    {
        list.push(Argument {
            address: shapes.as_mut_ptr().cast(),
            bytes: size_of_val(shapes),
        });
    }
    if !info.is_empty() {
        list.push(Argument {
            address: info.as_mut_ptr().cast(),
            bytes: size_of_val(info),
        });
    }
    Ok(list)
}

fn failed(error: TextError) -> ServerError {
    ServerError::Launch(LaunchError::Unknown {
        reason: error.to_string(),
        backtrace: BackTrace::capture(),
    })
}

/// A panic of CubeCL's compiler as an error.
pub fn panicked(kernel: &str, panic: &(dyn Any + Send)) -> ServerError {
    let words = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    failed(TextError::NoText {
        kernel: kernel.to_owned(),
        reason: words.unwrap_or("CubeCL's compiler gave up").to_owned(),
    })
}
