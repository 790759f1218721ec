//! The condition that bounds hold, as code of the group.
//!
//! In come bounds; out comes a function that computes from arguments, sizes and the group's number whether they and all
//! bounds that they are made of are within their limits. It is never called: the group's prologue takes its code.

use super::{Bound, Entry, Expr, GroupBounds};
use crate::params::Param;
use cloom_ir::{BinOp, Block, Builder, CastOp, Flags, Function, IntCc, Query, Type, Value, ValueDef};
use rustc_hash::FxHashMap;

/// The function in which a group computes a condition, its parameters, and the condition.
pub struct Condition {
    /// The function.
    pub func: Function,
    /// What its parameters are.
    pub params: Vec<Param>,
    /// The condition.
    pub cond: Value,
}

impl GroupBounds<'_> {
    /// Writes the condition that these bounds hold.
    pub fn emit(&self, bounds: &[Bound]) -> Condition {
        let mut all = bounds.to_vec();
        all.extend(&self.obligations);
        // The condition chooses between two versions, so it belongs to the function of neither.
        let mut func = Function::new(format!("{}.no_wrap", self.func.name), Vec::new(), None);
        let entry = func.add_block();
        let mut writer = Writer {
            bounds: self,
            func,
            entry,
            params: Vec::new(),
            inputs: FxHashMap::default(),
            values: FxHashMap::default(),
            done: FxHashMap::default(),
        };
        let mut cond = None;
        for check in self.checks(&all) {
            let x = writer.bound(check);
            let Entry { expr, limit, .. } = self.entries[check.0 as usize];
            // A bound may have both: a limit, and a difference that must not be negative.
            let mut holds = Vec::new();
            if let Some(limit) = limit {
                let mut b = writer.b();
                let limit = b.iconst(Type::I64, limit);
                // If a part of `x` exceeds its own limit, `x` may have overflowed; but then the check of that part
                // fails.
                holds.push(b.icmp(IntCc::Ule, x, limit));
            }
            if let Expr::NotBelow(_, y) = expr {
                let y = writer.bound(y);
                holds.push(writer.b().icmp(IntCc::Ule, y, x));
            }
            for holds in holds {
                cond = Some(cond.map_or(holds, |c| writer.b().binary(BinOp::And, c, holds)));
            }
        }
        let cond = cond.unwrap_or_else(|| writer.b().iconst(Type::I1, 1));
        writer.b().ret(None);
        let Writer { mut func, params, .. } = writer;
        func.params = func.param_values().iter().map(|&v| func.ty(v)).collect();
        Condition { func, params, cond }
    }
}

/// Writes bounds as code of the group.
struct Writer<'a> {
    bounds: &'a GroupBounds<'a>,
    func: Function,
    entry: Block,
    params: Vec<Param>,
    inputs: FxHashMap<Param, Value>,
    /// The values of the continuation's function.
    values: FxHashMap<Value, Value>,
    done: FxHashMap<Bound, Value>,
}

impl Writer<'_> {
    fn b(&mut self) -> Builder<'_> {
        Builder::new(&mut self.func, self.entry)
    }

    fn input(&mut self, p: Param, ty: Type) -> Value {
        if let Some(&v) = self.inputs.get(&p) {
            return v;
        }
        let v = self.func.add_block_param(self.entry, ty);
        self.inputs.insert(p, v);
        self.params.push(p);
        v
    }

    fn query(&mut self, what: Query, dim: u8) -> Value {
        self.input(Param::Query(what, dim), Type::I64)
    }

    /// A value that the group knows.
    fn value(&mut self, v: Value) -> Value {
        if let Some(&done) = self.values.get(&v) {
            return done;
        }
        let from = self.bounds.func;
        let new = match from.values[v].def {
            // `Shared` admits parameters of the entry only, each of which the group can compute.
            ValueDef::Param(_, k) => self.input(self.bounds.params[k as usize], from.ty(v)),
            ValueDef::Inst(i) => {
                let data = &from.insts[i];
                let args = data.args.iter().map(|&a| self.value(a)).collect();
                // Without flags: promises hold where the source computes the value, and the group computes it in any
                // case.
                let new = self.b().push(data.op.clone(), args, Some(from.ty(v)), Flags::empty());
                new.unwrap_or(v)
            }
        };
        self.values.insert(v, new);
        new
    }

    fn bound(&mut self, bound: Bound) -> Value {
        if let Some(&done) = self.done.get(&bound) {
            return done;
        }
        let new = match self.bounds.entries[bound.0 as usize].expr {
            Expr::Const(c) => self.b().iconst(Type::I64, c),
            Expr::Value(v) => {
                let x = self.value(v);
                let ty = self.func.ty(x);
                if ty == Type::I64 { x } else { self.b().cast(CastOp::Zext, x, Type::I64) }
            }
            Expr::LastLocal(d) => {
                let size = self.query(Query::LocalSize, d);
                let mut b = self.b();
                let one = b.iconst(Type::I64, 1);
                b.binary(BinOp::Sub, size, one)
            }
            // The group begins at a multiple of the enqueued size, but has `LocalSize` work-items: the last group of a
            // dimension may be smaller.
            Expr::LastGlobal(d) => {
                let [group, size, own, offset] =
                    [Query::GroupId, Query::EnqueuedLocalSize, Query::LocalSize, Query::GlobalOffset]
                        .map(|what| self.query(what, d));
                let mut b = self.b();
                let first = b.binary(BinOp::Mul, group, size);
                let first = b.binary(BinOp::Add, first, offset);
                let end = b.binary(BinOp::Add, first, own);
                let one = b.iconst(Type::I64, 1);
                b.binary(BinOp::Sub, end, one)
            }
            Expr::Add(x, y) => self.both(BinOp::Add, x, y),
            Expr::Mul(x, y) => self.both(BinOp::Mul, x, y),
            Expr::Max(x, y) => self.both(BinOp::Umax, x, y),
            Expr::Shr(x, by) => {
                let x = self.bound(x);
                let mut b = self.b();
                let by = b.iconst(Type::I64, u64::from(by));
                b.binary(BinOp::Lshr, x, by)
            }
            Expr::Below(x) => {
                let x = self.bound(x);
                let mut b = self.b();
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
        self.b().binary(op, x, y)
    }
}
