//! Narrowing: integers of 32 or 64 bits that need only 16 are computed in 16, as a vector register holds twice as
//! many.
//!
//! In comes the analysed function of one work-item; out goes, if it is profitable, one with narrower arithmetic and
//! the same results.
//!
//! ```c
//! uint4 p = convert_uint4(as_uchar4(pixel));   // 0 to 255
//! p = min(p + p / 16 + 1, 255u);               // intermediate values 0 to 271
//! out[i] = as_uint(convert_uchar4(p));
//! ```
//!
//! C's integer promotions compute in `int` at least, whatever the data are. A narrow value is the low 16 bits of the
//! wide one. Additions, multiplications and the like need only the low bits of their operands (demanded bits).
//! Operations that read high bits (right shifts, divisions, comparisons) need operands that fit in 16 bits, as
//! [`crate::analysis::ranges`] proves; so do values that are used in full elsewhere. The candidates form webs,
//! connected by use; a web is narrowed if its arithmetic saves more than the conversions at its borders cost.

mod write;

use crate::analysis::input::{FunctionContext, Rewrite, VectorInput};
use crate::analysis::loop_form::Unspecified;
use crate::analysis::ranges::{Range, Ranges};
use crate::analysis::shape::Shape;
use cloom_ir::{BinOp, Block, CastOp, Entity, Inst, InstData, Op, Scalar, Span, Term, Type, UnOp, Value};
use rustc_hash::FxHashMap;
use write::Writer;

/// The range of unsigned 16-bit integers.
const UNSIGNED: Range = Range { low: 0, high: 0xffff };
/// The range of signed 16-bit integers.
const SIGNED: Range = Range { low: -0x8000, high: 0x7fff };

/// The least gain of a web, in operations on 32-bit lanes.
const MIN_GAIN: i64 = 4;

/// The cost of a conversion between 32 and 16 bits: as much as two operations on 32-bit lanes.
const CONVERSION: i64 = 2;

/// The narrowed function, if there is anything to narrow.
pub fn run(item: &VectorInput, around: &FunctionContext<'_>) -> Option<Rewrite> {
    let mut search = Search::new(item, &around.bounds, &item.unspecified);
    // First what can be narrow, then which of it gains: a web is priced as a whole.
    search.prune();
    let mut spans = Vec::new();
    search.choose(&mut spans);
    if spans.is_empty() {
        return None;
    }
    let wide = item.func.values.values().map(|v| v.ty).collect();
    let (narrow, signed, ops) = (search.narrow, search.signed, search.ops);
    let constants = FxHashMap::default();
    let mut unspecified = item.unspecified.clone();
    let mut w = Writer { func: item.func.clone(), wide, narrow, signed, ops, constants, unspecified: &mut unspecified };
    w.write();
    let func = w.func;
    Some(Rewrite { func, unspecified, changes: spans })
}

/// What a narrow operation needs of its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Needs {
    /// Only their low bits.
    Low,
    /// That they fit as unsigned 16-bit integers.
    Unsigned,
    /// That they fit as signed 16-bit integers.
    Signed,
}

/// Whether a value's elements are integers of 32 or 64 bits.
fn is_wide(ty: Type) -> bool {
    matches!(ty.scalar, Scalar::I32 | Scalar::I64)
}

/// The operands that become narrow with the result of an instruction.
fn data_args(op: &Op, args: usize) -> std::ops::Range<usize> {
    match op {
        Op::Select => 1..3,
        Op::Extract => 0..1,
        Op::Const(_) => 0..0,
        _ => 0..args,
    }
}

/// Whether an operand is a component index, which stays as it is.
fn is_index(op: &Op, k: usize) -> bool {
    matches!(op, Op::Insert) && k == 1
}

struct Search<'a> {
    item: &'a VectorInput,
    ranges: Ranges,
    /// Values that become narrow.
    narrow: Vec<bool>,
    /// Narrow values that are sign-extended where they are used in full; others are zero-extended.
    signed: Vec<bool>,
    /// The operations and comparisons that become narrow, with what they need.
    ops: FxHashMap<Inst, Needs>,
    unspecified: &'a Unspecified,
}

