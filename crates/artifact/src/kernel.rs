//! A kernel compiled for one target.

use cloom_target::Target;
use serde::{Deserialize, Serialize};

/// Machine code of one kernel, with what the launcher must know. Offsets and sizes in bytes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KernelArtifact {
    /// The kernel's name in the source.
    pub name: String,
    /// What the code was made for; a device refuses what it cannot run.
    pub target: Target,
    /// A relocatable object file (ELF on a CPU) or a text that the device's driver takes.
    pub code: Vec<u8>,
    /// The symbol of the work-group function in `code`.
    pub entry: String,
    /// The kernel's parameters, in order.
    pub args: Vec<KernelArg>,
    /// Size of the argument block.
    pub arg_block: u32,
    /// Static local memory of a group.
    pub local_size: u64,
    /// Work-items in a vector.
    pub lanes: u16,
    /// The dimensions of a launch in the order of the code's: the work-items of a vector are neighbours in the first of these. The
    /// launcher hands over sizes, ids and offsets in this order.
    pub dim_order: [u8; 3],
    /// No global id of a launch may be larger.
    pub max_id: u64,
    /// Whether the kernel cannot tell how its work-items are grouped, so that the launcher may group them as it likes.
    pub regroupable: bool,
    /// Whether what work-items below each other touch lies together in memory, and what those side by side touch does not.
    pub column_access: bool,
    /// Bytes that each work-item writes to buffers that are only written, if the code can do so past the caches.
    pub write_only_bytes: u32,
    /// The lanes of code for groups with long rows, if a kernel has code of its own for short ones.
    pub long_row_width: Option<u16>,
    /// Scratch of a group: this much,
    pub scratch_fixed: u64,
    /// plus this for each work-item of the enqueued local size, rounded up to whole vectors.
    pub scratch_per_item: u64,
    /// If groups beside each other in the first dimension may run in one call: bytes that each work-item reads or writes in a step that
    /// all of them take together, beside its neighbours'; else 0.
    pub grid_stride_bytes: u32,
    /// Private memory of a work-item, as reported to the application.
    pub private_size: u64,
    /// The local size that the source requires.
    pub reqd_group_size: Option<[u32; 3]>,
    /// `-cl-denorms-are-zero`: the launcher may flush denormals to zero.
    pub denorms_are_zero: bool,
    /// Formats of printf, by number.
    pub printf_formats: Vec<Vec<u8>>,
}

/// Where a parameter stands in the argument block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KernelArg {
    /// What it is.
    pub kind: KernelArgKind,
    /// Offset in the argument block.
    pub offset: u32,
    /// Bytes there.
    pub size: u32,
}

/// What stands in the argument block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum KernelArgKind {
    /// The bytes of a value or a structure.
    Bytes,
    /// The device address of a buffer, or 0.
    Buffer,
    /// The offset of a block of local memory, placed by the launcher after the static one.
    Local,
}
