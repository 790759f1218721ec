//! Marks: how the host learns that launches of a stream have ended.
//!
//! The launches are numbered. Two things tell the end of one:
//!
//! * A word of the host's memory, into which the GPU writes the number of the last launch before. Reading it takes no
//!   call of the driver, but each writing costs the GPU as much as half a launch. So it is put behind the last launch
//!   when somebody begins to wait.
//! * An event, which costs little to record. It is put behind a launch when another one follows, so that the launch can
//!   be waited for alone. A launch that is waited for at once has none.
//!
//! Events on which a thread can sleep interrupt the host, and are recorded only for a thread that has to.

use crate::context::{Current, Event, EventKind, Gpu, SPIN};
use crate::library::RawStream;
use crate::memory::HostBlock;
use cloom_hal::HalError;
use cloom_hal::lock::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The driver is asked for an event once in this time, as other threads call it meanwhile.
const ASK: Duration = Duration::from_micros(2);
/// A thread that cannot sleep until a launch ends looks for it after a sixteenth of the time that it has waited, but
/// between these.
const NAPS: [Duration; 2] = [Duration::from_micros(30), Duration::from_micros(500)];
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
    /// The number of the last launch.
    submitted: AtomicU64,
    /// That of the last one whose end an event told.
    told: AtomicU64,
    /// Who has the lock may put something on the stream.
    order: Mutex<Order>,
}

#[derive(Default)]
struct Order {
    /// Those of launches whose end is not known, by their numbers.
    events: VecDeque<(u64, Arc<Event>)>,
    /// The last launch behind which the word is written.
    written: u64,
}

impl Order {
    fn event_of(&self, number: u64) -> Option<Arc<Event>> {
        let at = self.events.binary_search_by_key(&number, |&(number, _)| number).ok()?;
        Some(self.events[at].1.clone())
    }
}

impl Marks {
    /// Those of a stream without launches. The word is made now, because the driver may wait for launches to make it.
    pub fn new(gpu: &Arc<Gpu>, stream: RawStream) -> Marks {
        let (submitted, told) = (AtomicU64::new(0), AtomicU64::new(0));
        let word = HostBlock::allocate(gpu, size_of::<u64>()).ok();
        Marks { gpu: gpu.clone(), stream, word, submitted, told, order: Mutex::default() }
    }

    /// Puts a launch on the stream. Returns its times and its number.
    pub fn submit(
        &self,
        current: &Current<'_>,
        submit: impl FnOnce() -> Result<Times, HalError>,
    ) -> Result<(Times, u64), HalError> {
        let mut order = self.order.lock();
        let last = self.submitted();
        if order.events.len() >= MANY {
            self.look(current, &mut order);
        }
        let ended = self.ended();
        while order.events.front().is_some_and(|&(number, _)| number <= ended) {
            order.events.pop_front();
        }
        if last > ended {
            self.record(current, &mut order)?;
        }
        let times = submit()?;
        let number = last + 1;
        if let Some((_, end)) = &times {
            order.events.push_back((number, end.clone()));
        }
        self.submitted.store(number, Ordering::Release);
        Ok((times, number))
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
            self.write(current, &mut order);
            if order.written < number && self.submitted() == number {
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
                && asked.is_none_or(|asked| now - asked >= ASK)
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
            if self.submitted() == number {
                let event = Event::record(&self.gpu, current, self.stream, EventKind::Sleeper)?;
                drop(order);
                event.wait(current)?;
                self.note_end(number);
                return Ok(());
            }
            // It has one, as another launch has followed.
            let event = order.event_of(number);
            drop(order);
            match event {
                Some(event) if event.has_come(current)? => self.note_end(number),
                _ => std::thread::sleep((begin.elapsed() / 16).clamp(NAPS[0], NAPS[1])),
            }
        }
    }

    /// Puts an event behind the last launch, if there is none.
    fn record(&self, current: &Current<'_>, order: &mut Order) -> Result<(), HalError> {
        let last = self.submitted();
        if order.events.back().is_none_or(|&(number, _)| number != last) {
            let event = Event::record(&self.gpu, current, self.stream, EventKind::Plain)?;
            order.events.push_back((last, Arc::new(event)));
        }
        Ok(())
    }

    /// Lets the GPU write the word behind the last launch. Where it cannot, there are events.
    fn write(&self, current: &Current<'_>, order: &mut Order) {
        let number = self.submitted();
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
