//! The decisions that the emitter records, as data: [`crate::remarks`] says them in words.

use cloom_ir::Inst;

/// How an access of all lanes is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessForm {
    /// One access for all lanes.
    Scalar,
    /// One vector, contiguous in memory.
    Vector,
    /// Contiguous and descending: one vector, reversed.
    Reversed,
    /// Loads of all that is between the lanes' elements, and a shuffle.
    Covering,
    /// Masked stores that leave out what is between the lanes' elements.
    Gapped,
    /// One store with the other fields of the record.
    Record,
    /// A scalar access for each lane.
    LaneByLane,
    /// A gather or a scatter.
    Indexed,
}

/// The decision on an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// The load or store in the work-item's function.
    pub inst: Inst,
    pub form: AccessForm,
    /// Whether the form is used only where a run-time check holds; else there is a gather or a scatter.
    pub checked: bool,
    /// Whether lanes may be off.
    pub masked: bool,
}
