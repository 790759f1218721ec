//! The condition that bounds hold, as code of the group.

use super::{Bound, Entry, Expr, GroupBounds};
use crate::analysis::group_code::GroupCode;
use cloom_ir::{BinOp, IntCc, Type, Value};
use rustc_hash::FxHashMap;

impl GroupBounds<'_> {
    /// Writes what must hold for these bounds and all that they are made of: conditions, of which each must.
    pub fn emit(&self, bounds: &[Bound], code: &mut GroupCode<'_>) -> Vec<Value> {
        let mut all = bounds.to_vec();
        all.extend(&self.obligations);
        let mut writer = Writer { bounds: self, code, done: FxHashMap::default() };
        let mut conditions = Vec::new();
        for check in self.checks(&all) {
            let x = writer.bound(check);
            let Entry { expr, limit, .. } = self.entries[check.0 as usize];
            // A bound may have both: a limit, and a difference that must not be negative.
            if let Some(limit) = limit {
                let mut b = writer.code.b();
                let limit = b.iconst(Type::I64, limit);
                // If a part of `x` exceeds its own limit, `x` may have overflowed; but then the check of that part
                // fails.
                conditions.push(b.icmp(IntCc::Ule, x, limit));
            }
            if let Expr::NotBelow(_, y) = expr {
                let y = writer.bound(y);
                conditions.push(writer.code.b().icmp(IntCc::Ule, y, x));
            }
        }
        conditions
    }
}

/// Writes bounds as code of the group.
struct Writer<'a, 'c, 'f> {
    bounds: &'a GroupBounds<'a>,
    code: &'c mut GroupCode<'f>,
    done: FxHashMap<Bound, Value>,
}

impl Writer<'_, '_, '_> {
    fn bound(&mut self, bound: Bound) -> Value {
        if let Some(&done) = self.done.get(&bound) {
            return done;
        }
        let new = match self.bounds.entries[bound.0 as usize].expr {
            Expr::Const(c) => self.code.b().iconst(Type::I64, c),
            Expr::Value(v) => self.code.wide_value(v, false),
            Expr::LastLocal(d) => self.code.last_local(d),
            Expr::LastGlobal(d) => self.code.last_global(d),
            Expr::Add(x, y) => self.both(BinOp::Add, x, y),
            Expr::Mul(x, y) => self.both(BinOp::Mul, x, y),
            Expr::Max(x, y) => self.both(BinOp::Umax, x, y),
            Expr::Shr(x, by) => {
                let x = self.bound(x);
                let mut b = self.code.b();
                let by = b.iconst(Type::I64, u64::from(by));
                b.binary(BinOp::Lshr, x, by)
            }
            Expr::Below(x) => {
                let x = self.bound(x);
                let mut b = self.code.b();
                let one = b.iconst(Type::I64, 1);
                // Nothing is below zero: a bound of 0 stays 0.
                b.binary(BinOp::UsubSat, x, one)
            }
            // What is given with it is a check of its own, which `emit` writes.
            Expr::Given(x, _) | Expr::NotBelow(x, _) => self.bound(x),
        };
        self.done.insert(bound, new);
        new
    }

    fn both(&mut self, op: BinOp, x: Bound, y: Bound) -> Value {
        let (x, y) = (self.bound(x), self.bound(y));
        self.code.b().binary(op, x, y)
    }
}
