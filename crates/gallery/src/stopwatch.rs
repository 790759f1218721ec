//! Measures what a piece of work takes: time on the wall, and processor time.
//!
//! Processor time is that of all threads of this process, user and system, and of child processes that have ended and
//! been waited for (a driver may start a linker). On a busy machine it says what work costs, where the wall says how
//! long the machine was busy with something else.

use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// When something began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch {
    wall: Instant,
    processor: Duration,
}

/// What it took.
#[derive(Clone, Copy, Debug)]
pub struct Spent {
    /// On the wall.
    pub wall: Duration,
    /// On all processors.
    pub processor: Duration,
}

/// Linux counts the times of ended children in hundredths of a second, on every machine of today.
const TICK: Duration = Duration::from_millis(10);

/// Processor time of the child processes that have ended, from `/proc/self/stat`: `cutime` and `cstime`, proc(5).
fn children(stat: &str) -> Duration {
    // The name, in parentheses, may have spaces in it; the state after it is field 3, cutime is field 16.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(13).take(2);
    TICK * fields.filter_map(|f| f.parse::<u32>().ok()).sum::<u32>()
}

/// Processor time of this process alone; asking takes less than a microsecond.
pub(crate) fn own_processor() -> Duration {
    let own = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(own.tv_sec.unsigned_abs(), own.tv_nsec as u32)
}

fn processor() -> Duration {
    own_processor() + std::fs::read_to_string("/proc/self/stat").map_or(Duration::ZERO, |stat| children(&stat))
}

impl Stopwatch {
    pub(crate) fn start() -> Stopwatch {
        Stopwatch { wall: Instant::now(), processor: processor() }
    }

    pub(crate) fn wall(&self) -> Duration {
        self.wall.elapsed()
    }

    pub(crate) fn spent(&self) -> Spent {
        Spent { wall: self.wall(), processor: processor().saturating_sub(self.processor) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only the wall's: other tests of this process may run meanwhile, and their processor time counts.
    #[test]
    fn sleep_counts_on_the_wall() {
        let watch = Stopwatch::start();
        std::thread::sleep(Duration::from_millis(60));
        assert!(watch.spent().wall >= Duration::from_millis(60));
    }

    #[test]
    fn the_time_of_all_threads_counts() {
        let watch = Stopwatch::start();
        let worker = std::thread::spawn(|| {
            let own = || clock_gettime(ClockId::ThreadCPUTime);
            while own().tv_sec == 0 && own().tv_nsec < 20_000_000 {}
        });
        worker.join().unwrap();
        assert!(watch.spent().processor >= Duration::from_millis(20));
    }

    #[test]
    fn the_times_of_children_are_fields_16_and_17() {
        let stat = "7 (a ) b) S 1 2 3 4 5 6 7 8 9 10 11 12 3 4 20 0";
        assert_eq!(children(stat), Duration::from_millis(70));
        assert_eq!(children(""), Duration::ZERO);
    }
}
