//! The ABI of work-group functions: the contract between `spmd`, which makes them, and the interpreter and devices,
//! which call them.
//!
//! `spmd` turns a kernel into an ordinary function of the parameters below, which runs all work-items of one group, or
//! of several:
//!
//! | # | type | what |
//! |---|---|---|
//! | 0 | `ptr<context>` | the launch descriptor, one per launch, read only |
//! | 1 | `ptr<constant>` | the argument block, one per launch, read only ([layout](crate::KernelMeta::layout)) |
//! | 2 | `ptr<context>` | the group descriptor, one per call, read only |
//! | 3 | `ptr<local>` | local memory: static variables, then local arguments, with a margin ([`LOCAL_MARGIN`]) |
//! | 4 | `ptr<context>` | scratch: the frame of values that live across barriers |
//!
//! A local pointer argument is its byte offset in local memory (`i64`), so that all groups share the argument block.
//! Offsets below are in bytes; every field is an `i64` unless said otherwise; `[3]` has one per dimension, in the order
//! in which the function has the dimensions of a launch.

/// The symbol of eight bytes of an object file in which the loader puts the device address of the memory of the
/// program's [variables](crate::variables). Only code that refers to a variable has it.
pub const VARIABLES: &str = "cloom.variables";

pub mod device;
pub mod gpu;
pub mod image;
mod launch;
pub mod pipe;
pub mod report;

pub use launch::{CpuLaunch, NdRange};

/// `i32`: number of dimensions.
pub const LAUNCH_WORK_DIM: u64 = 0;
/// `i32`: not zero if the launch writes more than the caches hold, so that non-temporal stores pay.
pub const LAUNCH_NONTEMPORAL: u64 = 4;
/// `[3]`: global offset.
pub const LAUNCH_GLOBAL_OFFSET: u64 = 8;
/// `[3]`: global size.
pub const LAUNCH_GLOBAL_SIZE: u64 = 32;
/// `[3]`: local size as enqueued.
pub const LAUNCH_LOCAL_SIZE: u64 = 56;
/// `[3]`: number of groups.
pub const LAUNCH_NUM_GROUPS: u64 = 80;
/// Address of the print hook, `fn(state, format: u32, item: u64, args: *const u8, size: u32)`: arguments as
/// [`printf_layout`] says.
pub const LAUNCH_PRINTF: u64 = 104;
/// First argument of the print hook.
pub const LAUNCH_PRINTF_STATE: u64 = 112;
/// Address of the hook of [`device`] calls.
pub const LAUNCH_DEVICE: u64 = 120;
/// First argument of that hook.
pub const LAUNCH_DEVICE_STATE: u64 = 128;
/// Bytes of the launch descriptor.
pub const LAUNCH_SIZE: u64 = 136;

/// `[3]`: group id.
pub const GROUP_ID: u64 = 0;
/// `[3]`: local size of this group, smaller than enqueued at an edge.
pub const GROUP_LOCAL_SIZE: u64 = 24;
/// The batch: how many consecutive groups in dimension 0, from this one on and all of the same size, the call runs. 1
/// unless the function can run batches.
pub const GROUP_COUNT: u64 = 48;
/// Bytes from one group's local memory to the next one's, a multiple of [`BLOCK_ALIGN`],
pub const GROUP_LOCAL_STRIDE: u64 = 56;
/// and from one group's scratch to the next one's.
pub const GROUP_SCRATCH_STRIDE: u64 = 64;
/// Bytes of the group descriptor.
pub const GROUP_SIZE: u64 = 72;

/// Alignment in bytes of every block of memory that a work-group function gets.
pub const BLOCK_ALIGN: u32 = 128;

/// Bytes before and after a group's local memory that belong to its thread too: a masked consecutive store may load and
/// store whole vectors, which may extend beyond the variables. A vector has at most 64 lanes of 16 numbers of 8 bytes.
pub const LOCAL_MARGIN: u64 = 64 * 16 * 8;

/// The offsets of the arguments of a `printf` in the block that the hook gets, and the block's size: in order, each at
/// a multiple of 8.
pub fn printf_layout(types: impl IntoIterator<Item = crate::Type>) -> (Vec<u32>, u32) {
    let mut end = 0u32;
    let offsets = types
        .into_iter()
        .map(|ty| {
            // Every argument is at a multiple of 8, so that the hook finds it by the types alone.
            let at = end;
            end = (end + ty.bytes()).next_multiple_of(8);
            at
        })
        .collect();
    (offsets, end)
}
