//! Runs a launch: all groups of a range, of a loaded kernel with an argument block.
//!
//! 1. The range is permuted to the code's dimension order, and the groups of a regroupable kernel are merged or divided
//!    ([`regroup`]).
//! 2. The calling thread runs groups alone for a moment, unless the launch is known to be long.
//! 3. The rest is divided into chunks of consecutive groups ([`Division`]), which the threads of the pool share.
//!
//! The code is called as `cloom_ir::abi` says: launch descriptor and argument block are shared by all groups, group
//! descriptor, local memory and scratch are the thread's own. Thresholds are fields of [`TUNING`].

use crate::arena::{ALIGN, Arena, Block};
use crate::code::{Code, GroupDescriptor, LaunchDescriptor};
use crate::device_calls::{DeviceState, device_hook};
use crate::division::Division;
use crate::fpenv;
use crate::grouping::{PICO, position, product, regroup};
use crate::kernel::CpuKernel;
use crate::next_tier::NextTier;
use crate::pool::{self, Work};
use crate::print::{PrintState, print_hook};
use crate::resources::Resources;
use cloom_hal::{HalError, Launch, NdRange, TUNING};
use cloom_ir::abi;
use std::cell::RefCell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A launch that is under way, shared by the threads.
pub struct Running<'a> {
    code: Code,
    /// The tier-up code.
    tier_up: Option<NextTier<'a>>,
    descriptor: LaunchDescriptor,
    args: &'a [u8],
    range: NdRange,
    groups: [u64; 3],
    /// Rows of groups in a band, which is run column by column; 1: row by row.
    band: u64,
    /// Groups before this one are done.
    first: u64,
    count: u64,
    /// The chunks of the others.
    division: Division,
    local: u64,
    zero_local: bool,
    denorms_are_zero: bool,
    /// How many threads share the launch, at most.
    threads: u64,
    out_of_memory: AtomicBool,
}

// SAFETY: the raw pointer inside refers to a PrintState that outlives the launch and is shared (the sink is Sync).
unsafe impl Send for Running<'_> {}
// SAFETY: threads only read the PrintState behind the raw pointer. It outlives the launch, and its sink is Sync.
unsafe impl Sync for Running<'_> {}

#[derive(Default)]
struct ThreadMemory {
    local: Arena,
    scratch: Arena,
}

thread_local! {
    /// One thread's local memory and scratch, kept from launch to launch.
    static MEMORY: RefCell<ThreadMemory> = RefCell::default();
}

/// Small argument blocks are aligned without an allocation.
const SMALL_ARGS: usize = 256;

/// Room for a small argument block, aligned as kernels rely on ([`ALIGN`] is 128).
#[repr(align(128))]
struct SmallArgs([u8; SMALL_ARGS]);

const _: () = assert!(align_of::<SmallArgs>() == ALIGN);

/// Runs a launch on the device's pool.
pub fn run(device: &Resources, kernel: &CpuKernel, launch: &Launch<'_>) -> Result<(), HalError> {
    // Vectors of 64 bytes are loaded from the argument block by instructions that fault on any other alignment, and a
    // caller's block may have less.
    let args = launch.args;
    let (mut small, large);
    let aligned: &[u8] = if args.as_ptr().addr().is_multiple_of(ALIGN) {
        args
    } else if args.len() <= SMALL_ARGS {
        small = SmallArgs([0; SMALL_ARGS]);
        small.0[..args.len()].copy_from_slice(args);
        &small.0[..args.len()]
    } else {
        large = Block::uninit(args.len() as u64).ok_or(HalError::OutOfMemory(args.len() as u64))?;
        // SAFETY: the block is fresh, as long as the arguments, written whole before it is read, and lives as long as
        // `large`.
        unsafe {
            std::ptr::copy_nonoverlapping(args.as_ptr(), large.ptr(), args.len());
            std::slice::from_raw_parts(large.ptr(), args.len())
        }
    };
    run_aligned(device, kernel, &Launch { args: aligned, ..*launch })
}

