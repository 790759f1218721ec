//! Command queues: the order of commands, and which of them have not ended.
//!
//! In an in-order queue each command depends on the one before it; in an out-of-order queue on the last barrier. These
//! are edges of order ([`Edge::Order`]): they delay a command, but do not make it fail. Only wait lists
//! ([`Edge::Wait`]) propagate failure. Of two launches on a device with streams, the second one is only delayed until
//! the first is submitted ([`Edge::Stream`]).
//!
//! A ready command runs on a worker thread of the engine, or on the enqueuing thread, as its [`ExecPolicy`] says; a
//! thread that waits for a queue runs its commands too.

use crate::KernelCode;
use crate::checker::{Awaited, AwaitedEvent, EnqueuedCommand, LaunchChecker, MemoryUse, Uses};
use crate::graph::device_queue::DeviceQueue;
use crate::graph::event::{COMPLETE, Edge, Event};
use crate::graph::execute::{Command, Job, Progress, Work, start, start_here};
use crate::graph::packed::Packed;
use crate::graph::stream::InStream;
use crate::objects::space::Space;
use crate::status::{bail, ensure};
use crate::thread_exit;
use crate::{CommandType, Context, Device, ExternalSlot, QueueFlags, Result};
use cloom_hal::lock::Mutex;
use cloom_hal::{self as hal, TUNING};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

#[derive(Default)]
struct State {
    /// In order: the last command, until it is done.
    last: Option<Arc<Event>>,
    /// In order: the last command that may take long or that waited for others, until it is done. All others are done
    /// soon.
    slow: Option<Arc<Event>>,
    /// Out of order: the last barrier, until it is done.
    barrier: Option<Arc<Event>>,
    /// Out of order: every command that is not done, by its number.
    live: BTreeMap<u64, Arc<Event>>,
    /// Out of order: the number of the last command that waits for all before it. Another such command waits for it and
    /// for what came after it, so that many of them have not a dependence for each pair.
    gathered: u64,
}

/// Execution policy: which thread runs a ready command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExecPolicy {
    /// A worker thread.
    Worker,
    /// The calling thread: the command ends sooner than a worker would be awake.
    Inline,
    /// The calling thread, which waits for the command in any case.
    Blocking,
    /// The calling thread: the command only submits a launch to a device that keeps their order ([`Queue::streams`]).
    Stream,
    /// The same, and launches that follow may be appended to it, as nobody asks for its event.
    OpenStream,
}

/// A command of which a checker hears, also if it is dropped before it has run.
struct Watched {
    checker: Arc<dyn LaunchChecker>,
    id: u64,
    has_run: bool,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.checker.ended(self.id, self.has_run);
    }
}

/// Whether nothing has to be waited for.
fn ended(wait: &[Arc<Event>]) -> bool {
    wait.iter().all(|e| e.status() == COMPLETE)
}

impl Context {
    /// The queues that exist.
    pub(crate) fn queues(&self) -> Vec<Arc<Queue>> {
        self.any_queues().into_iter().filter_map(|queue| queue.downcast().ok()).collect()
    }
}

/// A command queue.
pub struct Queue {
    /// What the interface keeps.
    pub external: ExternalSlot,
    /// Its number, for [`hal::Launch::queue`](cloom_hal::Launch::queue).
    id: u64,
    context: Arc<Context>,
    device: Arc<Device>,
    /// The memory that the device works in.
    space: Space,
    /// The bits of [`QueueFlags`].
    flags: AtomicU64,
    properties: Option<Vec<u64>>,
    /// Of a queue on the device.
    on_device: Option<DeviceQueue>,
    state: Mutex<State>,
    /// In order: the numbers of the commands that `state` knows as the last and as the last slow one, or knew.
    known: [AtomicU64; 2],
    ready: Mutex<VecDeque<Arc<Command>>>,
    /// The number of threads that will look for ready commands, so that no worker has to be woken.
    active_waiters: AtomicUsize,
}

impl Queue {
    // OpenCL 3.0 API, 5.1: Command-Queues.
    /// A queue. `properties` is the list as given, for the query.
    pub fn new(
        context: &Arc<Context>,
        device: &Arc<Device>,
        flags: QueueFlags,
        properties: Option<Vec<u64>>,
    ) -> Result<Arc<Queue>> {
        Queue::with(context, device, flags, properties, None)
    }

