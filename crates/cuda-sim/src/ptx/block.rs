//! Runs the threads of one block.
//!
//! In: the threads. Out: a finished or interrupted block, or a fault. The threads of a warp run one after another until
//! each has ended or waits. Then the threads whose collectives are complete continue. Threads at reconvergence points
//! continue only if no other thread of the warp can run; first the group whose point the others will reach later.

use super::fault::{Fault, Waiting};
use super::op::{Op, Reduction};
use super::thread::{Common, Context, State, Thread};
use super::warp;

const WARP: usize = 32;
/// Instructions that a thread executes before the other threads of its block get their turn.
const SLICE: u64 = 1 << 16;
/// How often others may continue before a thread at a reconvergence point. Only a thread that polls memory keeps others
/// waiting that long.
const PATIENCE: u32 = 1 << 16;
/// What a thread at a reconvergence point loses of its patience when another thread spends a whole slice without
/// reaching one.
const IMPATIENCE: u32 = PATIENCE / 8;

/// A block.
pub(super) struct Block {
    pub(super) threads: Vec<Thread>,
    pub(super) common: Common,
}

impl Block {
    /// Runs until all threads have ended (true) or about `quantum` instructions are done (false).
    pub(super) fn run(&mut self, cx: &mut Context<'_>, quantum: u64) -> Result<bool, Fault> {
        let start = cx.left;
        let warps = self.threads.len().div_ceil(WARP);
        loop {
            let mut progress = false;
            for warp in 0..warps {
                progress |= self.run_warp(cx, warp * WARP)?;
            }
            // After all warps, so that each thread has come as far as it can without the barrier.
            progress |= self.release_barriers(cx);
            if !progress {
                // A thread waits only for threads of its own block: if none of them moved, none ever will.
                let waiting: Vec<Waiting> = self
                    .threads
                    .iter()
                    .filter(|thread| thread.state != State::Ended)
                    .map(|thread| Waiting { thread: thread.number, line: thread.line(cx.code) })
                    .collect();
                if waiting.is_empty() {
                    return Ok(true);
                }
                return Err(Fault::Deadlock { group: self.common.group, waiting });
            }
            if start - cx.left >= quantum {
                return Ok(false);
            }
        }
    }

    /// Runs the warp that begins at a thread, until all its threads wait or one has spent its slice. Returns whether
    /// anything was executed.
    fn run_warp(&mut self, cx: &mut Context<'_>, first: usize) -> Result<bool, Fault> {
        let end = (first + WARP).min(self.threads.len());
        let threads = &mut self.threads[first..end];
        let mut progress = false;
        loop {
            let mut interrupted = false;
            for thread in threads.iter_mut().filter(|thread| thread.state == State::Ready) {
                progress = true;
                thread.run(cx, &mut self.common, SLICE)?;
                interrupted |= thread.state == State::Ready;
            }
            // Before any reconvergence point: threads that a collective lets go on may still reach that point with the
            // others.
            let complete = release_collectives(cx, &self.common, threads);
            if interrupted {
                // The thread may poll a value that a thread at a reconvergence point will write.
                let mut tired = false;
                for thread in threads.iter_mut().filter(|thread| may_meet(thread)) {
                    thread.patience = thread.patience.saturating_add(IMPATIENCE);
                    tired |= thread.patience >= PATIENCE;
                }
                if tired {
                    release_group(cx, threads);
                }
                return Ok(true);
            }
            if !complete && !release_group(cx, threads) {
                return Ok(progress);
            }
            progress = true;
        }
    }

    /// Continues the threads of complete barriers.
    fn release_barriers(&mut self, cx: &Context<'_>) -> bool {
        let mut progress = false;
        for id in 0..self.common.arrived.len() as u32 {
            let waits = |thread: &Thread| matches!(thread.state, State::Barrier(own, _) if own == id);
            let Some(first) = self.threads.iter().find(|thread| waits(thread)) else { continue };
            // PTX wants the same count of all threads at a barrier, so that the first one's stands for all.
            let State::Barrier(_, count) = first.state else { continue };
            let complete = match count {
                None => self.threads.iter().all(|thread| thread.state == State::Ended || waits(thread)),
                Some(count) => {
                    // The count is in whole warps: a warp whose live threads all wait counts fully.
                    let arrived: u32 = self
                        .threads
                        .chunks(WARP)
                        .map(|warp| {
                            let waiting = warp.iter().filter(|thread| waits(thread)).count();
                            let live = warp.iter().filter(|thread| thread.state != State::Ended).count();
                            if waiting != 0 && waiting == live { WARP as u32 } else { waiting as u32 }
                        })
                        .sum();
                    let announced = self.common.arrived.get(id as usize).copied().unwrap_or(0);
                    arrived + announced >= count
                }
            };
            if complete {
                progress = true;
                self.release_barrier(cx, id);
            }
        }
        progress
    }

