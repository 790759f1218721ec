//! Marks: how the host learns that launches of a stream have ended.
//!
//! The launches are numbered. Two things tell the end of one:
//!
//! * A word of the host's memory, into which the GPU writes the number of the last launch before. Reading it takes no
//!   call of the driver, but each writing costs the GPU as much as half a launch. So it is put behind the last launch
//!   when somebody begins to wait, and at once behind a launch if the one before it was waited for: who launches and
//!   waits again and again should not have to come back for it. Such launches are soon submitted together with their
//!   word, as a graph.
//! * An event, which costs little to record. It is put behind a launch when another one follows, so that the launch can
//!   be waited for alone. A launch that is waited for at once has none.
//!
//! Events on which a thread can sleep interrupt the host, and are recorded only for a thread that has to.
//!
//! The end of a timed launch is the moment at which it is noticed, so it has an event of that kind, which is asked for
//! all the time.
//!
//! Launches that follow others, which the GPU has not done yet or which came a moment before, may wait in the host's
//! memory ([`Marks::defer`]) until the lane's thread or one that waits for them puts them on the stream, so that the
//! thread which makes them need not call the driver.

use crate::batch::{BATCH, Call, Graph, Launched};
use crate::context::{Current, Event, EventKind, Gpu, SPIN};
use crate::library::RawStream;
use crate::memory::HostBlock;
use crate::module::Handle;
use cloom_hal::HalError;
use cloom_hal::lock::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The driver is asked for an event once in this time, as other threads call it meanwhile.
const ASK: Duration = Duration::from_micros(2);
/// A thread that cannot sleep until a launch ends looks for it after a sixteenth of the time that it has waited, but
/// between these.
const NAPS: [Duration; 2] = [Duration::from_micros(30), Duration::from_micros(500)];
/// Launches that have not ended before others are deferred, or that came soon one after the other without a wait: where
/// the driver takes longer for a launch than the GPU, few are left that have not ended.
const BUSY: u64 = 16;
/// A launch comes soon after another within this time.
const SOON: Duration = Duration::from_micros(12);
/// Launches that are deferred at most.
const MOST_DEFERRED: usize = 1024;
/// Launches of a function that were waited for at once, before a graph is made for more of them.
const MANY_AWAITED: u32 = 16;
/// Functions that have such a graph.
const AWAITED_FUNCTIONS: usize = 4;
/// Ends are looked for when there are so many events, so that their number is bounded.
const MANY: usize = 64;

/// The beginning and the end of a timed launch.
pub type Times = Option<(Event, Arc<Event>)>;

/// What tells the ends of a stream's launches.
pub struct Marks {
    gpu: Arc<Gpu>,
    stream: RawStream,
    /// None if there is no memory for it.
    word: Option<HostBlock>,
    /// The number of the last launch, which changes under the lock of `waiting`.
    submitted: AtomicU64,
    /// That of the last one whose end an event told.
    told: AtomicU64,
    /// Who has the lock may put something on the stream.
    order: Mutex<Order>,
    /// How many launches came soon one after the other since a thread waited.
    followed: AtomicU64,
    /// When the last launch came, in nanoseconds since `made`.
    last: AtomicU64,
    made: Instant,
    /// The last launches, which are not on the stream.
    waiting: Mutex<Waiting>,
    /// How many these are.
    deferred: AtomicUsize,
    /// Those that could not be put there, by their numbers.
    failed: Mutex<BTreeMap<u64, HalError>>,
    has_failed: AtomicBool,
}

/// Launches in the order in which they came, in pieces: who takes some takes a piece, and has the lock for a moment.
#[derive(Default)]
struct Waiting {
    /// Of [`BATCH`] launches each, but the last one.
    pieces: VecDeque<Vec<Call>>,
    /// Of all pieces.
    count: usize,
    /// Empty pieces. (Those that one thread allocates and another frees go through the allocator's lock.)
    free: Vec<Vec<Call>>,
}

