//! Classes of operations: one place that says for every operation which others cost about the same.
//!
//! In comes an [`Op`], out goes its class. Each cost table of the vectoriser is a `match` on classes without a default,
//! and the class comes from a `match` that names every operation. So a new operation does not compile until its costs
//! are decided; an operation that is cheap by omission would mislead the cost model.

use cloom_ir::{BinOp, Op, UnOp};

/// A set of operations that cost about the same, in scalar code and in vector code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpClass {
    /// Part of the instruction that uses it.
    Constant,
    /// One instruction of one or two cycles on integers; of floats, an addition or multiplication.
    Simple,
    /// A bit count, a rounding: one instruction, or a few.
    Unary,
    /// A product of integers, a fused multiply-add.
    Multiply,
    /// A quotient or a square root of floats.
    FloatDivision,
    /// A quotient of integers, for which processors have no vector instruction.
    IntegerDivision,
    /// A conversion.
    Conversion,
    /// Moves the components of short vectors: renaming in vector code, where each component is a vector.
    Shuffle,
    /// A load or a store.
    Access,
    /// An access of a vector. The vectoriser emits it, and does not read it.
    VectorAccess,
    /// A copy or an assignment of many bytes.
    Copy,
    /// An atomic load or store.
    AtomicAccess,
    /// An atomic read-modify-write.
    AtomicUpdate,
    /// A call of a function that was not inlined, or of the launcher.
    Call,
    /// A call of a pure function, which may have a vector variant.
    PureCall,
    /// Printing.
    Print,
    /// A read by a texture unit.
    Sample,
    /// An exchange between the work-items of a sub-group.
    Subgroup,
    /// Executed for its effect on memory or on order, once for all lanes.
    Order,
}

/// The class of an operation.
pub fn class(op: &Op) -> OpClass {
    match op {
        Op::Const(_) => OpClass::Constant,
        Op::Unary(UnOp::Sqrt) | Op::Binary(BinOp::Fdiv) => OpClass::FloatDivision,
        Op::Binary(BinOp::Udiv | BinOp::Sdiv | BinOp::Urem | BinOp::Srem) => OpClass::IntegerDivision,
        Op::Binary(BinOp::Mul) | Op::Fma => OpClass::Multiply,
        Op::Unary(_) => OpClass::Unary,
        Op::Binary(_)
        | Op::Icmp(_)
        | Op::Fcmp(_)
        | Op::Select
        | Op::PtrAdd
        | Op::GlobalAddr(_)
        | Op::Query { .. }
        | Op::Iota
        | Op::Any
        | Op::All
        | Op::Ballot => OpClass::Simple,
        Op::Cast(_) => OpClass::Conversion,
        Op::Extract | Op::Insert | Op::Shuffle(_) | Op::Splat | Op::Build => OpClass::Shuffle,
        Op::Load { .. } | Op::Store { .. } => OpClass::Access,
        Op::MaskedLoad { .. } | Op::MaskedStore { .. } | Op::Gather { .. } | Op::Scatter { .. } => {
            OpClass::VectorAccess
        }
        Op::MemCopy { .. } | Op::MemSet { .. } => OpClass::Copy,
        Op::AtomicLoad { .. } | Op::AtomicStore { .. } => OpClass::AtomicAccess,
        Op::AtomicRmw { .. } | Op::AtomicCmpXchg { .. } => OpClass::AtomicUpdate,
        Op::Call(_) | Op::DeviceCall(_) => OpClass::Call,
        Op::PureCall(_) => OpClass::PureCall,
        Op::Printf(_) => OpClass::Print,
        Op::Sample => OpClass::Sample,
        Op::SubgroupBallot | Op::SubgroupShuffle | Op::SubgroupReduce { .. } | Op::SubgroupScan { .. } => {
            OpClass::Subgroup
        }
        Op::Alloca { .. }
        | Op::Prefetch
        | Op::Fence { .. }
        | Op::Clock
        | Op::Poll
        | Op::Report
        | Op::Mark(_)
        | Op::Barrier(_) => OpClass::Order,
    }
}
