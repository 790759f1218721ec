//! The numbers of a stream's launches, their order on the stream, and the signals of their completion.

use super::deferred::Deferred;
use super::pace::Pace;
use super::stream::{GpuStream, Submission};
use super::sync::{AtomicBool, AtomicU64, AtomicUsize, Instant, Mutex, Ordering, sleep, spin_loop};
use super::tuning::{EVENT_QUERY_INTERVAL, MAX_DEFERRED_LAUNCHES, MAX_EVENTS, SPIN_TIME, WAIT_NAP};
use cloom_hal::HalError;
use std::collections::{BTreeMap, VecDeque};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The timeline of a stream.
pub struct Timeline<S: GpuStream> {
    stream: S,
    /// The number of the last launch, which changes under the lock of `deferred`.
    pub(super) submitted: AtomicU64,
    /// The number of the last launch whose completion an event signalled.
    signalled: AtomicU64,
    /// The thread that holds this lock may submit to the stream.
    pub(super) order: Mutex<Order<S>>,
    /// The deferred launches, which have the last numbers.
    deferred: Mutex<Deferred<S::Launch>>,
    /// Their number, for threads that only look.
    deferred_count: AtomicUsize,
    /// The errors of launches that the driver refused, by their numbers.
    failures: Mutex<BTreeMap<u64, HalError>>,
    /// Whether there ever was one, for threads that only look.
    has_failed: AtomicBool,
    pace: Pace,
}

/// The state of the launches on the stream.
pub struct Order<S: GpuStream> {
    /// Events after launches that may not have ended, by the launches' numbers.
    events: VecDeque<(u64, Arc<S::Event>)>,
    /// The last launch on the stream.
    placed: u64,
    /// The last launch after which the value is written.
    written: u64,
    /// Whether a thread waits or waited for the last launch.
    is_awaited: bool,
    /// The back end's.
    state: S::State,
}

/// A launch that was submitted at once.
#[derive(Debug)]
pub struct Submitted<T> {
    /// Its number.
    pub number: u64,
    /// The result of submitting it; `None` if it was submitted together with the timeline value.
    pub result: Option<T>,
}

impl<S: GpuStream> Order<S> {
    /// Notes the last launch on the stream.
    pub(super) fn place(&mut self, number: u64) {
        self.placed = number;
        self.is_awaited = false;
    }

    /// Whether the last launch was waited for. A launch that ended before a thread had to wait counts too: its value
    /// was written.
    fn was_awaited(&self, ended: u64) -> bool {
        self.is_awaited || self.written == self.placed && self.placed > 0 && self.placed <= ended
    }

    /// The first event at or after a launch, if there is one.
    fn event_of(&self, number: u64) -> Option<Arc<S::Event>> {
        let at = self.events.partition_point(|&(before, _)| before < number);
        self.events.get(at).map(|(_, event)| event.clone())
    }
}

impl<S: GpuStream> Timeline<S> {
    /// The timeline of a stream without launches, whose value is 0.
    pub fn new(stream: S) -> Timeline<S> {
        let order =
            Order { events: VecDeque::new(), placed: 0, written: 0, is_awaited: false, state: S::State::default() };
        Timeline {
            stream,
            submitted: AtomicU64::new(0),
            signalled: AtomicU64::new(0),
            order: Mutex::new(order),
            deferred: Mutex::new(Deferred::default()),
            deferred_count: AtomicUsize::new(0),
            failures: Mutex::new(BTreeMap::new()),
            has_failed: AtomicBool::new(false),
            pace: Pace::new(),
        }
    }

    /// The stream.
    pub fn stream(&self) -> &S {
        &self.stream
    }