    fn release_barrier(&mut self, cx: &Context<'_>, id: u32) {
        let waits = |thread: &Thread| matches!(thread.state, State::Barrier(own, _) if own == id);
        let reduction = |thread: &Thread| match thread.inst(cx.code).map(|inst| &inst.op) {
            Some(Op::Barrier(barrier)) => barrier.reduce,
            _ => None,
        };
        let votes: Vec<bool> = self
            .threads
            .iter()
            .filter(|thread| waits(thread))
            .filter_map(|thread| reduction(thread).map(|(_, _, test)| thread.test(cx, &self.common, test)))
            .collect();
        let count = votes.iter().filter(|vote| **vote).count();
        for thread in self.threads.iter_mut().filter(|thread| waits(thread)) {
            if let Some((how, dst, _)) = reduction(thread) {
                let result = match how {
                    Reduction::Popc => count as u64,
                    Reduction::And => u64::from(count == votes.len()),
                    Reduction::Or => u64::from(count != 0),
                };
                thread.write(dst, result);
            }
            thread.resume();
        }
        if let Some(arrived) = self.common.arrived.get_mut(id as usize) {
            // The barrier can be used again at once.
            *arrived = 0;
        }
    }
}

/// Performs the collectives of a warp for which all threads of the mask wait.
fn release_collectives(cx: &Context<'_>, common: &Common, threads: &mut [Thread]) -> bool {
    let mut progress = false;
    for lane in 0..threads.len() {
        let State::Warp(mask) = threads[lane].state else { continue };
        let (function, at) = (threads[lane].function, threads[lane].at);
        let mut members = 0_u32;
        let complete = threads.iter().enumerate().filter(|(other, _)| mask >> other & 1 == 1).all(|(other, thread)| {
            // The same mask at another instruction is another collective: its threads are not here yet.
            let here = (thread.state, thread.function, thread.at) == (State::Warp(mask), function, at);
            members |= u32::from(here) << other;
            here || thread.state == State::Ended
        });
        if !complete {
            continue;
        }
        // Threads that have ended count as arrived, but are not members: they have no values.
        if let Some(Op::Warp { op, .. }) = threads[lane].inst(cx.code).map(|inst| &inst.op) {
            warp::perform(op, cx, common, threads, members);
        }
        for (_, thread) in threads.iter_mut().enumerate().filter(|(other, _)| members >> other & 1 == 1) {
            thread.resume();
        }
        progress = true;
    }
    progress
}

/// Whether a thread waits at a reconvergence point or an `activemask`.
fn may_meet(thread: &Thread) -> bool {
    matches!(thread.state, State::Converge | State::Active)
}

/// Whether two threads are at the same instruction, with the same calls.
fn together(a: &Thread, b: &Thread) -> bool {
    let callers = || a.callers.iter().map(|frame| (frame.function, frame.at));
    (a.function, a.at) == (b.function, b.at) && callers().eq(b.callers.iter().map(|frame| (frame.function, frame.at)))
}

/// Whether every path of thread `b` leads to the instruction of `a`, so that `a` has to wait for it.
fn is_later(cx: &Context<'_>, a: &Thread, b: &Thread) -> bool {
    let place = |thread: &Thread, depth: usize| match thread.callers.get(depth) {
        Some(frame) => (frame.function, frame.at),
        None => (thread.function, thread.at),
    };
    // From the outermost call inwards: the first place at which the two differ decides.
    for depth in 0..=a.callers.len().min(b.callers.len()) {
        let ((function, here), (other, there)) = (place(a, depth), place(b, depth));
        if function != other {
            return false;
        }
        if here != there {
            let function = cx.code.functions.get(function as usize);
            return function.is_some_and(|function| function.flow.post_dominates(here, there));
        }
    }
    false
}

/// Continues one group of threads at a reconvergence point: one that need not wait for another group.
fn release_group(cx: &Context<'_>, threads: &mut [Thread]) -> bool {
    let mut leaders: Vec<usize> = Vec::new();
    for (lane, thread) in threads.iter().enumerate().filter(|(_, thread)| may_meet(thread)) {
        if !leaders.iter().any(|leader| together(&threads[*leader], thread)) {
            leaders.push(lane);
        }
    }
    // A group waits while another one will still come to its point, as the threads of a loop that have left it wait for
    // those that iterate.
    let first = |lane: &usize| {
        let thread = &threads[*lane];
        thread.patience >= PATIENCE || !leaders.iter().any(|other| is_later(cx, thread, &threads[*other]))
    };
    // Among groups that need not wait: the one that has waited too long, then the outermost call, then the first one in
    // the text. The order is fixed, so that launches are deterministic.
    let key = |lane: &usize| {
        let thread = &threads[*lane];
        (thread.patience < PATIENCE, thread.callers.len(), thread.at)
    };
    // In a cycle of groups that wait for each other, none is first: one of them has to go on.
    let chosen = leaders.iter().copied().filter(first).min_by_key(key).or_else(|| leaders.first().copied());
    let Some(chosen) = chosen else { return false };
    let group: Vec<usize> = (0..threads.len())
        .filter(|lane| may_meet(&threads[*lane]) && together(&threads[chosen], &threads[*lane]))
        .collect();
    let mask = group.iter().fold(0_u64, |mask, lane| mask | 1 << lane);
    for (lane, thread) in threads.iter_mut().enumerate().filter(|(_, thread)| may_meet(thread)) {
        if mask >> lane & 1 == 0 {
            // Even a group that would have to wait is let go in the end: another thread may poll what it will write.
            thread.patience = thread.patience.saturating_add(1);
            continue;
        }
        if let Some(Op::ActiveMask(dst)) = thread.inst(cx.code).map(|inst| &inst.op) {
            thread.write(*dst, mask);
        }
        thread.resume();
    }
    true
}
