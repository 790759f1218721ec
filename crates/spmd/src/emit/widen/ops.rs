//! Operations without memory: lane by lane, component by component.

use super::{Lanes, VecValue, Widener};
use crate::analysis::shape::Shape;
use crate::error::{Stop, bug};
use crate::passes;
use cloom_ir::{Args, BinOp, CastOp, Flags, Inst, IntCc, Op, Type, UnOp, Value, ValueDef};
use smallvec::{SmallVec, smallvec};

/// How deep a base is widened operand by operand.
const WIDEN_DEPTH: u32 = 8;

impl Widener<'_> {
    /// Any instruction.
    pub(super) fn inst(&mut self, inst: Inst) -> Result<(), Stop> {
        let data = &self.item.func.insts[inst];
        match &data.op {
            Op::Alloca { size, align } => return self.private_array(inst, *size, *align),
            Op::PtrAdd if data.result.is_some_and(|r| self.is_element(r)) => return self.element(inst),
            Op::Load { .. } => return self.load(inst),
            Op::Store { .. } => return self.store(inst),
            Op::Prefetch => return self.prefetch(data.args[0]),
            Op::Fence { .. } => {
                self.clone_scalar(inst)?;
                return Ok(());
            }
            Op::MemCopy { .. }
            | Op::MemSet { .. }
            | Op::AtomicCmpXchg { .. }
            | Op::AtomicLoad { .. }
            | Op::AtomicStore { .. }
            | Op::Call(_)
            | Op::Printf(_) => return self.serial(inst),
            Op::AtomicRmw { .. } => return self.atomic(inst),
            op if op.is_subgroup() => return self.subgroup(inst),
            Op::Query { .. } | Op::Barrier => return Err(bug("a query or a barrier is left")),
            _ => {}
        }
        let Some(result) = data.result else { return Ok(()) };
        let wide = match self.item.shapes.of(result) {
            Shape::Uniform | Shape::Unknown => match self.clone_scalar(inst)? {
                Some(v) => VecValue::Uniform(v),
                None => return Ok(()),
            },
            Shape::Strided { by, .. } => self.strided(inst, by)?,
            Shape::Varying => {
                let lanes = self.lanewise(inst)?;
                let order = if self.manager.is_on(passes::SCALAR_MASK) { self.strided_compare(inst)? } else { None };
                self.strided_compares.extend(order.map(|order| (lanes[0], order)));
                VecValue::Varying(lanes)
            }
        };
        self.set(result, wide);
        Ok(())
    }

    /// The instruction on lane 0 of its operands.
    pub(super) fn clone_scalar(&mut self, inst: Inst) -> Result<Option<Value>, Stop> {
        let data = &self.item.func.insts[inst];
        if data.flags.contains(Flags::ASSUME_FALSE_OK) && self.mask.is_some() {
            return Ok(Some(self.b().iconst(Type::I1, 0)));
        }
        let args: Args = data.args.iter().map(|&a| self.base(a)).collect::<Result<_, _>>()?;
        let ty = data.result.map(|r| self.item.func.ty(r));
        Ok(self.b().push(data.op.clone(), args, ty, data.flags - Flags::ASSUME_FALSE_OK))
    }

    fn strided(&mut self, inst: Inst, by: i64) -> Result<VecValue, Stop> {
        let func = &self.item.func;
        let data = &func.insts[inst];
        let mut cond = None;
        for &a in &data.args {
            if let VecValue::Strided { cond: Some(c), .. } = self.get(a)? {
                cond = Some(self.and(cond, c));
            }
        }
        let result = data.result.map_or(Type::I64, |r| func.ty(r));
        if let Op::Cast(op @ (CastOp::Sext | CastOp::Zext)) = data.op {
            let from = data.args[0];
            // An operand that was checked elsewhere may wrap here all the same. Where the test holds, lane 0 is as the others are, on or
            // off.
            if data.result.is_some_and(|r| matches!(self.item.shapes.of(r), Shape::Strided { checked: true, .. })) {
                let signed = op == CastOp::Sext;
                if !self.is_limited(from, signed) {
                    let test = self.no_wrap(from, by, signed)?;
                    cond = Some(self.and(cond, test));
                }
                let narrow = self.base(from)?;
                let base = self.b().cast(op, narrow, result);
                return Ok(VecValue::Strided { base, by, cond });
            }
            let base = self.wide_base(from, op, result, WIDEN_DEPTH)?;
            return Ok(VecValue::Strided { base, by, cond });
        }
        let steps = data.args.iter().any(|&a| matches!(self.item.shapes.of(a), Shape::Strided { by, .. } if by != 0));
        match data.op {
            Op::Binary(BinOp::Udiv | BinOp::Sdiv | BinOp::Lshr | BinOp::Ashr) if steps => self.quotient(inst, cond),
            Op::Binary(op @ (BinOp::Smin | BinOp::Smax | BinOp::Umin | BinOp::Umax)) if by != 0 => {
                self.limited(op, [data.args[0], data.args[1]], by, cond)
            }
            Op::Binary(BinOp::Urem | BinOp::Srem | BinOp::And) if by != 0 => self.remainder(inst, by, cond),
            _ => {
                let base = self.clone_scalar(inst)?.ok_or(bug("an instruction has no result"))?;
                Ok(VecValue::Strided { base, by, cond })
            }
        }
    }

    /// Lane 0 of a value that is widened, from its operands where these are promised not to wrap: then it is exact for every lane that
    /// is on, although lane 0 itself may be off and wrap.
    fn wide_base(&mut self, v: Value, op: CastOp, to: Type, depth: u32) -> Result<Value, Stop> {
        let func = &self.item.func;
        let promise = if op == CastOp::Sext { Flags::NSW } else { Flags::NUW };
        if let Some(i) = func.def_inst(v)
            && depth > 0
            && !self.item.shapes.is_uniform(v)
        {
            let data = &func.insts[i];
            if let Op::Binary(bin @ (BinOp::Add | BinOp::Sub | BinOp::Mul)) = data.op
                && data.flags.contains(promise)
            {
                let a = self.wide_base(data.args[0], op, to, depth - 1)?;
                let b = self.wide_base(data.args[1], op, to, depth - 1)?;
                return Ok(self.b().binary(bin, a, b));
            }
            // One of two for all lanes. (Code that only some lanes would run may have been moved to where all are on.)
            if data.op == Op::Select && self.item.shapes.is_uniform(data.args[0]) {
                let a = self.wide_base(data.args[1], op, to, depth - 1)?;
                let b = self.wide_base(data.args[2], op, to, depth - 1)?;
                let cond = self.base(data.args[0])?;
                return Ok(self.b().select(cond, a, b));
            }
        }
        let base = self.base(v)?;
        match (self.item.shapes.of(v), self.mask) {
            (Shape::Strided { by, .. }, Some(mask)) if self.may_wrap_where_off(v) => {
                Ok(self.wide_base_from_first_on(base, by, mask, op, to))
            }
            _ => Ok(self.b().cast(op, base, to)),
        }
    }

    /// Whether lane 0 of a value that wraps in no lane that is on may have wrapped where it is off: what comes from an earlier block or is
    /// one of two was computed in its own width.
    fn may_wrap_where_off(&self, v: Value) -> bool {
        let func = &self.item.func;
        match func.values[v].def {
            ValueDef::Param(b, _) => b != func.entry(),
            ValueDef::Inst(i) => {
                let own = [BinOp::Add, BinOp::Sub, BinOp::Mul].map(Op::Binary);
                func.insts[i].op == Op::Select || own.contains(&func.insts[i].op)
            }
        }
    }

    /// Lane 0 of a widened value, exact for the lanes that are on: from the first of these, which has not wrapped.
    fn wide_base_from_first_on(&mut self, base: Value, by: i64, mask: Value, op: CastOp, to: Type) -> Value {
        let bits = self.b().ballot(mask);
        let first = self.b().unary(UnOp::Ctz, bits);
        let by = self.b().iconst(Type::I64, by as u64);
        let ahead = self.b().binary(BinOp::Mul, first, by);
        let narrow = self.func.ty(base);
        let (near, far) = (self.low_bits(ahead, narrow), self.low_bits(ahead, to));
        let there = self.b().binary(BinOp::Add, base, near);
        let wide = self.b().cast(op, there, to);
        self.b().binary(BinOp::Sub, wide, far)
    }

    /// The low bits of a number of 64.
    fn low_bits(&mut self, v: Value, ty: Type) -> Value {
        if ty == Type::I64 { v } else { self.b().cast(CastOp::Trunc, v, ty) }
    }

    /// Whether no lane of a strided value wraps, as a scalar.
    pub(super) fn no_wrap(&mut self, v: Value, by: i64, signed: bool) -> Result<Value, Stop> {
        let base = self.base(v)?;
        Ok(self.no_wrap_from(base, by, signed))
    }

    /// The same, from lane 0 on.
    pub(super) fn no_wrap_from(&mut self, base: Value, by: i64, signed: bool) -> Value {
        let ty = self.func.ty(base);
        let span = by.unsigned_abs().saturating_mul(u64::from(self.lanes - 1));
        let mask = ty.scalar.mask();
        // The lanes of a narrow type may be further apart than it has values.
        let Some(last) = mask.checked_sub(span) else { return self.b().iconst(Type::I1, 0) };
        let sign = (mask >> 1) + 1;
        // As unsigned numbers, signed ones begin at the sign bit.
        let shifted = if signed {
            let bias = self.b().iconst(ty, sign);
            self.b().binary(BinOp::Add, base, bias)
        } else {
            base
        };
        let (limit, cc) = if by >= 0 { (last, IntCc::Ule) } else { (span, IntCc::Uge) };
        let limit = self.b().iconst(ty, limit);
        self.b().icmp(cc, shifted, limit)
    }

    /// One operation on every lane of its operands.
    pub(super) fn lanewise(&mut self, inst: Inst) -> Result<Lanes, Stop> {
        let data = &self.item.func.insts[inst];
        let result = data.result.map_or(Type::I1, |r| self.item.func.ty(r));
        let from = data.args.first().map_or(result, |&a| self.item.func.ty(a));
        match &data.op {
            Op::Cast(CastOp::Bitcast) if from.lanes != result.lanes => {
                let parts = self.lanes(data.args[0])?;
                let whole = self.interleave(&parts);
                let ty = Type::vector(result.scalar, result.lanes * self.lanes);
                let whole = self.b().cast(CastOp::Bitcast, whole, ty);
                Ok(self.deinterleave(whole, result.lanes))
            }
            Op::Extract => {
                let parts = self.lanes(data.args[0])?;
                Ok(smallvec![self.pick(&parts, data.args[1])?])
            }
            Op::Insert => {
                let mut parts = self.lanes(data.args[0])?;
                let new = self.lane(data.args[2])?;
                let n = parts.len() as u64;
                if let Some(k) = self.item.func.const_bits(data.args[1]) {
                    parts[(k % n) as usize] = new;
                    return Ok(parts);
                }
                let index = self.index_in(data.args[1], n)?;
                for (k, part) in parts.iter_mut().enumerate() {
                    let here = self.is_index(index, k as u64);
                    *part = self.b().select(here, new, *part);
                }
                Ok(parts)
            }
            Op::Shuffle(mask) => {
                let mut parts = self.lanes(data.args[0])?;
                parts.extend(self.lanes(data.args[1])?);
                Ok(mask.iter().map(|&m| parts[usize::from(m)]).collect())
            }
            Op::Splat => {
                let part = self.lane(data.args[0])?;
                Ok(SmallVec::from_elem(part, usize::from(result.lanes)))
            }
            Op::Build => data.args.iter().map(|&a| self.lane(a)).collect(),
            Op::Binary(op @ (BinOp::Udiv | BinOp::Urem | BinOp::Sdiv | BinOp::Srem)) if !result.is_vector() => {
                let (x, d) = (data.args[0], data.args[1]);
                match self.get(d)? {
                    VecValue::Uniform(divisor) if self.item.func.const_bits(d).is_none() => {
                        self.divide(*op, x, divisor)
                    }
                    _ => {
                        let (x, d) = (self.lane(x)?, self.lane(d)?);
                        Ok(smallvec![self.b().binary(*op, x, d)])
                    }
                }
            }
            _ => {
                let ty = self.wide_type(result);
                // A scalar truth value chooses whole vectors.
                let mut operands = Vec::new();
                for &a in &data.args {
                    let uniform_cond = data.op == Op::Select
                        && operands.is_empty()
                        && self.item.shapes.is_uniform(a)
                        && !self.item.func.ty(a).is_vector();
                    operands.push(if uniform_cond { smallvec![self.base(a)?] } else { self.lanes(a)? });
                }
                let (op, flags) = (data.op.clone(), data.flags - (Flags::NSW | Flags::NUW));
                let count = usize::from(result.lanes);
                (0..count)
                    .map(|c| {
                        let args: Args =
                            operands.iter().map(|o: &Lanes| if o.len() == 1 { o[0] } else { o[c] }).collect();
                        let v = self.b().push(op.clone(), args, Some(ty), flags);
                        v.ok_or(bug("an instruction has no result"))
                    })
                    .collect()
            }
        }
    }

    /// Division of all lanes by one number. Vector units do not divide integers, and what programs divide by is mostly a power of two,
    /// though only the run knows it: then it is a matter of shifts.
    fn divide(&mut self, op: BinOp, x: Value, divisor: Value) -> Result<Lanes, Stop> {
        let x = self.lane(x)?;
        let (n, ty, wide) = (self.lanes, self.func.ty(divisor), self.func.ty(x));
        let mut b = self.b();
        let (zero, one) = (b.iconst(ty, 0), b.iconst(ty, 1));
        let less = b.binary(BinOp::Sub, divisor, one);
        let shared = b.binary(BinOp::And, divisor, less);
        let single = b.icmp(IntCc::Eq, shared, zero);
        // Zero has no bit, and the lowest number has only its sign.
        let positive = b.icmp(IntCc::Sgt, divisor, zero);
        let power = b.binary(BinOp::And, single, positive);
        let shifted = move |w: &mut Self| {
            let mut b = w.b();
            let low = b.splat(less, n);
            let amount = b.unary(UnOp::Ctz, divisor);
            let amount = b.splat(amount, n);
            // Rounding is toward zero: numbers below it are moved up first.
            let signed = matches!(op, BinOp::Sdiv | BinOp::Srem);
            let up = signed.then(|| {
                let bits = b.iconst(wide, u64::from(wide.scalar.bits() - 1));
                let sign = b.binary(BinOp::Ashr, x, bits);
                b.binary(BinOp::And, sign, low)
            });
            let moved = up.map_or(x, |up| b.binary(BinOp::Add, x, up));
            Ok(smallvec![match op {
                BinOp::Udiv => b.binary(BinOp::Lshr, x, amount),
                BinOp::Urem => b.binary(BinOp::And, x, low),
                BinOp::Sdiv => b.binary(BinOp::Ashr, moved, amount),
                _ => {
                    let rest = b.binary(BinOp::And, moved, low);
                    up.map_or(rest, |up| b.binary(BinOp::Sub, rest, up))
                }
            }])
        };
        let divided = move |w: &mut Self| {
            let mut b = w.b();
            let d = b.splat(divisor, n);
            Ok(smallvec![b.binary(op, x, d)])
        };
        self.either(power, ty, shifted, divided)
    }

    /// Component `index` of a short vector.
    fn pick(&mut self, parts: &Lanes, index: Value) -> Result<Value, Stop> {
        let n = parts.len() as u64;
        if let Some(k) = self.item.func.const_bits(index) {
            return Ok(parts[(k % n) as usize]);
        }
        let index = self.index_in(index, n)?;
        let mut picked = parts[0];
        for (k, &part) in parts.iter().enumerate().skip(1) {
            let here = self.is_index(index, k as u64);
            picked = self.b().select(here, part, picked);
        }
        Ok(picked)
    }

    /// An index modulo a number of components: a scalar if it is uniform, else lanes.
    fn index_in(&mut self, index: Value, n: u64) -> Result<Value, Stop> {
        let index = if self.item.shapes.is_uniform(index) { self.base(index)? } else { self.lane(index)? };
        let ty = self.func.ty(index);
        if n > ty.scalar.mask() {
            return Ok(index);
        }
        let n = self.b().iconst(ty, n);
        Ok(self.b().binary(BinOp::Urem, index, n))
    }

    fn is_index(&mut self, index: Value, k: u64) -> Value {
        let ty = self.func.ty(index);
        let k = self.b().iconst(ty, k);
        self.b().icmp(IntCc::Eq, index, k)
    }

    /// The components one after the other for each lane: lane-major, as they lie in memory.
    pub(super) fn interleave(&mut self, parts: &[Value]) -> Value {
        if let [only] = *parts {
            return only;
        }
        if let Some(whole) = self.interleaved_of(parts) {
            return whole;
        }
        let (n, w) = (parts.len() as u16, self.lanes);
        let whole = self.concat(parts);
        let mask: Vec<u16> = (0..w).flat_map(|l| (0..n).map(move |c| c * w + l)).collect();
        self.b().shuffle(whole, whole, &mask)
    }

    /// Vectors one after the other in one: pairs are joined until one is left.
    pub(super) fn concat(&mut self, parts: &[Value]) -> Value {
        let mut level: Vec<Value> = parts.to_vec();
        let width = |f: &cloom_ir::Function, v: Value| f.ty(v).lanes;
        while level.len() > 1 {
            let mut next = Vec::new();
            for pair in level.chunks(2) {
                let a = pair[0];
                let b = *pair.get(1).unwrap_or(&a);
                let (wa, wb) = (width(self.func, a), width(self.func, b));
                let (a, b) = (self.extend(a, wa.max(wb)), self.extend(b, wa.max(wb)));
                let wide = wa.max(wb);
                let mask: Vec<u16> =
                    if pair.len() == 2 { (0..wa).chain(wide..wide + wb).collect() } else { (0..wa).collect() };
                next.push(self.b().shuffle(a, b, &mask));
            }
            level = next;
        }
        level[0]
    }

    /// A vector with more lanes; the new ones are the first one's.
    fn extend(&mut self, v: Value, lanes: u16) -> Value {
        let have = self.func.ty(v).lanes;
        if have == lanes {
            return v;
        }
        let mask: Vec<u16> = (0..lanes).map(|l| if l < have { l } else { 0 }).collect();
        self.b().shuffle(v, v, &mask)
    }

    /// The components of lanes that lie one after the other.
    pub(super) fn deinterleave(&mut self, whole: Value, n: u16) -> Lanes {
        if n == 1 {
            return smallvec![whole];
        }
        (0..n)
            .map(|c| {
                let mask: Vec<u16> = (0..self.lanes).map(|l| l * n + c).collect();
                self.b().shuffle(whole, whole, &mask)
            })
            .collect()
    }

    /// Whether a lane has the highest number of those that are on.
    pub(super) fn last_lane(&mut self, mask: Value) -> Value {
        let bits = self.b().ballot(mask);
        let zeros = self.b().unary(UnOp::Clz, bits);
        let top = self.b().iconst(Type::I64, 63);
        self.b().binary(BinOp::Sub, top, zeros)
    }

    /// A truth value for every lane.
    pub(super) fn repeat_mask(&mut self, mask: Value, n: u16) -> Value {
        if n == 1 {
            return mask;
        }
        let order: Vec<u16> = (0..self.lanes * n).map(|k| k / n).collect();
        self.b().shuffle(mask, mask, &order)
    }
}
