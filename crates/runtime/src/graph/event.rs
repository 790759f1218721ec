//! Events: the status of a command or of the application's own work, the commands that depend on it, and its callbacks.
//!
//! The status only decreases: queued 3, submitted 2, running 1, complete 0, or a negative error (OpenCL 3.0, section
//! 5.11). The callbacks of one event are called one after the other, in the order of the statuses, on a thread of their
//! own, so that they may call the interface and block.

use crate::checker::Awaited;
use crate::graph::execute::{Command, Dependents, final_status, finish, notify_dependents};
use crate::graph::packed::Buffers;
use crate::graph::stream::{InStream, Needs, StreamLaunch};
use crate::objects::code::Enqueued;
use crate::status::{bail, ensure};
use crate::thread_exit;
use crate::{CommandType, Context, Error, ExternalSlot, Queue, QueueFlags, Result, Status};
use cloom_hal::Kernel;
use cloom_hal::lock::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub(crate) const QUEUED: i32 = 3;
pub(crate) const SUBMITTED: i32 = 2;
pub(crate) const RUNNING: i32 = 1;
pub(crate) const COMPLETE: i32 = 0;

/// A callback; its argument is the status.
pub type Callback = Box<dyn FnOnce(i32) + Send>;

/// Nanoseconds at which the status changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Profiling {
    /// It was enqueued.
    pub queued: u64,
    /// All dependences had ended.
    pub submit: u64,
    /// It began.
    pub start: u64,
    /// It ended.
    pub end: u64,
    /// The commands that it enqueued on the device have ended too.
    pub complete: u64,
}

/// How a command depends on an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Edge {
    /// The event is in its wait list: it fails when the event fails.
    Wait,
    /// It comes later in the queue: it runs when the event is done, even if that failed.
    Order,
    /// Both are launches on a device that keeps their order: it runs when the event's was submitted.
    Stream,
}

struct State {
    status: i32,
    times: Profiling,
    callbacks: Vec<(i32, Callback)>,
    due: VecDeque<(i32, Callback)>,
    delivering: bool,
    dependents: Dependents,
    /// The launch that its command submits to a device that keeps the order.
    launch: StreamLaunch,
    /// How long the launch ran, if the device measured it.
    time: Option<Duration>,
}

impl State {
    /// Sets the status and moves the callbacks that are due. Returns whether the caller must see to their delivery.
    fn change(&mut self, status: i32) -> bool {
        self.status = status;
        // Most events have no callback: nothing is moved or sorted for them.
        if self.callbacks.is_empty() {
            return false;
        }
        let (due, later) = std::mem::take(&mut self.callbacks).into_iter().partition(|(at, _)| status <= *at);
        self.callbacks = later;
        // Of several that are due at once, those for earlier statuses come first.
        let mut due: Vec<(i32, Callback)> = due;
        due.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        // A failed command calls every callback with its error, whatever status the callback is for (section 5.11).
        self.due.extend(due.into_iter().map(|(at, call)| (if status < 0 { status } else { at }, call)));
        self.must_deliver()
    }

    /// Whether launches can be appended.
    fn takes_more(&self) -> bool {
        self.status > COMPLETE && self.launch.has_room()
    }

    /// Whether callbacks are due that no thread delivers yet. Then the caller delivers them.
    fn must_deliver(&mut self) -> bool {
        let must = !self.delivering && !self.due.is_empty();
        self.delivering |= must;
        must
    }
}

/// An event.
pub struct Event {
    /// What the interface keeps.
    pub external: ExternalSlot,
    pub(crate) id: u64,
    context: Arc<Context>,
    queue: Option<Arc<Queue>>,
    command: CommandType,
    in_stream: InStream,
    state: Mutex<State>,
    /// Whether the final status is set: a waiting thread tests it before it sleeps.
    done: AtomicBool,
    changed: Condvar,
    /// Why the command failed, if it did. Boxed, because most do not and every event has room for it.
    failure: OnceLock<Box<Error>>,
}

/// The times of a command that is queued now: zeros where the queue does not profile.
fn queued_now(context: &Context, queue: Option<&Arc<Queue>>) -> Profiling {
    let profiles = queue.is_some_and(|q| q.flags().contains(QueueFlags::PROFILING));
    let queued = if profiles { context.engine().now() } else { 0 };
    Profiling { queued, ..Profiling::default() }
}

impl Event {
    pub(crate) fn new(context: &Arc<Context>, queue: Option<&Arc<Queue>>, command: CommandType) -> Arc<Event> {
        Event::of_command(context, queue, command, InStream::No)
    }

