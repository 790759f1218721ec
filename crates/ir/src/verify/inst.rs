//! Rules of single operations (V23, V25 to V49): number and types of operands, result, immediates, flags.
//!
//! Indices are in range here (V1). An operation with a wrong number of operands is not looked at further, so that the
//! rest may index them.

use super::module::{MAX_SIZE, is_align, space_of};
use super::{AnyEntity, Report, Rule, flags};
use crate::abi::report;
use crate::entity::Inst;
use crate::inst::{BinOp, CastOp, Op, Query, RmwOp, UnOp};
use crate::mark::Mark;
use crate::subgroup::{combines, exchanges};
use crate::types::{Scalar, Space, Type};
use smallvec::SmallVec;

/// Checks an instruction.
pub(super) fn check(r: &mut Report<'_>, inst: Inst) {
    let data = &r.func.insts[inst];
    let at = AnyEntity::Inst(inst);
    let wanted = operands(&data.op);
    if wanted.is_some_and(|n| n != data.args.len()) {
        let found = format!("{} of {} operands", data.args.len(), wanted.unwrap_or(0));
        return r.fail(Rule::Arity, at, found);
    }
    // A call may drop what it gets.
    if !matches!(data.op, Op::Call(_)) && data.result.is_some() != data.op.has_result() {
        return r.require(false, Rule::Arity, at);
    }
    let args = data.args.iter().map(|&a| r.func.ty(a)).collect();
    let result = data.result.map(|v| r.func.ty(v));
    let mut check = Check { r: &mut *r, at, args, result };
    check.op(&data.op);
    let good = flags::fit(&data.op, data.flags, &check.args, result);
    r.require(good, Rule::Flags, at);
}

/// How many operands an operation has; `None` if any number.
fn operands(op: &Op) -> Option<usize> {
    Some(match op {
        Op::Const(_)
        | Op::Alloca { .. }
        | Op::GlobalAddr(_)
        | Op::Fence { .. }
        | Op::Query { .. }
        | Op::Iota
        | Op::Clock
        | Op::Barrier(_) => 0,
        Op::Unary(_)
        | Op::Cast(_)
        | Op::Splat
        | Op::Any
        | Op::All
        | Op::Ballot
        | Op::Poll
        | Op::SubgroupBallot
        | Op::SubgroupReduce { .. }
        | Op::SubgroupScan { .. }
        | Op::Load { .. }
        | Op::MemSet { .. }
        | Op::Prefetch
        | Op::Mark(Mark::Begin(_) | Mark::End | Mark::Copy | Mark::Argument)
        | Op::AtomicLoad { .. } => 1,
        Op::Binary(_)
        | Op::Icmp(_)
        | Op::Fcmp(_)
        | Op::Extract
        | Op::Shuffle(_)
        | Op::PtrAdd
        | Op::SubgroupShuffle
        | Op::Store { .. }
        | Op::MaskedLoad { .. }
        | Op::Gather { .. }
        | Op::MemCopy { .. }
        | Op::Mark(Mark::Wait | Mark::Index(_))
        | Op::AtomicRmw { .. }
        | Op::AtomicStore { .. } => 2,
        Op::MaskedStore { .. }
        | Op::Scatter { .. }
        | Op::Fma
        | Op::Select
        | Op::Insert
        | Op::AtomicCmpXchg { .. }
        | Op::Sample => 3,
        Op::Report => 1 + report::WORDS,
        Op::Build | Op::Call(_) | Op::PureCall(_) | Op::Printf(_) | Op::DeviceCall(_) => return None,
    })
}

/// Types of the operands and the result of one instruction. Their numbers are right.
struct Check<'r, 'a> {
    r: &'r mut Report<'a>,
    at: AnyEntity,
    args: SmallVec<[Type; 4]>,
    result: Option<Type>,
}

impl Check<'_, '_> {
    /// Reports the rule with the types of the operands, which the text of an instruction does not show.
    fn need(&mut self, good: bool, rule: Rule) {
        if good {
            return;
        }
        // Operations have few operands; of those that have many, these.
        let types: Vec<String> = self.args.iter().take(4).map(std::string::ToString::to_string).collect();
        let dots = if self.args.len() > types.len() { ", …" } else { "" };
        let found = if types.is_empty() {
            String::new()
        } else {
            format!("the operands have types {}{dots}", types.join(", "))
        };
        self.r.fail(rule, self.at, found);
    }

