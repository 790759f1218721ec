//! Tier-up: a launch that began with baseline code goes on with optimised code once that is compiled.
//!
//! Baseline code is made in a tenth of the time and may be thirty times slower. A group ends with the code that it
//! began with; before each one, the launch looks for the optimised code, and decides whether to wait for it instead of
//! running slow groups ([`wait_for_tier`]).

use crate::code::Code;
use crate::kernel::{CpuKernel, cpu_kernel};
use crate::pool;
use crate::print::PrintState;
use cloom_hal::{NdRange, TUNING, TierUp};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// If no core is free, the owner's estimate of what it will take alone is multiplied by this: other threads take half
/// of its core, which the first groups, shorter than a time slice, do not show; and the estimate for the compiler,
/// which is made from a longer time, contains it.
const CROWDED: u64 = 4;

/// Code of a higher tier, which is being compiled, for groups that have not begun.
pub struct NextTier<'a> {
    up: &'a dyn TierUp,
    current: &'a CpuKernel,
    /// The most private memory that it may need: it runs on the stack that was chosen for the current code.
    private: u64,
    /// Bytes of a group's local memory.
    local: u64,
    /// The code once it is compiled; `None` if it cannot continue the launch.
    code: OnceLock<Option<Code>>,
    /// Groups that the current code has run, and the nanoseconds that it took, added up over the threads.
    groups: AtomicU64,
    busy: AtomicU64,
    /// Nobody waits for the compiler after this.
    deadline: OnceLock<Instant>,
    /// The thread that brought the launch, and when.
    owner: ThreadId,
    begin: Instant,
    state: &'a PrintState<'a>,
}

impl<'a> NextTier<'a> {
    /// For a launch that the calling thread brings and begins with `current`.
    pub fn new(
        up: &'a dyn TierUp,
        current: &'a CpuKernel,
        private: u64,
        local: u64,
        state: &'a PrintState<'a>,
    ) -> NextTier<'a> {
        NextTier {
            up,
            current,
            private,
            local,
            code: OnceLock::new(),
            groups: AtomicU64::new(0),
            busy: AtomicU64::new(0),
            deadline: OnceLock::new(),
            owner: thread::current().id(),
            begin: Instant::now(),
            state,
        }
    }

    /// The current code has run so many groups, in this time.
    pub fn ran(&self, groups: u64, time: Duration) {
        self.busy.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
        self.groups.fetch_add(groups, Ordering::Relaxed);
    }

    /// Whether the code exists and continues the launch.
    pub fn is_in_use(&self) -> bool {
        matches!(self.code.get(), Some(Some(_)))
    }

    /// Whether the launch's owner is to run groups alone for now: no core is free for other threads, which would only
    /// take time from the compiler's.
    pub fn keeps_alone(&self) -> bool {
        self.code.get().is_none() && self.up.is_crowded()
    }

    /// The code, if it is compiled and can run the groups of this launch, of which there are `count`; waits for it as
    /// [`wait_for_tier`] says. `threads` share the launch.
    pub fn code_or_wait(&self, range: &NdRange, count: u64, threads: u64) -> Option<Code> {
        if let Some(code) = self.code.get() {
            return *code;
        }
        if let Some(code) = self.code(range) {
            return Some(code);
        }
        let done = self.groups.load(Ordering::Relaxed);
        // Without a group that has ended there is no estimate. A cell that is full by now has code that cannot go on
        // with this launch.
        if done == 0 || self.code.get().is_some() {
            return None;
        }
        let each = self.busy.load(Ordering::Relaxed) / done;
        let left = each.saturating_mul(count.saturating_sub(done));
        let rest = Duration::from_nanos(match self.keeps_alone() {
            true => left.saturating_mul(CROWDED),
            false => left / threads.max(1),
        });
        let (now, is_owner) = (Instant::now(), thread::current().id() == self.owner);
        let limit = wait_for_tier(is_owner, rest, self.begin.elapsed(), self.up.remaining())?;
        // One deadline for all threads and all waits: a compiler that takes longer than it estimated delays the launch
        // once.
        let deadline = *self.deadline.get_or_init(|| now.checked_add(limit).unwrap_or(now));
        // The owner has nothing else to do, so that it compiles itself what no other thread has begun.
        if is_owner {
            self.up.take_over();
        }
        pool::waiting(|| self.up.wait(deadline.saturating_duration_since(now)));
        self.code(range)
    }

    fn code(&self, range: &NdRange) -> Option<Code> {
        let found = self.up.code()?;
        *self.code.get_or_init(|| {
            let next = cpu_kernel(&*found)?;
            let (a, b) = (&*self.current.artifact, &*next.artifact);
            // The launch's groups, argument block and order of dimensions were made for the current code.
            let same = (self.current.cpu.regroupable, self.current.cpu.dim_order)
                == (next.cpu.regroupable, next.cpu.dim_order)
                && (a.arg_block, a.local_size) == (b.arg_block, b.local_size)
                && a.printf_formats == b.printf_formats
                && a.denorms_are_zero == b.denorms_are_zero;
            let code = Code::of(next, range, self.local).ok().filter(|_| same && b.private_size <= self.private);
            // Kept as long as groups may run it.
            drop(self.state.optimised.set(found.clone()));
            code
        })
    }
}

/// For how long a thread that could run groups with the current code waits for that of the next tier, if it should:
/// the groups that are left would take the launch's threads `rest`, the launch has taken `so_far`, and the compiler
/// still needs `remaining`.
///
/// If the rest would take longer than the compiler: running it would take a core from the compiler and gain little. The
/// thread waits at most as long as the rest would take, so that a wrong estimate costs no more than that (the ski
/// rental problem).
///
/// Other threads than the launch's owner share only launches that will end long before the compiler does: the current
/// code may be thirty times slower than the next, and threads slow each other down, above all two of one core. As the
/// first groups may be quicker than the others, the time so far counts as well.
fn wait_for_tier(is_owner: bool, rest: Duration, so_far: Duration, remaining: Duration) -> Option<Duration> {
    if rest > remaining {
        return Some(rest);
    }
    let all = so_far.saturating_add(remaining);
    (!is_owner && rest.max(so_far) > all / TUNING.tier_up_margin).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_wait_for_code_that_comes_before_the_launch_would_end() {
        let ms = Duration::from_millis;
        let waits = |is_owner, rest, so_far, remaining| wait_for_tier(is_owner, ms(rest), ms(so_far), ms(remaining));
        // The rest takes longer than the compiler.
        assert_eq!([waits(true, 30, 1, 20), waits(false, 30, 1, 20)], [Some(ms(30)); 2]);
        // It takes far less, and so did what there was of it.
        assert_eq!([waits(true, 5, 1, 100), waits(false, 5, 1, 100)], [None; 2]);
        // It takes less; or it was to take far less and did not.
        assert_eq!([waits(true, 15, 1, 30), waits(false, 15, 1, 30)], [None, Some(ms(31))]);
        assert_eq!([waits(true, 1, 15, 30), waits(false, 1, 15, 30)], [None, Some(ms(45))]);
        assert_eq!(wait_for_tier(false, ms(1), ms(1), Duration::MAX), None);
    }
}
