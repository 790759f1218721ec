//! The functions of values that instructions compute.
//!
//! In: nothing; these are types. Out: enums that name what is computed, with all modifiers decoded. They touch neither
//! memory nor other threads, so the files that compute them can be tested with plain numbers.

use super::soft::{Format, Round};
use cloom_ptx::Type;

/// An integer or bit operation. The order of the operands is that of the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IntOp {
    Add,
    Sub,
    MulLo,
    MulHi,
    MulWide,
    MadLo,
    MadHi,
    MadWide,
    Mul24Lo,
    Mul24Hi,
    Mad24Lo,
    Mad24Hi,
    AddSat,
    SubSat,
    MadHiSat,
    Div,
    Rem,
    Min,
    Max,
    Abs,
    Neg,
    Sad,
    And,
    Or,
    Xor,
    Not,
    CNot,
    Shl,
    Shr,
    ShfLeft,
    ShfRight,
    ShfLeftClamp,
    ShfRightClamp,
    Bfe,
    Bfi,
    Brev,
    Clz,
    Popc,
    Bfind,
    BfindShift,
    Bmsk,
    BmskClamp,
    Prmt,
    PrmtF4e,
    PrmtB4e,
    PrmtRc8,
    PrmtEcl,
    PrmtEcr,
    PrmtRc16,
    Lop3,
    /// Four-way dot product; the type of the second operand's bytes is given by its signedness.
    Dp4a(bool),
    Dp2aLo(bool),
    Dp2aHi(bool),
    Select,
}

/// A floating-point operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FloatOp {
    Add,
    Sub,
    Mul,
    Fma,
    Div,
    Min,
    Max,
    MinNan,
    MaxNan,
    Abs,
    Neg,
    Sqrt,
    Rcp,
    Rsqrt,
    Sin,
    Cos,
    Lg2,
    Ex2,
    Tanh,
    CopySign,
    TestFinite,
    TestInfinite,
    TestNumber,
    TestNan,
    TestNormal,
    TestSubnormal,
}

/// The modifiers of a floating-point operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FloatForm {
    pub(super) format: Format,
    pub(super) lanes: u32,
    pub(super) round: Round,
    pub(super) flush: bool,
    pub(super) saturate: bool,
    pub(super) relu: bool,
}

/// A conversion of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Convert {
    pub(super) to: Type,
    pub(super) from: Type,
    pub(super) round: Round,
    /// Rounds to an integral value, also when the result is floating point.
    pub(super) integral: bool,
    pub(super) flush: bool,
    pub(super) saturate: bool,
    pub(super) relu: bool,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Lo,
    Ls,
    Hi,
    Hs,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    Num,
    Nan,
}

/// A comparison with its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Compare {
    pub(super) how: Comparison,
    pub(super) ty: Type,
    pub(super) flush: bool,
}

/// How `setp` and `set` combine their comparison with a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Combine {
    And,
    Or,
    Xor,
}

/// A function of up to four values that touches nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Int(IntOp, Type),
    Float(FloatOp, FloatForm),
    Convert(Convert),
    /// Converts two values and packs them; the first becomes the upper half.
    ConvertPair(Convert),
    /// `slct`: the first operand if the third is at least zero.
    SelectSign {
        /// The type of the third operand.
        sign: Type,
        /// A subnormal third operand is a zero.
        flush: bool,
    },
}
