//! The protocol with a planted bug: its sequentially consistent atomics are only acquire and release.

use crate::primitives::cores;

/// The primitives that the files of the protocol find.
mod sync {
    pub use crate::primitives::{AtomicBool, AtomicI32, AtomicU64, Mutex, Ordering, Thread, current, park, spin};
    pub type AtomicU8 = crate::primitives::AtomicU8<false>;
    pub type AtomicUsize = crate::primitives::AtomicUsize<false>;
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
#[allow(dead_code, reason = "one of them shows the bug")]
pub mod scenarios;
