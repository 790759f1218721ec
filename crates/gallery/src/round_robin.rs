//! Round-robin measurement: several sessions, each on a thread of its own, measure in turns and never at the same time.
//!
//! What comes in: how many take part. What goes out: a [`RoundRobinSlot`] for each. A participant that is ready to
//! measure waits until no other one prepares or checks results. Then the participants run bursts of iterations in
//! turns, so that other load of the machine affects all alike. None starts to check its result before the last one has
//! measured.

use crate::cl::Times;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long the machine rests between turns, so that the threads of the previous participant sleep again.
const REST: Duration = Duration::from_millis(1);

/// The state of a participant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Preparing or checking: nobody measures meanwhile.
    Busy,
    /// Measuring, when its turn comes.
    Measuring,
    /// Has measured, and waits for those that have not.
    Done,
    /// Does not take part any more.
    Left,
}

#[derive(Debug)]
struct State {
    phases: Vec<Phase>,
    next: usize,
}

impl State {
    /// Whose turn it is.
    fn turn(&self) -> Option<usize> {
        if self.phases.contains(&Phase::Busy) {
            return None;
        }
        let n = self.phases.len();
        // From `next` on, the first one that measures: those that are done or have left are passed over.
        (0..n).map(|k| (self.next + k) % n).find(|&i| self.phases[i] == Phase::Measuring)
    }

    /// When the last one has measured, all may go on.
    fn release(&mut self) {
        if !self.phases.contains(&Phase::Measuring) {
            self.phases.iter_mut().filter(|p| **p == Phase::Done).for_each(|p| *p = Phase::Busy);
        }
    }
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// The slot of a participant, who leaves the measurement when it is dropped.
#[derive(Debug)]
pub struct RoundRobinSlot {
    shared: Arc<Shared>,
    me: usize,
    burst: u32,
}

/// Slots for so many participants, who run `burst` iterations in a turn.
pub fn round_robin_slots(count: usize, burst: u32) -> Vec<RoundRobinSlot> {
    let state = State { phases: vec![Phase::Busy; count], next: 0 };
    let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
    (0..count).map(|me| RoundRobinSlot { shared: shared.clone(), me, burst: burst.max(1) }).collect()
}

impl RoundRobinSlot {
    // A participant that panicked leaves a state that is still whole.
    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while(&self, condition: impl Fn(&State) -> bool) {
        let waited = self.shared.changed.wait_while(self.state(), |s| condition(s));
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.shared.changed.notify_all();
    }

    /// From here on this participant measures; until the guard is dropped, which waits for the others.
    pub fn enter(&self) -> Measuring<'_> {
        self.change(|s| s.phases[self.me] = Phase::Measuring);
        Measuring(self)
    }
}

impl Drop for RoundRobinSlot {
    fn drop(&mut self) {
        self.change(|s| {
            s.phases[self.me] = Phase::Left;
            s.release();
        });
    }
}

/// A participant that measures.
#[derive(Debug)]
pub struct Measuring<'a>(&'a RoundRobinSlot);

impl Measuring<'_> {
    /// Before an iteration: returns when it may run.
    pub fn before(&self, iteration: u32) {
        if iteration.is_multiple_of(self.0.burst) {
            self.0.wait_while(|s| s.turn() != Some(self.0.me));
            std::thread::sleep(REST);
        }
    }

    /// After an iteration.
    pub fn after(&self, iteration: u32) {
        // A last burst may be shorter; then nothing is handed on here, as whoever is done is passed over anyway.
        if (iteration + 1).is_multiple_of(self.0.burst) {
            self.0.change(|s| s.next = (self.0.me + 1) % s.phases.len());
        }
    }
}

impl Drop for Measuring<'_> {
    fn drop(&mut self) {
        let me = self.0.me;
        self.0.change(|s| {
            s.phases[me] = Phase::Done;
            s.release();
        });
        self.0.wait_while(|s| s.phases[me] == Phase::Done);
    }
}

/// Runs `body` so many times, in turns if there are others, and measures it on the host's clock.
pub(crate) fn measured(slot: Option<&RoundRobinSlot>, iterations: u32, mut body: impl FnMut()) -> Times {
    let measuring = slot.map(RoundRobinSlot::enter);
    let mut times = Times::default();
    for i in 0..iterations {
        if let Some(m) = &measuring {
            m.before(i);
        }
        let start = Instant::now();
        body();
        times.wall.push(start.elapsed());
        if let Some(m) = &measuring {
            m.after(i);
        }
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn participants_take_turns_and_check_only_when_all_have_measured() {
        let log = Mutex::new(Vec::new());
        let (running, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for (me, slot) in round_robin_slots(3, 2).into_iter().enumerate() {
                let (log, running, finished) = (&log, &running, &finished);
                scope.spawn(move || {
                    // The third one measures less, the second one prepares for long.
                    let iterations = if me == 2 { 2 } else { 6 };
                    std::thread::sleep(Duration::from_millis(if me == 1 { 30 } else { 0 }));
                    let measuring = slot.enter();
                    for i in 0..iterations {
                        measuring.before(i);
                        assert_eq!(running.fetch_add(1, Ordering::SeqCst), 0, "two at once");
                        log.lock().unwrap().push(me);
                        running.fetch_sub(1, Ordering::SeqCst);
                        if i + 1 == iterations {
                            finished.fetch_add(1, Ordering::SeqCst);
                        }
                        measuring.after(i);
                    }
                    drop(measuring);
                    assert_eq!(finished.load(Ordering::SeqCst), 3, "checks while others measure");
                });
            }
        });
        assert_eq!(*log.lock().unwrap(), [0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 0, 0, 1, 1]);
    }

    #[test]
    fn one_that_fails_or_measures_twice_stops_nobody() {
        let count = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for (me, slot) in round_robin_slots(3, 1).into_iter().enumerate() {
                let count = &count;
                scope.spawn(move || {
                    if me == 0 {
                        return;
                    }
                    for _ in 0..me {
                        let measuring = slot.enter();
                        for i in 0..3 {
                            measuring.before(i);
                            count.fetch_add(1, Ordering::SeqCst);
                            measuring.after(i);
                        }
                    }
                });
            }
        });
        assert_eq!(count.load(Ordering::SeqCst), 9);
    }
}