impl Waiting {
    fn push(&mut self, launch: Call) {
        match self.pieces.back_mut() {
            Some(last) if last.len() < BATCH => last.push(launch),
            _ => {
                let mut piece = self.free.pop().unwrap_or_else(|| Vec::with_capacity(BATCH));
                piece.push(launch);
                self.pieces.push_back(piece);
            }
        }
        self.count += 1;
    }

    /// The first ones.
    fn pop(&mut self) -> Vec<Call> {
        let first = self.pieces.pop_front().unwrap_or_default();
        self.count -= first.len();
        first
    }
}

#[derive(Default)]
struct Order {
    /// Those of launches whose end is not known, by their numbers.
    events: VecDeque<(u64, Arc<Event>)>,
    /// The last launch on the stream.
    placed: u64,
    /// The last launch behind which the word is written.
    written: u64,
    /// Whether somebody waits or waited for the last launch.
    is_awaited: bool,
    /// What may be in the graph of launches that were deferred.
    launched: Launched,
    /// Of launches that were deferred; made by the first that it is for; none inside if the driver makes none.
    graph: Option<Option<Graph>>,
    /// The functions of launches that followed one that was waited for, the last one first.
    awaited: Vec<Awaited>,
}

/// A function whose launches are waited for.
struct Awaited {
    /// Its number.
    function: u64,
    /// How many of its launches followed one that was waited for.
    count: u32,
    /// One of a launch and the word; none inside if the driver makes none.
    graph: Option<Option<Graph>>,
}

impl Order {
    /// Notes the last launch on the stream.
    fn place(&mut self, number: u64) {
        self.placed = number;
        self.is_awaited = false;
    }

    /// Whether the last launch was waited for, or has ended so soon that nobody had to: it had its word.
    fn was_awaited(&self, ended: u64) -> bool {
        self.is_awaited || self.written == self.placed && self.placed > 0 && self.placed <= ended
    }

    /// The first event behind a launch, if there is one.
    fn event_of(&self, number: u64) -> Option<Arc<Event>> {
        let at = self.events.partition_point(|&(before, _)| before < number);
        self.events.get(at).map(|(_, event)| event.clone())
    }
}

impl Marks {
    /// Those of a stream without launches. The word is made now, because the driver may wait for launches to make it.
    pub fn new(gpu: &Arc<Gpu>, stream: RawStream) -> Marks {
        let (submitted, told) = (AtomicU64::new(0), AtomicU64::new(0));
        let word = HostBlock::allocate(gpu, size_of::<u64>()).ok();
        Marks {
            gpu: gpu.clone(),
            stream,
            word,
            submitted,
            told,
            order: Mutex::default(),
            followed: AtomicU64::new(0),
            last: AtomicU64::new(0),
            made: Instant::now(),
            waiting: Mutex::default(),
            deferred: AtomicUsize::new(0),
            failed: Mutex::default(),
            has_failed: AtomicBool::new(false),
        }
    }

    /// Puts a launch on the stream. `grid` gives its function, and all of it, if it may be a part of a graph. Returns
    /// its times and its number.
    pub fn submit(
        &self,
        current: &Current<'_>,
        grid: Option<(&Handle, impl FnOnce() -> Call)>,
        submit: impl FnOnce() -> Result<Times, HalError>,
    ) -> Result<(Times, u64), HalError> {
        self.note(self.now());
        let mut order = self.order.lock();
        let number = loop {
            self.flush(current, &mut order);
            let waiting = self.waiting.lock();
            if waiting.count == 0 {
                break self.submitted.fetch_add(1, Ordering::Release) + 1;
            }
        };
        self.close(current, &mut order)?;
        let was_awaited = order.was_awaited(self.ended());
        order.place(number);
        let function = grid.as_ref().map(|(function, _)| *function);
        if was_awaited
            && let Some((function, grid)) = grid
            && self.put_awaited(current, &mut order, function, grid)
        {
            return Ok((None, number));
        }
        let times = submit()?;
        if let Some(function) = function {
            order.launched.add(function);
        }
        match &times {
            Some((_, end)) => order.events.push_back((number, end.clone())),
            None if was_awaited => self.write(current, &mut order),
            None => {}
        }
        Ok((times, number))
    }

