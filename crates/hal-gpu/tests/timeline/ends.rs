//! The end of the process, while other threads call the driver.

use super::exit::ExitGate;
use super::sync::{AtomicBool, AtomicUsize};
use loom::sync::atomic::{self, Ordering};
use loom::thread::{spawn, yield_now};
use std::sync::Arc;

/// The driver's library, which is torn down at the end.
struct Driver {
    calls: atomic::AtomicUsize,
    is_torn_down: atomic::AtomicBool,
}

impl Driver {
    /// A call. It begins before the library is torn down, and ends before.
    fn call(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        assert!(!self.is_torn_down.load(Ordering::Relaxed), "a call of a library that is torn down");
        self.calls.fetch_sub(1, Ordering::Relaxed);
    }

    fn tear_down(&self) {
        self.is_torn_down.store(true, Ordering::Relaxed);
        assert_eq!(self.calls.load(Ordering::Relaxed), 0, "a library that is torn down during a call");
    }
}

struct Process {
    gate: ExitGate,
    driver: Driver,
}

impl Process {
    fn new() -> Arc<Process> {
        let driver = Driver { calls: atomic::AtomicUsize::new(0), is_torn_down: atomic::AtomicBool::new(false) };
        Arc::new(Process { gate: ExitGate::new(AtomicUsize::new(0), AtomicBool::new(false)), driver })
    }

    /// The call, if the process does not end.
    fn call(&self) -> bool {
        let begins = self.gate.begin();
        if begins {
            self.driver.call();
            self.gate.end();
        }
        begins
    }
}

/// The end of the process without a bug.
fn sound_end(process: &Process) {
    process.gate.close();
    while !process.gate.is_quiet(0) {
        yield_now();
    }
    process.driver.tear_down();
}

/// A planted bug: the end waits for the calls that it sees, and only then lets no other begin.
fn end_that_closes_late(process: &Process) {
    while !process.gate.is_quiet(0) {
        yield_now();
    }
    process.gate.close();
    process.driver.tear_down();
}

fn beside(end: fn(&Process), work: impl FnOnce(&Process) + 'static) {
    let process = Process::new();
    let other = process.clone();
    let thread = spawn(move || work(&other));
    end(&process);
    thread.join().expect("the library is there");
}

/// A thread submits while the process ends.
pub fn submission_at_the_end() {
    beside(sound_end, |process| _ = process.call());
}

/// A thread submits while the process ends, and the end does not wait for the submission.
pub fn submission_at_an_end_that_closes_late() {
    beside(end_that_closes_late, |process| _ = process.call());
}

/// A thread loads a module. If it finds afterwards that the process ends, it drops the module.
pub fn load_at_the_end() {
    beside(sound_end, |process| {
        if process.call() && !process.call() {
            // Unloading is a driver call like any other.
            process.call();
        }
    });
}

/// A planted bug: the module is unloaded without asking the gate.
pub fn load_at_the_end_that_unloads() {
    beside(sound_end, |process| {
        if process.call() && !process.call() {
            process.driver.call();
        }
    });
}
