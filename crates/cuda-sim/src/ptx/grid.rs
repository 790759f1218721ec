//! The sizes of a launch.

/// The sizes of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Blocks along each axis.
    pub groups: [u32; 3],
    /// Threads of a block along each axis.
    pub threads: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
}
