//! The active work-item bound: below which local id lie all work-items of a group that have an effect, in each
//! dimension.
//!
//! In comes the function of one continuation; out go, for a dimension, limits that the id of every work-item with an
//! effect is below, if there are such limits and they are group-uniform.
//!
//! ```c
//! if (l < m - half_m)
//!     part[l] += part[l + half_m];
//! barrier(CLK_LOCAL_MEM_FENCE);
//! ```
//!
//! In a tree reduction fewer and fewer work-items add, but each vector of the group would test for itself that it has
//! nothing to do. With the bound, the loops over vectors ([`crate::emit::group`]) end at the last one that has:
//! iteration-space splitting of the implicit loop over work-items. The first vector always runs: it computes the next
//! continuation, and stores group-uniform values.

use crate::split::continuation_fn::Param;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::{
    BinOp, Block, CastOp, Flags, Function, InstData, IntCc, Op, Query, Scalar, Term, UnOp, Value, ValueDef,
};
use rustc_hash::FxHashMap;

/// How deep an expression may be that a number is computed by.
const DEPTH: u32 = 12;

/// What an id is multiplied by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Factor {
    /// A constant.
    Const(u64),
    /// A value of the group.
    Value(Value),
}

/// A sum of multiples of local ids and values of the group.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Sum {
    /// The factors of ids by dimension.
    pub ids: [Option<Factor>; 3],
    /// What is added.
    pub plus: Vec<Value>,
}

impl Sum {
    /// The dimension of the id that is all of it.
    fn is_id(&self) -> Option<usize> {
        let mut dims = (0..3).filter(|&d| self.ids[d].is_some());
        let only = dims.next().filter(|&d| self.ids[d] == Some(Factor::Const(1)) && self.plus.is_empty());
        only.filter(|_| dims.next().is_none())
    }

    fn times(self, factor: Factor) -> Option<Sum> {
        let mut ids = [None; 3];
        ids[self.is_id()?] = Some(factor);
        Some(Sum { ids, plus: Vec::new() })
    }

    fn and(mut self, other: Sum) -> Option<Sum> {
        for (own, new) in self.ids.iter_mut().zip(other.ids) {
            if own.is_some() && new.is_some() {
                return None;
            }
            *own = own.or(new);
        }
        self.plus.extend(other.plus);
        Some(self)
    }
}

/// A number that work-items which do something are below.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Bound {
    /// Only the first vector does something.
    First,
    /// A sum is below a limit.
    Below {
        /// The sum.
        sum: Sum,
        /// The limit.
        limit: Value,
        /// Whether numbers have a sign.
        signed: bool,
        /// Whether the limit is reached.
        closed: bool,
    },
}

/// The bounds by dimension, of which the highest counts; none: nothing is known.
pub type Reach = [Option<Vec<Bound>>; 3];

/// Finds the bounds.
pub fn find(func: &Function, params: &[Param]) -> Reach {
    let cfg = Cfg::new(func);
    let dom = DomTree::new(func, &cfg);
    let mut search = Search { func, params, shared: Shared::new(func, params) };
    let mut reach: Reach = std::array::from_fn(|_| Some(Vec::new()));
    // What is known in each block: by the way into it, and what is known where all ways to it lead through.
    let mut facts: FxHashMap<Block, [Option<Bound>; 3]> = FxHashMap::default();
    for &b in cfg.rpo() {
        let mut found: [Option<Bound>; 3] = Default::default();
        if let [p] = *cfg.preds(b)
            && let Term::Branch { cond, then, els } = &func.blocks[p].term
            && then.block != els.block
        {
            search.fact(*cond, then.block == b, DEPTH, &mut found);
        }
        if let Some(before) = dom.idom(b).and_then(|d| facts.get(&d)) {
            found.iter_mut().zip(before).for_each(|(new, old)| *new = new.take().or_else(|| old.clone()));
        }
        if func.blocks[b].insts.iter().any(|&i| search.has_effect(&func.insts[i])) {
            for (all, new) in reach.iter_mut().zip(&found) {
                match (all.as_mut(), new) {
                    (Some(list), Some(new)) if !list.contains(new) => list.push(new.clone()),
                    (_, None) => *all = None,
                    _ => {}
                }
            }
        }
        if reach.iter().all(Option::is_none) {
            break;
        }
        facts.insert(b, found);
    }
    reach
}

