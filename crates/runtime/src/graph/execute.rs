//! Commands: when one may run, running it, and releasing what depends on it.
//!
//! A command counts the events that it depends on. The thread that takes the count to zero puts it into the ready list
//! of its queue, from where a worker thread of the engine, or a thread that waits for the queue, takes it. Failures
//! propagate by a work list and not by recursion, so that a long chain of dependent commands does not overflow the
//! stack.

use crate::KernelCode;
use crate::graph::event::{COMPLETE, Edge, Event, RUNNING, SUBMITTED};
use crate::graph::pending::PendingLaunch;
use crate::{Context, Error, Queue, Result, Status, log};
use cloom_hal::lock::Mutex;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The work of a command.
pub(crate) type Work = Box<dyn FnOnce() -> Result<Progress> + Send>;

/// Work that ends when it returns, and that may be done again.
pub(crate) trait Job: Fn() -> Result<()> + Send + Sync + 'static {}

impl<F: Fn() -> Result<()> + Send + Sync + 'static> Job for F {}

/// The state of a command when its work returns.
pub(crate) enum Progress {
    /// It has ended.
    Done,
    /// It ended at this time, and the kernels that it enqueued have ended too.
    Parent(u64),
    /// It is still running on a device.
    Pending(Box<PendingLaunch>),
}

/// A command of a queue.
pub(crate) struct Command {
    pub event: Arc<Event>,
    /// The launch before it in the stream. It ends behind that one even if it does not get there itself.
    before: Option<Arc<Event>>,
    /// Events not yet done, plus one while it is being enqueued.
    blockers: AtomicUsize,
    /// An event in its wait list failed.
    failed: AtomicBool,
    work: Mutex<Option<Work>>,
    /// The kernel whose time this measures, and the number of work-items.
    measured: Option<(Arc<KernelCode>, u64)>,
}

impl Command {
    pub fn new(
        event: Arc<Event>,
        before: Option<Arc<Event>>,
        work: Work,
        measured: Option<(Arc<KernelCode>, u64)>,
    ) -> Arc<Command> {
        Arc::new(Command {
            event,
            before,
            blockers: AtomicUsize::new(1),
            failed: AtomicBool::new(false),
            work: Mutex::new(Some(work)),
            measured,
        })
    }

    /// Makes it wait for an event.
    pub fn wait_for(self: &Arc<Command>, edge: Edge, event: &Event) {
        // Relaxed: the command still has the count of enqueuing, so no thread can take it to zero meanwhile.
        self.blockers.fetch_add(1, Ordering::Relaxed);
        if let Some(status) = event.add_dependent(edge, self) {
            // The count is at least the one of enqueuing, so this does not reach zero.
            self.unblock(edge, status);
        }
    }

    /// Decrements the count. Returns whether it is zero.
    fn unblock(&self, edge: Edge, status: i32) -> bool {
        if edge == Edge::Wait && status < 0 {
            // Relaxed: the decrement below publishes it to the thread that takes the count to zero.
            self.failed.store(true, Ordering::Relaxed);
        }
        self.blockers.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Ends the enqueuing. Returns whether the command is ready.
    pub fn release(self: &Arc<Command>) -> bool {
        self.unblock(Edge::Order, COMPLETE)
    }

    /// Runs it on this thread, and releases what depends on it. A thread that will look for the next command of a queue
    /// says so by `next_of`, so that no worker is woken for it.
    pub fn run(self: &Arc<Command>, next_of: Option<&Queue>) {
        // Taken, so that the work runs once, and is dropped with what it holds when it has run.
        let Some(work) = self.work.lock().take() else { return };
        self.event.context().engine().activate();
        let begin = self.event.advance(RUNNING);
        match attempt(work) {
            Ok(Progress::Done) => self.conclude(Ok(()), begin, next_of),
            Ok(Progress::Parent(end)) => {
                self.event.note_end(end);
                self.conclude(Ok(()), begin, next_of);
            }
            Ok(Progress::Pending(launch)) => {
                launch.conclude_at_end(self.clone(), begin);
                // Not before: the device tells the ends of launches in the order in which it learns of them.
                if self.event.streams() {
                    self.event.note_submitted();
                }
            }
            Err(error) => {
                // If the launch before is still running, the command fails only after that: its error waits as the
                // work that is left.
                *self.work.lock() = Some(Box::new(|| Err(error)));
                if !self.waits_for_stream()
                    && let Some(work) = self.work.lock().take()
                {
                    self.conclude(work().map(drop), begin, next_of);
                }
            }
        }
    }

    /// Lets it wait for the launch before it in the stream, because it will not be there itself: later commands of the
    /// queue wait for the earlier ones by waiting for the last. False if that launch has ended, or there is none.
    fn waits_for_stream(self: &Arc<Command>) -> bool {
        let Some(before) = self.before.as_ref().filter(|before| before.status() > COMPLETE) else { return false };
        // The count is zero and no event holds the command, so no other thread changes the count now.
        self.blockers.store(1, Ordering::Relaxed);
        self.wait_for(Edge::Order, before);
        // If the launch has ended meanwhile, the caller goes on instead of the launch's thread.
        !self.release()
    }

    /// Concludes a command that began at the time `begin`.
    pub fn conclude(&self, outcome: Result<()>, begin: Option<u64>, next_of: Option<&Queue>) {
        let end = self.event.context().engine().now();
        if let (Some((code, items)), Some(begin)) = (&self.measured, begin) {
            code.cost().learn(*items, end.saturating_sub(begin));
        }
        finish_before(&self.event, status(&self.event, outcome), end, next_of);
    }
}

/// Does the work of a command; a panic is a failure of the command.
pub(crate) fn attempt<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(Error::new(Status::OutOfResources, "a command failed inside Cloom; this is a bug of Cloom"))
    })
}

