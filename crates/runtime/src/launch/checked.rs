//! Launches for the checker, if the platform has one ([`crate::checker`]).

use super::range::{GroupRules, RangeInput, settle};
use super::submit::run_here;
use crate::checker::{AddressedMemory, CheckedLaunch, CheckedMemory, DeviceRun, RefusedAccess, Uses};
use crate::graph::execute::Progress;
use crate::graph::packed::Packed;
use crate::host_mem::HostPtr;
use crate::memory::residency::AccessMode;
use crate::objects::program::ProgramOrigin;
use crate::objects::space::Space;
use crate::status::bail;
use crate::{CommandType, Event, Kernel, MemFlags, MemObject, Queue, Result};
use cloom_compiler::BoundsChecks;
use cloom_ir::abi::report::{self, Record};
use cloom_ir::{AccessedObject, CheckedAccess, abi};
use std::sync::Arc;

/// A memory object that is an argument.
pub(crate) struct ArgMemory {
    pub object: Arc<MemObject>,
    /// The memory space of the queue's device.
    pub space: Space,
    pub is_read_only: bool,
}

impl CheckedMemory for ArgMemory {
    fn id(&self) -> usize {
        Arc::as_ptr(&self.object).addr()
    }

    fn storage(&self) -> usize {
        self.object.storage()
    }

    fn range(&self) -> (u64, u64) {
        (self.object.origin(), self.object.size())
    }

    fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    fn is_write_only(&self) -> bool {
        self.object.flags().contains(MemFlags::WRITE_ONLY)
    }

    fn read(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.object.size() as usize];
        let to = HostPtr::of_slice_mut(&mut bytes);
        self.object.read(0, self.object.size(), to, 0)?;
        Ok(bytes)
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let size = bytes.len() as u64;
        self.object.check_range(offset, size)?;
        let (memory, at) = self.object.acquire(self.space, offset, size, AccessMode::Overwrite)?;
        Ok(memory.write(at, bytes)?)
    }

    fn descriptor(&self, elements: u64) -> Result<[u8; abi::image::SIZE]> {
        Ok(self.object.image()?.descriptor(elements, 0))
    }
}

impl Queue {
    /// Enqueues a launch for the checker, if the platform has one that takes it. Not inlined: its frame is large, and
    /// launches run on small stacks.
    #[cold]
    #[inline(never)]
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
        // The checker runs it when the command begins.
        let work = Box::new(|| Ok(Progress::Done));
        Some(self.enqueue_using(kind, wait, false, Some(Box::new(Uses::Launch(Arc::new(launch)))), work))
    }

    /// The launch; `None` for an empty range.
    fn checked(self: &Arc<Queue>, kernel: &Kernel, input: &RangeInput) -> Result<Option<CheckedLaunch>> {
        kernel.check_args()?;
        let rules = GroupRules::of(kernel.meta(), self.device());
        let Some(range) = settle(input, &rules, [0, 1, 2])? else { return Ok(None) };
        let program = kernel.program();
        let devices = program.devices();
        let device = devices.iter().position(|d| Arc::ptr_eq(d, self.device()));
        let Some(unit) = device.and_then(|d| program.unit(d)) else {
            bail!(InvalidProgramExecutable, "the program is not built for the device");
        };
        let (source, origin) = match program.origin() {
            ProgramOrigin::Source(text) => (Some(text.clone()), "program"),
            ProgramOrigin::Il(_) => (None, "module"),
            ProgramOrigin::Binary => (None, "binary"),
            ProgramOrigin::Linked => (None, "linked program"),
        };
        let args = kernel.checked_args(self.space())?;
        let variables = kernel.code_for_launch(self.device())?.variables().cloned();
        Ok(Some(CheckedLaunch {
            program: unit,
            source,
            origin,
            kernel: kernel.name().to_owned(),
            meta: kernel.meta().clone(),
            range,
            args,
            shared: self.context().clone(),
            variables: variables.map(AddressedMemory::new),
            device_name: self.device().info().name.clone(),
            device: Box::new(LaunchOnDevice { queue: self.clone(), kernel: kernel.duplicate(), input: *input }),
        }))
    }
}

/// A launch that its device can run.
struct LaunchOnDevice {
    queue: Arc<Queue>,
    /// With its arguments.
    kernel: Arc<Kernel>,
    input: RangeInput,
}

impl DeviceRun for LaunchOnDevice {
    fn run(&self, complete: bool) -> Result<Option<Vec<RefusedAccess>>> {
        // Made here: few launches are run so where the interpreter is the checker, and code would be compiled for all.
        let kernel = self.kernel.with_checks(BoundsChecks::Reported)?;
        let (code, range) = self.queue.settled(&kernel, &self.input)?;
        let Some(range) = range else { return Ok(Some(Vec::new())) };
        let loaded = code.loaded_for(&range)?;
        let checked = &loaded.artifact().checked;
        if complete && checked.iter().any(|access| access.object == AccessedObject::Foreign) {
            return Ok(None);
        }
        let mut packed = Packed { reports: code.take_reports(), ..Packed::default() };
        self.queue.pack(&kernel, &*loaded, &range, &mut packed)?;
        run_here(self.queue.device(), &*loaded, range, &packed, 0)?;
        let Some(memory) = packed.reports.take().filter(|_| !checked.is_empty()) else { return Ok(Some(Vec::new())) };
        let mut bytes = vec![0; checked.len() * report::SIZE as usize];
        memory.read(0, &mut bytes)?;
        let records = bytes.chunks_exact(report::SIZE as usize).map(Record::read);
        let refused = |(access, record): (&CheckedAccess, Option<Record>)| {
            Some(RefusedAccess { access: access.clone(), record: record? })
        };
        let refused: Vec<RefusedAccess> = checked.iter().zip(records).filter_map(refused).collect();
        if refused.is_empty() {
            code.keep_reports(memory);
        }
        Ok(Some(refused))
    }
}
