//! The completion timeline of a stream: which launch may go to the stream, how the host learns that one has ended, and
//! who is notified. It calls no driver: a back end brings the calls ([`GpuStream`], [`Submission`]).
//!
//! The **input** is launches, which get the numbers 1, 2, 3… of their stream, and threads that wait. The **output** is
//! the launches, on the stream in the order of their numbers; the number of the last one that has ended, which only
//! grows, as the counter of a timeline semaphore of Vulkan does; and the notification of each completion, once, with
//! the launch's error if the driver refused it.
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
//! A refused launch has a number and counts as placed, so that numbers stay consecutive. A thread that waits for it
//! waits for the launches before it and then gets the error. When the process *exits*, an [`ExitGate`] keeps further
//! calls from the driver.
//!
//! # Signals
//!
//! * The *timeline value* is a number in the host's memory that the GPU writes. The host reads it without a call of the
//!   driver, but each write costs the GPU as much as half a launch. So the value is written after the last launch when
//!   a thread begins to wait. If the launch before was waited for, the write is submitted together with the launch, so
//!   that a thread that launches and waits in turn need not submit it separately.
//! * An *event* costs little to record. It is recorded after a launch when another launch follows, so that the first
//!   one can be waited for alone. A launch that is waited for at once has no event.
//! * An event that a thread can block on interrupts the host. It is recorded only for a thread that has to block. The
//!   event after a timed launch is of that kind, but it is polled all the time, because the end that an application
//!   sees is the moment at which it is noticed.
//!
//! # Parts
//!
//! [`Timeline`] has the order of launches and the signals. [`completions`] has the launches whose completion is to be
//! notified, and the hand-off between threads: the stream's thread notifies, but a thread that waits takes precedence
//! and notifies itself, so that no thread has to be woken. The list and the callbacks are separate, as in the life-time
//! tracker of wgpu: a callback runs without a lock held.
//!
//! # Lock order
//!
//! | lock | what may be taken while it is held |
//! |---|---|
//! | `Completions::work` | `Timeline::deferred` |
//! | `Timeline::order` | `Timeline::deferred`, `Timeline::failures`, the driver's own locks |
//! | `Timeline::deferred`, `Timeline::failures` | none |
//!
//! While `work` is held, a launch is appended to the last one of the list, so that no thread notifies that one
//! meanwhile. While `order` is held, launches go to the stream in the order of their numbers, and a failure is stored
//! before a signal can follow. While `deferred` is held, one step either lists a launch and numbers it, or finds the
//! list empty and gives a number.
//!
//! `work` and `order` are never held together: the thread that notifies waits for the GPU without `work`, or launching
//! threads would wait for it. [`Timeline::wait`] sleeps without `order`, or no thread could launch what the GPU waits
//! for.
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
