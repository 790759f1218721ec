//! Kernels that kernels enqueue: the *family* of one command of the host.
//!
//! In come the calls of running kernels (`cloom_ir::abi::device`), from any thread; the commands that they make run
//! when the kernel that the host enqueued has ended, one after the other on the thread of its command, each on all
//! threads of the device as any launch. The specification allows a child to begin later than its flags say, never
//! earlier, so all three flags are kept. The command of the host ends when its family has ended.
//!
//! ```text
//!    a kernel calls             events of its list are complete         it has run
//!  ─────────────────▶ blocked ──────────────────────────────────▶ ready ────────────▶ gone
//!                        └────────── one of them failed ───────────────────────────────▲
//! ```
//!
//! *Reporting.* A command that has an event reports to its event, which is complete when the command and all that it
//! enqueued have ended; an event reports to the one above it in the same way. A command without an event reports where
//! the kernel that enqueued it reports: nobody can ask about it. So kernels that enqueue each other for ever need no
//! more memory with time, and nothing here recurses: ends and failures go up, and along wait lists, by a work list. A
//! failure makes all fail that wait for it or are above it, in the end the command of the host.
//!
//! *Bounds.* Waiting commands count against the size of their queue, events against `limits::MAX_DEVICE_EVENTS`.
//! Handles of events are numbers that are never used again; a wrong one is found in no table.
//!
//! *Stuck families.* If nothing is ready and commands wait, what they wait for cannot happen any more, as no kernel
//! runs that could set a user event: they fail.

mod calls;

use crate::graph::execute::attempt;
use crate::graph::pending::outcome;
use crate::graph::print::{Printed, Printer};
use crate::objects::blocks::Blocks;
use crate::objects::context::ZeroedMemory;
use crate::status::ensure;
use crate::{Context, Device, Error, KernelCode, Queue, Result, Status, log};
use cloom_artifact::KernelArgKind;
use cloom_hal::lock::Mutex;
use cloom_hal::{self as hal, KernelMemory};
use cloom_ir::abi::BLOCK_ALIGN;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, OnceLock};

/// Where the kernel that the host enqueued reports.
const ROOT: u64 = 0;
/// Bytes of a queue that a command takes, beside what it captures and its sizes.
const COMMAND_BYTES: u32 = 128;
/// The failure of a command whose wait list failed.
const WAIT_FAILED: i32 = Status::ExecStatusErrorForEventsInWaitList.code();

/// The commands that descend from one command of the host.
pub(crate) struct Family {
    context: Arc<Context>,
    device: Arc<Device>,
    blocks: Arc<Blocks>,
    /// The number of the host's queue, for launches.
    queue: u64,
    /// The queues on the device, by their numbers.
    queues: OnceLock<HashMap<u64, Arc<Queue>>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By their numbers.
    events: HashMap<u64, DeviceEvent>,
    /// Commands that wait for events, by their numbers.
    blocked: BTreeMap<u64, Child>,
    ready: VecDeque<Child>,
    next_command: u64,
    /// The first failure.
    failure: Option<Error>,
    /// How to write profiling information.
    memory: Option<&'static dyn KernelMemory>,
}

/// A command.
struct Child {
    /// What is launched; nothing by a marker.
    work: Option<Work>,
    /// Where it reports.
    report: u64,
    /// That is its own event.
    has_event: bool,
    queue: Arc<Queue>,
    bytes: u32,
    /// Events that it waits for.
    blockers: usize,
    /// One of them failed.
    failed: bool,
}

/// A launch.
struct Work {
    code: Arc<KernelCode>,
    range: hal::NdRange,
    /// The argument block, without the places of local memory.
    args: Vec<u8>,
    /// Bytes of local memory for each parameter.
    locals: Vec<u32>,
}

/// An event of kernels.
#[derive(Default)]
struct DeviceEvent {
    /// References that kernels have.
    references: u32,
    is_user: bool,
    /// What has to end before it is complete: its command, and what that enqueued.
    pending: u64,
    /// 0, or the first failure.
    status: i32,
    is_done: bool,
    /// Where it reports.
    above: u64,
    /// Commands that wait for it.
    waiting: Vec<u64>,
    start: u64,
    end: u64,
    complete: u64,
    /// Where profiling information goes.
    captures: Vec<u64>,
}

