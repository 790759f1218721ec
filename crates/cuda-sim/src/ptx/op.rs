//! The decoded form of instructions.
//!
//! In: nothing; these are the types between the decoder and the machine. Out: enums without strings. Register names,
//! labels, variables and functions are numbers here, so the machine never looks anything up by name.

pub(super) use super::function::{Combine, Compare, Comparison, Convert, FloatForm, FloatOp, Function, IntOp};
pub(super) use cloom_ptx::{Class, Special, Type};

/// A register that is written: its slot, and a mask of the bits that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dst {
    pub(super) slot: u32,
    pub(super) mask: u64,
}

/// A value that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Src {
    Reg(u32),
    Imm(u64),
    Special(Special),
    /// The address of a module's global variable plus an offset.
    Variable(u32, i32),
    /// An offset in the local memory of the current function.
    Local(u32),
    /// An offset after the static shared variables.
    DynamicShared(u32),
}

/// A predicate that is read, negated if `negated`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Test {
    pub(super) src: Src,
    pub(super) negated: bool,
}

/// A state space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    Generic,
    Global,
    Shared,
    Local,
    Const,
    Param,
}

impl Space {
    pub(super) fn name(self) -> &'static str {
        match self {
            Space::Generic => "generic",
            Space::Global => "global",
            Space::Shared => "shared",
            Space::Local => "local",
            Space::Const => "const",
            Space::Param => "param",
        }
    }
}

/// An address operand `[base+offset]`. `narrow` says that the base is a 32-bit register, so the sum wraps there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) base: Src,
    pub(super) offset: i64,
    pub(super) narrow: bool,
}

/// `setp` and `set`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SetPredicate {
    pub(super) compare: Compare,
    pub(super) a: Src,
    pub(super) b: Src,
    pub(super) combine: Option<(Combine, Test)>,
    pub(super) dst: Dst,
    /// The second result: the negated comparison, or for packed types the upper lane.
    pub(super) second: Option<Dst>,
    /// The value that `set` writes if the comparison is true; 1 for `setp`.
    pub(super) truth: u64,
}

/// Arithmetic with the carry flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Carry {
    pub(super) subtract: bool,
    pub(super) carry_in: bool,
    pub(super) carry_out: bool,
    /// Whether the first two operands are multiplied, and whether the high half is taken.
    pub(super) multiply: Option<bool>,
    pub(super) ty: Type,
    pub(super) dst: Dst,
    pub(super) args: [Src; 3],
}

/// How an atomic operation changes the old value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtomicOp {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exchange,
    CompareSwap,
    Increment,
    Decrement,
}

/// `atom` and `red`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Atomic {
    pub(super) op: AtomicOp,
    pub(super) ty: Type,
    pub(super) space: Space,
    pub(super) address: Address,
    pub(super) dst: Option<Dst>,
    pub(super) b: Src,
    pub(super) c: Src,
}

/// Bytes of a parameter area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) offset: u32,
    pub(super) size: u32,
}

/// The target of a call: a function by number, or a value that is the address of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Callee {
    Function(u32),
    Address(Src),
}

/// A call. The slots are in the caller's parameter area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) callee: Callee,
    pub(super) returns: Box<[Slot]>,
    pub(super) params: Box<[Slot]>,
}

/// What a barrier does in addition to waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reduction {
    Popc,
    And,
    Or,
}

/// `bar` and `barrier`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Barrier {
    pub(super) id: Src,
    pub(super) count: Option<Src>,
    /// Only announces the arrival and does not wait.
    pub(super) arrive: bool,
    pub(super) reduce: Option<(Reduction, Dst, Test)>,
}

/// How `shfl` finds its source lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

/// What `vote` computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vote {
    All,
    Any,
    Uniform,
    Ballot,
}

/// An operation of several threads of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WarpOp {
    Sync,
    Shuffle { how: Shuffle, dst: Dst, valid: Option<Dst>, a: Src, b: Src, c: Src },
    Vote { how: Vote, dst: Dst, a: Test },
    MatchAny { dst: Dst, a: Src, ty: Type },
    MatchAll { dst: Dst, same: Option<Dst>, a: Src, ty: Type },
    Reduce { op: AtomicOp, ty: Type, dst: Dst, a: Src },
    Elect { dst: Dst, chosen: Option<Dst> },
}

/// A sample of a texture: four channels at two coordinates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    pub(super) dst: Box<[Dst]>,
    pub(super) texture: Src,
    pub(super) at: [Src; 2],
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// Prefetches and hints.
    Nop,
    /// Orders nothing, because threads run one at a time; but see `flow.rs`.
    Fence,
    Compute {
        function: Function,
        dst: Dst,
        args: [Src; 4],
    },
    Move {
        dst: Dst,
        src: Src,
    },
    /// Builds a value from parts of equal width, the lowest first.
    Pack {
        dst: Dst,
        parts: Box<[Src]>,
        bits: u32,
    },
    Unpack {
        parts: Box<[Dst]>,
        src: Src,
        bits: u32,
    },
    SetPredicate(Box<SetPredicate>),
    Carry(Box<Carry>),
    Load {
        space: Space,
        ty: Type,
        dst: Box<[Dst]>,
        address: Address,
    },
    Store {
        space: Space,
        ty: Type,
        src: Box<[Src]>,
        address: Address,
    },
    Atomic(Box<Atomic>),
    Sample(Box<Sample>),
    /// Converts an address to generic, or from generic to a space.
    ConvertAddress {
        to_generic: bool,
        space: Space,
        dst: Dst,
        src: Src,
    },
    IsSpace {
        space: Space,
        dst: Dst,
        src: Src,
    },
    Branch(u32),
    BranchIndexed {
        index: Src,
        targets: Box<[u32]>,
    },
    Call(Box<Call>),
    Return,
    Exit,
    Trap,
    Barrier(Box<Barrier>),
    /// Waits for the threads of a warp that a mask names.
    Warp {
        op: Box<WarpOp>,
        mask: Src,
    },
    ActiveMask(Dst),
    /// Waits for the threads of the warp that come here from a divergent branch; made by the analysis of control flow.
    Converge,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inst {
    pub(super) line: u32,
    pub(super) guard: Option<Test>,
    pub(super) op: Op,
}
