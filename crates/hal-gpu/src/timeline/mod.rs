//! The completion timeline of a stream: which launch may go to the stream, how the host learns that one has ended, and
//! who is notified. It calls no driver: a back end brings the calls ([`GpuStream`], [`Submission`]).
//!
//! **In** come launches, which get the numbers 1, 2, 3… of their stream, and threads that wait. **Out** go the
//! launches, on the stream in the order of their numbers; the number of the last one that has ended, which only grows,
//! as the counter of a timeline semaphore of Vulkan does; and each end, once, with its error if the launch was refused.
//!
//! # States of a launch
//!
//! ```text
//!            submit                        signal: value ≥ n, or an event behind n has come
//!  n ────────────────────▶ PLACED ─────────────────────────▶ ENDED ─────▶ NOTIFIED, once
//!  │                         ▲                                 ▲
//!  │ defer, append           │ flush                           │ signal of a number ≥ n
//!  └───────────▶ DEFERRED ───┤                                 │
//!                            └── the driver refuses it ──▶ FAILED: the error is stored before
//!                                                          any signal ≥ n can be asked for
//! ```
//!
//! A refused launch has a number and counts as placed, so that numbers stay consecutive; who waits for it waits for the
//! launches before it and then takes the error. At the *exit* of the process an [`ExitGate`] stands before the driver.
//!
//! # Signals
//!
//! * The *timeline value* is a number in the host's memory that the GPU writes. Reading it takes no call of the driver,
//!   but each writing costs the GPU as much as half a launch. So it is put behind the last launch when somebody begins
//!   to wait, and at once behind a launch if the one before it was waited for: who launches and waits again and again
//!   should not have to come back for it.
//! * An *event* costs little to record. It is put behind a launch when another one follows, so that the launch can be
//!   waited for alone. A launch that is waited for at once has none.
//! * Events on which a thread can sleep interrupt the host, and are recorded only for a thread that has to. The event
//!   behind a timed launch is of that kind; it is queried all the time, as the end is the moment at which it is
//!   noticed.
//!
//! # Parts
//!
//! [`Timeline`] has the order of launches and the signals. [`completions`] has the launches whose ends are to be
//! notified, and the hand-off between the stream's thread, which notifies, and threads that wait, which notify
//! meanwhile so that nobody has to be woken, and come first. Both the list and the callbacks are apart, as in the
//! life-time tracker of wgpu: a callback runs under no lock.
//!
//! # Lock order
//!
//! | lock | what may be taken while it is held |
//! |---|---|
//! | `Completions::work` | `Timeline::deferred` |
//! | `Timeline::order` | `Timeline::deferred`, `Timeline::failures`, the driver's own locks |
//! | `Timeline::deferred`, `Timeline::failures` | none |
//!
//! Under `work`, a launch is appended to the last one of the list, so that nobody notifies that one meanwhile. Under
//! `order`, launches go to the stream in the order of their numbers, and a failure is stored before a signal can
//! follow. Under `deferred`, a launch is listed and gets its number, or the list is empty and a number is given, in one
//! step.
//!
//! `work` and `order` are never held together: the thread that notifies waits for the GPU without `work`, or launches
//! would wait for it. [`Timeline::wait`] sleeps without `order`, or nobody could launch what the GPU waits for.
//!
//! `tests/timeline` runs these files in every order that the memory model allows, and finds planted bugs;
//! `tests/orders.rs` compares random orders of operations with a sequential reference.

pub mod completions;
mod deferred;
mod exit;
mod order;
mod pace;
mod stream;
mod sync;

use super::tuning;
pub use completions::Completions;
pub use exit::ExitGate;
pub use order::{Submitted, Timeline};
pub use stream::{GpuStream, Submission};
