//! Why a decision was made, as data.

use super::coarsening::CoarsenReason;
use crate::cost::reason::WidthReason;
use crate::error::{InternalError, NotVectorised};

/// Why a value differs between lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Varies {
    /// It depends on a loaded value.
    Loaded,
    /// It depends on an atomic operation or a call.
    AtomicOrCall,
    /// It depends on `get_local_id` of a dimension.
    LocalId(u8),
    /// It depends on `get_global_id` of a dimension.
    GlobalId(u8),
    /// It depends on a value that lives across a barrier.
    AcrossBarrier,
    /// An index may wrap before it is extended.
    Wrap,
    /// It compares values that differ.
    Comparison,
    /// An operation does not preserve strides: its name.
    NoStride(&'static str),
    /// It depends on an earlier divergent branch.
    Branch,
    /// The analysis kept no cause.
    Unknown,
}

/// Why a decision was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The address is the same in all lanes.
    SameAddress,
    /// It is the same unless a quotient differs between lanes.
    SameQuotient,
    /// The lanes' elements are contiguous.
    UnitStride,
    /// They are, unless an index wraps or is clamped.
    UnitStrideUnlessWrapped,
    /// The distance of the lanes' elements in bytes.
    Stride(i64),
    /// The access is volatile.
    Volatile,
    /// The address or the condition differs between lanes.
    Varies(Varies),
    /// All lanes have the same condition.
    SameCondition,
    /// One thread runs a group, so that no other has access.
    OneThread,
    /// Addresses differ between lanes, and may collide.
    MayCollide,
    /// The address is the same, and each lane's result depends on the lanes before.
    Ordered,
    /// All lanes add the same, to few addresses.
    FewAddresses,
    /// The function was too large to be inlined.
    NotInlined,
    /// The function is pure, was not inlined, and has no vector variant.
    NoVectorVariant,
    /// The function has a vector variant.
    HasVectorVariant,
    /// Each work-item prints.
    EachPrints,
    /// Each work-item enqueues.
    EachEnqueues,
    /// There is no vector form.
    NoVectorForm,
    /// How many values are saved across a barrier.
    Saved {
        /// For each work-item.
        per_item: u32,
        /// For the group.
        per_group: u32,
    },
    /// The groups of a batch read memory in order.
    ReadsInOrder {
        /// Values that each work-item saves meanwhile.
        per_item: u32,
    },
    /// A divergent branch decides whether a barrier is reached.
    BarrierInBranch,
    /// The iteration before stored the element.
    StoredBefore,
    /// An index of 32 bits may wrap.
    MayWrap,
    /// Each work-item reads contiguous elements of its own row.
    OwnRows,
    /// The stride of a loop is known at run time only.
    RunTimeStride,
    /// Addresses are scattered, and computed from ids alone.
    ScatteredByIds,
    /// Vectors of all components would exceed the registers.
    ComponentsExceedRegisters,
    /// Fewer bits give the same results.
    SameInFewerBits,
    /// Accesses have unit stride along the dimension.
    UnitStrideAlong,
    /// The cost model's reason for a width.
    Width(WidthReason),
    /// A limit of the vectoriser.
    Limit(NotVectorised),
    /// A bug of the vectoriser.
    Bug(InternalError),
    /// A thread accesses up to so many bytes at a time.
    WideAccess(u32),
    /// The loads of several groups do not wait for each other.
    GroupsOverlap {
        /// Along this dimension.
        dim: u8,
    },
    /// Why a kernel is not coarsened.
    NotCoarsened(CoarsenReason),
    /// Accesses are wide where buffers are aligned.
    AlignedBuffers,
    /// The build options ask for no optimisation.
    NotOptimised,
    /// Neighbours of dimension 1 access neighbouring elements.
    NeighboursOfDimension1,
}

impl Varies {
    /// Its name, for programs.
    pub fn code(self) -> &'static str {
        match self {
            Varies::Loaded => "varies-by-load",
            Varies::AtomicOrCall => "varies-by-call",
            Varies::LocalId(_) => "varies-by-local-id",
            Varies::GlobalId(_) => "varies-by-global-id",
            Varies::AcrossBarrier => "varies-across-barrier",
            Varies::Wrap => "varies-by-wrap",
            Varies::Comparison => "varies-by-comparison",
            Varies::NoStride(_) => "varies-by-operation",
            Varies::Branch => "varies-by-branch",
            Varies::Unknown => "varies",
        }
    }
}

impl Reason {
    /// Its name, for programs: texts may be reworded, codes stay.
    pub fn code(self) -> &'static str {
        match self {
            Reason::SameAddress => "same-address",
            Reason::SameQuotient => "same-quotient",
            Reason::UnitStride => "unit-stride",
            Reason::UnitStrideUnlessWrapped => "unit-stride-unless-wrapped",
            Reason::Stride(_) => "stride",
            Reason::Volatile => "volatile",
            Reason::Varies(varies) => varies.code(),
            Reason::SameCondition => "same-condition",
            Reason::OneThread => "one-thread",
            Reason::MayCollide => "may-collide",
            Reason::Ordered => "ordered",
            Reason::FewAddresses => "few-addresses",
            Reason::NotInlined => "not-inlined",
            Reason::NoVectorVariant => "no-vector-variant",
            Reason::HasVectorVariant => "has-vector-variant",
            Reason::EachPrints => "each-prints",
            Reason::EachEnqueues => "each-enqueues",
            Reason::NoVectorForm => "no-vector-form",
            Reason::Saved { .. } => "saved-values",
            Reason::ReadsInOrder { .. } => "reads-in-order",
            Reason::BarrierInBranch => "barrier-in-branch",
            Reason::StoredBefore => "stored-before",
            Reason::MayWrap => "may-wrap",
            Reason::OwnRows => "own-rows",
            Reason::RunTimeStride => "run-time-stride",
            Reason::ScatteredByIds => "scattered-by-ids",
            Reason::ComponentsExceedRegisters => "components-exceed-registers",
            Reason::SameInFewerBits => "same-in-fewer-bits",
            Reason::UnitStrideAlong => "unit-stride-along",
            Reason::Width(reason) => reason.code(),
            Reason::Limit(limit) => limit.code(),
            Reason::Bug(_) => "internal-error",
            Reason::WideAccess(_) => "wide-access",
            Reason::GroupsOverlap { .. } => "groups-overlap",
            Reason::NotCoarsened(reason) => reason.code(),
            Reason::AlignedBuffers => "aligned-buffers",
            Reason::NotOptimised => "not-optimised",
            Reason::NeighboursOfDimension1 => "neighbours-of-dimension-1",
        }
    }
}
