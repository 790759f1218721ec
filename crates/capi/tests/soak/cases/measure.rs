//! What the process holds: memory, files, threads.

use std::time::{Duration, Instant};

/// A measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Held {
    /// Resident bytes.
    pub memory: u64,
    pub files: usize,
    pub threads: usize,
}

fn entries(folder: &str) -> usize {
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

/// Resident bytes now.
pub fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}

impl Held {
    pub fn now() -> Held {
        Held { memory: resident(), files: entries("/proc/self/fd"), threads: entries("/proc/self/task") }
    }

    /// Checks that it has not grown: no file, no thread, and at most so many bytes. Threads may take a moment to end.
    #[track_caller]
    pub fn same(self, before: Held, bytes: u64) {
        let end = Instant::now() + Duration::from_secs(20);
        let mut now = self;
        while now.threads > before.threads && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(50));
            now.threads = Held::now().threads;
        }
        assert!(now.threads <= before.threads, "threads: {} before, {} now", before.threads, now.threads);
        assert!(now.files <= before.files, "files: {} before, {} now", before.files, now.files);
        let grown = now.memory.saturating_sub(before.memory);
        assert!(grown <= bytes, "memory has grown by {grown} bytes, {bytes} are allowed");
    }
}
