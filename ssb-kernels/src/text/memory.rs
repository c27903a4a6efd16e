//! Device memory on the host: one block per buffer, NaN when fresh.

use std::collections::HashMap;
use std::sync::Arc;

use cubecl::MemoryAllocationMode;
use cubecl::MemoryUsage;
use cubecl::backtrace::BackTrace;
use cubecl::ir::MemoryDeviceProperties;
use cubecl::server::{Binding, CopyDescriptor, IoError};
use cubecl::zspace::{Shape, Strides};
use cubecl_runtime::logging::ServerLogger;
use cubecl_runtime::memory_management::{
    ManagedMemoryHandle, MemoryConfiguration, MemoryManagement, MemoryManagementOptions,
};
use cubecl_runtime::storage::{ComputeStorage, StorageHandle, StorageId, StorageUtilization};

/// Every byte of memory that nothing was written to; as a float it is NaN.
const FRESH: u8 = 0xff;
/// GPUs align buffers at least so.
const ALIGNMENT: usize = 256;
/// Memory of dropped buffers is kept for the next ones up to here.
const KEPT_BYTES: u64 = 256 << 20;

/// A stretch of a block.
#[derive(Clone, Debug)]
pub struct HostRange {
    id: StorageId,
    begin: usize,
    bytes: usize,
}

/// A block, aligned like a GPU's.
struct Block {
    store: Vec<u8>,
    begin: usize,
    bytes: usize,
}

impl Block {
    fn new(bytes: usize) -> Self {
        let store = vec![FRESH; bytes + ALIGNMENT];
        let begin = store.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        Block {
            store,
            begin,
            bytes,
        }
    }

    fn bytes(&mut self) -> &mut [u8] {
        &mut self.store[self.begin..self.begin + self.bytes]
    }
}

/// Blocks by the name that CubeCL's memory management knows them by.
#[derive(Default)]
pub struct HostStorage {
    blocks: HashMap<StorageId, Block>,
}

impl HostStorage {
    fn range(&mut self, range: &HostRange) -> Result<&mut [u8], IoError> {
        let block = self.blocks.get_mut(&range.id);
        let bytes = block.and_then(|b| b.bytes().get_mut(range.begin..range.begin + range.bytes));
        bytes.ok_or_else(|| IoError::NotFound {
            backtrace: BackTrace::capture(),
            reason: "the buffer's memory is gone".into(),
        })
    }
}

impl ComputeStorage for HostStorage {
    type Resource = HostRange;

    fn alignment(&self) -> usize {
        ALIGNMENT
    }

    fn get(&mut self, handle: &StorageHandle) -> HostRange {
        HostRange {
            id: handle.id,
            begin: handle.offset() as usize,
            bytes: handle.size() as usize,
        }
    }

    fn alloc(&mut self, size: u64) -> Result<StorageHandle, IoError> {
        let id = StorageId::new();
        self.blocks.insert(id, Block::new(size as usize));
        Ok(StorageHandle::new(
            id,
            StorageUtilization { offset: 0, size },
        ))
    }

    fn dealloc(&mut self, id: StorageId) {
        self.blocks.remove(&id);
    }

    fn flush(&mut self) {}
}

/// The memory of one device.
#[derive(Debug)]
pub struct HostMemory {
    pool: MemoryManagement<HostStorage>,
}

impl HostMemory {
    pub fn new(properties: &MemoryDeviceProperties, logger: Arc<ServerLogger>) -> Self {
        // The persistent pool gives every buffer a block of its own size.
        let options = MemoryManagementOptions::new("kernel texts on the host")
            .mode(MemoryAllocationMode::Persistent);
        let configuration = MemoryConfiguration::Custom {
            pool_options: Vec::new(),
        };
        HostMemory {
            pool: MemoryManagement::from_configuration(
                HostStorage::default(),
                properties,
                configuration,
                logger,
                options,
            ),
        }
    }

