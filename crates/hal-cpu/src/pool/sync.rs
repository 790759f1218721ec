//! The primitives that the hand-off protocol is made of, in one place.
//!
//! [`job`](super::job), [`mailbox`](super::mailbox) and [`shared`](super::shared) take every atomic, lock and thread
//! operation from here. `tests/handoff` compiles the same three files with another `sync` module, made of the types of
//! Loom, which runs them in every order that the memory model allows.

pub use super::spinner::Spinner;
pub use cloom_hal::lock::Mutex;
pub use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU64, AtomicUsize, Ordering};
pub use std::thread::{Thread, current, park};
