//! What a driver must endure: each case is a program of its own that ends well or panics. The tests run the short
//! forms, `cargo xtask soak` the long ones.

pub mod commands;
pub mod contexts;
pub mod large;
pub mod measure;
pub mod mix;
mod mix_families;
pub mod processes;

use std::time::{Duration, Instant};

/// How much is done.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// The long form.
    pub long: bool,
    /// For cases that take as much time as they are given.
    pub time: Duration,
}

impl Size {
    /// The short form, for the tests of every day.
    #[allow(dead_code, reason = "as above")]
    pub const SHORT: Size = Size { long: false, time: Duration::from_secs(2) };

    /// A number for the short form, and one for the long form.
    pub fn pick<T>(self, short: T, long: T) -> T {
        if self.long { long } else { short }
    }
}

/// A case.
pub struct Case {
    pub name: &'static str,
    /// What it does.
    #[allow(dead_code, reason = "for those who choose one")]
    pub about: &'static str,
    /// Panics if it finds something; returns figures.
    pub run: fn(Size) -> String,
    /// Whether there is a short form.
    #[allow(dead_code, reason = "the long forms are all there are elsewhere")]
    pub short: bool,
}

pub const ALL: &[Case] = &[
    Case {
        name: "contexts",
        about: "contexts in turn: memory, files and threads stay",
        run: contexts::run,
        short: true,
    },
    Case { name: "queued", about: "commands behind a user event, and without", run: commands::queued, short: true },
    Case {
        name: "chains",
        about: "events that wait for each other: end, fail, are dropped",
        run: commands::chains,
        short: true,
    },
    Case {
        name: "unordered",
        about: "markers and barriers of an out-of-order queue",
        run: commands::unordered,
        short: true,
    },
    Case { name: "callbacks", about: "callbacks on one event, and on many", run: commands::callbacks, short: true },
    Case { name: "threads", about: "64 threads call everything", run: mix::run, short: true },
    Case { name: "large-buffers", about: "buffers of more than 4 GiB", run: large::buffers, short: false },
    Case { name: "large-images", about: "images of more than 4 GiB", run: large::images, short: false },
    Case { name: "loads", about: "loads and unloads the driver", run: processes::loads, short: true },
    Case { name: "forks", about: "forks with work in flight; both sides go on", run: processes::forks, short: true },
];

/// Tells about progress, at most once in some seconds.
pub struct Progress {
    what: &'static str,
    total: u64,
    next: Instant,
}

const EVERY: Duration = Duration::from_secs(5);

impl Progress {
    pub fn new(what: &'static str, total: u64) -> Progress {
        Progress { what, total, next: Instant::now() + EVERY }
    }

    pub fn at(&mut self, done: u64) {
        if Instant::now() >= self.next {
            self.next = Instant::now() + EVERY;
            eprintln!("  {}: {done} of {}", self.what, self.total);
        }
    }
}