    fn op(&mut self, op: &Op) {
        let a = self.args.clone();
        // The arity is right, so that only stores and their like have no result here, whose rules do not look at `r`,
        // and calls, whose rule looks at `self.result`.
        let r = self.result.unwrap_or(Type::I1);
        match op {
            Op::Const(bits) => self.need(*bits <= r.scalar.mask(), Rule::ConstBits),
            Op::Unary(op) => self.unary(*op, a[0], r),
            Op::Binary(op) => match is_float(*op) {
                true => self.need(a[0] == r && a[1] == r && r.is_float(), Rule::FloatArith),
                false => self.need(a[0] == r && a[1] == r && r.is_int(), Rule::IntArith),
            },
            Op::Fma => self.need(a.iter().all(|&t| t == r) && r.is_float(), Rule::FloatArith),
            Op::Icmp(_) => {
                let good = a[0] == a[1] && (a[0].is_int() || a[0].is_ptr()) && r == a[0].with_scalar(Scalar::I1);
                self.need(good, Rule::Icmp);
            }
            Op::Fcmp(_) => {
                self.need(a[0] == a[1] && a[0].is_float() && r == a[0].with_scalar(Scalar::I1), Rule::Fcmp);
            }
            Op::Cast(op) => self.need(converts(*op, a[0], r), Rule::Cast),
            Op::Select => {
                let cond = a[0].scalar == Scalar::I1 && (a[0].lanes == 1 || a[0].lanes == r.lanes);
                self.need(a[1] == r && a[2] == r && cond, Rule::Select);
            }
            Op::Extract => self.need(a[0].is_vector() && r == a[0].lane() && is_index(a[1]), Rule::Lane),
            Op::Insert => {
                self.need(a[0].is_vector() && r == a[0] && is_index(a[1]) && a[2] == r.lane(), Rule::Lane);
            }
            Op::Shuffle(mask) => {
                // The length is looked at before it is cut to the 16 bits of a number of lanes.
                let fits = mask.len() <= usize::from(Type::MAX_LANES)
                    && mask.iter().all(|&m| u32::from(m) < 2 * u32::from(a[0].lanes));
                self.need(fits && a[0] == a[1] && r == Type::vector(a[0].scalar, mask.len() as u16), Rule::Shuffle);
            }
            Op::Splat => self.need(!a[0].is_vector() && a[0] == r.lane() && r.is_vector(), Rule::Vector),
            Op::Build => {
                let good = r.is_vector() && a.len() == usize::from(r.lanes) && a.iter().all(|&t| t == r.lane());
                self.need(good, Rule::Vector);
            }
            Op::Iota => self.need(r.is_vector() && r.is_int() && r.scalar != Scalar::I1, Rule::Vector),
            Op::PtrAdd => self.need(a[0] == r && r.is_ptr() && a[1] == r.with_scalar(Scalar::I64), Rule::PtrAdd),
            Op::GlobalAddr(g) => {
                let space = space_of(self.r.module, *g);
                self.need(space.is_some_and(|space| r == Type::ptr(space)), Rule::AddressOf);
            }
            Op::Any | Op::All => self.need(is_mask(a[0], a[0].lanes) && r == Type::I1, Rule::MaskTest),
            Op::Ballot => {
                self.need(is_mask(a[0], a[0].lanes) && a[0].lanes <= 64 && r == Type::I64, Rule::MaskTest);
            }
            Op::Fence { .. } | Op::Barrier(_) => {}
            Op::Mark(mark) => self.mark(*mark, &a, r),
            Op::Clock => self.need(r == Type::I64, Rule::Query),
            Op::Poll => self.need(a[0] == Type::I64 && r == Type::I1, Rule::Query),
            Op::Report => self.need(a.iter().all(|&t| t == Type::I64), Rule::Query),
            Op::Query { what: Query::WorkDim, dim } => self.need(r == Type::I32 && *dim == 0, Rule::Query),
            Op::Query { what, dim } => {
                let dims = if what.is_subgroup() || *what == Query::LocalMemorySize { 1 } else { 3 };
                self.need(r == Type::I64 && *dim < dims, Rule::Query);
            }
            Op::SubgroupBallot => self.need(a[0] == Type::I1 && r == Type::I64, Rule::Subgroup),
            Op::SubgroupShuffle => self.need(a[0] == r && exchanges(r) && a[1] == Type::I32, Rule::Subgroup),
            Op::SubgroupReduce { op, cluster } => {
                self.need(a[0] == r && combines(*op, r) && cluster.is_power_of_two(), Rule::Subgroup);
            }
            Op::SubgroupScan { op, .. } => self.need(a[0] == r && combines(*op, r), Rule::Subgroup),
            Op::Sample => {
                let takes = [Type::I64, Type::F32, Type::F32];
                self.need(a[..] == takes && r == Type::vector(Scalar::F32, 4), Rule::Sample);
            }
            Op::Call(f) => {
                let (module, result) = (self.r.module, self.result);
                let fits = |f: &crate::Function| *f.params == *a && (result.is_none() || result == f.ret);
                self.need(module.funcs.get(*f).is_some_and(fits), Rule::Call);
            }
            Op::PureCall(f) => {
                let fits =
                    |f: &crate::Function| *f.params == *a && f.ret == Some(r) && (f.is_declaration() || f.is_pure());
                self.need(self.r.module.funcs.get(*f).is_some_and(fits), Rule::Call);
            }
            Op::Printf(s) => {
                let string = self.r.module.strings.get(*s).is_some();
                self.need(string && a.first() == Some(&Type::I64) && a.iter().all(|&t| in_memory(t)), Rule::Printf);
            }
            Op::DeviceCall(_) => {
                let word = |t: &Type| *t == Type::I64 || !t.is_vector() && t.is_ptr();
                self.need(a.iter().all(word) && r == Type::I64, Rule::DeviceCall);
            }
            Op::Alloca { .. }
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::MaskedLoad { .. }
            | Op::MaskedStore { .. }
            | Op::Gather { .. }
            | Op::Scatter { .. }
            | Op::MemCopy { .. }
            | Op::MemSet { .. }
            | Op::Prefetch
            | Op::AtomicRmw { .. }
            | Op::AtomicCmpXchg { .. }
            | Op::AtomicLoad { .. }
            | Op::AtomicStore { .. } => self.memory(op, &a, r),
        }
    }

