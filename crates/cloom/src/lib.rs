//! OpenCL C kernels from Rust: compile them, run them on the CPU and on NVIDIA GPUs, look at the results. There is no
//! ICD loader and no C interface, and for the CPU no driver to install.
//!
//! In come kernel source and slices; out come slices, events with times, and diagnostics as data. The implementation is
//! that of `libcloom.so`, without its C interface: the same compiler, scheduler, disk cache and environment variables.
//!
//! ```
//! use cloom::{Context, Range};
//!
//! # fn main() -> Result<(), cloom::Error> {
//! let context = Context::new()?;
//! let program = context.build("kernel void saxpy(global float *y, global const float *x, float a) {
//!     size_t i = get_global_id(0);
//!     y[i] += a * x[i];
//! }")?;
//! let saxpy = program.kernel("saxpy")?;
//! let x = context.buffer_from(&[1.0f32, 2.0, 3.0])?;
//! let y = context.buffer_from(&[10.0f32, 20.0, 30.0])?;
//! // SAFETY: the kernel stays inside its buffers: both have as many elements as the launch has work-items.
//! unsafe { saxpy.launch(Range::new([3]), (&y, &x, 2.0f32))? };
//! assert_eq!(y.to_vec()?, [12.0, 24.0, 36.0]);
//! # Ok(())
//! # }
//! ```
//!
//! | object | what for |
//! |---|---|
//! | [`Device`] | the CPU and the GPUs of this machine, [`Device::all`] |
//! | [`Context`] | devices that share objects, with a queue on the first of them |
//! | [`Queue`] | further queues, on any device of the context, with times or without an order |
//! | [`Program`], [`Kernel`] | OpenCL C, SPIR-V or a binary; a function of it |
//! | [`Buffer`], [`Image`], [`Sampler`], [`Local`] | arguments of kernels, beside numbers, vectors and structures |
//! | [`SvmBuffer`] | memory that host and kernels use under one address, with pointers in it |
//! | [`Event`] | when a launch has ended, how, and how long it took |
//!
//! Commands of a [`Context`] run in order and asynchronously: [`Kernel::launch`] returns an [`Event`] at once, and
//! reading a buffer waits for what was launched before. A launch is `unsafe`, as a call of any foreign function is: a
//! kernel is compiled code that can write wherever its pointers lead. [`Kernel::checked`] is for kernels that nobody
//! vouches for: its accesses are checked, and its launches are safe. Everything else is checked, and an [`Error`] says
//! what to do.

#![warn(missing_debug_implementations)]

mod args;
mod buffer;
mod context;
mod device;
mod error;
mod event;
mod image;
mod kernel;
mod options;
mod platform;
mod program;
mod queue;
mod shared;
mod svm;

pub use args::{Arg, Args, Local};
pub use buffer::Buffer;
pub use bytemuck::Pod;
pub use cloom_runtime::Location;
pub use context::Context;
pub use device::{Device, DeviceInfo, DeviceKind, SvmSupport};
pub use error::{BuildError, Diagnostic, Error, Status};
pub use event::{Event, Times};
pub use image::{Addressing, Image, ImageFormat, Sampler, SamplerOptions, channel, order};
pub use kernel::{CheckedKernel, Kernel, Range};
pub use options::{Options, Printer};
pub use program::Program;
pub use queue::{Queue, QueueOptions};
pub use svm::{SvmBuffer, SvmMap, SvmMapMut, SvmOptions};

// The README has a program with it.
#[cfg(doctest)]
use opencl3 as _;

/// The code in the README compiles, and what needs no driver runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
