//! The graph of commands: queues, commands, the events that order them, and what a launch keeps until its end.
//!
//! `event`, `queue`, `execute`, `pending` and `device_queue` know each other: a command ends its event, an event starts
//! the commands that depend on it, and these go through their queue.

pub(crate) mod device_queue;
pub(crate) mod event;
pub(crate) mod execute;
pub(crate) mod external_semaphore;
pub(crate) mod packed;
pub(crate) mod pending;
pub(crate) mod print;
pub(crate) mod queue;
pub(crate) mod semaphore;
pub(crate) mod stream;
