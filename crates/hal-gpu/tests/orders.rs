//! Random orders of operations on a timeline, compared with a sequential reference; and threads that launch, append and
//! wait at random, each of whose launches is notified once and in order.
//!
//! The GPU is a queue of commands. The test executes them one at a time, so that each prefix of its work is observed.
//! Driver calls fail at random.

use cloom_hal::HalError;
use cloom_hal::lock::Mutex;
use cloom_hal_gpu::timeline::completions::{Completions, Notify, StreamOwner, notify_end, wait};
use cloom_hal_gpu::timeline::{GpuStream, Submission, Timeline};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar};

/// The generator SplitMix64: small, and the same on each machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut value = self.0;
        value = (value ^ value >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        value = (value ^ value >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (value ^ value >> 31) % bound.max(1)
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// A launch, by a tag of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Launch {
    tag: u64,
    is_refused: bool,
}

enum Command {
    Launch(Launch),
    Write(u64),
    Event(Arc<AtomicBool>),
}

struct State {
    random: Random,
    /// One in this many calls fails; none fails if it is 0.
    failing: u64,
    commands: VecDeque<Command>,
    /// The launches that were submitted, in order.
    put: Vec<Launch>,
    ran: Vec<Launch>,
}

impl State {
    fn fails(&mut self) -> bool {
        self.failing > 0 && self.random.one_in(self.failing)
    }
}

struct Gpu {
    state: Mutex<State>,
    value: AtomicU64,
    has_values: bool,
}

impl Gpu {
    fn new(seed: u64, failing: u64) -> Arc<Gpu> {
        let random = Random(seed);
        let (commands, put, ran) = Default::default();
        let state = Mutex::new(State { random, failing, commands, put, ran });
        Arc::new(Gpu { state, value: AtomicU64::new(0), has_values: !seed.is_multiple_of(4) })
    }

    /// Does the next command.
    fn step(&self) -> bool {
        let mut state = self.state.lock();
        match state.commands.pop_front() {
            Some(Command::Launch(launch)) => state.ran.push(launch),
            Some(Command::Write(value)) => self.value.store(value, Ordering::Release),
            Some(Command::Event(event)) => event.store(true, Ordering::Release),
            None => return false,
        }
        true
    }

    fn call(&self) -> Result<(), HalError> {
        if self.state.lock().fails() { Err(HalError::Device("it fails".into())) } else { Ok(()) }
    }

    fn put(&self, launch: Launch) -> Result<(), HalError> {
        self.call()?;
        if launch.is_refused {
            return Err(HalError::Device("refused".into()));
        }
        let mut state = self.state.lock();
        state.put.push(launch);
        state.commands.push_back(Command::Launch(launch));
        Ok(())
    }

    fn event(&self, sleeps: bool) -> Event {
        let has_come = Arc::new(AtomicBool::new(false));
        self.state.lock().commands.push_back(Command::Event(has_come.clone()));
        Event { has_come, sleeps }
    }
}

struct Event {
    has_come: Arc<AtomicBool>,
    sleeps: bool,
}

struct Stream(Arc<Gpu>);

impl GpuStream for Stream {
    type Event = Event;
    type Launch = Launch;
    type State = ();
    const BATCH: usize = 4;

    fn value(&self) -> u64 {
        self.0.value.load(Ordering::Acquire)
    }

    fn drain(&self) {
        while self.0.step() {}
    }
}

impl Submission<Stream> for &Gpu {
    fn record(&self, sleeps: bool) -> Result<Event, HalError> {
        self.call()?;
        Ok(self.event(sleeps))
    }

    fn can_sleep_on(&self, event: &Event) -> bool {
        event.sleeps
    }

    fn has_come(&self, event: &Event) -> Result<bool, HalError> {
        self.step();
        Ok(event.has_come.load(Ordering::Acquire))
    }

    fn sleep_on(&self, event: &Event) -> Result<(), HalError> {
        while !event.has_come.load(Ordering::Acquire) {
            if !self.step() {
                std::thread::yield_now();
            }
        }
        Ok(())
    }

    fn write(&self, value: u64) -> bool {
        let writes = self.has_values && self.call().is_ok();
        if writes {
            self.state.lock().commands.push_back(Command::Write(value));
        }
        writes
    }

    fn put(&self, _: &mut (), launch: &Launch) -> Result<(), HalError> {
        Gpu::put(self, *launch)
    }

    fn can_batch(&self, _: &(), launches: &[Launch]) -> bool {
        assert_eq!(launches.len(), Stream::BATCH);
        !launches.iter().any(|launch| launch.is_refused)
    }

    fn put_batch(&self, _: &mut (), launches: &[Launch]) -> bool {
        let is_put = self.call().is_ok();
        if is_put {
            let mut state = self.state.lock();
            state.put.extend(launches);
            state.commands.extend(launches.iter().map(|launch| Command::Launch(*launch)));
        }
        is_put
    }
}

/// The state of a sequential timeline.
#[derive(Default)]
struct Reference {
    /// All launches by their numbers; `None` for one whose error the caller got at once.
    launches: BTreeMap<u64, Option<Launch>>,
    /// The deferred launches, in order.
    deferred: VecDeque<u64>,
    /// The refused launches whose error was not taken yet.
    failed: BTreeSet<u64>,
    ended: u64,
}

impl Reference {
    /// All deferred launches were submitted, or were refused.
    fn flush(&mut self, put: &BTreeSet<Launch>) {
        for number in self.deferred.drain(..) {
            if !self.launches[&number].is_some_and(|launch| put.contains(&launch)) {
                self.failed.insert(number);
            }
        }
    }

    /// The timeline is in the same state.
    fn check(&mut self, gpu: &Gpu, timeline: &Timeline<Stream>) {
        let state = gpu.state.lock();
        let number_of: BTreeMap<Launch, u64> =
            self.launches.iter().filter_map(|(&number, launch)| Some(((*launch)?, number))).collect();
        let numbers: Vec<u64> = state.put.iter().map(|launch| number_of[launch]).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b), "on the stream in the order of numbers, once: {numbers:?}");
        assert_eq!(timeline.deferred(), self.deferred.len());
        assert_eq!(timeline.submitted(), self.launches.keys().next_back().copied().unwrap_or(0));
        let ended = timeline.ended();
        assert!(ended >= self.ended, "it only grows: {ended} after {}", self.ended);
        self.ended = ended;
        assert!(self.deferred.front().is_none_or(|&first| ended < first), "what is deferred has not ended");
        for (&launch, &number) in number_of.iter().filter(|(_, number)| **number <= ended) {
            let never_runs = launch.is_refused || !state.put.contains(&launch);
            assert!(never_runs || state.ran.contains(&launch), "{number} has ended and has not run");
        }
    }
}