/// Values that the group can compute: from what is the same for it and known before its work-items run, by operations that may run
/// anywhere.
pub struct Shared<'a> {
    func: &'a Function,
    params: &'a [Param],
    /// How deep the expressions are; none: it cannot.
    height: FxHashMap<Value, Option<u32>>,
}

impl<'a> Shared<'a> {
    /// Of a function with these parameters.
    pub fn new(func: &'a Function, params: &'a [Param]) -> Shared<'a> {
        Shared { func, params, height: FxHashMap::default() }
    }

    /// Whether a value is one of them.
    pub fn has(&mut self, v: Value) -> bool {
        self.height(v, DEPTH).is_some()
    }

    fn height(&mut self, v: Value, depth: u32) -> Option<u32> {
        if let Some(&known) = self.height.get(&v) {
            return known;
        }
        let func = self.func;
        let height = match func.values[v].def {
            ValueDef::Param(b, k) => (b == func.entry() && self.params[k as usize].is_shared()).then_some(0),
            ValueDef::Inst(i) => {
                let data = &func.insts[i];
                let mut args = data.args.iter().filter(|_| depth > 0);
                match data.op.is_pure() && (depth > 0 || data.args.is_empty()) {
                    true => args.try_fold(0, |most: u32, &a| Some(most.max(self.height(a, depth - 1)? + 1))),
                    false => None,
                }
            }
        };
        let height = height.filter(|&h| h <= DEPTH);
        self.height.insert(v, height);
        height
    }
}

struct Search<'a> {
    func: &'a Function,
    params: &'a [Param],
    shared: Shared<'a>,
}

