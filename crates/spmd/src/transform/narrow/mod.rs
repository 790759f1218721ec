//! Integers of 32 or 64 bits that need only 16, done in 16: a vector register holds twice as many of these.
//!
//! In comes the analysed function of one work-item; out goes, if it pays, one with narrower arithmetic and the same
//! results.
//!
//! ```c
//! uint4 p = convert_uint4(as_uchar4(pixel));   // 0 to 255
//! p = min(p + p / 16 + 1, 255u);               // 0 to 271 on the way
//! out[i] = as_uint(convert_uchar4(p));
//! ```
//!
//! C computes in `int` at least, whatever the data are. A narrow value is the low 16 bits of the wide one. Sums,
//! products and the like need no more of their operands; what looks at high bits (shifts to the right, divisions,
//! comparisons) must have operands that fit, as [`crate::analysis::ranges`] tells, and so must be what is used in full
//! elsewhere. What is left hangs together in webs, by use; a web is made narrow if its arithmetic saves more than the
//! conversions at its borders cost.

mod write;

use crate::analysis::ranges::{Range, Ranges};
use crate::analysis::shape::Shape;
use crate::emit::widen::{Surroundings, VectorInput};
use crate::transform::Rewrite;
use crate::transform::canonicalize::Unspecified;
use cloom_ir::{BinOp, Block, CastOp, Entity, Inst, InstData, Op, Scalar, Span, Term, Type, UnOp, Value};
use rustc_hash::FxHashMap;
use write::Writer;

/// What unsigned numbers of 16 bits can be,
const UNSIGNED: Range = Range { low: 0, high: 0xffff };
/// and signed ones.
const SIGNED: Range = Range { low: -0x8000, high: 0x7fff };

/// The least number of operations that a web must save: less is not worth the other code.
const LEAST: i64 = 4;

/// What a conversion of 32 bits to 16 costs, or back: what two operations on registers of elements of 32 bits do.
const CONVERSION: i64 = 2;

/// The function with narrow arithmetic, if there is some, and where in the source it begins.
pub fn run(item: &VectorInput, around: &Surroundings<'_>) -> Option<Rewrite> {
    let mut search = Search::new(item, &around.bounds, &item.unspecified);
    search.prune();
    let mut places = Vec::new();
    search.choose(&mut places);
    if places.is_empty() {
        return None;
    }
    let wide = item.func.values.values().map(|v| v.ty).collect();
    let (narrow, signed, ops) = (search.narrow, search.signed, search.ops);
    let made = FxHashMap::default();
    let mut unspecified = item.unspecified.clone();
    let mut w = Writer { func: item.func.clone(), wide, narrow, signed, ops, made, unspecified: &mut unspecified };
    w.write();
    let mut func = w.func;
    cloom_passes::dce::run(&mut func);
    Some(Rewrite { func, unspecified, changes: places })
}

/// What an operation needs of operands that become narrow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Needs {
    /// Only their low bits.
    Low,
    /// That they fit as unsigned numbers,
    Unsigned,
    /// or as signed ones.
    Signed,
}

/// Whether a value's elements are integers that could be narrower.
fn is_wide(ty: Type) -> bool {
    matches!(ty.scalar, Scalar::I32 | Scalar::I64)
}

/// Which operands of an instruction with a narrow result become narrow.
fn data_args(op: &Op, args: usize) -> std::ops::Range<usize> {
    match op {
        Op::Select => 1..3,
        Op::Extract => 0..1,
        Op::Const(_) => 0..0,
        _ => 0..args,
    }
}

/// Whether an operand is an index, which stays as it is.
fn is_index(op: &Op, k: usize) -> bool {
    matches!(op, Op::Insert) && k == 1
}

