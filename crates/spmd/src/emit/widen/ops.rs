//! Operations without memory: one operation for all lanes of each component.

use super::{Lanes, VecValue, Widener};
use crate::analysis::shape::Shape;
use crate::error::{Stop, bug};
use crate::passes;
use cloom_ir::{Args, BinOp, CastOp, Edge, Flags, Inst, IntCc, Op, Term, Type, UnOp, Value, ValueDef};
use smallvec::{SmallVec, smallvec};

/// The depth to which a base is extended operand by operand.
const MAX_EXTEND_DEPTH: u32 = 8;

impl Widener<'_> {
    /// Emits an instruction.
    pub(super) fn inst(&mut self, inst: Inst) -> Result<(), Stop> {
        let data = &self.item.func.insts[inst];
        match &data.op {
            Op::Alloca { size, align, .. } => return self.private_array(inst, *size, *align),
            Op::PtrAdd if data.result.is_some_and(|r| self.is_by_unit(r)) => return self.unit_address(inst),
            Op::Load { .. } => return self.load(inst),
            Op::Store { .. } => return self.store(inst),
            Op::Prefetch => return self.prefetch(data.args[0]),
            // One fence for all lanes: one thread runs them, and their accesses come in the order of the program.
            Op::Fence { .. } => {
                self.clone_scalar(inst)?;
                return Ok(());
            }
            Op::Clock => return self.clock(inst),
            Op::Report => return self.report(inst),
            Op::MemCopy { .. }
            | Op::MemSet { .. }
            | Op::AtomicCmpXchg { .. }
            | Op::AtomicLoad { .. }
            | Op::AtomicStore { .. }
            | Op::Sample
            | Op::Call(_)
            | Op::Printf(_)
            | Op::DeviceCall(_) => return self.serial(inst),
            Op::AtomicRmw { .. } => return self.atomic(inst),
            op if op.is_subgroup() => return self.subgroup(inst),
            // A continuation has parameters instead of queries, and ends at a barrier.
            Op::Query { .. } | Op::Barrier(_) => return Err(bug("a query or a barrier is left")),
            _ => {}
        }
        let Some(result) = data.result else { return Ok(()) };
        // A value that no path reaches is emitted like a uniform one: something must stand for it.
        let wide = match self.item.shapes.of(result) {
            Shape::Uniform | Shape::Unknown => match self.clone_scalar(inst)? {
                Some(v) => VecValue::Uniform(v),
                None => return Ok(()),
            },
            Shape::Strided { by, .. } => self.strided(inst, by)?,
            Shape::Varying => {
                let lanes = self.lanewise(inst)?;
                // Remembered by its vector, as `all_on` is asked about masks.
                let compare = if self.manager.is_on(passes::SCALAR_MASK) { self.strided_compare(inst)? } else { None };
                self.masks.strided_compares.extend(compare.map(|compare| (lanes[0], compare)));
                VecValue::Varying(lanes)
            }
        };
        self.set(result, wide);
        Ok(())
    }

    /// The clock: read once for all lanes, which are there at the same time.
    fn clock(&mut self, inst: Inst) -> Result<(), Stop> {
        let Some((time, result)) = self.clone_scalar(inst)?.zip(self.item.func.insts[inst].result) else {
            return Ok(());
        };
        let lanes = self.materialise(&VecValue::Uniform(time));
        self.set(result, VecValue::Varying(lanes));
        Ok(())
    }

    /// A report of a refused access: the first active lane speaks for all, as its record holds one.
    fn report(&mut self, inst: Inst) -> Result<(), Stop> {
        let data = &self.item.func.insts[inst];
        let operands: Vec<VecValue> = data.args.iter().map(|&a| self.exact(a)).collect::<Result<_, _>>()?;
        let mut lane = self.b().iconst(Type::I64, 0);
        let mut end = None;
        if self.masks.current.is_some() {
            let mask = self.mask_value(self.masks.current);
            let bits = self.b().ballot(mask);
            let any = self.b().icmp(IntCc::Ne, bits, lane);
            let (from, some, after) = (self.cur, self.new_block(), self.new_block());
            self.b().term(Term::Branch { cond: any, then: Edge::new(some, []), els: Edge::new(after, []) });
            self.ssa.seal(self.func, some, vec![from]);
            // The other edge brings no other values of variables.
            self.ssa.seal(self.func, after, vec![from]);
            self.cur = some;
            lane = self.b().unary(UnOp::Ctz, bits);
            end = Some(after);
        }
        let args = operands.iter().map(|o| self.lane_at(o, lane)).collect();
        self.b().push(Op::Report, args, None, data.flags);
        if let Some(after) = end {
            self.b().term(Term::Jump(Edge::new(after, [])));
            self.cur = after;
        }
        Ok(())
    }

    /// Emits the instruction on lane 0 of its operands.
    pub(super) fn clone_scalar(&mut self, inst: Inst) -> Result<Option<Value>, Stop> {
        let data = &self.item.func.insts[inst];
        // What such a condition guards pays only if all lanes are on (a long strip of row loads, say): false is the
        // better answer under a mask.
        if data.flags.contains(Flags::ASSUME_FALSE_OK) && self.masks.current.is_some() {
            return Ok(Some(self.b().iconst(Type::I1, 0)));
        }
        // Of strided operands, lane 0: a sum of bases is the base of the sum.
        let args: Args = data.args.iter().map(|&a| self.base(a)).collect::<Result<_, _>>()?;
        let ty = data.result.map(|r| self.item.func.ty(r));
        Ok(self.b().push(data.op.clone(), args, ty, data.flags - Flags::ASSUME_FALSE_OK))
    }

    fn strided(&mut self, inst: Inst, by: i64) -> Result<VecValue, Stop> {
        let func = &self.item.func;
        let data = &func.insts[inst];
        let mut cond = None;
        // The stride of a result holds where those of all operands do.
        for &a in &data.args {
            if let VecValue::Strided { cond: Some(c), .. } = self.get(a)? {
                cond = Some(self.and(cond, c));
            }
        }
        let result = data.result.map_or(Type::I64, |r| func.ty(r));
        if let Op::Cast(op @ (CastOp::Sext | CastOp::Zext)) = data.op {
            let from = data.args[0];
            // Even an operand with a checked stride may wrap here. Where the check holds, no lane wraps, so lane 0 is
            // exact whether it is active or not.
            if data.result.is_some_and(|r| matches!(self.item.shapes.of(r), Shape::Strided { checked: true, .. })) {
                let signed = op == CastOp::Sext;
                if !self.is_clamped(from, signed) {
                    let check = self.no_wrap(from, by, signed)?;
                    cond = Some(self.and(cond, check));
                }
                let narrow = self.base(from)?;
                let base = self.b().cast(op, narrow, result);
                return Ok(VecValue::Strided { base, by, cond });
            }
            // Here the stride rests on a promise or a bound, not on a check. A promise says nothing of lane 0 where it
            // is off.
            let base = self.wide_base(from, op, result, MAX_EXTEND_DEPTH)?;
            return Ok(VecValue::Strided { base, by, cond });
        }
        // A division whose operands are all uniform or of a checked stride 0 is done on lane 0 alone, like any
        // operation.
        let has_strided_operand =
            data.args.iter().any(|&a| matches!(self.item.shapes.of(a), Shape::Strided { by, .. } if by != 0));
        match data.op {
            Op::Binary(BinOp::Udiv | BinOp::Sdiv | BinOp::Lshr | BinOp::Ashr) if has_strided_operand => {
                self.quotient(inst, cond)
            }
            // With a stride of 0, minimum and remainder of lane 0 are those of all lanes where the operands' checks
            // hold.
            Op::Binary(op @ (BinOp::Smin | BinOp::Smax | BinOp::Umin | BinOp::Umax)) if by != 0 => {
                self.clamped(op, [data.args[0], data.args[1]], by, cond)
            }
            Op::Binary(BinOp::Urem | BinOp::Srem | BinOp::And) if by != 0 => self.remainder(inst, by, cond),
            _ => {
                let base = self.clone_scalar(inst)?.ok_or(bug("an instruction has no result"))?;
                Ok(VecValue::Strided { base, by, cond })
            }
        }
    }

    /// Lane 0 of an extended value, from its operands as far as these have no-wrap flags: it is then exact for every
    /// active lane, even if lane 0 itself is inactive and wraps.
    ///
    /// Its operands are extended also where all lanes are active, as some of them may be loop-invariant; but not if one
    /// is a loop counter, whose extension would be one more recurrence. (A transpose in tiles, `y * width + x` with a
    /// loop for each: a fifth slower with the operands extended.)
    fn wide_base(&mut self, v: Value, op: CastOp, to: Type, depth: u32) -> Result<Value, Stop> {
        if self.adds_counter(v, op, depth) {
            return self.wide_base_as_is(v, op, to);
        }
        let func = &self.item.func;
        let no_wrap_flag = no_wrap_flag(op);
        if let Some(i) = func.def_inst(v)
            && depth > 0
            && !self.item.shapes.is_uniform(v)
        {
            let data = &func.insts[i];
            if let Op::Binary(bin @ (BinOp::Add | BinOp::Sub | BinOp::Mul)) = data.op
                && data.flags.contains(no_wrap_flag)
            {
                let a = self.wide_base(data.args[0], op, to, depth - 1)?;
                let b = self.wide_base(data.args[1], op, to, depth - 1)?;
                // Without a flag: the wide sum is right for the lanes that are on, and for lane 0 nothing is promised.
                return Ok(self.b().binary(bin, a, b));
            }
            // A uniform select. (If-conversion may have moved operands to where more lanes are active.)
            if data.op == Op::Select && self.item.shapes.is_uniform(data.args[0]) {
                let a = self.wide_base(data.args[1], op, to, depth - 1)?;
                let b = self.wide_base(data.args[2], op, to, depth - 1)?;
                let cond = self.base(data.args[0])?;
                return Ok(self.b().select(cond, a, b));
            }
        }
        self.wide_base_as_is(v, op, to)
    }

    /// Lane 0 of an extended value that is not taken apart.
    fn wide_base_as_is(&mut self, v: Value, op: CastOp, to: Type) -> Result<Value, Stop> {
        let base = self.base(v)?;
        match (self.item.shapes.of(v), self.masks.current) {
            // Lane 0 is on in the mask that the code starts with.
            (Shape::Strided { by, .. }, Some(mask)) if Some(mask) != self.masks.entry && self.may_wrap_where_off(v) => {
                Ok(self.wide_base_from_first_on(base, by, mask, op, to))
            }
            // Lane 0 is on, or has not wrapped where it is off.
            _ => Ok(self.b().cast(op, base, to)),
        }
    }

    /// Whether a strided value is a sum of which an operand is a strided loop counter, as far as [`Self::wide_base`]
    /// takes it apart.
    fn adds_counter(&self, v: Value, op: CastOp, depth: u32) -> bool {
        let func = &self.item.func;
        if depth == 0 || self.item.shapes.is_uniform(v) {
            return false;
        }
        match func.values[v].def {
            ValueDef::Param(b, _) => self.item.loop_of.contains_key(&b),
            ValueDef::Inst(i) => {
                let data = &func.insts[i];
                matches!(data.op, Op::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul))
                    && data.flags.contains(no_wrap_flag(op))
                    && data.args.iter().any(|&a| self.adds_counter(a, op, depth - 1))
            }
        }
    }

    /// Whether lane 0 of a value that wraps in no active lane may have wrapped where it is inactive: block parameters
    /// and selects were computed in the narrow width.
    fn may_wrap_where_off(&self, v: Value) -> bool {
        let func = &self.item.func;
        match func.values[v].def {
            ValueDef::Param(b, _) => b != func.entry(),
            ValueDef::Inst(i) => {
                let may_wrap = [BinOp::Add, BinOp::Sub, BinOp::Mul].map(Op::Binary);
                func.insts[i].op == Op::Select || may_wrap.contains(&func.insts[i].op)
            }
        }
    }

    /// Lane 0 of an extended value, computed back from the first active lane, which has not wrapped.
    fn wide_base_from_first_on(&mut self, base: Value, by: i64, mask: Value, op: CastOp, to: Type) -> Value {
        let bits = self.b().ballot(mask);
        // If no lane is on, this is garbage that no access uses: each has the mask.
        let first = self.b().unary(UnOp::Ctz, bits);
        let by = self.b().iconst(Type::I64, by as u64);
        let distance = self.b().binary(BinOp::Mul, first, by);
        let narrow = self.func.ty(base);
        let (narrow_distance, wide_distance) = (self.low_bits(distance, narrow), self.low_bits(distance, to));
        // The first lane that is on is exact in the narrow type. Widened, its distance from lane 0 is taken away again.
        let first_on = self.b().binary(BinOp::Add, base, narrow_distance);
        let wide = self.b().cast(op, first_on, to);
        self.b().binary(BinOp::Sub, wide, wide_distance)
    }

    /// The low bits of a 64-bit integer.
    fn low_bits(&mut self, v: Value, ty: Type) -> Value {
        if ty == Type::I64 { v } else { self.b().cast(CastOp::Trunc, v, ty) }
    }

    /// Whether no lane of a strided value wraps, as a scalar.
    pub(super) fn no_wrap(&mut self, v: Value, by: i64, signed: bool) -> Result<Value, Stop> {
        let base = self.base(v)?;
        Ok(self.no_wrap_from(base, by, signed))
    }

    /// The same for a base.
    pub(super) fn no_wrap_from(&mut self, base: Value, by: i64, signed: bool) -> Value {
        let ty = self.func.ty(base);
        let span = by.unsigned_abs().saturating_mul(u64::from(self.lanes - 1));
        let mask = ty.scalar.mask();
        // The lanes of a narrow type may span more than its range.
        let Some(last) = mask.checked_sub(span) else { return self.b().iconst(Type::I1, 0) };
        let sign = (mask >> 1) + 1;
        // Biased by the sign bit, signed comparison becomes unsigned.
        let shifted = if signed {
            let bias = self.b().iconst(ty, sign);
            self.b().binary(BinOp::Add, base, bias)
        } else {
            base
        };
        // The last lane is at `base + span`, at most the largest number; or at `base - span`, at least 0.
        let (limit, cc) = if by >= 0 { (last, IntCc::Ule) } else { (span, IntCc::Uge) };
        let limit = self.b().iconst(ty, limit);
        self.b().icmp(cc, shifted, limit)
    }

    /// Emits an operation on all lanes of its operands.
    pub(super) fn lanewise(&mut self, inst: Inst) -> Result<Lanes, Stop> {
        let data = &self.item.func.insts[inst];
        let result = data.result.map_or(Type::I1, |r| self.item.func.ty(r));
        let from = data.args.first().map_or(result, |&a| self.item.func.ty(a));
        match &data.op {
            &Op::PureCall(callee) => self.pure_call(inst, callee),
            Op::Cast(CastOp::Bitcast) if from.lanes != result.lanes => {
                // A bitcast is as if through memory, where the components of one lane are side by side.
                let components = self.lanes(data.args[0])?;
                let interleaved = self.interleave(&components);
                let ty = Type::vector(result.scalar, result.lanes * self.lanes);
                let interleaved = self.b().cast(CastOp::Bitcast, interleaved, ty);
                Ok(self.deinterleave(interleaved, result.lanes))
            }
            Op::Extract => {
                let components = self.lanes(data.args[0])?;
                Ok(smallvec![self.extract_component(&components, data.args[1])?])
            }
            Op::Insert => {
                let mut components = self.lanes(data.args[0])?;
                let new = self.lane(data.args[2])?;
                let n = components.len() as u64;
                // Here an index is taken modulo the number of components, as everywhere in the IR.
                if let Some(k) = self.item.func.const_bits(data.args[1]) {
                    components[(k % n) as usize] = new;
                    return Ok(components);
                }
                let index = self.index_in(data.args[1], n)?;
                // Each lane may write to another component: all are candidates.
                for (k, component) in components.iter_mut().enumerate() {
                    let is_selected = self.is_index(index, k as u64);
                    *component = self.b().select(is_selected, new, *component);
                }
                Ok(components)
            }
            // Components are vectors of their own: to move them is to rename them, and emits nothing.
            Op::Shuffle(mask) => {
                let mut components = self.lanes(data.args[0])?;
                components.extend(self.lanes(data.args[1])?);
                Ok(mask.iter().map(|&m| components[usize::from(m)]).collect())
            }
            Op::Splat => {
                let component = self.lane(data.args[0])?;
                Ok(SmallVec::from_elem(component, usize::from(result.lanes)))
            }
            Op::Build => data.args.iter().map(|&a| self.lane(a)).collect(),
            Op::Binary(op @ (BinOp::Udiv | BinOp::Urem | BinOp::Sdiv | BinOp::Srem)) if !result.is_vector() => {
                let (x, d) = (data.args[0], data.args[1]);
                match self.get(d)? {
                    // LLVM turns a division by a constant into a multiplication.
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
                // A uniform scalar condition selects whole vectors.
                let mut operands = Vec::new();
                for &a in &data.args {
                    // The first operand only: the condition, for which `operands` is still empty.
                    let uniform_cond = data.op == Op::Select
                        && operands.is_empty()
                        && self.item.shapes.is_uniform(a)
                        && !self.item.func.ty(a).is_vector();
                    operands.push(if uniform_cond { smallvec![self.base(a)?] } else { self.lanes(a)? });
                }
                // The promises are for lanes that are on, and the vector has the others too.
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

    /// Division of all lanes by a uniform value. Vector units do not divide integers; but the divisor is often a
    /// power of two that is known at run time only, and then shifts and masks do.
    fn divide(&mut self, op: BinOp, x: Value, divisor: Value) -> Result<Lanes, Stop> {
        let x = self.lane(x)?;
        let (n, ty, wide) = (self.lanes, self.func.ty(divisor), self.func.ty(x));
        let mut b = self.b();
        let (zero, one) = (b.iconst(ty, 0), b.iconst(ty, 1));
        // `d & (d - 1)` clears the lowest set bit.
        let divisor_minus_one = b.binary(BinOp::Sub, divisor, one);
        let other_bits = b.binary(BinOp::And, divisor, divisor_minus_one);
        let has_one_bit = b.icmp(IntCc::Eq, other_bits, zero);
        // Zero has no bit set, and the minimum only its sign bit.
        let positive = b.icmp(IntCc::Sgt, divisor, zero);
        let is_power_of_two = b.binary(BinOp::And, has_one_bit, positive);
        let shifted = move |w: &mut Self| {
            let mut b = w.b();
            let low = b.splat(divisor_minus_one, n);
            let amount = b.unary(UnOp::Ctz, divisor);
            let amount = b.splat(amount, n);
            // Division rounds toward zero: negative values are biased first.
            let signed = matches!(op, BinOp::Sdiv | BinOp::Srem);
            let bias = signed.then(|| {
                let bits = b.iconst(wide, u64::from(wide.scalar.bits() - 1));
                let sign = b.binary(BinOp::Ashr, x, bits);
                b.binary(BinOp::And, sign, low)
            });
            // `-7 / 4`: the bias is 3, and `(-7 + 3) >> 2` is -1; without it the shift would give -2.
            let biased = bias.map_or(x, |bias| b.binary(BinOp::Add, x, bias));
            Ok(smallvec![match op {
                BinOp::Udiv => b.binary(BinOp::Lshr, x, amount),
                BinOp::Urem => b.binary(BinOp::And, x, low),
                BinOp::Sdiv => b.binary(BinOp::Ashr, biased, amount),
                _ => {
                    let rest = b.binary(BinOp::And, biased, low);
                    bias.map_or(rest, |bias| b.binary(BinOp::Sub, rest, bias))
                }
            }])
        };
        let divided = move |w: &mut Self| {
            let mut b = w.b();
            let d = b.splat(divisor, n);
            Ok(smallvec![b.binary(op, x, d)])
        };
        self.if_else_lanes(is_power_of_two, ty, shifted, divided)
    }

    /// Component `index` of a short vector.
    fn extract_component(&mut self, components: &Lanes, index: Value) -> Result<Value, Stop> {
        let n = components.len() as u64;
        if let Some(k) = self.item.func.const_bits(index) {
            return Ok(components[(k % n) as usize]);
        }
        let index = self.index_in(index, n)?;
        // A tree: each bit of the index halves what is left to choose from.
        let mut left = components.to_vec();
        for bit in 0.. {
            if left.len() == 1 {
                break;
            }
            // The index is below `n`, so that no bit above the last one is set, and a comparison tests that bit.
            let is_last = left.len() == 2;
            let is_set = self.is_bit_set(index, bit, is_last);
            left = left
                .chunks(2)
                .map(|pair| match *pair {
                    [even, odd] => self.b().select(is_set, odd, even),
                    _ => pair[0],
                })
                .collect();
        }
        Ok(left[0])
    }

    /// Whether an index has a bit; `is_highest`: it has none above.
    fn is_bit_set(&mut self, index: Value, bit: u32, is_highest: bool) -> Value {
        let ty = self.func.ty(index);
        let b = &mut self.b();
        let mask = b.iconst(ty, 1 << bit);
        if is_highest {
            return b.icmp(IntCc::Uge, index, mask);
        }
        let masked = b.binary(BinOp::And, index, mask);
        let zero = b.iconst(ty, 0);
        b.icmp(IntCc::Ne, masked, zero)
    }

    /// An index modulo a number of components: a scalar if it is uniform, else lanes.
    fn index_in(&mut self, index: Value, n: u64) -> Result<Value, Stop> {
        let index = if self.item.shapes.is_uniform(index) { self.base(index)? } else { self.lane(index)? };
        let ty = self.func.ty(index);
        // The modulus does not fit in the type (2 in an `i1`), so that every index is below it.
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

    /// Interleaves components: lane-major, as they are in memory.
    pub(super) fn interleave(&mut self, components: &[Value]) -> Value {
        if let [only] = *components {
            return only;
        }
        if let Some(interleaved) = self.interleaved_of(components) {
            return interleaved;
        }
        let (n, w) = (components.len() as u16, self.lanes);
        let interleaved = self.concat(components);
        // Element `l * n + c` of the result is lane `l` of component `c`.
        let mask: Vec<u16> = (0..w).flat_map(|l| (0..n).map(move |c| c * w + l)).collect();
        self.b().shuffle(interleaved, interleaved, &mask)
    }

    /// Concatenates vectors, by a tree of shuffles.
    pub(super) fn concat(&mut self, vectors: &[Value]) -> Value {
        let mut level: Vec<Value> = vectors.to_vec();
        let width = |f: &cloom_ir::Function, v: Value| f.ty(v).lanes;
        while level.len() > 1 {
            let mut next = Vec::new();
            for pair in level.chunks(2) {
                let a = pair[0];
                let b = *pair.get(1).unwrap_or(&a);
                let (wa, wb) = (width(self.func, a), width(self.func, b));
                let (a, b) = (self.pad(a, wa.max(wb)), self.pad(b, wa.max(wb)));
                let wide = wa.max(wb);
                // The padding is never selected, so that it may be anything.
                let mask: Vec<u16> =
                    if pair.len() == 2 { (0..wa).chain(wide..wide + wb).collect() } else { (0..wa).collect() };
                next.push(self.b().shuffle(a, b, &mask));
            }
            level = next;
        }
        level[0]
    }

    /// Extends a vector to more lanes; the new ones are copies of lane 0.
    fn pad(&mut self, v: Value, lanes: u16) -> Value {
        let have = self.func.ty(v).lanes;
        if have == lanes {
            return v;
        }
        let mask: Vec<u16> = (0..lanes).map(|l| if l < have { l } else { 0 }).collect();
        self.b().shuffle(v, v, &mask)
    }

    /// Deinterleaves lane-major components.
    pub(super) fn deinterleave(&mut self, interleaved: Value, n: u16) -> Lanes {
        if n == 1 {
            return smallvec![interleaved];
        }
        (0..n)
            .map(|c| {
                let mask: Vec<u16> = (0..self.lanes).map(|l| l * n + c).collect();
                self.b().shuffle(interleaved, interleaved, &mask)
            })
            .collect()
    }

    /// The index of the last active lane.
    pub(super) fn last_lane(&mut self, mask: Value) -> Value {
        let bits = self.b().ballot(mask);
        let zeros = self.b().unary(UnOp::Clz, bits);
        // A ballot has 64 bits whatever the number of lanes, and a lane is on: a store at a uniform address has a
        // guard.
        let top = self.b().iconst(Type::I64, 63);
        self.b().binary(BinOp::Sub, top, zeros)
    }

    /// Repeats each lane of a mask `n` times, for interleaved short vectors.
    pub(super) fn repeat_mask(&mut self, mask: Value, n: u16) -> Value {
        if n == 1 {
            return mask;
        }
        let order: Vec<u16> = (0..self.lanes * n).map(|k| k / n).collect();
        self.b().shuffle(mask, mask, &order)
    }
}

/// The promise that a value does not wrap, read as this extension reads it.
fn no_wrap_flag(op: CastOp) -> Flags {
    if op == CastOp::Sext { Flags::NSW } else { Flags::NUW }
}
