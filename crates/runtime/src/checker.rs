//! Checking launches: what a checker is told, and what it is asked for.
//!
//! A checker, which the platform is made with ([`Hooks::checker`](crate::Hooks)), runs launches in place of their
//! devices and reports what is wrong with them. The runtime knows nothing of checks: it says what is launched, gives
//! the bytes of memory objects, and takes them back.

use crate::{Error, Result};
use cloom_compiler::Program;
use cloom_hal::NdRange;
use cloom_ir::{KernelMeta, abi};
use std::sync::Arc;

/// Checks launches and hears of failures.
pub trait LaunchChecker: Send + Sync {
    /// Whether it can check a launch. Its device runs it otherwise.
    fn accepts(&self, launch: &CheckedLaunch) -> bool;
    /// Runs a launch.
    fn run(&self, launch: &CheckedLaunch, print: &dyn Fn(&[u8]));
    /// A call was refused, or a command failed.
    fn failed(&self, call: &str, error: &Error);
    /// The process ends, or nothing more will be launched.
    fn end(&self);
    /// Options that programs are built with, in addition to those of the application.
    fn build_options(&self) -> &str;
}

/// A launch of a kernel.
pub struct CheckedLaunch {
    /// The program, as it was built for the device.
    pub program: Arc<Program>,
    /// The source, if the program came as one.
    pub source: Option<Vec<u8>>,
    /// The kernel.
    pub kernel: String,
    /// Its parameters.
    pub meta: KernelMeta,
    /// The range.
    pub range: NdRange,
    /// The values of the parameters.
    pub args: Vec<CheckedArg>,
    /// The name of the device.
    pub device: String,
}

/// The value of a parameter.
pub enum CheckedArg {
    /// The bytes of a value or of a sampler.
    Bytes(Vec<u8>),
    /// So many bytes of local memory.
    Local(u64),
    /// The null pointer.
    Null,
    /// A buffer.
    Buffer(Box<dyn CheckedMemory>),
    /// An image.
    Image(Box<dyn CheckedMemory>),
    /// Shared memory at this address.
    Address(u64),
}

/// A memory object that is an argument.
pub trait CheckedMemory: Send + Sync {
    /// A number for the memory that sub-buffers share with their buffer.
    fn storage(&self) -> usize;
    /// Where the object begins in that memory, and its size.
    fn range(&self) -> (u64, u64);
    /// Whether kernels may only read it.
    fn is_read_only(&self) -> bool;
    /// Its bytes.
    fn read(&self) -> Result<Vec<u8>>;
    /// Replaces bytes from an offset on.
    fn write(&self, offset: u64, bytes: &[u8]) -> Result<()>;
    /// What kernels know of an image whose elements are at an address.
    fn descriptor(&self, elements: u64) -> Result<[u8; abi::image::SIZE]>;
}