impl DeviceEvent {
    /// The two durations of `CLK_PROFILING_COMMAND_EXEC_TIME`; what has run took time.
    fn times(&self) -> [u8; 16] {
        let since = |time: u64| time.saturating_sub(self.start).max(1).to_le_bytes();
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&since(self.end));
        bytes[8..].copy_from_slice(&since(self.complete));
        bytes
    }
}

impl Family {
    /// Of a kernel that the host enqueued in the queue of this number.
    pub fn new(context: &Arc<Context>, device: &Device, blocks: &Arc<Blocks>, queue: u64) -> Family {
        let same = |d: &&Arc<Device>| std::ptr::eq(&raw const ***d, device);
        // The counted reference of the same device, which the caller has as a plain one.
        let device = context.devices().iter().find(same).unwrap_or(&context.devices()[0]).clone();
        let (context, blocks) = (context.clone(), blocks.clone());
        Family { context, device, blocks, queue, queues: OnceLock::new(), state: Mutex::default() }
    }

    /// Answers the calls of the kernel that the host enqueued.
    pub fn root(&self) -> Parent<'_> {
        Parent { family: self, report: ROOT }
    }

    /// Runs all that has been enqueued, and what that enqueues.
    pub fn run(&self) -> Result<()> {
        loop {
            // The lock is not held while a child runs: its kernel enqueues and asks for events.
            let next = self.state.lock().ready.pop_front();
            match next {
                Some(child) => self.run_one(child),
                // Its end may have made others ready: the loop goes on.
                None if self.fail_stuck() => {}
                None => break,
            }
        }
        self.state.lock().failure.take().map_or(Ok(()), Err)
    }

    fn run_one(&self, child: Child) {
        // A command takes room while it waits: what its own kernel enqueues may take the room again.
        child.give_room();
        let start = self.now();
        let result = match &child.work {
            Some(work) => attempt(|| self.launch(work, child.report)),
            None => Ok(()),
        };
        let end = self.now();
        let mut state = self.state.lock();
        // Before `finish`, which writes the times where they were asked for.
        if let (true, Some(event)) = (child.has_event, state.events.get_mut(&child.report)) {
            (event.start, event.end) = (start, end);
        }
        let status = result.map_or_else(|error| state.fail(error), |()| 0);
        state.finish(child.report, status, end);
    }

    /// Launches a block, whose kernel reports there.
    fn launch(&self, work: &Work, report: u64) -> Result<()> {
        let loaded = work.code.loaded_now(&work.range)?;
        let artifact = loaded.artifact();
        let mut args = work.args.clone();
        args.resize(artifact.arg_block as usize, 0);
        // The arguments in local memory follow the kernel's own variables, in the order of the parameters.
        let mut local_size = artifact.local_size;
        // Local memory has an offset in the group's memory as its argument, which is known only for the loaded code.
        let locals = artifact.args.iter().filter(|arg| arg.kind == KernelArgKind::Local);
        for (arg, &size) in locals.zip(&work.locals) {
            let begin = local_size.next_multiple_of(u64::from(BLOCK_ALIGN));
            local_size = begin + u64::from(size);
            let place = args.get_mut(arg.offset as usize..).and_then(|bytes| bytes.first_chunk_mut());
            if let Some(place) = place {
                *place = begin.to_le_bytes();
            }
        }
        // Checked here as for a launch of the host: how much the block's code needs is known only once it is loaded.
        let limit = self.device.local_memory();
        ensure!(
            local_size <= limit,
            OutOfResources,
            "a block needs {local_size} bytes of local memory, a group has {limit}"
        );
        let (group, most) = (work.range.local.iter().product::<u64>(), loaded.max_group_size());
        ensure!(group <= most, OutOfResources, "a group of {group} work-items of a block is too large; {most} fit");
        let printer = Printer { device: &self.device, kernel: &*loaded, printed: Printed::default() };
        let parent = Parent { family: self, report };
        let launch = hal::Launch {
            kernel: &*loaded,
            range: work.range,
            args: &args,
            local_size,
            zero_local: self.context.zeroes(ZeroedMemory::LOCAL),
            print: &printer,
            device: Some(&parent),
            // `loaded_now` gives no baseline code, so there is none to replace.
            tier_up: None,
            queue: self.queue,
            timed: false,
        };
        let result = self.device.hal().launch(&launch);
        printer.printed.flush(&self.device, &*loaded);
        outcome(result)
    }

    /// Fails the commands that wait, as nothing is left that they could wait for. False if there are none.
    fn fail_stuck(&self) -> bool {
        let mut state = self.state.lock();
        // Only the oldest one fails: its end may release the others.
        let Some((_, child)) = state.blocked.pop_first() else { return false };
        let why = "a command enqueued on the device waits for an event that never completes";
        let status = state.fail(Error::new(Status::ExecStatusErrorForEventsInWaitList, why));
        child.give_room();
        let now = self.now();
        state.finish(child.report, status, now);
        true
    }

    fn now(&self) -> u64 {
        self.context.engine().now()
    }

    /// A queue on this device.
    fn find_queue(&self, number: u64) -> Option<&Arc<Queue>> {
        let all = || {
            let here = |queue: &Arc<Queue>| queue.on_device().is_some() && Arc::ptr_eq(queue.device(), &self.device);
            self.context.queues().into_iter().filter(here).map(|queue| (queue.id(), queue)).collect()
        };
        self.queues.get_or_init(all).get(&number)
    }
}

