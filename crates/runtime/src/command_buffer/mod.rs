//! Command buffers (`cl_khr_command_buffer`): commands that are recorded once and run any number of times, and changes
//! to recorded launches (`cl_khr_command_buffer_mutable_dispatch`).
//!
//! Recording checks a command and resolves what it needs ([`Dispatch`]), so that nothing but the work is left for a
//! run. An enqueued command buffer is one command of the queue: one event, one dispatch, and a loop over the recorded
//! commands in the order in which they were recorded. A command may wait only for commands that were recorded before
//! it, so this order satisfies every sync-point and barrier, of in-order and of out-of-order queues. Nothing is gained
//! by other orders: each launch has all threads of the device.
//!
//! A run holds the list of commands that it began with. An update replaces the list, so that it neither waits for runs
//! that are under way nor changes them (simultaneous use).

mod dispatch;

use crate::graph::event::{Event, Profiling};
use crate::graph::execute::{Job, Progress, attempt, failure};
use crate::graph::queue::ExecPolicy;
use crate::host_mem::HostPtr;
use crate::memory::image_color::Color;
use crate::status::{bail, ensure};
use crate::transfer::svm::{svm_copy_job, svm_fill_job};
use crate::{
    CommandBufferFlags, CommandType, Context, Device, Error, ExternalSlot, ImageBox, Kernel, MemObject, MutableFields,
    Queue, RangeInput, RectPair, Result, Status, thread_exit,
};
use cloom_hal::lock::Mutex;
use dispatch::Dispatch;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// The number of a recorded command; commands that are recorded later may wait for it.
pub type SyncPoint = u32;

/// `cl_command_buffer_state_khr`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum CommandBufferState {
    /// Commands can be recorded.
    Recording = 0,
    /// It can be enqueued.
    Executable = 1,
    /// No command can be recorded any more, and an argument of a launch is missing.
    Finalized = 2,
}

/// A command to record.
#[allow(missing_docs, reason = "the fields are the arguments of the queue's functions of the same names")]
pub enum Recorded<'a> {
    /// Nothing runs; later commands run after it.
    Barrier,
    Copy {
        source: &'a Arc<MemObject>,
        target: &'a Arc<MemObject>,
        from: u64,
        to: u64,
        size: u64,
    },
    CopyRect {
        source: &'a Arc<MemObject>,
        target: &'a Arc<MemObject>,
        rects: RectPair,
    },
    CopyBufferToImage {
        source: &'a Arc<MemObject>,
        target: &'a Arc<MemObject>,
        offset: u64,
        at: ImageBox,
    },
    CopyImage {
        source: &'a Arc<MemObject>,
        target: &'a Arc<MemObject>,
        from: [u64; 3],
        to: [u64; 3],
        region: [u64; 3],
    },
    CopyImageToBuffer {
        source: &'a Arc<MemObject>,
        target: &'a Arc<MemObject>,
        at: ImageBox,
        offset: u64,
    },
    Fill {
        buffer: &'a Arc<MemObject>,
        pattern: &'a [u8],
        offset: u64,
        size: u64,
    },
    FillImage {
        image: &'a Arc<MemObject>,
        color: Color,
        at: ImageBox,
    },
    SvmCopy {
        to: Option<HostPtr>,
        from: Option<HostPtr>,
        size: u64,
    },
    SvmFill {
        at: Option<HostPtr>,
        pattern: &'a [u8],
        size: u64,
    },
}

/// A launch to record.
pub struct DispatchInput<'a> {
    /// The kernel, with its arguments.
    pub kernel: &'a Arc<Kernel>,
    /// The sizes.
    pub range: RangeInput,
    /// What may be updated, if the application says so.
    pub fields: Option<MutableFields>,
    /// Whether the application promises not to add work-groups
    /// (`CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR`).
    pub no_more_groups: bool,
    /// The properties as given, for the query.
    pub properties: Option<Vec<u64>>,
}

/// Sets arguments and other information of a kernel.
pub type SetKernel<'a> = Box<dyn FnOnce(&Arc<Kernel>) -> Result<()> + 'a>;