fn run_aligned(device: &Resources, kernel: &CpuKernel, launch: &Launch<'_>) -> Result<(), HalError> {
    let (artifact, cpu) = (&*kernel.artifact, &kernel.cpu);
    let item_time = kernel.item_time.load(Ordering::Relaxed);
    // From here on, dimensions are in the code's order.
    let range = launch.range.in_order(cpu.dim_order);
    let range = match cpu.regroupable {
        true => regroup(range, device.threads as u64, cpu.lanes, item_time, launch.tier_up.is_some()),
        false => range,
    };
    let groups = range.groups();
    let count = product(groups);
    let count = count.ok_or_else(|| HalError::Device("a range of more than 2^64 groups".into()))?;
    let code = Code::of(kernel, &range, launch.local_size)?;
    // What no thread can provide is refused before the first group writes anything.
    if artifact.private_size > TUNING.worker_private {
        return Err(HalError::OutOfMemory(artifact.private_size));
    }
    if code.scratch > device.scratch_of_thread() {
        return Err(HalError::OutOfMemory(code.scratch));
    }
    // The caller's stack is the application's: kernels with large private arrays run on a worker's.
    let join = artifact.private_size <= TUNING.caller_private;
    // Non-temporal stores pass the caches. They pay only for output that the caches could not keep for the next launch
    // anyway.
    let written = product(range.global).map_or(u64::MAX, |items| items.saturating_mul(u64::from(cpu.write_only_bytes)));
    let nontemporal = cpu.write_only_bytes > 0 && written >= device.info.cache_size;
    let state = PrintState { image: &kernel.image, optimised: OnceLock::new(), sink: launch.print };
    let device_calls = DeviceState(launch.device);
    let mut running = Running {
        code,
        tier_up: launch.tier_up.map(|up| {
            // The stack is chosen now, by the private memory of the baseline code. Code that comes later must fit on
            // it.
            let private = if join { TUNING.caller_private } else { TUNING.worker_private };
            NextTier::new(up, kernel, private, launch.local_size, &state)
        }),
        threads: device.threads as u64,
        descriptor: LaunchDescriptor {
            work_dim: range.work_dim,
            nontemporal: u32::from(nontemporal),
            global_offset: range.offset,
            global_size: range.global,
            local_size: range.local,
            num_groups: groups,
            print: print_hook,
            print_state: (&raw const state).cast(),
            device: device_hook,
            device_state: (&raw const device_calls).cast(),
        },
        args: launch.args,
        range,
        groups,
        band: if cpu.column_access && range.local[1] >= TUNING.band_min_rows {
            TUNING.band_groups.min(groups[1])
        } else {
            1
        },
        first: 0,
        count,
        division: Division::new(0, count, 1, 1, 1),
        local: launch.local_size,
        zero_local: launch.zero_local,
        denorms_are_zero: artifact.denorms_are_zero,
        out_of_memory: AtomicBool::new(false),
    };
    let threads = device.threads as u64;
    // If the last launch's groups took so long that waking a thread pays, threads are asked at once: else only the
    // first of few groups would run meanwhile. The groups may have had another size, so the time is kept per work-item.
    let items = product(range.local).unwrap_or(u64::MAX).max(1);
    let known = Duration::from_nanos(item_time.saturating_mul(items) / PICO);
    let note = |time: Duration, groups: u64| {
        let per_item = time.as_nanos() * u128::from(PICO) / u128::from(groups.saturating_mul(items).max(1));
        kernel.item_time.store(per_item.min(u128::from(u64::MAX)) as u64, Ordering::Relaxed);
    };
    let time = times(known, count);
    // What is counted runs on one thread if it can: threads that share counters wait for each other.
    let alone = threads == 1 || device.counts.is_some();
    // Shared at once: a launch that is known to be long. The others begin on the calling thread, if it may run groups,
    // and most of them end there.
    let listed = !alone
        && count > 1
        && !(join && running.keeps_alone())
        && (time >= TUNING.long_job || join && time >= TUNING.solo_time);
    let group_time = match listed {
        true => known,
        false if join => running.begin(alone, item_time == 0, note),
        false => Duration::ZERO,
    };
    let left = count - running.first;
    if left > 0 && !running.out_of_memory.load(Ordering::Relaxed) {
        // Chunks long enough to be worth a claim, but at least one for each thread if there are as many groups.
        let share = left / (threads * TUNING.chunks_per_thread);
        let share = if group_time.is_zero() { share } else { share.min(groups_in(TUNING.max_chunk_time, group_time)) };
        let enough = share.max(groups_in(TUNING.min_chunk_time, group_time));
        let unit = enough.clamp(1, left.div_ceil(threads));
        running.division = Division::new(running.first, count, unit, code.batch, threads);
        let expected = if group_time.is_zero() { Duration::MAX } else { times(group_time, left) };
        let busy = device.pool().run(&running, running.division.chunks(), join, launch.queue, expected);
        // If the launch was not listed, `begin` has measured it.
        if listed {
            note(busy, left);
        }
    }
    if let Some((file, counts)) = device.counts.as_ref().zip(kernel.image.take_counts()) {
        file.note(&artifact.name, count, &counts);
    }
    match running.out_of_memory.into_inner() {
        true => Err(HalError::OutOfMemory(launch.local_size + code.scratch)),
        false => Ok(()),
    }
}