    /// Keeps a launch for later, if others are on their way. Returns its number.
    pub fn defer(&self, launch: impl FnOnce() -> Call) -> Option<u64> {
        let are_behind = self.submitted().saturating_sub(self.ended()) >= BUSY;
        if !are_behind && self.followed.load(Ordering::Relaxed) < BUSY {
            return None;
        }
        let now = self.now();
        if !are_behind && !self.is_soon(now) {
            return None;
        }
        let launch = launch();
        let mut waiting = self.waiting.lock();
        if waiting.count >= MOST_DEFERRED {
            return None;
        }
        waiting.push(launch);
        self.deferred.store(waiting.count, Ordering::Release);
        self.note(now);
        Some(self.submitted.fetch_add(1, Ordering::Release) + 1)
    }

    /// Nanoseconds since this was made.
    fn now(&self) -> u64 {
        self.made.elapsed().as_nanos() as u64
    }

    /// Whether a launch that comes now comes soon after the one before.
    fn is_soon(&self, now: u64) -> bool {
        now.saturating_sub(self.last.load(Ordering::Relaxed)) < SOON.as_nanos() as u64
    }

    /// Notes a launch that comes now.
    fn note(&self, now: u64) {
        match self.is_soon(now) {
            true => _ = self.followed.fetch_add(1, Ordering::Relaxed),
            false => self.followed.store(0, Ordering::Relaxed),
        }
        self.last.store(now, Ordering::Relaxed);
    }

    /// A thread begins to wait: what it launches next follows nothing.
    pub fn begin_to_wait(&self) {
        self.followed.store(0, Ordering::Relaxed);
    }

    /// How many launches are not on the stream.
    pub fn deferred(&self) -> usize {
        self.deferred.load(Ordering::Acquire)
    }

    /// Puts on the stream what was deferred.
    pub fn submit_deferred(&self, current: &Current<'_>) {
        self.flush(current, &mut self.order.lock());
    }

    /// The same, for a thread that comes again: not if another one is at the stream now, which would have to wake it.
    pub fn try_submit_deferred(&self, current: &Current<'_>) {
        if let Some(mut order) = self.order.try_lock() {
            self.flush(current, &mut order);
        }
    }

    /// Why one of these launches could not be put on the stream: the first one that could not. It is told once.
    pub fn take_failure(&self, numbers: &[RangeInclusive<u64>]) -> Option<HalError> {
        if !self.has_failed.load(Ordering::Acquire) {
            return None;
        }
        let mut first = None;
        self.failed.lock().retain(|number, error| {
            let is_one = numbers.iter().any(|numbers| numbers.contains(number));
            if is_one {
                first.get_or_insert_with(|| error.clone());
            }
            !is_one
        });
        first
    }

    /// Puts on the stream what was deferred.
    fn flush(&self, current: &Current<'_>, order: &mut Order) {
        let mut free = None;
        while self.deferred() > 0 {
            let (mut batch, first) = {
                let mut waiting = self.waiting.lock();
                waiting.free.extend(free.take());
                let first = self.submitted() + 1 - waiting.count as u64;
                let batch = waiting.pop();
                self.deferred.store(waiting.count, Ordering::Release);
                (batch, first)
            };
            if !self.put_together(current, order, first, &batch) {
                self.put_each(current, order, first, &batch);
            }
            batch.clear();
            free = Some(batch);
        }
        if free.is_some() {
            self.waiting.lock().free.extend(free);
        }
    }

