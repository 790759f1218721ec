//! Rules for masks and masked accesses: an access with a constant mask becomes unmasked or goes away, and a gather or
//! scatter of consecutive addresses becomes a consecutive access.

use super::{Folded, Folder};
use cloom_ir::{Args, BinOp, Flags, IntCc, Op, Type, Value, eval};
use smallvec::smallvec;

/// The outcome of a rule for an instruction without a result.
pub(super) enum Effect {
    /// Nothing: no rule applies.
    Keep,
    /// The instruction is removed.
    Gone,
    /// It is replaced by this operation.
    Becomes(Op, Args),
}

impl Folder<'_> {
    /// Any or all of a splat: its scalar.
    pub(super) fn any_or_all(&mut self, mask: Value) -> Folded {
        match self.def(mask) {
            // All lanes are alike, as for the mask of a uniform branch.
            Some((Op::Splat, args)) => Folded::Is(args[0]),
            _ => Folded::Keep,
        }
    }

    /// A masked load of consecutive lanes.
    pub(super) fn masked_load(&mut self, p: Value, mask: Value, align: u32, flags: Flags) -> Folded {
        match self.bits(mask) {
            // Lanes that are off load 0.
            Some(0) => Folded::Const(0),
            // A constant mask has the same bit in every lane, so all lanes are on.
            Some(_) => Folded::Becomes(Op::Load { align }, smallvec![p], flags),
            None => Folded::Keep,
        }
    }

    /// A load of each lane from its own address.
    pub(super) fn gather(&mut self, p: Value, mask: Value, align: u32, ty: Type, flags: Flags) -> Folded {
        if self.bits(mask) == Some(0) {
            return Folded::Const(0);
        }
        match self.row(p, ty) {
            Some(first) => {
                let align = self.row_align(align, ty, mask);
                Folded::Becomes(Op::MaskedLoad { align }, smallvec![first, mask], flags)
            }
            None => Folded::Keep,
        }
    }

    /// A masked store of any kind.
    pub(super) fn masked_effect(&mut self, op: &Op, args: &[Value]) -> Effect {
        let (Op::MaskedStore { align } | Op::Scatter { align }) = *op else { return Effect::Keep };
        let (p, x, mask) = (args[0], args[1], args[2]);
        let known = self.bits(mask);
        if known == Some(0) {
            return Effect::Gone;
        }
        if matches!(op, Op::Scatter { .. }) {
            let ty = self.func.ty(x);
            return match self.row(p, ty) {
                Some(first) => Effect::Becomes(
                    Op::MaskedStore { align: self.row_align(align, ty, mask) },
                    smallvec![first, x, mask],
                ),
                None => Effect::Keep,
            };
        }
        match known {
            Some(_) => Effect::Becomes(Op::Store { align }, smallvec![p, x]),
            None => Effect::Keep,
        }
    }

    /// The first address, if the lanes are consecutive.
    fn row(&self, p: Value, ty: Type) -> Option<Value> {
        let (Op::PtrAdd, args) = self.def(p)? else { return None };
        let (Op::Splat, base) = self.def(args[0])? else { return None };
        let size = u64::from(ty.scalar.bytes());
        // Lane `i` is at `base + i·size`: the offsets are the lane numbers, times the size of an element.
        let step = match self.def(args[1])? {
            (Op::Iota, _) => 1,
            (Op::Binary(op), by) if matches!(self.def(by[0]), Some((Op::Iota, _))) => match (op, self.bits(by[1])?) {
                (BinOp::Mul, c) => c,
                // Shift amounts count modulo the width.
                (BinOp::Shl, c) => 1 << (c % 64),
                _ => return None,
            },
            _ => return None,
        };
        (step == size).then_some(base[0])
    }

    /// The alignment of the first address, as known from that of the other lanes: lane 0 may be off.
    fn row_align(&self, align: u32, ty: Type, mask: Value) -> u32 {
        if self.bits(mask) == Some(1) { align } else { align.min(ty.scalar.bytes()) }
    }

    /// A comparison of lane numbers with a constant that has the same result in all lanes.
    pub(super) fn icmp_iota(&self, cc: IntCc, a: Value, b: Value) -> Option<bool> {
        let ty = self.func.ty(a);
        let c = self.bits(b)?;
        let (Op::Iota, _) = self.def(a)? else { return None };
        // `iota < 16` of sixteen lanes is a mask that is all on.
        let lane = |i: u64| eval::icmp(cc, ty.scalar, i & ty.scalar.mask(), c);
        let first = lane(0);
        (1..u64::from(ty.lanes)).all(|i| lane(i) == first).then_some(first)
    }
}