    /// The event of a command, which may be a launch on a device that keeps the order of launches.
    pub(crate) fn of_command(
        context: &Arc<Context>,
        queue: Option<&Arc<Queue>>,
        command: CommandType,
        in_stream: InStream,
    ) -> Arc<Event> {
        // No queue submits a user event: it waits for the application from the start.
        let status = if command == CommandType::User { SUBMITTED } else { QUEUED };
        Event::with(context, queue, command, status, queued_now(context, queue), in_stream)
    }

    /// The event of a command that has ended; `times` are zeros where the queue does not profile.
    pub(crate) fn ended(
        queue: &Arc<Queue>,
        command: CommandType,
        failure: Option<Error>,
        times: Profiling,
    ) -> Arc<Event> {
        let status = final_status(failure.as_ref());
        let event = Event::with(queue.context(), Some(queue), command, status, times, InStream::No);
        failure.into_iter().for_each(|error| event.note_failure(error));
        event
    }

    fn with(
        context: &Arc<Context>,
        queue: Option<&Arc<Queue>>,
        command: CommandType,
        status: i32,
        times: Profiling,
        in_stream: InStream,
    ) -> Arc<Event> {
        let (callbacks, due, dependents, launch) = Default::default();
        let state = State { status, times, callbacks, due, delivering: false, dependents, launch, time: None };
        Arc::new(Event {
            external: ExternalSlot::default(),
            id: context.engine().id(),
            context: context.clone(),
            queue: queue.cloned(),
            command,
            in_stream,
            state: Mutex::new(state),
            done: AtomicBool::new(status <= COMPLETE),
            changed: Condvar::new(),
            failure: OnceLock::new(),
        })
    }

    /// An event that the application completes.
    pub fn user(context: &Arc<Context>) -> Arc<Event> {
        Event::new(context, None, CommandType::User)
    }

    /// The context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The queue; none for a user event.
    pub fn queue(&self) -> Option<&Arc<Queue>> {
        self.queue.as_ref()
    }

    /// What the command does.
    pub fn command(&self) -> CommandType {
        self.command
    }

    /// The status: 3 to 0, or an error.
    pub fn status(&self) -> i32 {
        self.state.lock().status
    }

    /// The status, for the application.
    pub fn asked_status(&self) -> i32 {
        let status = self.status();
        self.tell_checker(status);
        status
    }

    /// The application learns that the event has this status.
    fn tell_checker(&self, status: i32) {
        if let Some(checker) = self.context.engine().checker().filter(|_| status <= COMPLETE) {
            checker.waits(Awaited::Events(&[self.id]));
        }
    }

    /// Why the command failed. None for a command that has not, or that waited for one that has.
    pub fn failure(&self) -> Option<&Error> {
        self.failure.get().map(|error| &**error)
    }

    /// Keeps the first failure of the command; before its status is set.
    pub(crate) fn note_failure(&self, error: Error) {
        // Of several failures the first one says why.
        let _ = self.failure.set(Box::new(error));
    }

    // OpenCL 3.0 API, 5.14: Profiling Operations on Memory Objects and Kernels.
    /// The times, if the queue profiles and the command is complete.
    pub fn profiling(&self) -> Result<Profiling> {
        let profiles = self.queue.as_ref().is_some_and(|q| q.flags().contains(QueueFlags::PROFILING));
        ensure!(profiles, ProfilingInfoNotAvailable, "the event is not of a queue with CL_QUEUE_PROFILING_ENABLE");
        // The queue may have got CL_QUEUE_PROFILING_ENABLE later, by `set_flags`.
        let state = self.state.lock();
        let queued = state.times.queued != 0;
        ensure!(queued, ProfilingInfoNotAvailable, "the command was enqueued before its queue profiled");
        ensure!(
            state.status == COMPLETE,
            ProfilingInfoNotAvailable,
            "the command has not completed: status {}",
            state.status
        );
        Ok(state.times)
    }

    // OpenCL 3.0 API, 5.11: Event Objects.
    /// Completes a user event, with 0 or with an error.
    pub fn set_user_status(self: &Arc<Event>, status: i32) -> Result<()> {
        ensure!(self.command == CommandType::User, InvalidEvent, "this is not a user event");
        ensure!(
            status <= COMPLETE,
            InvalidValue,
            "a user event is set to CL_COMPLETE or to a negative error, not to {status}"
        );
        if finish(self, status) {
            return Ok(());
        }
        bail!(InvalidOperation, "the status of this user event has been set before")
    }

