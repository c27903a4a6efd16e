//! A compiled text in this process.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Mutex, PoisonError};

use libloading::Library;

use super::compiler::{Object, host_compiler};
use super::error::TextError;

/// The arguments of one launch, as `run.cpp` has them.
#[repr(C)]
struct Launch {
    cube_count: [u32; 3],
    cube_dim: [u32; 3],
    plane_size: u32,
    shared_bytes: u32,
    arguments: *const *mut c_void,
    argument_bytes: *const u64,
    argument_count: u32,
    message: *mut c_char,
    message_bytes: u64,
}

type Run = unsafe extern "C" fn(*const Launch) -> c_int;

/// What a launch is besides its arguments.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    pub cube_count: [u32; 3],
    pub cube_dim: [u32; 3],
    pub plane_size: u32,
    pub shared_bytes: usize,
}

/// A buffer that a kernel is given: where it begins, and its length.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    pub address: *mut u8,
    pub bytes: usize,
}

/// A kernel that can be run.
#[derive(Debug)]
pub struct LoadedKernel {
    kernel: String,
    object: Object,
    // One run at a time: the object holds the state of its run.
    library: Mutex<Library>,
}

impl LoadedKernel {
    pub fn new(text: &str, kernel: &str, ending: &str) -> Result<Self, TextError> {
        let object = host_compiler()?.object(text, kernel, ending)?;
        #[allow(unsafe_code, reason = "a compiled text is run by loading it")]
        // SAFETY: the object was compiled from `run.cpp` and a kernel's text, in a folder that only this user can write
        // to. Neither has code that runs on loading, but for an empty hook.
        let library = unsafe { Library::new(&object.path) };
        let library = library.map_err(TextError::file("load", &object.path))?;
        Ok(LoadedKernel {
            kernel: kernel.to_owned(),
            object,
            library: Mutex::new(library),
        })
    }

    /// Runs every cube of the grid. The arguments are the caller's buffers, which nobody else uses meanwhile.
    pub fn run(&self, grid: Grid, arguments: &[Argument]) -> Result<(), TextError> {
        if arguments.len() != self.object.arguments {
            return Err(TextError::Launch {
                kernel: self.kernel.clone(),
                reason: format!(
                    "its text has {} arguments, the launch gives {}",
                    self.object.arguments,
                    arguments.len()
                ),
            });
        }
        let addresses: Vec<*mut c_void> = arguments.iter().map(|a| a.address.cast()).collect();
        let bytes: Vec<u64> = arguments.iter().map(|a| a.bytes as u64).collect();
        let mut message = [0 as c_char; 512];
        let launch = Launch {
            cube_count: grid.cube_count,
            cube_dim: grid.cube_dim,
            plane_size: grid.plane_size,
            shared_bytes: u32::try_from(grid.shared_bytes).unwrap_or(u32::MAX),
            arguments: addresses.as_ptr(),
            argument_bytes: bytes.as_ptr(),
            argument_count: addresses.len() as u32,
            message: message.as_mut_ptr(),
            message_bytes: message.len() as u64,
        };
        let library = self.library.lock().unwrap_or_else(PoisonError::into_inner);
        #[allow(unsafe_code, reason = "a compiled text is run by calling it")]
        // SAFETY: `ssb_run` has this type and takes this structure (`run.cpp`); the structure and all it points to live until
        // it returns. The text's accesses to memory are checked against the lengths given here before they happen. The
        // message ends with a zero within its array.
        let (status, message) = unsafe {
            let run = library
                .get::<Run>(b"ssb_run")
                .map_err(TextError::file("call", &self.object.path))?;
            (run(&launch), CStr::from_ptr(message.as_ptr()))
        };
        if status == 0 {
            return Ok(());
        }
        Err(TextError::Run {
            kernel: self.kernel.clone(),
            message: message.to_string_lossy().into_owned(),
        })
    }
}
