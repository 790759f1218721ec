//! The form of a value in terms of block parameters and of the results of opaque instructions.
//!
//! A value has up to three forms: modulo its own width, and as a signed and as an unsigned number of 64 bits. The first
//! kind is exact for sums, differences and products. The other two look through an operation only if it is known not to
//! wrap in that reading: by its flag, by ranges, or by the caller's word; else the extended value is a symbol.
//!
//! Operands are visited with an explicit stack, each value once for each kind, so deep expressions do not overflow the
//! call stack and shared ones are not visited again.

use super::form::{Form, Symbol, width};
use super::{Affine, Ext};
use crate::entity::{Block, Value};
use crate::eval;
use crate::flags::Flags;
use crate::function::ValueDef;
use crate::inst::{BinOp, CastOp, InstData, Op};
use rustc_hash::FxHashSet;

/// How many minima and maxima the search for a range looks through: clamps are two, of indices that clamps gave.
const MAX_CLAMPS: u32 = 4;

/// A value, read in one of three ways.
pub(super) type Key = (Value, Ext);

/// The form, or the values whose forms are needed first.
enum Step {
    Done(Form),
    Needs(Key),
}

impl Affine<'_> {
    /// The form of a value that is an integer or an address.
    pub(super) fn local(&self, v: Value, ext: Ext) -> Form {
        let goal = (v, self.canonical(v, ext));
        let mut stack = vec![goal];
        let mut open: FxHashSet<Key> = FxHashSet::default();
        while let Some(&key) = stack.last() {
            if self.locals.borrow().contains_key(&key) {
                stack.pop();
                continue;
            }
            open.insert(key);
            match self.step(key) {
                // A value that depends on itself is unreachable, or in a cycle that is no natural loop.
                Step::Needs(other) if open.contains(&other) => {
                    self.locals.borrow_mut().insert(key, self.opaque(key));
                }
                Step::Needs(other) => {
                    // `key` stays below `other` on the stack, and is tried again when `other` has a form.
                    stack.push(other);
                    continue;
                }
                Step::Done(form) => {
                    let form = if form.is_small() { form } else { self.opaque(key) };
                    self.locals.borrow_mut().insert(key, form);
                }
            }
            open.remove(&key);
            stack.pop();
        }
        self.locals.borrow().get(&goal).cloned().unwrap_or_else(|| self.opaque(goal))
    }

    pub(super) fn bits(&self, v: Value) -> u32 {
        width(self.func.ty(v).scalar).unwrap_or(64)
    }

    /// At 64 bits all readings are the same, and so they are for values that never wrap.
    pub(super) fn canonical(&self, v: Value, ext: Ext) -> Ext {
        match ext {
            _ if self.bits(v) == 64 => Ext::Own,
            Ext::Unsigned if (self.facts.no_wrap)(v, ext) && (self.facts.no_wrap)(v, Ext::Signed) => Ext::Signed,
            ext => ext,
        }
    }

    pub(super) fn form_bits(&self, (v, ext): Key) -> u32 {
        if ext == Ext::Own { self.bits(v) } else { 64 }
    }

    /// The value as a symbol.
    pub(super) fn opaque(&self, key: Key) -> Form {
        let (v, ext) = key;
        // Of a non-negative number both readings are the same.
        let ext = if ext == Ext::Unsigned && self.is_not_negative(v) { Ext::Signed } else { ext };
        Form::symbol(self.form_bits(key), Symbol::Value(v, ext))
    }

    fn step(&self, key: Key) -> Step {
        let (v, ext) = key;
        let func = self.func;
        if func.ty(v).is_vector() || width(func.ty(v).scalar).is_none() || (self.facts.is_symbol)(v) {
            return Step::Done(self.opaque(key));
        }
        if let Some(known) = (self.facts.known)(v) {
            // One form serves all readings: the caller vouches that they are the same number.
            return Step::Done(known.truncated(self.form_bits(key), |v| self.bits(v)));
        }
        match func.values[v].def {
            ValueDef::Param(b, k) => self.param(key, b, k as usize),
            ValueDef::Inst(i) => {
                let data = &func.insts[i];
                let found = self.inst(key, data);
                // The other reading may have a form, which is then that of this one.
                match (&found, ext) {
                    (Step::Done(f), Ext::Signed | Ext::Unsigned)
                        if *f == self.opaque(key) && self.is_not_negative(v) =>
                    {
                        let other = if ext == Ext::Signed { Ext::Unsigned } else { Ext::Signed };
                        match self.inst((v, other), data) {
                            Step::Done(f) if f == self.opaque((v, other)) => Step::Done(self.opaque(key)),
                            step => step,
                        }
                    }
                    _ => found,
                }
            }
        }
    }

    /// A parameter with the same argument on all edges is that argument. A loop header's is left to
    /// [`super::recurrence`].
    fn param(&self, key: Key, b: Block, k: usize) -> Step {
        let preds = self.cfg.preds(b);
        let before = |p: &Block| self.cfg.rpo_index(*p) < self.cfg.rpo_index(b);
        // An edge from a block that is not earlier in reverse postorder closes a cycle: the argument may depend on the
        // parameter.
        if preds.is_empty() || !preds.iter().all(before) {
            return Step::Done(self.opaque(key));
        }
        let mut same: Option<Form> = None;
        for (_, edge) in self.cfg.incoming(self.func, b) {
            let arg = edge.args[k];
            let arg_key = (arg, self.canonical(arg, key.1));
            let Some(form) = self.locals.borrow().get(&arg_key).cloned() else { return Step::Needs(arg_key) };
            match &same {
                // In the reading that was asked for: that of the argument may hold for the argument alone.
                Some(same) if *same != form => return Step::Done(self.opaque(key)),
                _ => same = Some(form),
            }
        }
        Step::Done(same.unwrap_or_else(|| self.opaque(key)))
    }

    fn inst(&self, key: Key, data: &InstData) -> Step {
        let (v, ext) = key;
        let bits = self.form_bits(key);
        let opaque = || Step::Done(self.opaque(key));
        match &data.op {
            Op::Const(c) => {
                let signed = eval::signed(self.func.ty(v).scalar, *c);
                Step::Done(Form::constant(bits, if ext == Ext::Unsigned { *c as i64 } else { signed }))
            }
            Op::Query { what, dim } if bits == 64 => Step::Done(Form::symbol(bits, Symbol::Query(*what, *dim))),
            Op::GlobalAddr(g) => Step::Done(Form::symbol(bits, Symbol::Global(*g))),
            // Both operands have 64 bits, where the only reading is `Own`: no promise is needed.
            Op::PtrAdd => self.both(data, ext, Form::plus),
            Op::Binary(op @ (BinOp::Add | BinOp::Sub | BinOp::Mul)) if self.is_exact(v, ext, data) => match op {
                BinOp::Add => self.both(data, ext, Form::plus),
                BinOp::Sub => self.both(data, ext, Form::minus),
                _ => self.both(data, ext, Form::times),
            },
            Op::Binary(BinOp::Shl) if self.is_exact(v, ext, data) => match self.func.const_bits(data.args[1]) {
                Some(by) => {
                    let by = by % u64::from(self.bits(v));
                    self.one((data.args[0], ext), |f| f.scaled(1i64.wrapping_shl(by as u32)))
                }
                None => opaque(),
            },
            Op::Cast(CastOp::PtrToInt | CastOp::IntToPtr | CastOp::Space) => self.one((data.args[0], ext), Form::clone),
            Op::Cast(CastOp::Trunc) if ext == Ext::Own => {
                let bits = self.bits(v);
                self.one((data.args[0], Ext::Own), |f| f.truncated(bits, |v| self.bits(v)))
            }
            Op::Cast(CastOp::Trunc) if self.keeps(v, data.args[0], ext) => self.one((data.args[0], ext), Form::clone),
            Op::Cast(op @ (CastOp::Sext | CastOp::Zext)) => self.extended(key, *op, data.args[0]),
            _ => opaque(),
        }
    }

    /// An extension: the form of its operand in that reading, perhaps with fewer bits.
    fn extended(&self, key: Key, op: CastOp, x: Value) -> Step {
        let from = if op == CastOp::Sext { Ext::Signed } else { Ext::Unsigned };
        // As an unsigned number, a negative one that was sign-extended is another.
        let (v, ext) = key;
        if op == CastOp::Sext && ext == Ext::Unsigned && !self.is_not_negative(x) && !(self.facts.no_wrap)(v, ext) {
            return Step::Done(self.opaque(key));
        }
        let bits = self.form_bits(key);
        // The operand's form has 64 bits. Of an extension to fewer bits, as from `i8` to `i32`, only the low ones
        // count.
        self.one((x, from), |f| if bits == 64 { f.clone() } else { f.truncated(bits, |v| self.bits(v)) })
    }

    fn one(&self, (x, ext): Key, make: impl FnOnce(&Form) -> Form) -> Step {
        let key = (x, self.canonical(x, ext));
        match self.locals.borrow().get(&key) {
            Some(form) => Step::Done(make(form)),
            None => Step::Needs(key),
        }
    }

    fn both(&self, data: &InstData, ext: Ext, make: impl FnOnce(&Form, &Form) -> Form) -> Step {
        let keys = [0, 1].map(|k| (data.args[k], self.canonical(data.args[k], ext)));
        let locals = self.locals.borrow();
        match keys.map(|key| locals.get(&key).ok_or(key)) {
            [Ok(a), Ok(b)] => Step::Done(make(a, b)),
            [Err(key), _] | [_, Err(key)] => Step::Needs(key),
        }
    }

    /// Whether an operation does not wrap, in a reading of operands and result.
    fn is_exact(&self, v: Value, ext: Ext, data: &InstData) -> bool {
        let promise = match ext {
            Ext::Own => return true,
            Ext::Signed => Flags::NSW,
            Ext::Unsigned => Flags::NUW,
        };
        // `nsw` of `if (c) y = x + 1;` holds where `c` does. After the addition was moved above the branch, it may wrap
        // in work-items that do not use it.
        let is_valid = !self.facts.is_executed || !data.flags.contains(Flags::SPECULATED);
        data.flags.contains(promise) && is_valid || (self.facts.no_wrap)(v, ext) || self.fits(v, ext, data)
    }

    /// Whether the operands' ranges exclude that a sum, difference or product wraps.
    fn fits(&self, v: Value, ext: Ext, data: &InstData) -> bool {
        let of = |k: usize| self.range(data.args[k]).map(|(low, high)| (i128::from(low), i128::from(high)));
        let (Some(x), Some(y)) = (of(0), of(1)) else { return false };
        let Op::Binary(op) = data.op else { return false };
        // Over two ranges, a sum, a difference and a product have their extremes at ends of both. Numbers of 64 bits
        // cannot overflow 128 in one operation.
        let corners = [(x.0, y.0), (x.0, y.1), (x.1, y.0), (x.1, y.1)].map(|(a, b)| match op {
            BinOp::Add => a + b,
            BinOp::Sub => a - b,
            BinOp::Mul => a * b,
            // A shift. No range contains this number, so that only its flag makes a shift exact.
            _ => i128::MAX,
        });
        let bits = self.bits(v);
        let (low, high) = match ext {
            Ext::Unsigned => (0, (1i128 << bits) - 1),
            _ => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        };
        // A value that may be negative has another unsigned reading.
        let positive = ext != Ext::Unsigned || x.0 >= 0 && y.0 >= 0;
        positive && corners.iter().all(|c| (low..=high).contains(c))
    }

    /// Whether a truncation keeps the number, in this reading.
    fn keeps(&self, v: Value, from: Value, ext: Ext) -> bool {
        let bits = self.bits(v);
        if (self.facts.no_wrap)(v, ext) {
            return true;
        }
        let Some((low, high)) = self.range(from) else { return false };
        match ext {
            Ext::Unsigned => low >= 0 && i128::from(high) < 1i128 << bits,
            _ => i128::from(low) >= -(1i128 << (bits - 1)) && i128::from(high) < 1i128 << (bits - 1),
        }
    }

    /// Whether a value is known not to be negative.
    pub(super) fn is_not_negative(&self, v: Value) -> bool {
        self.range(v).is_some_and(|(low, _)| low >= 0)
    }

    /// The signed range of a value, as known from the caller, from its operation, or from the operand of a conversion.
    pub fn range(&self, v: Value) -> Option<(i64, i64)> {
        self.range_within(v, MAX_CLAMPS)
    }

    /// The range, looking through so many minima and maxima.
    fn range_within(&self, v: Value, clamps: u32) -> Option<(i64, i64)> {
        let func = self.func;
        let mut casts = Vec::new();
        let mut at = v;
        let mut range = loop {
            // The caller's word comes first: it may know more than the operation shows.
            if let Some(range) = (self.facts.range)(at) {
                break Some(range);
            }
            let data = func.def_inst(at).map(|i| &func.insts[i]);
            match data.map(|data| (&data.op, data.args.first())) {
                Some((Op::Cast(op @ (CastOp::Trunc | CastOp::Sext | CastOp::Zext)), Some(&x))) => {
                    // The conversions are applied after the loop, from the innermost one on: no recursion for a long
                    // chain.
                    casts.push((*op, at));
                    at = x;
                }
                Some((op, _)) => break self.made_range(at, op, clamps),
                None => break None,
            }
        };
        for (op, to) in casts.into_iter().rev() {
            let scalar = |v: Value| func.ty(v).scalar;
            let (low, high) = scalar(to).signed_range();
            range = match op {
                // The low bits of numbers beyond the narrower type may be any.
                CastOp::Trunc => range.filter(|r| low <= r.0 && r.1 <= high),
                CastOp::Sext => range.or_else(|| Some(scalar(at).signed_range())),
                // What is extended has 32 bits at most, so that its mask is a positive number.
                _ => range.filter(|r| r.0 >= 0).or_else(|| Some((0, scalar(at).mask() as i64))),
            };
            at = to;
        }
        range
    }

    fn made_range(&self, v: Value, op: &Op, clamps: u32) -> Option<(i64, i64)> {
        let func = self.func;
        let scalar = func.ty(v).scalar;
        let args = func.def_inst(v).map_or(&[][..], |i| &func.insts[i].args);
        let positive = |v: Value| {
            let c = func.const_bits(v)?;
            (c <= func.ty(v).scalar.mask() >> 1).then_some(c as i64)
        };
        match op {
            Op::Const(c) => Some(eval::signed(scalar, *c)).map(|c| (c, c)),
            // A mask with the sign bit clear clears the sign of the result, whatever the other operand is.
            Op::Binary(BinOp::And) => args.iter().filter_map(|&a| positive(a)).min().map(|c| (0, c)),
            // The dividend counts as unsigned: a negative one has a remainder below the divisor, too.
            Op::Binary(BinOp::Urem) => positive(args[1]).filter(|&c| c > 0).map(|c| (0, c - 1)),
            Op::Binary(BinOp::Lshr) => {
                let by = func.const_bits(args[1])? % u64::from(scalar.bits());
                (by > 0).then(|| (0, (scalar.mask() >> by) as i64))
            }
            Op::Binary(op @ (BinOp::Smin | BinOp::Smax)) if clamps > 0 => {
                let all = scalar.signed_range();
                // Both operands are searched: the limit bounds the work to 2^MAX_CLAMPS searches.
                let of = |&a: &Value| self.range_within(a, clamps - 1).unwrap_or(all);
                let ((a, b), (c, d)) = (of(&args[0]), of(&args[1]));
                let range = if *op == BinOp::Smin { (a.min(c), b.min(d)) } else { (a.max(c), b.max(d)) };
                (range != all).then_some(range)
            }
            _ => None,
        }
    }
}