/// A change of a recorded launch.
pub struct DispatchUpdate<'a> {
    /// The launch.
    pub command: Arc<MutableCommand>,
    /// The number of dimensions; 0: as it is.
    pub work_dim: u32,
    /// New sizes; what is absent stays.
    pub range: RangeInput,
    /// Whether there are arguments, and other information of the kernel, to set.
    pub sets: MutableFields,
    /// Sets them.
    pub set: SetKernel<'a>,
}

/// What a recorded command does.
#[derive(Clone)]
enum Step {
    Job(Arc<dyn Fn() -> Result<()> + Send + Sync>),
    Launch(Arc<Dispatch>),
}

impl Step {
    fn job(job: impl Job) -> Option<Step> {
        Some(Step::Job(Arc::new(job)))
    }
}

#[derive(Default)]
struct State {
    finalized: bool,
    /// Once finalized: whether all arguments are set, and whether a short run may be on a thread of the application.
    is_complete: bool,
    may_run_inline: bool,
    /// In the order of recording, without barriers.
    steps: Arc<Vec<Step>>,
    /// How many commands there are, with barriers.
    commands: u32,
    /// The launches to which the application has handles.
    mutable: Vec<Arc<MutableCommand>>,
}

impl State {
    /// Notes what enqueuing asks, after the steps have changed.
    fn settle(&mut self) {
        let launches = || {
            self.steps.iter().filter_map(|step| match step {
                Step::Launch(launch) => Some(launch),
                Step::Job(_) => None,
            })
        };
        let is_complete = launches().all(|launch| launch.is_complete());
        let may_run_inline = launches().all(|launch| launch.may_run_inline());
        (self.is_complete, self.may_run_inline) = (is_complete, may_run_inline);
    }
}

/// A command buffer.
pub struct CommandBuffer {
    /// What the interface keeps.
    pub external: ExternalSlot,
    queue: Arc<Queue>,
    flags: CommandBufferFlags,
    no_more_groups: bool,
    properties: Option<Vec<u64>>,
    state: Mutex<State>,
    /// Nanoseconds that the last run took, plus one; 0 before the first.
    time: AtomicU64,
}

/// A recorded launch to which the application has a handle.
pub struct MutableCommand {
    /// What the interface keeps.
    pub external: ExternalSlot,
    buffer: Weak<CommandBuffer>,
    /// Its place among the steps.
    at: usize,
    kernel: Arc<Kernel>,
    work_dim: u32,
    fields: MutableFields,
    properties: Option<Vec<u64>>,
}

impl CommandBuffer {
    // OpenCL 3.0 API, Creating Command-Buffer Objects.
    /// A command buffer in the state of recording. `no_more_groups` as in [`DispatchInput`], for all launches;
    /// `properties` is the list as given, for the query.
    pub fn new(
        queue: &Arc<Queue>,
        flags: CommandBufferFlags,
        no_more_groups: bool,
        properties: Option<Vec<u64>>,
    ) -> Arc<CommandBuffer> {
        Arc::new(CommandBuffer {
            external: ExternalSlot::default(),
            queue: queue.clone(),
            flags,
            no_more_groups,
            properties,
            state: Mutex::default(),
            time: AtomicU64::new(0),
        })
    }