impl Child {
    /// It leaves its queue.
    fn give_room(&self) {
        if let Some(on_device) = self.queue.on_device() {
            on_device.give(self.bytes);
        }
    }
}

impl State {
    /// Notes a failure. Returns its status.
    fn fail(&mut self, error: Error) -> i32 {
        log::error("a kernel enqueued on the device failed", &error);
        let status = error.status.code();
        self.failure.get_or_insert(error);
        status
    }

    /// Something that reports there has ended with this status.
    fn finish(&mut self, report: u64, status: i32, now: u64) {
        // A list instead of recursion: chains of events can be as long as a program makes them.
        let mut work = vec![(report, status)];
        while let Some((report, status)) = work.pop() {
            let Some(event) = self.events.get_mut(&report) else {
                // The root has no event: its family's first failure is that of the host's command.
                if report == ROOT && status < 0 {
                    let why = format!("a kernel that it enqueued on the device failed with status {status}");
                    self.failure.get_or_insert(Error::new(Status::of_code(status), why));
                }
                continue;
            };
            // The first failure stays.
            if event.status == 0 {
                event.status = status;
            }
            event.pending = event.pending.saturating_sub(1);
            if event.pending > 0 {
                continue;
            }
            (event.is_done, event.complete) = (true, now);
            let (status, waiting) = (event.status, std::mem::take(&mut event.waiting));
            if let Some(memory) = self.memory {
                let times = event.times();
                event.captures.drain(..).for_each(|address| memory.write(address, &times));
            }
            // A user event is nobody's child.
            if !event.is_user {
                work.push((event.above, status));
            }
            // Nobody can ask about it any more, and its number is never used again.
            if event.references == 0 {
                self.events.remove(&report);
            }
            // Also if nobody has a reference to the event any more: the numbers were taken out before.
            for number in waiting {
                work.extend(self.unblock(number, status));
            }
        }
    }

    /// An event that a command waits for is complete. Returns where the command reports, if it fails by that.
    fn unblock(&mut self, number: u64, status: i32) -> Option<(u64, i32)> {
        // `None`: the command was failed as stuck (`fail_stuck`), but an event still lists it.
        let child = self.blocked.get_mut(&number)?;
        child.blockers = child.blockers.saturating_sub(1);
        // Noted and not acted on at once: the command ends only after all events of its list.
        child.failed |= status < 0;
        if child.blockers > 0 {
            return None;
        }
        let child = self.blocked.remove(&number)?;
        if child.failed {
            child.give_room();
            return Some((child.report, WAIT_FAILED));
        }
        self.ready.push_back(child);
        None
    }
}

/// Answers the calls of one kernel.
pub(crate) struct Parent<'a> {
    family: &'a Family,
    /// Where it reports, and with it what it enqueues without an event.
    report: u64,
}
