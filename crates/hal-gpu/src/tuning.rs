//! The thresholds of a GPU back end, in one table: each says what is bounded, in which unit, and what it stands on.
//!
//! Figures in brackets are measurements, with the GPU and its host. Where no figure is given, the value follows from
//! the reason that is. `driver_costs` of `gpu-tests` measures another machine.

use std::ops::RangeInclusive;
use std::time::Duration;

// Waiting for a launch.

/// A thread that waits for a launch spins for so long before it sleeps: about what falling asleep and waking take.
pub const SPIN_TIME: Duration = Duration::from_micros(50);
/// A thread that spins queries an event once in this time: a query holds up other threads that call the driver.
pub const EVENT_QUERY_INTERVAL: Duration = Duration::from_micros(2);
/// A thread that cannot sleep until a launch ends looks for the end after a sixteenth of the time that it has waited,
/// but after no less and no more than this: the end is noticed at most 6 % late, and a launch of seconds costs 2,000
/// looks a second.
pub const WAIT_NAP: RangeInclusive<Duration> = Duration::from_micros(30)..=Duration::from_micros(500);
/// Events that a timeline has before it asks which of them have come, so that their number is bounded.
pub const MAX_EVENTS: usize = 64;

// Deferring launches to the stream's thread.

/// Launches that have not ended, or that followed each other closely, before the next ones are deferred. With few of
/// them, the thread that launches is as soon at the driver itself.
pub const DEFER_FROM_LAUNCHES: u64 = 16;
/// A launch follows another closely within this time: where the driver takes longer for a launch than the GPU, few
/// launches are left that have not ended. (Drivers take 1.6 to 8 us for a launch of an empty kernel, by the host. With
/// one that takes 5 us, deferring made it 2.4 us.)
pub const CLOSE_LAUNCH_TIME: Duration = Duration::from_micros(12);
/// Launches that are deferred at most: a launch and its arguments are some hundred bytes of the host's memory.
pub const MAX_DEFERRED_LAUNCHES: usize = 1024;

// The thread of a stream.

/// The thread ends after so long without a launch.
pub const THREAD_IDLE_TIME: Duration = Duration::from_secs(5);
/// The thread begins to wait for a launch after this time, in which the one who submitted it may begin to wait itself.
pub const WAITER_HEAD_START: Duration = Duration::from_micros(4);
/// Where launches follow each other, the thread gives the next one so long to come, nearly [`CLOSE_LAUNCH_TIME`].
pub const NEXT_LAUNCH_TIME: Duration = Duration::from_micros(10);
/// Where launches follow each other, the thread polls for completions once in this time: its calls of the driver hold
/// up those of the thread that launches.
pub const POLL_INTERVAL: Duration = Duration::from_micros(100);
/// Waits in a row that other threads did themselves before the thread naps between looking for launches: spinning takes
/// time from these threads, all the more on a core that it shares with one. (H200, 40,000 launches that are waited for
/// one by one: 0.88 s of processor time without naps, 0.45 s with them, in the same time on the wall.)
pub const NAP_AFTER_WAITS: u32 = 8;
/// A nap of the thread; the system adds as much.
pub const NAP_TIME: Duration = Duration::from_micros(50);
/// Launches whose ends are notified under one lock at most: those who launch find the list free in between.
pub const MAX_NOTIFIED_LAUNCHES: usize = 64;

// Which launches may be deferred.

/// A launch of a kernel whose end is notified within this time shows that the kernel is quick: launches of it with as
/// many work-items may wait in the host's memory, since nobody can tell it from the time that a launch takes anyway.
pub const QUICK_LAUNCH_TIME: Duration = Duration::from_micros(200);
/// If the end is notified only after this time, the kernel may be quick no more, or the GPU is busy anyway.
pub const SLOW_LAUNCH_TIME: Duration = Duration::from_millis(20);

// Grids and groups of a launch.

/// Grids of a launch at most: more would take minutes to submit.
pub const MAX_GRIDS: u64 = 1 << 20;
/// Threads of a warp.
pub const WARP_THREADS: u64 = 32;
/// Threads that a multiprocessor has at a time at most.
pub const RESIDENT_THREADS: u64 = 2048;
/// Groups that a multiprocessor has at a time at most.
pub const MAX_RESIDENT_GROUPS: u64 = 32;
/// Threads of a group of a coarsened kernel.
pub const COARSE_GROUP_THREADS: u64 = 256;
/// Threads of a row of such a group at least, if rows of the range are whole groups.
pub const MIN_COARSE_ROW_THREADS: u64 = 32;
/// Threads that a multiprocessor has of a coarsened kernel at least: with fewer, coarsening makes it idle.
pub const MIN_COARSE_THREADS: u64 = 512;
/// Threads of a group whose warps have a shape of their own, and of one that replaces several small ones: a GPU starts
/// only so many groups in a time. (H100: 1.5 groups in a nanosecond. Copying an image of 2048 by 2048 in groups of 64
/// took 43.7 us whatever its format, and takes 19.5 in groups of 256.)
pub const SHAPED_GROUP_THREADS: u64 = 256;
/// Threads of a group from which it is not small, and is left as it is.
pub const MIN_LARGE_GROUP_THREADS: u64 = 128;
/// Groups of [`SHAPED_GROUP_THREADS`] that a range has at least if small groups are replaced: with fewer, starting them
/// does not take the time of a launch.
pub const MIN_GROUPS_TO_REGROUP: u64 = 1024;

// Print records and boxes.

/// Bytes of the print records of a launch. Only what is written is read, so that it is a few times what a program asks
/// for that prints much, such as 100,000 letters one by one (2.4 MB).
pub const MAX_PRINT_BYTES: u32 = 8 << 20;
/// Bytes of a box that are gathered or scattered on the device at once: so much of its memory is taken for it.
pub const MAX_GATHERED_BYTES: u64 = 256 << 20;
