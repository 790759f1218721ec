//! Device-side enqueue: what kernels that enqueue blocks, and the launcher that runs them, have agreed on.
//!
//! A block that is enqueued is a kernel of the program that the host does not see
//! ([`crate::KernelMeta::is_block`]). Its parameters are pointers to local memory, then what the block captures. A
//! work-item that enqueues it writes what it captures to private memory, in the layout of the kernel's argument
//! block, and calls the launcher by [`Op::DeviceCall`](crate::Op::DeviceCall). Compiled code calls the hook of the
//! launch descriptor:
//!
//! ```text
//! fn(state, call: u32, words: *const u64, count: u32) -> u64
//! ```
//!
//! `call` is the number of the [`DeviceCall`](crate::DeviceCall) in its list, `words` the operands:
//!
//! | call | words | result |
//! |---|---|---|
//! | `enqueue_kernel` | queue, flags, range, events, list, event, block, captured, bytes, sizes, count | a code |
//! | `enqueue_marker` | queue, flags, events, list, event | a code |
//! | `default_queue` | | the queue, or 0 |
//! | `create_user_event` | | the event, or 0 |
//! | `retain_event`, `release_event` | event | 0 |
//! | `is_valid_event` | event | 0 or 1 |
//! | `set_user_event_status` | event, status | 0 |
//! | `capture_profiling` | event, what, where to | 0 |
//! | `work_group_size`, `preferred_multiple` | block | the size |
//! | `max_subgroup_size`, `subgroup_count` | range, block | size, or number |
//! | `local_size_for_count` | number of sub-groups, block | the local size of one dimension, or 0 |
//! | `max_subgroup_count` | block | the number |
//!
//! *Flags* are those of the language and [`FLAG_DEBUG`]. *Range* is the address of an `ndrange_t` ([`RANGE_SIZE`]);
//! *list* that of so many *events*, of 8 bytes each; *event* where the event goes, or 0; *captured* the address of so
//! many *bytes*; *sizes* that of *count* sizes (`i32`) of local memory. A *block* is the [number](block_number) of its
//! kernel's name, which is the same in all kernels of the program. Queues and events are numbers that only the launcher
//! understands; 0 is none.

/// `i32`: number of dimensions of an `ndrange_t`; 0 in one that was not made by `ndrange_1D` and its like.
pub const RANGE_DIM: u64 = 0;
/// `i32`: which sizes it has: [`RANGE_HAS_LOCAL`].
pub const RANGE_FLAGS: u64 = 4;
/// `[3]`: global offset.
pub const RANGE_OFFSET: u64 = 8;
/// `[3]`: global size.
pub const RANGE_GLOBAL: u64 = 32;
/// `[3]`: local size.
pub const RANGE_LOCAL: u64 = 56;
/// Bytes of an `ndrange_t`.
pub const RANGE_SIZE: u64 = 80;

/// Of [`RANGE_FLAGS`]: the local size is given.
pub const RANGE_HAS_LOCAL: u32 = 1;

/// Of the flags of `enqueue_kernel` and `enqueue_marker`: the program was built with `-g` and gets the reason of a
/// failure, not [`ENQUEUE_FAILURE`].
pub const FLAG_DEBUG: u64 = 1 << 32;

/// `CLK_SUCCESS`
pub const SUCCESS: i32 = 0;
/// `CLK_ENQUEUE_FAILURE`
pub const ENQUEUE_FAILURE: i32 = -101;
/// `CLK_INVALID_QUEUE`
pub const INVALID_QUEUE: i32 = -102;
/// `CLK_INVALID_NDRANGE`
pub const INVALID_NDRANGE: i32 = -160;
/// `CLK_INVALID_EVENT_WAIT_LIST`
pub const INVALID_EVENT_WAIT_LIST: i32 = -57;
/// `CLK_DEVICE_QUEUE_FULL`
pub const DEVICE_QUEUE_FULL: i32 = -161;
/// `CLK_INVALID_ARG_SIZE`
pub const INVALID_ARG_SIZE: i32 = -51;
/// `CLK_EVENT_ALLOCATION_FAILURE`
pub const EVENT_ALLOCATION_FAILURE: i32 = -100;
/// `CLK_OUT_OF_RESOURCES`
pub const OUT_OF_RESOURCES: i32 = -5;

/// `CLK_PROFILING_COMMAND_EXEC_TIME`
pub const PROFILING_EXEC_TIME: u64 = 1;

/// The number of a block, from its kernel's name.
pub fn block_number(name: &str) -> u64 {
    number_of(name.as_bytes())
}

/// A number of these bytes (FNV-1a).
pub fn number_of(bytes: &[u8]) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}
