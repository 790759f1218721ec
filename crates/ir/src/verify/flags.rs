//! Which flags an operation may have (V49).
//!
//! A flag without meaning for its operation is a bug of the pass that left it there, mostly by replacing the operation
//! and keeping the flags; a later pass that replaces the operation again would trust the flag.

use super::inst::is_float;
use crate::flags::Flags;
use crate::inst::{BinOp, CastOp, Op, UnOp};
use crate::types::Type;

/// Promises of integer arithmetic.
const NO_WRAP: Flags = Flags::NSW.union(Flags::NUW).union(Flags::SPECULATED);

/// Permissions of float arithmetic.
const FAST_MATH: Flags =
    Flags::NNAN.union(Flags::NINF).union(Flags::NSZ).union(Flags::ARCP).union(Flags::REASSOC).union(Flags::AFN);

/// Whether all flags mean something at an operation.
pub(super) fn fit(op: &Op, flags: Flags, args: &[Type], result: Option<Type>) -> bool {
    let truth = if result == Some(Type::I1) { Flags::ASSUME_FALSE_OK } else { Flags::empty() };
    (allowed(op, args, result) | truth).contains(flags)
}

/// The flags that an operation may have, besides [`Flags::ASSUME_FALSE_OK`], which any `i1` result may have.
fn allowed(op: &Op, args: &[Type], result: Option<Type>) -> Flags {
    let if_float = |is_float: bool| if is_float { FAST_MATH } else { Flags::empty() };
    match op {
        Op::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl) => NO_WRAP,
        Op::Binary(BinOp::Fdiv) | Op::Unary(UnOp::Sqrt) => FAST_MATH | Flags::FPMATH,
        Op::Binary(op) => if_float(is_float(*op)),
        Op::Unary(_) | Op::Select => if_float(result.is_some_and(super::super::types::Type::is_float)),
        Op::Fma | Op::Fcmp(_) => FAST_MATH,
        Op::Cast(CastOp::Fext | CastOp::Ftrunc | CastOp::FtoS | CastOp::FtoU | CastOp::StoF | CastOp::UtoF) => {
            FAST_MATH
        }
        Op::Call(_) | Op::PureCall(_) => if_float(args.iter().chain(&result).any(|t| t.is_float())),
        Op::Load { .. } | Op::MaskedLoad { .. } | Op::Gather { .. } => Flags::VOLATILE | Flags::COLD,
        Op::Store { .. } | Op::MaskedStore { .. } | Op::Scatter { .. } => {
            Flags::VOLATILE | Flags::COLD | Flags::NONTEMPORAL
        }
        Op::MemCopy { .. } | Op::MemSet { .. } => Flags::VOLATILE,
        Op::AtomicRmw { .. } | Op::AtomicCmpXchg { .. } | Op::AtomicLoad { .. } | Op::AtomicStore { .. } => {
            Flags::VOLATILE
        }
        Op::Const(_)
        | Op::Icmp(_)
        | Op::Cast(
            CastOp::Trunc
            | CastOp::Zext
            | CastOp::Sext
            | CastOp::Bitcast
            | CastOp::IntToPtr
            | CastOp::PtrToInt
            | CastOp::Space
            | CastOp::SpaceOf,
        )
        | Op::Extract
        | Op::Insert
        | Op::Shuffle(_)
        | Op::Splat
        | Op::Build
        | Op::Alloca { .. }
        | Op::PtrAdd
        | Op::Iota
        | Op::Any
        | Op::All
        | Op::Ballot
        | Op::Prefetch
        | Op::GlobalAddr(_)
        | Op::Fence { .. }
        | Op::Query { .. }
        | Op::Clock
        | Op::Barrier
        | Op::SubgroupBallot
        | Op::SubgroupShuffle
        | Op::SubgroupReduce { .. }
        | Op::SubgroupScan { .. }
        | Op::Sample
        | Op::DeviceCall(_)
        | Op::Printf(_) => Flags::empty(),
    }
}