/// How many groups take this time; 1 if the time of one is not known.
fn groups_in(time: Duration, group: Duration) -> u64 {
    if group.is_zero() { 1 } else { (time.as_nanos() / group.as_nanos()).max(1) as u64 }
}

/// The time of so many.
fn times(each: Duration, count: u64) -> Duration {
    Duration::from_nanos((each.as_nanos() as u64).saturating_mul(count))
}

impl Work for Running<'_> {
    fn run(&self, chunk: u64) {
        let (from, to) = self.division.groups(chunk);
        self.groups(from, to);
    }
}

impl Running<'_> {
    /// Whether no other thread is to be woken for now.
    fn keeps_alone(&self) -> bool {
        self.tier_up.as_ref().is_some_and(NextTier::keeps_alone)
    }

    /// Runs groups on this thread until all have ended or waking others pays. If some are left, returns the time of
    /// one. Calls `note` with the time of how many groups; if `all` are to run here, only if the time is `unknown`: it
    /// then decides how groups are merged and nothing else.
    fn begin(&mut self, all: bool, unknown: bool, note: impl Fn(Duration, u64)) -> Duration {
        if all || self.count == 1 {
            let start = (self.count > 1 && unknown).then(Instant::now);
            self.groups(0, self.count);
            self.first = self.count;
            if let Some(start) = start {
                note(start.elapsed(), self.count);
            }
            return Duration::ZERO;
        }
        // The batches double, so that the clock is read a few times only, and short groups are not measured one by one.
        let is_next_tier = |r: &Running<'_>| r.tier_up.as_ref().is_some_and(NextTier::is_in_use);
        let (mut start, mut from, mut batch, mut next_tier) = (Instant::now(), 0, 1, is_next_tier(self));
        loop {
            let end = self.count.min(self.first + batch);
            self.groups(self.first, end);
            self.first = end;
            if !std::mem::replace(&mut next_tier, is_next_tier(self)) && next_tier && end < self.count {
                // The time so far, with the wait for that code, says nothing of the rest.
                (start, from, batch) = (Instant::now(), end, 1);
                continue;
            }
            let (time, done) = (start.elapsed(), end - from);
            let worth = !self.keeps_alone() && pool::worth_waking(time, done, || self.count - end).is_some();
            if end == self.count || self.out_of_memory.load(Ordering::Relaxed) || worth {
                note(time, done.max(1));
                return Duration::from_nanos(((time.as_nanos() / u128::from(done.max(1))) as u64).max(1));
            }
            batch *= 2;
        }
    }

    /// Runs some consecutive groups on this thread.
    fn groups(&self, from: u64, to: u64) {
        // A thread that exits has no thread-local memory any more, but its destructors may launch.
        let run = |memory: &RefCell<ThreadMemory>| self.groups_with(&mut memory.borrow_mut(), from, to);
        if MEMORY.try_with(run).is_err() {
            self.groups_with(&mut ThreadMemory::default(), from, to);
        }
        // Non-temporal stores become visible before the groups count as done.
        #[cfg(target_arch = "x86_64")]
        if self.descriptor.nontemporal != 0 {
            // SAFETY: every processor that this is compiled for has the instruction.
            unsafe { std::arch::x86_64::_mm_sfence() };
        }
    }

    /// Runs some consecutive groups in a thread's memory.
    fn groups_with(&self, memory: &mut ThreadMemory, from: u64, to: u64) {
        let _fpenv = fpenv::enter(self.denorms_are_zero);
        let mut at = from;
        while at < to {
            let (id, row) = position(self.groups, self.band, at);
            // All groups of a row have the same size, except perhaps the last one. Before each call, code of
            // the next tier is looked for. One core is the compiler's.
            let next = self.tier_up.as_ref();
            let next_code = next.and_then(|n| n.code_or_wait(&self.range, self.count, self.threads - 1));
            let code = next_code.unwrap_or(self.code);
            // Cleared local memory is good for one group. A launch that may go on with other code looks for it after
            // each call.
            let most = match self.zero_local {
                true => 1,
                false if self.tier_up.is_some() => code.batch,
                false => u64::MAX,
            };
            let row = row.min(to - at).min(most);
            let batch = code.batch.min(row);
            // Code relies on the alignment of its blocks, also for the later groups of a batch.
            let strides = [self.local, code.scratch].map(|size| size.next_multiple_of(u64::from(abi::BLOCK_ALIGN)));
            let local = memory.local.get(strides[0] * batch + 2 * abi::LOCAL_MARGIN);
            let (Some(local), Some(scratch)) = (local, memory.scratch.get(strides[1] * batch)) else {
                self.out_of_memory.store(true, Ordering::Relaxed);
                return;
            };
            // Inside of the block.
            let local = local.wrapping_add(abi::LOCAL_MARGIN as usize);
            if self.zero_local {
                // SAFETY: there is as much from here on, of this thread alone, for the one group that runs next.
                unsafe { local.write_bytes(0, self.local as usize) };
            }
            match next.filter(|_| next_code.is_none()) {
                None => self.row(&code, id, row, (local, scratch), strides),
                Some(next) => {
                    // Only baseline code is timed, for the decision whether to wait for the compiler.
                    let begin = Instant::now();
                    self.row(&code, id, row, (local, scratch), strides);
                    next.ran(row, begin.elapsed());
                }
            }
            at += row;
        }
        // After the chunk and not after each group, so that all its groups use the same block.
        memory.local.trim();
        memory.scratch.trim();
    }

    /// Runs so many groups that follow each other in dimension 0, in memory for as many as the code runs in one call.
    fn row(&self, code: &Code, first: [u64; 3], count: u64, (local, scratch): (*mut u8, *mut u8), strides: [u64; 2]) {
        let size = |d: usize, id: u64| self.range.local[d].min(self.range.global[d] - id * self.range.local[d]);
        let mut group = GroupDescriptor {
            id: first,
            local_size: [0, size(1, first[1]), size(2, first[2])],
            count: 1,
            local_stride: strides[0],
            scratch_stride: strides[1],
        };
        let (mut id, end) = (first[0], first[0] + count);
        while id < end {
            group.id[0] = id;
            group.local_size[0] = size(0, id);
            if code.batch > 1 {
                // Groups of one size: all but perhaps the last one of the row.
                let whole = self.range.global[0] / self.range.local[0];
                group.count = code.batch.min(end - id).min(whole.saturating_sub(id)).max(1);
            }
            // SAFETY: the interface is the one that the code was compiled for (`cloom_ir::abi`): descriptors live
            // through the call, the argument block has the artifact's size (checked by the device), local memory and
            // scratch are as large as the artifact asks for so many groups, and this thread's own. What the kernel does
            // with the program's pointers is the program's responsibility.
            unsafe { (code.function)(&self.descriptor, self.args.as_ptr(), &group, local, scratch) };
            id += group.count;
        }
    }
}
