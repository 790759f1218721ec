//! Checking launches: what a checker is told, and what it is asked for.
//!
//! A checker, which the platform is made with ([`Hooks::checker`](crate::Hooks)), runs launches in place of their
//! devices and reports what is wrong with them. The runtime knows nothing of checks: it says what is enqueued and when
//! that runs, gives the bytes of memory objects, and takes them back. Calls come on the thread that calls the
//! interface, except for `begins` and `ended`.

use crate::command_type::CommandType;
use crate::{Error, Result};
use cloom_compiler::Program;
use cloom_hal::{Memory, NdRange, Rect};
use cloom_ir::abi::report::Record;
use cloom_ir::{CheckedAccess, KernelMeta, abi};
use std::ops::Range;
use std::sync::Arc;

/// Checks launches and hears of failures.
pub trait LaunchChecker: Send + Sync {
    /// Whether it can check a launch. Its device runs it otherwise.
    fn accepts(&self, launch: &CheckedLaunch) -> bool;
    /// A command is enqueued.
    fn enqueued(&self, command: EnqueuedCommand);
    /// A command begins on this thread. A launch runs now.
    fn begins(&self, command: u64, print: &dyn Fn(&[u8]));
    /// It has ended, and its event has not. If what it waits for failed, it has not run.
    fn ended(&self, command: u64, has_run: bool);
    /// The application is about to learn that commands have ended: it waits for them, or is told.
    fn waits(&self, commands: Awaited<'_>);
    /// A call was refused, or a command failed.
    fn failed(&self, call: &str, error: &Error);
    /// The application has made an object.
    fn created(&self, object: NewObject);
    /// The application has given up its last reference to an object.
    fn released(&self, object: usize);
    /// Shared virtual memory is freed, which was at this address. Called before the memory can become another's.
    fn freed(&self, address: u64, size: u64);
    /// The process ends, or nothing more will be launched.
    fn end(&self);
    /// A signal ends the process, whatever it does now.
    fn interrupted(&self);
    /// Options that programs are built with, in addition to those of the application.
    fn build_options(&self) -> &str;
}

/// An object that the application has made, and has to release.
pub struct NewObject {
    /// A number that no other object has at the same time. That of shared virtual memory is its address.
    pub id: usize,
    /// What it is, with an article.
    pub what: &'static str,
    /// The size of its memory.
    pub bytes: u64,
    /// The memory of a memory object that is no part of another one,
    pub storage: Option<usize>,
    /// and whether it has content.
    pub has_data: bool,
}

/// A command that is enqueued.
pub struct EnqueuedCommand {
    /// Its number, and that of its event: later commands have greater ones.
    pub id: u64,
    /// What it does.
    pub kind: CommandType,
    /// The number of its queue, and whether that runs its commands in order.
    pub queue: u64,
    /// Whether the queue runs its commands in order.
    pub in_order: bool,
    /// The events that it waits for.
    pub wait: Vec<AwaitedEvent>,
    /// Whether the call waits for it.
    pub blocking: bool,
    /// What it uses, if it says so.
    pub uses: Option<Box<Uses>>,
}

/// An event of a wait list.
#[derive(Clone, Copy, Debug)]
pub struct AwaitedEvent {
    /// Its number; a command's event has the command's.
    pub id: u64,
    /// Whether the application ends it later.
    pub is_open: bool,
}

/// Commands that the application learns to have ended.
#[derive(Clone, Copy, Debug)]
pub enum Awaited<'a> {
    /// Those of these events, by their numbers.
    Events(&'a [u64]),
    /// All of a queue.
    Queue(u64),
}

/// What a command uses.
pub enum Uses {
    /// What a kernel uses, which the checker accepts.
    Launch(Arc<CheckedLaunch>),
    /// Memory that is known when the command is enqueued.
    Memory(Vec<MemoryUse>),
    /// A region that is mapped.
    Map(MappedRegion),
    /// The address at which the mapping of a memory object ends.
    Unmap {
        /// The object.
        object: usize,
        /// The address.
        address: usize,
    },
}

/// Bytes that a command reads or writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryUse {
    /// Which memory.
    pub memory: UsedMemory,
    /// The bytes, in the coordinates of that memory. They are disjoint and ascending.
    pub ranges: Vec<Range<u64>>,
    /// Whether it writes them.
    pub writes: bool,
}

/// Memory that commands use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum UsedMemory {
    /// The host's, shared memory included, by its addresses.
    Host,
    /// That of a memory object; parts of an object share its number.
    Object(usize),
}