impl<'a> Search<'a> {
    fn new(item: &'a VectorInput, bounds: &[u64], unspecified: &'a Unspecified) -> Search<'a> {
        let func = &item.func;
        let ranges = Ranges::new(func, &item.cfg, bounds, unspecified);
        let n = func.values.len();
        let (narrow, signed, ops) = (vec![false; n], vec![false; n], FxHashMap::default());
        let mut s = Search { item, ranges, narrow, signed, ops, unspecified };
        for &b in item.cfg.rpo() {
            let params = func.blocks[b].params.iter().filter(|_| b != func.entry());
            params.for_each(|&p| s.narrow[p.index()] = s.is_candidate(p));
            for &i in &func.blocks[b].insts {
                if let Some(r) = func.insts[i].result {
                    // Optimistic: all that could be narrow if its neighbours were. `prune` takes away what cannot.
                    s.narrow[r.index()] = s.is_candidate(r) && s.needs(i).is_some();
                }
            }
        }
        s
    }

    fn is_candidate(&self, v: Value) -> bool {
        is_wide(self.item.func.ty(v)) && self.item.shapes.of(v) == Shape::Varying && !self.unspecified.contains(&v)
    }

    fn is_narrow(&self, v: Value) -> bool {
        self.narrow[v.index()]
    }

    fn fits(&self, v: Value, range: Range) -> bool {
        self.ranges.of(&self.item.func, v).is_in(range)
    }

    /// Whether a narrow value can be extended to the full value again.
    fn can_be_extended(&self, v: Value) -> bool {
        self.fits(v, UNSIGNED) || self.fits(v, SIGNED)
    }

    /// What an instruction needs of its operands to be computed in 16 bits; `None` if it cannot be.
    fn needs(&self, i: Inst) -> Option<Needs> {
        let func = &self.item.func;
        let data = &func.insts[i];
        // Shifts take their amount modulo the width, which becomes 16.
        let amount = || func.const_bits(data.args[1]).is_some_and(|k| k < 16);
        let both = |range: Range| data.args.iter().all(|&a| self.fits(a, range));
        Some(match &data.op {
            Op::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor) => Needs::Low,
            Op::Unary(UnOp::Not) | Op::Select | Op::Splat | Op::Build | Op::Extract | Op::Insert | Op::Shuffle(_) => {
                Needs::Low
            }
            Op::Binary(BinOp::Shl) if amount() => Needs::Low,
            Op::Binary(BinOp::Lshr) if amount() && self.fits(data.args[0], UNSIGNED) => Needs::Unsigned,
            // A number up to 0xffff is not negative in 32 bits, but would be in 16: so the shift becomes a logical one.
            Op::Binary(BinOp::Ashr) if amount() && self.fits(data.args[0], UNSIGNED) => Needs::Unsigned,
            Op::Binary(BinOp::Ashr) if amount() && self.fits(data.args[0], SIGNED) => Needs::Signed,
            Op::Binary(BinOp::Udiv | BinOp::Urem | BinOp::Umin | BinOp::Umax) if both(UNSIGNED) => Needs::Unsigned,
            Op::Binary(BinOp::Sdiv | BinOp::Srem | BinOp::Smin | BinOp::Smax) if both(UNSIGNED) => Needs::Unsigned,
            Op::Binary(BinOp::Smin | BinOp::Smax) if both(SIGNED) => Needs::Signed,
            Op::Cast(CastOp::Trunc) => Needs::Low,
            // It extends to 16 bits instead, or not at all.
            Op::Cast(CastOp::Zext | CastOp::Sext) if func.ty(data.args[0]).scalar.bits() <= 16 => Needs::Low,
            Op::Cast(CastOp::Zext) if self.fits(data.args[0], UNSIGNED) => Needs::Unsigned,
            Op::Cast(CastOp::Sext) => Needs::Low,
            _ => return None,
        })
    }

    /// Removes, to a fixed point, candidates that are needed in full but do not fit. Users are visited before
    /// definitions, so that a chain takes one sweep.
    fn prune(&mut self) {
        let func = &self.item.func;
        let mut again = true;
        while std::mem::take(&mut again) {
            for &b in self.item.cfg.rpo().iter().rev() {
                let term = &func.blocks[b].term;
                for e in term.edges() {
                    for (&p, &a) in func.blocks[e.block].params.iter().zip(&e.args) {
                        // A parameter that stays wide needs its arguments in full.
                        if !self.is_narrow(p) {
                            again |= self.remove_unless_extendable(a);
                        }
                    }
                }
                if let Term::Return(Some(v)) = *term {
                    again |= self.remove_unless_extendable(v);
                }
                for &i in func.blocks[b].insts.iter().rev() {
                    let data = &func.insts[i];
                    for (k, &a) in data.args.iter().enumerate() {
                        if self.is_narrow(a) && !self.reads_only_low(data, k) {
                            again |= self.remove_unless_extendable(a);
                        }
                    }
                }
            }
        }
    }

    /// The value is needed in full: removes it unless it can be extended. Returns whether that changes anything.
    fn remove_unless_extendable(&mut self, v: Value) -> bool {
        let changes = self.is_narrow(v) && !self.can_be_extended(v);
        if changes {
            self.narrow[v.index()] = false;
        }
        changes
    }

    /// Whether an instruction, with the present candidates, reads only the low 16 bits of an operand.
    fn reads_only_low(&self, data: &InstData, k: usize) -> bool {
        let Some(r) = data.result else { return false };
        let to = self.item.func.ty(r).scalar.bits();
        match data.op {
            Op::Cast(CastOp::Trunc) if to <= 16 => true,
            _ => self.is_narrow(r) && data_args(&data.op, data.args.len()).contains(&k) && !is_index(&data.op, k),
        }
    }

    /// What a comparison needs to become one of 16 bits, if it can.
    fn compare(&self, data: &InstData) -> Option<Needs> {
        let Op::Icmp(_) = data.op else { return None };
        let all = |range: Range| data.args.iter().all(|&a| self.fits(a, range));
        let constant = |a: Value| self.item.func.const_bits(a).is_some();
        let narrow =
            data.args.iter().any(|&a| self.is_narrow(a)) && data.args.iter().all(|&a| self.is_narrow(a) || constant(a));
        match narrow {
            true if all(UNSIGNED) => Some(Needs::Unsigned),
            true if all(SIGNED) => Some(Needs::Signed),
            _ => None,
        }
    }

    /// Keeps the profitable webs.
    fn choose(&mut self, spans: &mut Vec<Span>) {
        let func = &self.item.func;
        let mut webs = Webs::new(func.values.len());
        for &b in self.item.cfg.rpo() {
            for &i in &func.blocks[b].insts {
                let data = &func.insts[i];
                if let Some(r) = data.result.filter(|&r| self.is_narrow(r)) {
                    data.args.iter().filter(|&&a| self.is_narrow(a)).for_each(|&a| webs.join(r, a));
                } else if self.compare(data).is_some() {
                    // A comparison has operands of one width, so that they are narrowed together or not at all.
                    let mut both = data.args.iter().filter(|&&a| self.is_narrow(a));
                    if let (Some(&x), Some(&y)) = (both.next(), both.next()) {
                        webs.join(x, y);
                    }
                }
            }
            for e in func.blocks[b].term.edges() {
                for (&p, &a) in func.blocks[e.block].params.iter().zip(&e.args) {
                    if self.is_narrow(p) && self.is_narrow(a) {
                        webs.join(p, a);
                    }
                }
            }
        }
        let mut gains: FxHashMap<Value, (i64, Span)> = FxHashMap::default();
        let mut extended = vec![false; func.values.len()];
        let masks = self.masks();
        for &b in self.item.cfg.rpo() {
            // The gain of a web is the sum over its values: it is narrowed as a whole, as a border inside would cost
            // conversions.
            for (v, gain, span) in self.gains(b, &mut extended, &masks) {
                let entry = gains.entry(webs.of(v)).or_insert((0, span));
                entry.0 += gain;
                if entry.1 == Span::NONE {
                    entry.1 = span;
                }
            }
        }
        let is_profitable = |webs: &mut Webs, v: Value| gains.get(&webs.of(v)).is_some_and(|g| g.0 >= MIN_GAIN);
        for v in func.values.keys() {
            if self.narrow[v.index()] {
                self.narrow[v.index()] = is_profitable(&mut webs, v);
                // Where a narrow value is needed in full, its range says which extension gives it back.
                self.signed[v.index()] = !self.fits(v, UNSIGNED);
            }
        }
        for &i in self.item.cfg.rpo().iter().flat_map(|&b| &func.blocks[b].insts) {
            let narrow = func.insts[i].result.is_some_and(|r| self.is_narrow(r));
            let needs = if narrow { self.needs(i) } else { self.compare(&func.insts[i]) };
            self.ops.extend(needs.map(|needs| (i, needs)));
        }
        // Sorted, as the order of a hash map is not that of the source.
        let mut web_spans: Vec<Span> = gains.values().filter(|g| g.0 >= MIN_GAIN).map(|g| g.1).collect();
        web_spans.sort();
        web_spans.dedup();
        spans.extend(web_spans);
    }

    /// The masks that are used for more than selects of narrow values: they meet masks of wider lanes.
    fn masks(&self) -> Vec<bool> {
        let func = &self.item.func;
        let mut mixed = vec![false; func.values.len()];
        let mut mark = |v: Value| mixed[v.index()] |= func.ty(v).scalar == Scalar::I1;
        for &b in self.item.cfg.rpo() {
            for data in func.blocks[b].insts.iter().map(|&i| &func.insts[i]) {
                // A mask that only selects narrow values has narrow lanes throughout.
                let narrow = data.op == Op::Select && data.result.is_some_and(|r| self.is_narrow(r));
                data.args.iter().skip(usize::from(narrow)).copied().for_each(&mut mark);
            }
            func.blocks[b].term.for_each_use(&mut mark);
        }
        mixed
    }

    /// Gain or cost of each narrow value in a block, with its source position.
    fn gains(&self, b: Block, extended: &mut [bool], masks: &[bool]) -> Vec<(Value, i64, Span)> {
        let func = &self.item.func;
        let mut list = Vec::new();
        let lanes = |v: Value| i64::from(func.ty(v).lanes);
        let mut extend = |list: &mut Vec<(Value, i64, Span)>, v: Value| {
            // Counted once, where it is first needed. Other blocks may have one of their own.
            if self.is_narrow(v) && !std::mem::replace(&mut extended[v.index()], true) {
                list.push((v, -CONVERSION * lanes(v) * self.times(b), Span::NONE));
            }
        };
        // Uniform values are truncated once, as scalars. Of a strided one the base is, and lanes are made of that.
        let truncation_cost = |a: Value| match self.item.shapes.of(a) {
            Shape::Varying if is_wide(func.ty(a)) => CONVERSION,
            Shape::Strided { .. } => 1,
            _ => 0,
        };
        for &i in &func.blocks[b].insts {
            let data = &func.insts[i];
            if let Some(r) = data.result.filter(|&r| self.is_narrow(r)) {
                // The registers that a wide vector takes beyond those of a narrow one, for each operation.
                let wide = i64::from(func.ty(r).scalar.bits() / 16) - 1;
                let gain = match data.op {
                    Op::Binary(BinOp::Mul) => 3,
                    Op::Binary(BinOp::Udiv | BinOp::Urem | BinOp::Sdiv | BinOp::Srem) => 8,
                    Op::Binary(_) | Op::Unary(_) | Op::Select => wide,
                    // From bytes to 16 bits instead of 32: half as many registers come out.
                    Op::Cast(_) if func.ty(data.args[0]).scalar.bits() < 16 => 1,
                    _ => 0,
                };
                let borders = data_args(&data.op, data.args.len()).filter(|&k| !is_index(&data.op, k));
                let outside = borders.map(|k| data.args[k]).filter(|&a| !self.is_narrow(a));
                let cost: i64 =
                    outside.filter(|&a| func.const_bits(a).is_none()).map(|a| truncation_cost(a) * lanes(a)).sum();
                list.push((r, (gain * lanes(r) - cost) * self.times(b), data.span));
                continue;
            }
            let small = data.result.is_some_and(|r| func.ty(r).scalar.bits() <= 16);
            match data.op {
                Op::Cast(CastOp::Trunc) if small && self.is_narrow(data.args[0]) => {
                    // The truncation is no longer needed.
                    list.push((data.args[0], lanes(data.args[0]) * self.times(b), data.span));
                }
                Op::Icmp(_) if self.compare(data).is_some() => {
                    let v = data.args.iter().copied().find(|&a| self.is_narrow(a));
                    // A comparison of 16 bits gives a mask of narrow lanes, which must be widened to meet one of wider
                    // lanes.
                    let meets = data.result.is_some_and(|r| masks[r.index()]);
                    let gain = if meets { -CONVERSION } else { 1 };
                    list.extend(v.map(|v| (v, gain * lanes(v) * self.times(b), data.span)));
                }
                // Any other instruction needs its operands in full.
                _ => data.args.iter().for_each(|&a| extend(&mut list, a)),
            }
        }
        for e in func.blocks[b].term.edges() {
            for (&p, &a) in func.blocks[e.block].params.iter().zip(&e.args) {
                match (self.is_narrow(p), self.is_narrow(a)) {
                    (false, true) => extend(&mut list, a),
                    (true, false) if func.const_bits(a).is_none() && !self.unspecified.contains(&a) => {
                        list.push((p, -truncation_cost(a) * lanes(a) * self.times(b), Span::NONE));
                    }
                    _ => {}
                }
            }
        }
        if let Term::Return(Some(v)) = func.blocks[b].term {
            extend(&mut list, v);
        }
        list
    }

    fn times(&self, b: Block) -> i64 {
        self.item.times(b) as i64
    }
}

/// Webs: disjoint sets of connected values (union-find).
struct Webs {
    parent: Vec<usize>,
}

impl Webs {
    fn new(n: usize) -> Webs {
        Webs { parent: (0..n).collect() }
    }

    fn find(&mut self, mut at: usize) -> usize {
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    fn of(&mut self, v: Value) -> Value {
        Value::new(self.find(v.index()))
    }

    fn join(&mut self, a: Value, b: Value) {
        let (a, b) = (self.find(a.index()), self.find(b.index()));
        self.parent[a] = b;
    }
}