/// One random program.
fn program(seed: u64) {
    let mut random = Random(seed);
    let failing = [0, 0, 7, 3][random.below(4) as usize];
    let gpu = Gpu::new(seed, failing);
    let timeline = Timeline::new(Stream(gpu.clone()));
    let mut reference = Reference::default();
    let stream = &*gpu;
    for tag in 0..random.below(60) {
        let launch = Launch { tag, is_refused: random.one_in(8) };
        let is_put = || gpu.state.lock().put.iter().copied().collect::<BTreeSet<_>>();
        match random.below(9) {
            0 | 1 => {
                let (times_it, with_value) = (random.one_in(4), random.one_in(2));
                let next = timeline.submitted() + 1;
                let submitted = timeline.submit(
                    &stream,
                    |(), value| {
                        assert_eq!(value, next, "its number is the value");
                        let is_put = with_value && gpu.has_values && gpu.put(launch).is_ok();
                        if is_put {
                            gpu.state.lock().commands.push_back(Command::Write(value));
                        }
                        is_put
                    },
                    |()| {
                        gpu.put(launch)?;
                        Ok(((), times_it.then(|| Arc::new(gpu.event(true)))))
                    },
                );
                reference.flush(&is_put());
                let number = submitted.as_ref().map_or(next, |submitted| submitted.number);
                assert_eq!(number, next);
                reference.launches.insert(number, submitted.is_ok().then_some(launch));
            }
            2..=4 => {
                let number = timeline.append(launch).expect("there are few");
                reference.launches.insert(number, Some(launch));
                reference.deferred.push_back(number);
            }
            5 => {
                timeline.submit_deferred(&stream);
                reference.flush(&is_put());
            }
            6 => {
                let number = random.below(timeline.submitted() + 1);
                let had_ended = timeline.has_ended(number);
                let waited = timeline.wait(&stream, number);
                if !had_ended {
                    reference.flush(&is_put());
                }
                assert!(failing > 0 || waited.is_ok(), "{waited:?}");
                assert!(waited.is_err() || timeline.has_ended(number), "it was waited for");
            }
            7 => {
                let first = random.below(timeline.submitted() + 1);
                let numbers = first..=first + random.below(4);
                let wanted = reference.failed.range(numbers.clone()).next().is_some();
                assert_eq!(timeline.take_failure(std::slice::from_ref(&numbers)).is_some(), wanted, "{numbers:?}");
                reference.failed.retain(|number| !numbers.contains(number));
            }
            _ => timeline.poll_completions(&stream),
        }
        reference.check(&gpu, &timeline);
        for _ in 0..random.below(4) {
            gpu.step();
            reference.check(&gpu, &timeline);
        }
    }
    timeline.submit_deferred(&stream);
    drop(timeline);
    while gpu.step() {}
    let state = gpu.state.lock();
    assert_eq!(state.ran, state.put, "each runs once");
}