    pub(crate) fn with(
        context: &Arc<Context>,
        device: &Arc<Device>,
        flags: QueueFlags,
        properties: Option<Vec<u64>>,
        on_device: Option<DeviceQueue>,
    ) -> Result<Arc<Queue>> {
        ensure!(context.index_of(device).is_some(), InvalidDevice, "the device is not of this context");
        // A queue is the first sign that the device will be used, so its compiler gets ready now.
        if let Some(expected) = device.hal().expect_use() {
            device.engine().prepare_compiler(device, expected);
        }
        let queue = Arc::new(Queue {
            external: ExternalSlot::default(),
            id: context.engine().id(),
            context: context.clone(),
            device: device.clone(),
            space: context.space_of(device),
            flags: AtomicU64::new(flags.bits()),
            properties,
            on_device,
            state: Mutex::default(),
            known: Default::default(),
            ready: Mutex::default(),
            active_waiters: AtomicUsize::new(0),
        });
        context.add_queue(Arc::<Queue>::downgrade(&queue));
        Ok(queue)
    }

    /// The context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The memory space of the device.
    pub(crate) fn space(&self) -> Space {
        self.space
    }

    /// The properties.
    pub fn flags(&self) -> QueueFlags {
        QueueFlags::from_bits_retain(self.flags.load(Ordering::Acquire))
    }

    /// The properties as the application gave them.
    pub fn properties(&self) -> Option<&[u64]> {
        self.properties.as_deref()
    }

    /// What a queue on the device has; nothing of one of the host.
    pub fn on_device(&self) -> Option<&DeviceQueue> {
        self.on_device.as_ref()
    }

    /// Checks that the host may put commands into it.
    pub fn check_host(&self) -> Result<()> {
        let is_host = self.on_device.is_none();
        ensure!(is_host, InvalidCommandQueue, "the queue is one on the device: only kernels put commands into it");
        Ok(())
    }

    /// Whether commands run in the order in which they are enqueued.
    pub fn in_order(&self) -> bool {
        !self.flags().contains(QueueFlags::OUT_OF_ORDER)
    }

    /// Its number, which its launches carry.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Spins for a moment, until `done` holds or a launch can be assisted. Returns whether either happened. In an
    /// out-of-order queue, the launch may be unrelated to the awaited command and would delay the thread: there it
    /// assists none.
    pub(crate) fn assist(&self, done: &dyn Fn() -> bool) -> bool {
        if let Some(streams) = self.device.hal().as_streams() {
            return streams.wait(self.id, done);
        }
        // No queue has the number 0, so this only spins.
        let queue = if self.in_order() { self.id } else { 0 };
        self.assist_with(queue, done, false)
    }

    /// Spins for a moment, until `done` holds or a launch of this queue can be assisted; without
    /// [`Assist`](cloom_hal::Assist), only tests `done`.
    fn assist_with(&self, queue: u64, done: &dyn Fn() -> bool, may_migrate: bool) -> bool {
        match self.device.hal().as_assist() {
            Some(assist) => assist.assist(queue, done, may_migrate),
            None => done(),
        }
    }

    /// Whether its launches are submitted ahead, to a device that keeps their order.
    pub(crate) fn streams(&self) -> bool {
        self.in_order() && self.device.hal().as_streams().is_some()
    }

    /// Whether a launch that is expected to take so many nanoseconds ends sooner than another thread would begin it.
    pub(crate) fn is_short(&self, time: u64) -> bool {
        let time = Duration::from_nanos(time);
        // Asked only where the time alone does not decide.
        let contended = || self.device.hal().as_assist().is_some_and(cloom_hal::Assist::is_contended);
        time <= TUNING.inline_time || time <= TUNING.contended_inline_time && contended()
    }

    // OpenCL 3.0 API, 5.12: Markers, Barriers and Waiting for Events.
    /// Checks a wait list: its events are of the queue's context.
    pub(crate) fn check_wait_list(&self, events: &[Arc<Event>]) -> Result<()> {
        self.check_host()?;
        let same = events.iter().all(|e| Arc::ptr_eq(e.context(), &self.context));
        ensure!(same, InvalidContext, "an event of the wait list is of another context than the queue");
        Ok(())
    }

    /// Adds a command. A blocking one has ended on return, and its failure or that of its wait list is an error.
    pub(crate) fn enqueue(
        self: &Arc<Queue>,
        kind: CommandType,
        wait: &[Arc<Event>],
        blocking: bool,
        work: Work,
    ) -> Result<Arc<Event>> {
        self.enqueue_using(kind, wait, blocking, None, work)
    }

    /// [`enqueue`](Self::enqueue) of a command that tells a checker what it uses.
    pub(crate) fn enqueue_using(
        self: &Arc<Queue>,
        kind: CommandType,
        wait: &[Arc<Event>],
        blocking: bool,
        uses: Option<Box<Uses>>,
        work: Work,
    ) -> Result<Arc<Event>> {
        let policy = if blocking { ExecPolicy::Blocking } else { ExecPolicy::Worker };
        self.enqueue_as(kind, wait, policy, None, uses, work)
    }

