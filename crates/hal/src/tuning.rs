//! The thresholds of the scheduler: when a thread waits, sleeps, is woken, and how a launch is divided.
//!
//! They are in one table because they depend on each other: a launch runs on the calling thread alone as long as waking
//! another one would take, and a thread spins for as long as falling asleep and waking up would take.
//! `docs/internals/runtime.md` says how they work together. Two crates read them: `hal-cpu`, which divides launches
//! among threads, and `runtime`, which decides whether a launch becomes a command of its own.
//!
//! Figures in brackets are measurements that the value stands on, with the machine where it is known: "2 cores" have
//! AVX2, "16 cores" are those of a Xeon in a virtual machine. Where no figure is given, the value follows from the
//! reason that is. `cargo run --release -p cloom-capi --example launch_cost` measures launches on another machine.

use std::time::Duration;

/// The thresholds. See [`TUNING`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tuning {
    // Waiting.
    /// A thread without work spins for this long before it sleeps. The same time ends a burst of launches: see
    /// [`burst_time`](Self::burst_time). About what it takes to fall asleep and be woken, so that spinning costs at
    /// most twice the better choice.
    pub spin_time: Duration,
    /// Tests of a spinning thread between two readings of the clock.
    pub spins_per_clock: u32,
    /// A thread whose core others want spins for this long: the time is theirs, and the awaited thread may be waiting
    /// for the core. Enough for the end of a chunk that runs on another core.
    pub contended_spin_time: Duration,
    /// A woken thread that takes longer than this to come had to wait for a core; waking up takes up to a tenth of a
    /// millisecond on a virtual machine, and time slices are milliseconds.
    pub late_time: Duration,
    /// Its core then counts as contended for so long at first: about a time slice, because on an idle machine it was an
    /// accident, and on a busy one the time soon doubles.
    pub contended_time: Duration,
    /// At most for so long, if it was late again and again: for so long the machine may be idle and one core of it
    /// unused by short launches.
    pub contended_time_max: Duration,

    // How many threads come to a launch.
    /// The thread that brings a launch works alone for this long before it wakes another one. Waking takes as long,
    /// half of it time of the waking thread, and most launches of most programs have ended by then.
    pub solo_time: Duration,
    /// After [`solo_time`](Self::solo_time), threads are woken only if the rest would take one thread at least this
    /// long; below that the woken ones would come too late.
    pub wake_min_rest: Duration,
    /// A launch that is expected to take one thread at least this long wakes threads at once.
    pub long_job: Duration,
    /// A job of this length wakes threads on contended cores, too: it takes one thread some time slices. (2 cores, 12
    /// busy processes beside: launches of 0.2 ms took 16 ms on average while threads shared them.)
    pub contended_long_job: Duration,
    /// One sleeping thread is woken for each so much work, in time of one thread. With
    /// [`work_per_spinning`](Self::work_per_spinning) and a mailbox for each worker, in place of waking all workers and
    /// of one list that all look at: jobs of 10, 20, 50, 100, 250, 1000 us on 16 cores took 7.7, 12, 15, 17, 24, 83 us,
    /// where they had taken 47, 42, 46, 47, 35, 84.
    pub work_per_woken: Duration,
    /// One spinning thread is offered a part for each so much work, in time of one thread: it costs the owner a store
    /// to another core's cache line, and no system call. Figures at [`work_per_woken`](Self::work_per_woken).
    pub work_per_spinning: Duration,
    /// Launches that are too short to wake threads for come in bursts. After so much work of a burst that nobody
    /// shared, threads are woken for the rest of it, which takes as long again if the burst is like most.
    pub burst_time: Duration,

    // Chunks: the unit in which threads take groups.
    /// Chunks for each thread, so that threads end at nearly the same time although they do not begin so.
    pub chunks_per_thread: u64,
    /// No chunk takes less than this if there are enough groups: taking one costs a tenth of it.
    pub min_chunk_time: Duration,
    /// Nor more than this if its groups take less: at the end, threads wait for the last one.
    pub max_chunk_time: Duration,

    // Groups of regroupable kernels.
    /// Work-items of a row of a group that fill the vectors of every target.
    pub full_row: u64,
    /// Rows up to so many work-items are not divided: each end of a row is a vector that is not full.
    pub whole_row: u64,
    /// Small groups are merged into one of so many work-items, because entering a group costs as much as some vectors.
    /// (A copy with 12 operations a float, 4096 x 4096 in groups of 256: 4.14 ms, merged 3.70 ms.)
    pub merged_items: u64,
    /// Groups are not merged beyond this time, and few groups that take longer are halved. (16 cores, n-body of 4096
    /// bodies in 32 groups of 128: 0.8 to 1.0 ms, halved down to a vector 0.61 to 0.70 ms.)
    pub merged_time: Duration,

    // Groups and the caches.
    /// Groups whose grid-stride loops are run together read so many bytes in a row in each step. (2 cores, sums of
    /// 64 MiB: groups of 64 work-items 1.21 to 1.28 times as fast as one group at a time, of 256 1.34 times.)
    pub batch_bytes: u64,
    /// They have at most so many bytes of local memory and scratch, which the second-level cache has room for. What a
    /// group touches is mostly a small part of it, because library functions reserve memory for the largest groups.
    pub batch_memory: u64,
    /// A kernel with column-major accesses runs its groups column by column, in bands, if they have at least so many
    /// rows of work-items: a group then uses whole cache lines. Lower groups gain nothing.
    pub band_min_rows: u64,
    /// Groups above each other in a band. The next group then touches the next cache lines, as hardware prefetchers
    /// expect. (A matrix of 4096 x 4096 numbers transposed without tiles, groups of 16 x 16: 11.6 ms in rows, 8.0 ms
    /// in bands.)
    pub band_groups: u64,

    // Launches that begin with baseline code.
    /// Threads share such a launch as long as it seems to end in one part in so many of the time that compiling
    /// takes. (16 cores, Mandelbrot of 1024 x 1024 with 4096 iterations: 42 ms with optimised code alone, 98 to 131 ms
    /// when all threads ran baseline code until it was there, 57 ms when they did for a quarter of that time.)
    pub tier_up_margin: u32,

    // Memory of threads.
    /// Bytes of a worker's stack. Pages cost nothing until they are touched.
    pub worker_stack: usize,
    /// Bytes of private memory with which a kernel may run on a worker's stack: half of it.
    pub worker_private: u64,
    /// Bytes of private memory with which a kernel may run on the calling thread, whose stack is the application's.
    pub caller_private: u64,
    /// The scratch of all threads together is at most one part in so many of the machine's memory. Scratch is what
    /// work-items keep across barriers.
    pub scratch_divisor: u64,

    // Launches that are no commands of their own.
    /// A launch that is expected to take at most this long runs on the thread that enqueues it: waking another one
    /// takes longer. (The 4095 launches of a longest common subsequence along skewed diagonals: 8 to 10 ms, 13 to 15 ms
    /// when only launches of up to 3 us ran so.)
    pub inline_time: Duration,
    /// The same while the runtime's threads come late: less than they are late.
    pub contended_inline_time: Duration,
    /// Bytes of private memory with which it may do so.
    pub inline_stack: u64,
    /// One of so many inline launches is measured: reading the clock takes as long as some of them.
    pub inline_per_measured: u64,
    /// A launch that takes more than so many times what was expected counts only if the next measured one does so, too:
    /// another program may have had the core.
    pub outlier_factor: u64,
    /// Work-items of a group where the application leaves the local size open: large enough to fill vectors, small
    /// enough that there are groups to share out and that they stay in the caches.
    pub preferred_group: u64,
    /// The same where there are too few work-items for all compute units, unless the machine has SIMD groups of a fixed
    /// size: then it is that size.
    pub smallest_group: u64,
}

