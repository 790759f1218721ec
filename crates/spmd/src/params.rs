//! The parameters of the function of a continuation: everything that it takes from outside; and the largest ids and
//! sizes of a launch.

use cloom_ir::{GlobalRef, Query, Value};

/// The largest global id, in any dimension, of a launch of vector code: 32-bit indices computed from ids then do not
/// wrap.
pub const MAX_ID: u64 = (1 << 31) - 1 - 1024;

/// No local size is larger.
pub const MAX_LOCAL_SIZE: u64 = 1 << 20;

/// What a parameter of the function is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Param {
    /// Parameter `n` of the kernel.
    Kernel(u32),
    /// A query that is uniform for the group.
    Query(Query, u8),
    /// `get_local_id`.
    LocalId(u8),
    /// `get_global_id`.
    GlobalId(u8),
    /// The sub-group queries that differ between vectors: the id in the sub-group, the sub-group's size and id.
    Subgroup(Query),
    /// The address of a variable in local memory.
    Local(GlobalRef),
    /// A group-uniform value that lives into the continuation, loaded from its group slot.
    Uniform(Value),
    /// The address of the group slot of a group-uniform value.
    GroupSlot(Value),
    /// The address of the work-item's slot of a value.
    ItemSlot(Value),
    /// The address of the work-item's copy of a private array that lives across barriers.
    Array(Value),
    /// The address of the work-item's next-continuation id.
    NextContinuation,
    /// A group-invariant value, computed before the loops over vectors: see [`crate::transform::hoist_invariant`].
    GroupInvariant(u32),
}

impl Param {
    /// The parameter that replaces a query.
    pub fn of_query(what: Query, dim: u8) -> Param {
        match what {
            Query::LocalId => Param::LocalId(dim),
            Query::GlobalId => Param::GlobalId(dim),
            Query::SubgroupLocalId | Query::SubgroupSize | Query::SubgroupId => Param::Subgroup(what),
            _ => Param::Query(what, dim),
        }
    }

    /// Whether it is group-uniform and available before the group's work-items run.
    pub fn is_shared(self) -> bool {
        matches!(self, Param::Kernel(_) | Param::Query(..) | Param::Uniform(_) | Param::Local(_))
    }
}
