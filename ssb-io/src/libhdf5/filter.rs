//! This crate's decoders as filters of the HDF5 library.
#![allow(unsafe_code)] // The library calls filters through C pointers and wants its own allocator.

use std::ffi::{c_uint, c_void};
use std::panic::catch_unwind;
use std::slice;
use std::sync::Once;

use hdf5_reader::messages::filter_pipeline::FilterDescription;
use hdf5_sys::h5::{H5allocate_memory, H5free_memory};
use hdf5_sys::h5z::{H5Z_CLASS_T_VERS, H5Z_FLAG_REVERSE, H5Z_class2_t, H5Zregister};

use crate::codec::{Pipeline, Scratch};

/// The largest chunk that is decoded.
const MAX_CHUNK: u64 = 1 << 31;

/// Registers the filters once.
pub(super) fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // The library is initialised by any call through the wrapper.
        let _ = hdf5::library_version();
        one::<32000>();
        one::<32001>();
        one::<32004>();
        one::<32008>();
        one::<32015>();
        one::<32026>();
    });
}

fn one<const ID: i32>() {
    let class = H5Z_class2_t {
        version: H5Z_CLASS_T_VERS as i32,
        id: ID,
        encoder_present: 0,
        decoder_present: 1,
        name: c"ssb".as_ptr(),
        can_apply: None,
        set_local: None,
        filter: Some(decode::<ID>),
    };
    // SAFETY: the class is complete and lives through the call, which copies it.
    hdf5::sync::sync(|| unsafe {
        H5Zregister((&raw const class).cast());
    });
}

/// The size of the decoded chunk: in the stream's own header, else in the filter's values.
fn decoded_len(id: i32, values: &[c_uint], input: &[u8]) -> Option<usize> {
    let value = |i: usize| values.get(i).map(|v| u64::from(*v));
    let head = || Some(u64::from_be_bytes(*input.first_chunk::<8>()?));
    let len = match id {
        32000 => value(2)?,
        32001 => u64::from(u32::from_le_bytes(*input.get(4..)?.first_chunk::<4>()?)),
        32004 => head()?,
        32008 if value(4).unwrap_or(0) == 0 => input.len() as u64,
        32008 => head()?,
        32015 => zstd::bulk::Decompressor::upper_bound(input)? as u64,
        32026 => value(3)?,
        _ => return None,
    };
    (len <= MAX_CHUNK).then_some(len as usize)
}

fn decoded(id: i32, values: &[c_uint], input: &[u8]) -> Option<Vec<u8>> {
    let len = decoded_len(id, values, input)?;
    let description = FilterDescription {
        id: u16::try_from(id).ok()?,
        name: None,
        client_data: values.to_vec(),
    };
    let pipeline = Pipeline::new(&[description], 1).ok()?;
    let mut scratch = Scratch::default();
    scratch.raw.extend_from_slice(input);
    pipeline.decode(&mut scratch, 0, len).ok()?;
    Some(scratch.chunk)
}

/// The library's filter function: 0 says that the chunk does not decode.
unsafe extern "C" fn decode<const ID: i32>(
    flags: c_uint,
    count: usize,
    values: *const c_uint,
    bytes: usize,
    buffer_bytes: *mut usize,
    buffer: *mut *mut c_void,
) -> usize {
    if flags & H5Z_FLAG_REVERSE == 0 || buffer.is_null() || buffer_bytes.is_null() {
        return 0;
    }
    // SAFETY: the library passes `bytes` readable bytes and `count` values.
    let (input, values) = unsafe {
        let input = slice::from_raw_parts((*buffer).cast::<u8>(), bytes);
        let values = match count {
            0 => &[],
            _ => slice::from_raw_parts(values, count),
        };
        (input, values)
    };
    let Ok(Some(out)) = catch_unwind(|| decoded(ID, values, input)) else {
        return 0;
    };
    // SAFETY: the buffer is the library's own and is replaced by one of its own, as filters must.
    unsafe {
        let fresh = H5allocate_memory(out.len(), 0);
        if fresh.is_null() {
            return 0;
        }
        std::ptr::copy_nonoverlapping(out.as_ptr(), fresh.cast::<u8>(), out.len());
        H5free_memory(*buffer);
        *buffer = fresh;
        *buffer_bytes = out.len();
    }
    out.len()
}
