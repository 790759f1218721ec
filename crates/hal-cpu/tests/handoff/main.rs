//! A model check of the hand-off protocol: how jobs reach threads that spin or sleep (`src/pool/shared.rs`).
//!
//! The protocol's source files are compiled here a second time, with a `sync` module made of the types of Loom, which
//! runs a scenario again and again: in each order of its atomic operations, with each value that a load may see by the
//! C11 memory model. The number of preemptions is bounded (Musuvathi and Qadeer, "Iterative Context Bounding for
//! Systematic Testing of Multithreaded Programs", PLDI 2007): most bugs need no more than two.
//!
//! What is checked, in every order:
//! * no wake-up is lost: a job that only workers may run ends, or Loom reports a deadlock;
//! * each chunk runs exactly once;
//! * the owner returns after every chunk has ended, and sees what the chunks wrote;
//! * a mailbox is not left with a job that nobody takes while its owner waits, which would be a deadlock, too;
//! * workers end at shutdown, also while they sleep.
//!
//! That the check can fail is shown with three planted bugs, in which Loom must find the deadlock.

#![allow(clippy::duplicate_mod, reason = "the protocol is compiled with sound and with weak atomics")]

mod primitives;

/// The protocol with the atomics that it asks for.
#[path = "."]
mod sound {
    const SOUND: bool = true;
    #[path = "protocol.rs"]
    mod protocol;
    pub use protocol::{scenarios, shared};
}

/// The protocol with a planted bug.
#[path = "."]
mod weak {
    const SOUND: bool = false;
    #[path = "protocol.rs"]
    #[allow(dead_code, reason = "one scenario shows the bug")]
    mod protocol;
    pub use protocol::scenarios;
}

use loom::model::Builder;
use std::sync::Arc;

/// Runs a scenario in every order with at most so many preemptions.
fn check(preemptions: usize, scenario: impl Fn() + Send + Sync + 'static) {
    let mut model = Builder::new();
    model.preemption_bound = Some(preemptions);
    model.max_branches = 10_000;
    model.check(scenario);
}

#[test]
fn workers_that_sleep_end_at_shutdown() {
    check(3, || sound::scenarios::Workers::start(2).shut_down());
}

#[test]
fn a_job_for_workers_alone_ends() {
    check(3, || sound::scenarios::jobs_for_workers(1, 1));
}

#[test]
fn a_worker_that_has_run_a_job_is_found_again() {
    check(2, || sound::scenarios::jobs_for_workers(1, 2));
}

#[test]
fn two_workers_share_a_job() {
    check(1, || sound::scenarios::jobs_for_workers(2, 1));
}

#[test]
fn an_owner_that_joins_shares_its_job_or_runs_it_alone() {
    for wake in [false, true] {
        check(2, move || sound::scenarios::job_of_owner_and_worker(wake));
    }
}

#[test]
fn two_owners_have_one_worker() {
    check(2, sound::scenarios::two_owners_with_one_worker);
}

#[test]
fn a_thread_that_waits_assists() {
    check(2, sound::scenarios::waiting_thread_assists);
}

/// The owner lists its job and then reads the mode; the worker writes the mode and then looks through the list. If
/// these may be reordered, as with weaker atomics, neither sees the other.
#[test]
#[should_panic(expected = "deadlock")]
fn planted_weaker_atomics_lose_a_wake_up() {
    check(2, || weak::scenarios::jobs_for_workers(1, 1));
}

/// A worker that does not look through the list after it has entered its mailbox misses what was listed just before.
#[test]
#[should_panic(expected = "deadlock")]
fn planted_worker_that_skips_the_list_loses_a_wake_up() {
    check(2, || {
        let shared = Arc::new(sound::shared::Shared::new(1, None, 2, primitives::Clock));
        let worker = shared.clone();
        primitives::spawn(move || {
            let mailbox = &worker.mailboxes[0];
            mailbox.enter(0);
            mailbox.sleep(|| false);
            if let Some(job) = mailbox.leave().filter(|job| job.join()) {
                worker.run(&job, |_, _| ());
            }
        });
        sound::scenarios::Owner::new(&shared).run(1, false, true);
    });
}

#[test]
#[should_panic(expected = "deadlock")]
fn planted_shutdown_that_wakes_nobody_hangs() {
    check(2, || sound::scenarios::Workers::start(1).shut_down_without_waking());
}