    fn mark(&mut self, mark: Mark, a: &[Type], r: Type) {
        let is_address = |t: Type| t.is_ptr() && !t.is_vector();
        let good = match mark {
            Mark::Index(_) => a[0] == Type::I64 && is_address(a[1]),
            Mark::Begin(_) | Mark::End => is_address(a[0]) && a[0].space() == Some(Space::Private),
            Mark::Copy => a[0] == Type::I64 && r == Type::I64,
            Mark::Wait => a[0] == Type::I32 && is_address(a[1]),
            Mark::Argument => a[0] == Type::I64 || is_address(a[0]),
        };
        self.need(good, Rule::Mark);
    }

    fn unary(&mut self, op: UnOp, a: Type, r: Type) {
        match op {
            UnOp::Not | UnOp::Clz | UnOp::Ctz | UnOp::Popcount | UnOp::BitReverse => {
                self.need(a == r && r.is_int(), Rule::IntArith);
            }
            UnOp::Fneg | UnOp::Fabs | UnOp::Sqrt | UnOp::Floor | UnOp::Ceil | UnOp::Trunc | UnOp::Rint => {
                self.need(a == r && r.is_float(), Rule::FloatArith);
            }
            UnOp::RsqrtNear | UnOp::RecipNear | UnOp::Exp2Near | UnOp::Log2Near | UnOp::SinNear | UnOp::CosNear => {
                self.need(a == r && r.scalar == Scalar::F32, Rule::Near);
            }
        }
    }

    /// What goes to memory: address, value, alignment, size, mask.
    fn memory(&mut self, op: &Op, a: &[Type], r: Type) {
        match *op {
            Op::Alloca { size, align, .. } => {
                self.need(r == Type::ptr(Space::Private), Rule::AddressOf);
                self.block(size, align);
            }
            Op::Load { align } => self.access(a[0], 1, r, align),
            Op::Store { align } => self.access(a[0], 1, a[1], align),
            Op::MaskedLoad { align } => {
                self.access(a[0], 1, r, align);
                self.need(is_mask(a[1], r.lanes), Rule::Mask);
            }
            Op::MaskedStore { align } => {
                self.access(a[0], 1, a[1], align);
                self.need(is_mask(a[2], a[1].lanes), Rule::Mask);
            }
            Op::Gather { align } => {
                self.access(a[0], r.lanes, r, align);
                self.need(is_mask(a[1], r.lanes), Rule::Mask);
            }
            Op::Scatter { align } => {
                self.access(a[0], a[1].lanes, a[1], align);
                self.need(is_mask(a[2], a[1].lanes), Rule::Mask);
            }
            Op::MemCopy { align, size } => {
                self.need(is_address(a[0], 1) && is_address(a[1], 1), Rule::Address);
                self.block(size, align);
            }
            Op::MemSet { align, size, .. } => {
                self.need(is_address(a[0], 1), Rule::Address);
                self.block(size, align);
            }
            Op::AtomicRmw { op, .. } => {
                let combines = match op {
                    RmwOp::Fadd | RmwOp::Fmin | RmwOp::Fmax => r.is_float(),
                    RmwOp::Xchg => true,
                    _ => r.is_int(),
                };
                self.atomic(a[0], r, combines && a[1] == r);
            }
            // Integers only, because the comparison is bitwise: of floats, `-0 == 0` would have to hold.
            Op::AtomicCmpXchg { .. } => self.atomic(a[0], r, a[1] == r && a[2] == r && r.is_int()),
            Op::AtomicLoad { .. } => self.atomic(a[0], r, true),
            Op::AtomicStore { .. } => self.atomic(a[0], a[1], true),
            // A prefetch; all others are not about memory.
            _ => self.need(is_address(a[0], 1), Rule::Address),
        }
    }