    // OpenCL 3.0 API, 5.11: Event Objects.
    /// Calls back when the status is `threshold` (2, 1 or 0) or past it.
    pub fn on_status(self: &Arc<Event>, threshold: i32, call: Callback) -> Result<()> {
        let known = (COMPLETE..=SUBMITTED).contains(&threshold);
        ensure!(known, InvalidValue, "callbacks are for CL_SUBMITTED, CL_RUNNING and CL_COMPLETE, not for {threshold}");
        let mut state = self.state.lock();
        if state.status > threshold {
            state.callbacks.push((threshold, call));
            return Ok(());
        }
        let told = if state.status < 0 { state.status } else { threshold };
        state.due.push_back((told, call));
        let deliver = state.must_deliver();
        // Not under the lock: the callback may run on this thread and ask for the status of this event.
        drop(state);
        self.deliver(deliver);
        Ok(())
    }

    /// Sets a status that is not final. Returns the time, unless the event is done already.
    pub(crate) fn advance(self: &Arc<Event>, status: i32) -> Option<u64> {
        let mut state = self.state.lock();
        // The status never increases: another thread may have ended the event already.
        if state.status <= status {
            return None;
        }
        let now = self.context.engine().now();
        match status {
            SUBMITTED => state.times.submit = now,
            _ => {
                state.times.start = now;
                // A command that runs on the enqueuing thread is submitted when it runs.
                if state.times.submit == 0 {
                    state.times.submit = now;
                }
            }
        }
        let deliver = state.change(status);
        drop(state);
        self.deliver(deliver);
        Some(now)
    }

    /// Notes when the command itself ended, if that is before those that it enqueued on the device end.
    pub(crate) fn note_end(&self, now: u64) {
        self.state.lock().times.end = now;
    }

    /// Notes how long the launch ran, by the device's clock.
    pub(crate) fn note_time(&self, time: Duration) {
        self.state.lock().time = Some(time);
    }

    /// Whether the command only submits a launch to a device that keeps the order.
    pub(crate) fn streams(&self) -> bool {
        self.in_stream != InStream::No
    }

    /// The launch was submitted: the next ones of its queue may be.
    pub(crate) fn note_submitted(&self) {
        let mut state = self.state.lock();
        // Under the lock under which `add_dependent` looks at it: a launch that follows finds this one submitted, or is
        // among the dependents that are taken below.
        state.launch.submitted();
        // The other dependents wait for the end, and stay.
        let follows = |(edge, _): &(Edge, Arc<Command>)| *edge == Edge::Stream;
        if !state.dependents.iter().any(follows) {
            return;
        }
        let (next, rest) = std::mem::take(&mut state.dependents).into_iter().partition(follows);
        state.dependents = rest;
        drop(state);
        notify_dependents(next, RUNNING, None);
    }

    /// Whether launches can be appended to the launch, as far as is known without the device.
    pub(crate) fn takes_more(&self) -> bool {
        self.in_stream == InStream::Open && self.state.lock().takes_more()
    }

    /// Appends a launch of a kernel with these buffers, which `append` submits as a part of this one, unless that
    /// cannot be.
    pub(crate) fn append(&self, kernel: &Arc<dyn Kernel>, buffers: &Buffers, append: impl FnOnce() -> bool) -> bool {
        if self.in_stream != InStream::Open {
            return false;
        }
        // Under the lock, so that what is kept is there before the device tells the end.
        let mut state = self.state.lock();
        if !state.takes_more() || !append() {
            return false;
        }
        state.launch.appended(kernel, buffers);
        true
    }

    /// Takes what appended launches needed, which have ended.
    pub(crate) fn take_appended(&self) -> Vec<Needs> {
        if self.in_stream == InStream::Open { self.state.lock().launch.take_needs() } else { Vec::new() }
    }

    /// Sets the final status with its time; returns the dependent commands. `None` if the event was done already.
    pub(crate) fn settle(self: &Arc<Event>, status: i32, now: u64) -> Option<Dependents> {
        let mut state = self.state.lock();
        if state.status <= COMPLETE {
            return None;
        }
        let State { times, time, .. } = &mut *state;
        times.complete = now;
        // A command whose kernel enqueued others has noted its own end before (`note_end`).
        if times.end == 0 {
            times.end = now;
        }
        if let Some(time) = time {
            // It waited for the launches before it.
            let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            times.start = times.start.max(times.end.saturating_sub(time));
        }
        // A command that ended without running, as its wait list failed, was never submitted or started: it has the
        // time of its end for both.
        for time in [&mut times.submit, &mut times.start] {
            if *time == 0 {
                *time = now;
            }
        }
        let deliver = state.change(status);
        let dependents = std::mem::take(&mut state.dependents);
        // Still under the lock, under which `wait` tests the status before it sleeps: it misses no notification.
        self.done.store(true, Ordering::Release);
        self.changed.notify_all();
        drop(state);
        self.deliver(deliver);
        Some(dependents)
    }