    /// [`enqueue`](Self::enqueue) of work that ends when it returns.
    pub(crate) fn enqueue_job(
        self: &Arc<Queue>,
        kind: CommandType,
        wait: &[Arc<Event>],
        blocking: bool,
        uses: Option<Box<Uses>>,
        job: impl Job,
    ) -> Result<Arc<Event>> {
        self.enqueue_using(kind, wait, blocking, uses, Box::new(move || job().map(|()| Progress::Done)))
    }

    /// [`enqueue`](Self::enqueue) with an execution policy.
    pub(crate) fn enqueue_as(
        self: &Arc<Queue>,
        kind: CommandType,
        wait: &[Arc<Event>],
        policy: ExecPolicy,
        measured: Option<(Arc<KernelCode>, u64)>,
        uses: Option<Box<Uses>>,
        work: Work,
    ) -> Result<Arc<Event>> {
        self.check_wait_list(wait)?;
        let event;
        let command;
        {
            let mut state = self.state.lock();
            // Here, so that events are numbered in the order of the queue.
            let in_stream = match policy {
                ExecPolicy::Stream => InStream::Closed,
                ExecPolicy::OpenStream => InStream::Open,
                ExecPolicy::Worker | ExecPolicy::Inline | ExecPolicy::Blocking => InStream::No,
            };
            event = Event::of_command(&self.context, Some(self), kind, in_stream);
            let work = match self.context.engine().checker() {
                Some(checker) => self.watched(checker, (&event, wait, policy), uses, work),
                None => work,
            };
            // In order, a command waits for the one before it alone: that one waits for its own predecessor.
            let last = if self.in_order() { state.last.replace(event.clone()) } else { None };
            let before = last.as_ref().filter(|last| event.streams() && last.streams());
            command = Command::new(event.clone(), before.cloned(), work, measured);
            if let Some(last) = &last {
                command.wait_for(if before.is_some() { Edge::Stream } else { Edge::Order }, last);
            }
            if self.in_order() {
                self.known[0].store(event.id, Ordering::Release);
                // Everything but an inline command without open events may take long: `run_inline` must not wait
                // for it.
                if policy != ExecPolicy::Inline || !ended(wait) {
                    state.slow = Some(event.clone());
                    self.known[1].store(event.id, Ordering::Release);
                }
            } else {
                let all = matches!(kind, CommandType::Marker | CommandType::Barrier) && wait.is_empty();
                if all {
                    // A marker or barrier without a wait list waits for all earlier commands (OpenCL 3.0, section
                    // 5.12). The marker `gathered` waits for those before it, so n markers have about n edges and
                    // not n².
                    state.live.range(state.gathered..).for_each(|(_, e)| command.wait_for(Edge::Order, e));
                    state.gathered = event.id;
                } else if let Some(barrier) = &state.barrier {
                    command.wait_for(Edge::Order, barrier);
                }
                // Only now, so that a barrier does not wait for itself.
                state.live.insert(event.id, event.clone());
                if kind == CommandType::Barrier {
                    state.barrier = Some(event.clone());
                }
            }
        }
        // An event that ends here meanwhile cannot start the command: `release` takes the last count.
        wait.iter().for_each(|e| command.wait_for(Edge::Wait, e));
        if command.release() {
            match policy {
                ExecPolicy::Worker => start(command),
                // A thread that is exiting runs no kernels: its thread-local data may be gone.
                _ if thread_exit::is_exiting() => start(command),
                _ => start_here(command),
            }
        }
        if policy == ExecPolicy::Blocking {
            let status = event.wait();
            // An error of the wait list has a code of its own for blocking calls, so it is tested before the
            // command's status.
            if wait.iter().any(|e| e.status() < 0) {
                bail!(ExecStatusErrorForEventsInWaitList, "an event of the wait list of this blocking call failed");
            }
            if status < 0 {
                let status = crate::Status::of_code(status);
                return Err(crate::Error::new(status, "the command of this blocking call failed"));
            }
        }
        Ok(event)
    }

    /// What a command uses, if a checker wants to know.
    pub(crate) fn uses<const N: usize>(
        &self,
        make: impl FnOnce() -> Result<[MemoryUse; N]>,
    ) -> Result<Option<Box<Uses>>> {
        if self.context.engine().checker().is_none() {
            return Ok(None);
        }
        Ok(Some(Box::new(Uses::Memory(make()?.into()))))
    }