struct Search<'a> {
    item: &'a VectorInput,
    ranges: Ranges,
    /// Values that become narrow.
    narrow: Vec<bool>,
    /// Narrow values that are signed numbers where they are used in full.
    signed: Vec<bool>,
    /// Comparisons of narrow values, and operations on them, with what they need.
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
            params.for_each(|&p| s.narrow[p.index()] = s.may_be(p));
            for &i in &func.blocks[b].insts {
                if let Some(r) = func.insts[i].result {
                    s.narrow[r.index()] = s.may_be(r) && s.needs(i).is_some();
                }
            }
        }
        s
    }

    fn may_be(&self, v: Value) -> bool {
        is_wide(self.item.func.ty(v)) && self.item.shapes.of(v) == Shape::Varying && !self.unspecified.contains(&v)
    }

    fn is_narrow(&self, v: Value) -> bool {
        self.narrow[v.index()]
    }

    fn fits(&self, v: Value, range: Range) -> bool {
        self.ranges.of(&self.item.func, v).is_in(range)
    }

    /// Whether a value that is made narrow can be had in full again.
    fn is_whole(&self, v: Value) -> bool {
        self.fits(v, UNSIGNED) || self.fits(v, SIGNED)
    }

    /// What an instruction needs of its operands to be done in 16 bits; none: it cannot be.
    fn needs(&self, i: Inst) -> Option<Needs> {
        let func = &self.item.func;
        let data = &func.insts[i];
        let amount = || func.const_bits(data.args[1]).is_some_and(|k| k < 16);
        let both = |range: Range| data.args.iter().all(|&a| self.fits(a, range));
        Some(match &data.op {
            Op::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor) => Needs::Low,
            Op::Unary(UnOp::Not) | Op::Select | Op::Splat | Op::Build | Op::Extract | Op::Insert | Op::Shuffle(_) => {
                Needs::Low
            }
            Op::Binary(BinOp::Shl) if amount() => Needs::Low,
            Op::Binary(BinOp::Lshr) if amount() && self.fits(data.args[0], UNSIGNED) => Needs::Unsigned,
            Op::Binary(BinOp::Ashr) if amount() && self.fits(data.args[0], UNSIGNED) => Needs::Unsigned,
            Op::Binary(BinOp::Ashr) if amount() && self.fits(data.args[0], SIGNED) => Needs::Signed,
            Op::Binary(BinOp::Udiv | BinOp::Urem | BinOp::Umin | BinOp::Umax) if both(UNSIGNED) => Needs::Unsigned,
            Op::Binary(BinOp::Sdiv | BinOp::Srem | BinOp::Smin | BinOp::Smax) if both(UNSIGNED) => Needs::Unsigned,
            Op::Binary(BinOp::Smin | BinOp::Smax) if both(SIGNED) => Needs::Signed,
            Op::Cast(CastOp::Trunc) => Needs::Low,
            Op::Cast(CastOp::Zext | CastOp::Sext) if func.ty(data.args[0]).scalar.bits() <= 16 => Needs::Low,
            Op::Cast(CastOp::Zext) if self.fits(data.args[0], UNSIGNED) => Needs::Unsigned,
            Op::Cast(CastOp::Sext) => Needs::Low,
            _ => return None,
        })
    }

    /// Takes out, until nothing changes, what is needed in full but does not fit. Uses come before definitions, so that chains take one
    /// round.
    fn prune(&mut self) {
        let func = &self.item.func;
        let mut again = true;
        while std::mem::take(&mut again) {
            for &b in self.item.cfg.rpo().iter().rev() {
                let term = &func.blocks[b].term;
                for e in term.edges() {
                    for (&p, &a) in func.blocks[e.block].params.iter().zip(&e.args) {
                        if !self.is_narrow(p) {
                            again |= self.take_out(a);
                        }
                    }
                }
                if let Term::Return(Some(v)) = *term {
                    again |= self.take_out(v);
                }
                for &i in func.blocks[b].insts.iter().rev() {
                    let data = &func.insts[i];
                    for (k, &a) in data.args.iter().enumerate() {
                        if self.is_narrow(a) && !self.takes_low(data, k) {
                            again |= self.take_out(a);
                        }
                    }
                }
            }
        }
    }

    /// A value is needed in full. Says whether that changes something.
    fn take_out(&mut self, v: Value) -> bool {
        let changes = self.is_narrow(v) && !self.is_whole(v);
        if changes {
            self.narrow[v.index()] = false;
        }
        changes
    }

    /// Whether an instruction looks at no more than the low 16 bits of an operand, as things stand.
    fn takes_low(&self, data: &InstData, k: usize) -> bool {
        let Some(r) = data.result else { return false };
        let to = self.item.func.ty(r).scalar.bits();
        match data.op {
            Op::Cast(CastOp::Trunc) if to <= 16 => true,
            _ => self.is_narrow(r) && data_args(&data.op, data.args.len()).contains(&k) && !is_index(&data.op, k),
        }
    }

    /// Whether a comparison can be one of 16 bits, and of signed numbers then.
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

    /// Keeps the webs that pay.
    fn choose(&mut self, places: &mut Vec<Span>) {
        let func = &self.item.func;
        let mut webs = Webs::new(func.values.len());
        for &b in self.item.cfg.rpo() {
            for &i in &func.blocks[b].insts {
                let data = &func.insts[i];
                if let Some(r) = data.result.filter(|&r| self.is_narrow(r)) {
                    data.args.iter().filter(|&&a| self.is_narrow(a)).for_each(|&a| webs.join(r, a));
                } else if self.compare(data).is_some() {
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
        let mut whole = vec![false; func.values.len()];
        let masks = self.masks();
        for &b in self.item.cfg.rpo() {
            for (v, gain, span) in self.gains(b, &mut whole, &masks) {
                let entry = gains.entry(webs.of(v)).or_insert((0, span));
                entry.0 += gain;
                if entry.1 == Span::NONE {
                    entry.1 = span;
                }
            }
        }
        let pays = |webs: &mut Webs, v: Value| gains.get(&webs.of(v)).is_some_and(|g| g.0 >= LEAST);
        for v in func.values.keys() {
            if self.narrow[v.index()] {
                self.narrow[v.index()] = pays(&mut webs, v);
                self.signed[v.index()] = !self.fits(v, UNSIGNED);
            }
        }
        for &i in self.item.cfg.rpo().iter().flat_map(|&b| &func.blocks[b].insts) {
            let narrow = func.insts[i].result.is_some_and(|r| self.is_narrow(r));
            let needs = if narrow { self.needs(i) } else { self.compare(&func.insts[i]) };
            self.ops.extend(needs.map(|needs| (i, needs)));
        }
        let mut found: Vec<Span> = gains.values().filter(|g| g.0 >= LEAST).map(|g| g.1).collect();
        found.sort();
        found.dedup();
        places.extend(found);
    }

    /// Which masks are used for more than to choose between narrow values: these meet masks of other widths.
    fn masks(&self) -> Vec<bool> {
        let func = &self.item.func;
        let mut meet = vec![false; func.values.len()];
        let mut note = |v: Value| meet[v.index()] |= func.ty(v).scalar == Scalar::I1;
        for &b in self.item.cfg.rpo() {
            for data in func.blocks[b].insts.iter().map(|&i| &func.insts[i]) {
                let narrow = data.op == Op::Select && data.result.is_some_and(|r| self.is_narrow(r));
                data.args.iter().skip(usize::from(narrow)).copied().for_each(&mut note);
            }
            func.blocks[b].term.for_each_use(&mut note);
        }
        meet
    }

    /// What narrow values of a block gain or cost, with the place.
    fn gains(&self, b: Block, whole: &mut [bool], masks: &[bool]) -> Vec<(Value, i64, Span)> {
        let func = &self.item.func;
        let mut list = Vec::new();
        let lanes = |v: Value| i64::from(func.ty(v).lanes);
        let mut in_full = |list: &mut Vec<(Value, i64, Span)>, v: Value| {
            if self.is_narrow(v) && !std::mem::replace(&mut whole[v.index()], true) {
                list.push((v, -CONVERSION * lanes(v) * self.times(b), Span::NONE));
            }
        };
        let cut = |a: Value| match self.item.shapes.of(a) {
            Shape::Varying if is_wide(func.ty(a)) => CONVERSION,
            Shape::Strided { .. } => 1,
            _ => 0,
        };
        for &i in &func.blocks[b].insts {
            let data = &func.insts[i];
            if let Some(r) = data.result.filter(|&r| self.is_narrow(r)) {
                let wide = i64::from(func.ty(r).scalar.bits() / 16) - 1;
                let gain = match data.op {
                    Op::Binary(BinOp::Mul) => 3,
                    Op::Binary(BinOp::Udiv | BinOp::Urem | BinOp::Sdiv | BinOp::Srem) => 8,
                    Op::Binary(_) | Op::Unary(_) | Op::Select => wide,
                    Op::Cast(_) if func.ty(data.args[0]).scalar.bits() < 16 => 1,
                    _ => 0,
                };
                let borders = data_args(&data.op, data.args.len()).filter(|&k| !is_index(&data.op, k));
                let outside = borders.map(|k| data.args[k]).filter(|&a| !self.is_narrow(a));
                let cost: i64 = outside.filter(|&a| func.const_bits(a).is_none()).map(|a| cut(a) * lanes(a)).sum();
                list.push((r, (gain * lanes(r) - cost) * self.times(b), data.span));
                continue;
            }
            let small = data.result.is_some_and(|r| func.ty(r).scalar.bits() <= 16);
            match data.op {
                Op::Cast(CastOp::Trunc) if small && self.is_narrow(data.args[0]) => {
                    list.push((data.args[0], lanes(data.args[0]) * self.times(b), data.span));
                }
                Op::Icmp(_) if self.compare(data).is_some() => {
                    let v = data.args.iter().copied().find(|&a| self.is_narrow(a));
                    let meets = data.result.is_some_and(|r| masks[r.index()]);
                    let gain = if meets { -CONVERSION } else { 1 };
                    list.extend(v.map(|v| (v, gain * lanes(v) * self.times(b), data.span)));
                }
                _ => data.args.iter().for_each(|&a| in_full(&mut list, a)),
            }
        }
        for e in func.blocks[b].term.edges() {
            for (&p, &a) in func.blocks[e.block].params.iter().zip(&e.args) {
                match (self.is_narrow(p), self.is_narrow(a)) {
                    (false, true) => in_full(&mut list, a),
                    (true, false) if func.const_bits(a).is_none() && !self.unspecified.contains(&a) => {
                        list.push((p, -cut(a) * lanes(a) * self.times(b), Span::NONE));
                    }
                    _ => {}
                }
            }
        }
        if let Term::Return(Some(v)) = func.blocks[b].term {
            in_full(&mut list, v);
        }
        list
    }

    fn times(&self, b: Block) -> i64 {
        self.item.times(b) as i64
    }
}

/// Sets of values that hang together.
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