    /// Delivers due callbacks, unless another thread does. Not under the lock: if the system has no thread left, they
    /// run here.
    fn deliver(self: &Arc<Event>, must: bool) {
        if !must {
            return;
        }
        let this = self.clone();
        self.context.engine().callbacks.submit(Box::new(move || {
            loop {
                let mut state = this.state.lock();
                let Some((status, call)) = state.due.pop_front() else {
                    // Cleared under the lock that showed the empty list: a callback that comes later finds no thread
                    // that delivers, and is delivered by the thread that adds it.
                    state.delivering = false;
                    break;
                };
                drop(state);
                this.tell_checker(status);
                call(status);
            }
        }));
    }

    /// Makes a command wait for this event. Returns the status if it is done already.
    pub(crate) fn add_dependent(&self, edge: Edge, command: &Arc<Command>) -> Option<i32> {
        let mut state = self.state.lock();
        // A launch may follow in the stream as soon as this one was submitted, although it has not ended.
        if state.status <= COMPLETE || edge == Edge::Stream && state.launch.is_submitted() {
            return Some(state.status);
        }
        state.dependents.push((edge, command.clone()));
        None
    }

    /// Whether it completes only after another command of its queue that may run now. A thread that waits for this
    /// event must run no later command: a kernel may spin on shared memory that the host writes after this wait.
    fn needs(&self, other: &Event, queue: &Queue) -> bool {
        if queue.in_order() { other.id <= self.id } else { other.id == self.id }
    }

    /// Waits until it is done, and runs commands of its queue meanwhile. Returns the status.
    pub fn wait(&self) -> i32 {
        let mut ran = false;
        let status = loop {
            let status = self.status();
            if status <= COMPLETE {
                break status;
            }
            if let Some(queue) = self.queue.as_ref().filter(|_| !thread_exit::is_exiting()) {
                if queue.run_one(|other| self.needs(other, queue)) {
                    ran = true;
                    continue;
                }
                // Other threads must take over ready commands that they left to this thread.
                if std::mem::take(&mut ran) {
                    Queue::stop_running(queue);
                }
            }
            // Another thread runs the command. It may be short, and sleeping and waking takes longer than most
            // commands, so this thread spins first; a long launch can be assisted meanwhile.
            let done = || self.done.load(Ordering::Acquire);
            if self.queue.as_ref().is_some_and(|q| !thread_exit::is_exiting() && q.assist(&done)) {
                continue;
            }
            let state = self.state.lock();
            // The wait may end without a reason: the loop tests the status again.
            if state.status > COMPLETE {
                drop(self.changed.wait(state));
            }
        };
        if let Some(queue) = self.queue.as_ref().filter(|_| ran) {
            Queue::stop_running(queue);
        }
        status
    }

    // OpenCL 3.0 API, 5.11: Event Objects.
    /// Waits for all of them.
    pub fn wait_all(events: &[Arc<Event>]) -> Result<()> {
        ensure!(!events.is_empty(), InvalidValue, "there is no event to wait for");
        same_context(events.iter().map(|e| &e.context)).map_err(|why| Error::new(Status::InvalidContext, why))?;
        if let Some(checker) = events[0].context.engine().checker() {
            checker.waits(Awaited::Events(&events.iter().map(|e| e.id).collect::<Vec<_>>()));
        }
        let mut failed = None;
        // The call returns when all events have ended, so a failure does not end the loop.
        for event in events {
            let status = event.wait();
            if status < 0 {
                failed = Some(status);
            }
        }
        match failed {
            Some(status) => {
                bail!(ExecStatusErrorForEventsInWaitList, "an event in the list ended with status {status}")
            }
            None => Ok(()),
        }
    }
}

impl Enqueued for Event {
    fn has_ended(&self) -> bool {
        self.status() <= COMPLETE
    }
}

impl Drop for Event {
    /// A user event that was released without a status fails, so that dependent commands end. Commands' own events have
    /// ended by now.
    fn drop(&mut self) {
        let state = self.state.get_mut();
        let dependents = std::mem::take(&mut state.dependents);
        if state.status > COMPLETE && !dependents.is_empty() {
            let why = "a user event was released before its status was set: commands that wait for it fail";
            let error = Error::new(Status::InvalidEvent, why);
            crate::log::error("clReleaseEvent", &error);
            self.context.report(&error);
            notify_dependents(dependents, error.status.code(), None);
        }
    }
}

fn same_context<'a>(mut contexts: impl Iterator<Item = &'a Arc<Context>>) -> std::result::Result<(), &'static str> {
    let Some(first) = contexts.next() else { return Ok(()) };
    match contexts.all(|c| Arc::ptr_eq(c, first)) {
        true => Ok(()),
        false => Err("the events are of different contexts"),
    }
}
