//! The part of the CUDA driver's interface that Cloom uses: types, [constants] and the lists of
//! [functions](functions!). Nothing is loaded or called here.
//!
//! The library that calls the driver, the program that measures it and the simulated driver share this one
//! declaration, so that caller and callee cannot differ. A test compares all of it with the declarations that `bindgen`
//! made of NVIDIA's header (`cudarc::driver::sys`): layouts by offset, constants by value, functions by what each
//! argument is passed as ([`signature`]).

#![allow(unsafe_code, reason = "handles of the driver may go to other threads")]

pub mod constants;
mod functions;
#[cfg(test)]
mod headers;
pub mod signature;
mod structs;

pub use structs::*;

use std::ffi::{c_int, c_uint, c_void};

/// What each function returns: `CUresult`.
pub type Code = c_uint;
/// A device's number in the driver: `CUdevice`.
pub type RawDevice = c_int;
/// An address in device memory: `CUdeviceptr`.
pub type Address = u64;

/// Declares a type of handles of the driver.
macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(transparent)]
        pub struct $name(pub *mut c_void);

        // SAFETY: the driver's functions take its handles on any thread.
        unsafe impl Send for $name {}
        // SAFETY: a shared handle is a number that nobody writes; the driver's functions lock what it stands for.
        unsafe impl Sync for $name {}

        impl $name {
            /// No object.
            pub const NULL: $name = $name(std::ptr::null_mut());
        }

        impl signature::Passed for $name {
            const KIND: signature::Kind = <*mut c_void as signature::Passed>::KIND;
        }
    )*};
}

handles! {
    /// A context: `CUcontext`.
    RawContext
    /// A stream: `CUstream`.
    RawStream
    /// An event: `CUevent`.
    RawEvent
    /// A loaded module: `CUmodule`.
    RawModule
    /// A function of a module: `CUfunction`.
    RawFunction
    /// A linker that makes device code: `CUlinkState`.
    RawLink
    /// A pool of memory: `CUmemoryPool`.
    RawPool
    /// A graph: `CUgraph`.
    RawGraph
    /// A graph that can be launched: `CUgraphExec`.
    RawGraphExec
    /// A node of a graph: `CUgraphNode`.
    RawGraphNode
}
