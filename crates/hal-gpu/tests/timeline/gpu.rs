//! A model of a GPU with one stream, and the host's side of it. The GPU executes a command whenever a thread lets it: a
//! thread of the GPU, which may run at any moment, or a thread of the host that polls an event or blocks on one.

use super::completions::{Completions, Notify, StreamOwner, notify_end, wait};
use super::order::Timeline;
use super::stream::{GpuStream, Submission};
use super::sync::Mutex;
use crate::primitives::Condvar;
use cloom_hal::HalError;
use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::sync::{Arc, Weak};

/// A launch of a scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Launch {
    /// It runs at once.
    Plain(u32),
    /// It runs only after the host has released it.
    Held(u32),
    /// The driver refuses it.
    Refused(u32),
}

enum Command {
    Launch(Launch),
    Write(u64),
    Event(Arc<AtomicBool>),
}

/// The kind of GPU, and the bugs planted in it.
#[derive(Clone, Copy)]
pub struct Kind {
    /// The GPU writes timeline values.
    pub has_values: bool,
    /// A planted bug: an event wakes only threads that sleep already.
    pub forgets_events: bool,
    /// A planted bug: the timeline is dropped while the GPU still writes its value.
    pub never_drains: bool,
}

/// The sound one.
pub const SOUND: Kind = Kind { has_values: true, forgets_events: false, never_drains: false };

/// The GPU.
pub struct Gpu {
    kind: Kind,
    state: Mutex<State>,
    changed: Condvar,
    value: AtomicU64,
}

struct State {
    commands: VecDeque<Command>,
    ran: Vec<Launch>,
    /// The host has released the launches that wait for it.
    is_let: bool,
    /// The memory of the value was freed.
    is_gone: bool,
}

impl Gpu {
    pub fn new(kind: Kind) -> Arc<Gpu> {
        let state = State { commands: VecDeque::new(), ran: Vec::new(), is_let: false, is_gone: false };
        Arc::new(Gpu { kind, state: Mutex::new(state), changed: Condvar::new(), value: AtomicU64::new(0) })
    }

    /// Does the next command, if it can.
    fn step(&self, state: &mut State) -> bool {
        match state.commands.pop_front() {
            Some(Command::Launch(launch @ Launch::Held(_))) if !state.is_let => {
                state.commands.push_front(Command::Launch(launch));
                return false;
            }
            Some(Command::Launch(launch)) => state.ran.push(launch),
            Some(Command::Write(value)) => {
                assert!(!state.is_gone, "the memory of the value is gone");
                self.value.store(value, Ordering::Release);
            }
            Some(Command::Event(event)) => event.store(true, Ordering::Release),
            None => return false,
        }
        self.changed.notify_all();
        true
    }

    /// Does so many commands, or those there are: a thread of the GPU.
    pub fn run(&self, commands: usize) {
        for _ in 0..commands {
            self.step(&mut self.state.lock());
        }
    }

    fn push(&self, command: Command) {
        self.state.lock().commands.push_back(command);
        self.changed.notify_all();
    }

    /// The host releases the launches that wait for it.
    pub fn let_run(&self) {
        self.state.lock().is_let = true;
        self.changed.notify_all();
    }

    /// The launches that have run.
    pub fn ran(&self) -> Vec<Launch> {
        self.state.lock().ran.clone()
    }

    /// Submits a launch.
    pub fn put(&self, launch: Launch) -> Result<(), HalError> {
        match launch {
            Launch::Refused(_) => Err(HalError::Device("refused".into())),
            launch => {
                self.push(Command::Launch(launch));
                Ok(())
            }
        }
    }
}

/// Its stream.
pub struct Stream(pub Arc<Gpu>);

/// An event.
pub struct Event {
    has_come: Arc<AtomicBool>,
    sleeps: bool,
}

impl GpuStream for Stream {
    type Event = Event;
    type Launch = Launch;
    type State = ();
    const BATCH: usize = 2;

    fn value(&self) -> u64 {
        self.0.value.load(Ordering::Acquire)
    }

    fn drain(&self) {
        let mut state = self.0.state.lock();
        while !self.0.kind.never_drains && self.0.step(&mut state) {}
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.0.state.lock().is_gone = true;
    }
}

impl Submission<Stream> for &Gpu {
    fn record(&self, sleeps: bool) -> Result<Event, HalError> {
        let has_come = Arc::new(AtomicBool::new(false));
        self.push(Command::Event(has_come.clone()));
        Ok(Event { has_come, sleeps })
    }

    fn can_sleep_on(&self, event: &Event) -> bool {
        event.sleeps
    }

    fn has_come(&self, event: &Event) -> Result<bool, HalError> {
        // Polling lets the GPU make progress.
        self.run(1);
        Ok(event.has_come.load(Ordering::Acquire))
    }

    fn sleep_on(&self, event: &Event) -> Result<(), HalError> {
        let mut state = self.state.lock();
        if self.kind.forgets_events {
            state = self.changed.wait(state);
        }
        while !event.has_come.load(Ordering::Acquire) {
            if !self.step(&mut state) {
                state = self.changed.wait(state);
            }
        }
        Ok(())
    }