    /// Submits a launch by `put`, which returns its event if it has recorded one. If the launch before it was waited
    /// for, `put_with_value` is asked first: it submits the launch together with its number as the value, and returns
    /// whether it did.
    pub fn submit<T>(
        &self,
        stream: &impl Submission<S>,
        put_with_value: impl FnOnce(&mut S::State, u64) -> bool,
        put: impl FnOnce(&mut S::State) -> Result<(T, Option<Arc<S::Event>>), HalError>,
    ) -> Result<Submitted<T>, HalError> {
        self.pace.note(self.pace.now());
        let mut order = self.order.lock();
        let number = loop {
            self.flush(stream, &mut order);
            // Another thread may have deferred launches since the flush, which have to be submitted first.
            if let Some(number) = self.next_number() {
                break number;
            }
        };
        // If this or `put` fails, no launch has the number. The caller gets the error, so that nobody waits for it, and
        // the signal of a later launch passes the number.
        self.close(stream, &mut order)?;
        // Read before `place` forgets who waited for the launch before.
        let was_awaited = order.was_awaited(self.ended());
        order.place(number);
        if was_awaited && put_with_value(&mut order.state, number) {
            order.written = number;
            return Ok(Submitted { number, result: None });
        }
        let (result, event) = put(&mut order.state)?;
        match event {
            Some(event) => order.events.push_back((number, event)),
            // The thread that waited for the launch before will probably wait for this one: the value is then on the
            // stream already.
            None if was_awaited => self.write(stream, &mut order),
            None => {}
        }
        Ok(Submitted { number, result: Some(result) })
    }

    /// The number of a launch that is submitted next. `None` if launches were deferred meanwhile, which have to be
    /// submitted first.
    fn next_number(&self) -> Option<u64> {
        let deferred = self.deferred.lock();
        // Under the lock, so that no launch is deferred between the check and the number.
        (deferred.count() == 0).then(|| self.submitted.fetch_add(1, Ordering::Release) + 1)
    }

    /// Defers a launch, if launches come faster than the GPU or the driver takes them. Returns its number.
    pub fn defer(&self, launch: impl FnOnce() -> S::Launch) -> Option<u64> {
        // Before `launch` is called, which copies the arguments: most launches are not deferred.
        let now = self.pace.defer_at(self.submitted().saturating_sub(self.ended()))?;
        let number = self.append(launch())?;
        self.pace.note(now);
        Some(number)
    }

    /// Defers a launch. Returns its number; `None` if too many are deferred.
    pub fn append(&self, launch: S::Launch) -> Option<u64> {
        let mut deferred = self.deferred.lock();
        if deferred.count() >= MAX_DEFERRED_LAUNCHES {
            return None;
        }
        deferred.push(launch, S::BATCH);
        self.deferred_count.store(deferred.count(), Ordering::Release);
        Some(self.submitted.fetch_add(1, Ordering::Release) + 1)
    }

    /// Notes that a thread begins to wait: its next launch does not follow another one closely.
    pub fn begin_to_wait(&self) {
        self.pace.begin_to_wait();
    }

    /// The number of deferred launches.
    pub fn deferred(&self) -> usize {
        self.deferred_count.load(Ordering::Acquire)
    }

    /// Submits the deferred launches.
    pub fn submit_deferred(&self, stream: &impl Submission<S>) {
        self.flush(stream, &mut self.order.lock());
    }

    /// Submits the deferred launches, unless another thread holds the lock of the stream, which would have to wake this
    /// one. For a thread that tries again later.
    pub fn try_submit_deferred(&self, stream: &impl Submission<S>) {
        // The holder submits the deferred launches itself, or the caller tries again.
        if let Some(mut order) = self.order.try_lock() {
            self.flush(stream, &mut order);
        }
    }

    /// The error of the first of these launches that the driver refused. The launches have ended. Each error is
    /// returned once.
    pub fn take_failure(&self, numbers: &[RangeInclusive<u64>]) -> Option<HalError> {
        // Hardly any process has a failure, and each notified launch asks: no lock is taken.
        if !self.has_failed.load(Ordering::Acquire) {
            return None;
        }
        let mut first = None;
        self.failures.lock().retain(|number, error| {
            // All errors of these launches are removed, and the first one is reported: they have one completion
            // together.
            let is_one = numbers.iter().any(|numbers| numbers.contains(number));
            if is_one {
                first.get_or_insert_with(|| error.clone());
            }
            !is_one
        });
        first
    }

