//! Launches that are checked: a checker runs them in place of their devices, and reports what is wrong with them.
//!
//! In come a kernel, its arguments and its range, as for any launch; out goes a [`CheckedLaunch`] to the checker that
//! the platform was made with ([`Hooks::checker`](crate::Hooks)). The runtime knows nothing of checks: it says what is
//! launched, gives the bytes of the memory objects, and takes them back.

use super::range::{GroupRules, RangeInput, settle};
use crate::graph::execute::{CommandType, Progress};
use crate::host_mem::HostPtr;
use crate::memory::residency::AccessMode;
use crate::objects::program::ProgramOrigin;
use crate::objects::space::Space;
use crate::status::bail;
use crate::{Error, Event, Kernel, MemObject, Queue, Result};
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
    Buffer(CheckedMemory),
    /// An image.
    Image(CheckedMemory),
    /// Shared memory at this address.
    Address(u64),
}

/// A memory object that is an argument.
pub struct CheckedMemory {
    pub(crate) object: Arc<MemObject>,
    pub(crate) space: Space,
    /// Whether kernels may only read it.
    pub is_read_only: bool,
}

impl CheckedMemory {
    /// A number for the memory that sub-buffers share with their buffer.
    pub fn storage(&self) -> usize {
        Arc::as_ptr(&self.object.residency).addr()
    }

    /// Where the object begins in that memory, and its size.
    pub fn range(&self) -> (u64, u64) {
        (self.object.origin(), self.object.size())
    }

    /// Its bytes.
    pub fn read(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.object.size() as usize];
        let to = HostPtr::of_slice_mut(&mut bytes);
        self.object.read(0, self.object.size(), to, 0)?;
        Ok(bytes)
    }

    /// Replaces bytes from an offset on.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let size = bytes.len() as u64;
        self.object.check_range(offset, size)?;
        let (memory, at) = self.object.acquire(self.space, offset, size, AccessMode::Overwrite)?;
        Ok(memory.write(at, bytes)?)
    }

    /// What kernels know of an image whose elements are at an address.
    pub fn descriptor(&self, elements: u64) -> Result<[u8; abi::image::SIZE]> {
        Ok(self.object.image()?.descriptor(elements, 0))
    }
}

impl Queue {
    /// Enqueues a launch for the checker, if the platform has one that takes it.
    pub(crate) fn launch_checked(
        self: &Arc<Queue>,
        kind: CommandType,
        kernel: &Arc<Kernel>,
        input: &RangeInput,
        wait: &[Arc<Event>],
    ) -> Option<Result<Arc<Event>>> {
        let checker = self.context().engine().hooks.checker.clone()?;
        // What the device refuses is told by the usual way.
        let launch = self.checked(kernel, input).ok()??;
        if !checker.accepts(&launch) {
            return None;
        }
        let engine = self.context().engine().clone();
        let work = Box::new(move || {
            let _float_env = (engine.hooks.enter_float_env)();
            checker.run(&launch, &engine.hooks.print);
            Ok(Progress::Done)
        });
        Some(self.enqueue(kind, wait, false, work))
    }

    /// The launch; `None` for an empty range.
    fn checked(&self, kernel: &Kernel, input: &RangeInput) -> Result<Option<CheckedLaunch>> {
        kernel.check_args()?;
        let rules = GroupRules::of(kernel.meta(), self.device());
        let Some(range) = settle(input, &rules, [0, 1, 2])? else { return Ok(None) };
        let program = kernel.program();
        let devices = program.devices();
        let device = devices.iter().position(|d| Arc::ptr_eq(d, self.device()));
        let Some(unit) = device.and_then(|d| program.unit(d)) else {
            bail!(InvalidProgramExecutable, "the program is not built for the device");
        };
        let source = match program.origin() {
            ProgramOrigin::Source(text) => Some(text.clone()),
            _ => None,
        };
        let args = kernel.checked_args(self.space())?;
        Ok(Some(CheckedLaunch {
            program: unit,
            source,
            kernel: kernel.name().to_owned(),
            meta: kernel.meta().clone(),
            range,
            args,
            device: self.device().info().name.clone(),
        }))
    }
}