    /// Puts launches on the stream, one by one.
    fn put_each(&self, current: &Current<'_>, order: &mut Order, first: u64, batch: &[Call]) {
        for (launch, number) in batch.iter().zip(first..) {
            let put = self.close(current, order).and_then(|()| Ok(launch.grid().launch(current, self.stream)?));
            order.place(number);
            match put {
                Ok(()) => order.launched.add(&launch.function),
                Err(error) => {
                    self.failed.lock().insert(number, error);
                    self.has_failed.store(true, Ordering::Release);
                }
            }
        }
    }

    /// Puts launches on the stream as one graph. False if they make none.
    fn put_together(&self, current: &Current<'_>, order: &mut Order, first: u64, batch: &[Call]) -> bool {
        let may_be_graph = batch.len() == BATCH && batch.iter().all(|launch| order.launched.has(&launch.function));
        if !may_be_graph || self.close(current, order).is_err() {
            return false;
        }
        let graph = order.graph.get_or_insert_with(|| Graph::new(&self.gpu, current, &batch[0].grid(), BATCH, None));
        let is_put = graph.as_mut().is_some_and(|graph| graph.launch(current, self.stream, batch, 0));
        if is_put {
            order.place(first + BATCH as u64 - 1);
        }
        is_put
    }

    /// Puts the last launch on the stream, together with the word. False if it is to be put there otherwise.
    fn put_awaited(
        &self,
        current: &Current<'_>,
        order: &mut Order,
        function: &Handle,
        grid: impl FnOnce() -> Call,
    ) -> bool {
        let Some(word) = self.word.as_ref() else { return false };
        match order.awaited.iter().position(|awaited| awaited.function == function.number()) {
            Some(at) => order.awaited[..=at].rotate_right(1),
            None => {
                order.awaited.truncate(AWAITED_FUNCTIONS - 1);
                order.awaited.insert(0, Awaited { function: function.number(), count: 0, graph: None });
            }
        }
        let awaited = &mut order.awaited[0];
        awaited.count = awaited.count.saturating_add(1);
        if awaited.count < MANY_AWAITED {
            return false;
        }
        let launch = grid();
        let make = || Graph::new(&self.gpu, current, &launch.grid(), 1, Some(word.address()));
        let Some(graph) = awaited.graph.get_or_insert_with(make) else { return false };
        let is_put = graph.launch(current, self.stream, &[launch], order.placed);
        if is_put {
            order.written = order.placed;
        }
        is_put
    }

    /// Puts an event behind what is on the stream, before something else follows.
    fn close(&self, current: &Current<'_>, order: &mut Order) -> Result<(), HalError> {
        if order.events.len() >= MANY {
            self.look(current, order);
        }
        let ended = self.ended();
        while order.events.front().is_some_and(|&(number, _)| number <= ended) {
            order.events.pop_front();
        }
        if order.placed > ended { self.record(current, order) } else { Ok(()) }
    }

    /// Its GPU.
    pub fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    /// The number of the last launch.
    pub fn submitted(&self) -> u64 {
        self.submitted.load(Ordering::Acquire)
    }

    /// The number of the last launch that is known to have ended.
    pub fn ended(&self) -> u64 {
        self.told.load(Ordering::Acquire).max(self.word())
    }

    /// Whether a launch is known to have ended.
    pub fn has_ended(&self, number: u64) -> bool {
        number <= self.ended()
    }

    /// Learns of launches that have ended.
    pub fn look_for_ends(&self, current: &Current<'_>) {
        self.look(current, &mut self.order.lock());
    }

