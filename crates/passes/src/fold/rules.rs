//! Rules for arithmetic, conversions, selections and addresses.

use super::{Folded, Folder};
use cloom_ir::{BinOp, CastOp, Flags, FloatCc, Op, Scalar, Space, Type, UnOp, Value, eval};
use smallvec::smallvec;

/// Whether operands may be exchanged.
fn commutes(op: BinOp) -> bool {
    matches!(
        op,
        BinOp::Add
            | BinOp::Mul
            | BinOp::And
            | BinOp::Or
            | BinOp::Xor
            | BinOp::Umin
            | BinOp::Umax
            | BinOp::Smin
            | BinOp::Smax
            | BinOp::UmulHi
            | BinOp::SmulHi
            | BinOp::UaddSat
            | BinOp::SaddSat
            | BinOp::Fadd
            | BinOp::Fmul
    )
}

impl Folder<'_> {
    pub(super) fn unary(&mut self, op: UnOp, a: Value) -> Folded {
        let Some((inner, args)) = self.def(a) else { return Folded::Keep };
        let x = args.first().copied();
        match (op, inner, x) {
            (UnOp::Not, Op::Unary(UnOp::Not), Some(x)) | (UnOp::Fneg, Op::Unary(UnOp::Fneg), Some(x)) => Folded::Is(x),
            (UnOp::Fabs, Op::Unary(UnOp::Fabs), _) => Folded::Is(a),
            (UnOp::Fabs, Op::Unary(UnOp::Fneg), Some(x)) => {
                Folded::Becomes(Op::Unary(UnOp::Fabs), smallvec![x], Flags::empty())
            }
            // Integers are totally ordered, so every comparison has its opposite.
            (UnOp::Not, Op::Icmp(cc), Some(x)) if self.func.ty(a).scalar == Scalar::I1 => {
                let (cc, y) = (cc.negated(), args[1]);
                Folded::Becomes(Op::Icmp(cc), smallvec![x, y], Flags::empty())
            }
            // Only these have a negation in the IR: that of `<` is "not less or unordered", which it has not.
            (UnOp::Not, Op::Fcmp(cc @ (FloatCc::Oeq | FloatCc::Une | FloatCc::Ord | FloatCc::Uno)), Some(x)) => {
                let cc = match cc {
                    FloatCc::Oeq => FloatCc::Une,
                    FloatCc::Une => FloatCc::Oeq,
                    FloatCc::Ord => FloatCc::Uno,
                    _ => FloatCc::Ord,
                };
                let y = args[1];
                Folded::Becomes(Op::Fcmp(cc), smallvec![x, y], Flags::empty())
            }
            _ => Folded::Keep,
        }
    }

    pub(super) fn binary(&mut self, op: BinOp, a: Value, b: Value, ty: Type, flags: Flags) -> Folded {
        let (ca, cb) = (self.bits(a), self.bits(b));
        // Constants go to the right, so that each rule looks for them on one side only.
        if ca.is_some() && cb.is_none() && commutes(op) {
            return Folded::Becomes(Op::Binary(op), smallvec![b, a], flags);
        }
        if ty.is_float() {
            self.float_binary(op, a, cb, ty, flags)
        } else {
            self.int_binary(op, a, b, ca, cb, ty, flags)
        }
    }

    /// Without fast-math permissions, only rules that are exact for every number apply.
    fn float_binary(&mut self, op: BinOp, a: Value, cb: Option<u64>, ty: Type, flags: Flags) -> Folded {
        let (one, sign) = (eval::from_f64(ty.scalar, 1.0), 1u64 << (ty.scalar.bits() - 1));
        match (op, cb) {
            (BinOp::Fmul | BinOp::Fdiv, Some(c)) if c == one => Folded::Is(a),
            // `x + -0` is `x` for every `x`; `x + 0` makes `-0` a `+0`.
            (BinOp::Fadd, Some(c)) if c == sign || c == 0 && flags.contains(Flags::NSZ) => Folded::Is(a),
            // `x - (+0)` is `x`, also for `-0`; `x - (-0)` would make `-0` a `+0`.
            (BinOp::Fsub, Some(0)) => Folded::Is(a),
            _ => Folded::Keep,
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the operation, its operands and what is known of them")]
    fn int_binary(
        &mut self,
        op: BinOp,
        a: Value,
        b: Value,
        ca: Option<u64>,
        cb: Option<u64>,
        ty: Type,
        flags: Flags,
    ) -> Folded {
        let mask = ty.scalar.mask();
        // Not for floats: `x - x` is a NaN for an infinity.
        if a == b {
            match op {
                BinOp::Sub | BinOp::Xor => return Folded::Const(0),
                BinOp::And | BinOp::Or | BinOp::Umin | BinOp::Umax | BinOp::Smin | BinOp::Smax => return Folded::Is(a),
                _ => {}
            }
        }
        // Also for an unknown divisor of 0, since a division by zero divides by one.
        if ca == Some(0)
            && matches!(op, BinOp::Shl | BinOp::Lshr | BinOp::Ashr | BinOp::Rotl | BinOp::Urem | BinOp::Udiv)
        {
            return Folded::Const(0);
        }
        let Some(c) = cb else { return Folded::Keep };
        let width = u64::from(ty.scalar.bits());
        match op {
            BinOp::Add
            | BinOp::Sub
            | BinOp::Or
            | BinOp::Xor
            | BinOp::Umax
            | BinOp::UaddSat
            | BinOp::SaddSat
            | BinOp::UsubSat
            | BinOp::SsubSat
                if c == 0 =>
            {
                Folded::Is(a)
            }
            BinOp::And | BinOp::Umin if c == mask => Folded::Is(a),
            BinOp::And | BinOp::Mul | BinOp::Umin | BinOp::UmulHi | BinOp::SmulHi if c == 0 => Folded::Const(0),
            BinOp::Or | BinOp::Umax if c == mask => Folded::Const(mask),
            BinOp::Mul if c == 1 => Folded::Is(a),
            // A division by zero divides by one.
            BinOp::Udiv | BinOp::Sdiv if c <= 1 => Folded::Is(a),
            BinOp::Urem | BinOp::Srem if c <= 1 => Folded::Const(0),
            // Shift amounts count modulo the width.
            BinOp::Shl | BinOp::Lshr | BinOp::Ashr | BinOp::Rotl if c % width == 0 => Folded::Is(a),
            // Not a signed division, which rounds towards zero while a shift rounds down.
            BinOp::Udiv if c.is_power_of_two() => {
                let amount = self.iconst(ty, u64::from(c.trailing_zeros()));
                Folded::Becomes(Op::Binary(BinOp::Lshr), smallvec![a, amount], Flags::empty())
            }
            BinOp::Urem if c.is_power_of_two() => {
                let low = self.iconst(ty, c - 1);
                Folded::Becomes(Op::Binary(BinOp::And), smallvec![a, low], Flags::empty())
            }
            BinOp::Xor if c == mask => Folded::Becomes(Op::Unary(UnOp::Not), smallvec![a], Flags::empty()),
            BinOp::Add | BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor => self.reassociate(op, a, c, ty, flags),
            _ => Folded::Keep,
        }
    }

    /// `(x op d) op c` is `x op (d op c)`.
    fn reassociate(&mut self, op: BinOp, a: Value, c: u64, ty: Type, flags: Flags) -> Folded {
        let Some(inst) = self.func.def_inst(a) else { return Folded::Keep };
        let data = &self.func.insts[inst];
        if data.op != Op::Binary(op) {
            return Folded::Keep;
        }
        let (x, inner) = (data.args[0], data.flags);
        let Some(d) = self.bits(data.args[1]) else { return Folded::Keep };
        // If neither unsigned step wrapped, one step does not; a signed sum may wrap forth and back.
        let mut kept = flags & inner & Flags::NUW | flags & Flags::SPECULATED;
        let (sc, sd) = (eval::signed(ty.scalar, c), eval::signed(ty.scalar, d));
        let sum = eval::binary(op, ty.scalar, d, c);
        // `(x + 3) + 4` steps in one direction: if neither step wraps, nor `3 + 4`, then `x + 7` does not.
        // Steps in two directions may wrap forth and back.
        let same_way = op == BinOp::Add && (sc < 0) == (sd < 0) && (eval::signed(ty.scalar, sum) < 0) == (sc < 0);
        if same_way {
            kept |= flags & inner & Flags::NSW;
        }
        let together = self.iconst(ty, sum);
        Folded::Becomes(Op::Binary(op), smallvec![x, together], kept)
    }

    pub(super) fn cast(&mut self, op: CastOp, a: Value, ty: Type, flags: Flags) -> Folded {
        let from = self.func.ty(a);
        if from == ty && matches!(op, CastOp::Bitcast | CastOp::Space) {
            return Folded::Is(a);
        }
        let Some((inner, x)) = self.cast_of(a) else {
            return match op {
                CastOp::FtoU => self.scaled_forth_and_back(a, ty).map_or(Folded::Keep, Folded::Is),
                CastOp::Trunc => self.cut_off(a, ty),
                CastOp::Bitcast => self.constant_bytes(a, ty),
                _ => Folded::Keep,
            };
        };
        let source = self.func.ty(x);
        let is_generic = |ty: Type| ty.space() == Some(Space::Generic);
        let cast = |op: CastOp| Folded::Becomes(Op::Cast(op), smallvec![x], flags);
        match (op, inner) {
            (CastOp::Trunc, CastOp::Zext | CastOp::Sext) => match source.scalar.bits().cmp(&ty.scalar.bits()) {
                std::cmp::Ordering::Equal => Folded::Is(x),
                std::cmp::Ordering::Less => cast(inner),
                std::cmp::Ordering::Greater => cast(CastOp::Trunc),
            },
            (CastOp::Trunc, CastOp::Trunc) => cast(CastOp::Trunc),
            (CastOp::Zext, CastOp::Zext) | (CastOp::Sext, CastOp::Zext) => cast(CastOp::Zext),
            (CastOp::Sext, CastOp::Sext) => cast(CastOp::Sext),
            (CastOp::Bitcast, CastOp::Bitcast) => cast(CastOp::Bitcast),
            // A cast to a generic pointer takes its tag from the space that it comes from, so the inner cast must stay
            // for it.
            (CastOp::Space, CastOp::Space) if !is_generic(ty) => cast(CastOp::Space),
            // A generic pointer has a tag, which an integer has not.
            (CastOp::IntToPtr, CastOp::PtrToInt) if source == ty && !is_generic(ty) => Folded::Is(x),
            (CastOp::PtrToInt, CastOp::IntToPtr) if !is_generic(from) => Folded::Is(x),
            // The wider format has every value of the narrower one.
            (CastOp::Ftrunc, CastOp::Fext) if source == ty => Folded::Is(x),
            _ => Folded::Keep,
        }
    }

    /// The small integer that a float is: one that was scaled, scaled back and rounded to the nearest, as a pixel of
    /// a normalised format that is read and written. With both products rounded and a factor that is the other's
    /// reciprocal but for its own rounding, the error is below 2^16 · 2^-21, far from a half.
    fn scaled_forth_and_back(&self, rounded: Value, ty: Type) -> Option<Value> {
        let product = |v: Value| match self.def(v)? {
            (Op::Binary(BinOp::Fmul), &[a, b]) => Some((a, f64::from(f32::from_bits(self.bits(b)? as u32)))),
            _ => None,
        };
        let (Op::Unary(UnOp::Rint), &[outer]) = self.def(rounded)? else { return None };
        let (inner, back) = product(outer)?;
        let (float, forth) = product(inner)?;
        let (CastOp::UtoF, x) = self.cast_of(float)? else { return None };
        // The exponents keep both products normal.
        let is_reciprocal = (f64::exp2(-24.0)..=1.0).contains(&forth) && (forth * back - 1.0).abs() < f64::exp2(-22.0);
        let is_small = ty.scalar.bits() <= 16 && self.func.ty(x) == ty;
        (self.func.ty(float).scalar == Scalar::F32 && is_small && is_reciprocal).then_some(x)
    }

    /// The low half of a sum with a number that was widened: `i += get_global_size(0)` for an `i` of 32 bits. It
    /// becomes a sum of low halves, in which the affine analysis sees the step of `i`.
    fn cut_off(&mut self, a: Value, ty: Type) -> Folded {
        use BinOp::{Add, And, Mul, Or, Sub, Xor};
        let Some((&Op::Binary(op @ (Add | And | Mul | Or | Sub | Xor)), &[x, y])) = self.def(a) else {
            return Folded::Keep;
        };
        // The low half of these operations depends on the low halves of the operands alone.
        let low = |f: &Self, v: Value| match f.cast_of(v) {
            Some((CastOp::Zext | CastOp::Sext, x)) if f.func.ty(x) == ty => Some(x),
            _ => None,
        };
        let halves = [low(self, x), low(self, y)];
        // Narrower integers are left: what is best for them depends on the registers.
        if ty.scalar != Scalar::I32 || halves == [None; 2] {
            return Folded::Keep;
        }
        let args = [x, y].into_iter().zip(halves).map(|(wide, half)| match (half, self.bits(wide)) {
            (Some(half), _) => half,
            (None, Some(bits)) => self.iconst(ty, bits),
            (None, None) => self.emit(Op::Cast(CastOp::Trunc), smallvec![wide], ty),
        });
        // Without flags: that the wide sum does not wrap says nothing of the narrow one.
        Folded::Becomes(Op::Binary(op), args.collect(), Flags::empty())
    }

    pub(super) fn select(&mut self, c: Value, a: Value, b: Value, ty: Type) -> Folded {
        if a == b {
            return Folded::Is(a);
        }
        if let Some(bits) = self.bits(c) {
            return Folded::Is(if bits == 1 { a } else { b });
        }
        let truth = self.func.ty(c);
        if ty.scalar == Scalar::I1 && truth == ty {
            match (self.bits(a), self.bits(b)) {
                (Some(1), Some(0)) => return Folded::Is(c),
                (Some(0), Some(1)) => return Folded::Becomes(Op::Unary(UnOp::Not), smallvec![c], Flags::empty()),
                (_, Some(0)) => return Folded::Becomes(Op::Binary(BinOp::And), smallvec![c, a], Flags::empty()),
                (Some(1), _) => return Folded::Becomes(Op::Binary(BinOp::Or), smallvec![c, b], Flags::empty()),
                _ => {}
            }
        }
        // One form for both senses, so that `cse` and the rules above find equal selects.
        if let Some((Op::Unary(UnOp::Not), args)) = self.def(c) {
            let args = smallvec![args[0], b, a];
            return Folded::Becomes(Op::Select, args, Flags::empty());
        }
        if ty.is_int() && truth == ty.with_scalar(Scalar::I1) && (self.bits(a), self.bits(b)) == (Some(1), Some(0)) {
            return Folded::Becomes(Op::Cast(CastOp::Zext), smallvec![c], Flags::empty());
        }
        Folded::Keep
    }

    pub(super) fn ptr_add(&mut self, p: Value, offset: Value, ty: Type) -> Folded {
        let Some(c) = self.bits(offset) else { return Folded::Keep };
        if c == 0 {
            return Folded::Is(p);
        }
        let Some((Op::PtrAdd, args)) = self.def(p) else { return Folded::Keep };
        let (base, inner) = (args[0], args[1]);
        let Some(d) = self.bits(inner) else { return Folded::Keep };
        let sum = self.iconst(ty.with_scalar(Scalar::I64), c.wrapping_add(d));
        Folded::Becomes(Op::PtrAdd, smallvec![base, sum], Flags::empty())
    }
}