impl MemoryUse {
    /// Bytes of the host.
    pub(crate) fn host(address: usize, size: u64, writes: bool) -> MemoryUse {
        let range = address as u64..address as u64 + size;
        MemoryUse { memory: UsedMemory::Host, ranges: vec![range], writes }
    }

    /// A box of bytes, row by row.
    pub(crate) fn rect(memory: UsedMemory, shift: u64, rect: &Rect, writes: bool) -> MemoryUse {
        let row = |at: u64| at + shift..at + shift + rect.region[0];
        let mut ranges: Vec<Range<u64>> = rect.rows().map(row).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        MemoryUse { memory, ranges, writes }
    }
}

/// A region of a memory object that is mapped.
#[derive(Clone, Debug)]
pub struct MappedRegion {
    /// The object.
    pub object: usize,
    /// Its memory.
    pub storage: usize,
    /// The bytes in it. The mapped box of an image may leave out some of them.
    pub range: Range<u64>,
    /// Whether it is an image's.
    pub is_image: bool,
    /// Where the application finds it.
    pub address: usize,
    /// Whether the application may write it.
    pub writes: bool,
}

/// A launch of a kernel.
pub struct CheckedLaunch {
    /// The program, as it was built for the device.
    pub program: Arc<Program>,
    /// The source, if the program came as one.
    pub source: Option<Arc<Vec<u8>>>,
    /// What it came as, in words.
    pub origin: &'static str,
    /// The kernel.
    pub kernel: String,
    /// Its parameters.
    pub meta: KernelMeta,
    /// The range.
    pub range: NdRange,
    /// The values of the parameters.
    pub args: Vec<CheckedArg>,
    /// The shared virtual memory of the context, which kernels may reach.
    pub shared: Arc<dyn SharedMemory>,
    /// The variables of the program, if it has any.
    pub variables: Option<AddressedMemory>,
    /// The name of its device.
    pub device_name: String,
    /// The device, which can run it with checked accesses.
    pub device: Box<dyn DeviceRun>,
}

/// A launch as its device runs it, in code that checks accesses.
pub trait DeviceRun: Send + Sync {
    /// Runs it. Accesses outside of memory objects do not happen, and are returned: of each place in the source one.
    /// On CPUs it fails if it does not end in time.
    ///
    /// Accesses through pointers from memory, or from integers, do not happen either, and nothing more can be said of
    /// them. If there are any and the report is to be `complete`, it does not run, and gives `None`.
    fn run(&self, complete: bool) -> Result<Option<Vec<RefusedAccess>>>;
}

/// An access that did not happen.
pub struct RefusedAccess {
    /// Which.
    pub access: CheckedAccess,
    /// Of which work-item, and where.
    pub record: Record,
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

/// The shared virtual memory of a context.
pub trait SharedMemory: Send + Sync {
    /// The allocations that exist now.
    fn allocations(&self) -> Vec<AddressedMemory>;
    /// Whether an address lies in one of them.
    fn holds(&self, address: u64) -> bool;
}

/// Memory that kernels reach by its address: shared virtual memory, or the variables of a program.
#[derive(Clone)]
pub struct AddressedMemory(Arc<dyn Memory>);

impl AddressedMemory {
    pub(crate) fn new(memory: Arc<dyn Memory>) -> AddressedMemory {
        AddressedMemory(memory)
    }

    /// Its address, for kernels.
    pub fn address(&self) -> u64 {
        self.0.device_address()
    }

    /// Bytes.
    pub fn size(&self) -> u64 {
        self.0.size()
    }

    /// Its bytes.
    pub fn read(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.size() as usize];
        self.0.read(0, &mut bytes)?;
        Ok(bytes)
    }

    /// Replaces bytes from an offset on.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        Ok(self.0.write(offset, bytes)?)
    }
}

/// A memory object that is an argument.
pub trait CheckedMemory: Send + Sync {
    /// The [number](NewObject::id) of the object.
    fn id(&self) -> usize;
    /// A number for the memory that sub-buffers share with their buffer.
    fn storage(&self) -> usize;
    /// Where the object begins in that memory, and its size.
    fn range(&self) -> (u64, u64);
    /// Whether kernels may only read it.
    fn is_read_only(&self) -> bool;
    /// Whether kernels may only write it.
    fn is_write_only(&self) -> bool;
    /// Its bytes.
    fn read(&self) -> Result<Vec<u8>>;
    /// Replaces bytes from an offset on.
    fn write(&self, offset: u64, bytes: &[u8]) -> Result<()>;
    /// What kernels know of an image whose elements are at an address.
    fn descriptor(&self, elements: u64) -> Result<[u8; abi::image::SIZE]>;
}
