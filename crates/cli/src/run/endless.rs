//! Which loop of a kernel does not end, for the message about one that was ended.
//!
//! Machine code does not tell where it is. So the reference interpreter runs the same launch for some instructions. Is
//! it in the same work-items all the second half of that time, the loop that runs is the outermost one which goes round
//! in that half: the loops inside of it end.

use super::kernel::Job;
use super::launch::Launch;
use super::loops;
use cloom_interp as interp;
use cloom_ir::{Block, FuncRef};

/// Instructions that are run: less than a second.
const FUEL: u64 = 10_000_000;
/// Bytes of buffers and images that are copied for it, at most.
const MEMORY: usize = 256 << 20;

/// The line of the loop, if it is in the source and is found.
pub fn line(job: &Job) -> Option<u32> {
    let bytes: usize = job.values.iter().filter_map(|v| v.memory()).map(<[u8]>::len).sum();
    if bytes > MEMORY {
        return None;
    }
    let launch = Launch::new(job).ok()?;
    // How many times the loops go round is not known before: the first run counts, the second looks at the last half.
    let mut all = Rounds::default();
    let fault = launch.watch(FUEL, &mut all).err()?;
    if fault.kind != interp::FaultKind::Fuel {
        return None;
    }
    let mut last = Rounds { skip: all.count / 2, ..Rounds::default() };
    let _ = launch.watch(FUEL, &mut last);
    if last.ended {
        return None;
    }
    let module = &launch.code.module;
    let mut rounds = last.seen;
    // Loops of the kernel itself come before those of functions that it calls: a loop there that ends each time goes
    // round in every pass of an endless one outside.
    rounds.sort_by_key(|r| r.calls);
    let of_source = |r: &Round| loops::line_of(module, r.func, r.to, &job.text.name);
    // Blocks are numbered as they stand in the source; an outer loop begins first.
    let calls = rounds.iter().find(|r| of_source(r).is_some())?.calls;
    rounds.iter().filter(|r| r.calls == calls).filter_map(of_source).min()
}

/// A way back in a function.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Round {
    func: FuncRef,
    to: Block,
    calls: usize,
}

/// Sees which loops go round.
#[derive(Default)]
struct Rounds {
    /// How many rounds at the beginning do not count.
    skip: u64,
    count: u64,
    seen: Vec<Round>,
    /// Whether a work-item has ended since.
    ended: bool,
}

impl interp::Observer for Rounds {
    fn back_edge(&mut self, func: FuncRef, to: Block, calls: usize) {
        self.count += 1;
        let round = Round { func, to, calls };
        // The same loop again, mostly.
        if self.count > self.skip && self.seen.last() != Some(&round) && !self.seen.contains(&round) {
            self.seen.push(round);
        }
    }

    fn ended(&mut self) {
        self.ended |= self.count > self.skip;
    }
}