    /// The work of a command of which a checker hears.
    #[cold]
    fn watched(
        &self,
        checker: &Arc<dyn LaunchChecker>,
        (event, wait, policy): (&Arc<Event>, &[Arc<Event>], ExecPolicy),
        uses: Option<Box<Uses>>,
        work: Work,
    ) -> Work {
        let (checker, engine, id) = (checker.clone(), self.context.engine().clone(), event.id);
        let awaited = |e: &Arc<Event>| AwaitedEvent {
            id: e.id,
            is_open: e.command() == CommandType::User && e.status() != COMPLETE,
        };
        checker.enqueued(EnqueuedCommand {
            id,
            kind: event.command(),
            queue: self.id,
            in_order: self.in_order(),
            wait: wait.iter().map(awaited).collect(),
            blocking: policy == ExecPolicy::Blocking,
            uses,
        });
        let watched = Watched { checker, id, has_run: false };
        Box::new(move || {
            // All of it, so that it is dropped as a whole.
            let mut watched = watched;
            {
                let _float_env = (engine.hooks.enter_float_env)();
                watched.checker.begins(id, &engine.hooks.print);
            }
            let outcome = work();
            watched.has_run = true;
            outcome
        })
    }

    /// Runs a short command at once on this thread, if no outstanding command would delay it for long. It has no event
    /// and allocates nothing, which are most of a small command's cost. The queue is locked until it is done, so no
    /// other command is enqueued meanwhile.
    ///
    /// It waits for short commands that precede it. Otherwise it would be enqueued too, and two threads would pass
    /// short commands to each other as long as the application enqueues them.
    pub(crate) fn run_inline<T>(&self, wait: &[Arc<Event>], run: impl FnOnce() -> T) -> Result<Option<T>> {
        self.check_wait_list(wait)?;
        if !ended(wait) {
            return Ok(None);
        }
        // Another thread is enqueuing, or runs a short command under the lock. An ordinary command does not block
        // for it.
        let Some(mut state) = self.state.try_lock() else { return Ok(None) };
        if state.slow.is_none()
            && let Some(last) = state.last.clone()
        {
            // Not under the lock: the waiting thread runs commands of this queue, and their ends take it
            // (`retire`).
            drop(state);
            last.wait();
            let Some(again) = self.state.try_lock() else { return Ok(None) };
            state = again;
        }
        // A command's waiter may come here before the command was removed.
        let idle = state.last.as_ref().is_none_or(|e| e.status() <= COMPLETE) && state.live.is_empty();
        if !idle {
            return Ok(None);
        }
        self.context.engine().activate();
        let result = run();
        drop(state);
        Ok(Some(result))
    }

    /// Appends a launch to the last command, if that is an open launch on a device that keeps their order. It has then
    /// been enqueued, without a command and an event of its own, which are most of its cost.
    pub(crate) fn append(&self, kernel: &Arc<dyn hal::Kernel>, packed: &Packed, launch: &hal::Launch<'_>) -> bool {
        let Some(streams) = self.device.hal().as_streams().filter(|_| !thread_exit::is_exiting()) else { return false };
        let Some(last) = self.state.lock().last.clone().filter(|last| last.takes_more()) else { return false };
        // What goes wrong is told by a command of its own. Not under the lock, as it may wait for commands.
        if packed.make_resident().is_err() {
            return false;
        }
        let state = self.state.lock();
        // Another command was enqueued while the lock was free: the launch must follow that one.
        if !state.last.as_ref().is_some_and(|now| Arc::ptr_eq(now, &last)) {
            return false;
        }
        // Still under the lock, so that no command gets between the last launch and this one.
        last.append(kernel, &packed.buffers, || streams.append(launch))
    }

    /// A marker: done when its wait list, or everything before, is done.
    pub fn marker(self: &Arc<Queue>, wait: &[Arc<Event>]) -> Result<Arc<Event>> {
        self.enqueue_as(CommandType::Marker, wait, ExecPolicy::Inline, None, None, Box::new(|| Ok(Progress::Done)))
    }

    /// A barrier: like a marker, and later commands wait for it.
    pub fn barrier(self: &Arc<Queue>, wait: &[Arc<Event>]) -> Result<Arc<Event>> {
        self.enqueue_as(CommandType::Barrier, wait, ExecPolicy::Inline, None, None, Box::new(|| Ok(Progress::Done)))
    }