    /// Waits for the end of a launch: spins for as long as falling asleep and waking would take, then sleeps.
    pub fn wait(&self, current: &Current<'_>, number: u64) -> Result<(), HalError> {
        let event = {
            let mut order = self.order.lock();
            if self.has_ended(number) {
                return Ok(());
            }
            self.flush(current, &mut order);
            // The event of a timed launch is asked for all the time.
            if !order.event_of(number).is_some_and(|event| event.can_be_slept_on()) {
                self.write(current, &mut order);
            }
            order.is_awaited = true;
            if order.written < number && order.event_of(number).is_none() {
                self.record(current, &mut order)?;
            }
            order.event_of(number)
        };
        let begin = Instant::now();
        let mut asked = None;
        loop {
            if self.has_ended(number) {
                return Ok(());
            }
            let now = begin.elapsed();
            if let Some(event) = &event
                && (event.can_be_slept_on() || asked.is_none_or(|asked| now - asked >= ASK))
            {
                asked = Some(now);
                if event.has_come(current)? {
                    self.note_end(number);
                    self.look_for_ends(current);
                    return Ok(());
                }
            }
            if now >= SPIN {
                return self.sleep(current, number, begin);
            }
            std::hint::spin_loop();
        }
    }

    /// Waits without spinning.
    fn sleep(&self, current: &Current<'_>, number: u64, begin: Instant) -> Result<(), HalError> {
        loop {
            let order = self.order.lock();
            if self.has_ended(number) {
                return Ok(());
            }
            let event = match order.event_of(number) {
                Some(event) if order.placed > number || event.can_be_slept_on() => event,
                // The end of the stream is where it ends.
                _ => Arc::new(Event::record(&self.gpu, current, self.stream, EventKind::Sleeper)?),
            };
            drop(order);
            if event.can_be_slept_on() {
                event.wait(current)?;
                self.note_end(number);
            } else if event.has_come(current)? {
                self.note_end(number);
            } else {
                std::thread::sleep((begin.elapsed() / 16).clamp(NAPS[0], NAPS[1]));
            }
        }
    }

    /// Puts an event behind the last launch, if there is none.
    fn record(&self, current: &Current<'_>, order: &mut Order) -> Result<(), HalError> {
        let last = order.placed;
        if order.events.back().is_none_or(|&(number, _)| number != last) {
            let event = Event::record(&self.gpu, current, self.stream, EventKind::Plain)?;
            order.events.push_back((last, Arc::new(event)));
        }
        Ok(())
    }

    /// Lets the GPU write the word behind the last launch. Where it cannot, there are events.
    fn write(&self, current: &Current<'_>, order: &mut Order) {
        let number = order.placed;
        let Some(word) = self.word.as_ref().filter(|_| order.written < number) else { return };
        // SAFETY: the word lives until it was written, and the host's memory has the same address on the GPU.
        let code = unsafe { (current.table().stream_write_value)(self.stream, word.address(), number, 0) };
        if current.check("cuStreamWriteValue64", code).is_ok() {
            order.written = number;
        }
    }

    fn note_end(&self, number: u64) {
        self.told.fetch_max(number, Ordering::Release);
    }

    /// Asks for events, in larger and larger steps, until one has not come.
    fn look(&self, current: &Current<'_>, order: &mut Order) {
        let (mut known, mut step) = (0, 1);
        while let Some((number, event)) = order.events.get(known + step - 1)
            && event.has_come(current).unwrap_or(false)
        {
            self.note_end(*number);
            known += step;
            step *= 2;
        }
        order.events.drain(..known);
    }

    /// The word, which is 0 at first.
    fn word(&self) -> u64 {
        let Some(word) = &self.word else { return 0 };
        // SAFETY: the block has eight bytes, aligned to pages, and lives as long as `self`; only the GPU writes them.
        unsafe { AtomicU64::from_ptr(word.pointer().cast()) }.load(Ordering::Acquire)
    }
}

impl Drop for Marks {
    /// The GPU still writes the word.
    fn drop(&mut self) {
        let last = self.order.get_mut().written;
        if !self.has_ended(last)
            && let Ok(current) = self.gpu.enter()
        {
            let _ = current.synchronize(self.stream);
        }
    }
}