/// The values in use. They are the same on all machines.
pub const TUNING: Tuning = Tuning {
    spin_time: Duration::from_micros(70),
    spins_per_clock: 32,
    contended_spin_time: Duration::from_micros(5),
    late_time: Duration::from_micros(500),
    contended_time: Duration::from_millis(2),
    contended_time_max: Duration::from_millis(320),

    solo_time: Duration::from_micros(10),
    wake_min_rest: Duration::from_micros(30),
    long_job: Duration::from_micros(200),
    contended_long_job: Duration::from_millis(10),
    work_per_woken: Duration::from_micros(16),
    work_per_spinning: Duration::from_micros(2),
    burst_time: Duration::from_micros(100),

    chunks_per_thread: 16,
    min_chunk_time: Duration::from_nanos(1500),
    max_chunk_time: Duration::from_micros(100),

    full_row: 64,
    whole_row: 1024,
    merged_items: 1024,
    merged_time: Duration::from_micros(20),

    batch_bytes: 2048,
    batch_memory: 512 << 10,
    band_min_rows: 16,
    band_groups: 8,

    tier_up_margin: 16,

    worker_stack: 64 << 20,
    worker_private: 32 << 20,
    caller_private: 64 << 10,
    scratch_divisor: 4,

    inline_time: Duration::from_micros(10),
    contended_inline_time: Duration::from_millis(1),
    inline_stack: 16 << 10,
    inline_per_measured: 16,
    outlier_factor: 2,
    preferred_group: 64,
    smallest_group: 32,
};

// Relations between the values.
const _: () = {
    assert!(TUNING.worker_private <= TUNING.worker_stack as u64 / 2, "the launcher and libraries need stack, too");
    assert!(TUNING.inline_stack <= TUNING.caller_private, "an inline launch runs on the caller's stack");
    assert!(TUNING.solo_time.as_nanos() < TUNING.long_job.as_nanos(), "a long job wakes threads at once");
    assert!(TUNING.long_job.as_nanos() <= TUNING.contended_long_job.as_nanos(), "contention makes waking dearer");
    assert!(TUNING.inline_time.as_nanos() <= TUNING.contended_inline_time.as_nanos(), "contention makes waking dearer");
};
