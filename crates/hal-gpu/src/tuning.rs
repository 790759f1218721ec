//! The thresholds of a GPU back end, in one table: each says what is bounded, in which unit, and for which reason.
//!
//! Figures in brackets are measurements, with the GPU and its host. A value without a figure follows from the reason
//! that is given. `driver_costs` of `gpu-tests` measures another machine.

use std::ops::RangeInclusive;
use std::time::Duration;

// Waiting for a launch.

/// A thread that waits for a launch spins for this long before it sleeps, which is about the time that falling asleep
/// and waking up take.
pub const SPIN_TIME: Duration = Duration::from_micros(50);
/// A spinning thread queries an event once in this interval, because a query delays other threads that call the driver.
pub const EVENT_QUERY_INTERVAL: Duration = Duration::from_micros(2);
/// A thread that cannot block on an event polls for the completion instead. It naps for a sixteenth of the time that it
/// has waited, but within these bounds: the completion is noticed at most 6 % late, and a launch of seconds costs 2,000
/// polls a second.
pub const WAIT_NAP: RangeInclusive<Duration> = Duration::from_micros(30)..=Duration::from_micros(500);
/// Events of a timeline before it queries which of them have been reached, so that their number is bounded.
pub const MAX_EVENTS: usize = 64;

// Deferring launches to the stream's thread.

/// Launches that have not ended, or that followed each other closely, before the next ones are deferred. With few of
/// them, the launching thread calls the driver as soon as the stream's thread would.
pub const DEFER_FROM_LAUNCHES: u64 = 16;
/// A launch follows another closely within this time. (If submitting a launch takes the driver longer than running it
/// takes the GPU, few launches are pending, so that their number alone shows nothing. Drivers take 1.6 to 8 us for the
/// launch of an empty kernel, depending on the host. With a driver that takes 5 us, deferring made it 2.4 us.)
pub const CLOSE_LAUNCH_TIME: Duration = Duration::from_micros(12);
/// The most deferred launches of a stream. A launch and its arguments are some hundred bytes of host memory.
pub const MAX_DEFERRED_LAUNCHES: usize = 1024;

// The thread of a stream.

/// The thread ends after this long without a launch.
pub const THREAD_IDLE_TIME: Duration = Duration::from_secs(5);
/// The thread begins to wait for a launch after this time, in which the submitting thread may begin to wait itself.
pub const WAITER_HEAD_START: Duration = Duration::from_micros(4);
/// If launches follow each other, the thread waits this long for the next one, nearly [`CLOSE_LAUNCH_TIME`].
pub const NEXT_LAUNCH_TIME: Duration = Duration::from_micros(10);
/// If launches follow each other, the thread polls for completions once in this interval, because its calls of the
/// driver delay those of the launching thread.
pub const POLL_INTERVAL: Duration = Duration::from_micros(100);
/// After this many waits in a row that other threads did themselves, the thread naps between its looks for launches.
/// Spinning takes time from those threads, most of all on a core that it shares with one. (H200, 40,000 blocking
/// launches: 0.88 s of processor time without naps, 0.45 s with them, in the same wall time.)
pub const NAP_AFTER_WAITS: u32 = 8;
/// Length of a nap of the thread. The system adds about as much.
pub const NAP_TIME: Duration = Duration::from_micros(50);
/// The most launches that are taken from the list under one lock to be notified. Launching threads find the list
/// unlocked in between.
pub const MAX_NOTIFIED_LAUNCHES: usize = 64;

// Which launches may be deferred.

/// A launch that is notified as ended within this time shows that its kernel is quick. Launches of this kernel with as
/// many work-items may then be deferred: the delay is not noticeable beside the time that a launch takes anyway.
pub const QUICK_LAUNCH_TIME: Duration = Duration::from_micros(200);
/// If a launch is notified only after this time, its kernel no longer counts as quick: either it is not, or the GPU is
/// busy.
pub const SLOW_LAUNCH_TIME: Duration = Duration::from_millis(20);

// Grids and groups of a launch.

/// The most grids of a launch: more would take minutes to submit.
pub const MAX_GRIDS: u64 = 1 << 20;
/// The most threads that are resident on a compute unit.
pub const RESIDENT_THREADS: u64 = 2048;
/// The most groups that are resident on a compute unit.
pub const MAX_RESIDENT_GROUPS: u64 = 32;
/// Threads of a group of a coarsened kernel.
pub const COARSE_GROUP_THREADS: u64 = 256;
/// The fewest threads of a row of such a group, if the rows of the range are whole groups.
pub const MIN_COARSE_ROW_THREADS: u64 = 32;
/// The fewest threads of a coarsened kernel for each compute unit: with fewer, coarsening leaves it idle.
pub const MIN_COARSE_THREADS: u64 = 512;
/// Threads of a group whose warps have a shape of their own, and of a group that replaces several small ones. A GPU
/// starts a limited number of groups in a time. (H100: 1.5 groups in a nanosecond. Copying an image of 2048 by 2048 in
/// groups of 64 took 43.7 us whatever its format, and takes 19.5 in groups of 256.)
pub const SHAPED_GROUP_THREADS: u64 = 256;
/// A group of this many threads or more is not small, and is left as it is.
pub const MIN_LARGE_GROUP_THREADS: u64 = 128;
/// The fewest groups of [`SHAPED_GROUP_THREADS`] for which small groups are replaced. Starting fewer groups takes less
/// time than a launch.
pub const MIN_GROUPS_TO_REGROUP: u64 = 1024;

// Print records and boxes.

/// Bytes of the print records of a launch. Only the written bytes are read, so that it can be a few times the need of a
/// program that prints much, such as 100,000 letters one by one (2.4 MB).
pub const MAX_PRINT_BYTES: u32 = 8 << 20;
/// Bytes of a box that are gathered or scattered on the device at once. This much memory of the device is allocated for
/// it.
pub const MAX_GATHERED_BYTES: u64 = 256 << 20;