    /// Stores the error of a launch that the driver refused. The caller holds the lock of the order, so that no signal
    /// comes before.
    fn fail(&self, number: u64, error: HalError) {
        self.failures.lock().insert(number, error);
        self.has_failed.store(true, Ordering::Release);
    }

    /// Submits the deferred launches; the caller holds the lock of the order.
    pub(super) fn flush(&self, stream: &impl Submission<S>, order: &mut Order<S>) {
        // Only the thread that holds the order takes deferred launches, so that batches cannot overtake each other.
        let mut free = None;
        while self.deferred() > 0 {
            let (mut batch, first) = {
                let mut deferred = self.deferred.lock();
                deferred.recycle(free.take());
                // The deferred launches have the last numbers.
                let first = self.submitted() + 1 - deferred.count() as u64;
                // The batch goes to the stream without the lock of `deferred`: other threads defer launches meanwhile.
                let batch = deferred.pop();
                self.deferred_count.store(deferred.count(), Ordering::Release);
                (batch, first)
            };
            // A batch that fails as a whole has submitted nothing, so that its launches can still go one by one.
            if !self.put_batch(stream, order, first, &batch) {
                self.put_each(stream, order, first, &batch);
            }
            batch.clear();
            free = Some(batch);
        }
        if free.is_some() {
            self.deferred.lock().recycle(free);
        }
    }

    /// Submits launches one by one.
    fn put_each(&self, stream: &impl Submission<S>, order: &mut Order<S>, first: u64, batch: &[S::Launch]) {
        for (launch, number) in batch.iter().zip(first..) {
            let put = self.close(stream, order).and_then(|()| stream.put(&mut order.state, launch));
            order.place(number);
            if let Err(error) = put {
                self.fail(number, error);
            }
        }
    }

    /// Submits launches by one call. Returns false if that is not possible.
    fn put_batch(&self, stream: &impl Submission<S>, order: &mut Order<S>, first: u64, batch: &[S::Launch]) -> bool {
        // The back end's call submits exactly so many. A batch that is not full goes launch by launch.
        let may_be_put = batch.len() == S::BATCH && stream.can_batch(&order.state, batch);
        if !may_be_put || self.close(stream, order).is_err() {
            return false;
        }
        let is_put = stream.put_batch(&mut order.state, batch);
        if is_put {
            // The launches in between never get an event of their own: `event_of` finds the one after the batch.
            order.place(first + S::BATCH as u64 - 1);
        }
        is_put
    }

    /// Records an event after the last launch, before another one follows.
    fn close(&self, stream: &impl Submission<S>, order: &mut Order<S>) -> Result<(), HalError> {
        // Threads that wait query events too, but perhaps no thread waits.
        if order.events.len() >= MAX_EVENTS {
            self.poll(stream, order);
        }
        let ended = self.ended();
        while order.events.front().is_some_and(|&(number, _)| number <= ended) {
            order.events.pop_front();
        }
        // A launch that is known to have ended needs no event.
        if order.placed > ended { self.record(stream, order) } else { Ok(()) }
    }

    /// The number of the last launch.
    pub fn submitted(&self) -> u64 {
        self.submitted.load(Ordering::Acquire)
    }

    /// The number of the last launch that is known to have ended.
    pub fn ended(&self) -> u64 {
        // Either signal may be ahead: the value is not written after each launch, and events are queried only now and
        // then.
        self.signalled.load(Ordering::Acquire).max(self.stream.value())
    }

    /// Whether a launch is known to have ended.
    pub fn has_ended(&self, number: u64) -> bool {
        number <= self.ended()
    }

    /// Queries events to learn which launches have ended.
    pub fn poll_completions(&self, stream: &impl Submission<S>) {
        self.poll(stream, &mut self.order.lock());
    }