/// The final status of a command with this result; reports a failure, which its event keeps.
pub(crate) fn status(event: &Event, outcome: Result<()>) -> i32 {
    let failure = failure(event.context(), outcome);
    let status = final_status(failure.as_ref());
    failure.into_iter().for_each(|error| event.note_failure(error));
    status
}

/// Why a command with this result failed, if it did; reports it.
pub(crate) fn failure(context: &Context, outcome: Result<()>) -> Option<Error> {
    let error = outcome.err()?;
    log::error("a command failed", &error);
    if let Some(checker) = &context.engine().hooks.checker {
        checker.failed("a command", &error);
    }
    context.report(&error);
    Some(error)
}

/// The final status of a command that failed so, or has completed.
pub(crate) fn final_status(failure: Option<&Error>) -> i32 {
    failure.map_or(COMPLETE, |error| error.status.code())
}

/// Dispatches a ready command to its queue; one whose wait list failed ends here, and is returned with its status.
fn dispatch(command: Arc<Command>, next_of: Option<&Queue>) -> Option<(Arc<Event>, i32)> {
    if command.failed.load(Ordering::Relaxed) {
        // Two statements: the work is dropped without the lock, because its drop may release other things, such as
        // the signal that a wait for a semaphore had taken (`Waits`).
        let work = command.work.lock().take();
        drop(work);
        if command.waits_for_stream() {
            return None;
        }
        return Some((command.event.clone(), Status::ExecStatusErrorForEventsInWaitList.code()));
    }
    command.event.advance(SUBMITTED);
    match command.event.queue() {
        Some(queue) => {
            Queue::push_ready(queue, command.clone(), next_of);
        }
        // Only the pair of a semaphore's signal and wait has an event without a queue.
        None => command.run(None),
    }
    None
}

/// Starts a ready command.
pub(crate) fn start(command: Arc<Command>) {
    if let Some((event, status)) = dispatch(command, None) {
        finish(&event, status);
    }
}

/// Starts a command on this thread.
pub(crate) fn start_here(command: Arc<Command>) {
    // `run` would run the work; `start` ends a command whose wait list failed without it.
    if command.failed.load(Ordering::Relaxed) {
        start(command);
    } else {
        command.run(None);
    }
}

/// Sets an event's final status and starts its dependents. Returns false if it had one already.
pub(crate) fn finish(event: &Arc<Event>, status: i32) -> bool {
    finish_before(event, status, event.context().engine().now(), None)
}

fn finish_before(event: &Arc<Event>, status: i32, now: u64, next_of: Option<&Queue>) -> bool {
    let Some(dependents) = end(event, status, now) else { return false };
    notify_dependents(dependents, status, next_of);
    true
}

/// The dependents of an event, with the kind of each dependence.
pub(crate) type Dependents = Vec<(Edge, Arc<Command>)>;

/// Sets an event's final status with its time. `None` if it had one already.
fn end(event: &Arc<Event>, status: i32, now: u64) -> Option<Dependents> {
    let dependents = event.settle(status, now)?;
    // Not earlier: `Queue::finish` must not miss a command whose event is not final yet.
    if let Some(queue) = event.queue() {
        queue.retire(event);
    }
    Some(dependents)
}

/// Notifies dependents that an event has ended; those that fail by it end here, and their dependents are notified in
/// turn.
pub(crate) fn notify_dependents(dependents: Dependents, status: i32, next_of: Option<&Queue>) {
    // A work list, as the head of this file says: `ended` has the commands that failed with their wait lists, and
    // `next` the dependents of the one that was ended last.
    let mut ended = Vec::new();
    let mut next = Some((dependents, status));
    while let Some((dependents, status)) = next.take() {
        for (edge, command) in dependents {
            if command.unblock(edge, status) {
                ended.extend(dispatch(command, next_of));
            }
        }
        // Several may have ended; each list of dependents is notified before the next event ends. An event that was
        // final already has none.
        while next.is_none()
            && let Some((event, status)) = ended.pop()
        {
            next = end(&event, status, event.context().engine().now()).map(|dependents| (dependents, status));
        }
    }
}