    fn access(&mut self, address: Type, addresses: u16, value: Type, align: u32) {
        self.need(is_address(address, addresses), Rule::Address);
        self.need(in_memory(value), Rule::InMemory);
        self.need(is_align(align), Rule::Align);
    }

    fn block(&mut self, size: u64, align: u32) {
        self.need(is_align(align), Rule::Align);
        self.need(size <= MAX_SIZE, Rule::Size);
    }

    fn atomic(&mut self, address: Type, value: Type, fits: bool) {
        let word = matches!(value.scalar, Scalar::I32 | Scalar::I64 | Scalar::F32 | Scalar::F64);
        self.need(is_address(address, 1), Rule::Address);
        self.need(fits && word && !value.is_vector(), Rule::Atomic);
    }
}

/// Whether an operation computes with floats; else with integers.
pub(super) fn is_float(op: BinOp) -> bool {
    match op {
        BinOp::Fadd | BinOp::Fsub | BinOp::Fmul | BinOp::Fdiv | BinOp::Fmin | BinOp::Fmax | BinOp::Copysign => true,
        BinOp::Add
        | BinOp::Sub
        | BinOp::Mul
        | BinOp::Udiv
        | BinOp::Sdiv
        | BinOp::Urem
        | BinOp::Srem
        | BinOp::And
        | BinOp::Or
        | BinOp::Xor
        | BinOp::Shl
        | BinOp::Lshr
        | BinOp::Ashr
        | BinOp::Rotl
        | BinOp::Umin
        | BinOp::Umax
        | BinOp::Smin
        | BinOp::Smax
        | BinOp::UmulHi
        | BinOp::SmulHi
        | BinOp::UaddSat
        | BinOp::SaddSat
        | BinOp::UsubSat
        | BinOp::SsubSat => false,
    }
}

fn in_memory(ty: Type) -> bool {
    ty.scalar != Scalar::I1
}

/// Whether a type is a vector of so many addresses.
fn is_address(ty: Type, lanes: u16) -> bool {
    ty.is_ptr() && ty.lanes == lanes
}

/// Whether a type can hold lane numbers.
fn is_index(ty: Type) -> bool {
    ty.is_int() && !ty.is_vector()
}

/// Whether a type is a mask for so many lanes.
fn is_mask(ty: Type, lanes: u16) -> bool {
    ty == Type::vector(Scalar::I1, lanes) && lanes > 1
}

fn converts(op: CastOp, from: Type, to: Type) -> bool {
    let (f, t) = (from.scalar, to.scalar);
    let lanes = from.lanes == to.lanes;
    match op {
        CastOp::Trunc => lanes && f.is_int() && t.is_int() && t.bits() < f.bits(),
        CastOp::Zext | CastOp::Sext => lanes && f.is_int() && t.is_int() && t.bits() > f.bits(),
        CastOp::FtoS | CastOp::FtoU => lanes && f.is_float() && t.is_int() && t != Scalar::I1,
        CastOp::StoF | CastOp::UtoF => lanes && f.is_int() && t.is_float(),
        CastOp::Fext => lanes && f.is_float() && t.is_float() && t.bits() > f.bits(),
        CastOp::Ftrunc => lanes && f.is_float() && t.is_float() && t.bits() < f.bits(),
        CastOp::IntToPtr => lanes && f == Scalar::I64 && t.is_ptr(),
        CastOp::PtrToInt => lanes && f.is_ptr() && t == Scalar::I64,
        CastOp::Space => lanes && f.is_ptr() && t.is_ptr(),
        CastOp::SpaceOf => lanes && f == Scalar::Ptr(Space::Generic) && t == Scalar::I64,
        CastOp::Bitcast => {
            // An `i1` has no bits in memory, so that `i1x8` is not the `i8` of its bits: `ballot` makes that.
            let bits = |x: Type| x.scalar.bits() * u32::from(x.lanes);
            !f.is_ptr() && !t.is_ptr() && bits(from) == bits(to) && (f != Scalar::I1) == (t != Scalar::I1)
        }
    }
}
