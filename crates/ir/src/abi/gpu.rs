//! The ABI of GPU kernels: the contract between code generation and the launchers of GPUs.
//!
//! A GPU runs one thread for each work-item, forms groups and has barriers, so that a kernel is compiled as it is. Its
//! parameters are the launch descriptor, by value, and then the kernel's own ones, in order:
//!
//! | kind of parameter | type | value |
//! |---|---|---|
//! | number | the same | its bytes in the argument block |
//! | vector, structure | bytes, by value | its bytes in the argument block |
//! | buffer, pipe, image | address in global memory | the address in the argument block |
//! | local memory | 64-bit integer | the offset in the argument block: all local memory of a group is one block |
//!
//! So each parameter's value lies in the argument block, at its [offset](crate::KernelMeta::layout). Offsets below are
//! in bytes; every field is an `i64` unless said otherwise; `[3]` has one per dimension.
//!
//! A launch may take several grids: whole groups and those at the edges have different sizes, and a grid has limits.
//! Each grid has a descriptor of its own. With the index `g` of a group in its grid and the index `t` of a thread in
//! its group:
//!
//! ```text
//! global id   first_id + g · size of this group + t
//! group id    first_group + g
//! ```

use serde::{Deserialize, Serialize};

/// How much the device optimises a kernel when it translates the code, which takes time before the first launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Effort {
    /// All its optimisations.
    #[default]
    Full,
    /// Few optimisations: the code is of the baseline tier, and soon replaced.
    Less,
    /// No optimisations: the code is of the baseline tier, and its work-items execute few instructions.
    Least,
}

/// How a kernel's code is launched.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct GpuLaunch {
    /// A coarsened kernel beside the ordinary one.
    pub coarse: Option<CoarseEntry>,
    /// How much the device optimises.
    pub effort: Effort,
    /// The shape of warps that suits its accesses.
    pub warp: WarpShape,
}

/// Which work-items of a plane should form a warp, a SIMD group of a GPU. A kernel whose work-items cannot tell how
/// they are grouped may be launched in other groups than the program asks for, which have such warps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum WarpShape {
    /// The warps of the program's groups: neighbours of dimension 0.
    #[default]
    AsGrouped,
    /// The warps of the program's groups, but the groups may be divided, so that every compute unit has one.
    Divisible,
    /// Neighbours of dimension 0, in groups that are not small: the kernel is short, so that a GPU would start small
    /// groups more slowly than they run.
    Row,
    /// Neighbours of dimension 1.
    Column,
    /// Neighbours of both, 8 of dimension 0, as for a transposition that reads along dimension 1 and writes along
    /// dimension 0.
    Tile,
    /// Neighbours of both, 8 of dimension 1, as for one that writes along dimension 1.
    TallTile,
}

impl WarpShape {
    /// The work-items of a row (of dimension 0) in a warp of this many work-items. `None` if the shape is that of the
    /// program's groups.
    #[inline]
    pub fn row(self, warp: u64) -> Option<u64> {
        match self {
            WarpShape::AsGrouped | WarpShape::Divisible | WarpShape::Row => None,
            WarpShape::Column => Some(1),
            WarpShape::Tile => Some(warp.min(8)),
            WarpShape::TallTile => Some((warp / 8).max(1)),
        }
    }
}

/// A coarsened kernel with the same parameters, one work-item of which does the work of several of the ordinary kernel.
/// It may be launched only if the buffers among its arguments are aligned to [`COARSE_ALIGN`].
///
/// If the factor is 1, it differs from the ordinary kernel by the alignment alone, and is launched like that one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CoarseEntry {
    /// The symbol of the kernel.
    pub entry: String,
    /// The number of work-items, or groups, that one of it stands for.
    pub factor: u32,
    /// Which ones these are.
    pub coarsening: Coarsening,
}

/// Which work-items a work-item of a coarsened kernel stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Coarsening {
    /// Neighbours of dimension 0. The kernel may be launched in any groups. The global id of dimension 0 is that of the
    /// first neighbour divided by the factor, and has at most 31 bits.
    WorkItems,
    /// Work-items of the same local id in neighbouring groups along a dimension. All these groups are whole. The group
    /// id of that dimension is that of the first of these groups divided by the factor.
    Groups {
        /// The dimension.
        dim: u8,
        /// Bytes of local memory of all these groups. `None` if an argument gives the size: each group then has all the
        /// local memory that the launch says, in whole blocks of [`BLOCK_ALIGN`](super::BLOCK_ALIGN) bytes, one group's
        /// after the other.
        local_size: Option<u64>,
    },
}

/// The alignment of buffers that a coarsened kernel relies on. A pointer to shared virtual memory may have less.
pub const COARSE_ALIGN: u64 = 16;

/// `[3]`: the global id of the grid's first work-item, offset included.
pub const FIRST_ID: u64 = 0;
/// `[3]`: the group id of the grid's first group.
pub const FIRST_GROUP: u64 = 24;
/// `[3]`: global offset.
pub const GLOBAL_OFFSET: u64 = 48;
/// `[3]`: global size.
pub const GLOBAL_SIZE: u64 = 72;
/// `[3]`: number of groups of the launch.
pub const NUM_GROUPS: u64 = 96;
/// `[3]` of `i32`: local size as enqueued.
pub const LOCAL_SIZE: u64 = 120;
/// `i32`: number of dimensions.
pub const WORK_DIM: u64 = 132;
/// Address of the memory of the program's [variables](crate::variables).
pub const VARIABLES: u64 = 136;
/// Address of the [print buffer](PRINT_USED); 0 for kernels that do not print.
pub const PRINT: u64 = 144;
/// Bytes of the descriptor, a multiple of its alignment.
pub const SIZE: u64 = 152;
/// Alignment of the descriptor.
pub const ALIGN: u32 = 8;

// The print buffer. Records follow each other from `PRINT_RECORDS` on; each is a multiple of 8 bytes long. A work-item
// reserves a record by an atomic addition to the count of bytes in use, and writes it if it ends within the capacity.

/// `i32`: bytes of records that were asked for, also of those that did not fit.
pub const PRINT_USED: u64 = 0;
/// `i32`: the capacity for records, in bytes.
pub const PRINT_CAPACITY: u64 = 4;
/// The first record.
pub const PRINT_RECORDS: u64 = 8;
/// In a record, `i32`: the number of the format.
pub const RECORD_FORMAT: u64 = 0;
/// In a record, `i32`: bytes of the arguments.
pub const RECORD_SIZE: u64 = 4;
/// In a record: the work-item's global linear id.
pub const RECORD_ITEM: u64 = 8;
/// In a record: the arguments, as [`printf_layout`](super::printf_layout) says.
pub const RECORD_ARGS: u64 = 16;