#[test]
fn random_orders_do_what_a_sequential_machine_does() {
    for seed in 0..20_000 {
        program(seed);
    }
}

/// A stream whose launches are notified when they end.
struct Host {
    gpu: Arc<Gpu>,
    timeline: Timeline<Stream>,
    completions: Completions<Entry>,
    /// The numbers of the launches that were notified, in order.
    notified: Mutex<Vec<u64>>,
}

/// Launches with one completion.
struct Entry {
    host: Arc<Host>,
    numbers: Vec<u64>,
    done: Arc<Done>,
}

#[derive(Default)]
struct Done {
    is_done: std::sync::Mutex<bool>,
    changed: Condvar,
}

impl Notify for Entry {
    fn last(&self) -> u64 {
        *self.numbers.last().expect("it has one")
    }

    fn is_timed(&self) -> bool {
        false
    }

    fn notify(self) {
        let last = self.last();
        self.host.timeline.wait(&&*self.host.gpu, last).expect("no call fails");
        assert!(self.host.timeline.has_ended(last));
        self.host.notified.lock().extend(&self.numbers);
        *self.done.is_done.lock().expect("nobody panics") = true;
        self.done.changed.notify_all();
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

impl Host {
    /// Launches so many times, and waits now and then. Returns the numbers.
    fn launch(self: &Arc<Host>, thread: u64, launches: u64) -> Vec<u64> {
        let mut random = Random(thread);
        let (mut numbers, mut last) = (Vec::new(), None::<Arc<Done>>);
        for tag in 0..launches {
            let launch = Launch { tag: thread << 32 | tag, is_refused: false };
            let mut number = 0;
            let is_appended = random.one_in(3)
                && self.completions.append(|entry| {
                    number = self.timeline.append(launch).unwrap_or(0);
                    entry.numbers.extend((number > 0).then_some(number));
                    number > 0
                });
            if !is_appended {
                number = match random.one_in(2).then(|| self.timeline.append(launch)).flatten() {
                    Some(number) => number,
                    None => {
                        let submitted =
                            self.timeline.submit(&&*self.gpu, |(), _| false, |()| Ok((self.gpu.put(launch)?, None)));
                        submitted.expect("no call fails").number
                    }
                };
                let (host, done) = (self.clone(), Arc::<Done>::default());
                last = Some(done.clone());
                notify_end(self, Entry { host, numbers: vec![number], done });
            }
            numbers.push(number);
            if random.one_in(5)
                && let Some(done) = last.take()
            {
                self.wait(&done);
            }
        }
        last.iter().for_each(|done| self.wait(done));
        numbers
    }

    /// Waits as the runtime does.
    fn wait(&self, done: &Done) {
        if !wait(self, &|| *done.is_done.lock().expect("nobody panics")) {
            let is_done = done.is_done.lock().expect("nobody panics");
            drop(done.changed.wait_while(is_done, |is_done| !*is_done).expect("nobody panics"));
        }
    }
}

#[test]
fn threads_that_launch_and_wait_are_notified_of_each_launch_once() {
    for seed in 0..40 {
        let gpu = Gpu::new(seed, 0);
        let timeline = Timeline::new(Stream(gpu.clone()));
        let host = Arc::new(Host { gpu, timeline, completions: Completions::default(), notified: Mutex::default() });
        let launched = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3)
                .map(|thread| {
                    let host = &host;
                    scope.spawn(move || host.launch(seed << 8 | thread, 50))
                })
                .collect();
            threads.into_iter().flat_map(|thread| thread.join().expect("no thread panics")).collect::<BTreeSet<_>>()
        });
        // Another thread may still notify launches that it has taken from the list.
        while host.notified.lock().len() < launched.len() {
            std::thread::yield_now();
        }
        let notified: Vec<u64> = host.notified.lock().clone();
        assert_eq!(launched, (1..=150).collect());
        assert_eq!(notified.iter().copied().collect::<BTreeSet<_>>(), launched, "each is notified");
        assert_eq!(notified.len(), launched.len(), "and once");
        assert_eq!(host.gpu.state.lock().ran.len(), launched.len(), "after it has run");
    }
}