    /// The queue that it was created with.
    pub fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }

    /// The context.
    pub fn context(&self) -> &Arc<Context> {
        self.queue.context()
    }

    /// The properties as the application gave them.
    pub fn properties(&self) -> Option<&[u64]> {
        self.properties.as_deref()
    }

    /// The state.
    pub fn state(&self) -> CommandBufferState {
        let state = self.state.lock();
        match (state.finalized, state.is_complete) {
            (false, _) => CommandBufferState::Recording,
            (true, true) => CommandBufferState::Executable,
            (true, false) => CommandBufferState::Finalized,
        }
    }

    /// Checks that commands can be recorded, and the sync-points that a new one waits for.
    pub fn check_recording(&self, wait: &[SyncPoint]) -> Result<()> {
        let state = self.state.lock();
        ensure!(!state.finalized, InvalidOperation, "the command buffer has been finalized");
        // Sync-points count from 1, since `add` counts the command before it numbers it.
        let known = 1..=state.commands;
        if let Some(unknown) = wait.iter().find(|point| !known.contains(point)) {
            bail!(InvalidSyncPointWaitList, "{unknown} is no sync-point of this command buffer");
        }
        Ok(())
    }

    // OpenCL 3.0 API, Recording Commands to a Command-Buffer.
    /// Records a command. Returns its sync-point.
    pub fn record(&self, command: &Recorded<'_>, wait: &[SyncPoint]) -> Result<SyncPoint> {
        self.check_recording(wait)?;
        let queue = &self.queue;
        let step = match *command {
            Recorded::Barrier => None,
            Recorded::Copy { source, target, from, to, size } => {
                Step::job(queue.copy_job(source, target, from, to, size)?)
            }
            Recorded::CopyRect { source, target, ref rects } => Step::job(queue.copy_rect_job(source, target, rects)?),
            Recorded::CopyBufferToImage { source, target, offset, at } => {
                Step::job(queue.copy_buffer_to_image_job(source, target, offset, at)?)
            }
            Recorded::CopyImage { source, target, from, to, region } => {
                Step::job(queue.copy_image_job(source, target, from, to, region)?)
            }
            Recorded::CopyImageToBuffer { source, target, at, offset } => {
                Step::job(queue.copy_image_to_buffer_job(source, target, at, offset)?)
            }
            Recorded::Fill { buffer, pattern, offset, size } => {
                Step::job(queue.fill_job(buffer, pattern, offset, size)?)
            }
            Recorded::FillImage { image, color, at } => Step::job(queue.fill_image_job(image, color, at)?),
            Recorded::SvmCopy { to, from, size } => Step::job(svm_copy_job(to, from, size)?),
            Recorded::SvmFill { at, pattern, size } => Step::job(svm_fill_job(at, pattern, size)?),
        };
        Ok(self.add(step)?.0)
    }

    /// Adds a command. Returns its sync-point, and its place among the steps if it has one.
    fn add(&self, step: Option<Step>) -> Result<(SyncPoint, usize)> {
        let mut state = self.state.lock();
        ensure!(!state.finalized, InvalidOperation, "the command buffer has been finalized");
        let Some(number) = state.commands.checked_add(1) else {
            bail!(OutOfResources, "a command buffer has at most {} commands", u32::MAX);
        };
        state.commands = number;
        // A barrier has a sync-point and no step: steps run one after the other in any case.
        let at = state.steps.len();
        // Only runs hold the list, and none can be enqueued before `finalize`: this copies nothing.
        Arc::make_mut(&mut state.steps).extend(step);
        Ok((number, at))
    }

    // OpenCL 3.0 API, Recording Commands to a Command-Buffer.
    /// Records a launch. Returns its sync-point, and the command for updates if it is `wanted`.
    pub fn record_launch(
        self: &Arc<CommandBuffer>,
        input: DispatchInput<'_>,
        wait: &[SyncPoint],
        wanted: bool,
    ) -> Result<(SyncPoint, Option<Arc<MutableCommand>>)> {
        self.check_recording(wait)?;
        let fixed = self.no_more_groups || input.no_more_groups;
        ensure!(
            !fixed || input.range.local.is_some(),
            InvalidValue,
            "the number of work-groups must not grow, but the local size is open"
        );
        let asked = input.fields.is_some_and(|fields| fields.contains(MutableFields::ARGUMENTS));
        // Only an update can set an argument later: without the right to one, a missing argument is an error now.
        let may_follow = asked && self.flags.contains(CommandBufferFlags::MUTABLE);
        // A copy, because the application may set the kernel's arguments again.
        let dispatch = Dispatch::new(&self.queue, input.kernel.duplicate(), input.range, may_follow)?;
        let (point, at) = self.add(Some(Step::Launch(Arc::new(dispatch))))?;
        if !wanted {
            return Ok((point, None));
        }
        let command = Arc::new(MutableCommand {
            external: ExternalSlot::default(),
            buffer: Arc::downgrade(self),
            at,
            kernel: input.kernel.clone(),
            work_dim: input.range.work_dim,
            fields: input.fields.unwrap_or(MutableFields::all()),
            properties: input.properties,
        });
        self.state.lock().mutable.push(command.clone());
        Ok((point, Some(command)))
    }

    // OpenCL 3.0 API, Enqueuing a Command-Buffer.
    /// Ends the recording.
    pub fn finalize(&self) -> Result<()> {
        let mut state = self.state.lock();
        ensure!(!state.finalized, InvalidOperation, "the command buffer has been finalized before");
        state.finalized = true;
        state.settle();
        Ok(())
    }

    // OpenCL 3.0 API, Enqueuing a Command-Buffer.
    /// Enqueues all commands as one command, to a queue in place of the one that it was created with if there is one.
    /// Returns the event if it is wanted.
    pub fn enqueue(
        self: &Arc<CommandBuffer>,
        queue: Option<&Arc<Queue>>,
        wait: &[Arc<Event>],
        wanted: bool,
    ) -> Result<Option<Arc<Event>>> {
        let queue = queue.unwrap_or(&self.queue);
        let same = Arc::ptr_eq(queue.context(), self.context());
        ensure!(same, InvalidContext, "the queue is of another context than the command buffer");
        let same = Arc::ptr_eq(queue.device(), self.queue.device());
        ensure!(same, InvalidDevice, "the queue is of another device than that of the command buffer");
        // The list is shared, not copied: an update replaces it and leaves this run alone.
        let (steps, calm) = {
            let state = self.state.lock();
            ensure!(state.finalized, InvalidOperation, "the command buffer has not been finalized");
            ensure!(state.is_complete, InvalidOperation, "an argument of a launch in the command buffer is not set");
            (state.steps.clone(), state.may_run_inline)
        };
        // `None` before the first run: its time is unknown, so a command thread runs it.
        let known = self.time.load(Ordering::Relaxed).checked_sub(1);
        // Where memory may have to move between devices, a command takes locks and time.
        let here = calm
            && !self.context().has_device_memory()
            && queue.device().runs_on_host()
            && !thread_exit::is_exiting()
            && known.is_some_and(|time| queue.is_short(time));
        // No queue has the number 0: the caller holds the queue's lock, so no waiting thread can come to assist.
        if here && let Some((outcome, times)) = queue.run_inline(wait, || self.run(&steps, queue.device(), 0))? {
            let failure = failure(self.context(), outcome);
            return Ok(wanted.then(|| Event::ended(queue, CommandType::CommandBuffer, failure, times)));
        }
        let policy = if here { ExecPolicy::Inline } else { ExecPolicy::Worker };
        let (this, device, id) = (self.clone(), queue.device().clone(), queue.id());
        let work = Box::new(move || this.run(&steps, &device, id).0.map(|()| Progress::Done));
        queue.enqueue_as(CommandType::CommandBuffer, wait, policy, None, None, work).map(Some)
    }

    /// Runs the commands on this thread, until one fails. Threads that wait for the queue of this number may assist.
    fn run(&self, steps: &[Step], device: &Device, queue: u64) -> (Result<()>, Profiling) {
        let begin = device.engine().now();
        // A panic ends the run as a failure, also where the application's own thread runs it.
        let outcome = attempt(|| {
            steps.iter().try_for_each(|step| match step {
                Step::Job(job) => job(),
                Step::Launch(launch) => launch.run(device, queue),
            })
        });
        let end = device.engine().now();
        self.time.store(end.saturating_sub(begin).saturating_add(1), Ordering::Relaxed);
        (outcome, Profiling { queued: begin, submit: begin, start: begin, end, complete: end })
    }

    /// Checks that recorded launches may be changed.
    pub fn check_mutable(&self) -> Result<()> {
        let mutable = self.flags.contains(CommandBufferFlags::MUTABLE);
        ensure!(mutable, InvalidOperation, "the command buffer was not created with CL_COMMAND_BUFFER_MUTABLE_KHR");
        Ok(())
    }

    // OpenCL 3.0 API, Mutable Commands.
    /// Changes recorded launches for the runs that are enqueued from now on: all of them, or none if there is an error.
    pub fn update(self: &Arc<CommandBuffer>, updates: Vec<DispatchUpdate<'_>>) -> Result<()> {
        let state = self.state.lock();
        ensure!(state.finalized, InvalidOperation, "the command buffer has not been finalized");
        self.check_mutable()?;
        let before = state.steps.clone();
        // Not under the lock: `set` runs functions of the caller, and each new launch allocates.
        drop(state);
        let mut changed: Vec<(usize, Arc<Dispatch>)> = Vec::new();
        for update in updates {
            let at = update.command.at;
            // By address, without counting a reference: the weak one keeps the address from being used again.
            let own = std::ptr::eq(update.command.buffer.as_ptr(), Arc::as_ptr(self));
            // Of several updates of one command, each goes on from the one before.
            let earlier = changed.iter().rposition(|(place, _)| *place == at);
            let old = match (earlier, before.get(at)) {
                _ if !own => bail!(InvalidMutableCommand, "the command is of another command buffer"),
                (Some(earlier), _) => changed[earlier].1.clone(),
                (None, Some(Step::Launch(old))) => old.clone(),
                (None, _) => bail!(InvalidMutableCommand, "the command is no launch"),
            };
            changed.push((at, Arc::new(self.updated(&old, update)?)));
        }
        // Otherwise `make_mut` would copy the list on each update.
        drop(before);
        // Under the lock only what cannot fail; the launches that are replaced are dropped after it.
        let mut replaced = Vec::new();
        let mut state = self.state.lock();
        let steps = Arc::make_mut(&mut state.steps);
        for (at, launch) in changed {
            if let Some(step) = steps.get_mut(at) {
                replaced.push(std::mem::replace(step, Step::Launch(launch)));
            }
        }
        state.settle();
        drop(state);
        drop(replaced);
        Ok(())
    }

    /// A launch with an update.
    fn updated(&self, old: &Dispatch, update: DispatchUpdate<'_>) -> Result<Dispatch> {
        let DispatchUpdate { command, work_dim, range, sets, set } = update;
        ensure!(
            work_dim == 0 || work_dim == command.work_dim,
            InvalidOperation,
            "the launch was recorded with {} dimensions, not with {work_dim}",
            command.work_dim
        );
        let given = [
            (range.offset.is_some(), MutableFields::GLOBAL_OFFSET),
            (range.global.is_some(), MutableFields::GLOBAL_SIZE),
            (range.local.is_some(), MutableFields::LOCAL_SIZE),
        ];
        let given = given.into_iter().filter(|(given, _)| *given).fold(sets, |all, (_, field)| all | field);
        // What is given and was not declared updatable when the launch was recorded.
        let denied = given - command.fields;
        ensure!(denied.is_empty(), InvalidOperation, "the launch was recorded without {denied:?} as updatable fields");
        let input = RangeInput {
            work_dim: command.work_dim,
            offset: range.offset.or(old.input.offset),
            global: range.global.or(old.input.global),
            local: range.local.or(old.input.local),
        };
        // A copy, as runs that are under way still read the arguments of the old one.
        let kernel = if sets.is_empty() { old.kernel.clone() } else { old.kernel.duplicate() };
        set(&kernel)?;
        // A launch that lacks arguments may get them by several updates; one that had all of them keeps all of them.
        let may_follow = !old.is_complete();
        let new = Dispatch::new(&self.queue, kernel, input, may_follow)?;
        ensure!(
            !(old.is_complete() && new.is_complete()) || old.is_uniform() == new.is_uniform(),
            InvalidOperation,
            "the update would change whether the last work-group of a dimension is smaller than the others"
        );
        Ok(new)
    }
}

impl MutableCommand {
    /// Its command buffer.
    pub fn command_buffer(&self) -> Result<Arc<CommandBuffer>> {
        self.buffer.upgrade().ok_or_else(|| Error::new(Status::InvalidMutableCommand, "its command buffer is gone"))
    }

    /// The kernel that it was recorded with.
    pub fn kernel(&self) -> &Arc<Kernel> {
        &self.kernel
    }

    /// The properties as the application gave them.
    pub fn properties(&self) -> Option<&[u64]> {
        self.properties.as_deref()
    }

    /// The sizes as they are now, with as many dimensions as it was recorded with.
    pub fn range(&self) -> Result<RangeInput> {
        let buffer = self.command_buffer()?;
        let state = buffer.state.lock();
        match state.steps.get(self.at) {
            Some(Step::Launch(launch)) => Ok(launch.input),
            _ => bail!(InvalidMutableCommand, "the command is no launch"),
        }
    }
}