    /// Waits for the end of a launch: spins for as long as falling asleep and waking would take, then sleeps.
    pub fn wait(&self, stream: &impl Submission<S>, number: u64) -> Result<(), HalError> {
        let event = {
            let mut order = self.order.lock();
            if self.has_ended(number) {
                return Ok(());
            }
            self.flush(stream, &mut order);
            // The event of a timed launch is polled all the time.
            if !order.event_of(number).is_some_and(|event| stream.can_sleep_on(&event)) {
                self.write(stream, &mut order);
            }
            order.is_awaited = true;
            // The value cannot be written (the back end has no memory for it), and no launch followed, so that there is
            // no event.
            if order.written < number && order.event_of(number).is_none() {
                self.record(stream, &mut order)?;
            }
            order.event_of(number)
        };
        let begin = Instant::now();
        let mut queried = None;
        loop {
            if self.has_ended(number) {
                return Ok(());
            }
            let now = begin.elapsed();
            if let Some(event) = &event
                && (stream.can_sleep_on(event) || queried.is_none_or(|queried| now - queried >= EVENT_QUERY_INTERVAL))
            {
                queried = Some(now);
                if stream.has_come(event)? {
                    self.signal(number);
                    // Later events may have been reached, too: their launches are then notified without a query each.
                    self.poll_completions(stream);
                    return Ok(());
                }
            }
            if now >= SPIN_TIME {
                return self.sleep(stream, number, begin);
            }
            spin_loop();
        }
    }

    /// Waits without spinning.
    fn sleep(&self, stream: &impl Submission<S>, number: u64, begin: Instant) -> Result<(), HalError> {
        loop {
            let order = self.order.lock();
            if self.has_ended(number) {
                return Ok(());
            }
            let event = match order.event_of(number) {
                Some(event) if order.placed > number || stream.can_sleep_on(&event) => event,
                // The launch is the last one on the stream, so that the end of the stream is its end.
                _ => Arc::new(stream.record(true)?),
            };
            // Other threads submit launches while this one sleeps: the GPU may wait for one of them.
            drop(order);
            if stream.can_sleep_on(&event) {
                stream.sleep_on(&event)?;
                self.signal(number);
            } else if stream.has_come(&event)? {
                self.signal(number);
            } else {
                // Others may have followed this launch, so that the end of the stream is too late, and its own event
                // cannot be slept on.
                sleep((begin.elapsed() / 16).clamp(*WAIT_NAP.start(), *WAIT_NAP.end()));
            }
        }
    }

    /// Records an event after the last launch, if there is none.
    fn record(&self, stream: &impl Submission<S>, order: &mut Order<S>) -> Result<(), HalError> {
        let last = order.placed;
        if order.events.back().is_none_or(|&(number, _)| number != last) {
            order.events.push_back((last, Arc::new(stream.record(false)?)));
        }
        Ok(())
    }

    /// Lets the GPU write the value after the last launch. If it cannot, events are recorded instead.
    fn write(&self, stream: &impl Submission<S>, order: &mut Order<S>) {
        let number = order.placed;
        if order.written < number && stream.write(number) {
            order.written = number;
        }
    }

    /// Notes that an event after this launch was reached.
    fn signal(&self, number: u64) {
        // Threads may signal in any order, and the number only grows.
        self.signalled.fetch_max(number, Ordering::Release);
    }

    /// Queries events, in larger and larger steps, until one has not been reached.
    fn poll(&self, stream: &impl Submission<S>, order: &mut Order<S>) {
        // An event is reached only after those before it, so that one query answers for all of these.
        let (mut known, mut step) = (0, 1);
        while let Some((number, event)) = order.events.get(known + step - 1)
            && stream.has_come(event).unwrap_or(false)
        {
            self.signal(*number);
            known += step;
            step *= 2;
        }
        order.events.drain(..known);
    }
}

impl<S: GpuStream> Drop for Timeline<S> {
    /// Waits, because the GPU still writes the value.
    fn drop(&mut self) {
        // The value is in memory that is freed with the stream.
        let last = self.order.get_mut().written;
        if !self.has_ended(last) {
            self.stream.drain();
        }
    }
}
