//! The memory spaces of a context, by number: the host's memory, in which several devices may work, and one for each
//! device with memory of its own. `memory::residency` says which bytes are valid in which space.

/// A memory space of a context, by number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Space(pub u8);

impl Space {
    /// The host's memory.
    pub const HOST: Space = Space(0);
    /// So many there can be: one for each bit of a mask.
    pub const LIMIT: usize = 64;

    pub(crate) fn bit(self) -> u64 {
        1 << self.0
    }
}
