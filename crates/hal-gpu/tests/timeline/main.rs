//! A model check of the completion timeline: how launches get to a stream in order, and how the host learns of their
//! ends (`src/timeline`).
//!
//! The timeline's source files are compiled here a second time, with a `sync` module made of the types of Loom, which
//! runs a scenario again and again: in each order of its atomic operations, with each value that a load may see by the
//! C11 memory model. The number of preemptions is bounded, as most bugs need no more than two. The driver and the GPU
//! are models (`gpu.rs`), time has always passed, and the policy (when a launch is deferred) is not here.
//!
//! What is checked, in every order:
//! * each launch runs once, and the stream has launches in the order of their numbers;
//! * each end is notified once, after the launch has run, with the error of a launch that was refused;
//! * no wake-up is lost and nobody waits for a later launch than its own, or Loom reports a deadlock;
//! * the memory of the timeline value outlives the GPU's writes;
//! * no call of the driver runs while its library is torn down at the end of the process.
//!
//! Planted bugs, each of which Loom must find, show that the check can fail.

#![allow(clippy::duplicate_mod, reason = "the timeline is compiled with sound and with weak atomics")]

mod primitives;

/// The timeline with the atomics that it asks for.
#[path = "."]
mod sound {
    const SOUND: bool = true;
    #[path = "protocol.rs"]
    #[allow(dead_code, reason = "what the scenarios do not use")]
    mod protocol;
    pub use protocol::{ends, scenarios};
}

/// The timeline with a planted bug.
#[path = "."]
mod weak {
    const SOUND: bool = false;
    #[path = "protocol.rs"]
    #[allow(dead_code, reason = "one scenario shows the bug")]
    mod protocol;
    pub use protocol::ends;
}

use loom::model::Builder;
use sound::scenarios::{self, Kind, SOUND};

/// Runs a scenario in every order with at most so many preemptions.
fn check(preemptions: usize, scenario: impl Fn() + Send + Sync + 'static) {
    let mut model = Builder::new();
    model.preemption_bound = Some(preemptions);
    model.max_branches = 10_000;
    model.check(scenario);
}

const EVENTS_ONLY: Kind = Kind { has_values: false, ..SOUND };

#[test]
fn a_launch_that_is_waited_for_ends() {
    for kind in [SOUND, EVENTS_ONLY] {
        check(2, move || scenarios::launch_and_wait(kind, 1, 0));
    }
}

#[test]
fn the_gpu_may_come_at_any_moment() {
    for kind in [SOUND, EVENTS_ONLY] {
        check(1, move || scenarios::launch_and_wait(kind, 1, 3));
    }
}

#[test]
fn who_launches_and_waits_again_ends() {
    check(1, || scenarios::launch_and_wait(SOUND, 2, 0));
}

#[test]
fn launches_that_nobody_assists_end() {
    for kind in [SOUND, EVENTS_ONLY] {
        check(2, move || scenarios::launch_and_sleep(kind));
    }
}

#[test]
fn a_wait_does_not_take_the_next_launch() {
    check(2, || scenarios::wait_before_held(scenarios::sound_wait));
}

#[test]
fn what_comes_while_another_thread_serves_is_served() {
    check(2, || scenarios::serve_while_launching(scenarios::sound_serving));
}

#[test]
fn a_deferred_launch_is_not_overtaken() {
    check(2, || scenarios::defer_and_submit(scenarios::sound_submission));
}

#[test]
fn launches_deferred_by_two_threads_run_once() {
    check(1, scenarios::defer_from_two_threads);
}

#[test]
fn a_launch_that_is_refused_has_its_error() {
    check(2, || scenarios::refused(false));
}

#[test]
fn an_appended_launch_ends_with_the_last_one() {
    check(2, scenarios::append_to_the_last);
}

#[test]
fn a_value_is_written_to_memory_that_is_there() {
    check(2, || scenarios::drop_the_timeline(SOUND));
}

#[test]
fn the_end_of_the_process_waits_for_calls() {
    check(3, sound::ends::submission_at_the_end);
    check(3, sound::ends::load_at_the_end);
}

#[test]
#[should_panic(expected = "deadlock")]
fn planted_wait_that_takes_the_next_launch_hangs() {
    check(2, || scenarios::wait_before_held(scenarios::wait_that_takes_the_next_launch));
}

#[test]
#[should_panic(expected = "deadlock")]
fn planted_serving_that_wakes_nobody_loses_a_wake_up() {
    check(2, || scenarios::serve_while_launching(scenarios::serving_that_wakes_nobody));
}

/// An event that has come before a thread sleeps on it.
#[test]
#[should_panic(expected = "deadlock")]
fn planted_sleep_on_an_event_that_has_come_hangs() {
    check(2, || scenarios::launch_and_wait(Kind { forgets_events: true, ..EVENTS_ONLY }, 1, 3));
}

#[test]
#[should_panic(expected = "notified before it has run")]
fn planted_submission_that_does_not_look_again_overtakes() {
    check(2, || scenarios::defer_and_submit(scenarios::submission_that_overtakes));
}

#[test]
#[should_panic(expected = "its error is lost")]
fn planted_end_that_is_reported_before_the_failure_loses_it() {
    check(2, || scenarios::refused(true));
}

#[test]
#[should_panic(expected = "the memory of the value is gone")]
fn planted_timeline_that_goes_before_its_value_is_written() {
    check(2, || scenarios::drop_the_timeline(Kind { never_drains: true, ..SOUND }));
}

#[test]
#[should_panic(expected = "torn down")]
fn planted_unload_while_the_process_ends() {
    check(3, sound::ends::load_at_the_end_that_unloads);
}

#[test]
#[should_panic(expected = "torn down")]
fn planted_end_of_the_process_that_does_not_wait_for_a_submission() {
    check(3, sound::ends::submission_at_an_end_that_closes_late);
}

/// A call counts and then looks at the gate; the end closes the gate and then looks at the count. If these may be
/// reordered, as with weaker atomics, neither sees the other.
#[test]
#[should_panic(expected = "torn down")]
fn planted_weaker_atomics_let_a_call_run_at_the_end() {
    check(3, weak::ends::submission_at_the_end);
}
