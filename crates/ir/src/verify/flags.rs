//! Which flags an operation may have (V49).
//!
//! A flag without meaning for its operation is a bug of the pass that left it there, mostly by replacing the operation
//! and keeping the flags; a later pass that replaces the operation again would trust the flag.

use super::inst::is_float;
use crate::effects::OpClass;
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
    let call = || if_float(args.iter().chain(&result).any(|t| t.is_float()));
    match op.class() {
        OpClass::Value => match op {
            Op::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl) => NO_WRAP,
            Op::Binary(BinOp::Fdiv) | Op::Unary(UnOp::Sqrt) => FAST_MATH | Flags::FPMATH,
            Op::Binary(op) => if_float(is_float(*op)),
            Op::Unary(_) | Op::Select => if_float(result.is_some_and(Type::is_float)),
            Op::Fma | Op::Fcmp(_) => FAST_MATH,
            Op::Cast(CastOp::Fext | CastOp::Ftrunc | CastOp::FtoS | CastOp::FtoU | CastOp::StoF | CastOp::UtoF) => {
                FAST_MATH
            }
            Op::PureCall(_) => call(),
            _ => Flags::empty(),
        },
        OpClass::Call if matches!(op, Op::Call(_)) => call(),
        OpClass::Load => Flags::VOLATILE | Flags::COLD,
        OpClass::Store => Flags::VOLATILE | Flags::COLD | Flags::NONTEMPORAL,
        OpClass::MemCopy | OpClass::MemSet | OpClass::AtomicUpdate | OpClass::AtomicLoad | OpClass::AtomicStore => {
            Flags::VOLATILE
        }
        OpClass::Alloca
        | OpClass::Hint
        | OpClass::Fence
        | OpClass::Clock
        | OpClass::Mark
        | OpClass::Subgroup
        | OpClass::Call
        | OpClass::Printf => Flags::empty(),
    }
}
