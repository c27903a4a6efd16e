//! CUDA C++ and MSL as text: two runtimes that compile every kernel to the text a GPU would get, and run that very
//! text on the host, or only record it.
//!
//! [`CudaText`] and [`MetalText`] are CubeCL runtimes like any other, so code that is generic over the runtime
//! runs on them unchanged:
//!
//! ```no_run
//! use cubecl::Runtime;
//! use ssb_kernels::text::{CudaText, Target, TextDevice};
//!
//! let client = CudaText::client(&TextDevice::new(Target::Sm90));
//! let buffer = client.create_from_slice(&[0; 64]);
//! assert_eq!(client.read_one(buffer)?.len(), 64);
//! # Ok::<(), cubecl::server::ServerError>(())
//! ```
//!
//! A launch compiles the text with the system's C++ compiler (`$CXX`, `c++`, `g++` or `clang++`) against small headers
//! that stand for the CUDA and Metal libraries (`host/`), loads it, and runs cube after cube, the units of a cube
//! as fibres. What a GPU would do in silence is an error here, returned by the next flush, sync or read:
//!
//! - an access outside of a buffer or of shared memory, before it happens;
//! - a data race: two units access the same word, one of them writes, and no barrier for that memory stands
//!   between (a Metal threadgroup barrier orders threadgroup memory only);
//! - a barrier that not every unit of the cube reaches, or reached at different places of the text;
//! - text that does not compile, and limits of the device that the launch exceeds.
//!
//! Fresh buffers and shared memory hold NaN (every byte 0xFF). What this cannot show: speed, contraction of products and sums
//! to fused ones, fast-math of the target's compiler, Metal's address spaces.
//!
//! [`record()`] gives a device that runs nothing and keeps the texts, for sizes where running makes no sense.

mod compiler;
mod device;
mod error;
mod language;
mod launch;
mod memory;
mod object;
mod record;
mod runtime;
mod server;
mod source;

pub use cubecl::Runtime;
pub use device::{Target, TextDevice};
pub use error::TextError;
pub use record::{RecordedKernel, Recorder, record};
pub use runtime::{CudaText, MetalText};
