//! A buffer on a device that knows its length.

use std::marker::PhantomData;

use cubecl::prelude::*;
use cubecl::server::Handle;
use ssb_core::Error;

use super::Faults;

/// From this size on a buffer is allocated by itself. CubeCL cuts smaller ones from shared pages; large
/// ones would take a page of up to four times their size, which no plan could count on.
const ALONE_FROM_BYTES: usize = 1 << 20;

/// Elements on a device, handed to kernels with their true length.
#[derive(Debug)]
pub struct DeviceArray<E> {
    handle: Handle,
    len: usize,
    element: PhantomData<fn() -> E>,
}

impl<E> Clone for DeviceArray<E> {
    /// The same memory.
    fn clone(&self) -> Self {
        Self {
            handle: self.handle.clone(),
            ..*self
        }
    }
}

impl<E: CubeElement> DeviceArray<E> {
    /// Memory with no defined content.
    #[must_use]
    pub fn reserved<R: Runtime>(client: &ComputeClient<R>, len: usize) -> Self {
        let bytes = len * size_of::<E>();
        Self::new(len, allocated(client, bytes, || client.empty(bytes)))
    }

    /// A copy of host values.
    #[must_use]
    pub fn uploaded<R: Runtime>(client: &ComputeClient<R>, values: &[E]) -> Self {
        let bytes = E::as_bytes(values);
        let copy = || client.create_from_slice(bytes);
        Self::new(values.len(), allocated(client, bytes.len(), copy))
    }

    fn new(len: usize, handle: Handle) -> Self {
        Self {
            handle,
            len,
            element: PhantomData,
        }
    }

    /// Elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The argument of a kernel that takes an array of `E`.
    #[must_use]
    pub fn arg<R: Runtime>(&self) -> ArrayArg<R> {
        self.vectors(1)
    }

    /// The argument of a kernel that takes an array of vectors of `width` elements; a last part of
    /// a vector is left out.
    #[must_use]
    #[allow(unsafe_code, reason = "CubeCL takes handle and length apart")]
    pub fn vectors<R: Runtime>(&self, width: usize) -> ArrayArg<R> {
        // CubeCL counts elements here, of whatever width.
        let len = self.len - self.len % width;
        // SAFETY: `self.len` elements were allocated for this handle and neither ever changes.
        unsafe { ArrayArg::from_raw_parts(self.handle.clone(), len) }
    }

    /// The values, once the work that fills them is done.
    ///
    /// # Errors
    /// [`Error::Internal`] when something on the device failed.
    pub fn read<R: Runtime>(
        &self,
        client: &ComputeClient<R>,
        faults: &Faults,
    ) -> Result<Vec<E>, Error> {
        let bytes = faults.read(client, self.handle.clone())?;
        Ok(E::from_bytes(&bytes).to_vec())
    }
}

fn allocated<R: Runtime>(
    client: &ComputeClient<R>,
    bytes: usize,
    allocate: impl Fn() -> Handle + Send + Sync,
) -> Handle {
    if bytes < ALONE_FROM_BYTES {
        return allocate();
    }
    match client.memory_persistent_allocation((), |()| allocate()) {
        Ok(handle) => handle,
        Err(_) => allocate(),
    }
}