    /// Gives a handle memory, all NaN.
    pub fn allocate(&mut self, handle: ManagedMemoryHandle, bytes: u64) -> Result<(), IoError> {
        let usage = self.pool.memory_usage();
        if usage.bytes_reserved > usage.bytes_in_use + KEPT_BYTES {
            self.pool.cleanup(true);
        }
        let reserved = self.pool.reserve(bytes)?;
        self.pool.bind(reserved, handle.clone(), 0)?;
        let range = self.pool.get_resource(handle.binding(), None, None)?;
        self.pool.storage().range(&range)?.fill(FRESH);
        Ok(())
    }

    pub fn resource(&mut self, binding: &Binding) -> Result<HostRange, IoError> {
        self.pool.get_resource(
            binding.memory.clone(),
            binding.offset_start,
            binding.offset_end,
        )
    }

    pub fn bytes(&mut self, binding: &Binding) -> Result<&mut [u8], IoError> {
        let range = self.resource(binding)?;
        self.pool.storage().range(&range)
    }

    /// The contents in row-major order without padding.
    pub fn read(&mut self, copy: &CopyDescriptor) -> Result<Vec<u8>, IoError> {
        let rows = Rows::new(copy)?;
        let source = self.bytes(&copy.handle)?;
        let mut out = vec![0; rows.count * rows.bytes];
        for row in 0..rows.count {
            let from = source
                .get(row * rows.pitch_bytes..row * rows.pitch_bytes + rows.bytes)
                .ok_or_else(out_of_range)?;
            out[row * rows.bytes..(row + 1) * rows.bytes].copy_from_slice(from);
        }
        Ok(out)
    }

    /// Writes contents that are in row-major order without padding.
    pub fn write(&mut self, copy: &CopyDescriptor, data: &[u8]) -> Result<(), IoError> {
        let rows = Rows::new(copy)?;
        let target = self.bytes(&copy.handle)?;
        for row in 0..rows.count {
            let from = data
                .get(row * rows.bytes..(row + 1) * rows.bytes)
                .ok_or_else(out_of_range)?;
            target
                .get_mut(row * rows.pitch_bytes..row * rows.pitch_bytes + rows.bytes)
                .ok_or_else(out_of_range)?
                .copy_from_slice(from);
        }
        Ok(())
    }

    pub fn usage(&self) -> MemoryUsage {
        self.pool.memory_usage()
    }

    pub fn cleanup(&mut self) {
        self.pool.cleanup(true);
    }
}

fn out_of_range() -> IoError {
    IoError::Unknown {
        description: "the copy does not fit the buffer".into(),
        backtrace: BackTrace::capture(),
    }
}

/// A copy as rows that may be padded at their ends.
struct Rows {
    count: usize,
    bytes: usize,
    pitch_bytes: usize,
}

impl Rows {
    fn new(copy: &CopyDescriptor) -> Result<Self, IoError> {
        let rank = copy.shape.len();
        let last = copy.shape.last().copied().unwrap_or(1);
        let mut padded = contiguous_strides(&copy.shape);
        if rank > 1 {
            let grown = copy.strides[rank - 2];
            for axis in (0..rank - 1).rev() {
                padded[axis] = if axis == rank - 2 {
                    grown
                } else {
                    padded[axis + 1] * copy.shape[axis + 1]
                };
            }
        }
        if padded != copy.strides {
            return Err(IoError::UnsupportedStrides {
                backtrace: BackTrace::capture(),
            });
        }
        let pitch = if rank > 1 { padded[rank - 2] } else { last };
        Ok(Rows {
            count: copy.shape.iter().rev().skip(1).product(),
            bytes: last * copy.elem_size,
            pitch_bytes: pitch * copy.elem_size,
        })
    }
}

/// The strides of a row-major array without padding.
pub fn contiguous_strides(shape: &Shape) -> Strides {
    let mut strides: Vec<usize> = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides.into()
}
