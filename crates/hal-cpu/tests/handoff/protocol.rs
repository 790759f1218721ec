//! The protocol's source files, compiled with primitives of Loom. The module above says by `SOUND` whether its
//! sequentially consistent atomics are that, or only acquire and release.

use crate::primitives::cores;

/// The primitives that the files of the protocol find.
mod sync {
    use super::super::SOUND;
    pub use crate::primitives::{AtomicBool, AtomicI32, AtomicU64, Clock, Contention, Mutex, Ordering, Thread};
    pub use crate::primitives::{current, park, spin};
    pub type AtomicU8 = crate::primitives::AtomicU8<SOUND>;
    pub type AtomicUsize = crate::primitives::AtomicUsize<SOUND>;
}

#[path = "../../src/pool/job.rs"]
#[allow(dead_code, reason = "the policy of the pool is not here")]
mod job;
#[path = "../../src/pool/mailbox.rs"]
mod mailbox;
#[path = "../../src/pool/shared.rs"]
#[allow(dead_code, reason = "the policy of the pool is not here")]
pub mod shared;

#[path = "scenarios.rs"]
pub mod scenarios;