    fn write(&self, value: u64) -> bool {
        if self.kind.has_values {
            self.push(Command::Write(value));
        }
        self.kind.has_values
    }

    fn put(&self, _: &mut (), launch: &Launch) -> Result<(), HalError> {
        Gpu::put(self, *launch)
    }

    fn can_batch(&self, _: &(), launches: &[Launch]) -> bool {
        launches.iter().all(|launch| matches!(launch, Launch::Plain(_)))
    }

    fn put_batch(&self, _: &mut (), launches: &[Launch]) -> bool {
        launches.iter().for_each(|launch| self.push(Command::Launch(*launch)));
        true
    }
}

/// The host's side of the stream.
pub struct Host {
    pub gpu: Arc<Gpu>,
    pub timeline: Timeline<Stream>,
    pub completions: Completions<Entry>,
}

/// A flag that a launch has ended, which is set once.
pub struct EndNotice {
    result: Mutex<Option<Result<(), HalError>>>,
    changed: Condvar,
}

/// Launches of the list with one completion.
pub struct Entry {
    host: Weak<Host>,
    pub launches: Vec<Launch>,
    pub numbers: Vec<RangeInclusive<u64>>,
    told: Arc<EndNotice>,
    /// A planted bug: the error is taken before the launch has ended.
    takes_failure_early: bool,
}

impl Notify for Entry {
    fn last(&self) -> u64 {
        self.numbers.last().map_or(0, |numbers| *numbers.end())
    }

    fn is_timed(&self) -> bool {
        false
    }

    fn notify(self) {
        let host = self.host.upgrade().expect("who launches keeps the host's side");
        let early = self.takes_failure_early.then(|| host.timeline.take_failure(&self.numbers));
        if !host.timeline.has_ended(self.last()) {
            host.timeline.wait(&&*host.gpu, self.last()).expect("no call fails");
        }
        let failure = early.unwrap_or_else(|| host.timeline.take_failure(&self.numbers));
        let ran = host.gpu.ran();
        for launch in &self.launches {
            match launch {
                Launch::Refused(_) => assert!(failure.is_some(), "{launch:?}: its error is lost"),
                launch => assert!(ran.contains(launch), "{launch:?}: notified before it has run"),
            }
        }
        let mut result = self.told.result.lock();
        assert!(result.is_none(), "notified twice");
        *result = Some(failure.map_or(Ok(()), Err));
        self.told.changed.notify_all();
    }
}

impl StreamOwner for Host {
    type Stream = Stream;
    type Launch = Entry;
    const THREAD: &'static str = "stream";

    fn timeline(&self) -> &Timeline<Stream> {
        &self.timeline
    }

    fn completions(&self) -> &Completions<Entry> {
        &self.completions
    }

    fn try_submit_deferred(&self) {
        self.timeline.try_submit_deferred(&&*self.gpu);
    }

    fn poll_completions(&self) {
        self.timeline.poll_completions(&&*self.gpu);
    }
}

impl EndNotice {
    pub fn has_come(&self) -> bool {
        self.result.lock().is_some()
    }

    /// Sleeps until it is set, like a thread that waits for an event of the runtime.
    pub fn sleep(&self) -> Result<(), HalError> {
        let mut result = self.result.lock();
        loop {
            match &*result {
                Some(result) => return result.clone(),
                None => result = self.changed.wait(result),
            }
        }
    }
}

impl Host {
    pub fn new(kind: Kind) -> Arc<Host> {
        let gpu = Gpu::new(kind);
        let timeline = Timeline::new(Stream(gpu.clone()));
        Arc::new(Host { gpu, timeline, completions: Completions::default() })
    }

    /// Submits a launch at once. Returns its number.
    pub fn submit(&self, launch: Launch) -> u64 {
        let put = |(): &mut ()| Ok(((), self.gpu.put(launch).map(|()| None)?));
        self.timeline.submit(&&*self.gpu, |(), _| false, put).expect("no call fails").number
    }

    /// Defers a launch. Returns its number.
    pub fn defer(&self, launch: Launch) -> u64 {
        self.timeline.append(launch).expect("there are few")
    }

    /// The list's entry for a launch, and the flag that it sets.
    pub fn entry(self: &Arc<Host>, launch: Launch, number: u64, takes_failure_early: bool) -> (Entry, Arc<EndNotice>) {
        let told = Arc::new(EndNotice { result: Mutex::new(None), changed: Condvar::new() });
        let (host, launches, numbers) = (Arc::downgrade(self), vec![launch], vec![number..=number]);
        (Entry { host, launches, numbers, told: told.clone(), takes_failure_early }, told)
    }

    /// Adds a launch to the list of those to be notified.
    pub fn notify_end(self: &Arc<Host>, launch: Launch, number: u64) -> Arc<EndNotice> {
        let (entry, told) = self.entry(launch, number, false);
        notify_end(self, entry);
        told
    }

    /// Waits as the runtime does: notifies for a while, then sleeps.
    pub fn wait(&self, told: &EndNotice) -> Result<(), HalError> {
        wait(self, &|| told.has_come());
        told.sleep()
    }

    /// No launch follows: the stream's thread ends.
    pub fn end(&self) {
        let _work = self.completions.work.lock();
        self.completions.changed.expire();
    }
}