    /// Waits until every command enqueued before is done.
    pub fn finish(&self) {
        if let Some(checker) = self.context.engine().checker() {
            checker.waits(Awaited::Queue(self.id));
        }
        // In order, the last command ends after all others and stands for them.
        let outstanding: Vec<Arc<Event>> = {
            let state = self.state.lock();
            state.last.iter().chain(state.live.values()).cloned().collect()
        };
        for event in outstanding {
            event.wait();
        }
    }

    /// Submits all commands. They are submitted when they are enqueued, so there is nothing to do.
    pub fn flush(&self) {}

    /// Turns properties on or off, as `clSetCommandQueueProperty` of OpenCL 1.0 does.
    pub fn set_flags(&self, flags: QueueFlags, on: bool) {
        // The earlier commands run with the old properties (OpenCL 1.0, clSetCommandQueueProperty).
        self.finish();
        match on {
            true => self.flags.fetch_or(flags.bits(), Ordering::AcqRel),
            false => self.flags.fetch_and(!flags.bits(), Ordering::AcqRel),
        };
    }

    /// Forgets a command that is done.
    pub(crate) fn retire(&self, event: &Arc<Event>) {
        // A launch that others have followed is known no more; who enqueues the next need not wait for this.
        // `enqueue` stores these numbers before the command can end. One that is in neither was replaced, so the
        // lock, which a thread that enqueues wants, is not needed.
        if event.streams() && self.known.iter().all(|known| known.load(Ordering::Acquire) != event.id) {
            return;
        }
        let mut state = self.state.lock();
        let State { last, slow, barrier, .. } = &mut *state;
        // Only if it is this event: a later command may have taken its place.
        let dropped = [last, slow, barrier].map(|known| known.take_if(|e| Arc::ptr_eq(e, event)));
        let live = state.live.remove(&event.id);
        drop(state);
        drop((dropped, live));
    }

    /// Adds a ready command. No worker is woken if the calling thread is about to look for the next command of
    /// `next_of`, which is this queue, and there is no other.
    pub(crate) fn push_ready(queue: &Arc<Queue>, command: Arc<Command>, next_of: Option<&Queue>) {
        let engine = queue.context.engine();
        engine.activate();
        if command.event.command().may_block() {
            // It may wait for other commands. The command threads are few, and blocked ones could not run those.
            return engine.natives.submit(Box::new(move || command.run(None)));
        }
        let mut ready = queue.ready.lock();
        let alone = ready.is_empty();
        ready.push_back(command);
        drop(ready);
        // The calling thread takes only one command next; a second one needs another thread.
        let expected = alone && next_of.is_some_and(|q| std::ptr::eq(q, &raw const **queue));
        // A waiting thread first stops counting itself and then looks at the list, under its lock: either that
        // thread finds the command, or it is not counted here.
        if !expected && queue.active_waiters.load(Ordering::SeqCst) == 0 {
            Queue::wake_worker(queue);
        }
    }

    /// Wakes a worker for a command. If a waiting thread took the command meanwhile, the worker assists its launch: it
    /// is awake and on another core.
    fn wake_worker(queue: &Arc<Queue>) {
        let this = queue.clone();
        if let Some(assist) = this.device.hal().as_assist() {
            assist.woke();
        }
        queue.context.engine().commands.submit(Box::new(move || {
            if let Some(assist) = this.device.hal().as_assist() {
                assist.came();
            }
            let waits = || !this.ready.lock().is_empty();
            loop {
                while this.run_one(|_| true) {}
                // In an out-of-order queue, a command may become ready while this thread assists another launch: it
                // must find a thread.
                if !this.in_order() {
                    break;
                }
                this.active_waiters.fetch_add(1, Ordering::SeqCst);
                let more = this.assist_with(this.id, &waits, true);
                this.active_waiters.fetch_sub(1, Ordering::SeqCst);
                // A command that came before the thread was gone has called no other.
                if !more && !waits() {
                    break;
                }
            }
        }));
    }

    /// Runs a ready command that this thread `may` run, if there is one. The caller repeats this until there is none,
    /// or calls [`stop_running`](Self::stop_running).
    pub(crate) fn run_one(&self, may: impl Fn(&Event) -> bool) -> bool {
        let mut ready = self.ready.lock();
        // The first that fits, so that commands run in about the order in which they became ready.
        let command = ready.iter().position(|c| may(&c.event)).and_then(|at| ready.remove(at));
        drop(ready);
        match command {
            Some(command) => {
                command.run(Some(self));
                true
            }
            None => false,
        }
    }

    /// The calling thread stops running commands; a ready command that was left to it goes to a worker.
    pub(crate) fn stop_running(queue: &Arc<Queue>) {
        if !queue.ready.lock().is_empty() {
            Queue::wake_worker(queue);
        }
    }
}
