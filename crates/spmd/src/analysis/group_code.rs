//! Code that a group runs before its work-items: a function that is never called, whose instructions the group's
//! prologue takes over.
//!
//! What it computes from are arguments, sizes and the group's number; values of the work-items' function that are made
//! of these alone are computed once more.

use crate::params::Param;
use cloom_ir::{BinOp, Block, Builder, CastOp, Flags, Function, Query, Type, Value, ValueDef};
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

#[cfg(test)]
impl Condition {
    /// Whether it holds where its parameters have these values. `None`: it has an operation that conditions have not.
    pub fn holds(&self, input: impl Fn(Param) -> u64) -> Option<bool> {
        use cloom_ir::{Op, Scalar, eval};
        let func = &self.func;
        let inputs = func.param_values().iter().zip(&self.params).map(|(&v, &p)| (v, input(p)));
        let mut values: FxHashMap<Value, u64> = inputs.collect();
        for (_, data) in func.insts_in_layout() {
            let arg = |k: usize| values[&data.args[k]];
            let ty = |k: usize| func.ty(data.args[k]).scalar;
            let x = match data.op {
                Op::Const(c) => c,
                Op::Binary(op) => eval::binary(op, ty(0), arg(0), arg(1)),
                Op::Cast(op) => eval::cast(op, ty(0), Scalar::I64, arg(0)),
                Op::Icmp(cc) => u64::from(eval::icmp(cc, ty(0), arg(0), arg(1))),
                _ => return None,
            };
            values.insert(data.result?, x);
        }
        Some(values[&self.cond] == 1)
    }
}

/// Code of the group that is being written.
pub struct GroupCode<'a> {
    /// The work-items' function, and what its parameters are.
    from: &'a Function,
    from_params: &'a [Param],
    func: Function,
    entry: Block,
    params: Vec<Param>,
    inputs: FxHashMap<Param, Value>,
    /// The values of the work-items' function.
    values: FxHashMap<Value, Value>,
}

impl<'a> GroupCode<'a> {
    /// No code yet.
    pub fn new(name: &str, from: &'a Function, from_params: &'a [Param]) -> GroupCode<'a> {
        let mut func = Function::new(name.to_owned(), Vec::new(), None);
        let entry = func.add_block();
        let (params, inputs, values) = Default::default();
        GroupCode { from, from_params, func, entry, params, inputs, values }
    }

    /// Where the next instruction goes.
    pub fn b(&mut self) -> Builder<'_> {
        Builder::new(&mut self.func, self.entry)
    }

    /// The type of a value of the code.
    pub fn ty(&self, v: Value) -> Type {
        self.func.ty(v)
    }

    /// The code as the condition that all of these hold.
    pub fn condition(mut self, all: impl IntoIterator<Item = Value>) -> Condition {
        let cond = all.into_iter().reduce(|a, holds| self.b().binary(BinOp::And, a, holds));
        let cond = cond.unwrap_or_else(|| self.b().iconst(Type::I1, 1));
        self.b().ret(None);
        self.func.params = self.func.param_values().iter().map(|&v| self.func.ty(v)).collect();
        Condition { func: self.func, params: self.params, cond }
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

    /// A value that the group knows ([`Shared`](crate::analysis::active_bound::Shared)).
    pub fn value(&mut self, v: Value) -> Value {
        if let Some(&done) = self.values.get(&v) {
            return done;
        }
        let from = self.from;
        let new = match from.values[v].def {
            // Only parameters of the entry are shared, each of which the group can compute.
            ValueDef::Param(_, k) => self.input(self.from_params[k as usize], from.ty(v)),
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

    /// The same, as an `i64` with or without a sign.
    pub fn wide_value(&mut self, v: Value, signed: bool) -> Value {
        let x = self.value(v);
        let cast = if signed { CastOp::Sext } else { CastOp::Zext };
        if self.ty(x) == Type::I64 { x } else { self.b().cast(cast, x, Type::I64) }
    }

    /// The largest local id of a dimension.
    pub fn last_local(&mut self, d: u8) -> Value {
        let size = self.query(Query::LocalSize, d);
        let mut b = self.b();
        let one = b.iconst(Type::I64, 1);
        b.binary(BinOp::Sub, size, one)
    }

    /// The smallest global id of the group. It begins at a multiple of the enqueued size.
    pub fn first_global(&mut self, d: u8) -> Value {
        let [group, size, offset] =
            [Query::GroupId, Query::EnqueuedLocalSize, Query::GlobalOffset].map(|what| self.query(what, d));
        let mut b = self.b();
        let first = b.binary(BinOp::Mul, group, size);
        b.binary(BinOp::Add, first, offset)
    }

    /// The largest global id of the group, which has `LocalSize` work-items: the last group of a dimension may be
    /// smaller.
    pub fn last_global(&mut self, d: u8) -> Value {
        let own = self.query(Query::LocalSize, d);
        let first = self.first_global(d);
        let mut b = self.b();
        let end = b.binary(BinOp::Add, first, own);
        let one = b.iconst(Type::I64, 1);
        b.binary(BinOp::Sub, end, one)
    }
}