impl Search<'_> {
    fn param(&self, v: Value) -> Option<Param> {
        match self.func.values[v].def {
            ValueDef::Param(b, k) if b == self.func.entry() => Some(self.params[k as usize]),
            _ => None,
        }
    }

    /// Whether something remains of an instruction but its result.
    fn has_effect(&self, data: &InstData) -> bool {
        match data.op {
            Op::Load { .. } => data.flags.contains(Flags::VOLATILE),
            Op::Store { .. } => !matches!(self.param(data.args[0]), Some(Param::GroupSlot(_))),
            Op::Fence { .. } => false,
            ref op => op.has_effect() && !op.is_subgroup(),
        }
    }

    /// What a condition says about ids.
    fn fact(&mut self, cond: Value, holds: bool, depth: u32, found: &mut [Option<Bound>; 3]) {
        let func = self.func;
        let (Some(i), true) = (func.def_inst(cond), depth > 0) else { return };
        let data = &func.insts[i];
        let constant = |v: Value| func.const_bits(v);
        match data.op {
            Op::Binary(BinOp::And) if holds => data.args.iter().for_each(|&a| self.fact(a, true, depth - 1, found)),
            Op::Binary(BinOp::Or) if !holds => data.args.iter().for_each(|&a| self.fact(a, false, depth - 1, found)),
            Op::Binary(BinOp::Xor) if constant(data.args[1]) == Some(1) => {
                self.fact(data.args[0], !holds, depth - 1, found);
            }
            Op::Unary(UnOp::Not) => self.fact(data.args[0], !holds, depth - 1, found),
            Op::Select if holds && constant(data.args[2]) == Some(0) => {
                data.args[..2].iter().for_each(|&a| self.fact(a, true, depth - 1, found));
            }
            Op::Icmp(cc) => {
                let cc = if holds { cc } else { cc.negated() };
                self.compared(cc, data.args[0], data.args[1], found);
                self.compared(cc.swapped(), data.args[1], data.args[0], found);
            }
            _ => {}
        }
    }

    fn compared(&mut self, cc: IntCc, id: Value, limit: Value, found: &mut [Option<Bound>; 3]) {
        let (signed, closed) = match cc {
            IntCc::Ult => (false, false),
            IntCc::Ule | IntCc::Eq => (false, true),
            IntCc::Slt => (true, false),
            IntCc::Sle => (true, true),
            _ => return,
        };
        let is_first = cc == IntCc::Eq && self.func.const_bits(limit) == Some(0);
        if is_first && self.is_number(id, DEPTH) {
            found.iter_mut().filter(|f| f.is_none()).for_each(|f| *f = Some(Bound::First));
            return;
        }
        let Some(sum) = self.sum(id, DEPTH) else { return };
        // Sums of ids and numbers of 32 bits can be computed in 64, whatever the program does.
        let small = |v: Value| self.func.const_bits(v).is_some_and(|bits| bits <= u64::from(u32::MAX));
        let narrow = |v: &Value| self.func.ty(*v).scalar == Scalar::I32 || small(*v);
        let factors = sum.ids.iter().all(|by| !matches!(by, Some(Factor::Value(v)) if !narrow(v)));
        if !(factors && sum.plus.iter().all(narrow))
            || self.func.ty(limit).scalar.bits() < 32
            || !self.shared.has(limit)
        {
            return;
        }
        // The other ids are not below zero.
        for (found, _) in found.iter_mut().zip(sum.ids).filter(|(found, by)| found.is_none() && by.is_some()) {
            *found = Some(Bound::Below { sum: sum.clone(), limit, signed, closed });
        }
    }

    /// Whether a value is the number of the vector.
    fn is_number(&self, v: Value, depth: u32) -> bool {
        match self.func.def_inst(v).map(|i| &self.func.insts[i]) {
            None => self.param(v) == Some(Param::Subgroup(Query::SubgroupId)),
            Some(data) => match data.op {
                Op::Cast(CastOp::Trunc | CastOp::Zext | CastOp::Sext) if self.func.ty(v).scalar.bits() >= 32 => {
                    depth > 0 && self.is_number(data.args[0], depth - 1)
                }
                _ => false,
            },
        }
    }

    /// A value that is a sum of multiples of ids.
    fn sum(&mut self, v: Value, depth: u32) -> Option<Sum> {
        if let Some(Param::LocalId(d)) = self.param(v) {
            let mut sum = Sum::default();
            sum.ids[usize::from(d)] = Some(Factor::Const(1));
            return Some(sum);
        }
        if self.shared.has(v) {
            return Some(Sum { plus: vec![v], ..Sum::default() });
        }
        let func = self.func;
        let data = &func.insts[func.def_inst(v).filter(|_| depth > 0)?];
        let mut of = |k: usize| self.sum(data.args[k], depth - 1);
        match data.op {
            // What is below half of 32 bits stays what it is.
            Op::Cast(CastOp::Trunc | CastOp::Zext | CastOp::Sext) if func.ty(v).scalar.bits() >= 32 => of(0),
            Op::Binary(BinOp::Add) => of(0)?.and(of(1)?),
            Op::Binary(BinOp::Mul) => {
                let (a, b) = (data.args[0], data.args[1]);
                let (id, other) = if self.shared.has(a) { (b, a) } else { (a, b) };
                let shared = self.shared.has(other);
                self.sum(id, depth - 1).filter(|_| shared)?.times(Factor::Value(other))
            }
            Op::Binary(BinOp::Shl) => {
                let by = func.const_bits(data.args[1]).filter(|&by| by < 32)?;
                of(0)?.times(Factor::Const(1 << by))
            }
            _ => None,
        }
    }
}
