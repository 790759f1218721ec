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
//!
//! One side of a comparison must be group-uniform, the other one a sum of ids with factors
//! ([`Form::coefficients`]):
//!
//! ```text
//! 2*l + (n >> 1) < m        factor of local id 0: 2, rest: n >> 1, limit: m
//! ```
//!
//! A form is exact modulo the width of the comparison, and its factors and rest have no negative coefficients. So if
//! the sum, computed without a wrap for the largest ids and all symbols read as unsigned numbers, is at most the
//! largest `int`, nothing wraps for any work-item, and the number compared is the sum in both readings. That is
//! tested when the group runs ([`crate::emit::group`]); where it does not hold, all vectors run.
//!
//! Only a constant may be subtracted, as in the tree of a scan:
//!
//! ```text
//! 2*step*l + 2*step - 1 < m       becomes    2*step*l + 2*step < m + 1
//! ```
//!
//! If the first sum is below zero, it is a large number, read without a sign, and the work-item perhaps idle; the
//! second one then counts it as active, which costs time only.

use crate::params::{MAX_LOCAL_SIZE, Param};
use cloom_ir::affine::{Affine, Ext, Facts, Form, Symbol};
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{BinOp, Block, Flags, Function, InstData, IntCc, Op, Query, Term, UnOp, Value, ValueDef};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{OnceCell, RefCell};

/// The height of expressions that a group computes before its work-items run.
const MAX_HEIGHT: u32 = 12;

/// A sum of multiples of local ids, and perhaps a constant less. Its coefficients are positive, and its symbols values
/// that the group can compute ([`Shared`]).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sum {
    /// The factors of ids by dimension.
    pub factors: [Option<Form>; 3],
    /// What is added.
    pub rest: Form,
    /// What is subtracted, at most the largest `int`.
    pub less: u32,
}

/// A number that work-items with an effect are below.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Bound {
    /// Only the first vector has an effect.
    First,
    /// A sum is below a limit.
    Below {
        /// The sum.
        sum: Box<Sum>,
        /// The limit.
        limit: Value,
        /// Whether numbers are signed.
        signed: bool,
        /// Whether the sum may be equal to the limit.
        closed: bool,
    },
}

/// The bounds by dimension, of which the highest counts; none: nothing is known.
pub type ActiveBounds = [Option<Vec<Bound>>; 3];

/// Finds the bounds.
pub fn find(func: &Function, params: &[Param]) -> ActiveBounds {
    let cfg = Cfg::new(func);
    let dom = DomTree::new(func, &cfg);
    let shared = RefCell::new(Shared::new(func, params));
    let range = |v: Value| match param(func, params, v)? {
        // So that forms go through extensions of ids, which are not negative in either reading.
        Param::LocalId(_) | Param::Subgroup(_) => Some((0, MAX_LOCAL_SIZE as i64)),
        _ => None,
    };
    // What the group knows is one symbol, however it is computed: it is compared as a whole.
    let is_symbol = |v: Value| !matches!(func.def_op(v), Some(Op::Const(_))) && shared.borrow_mut().has(v);
    let facts = Facts { range: &range, is_symbol: &is_symbol, ..Facts::default() };
    let (loops, affine) = (OnceCell::new(), OnceCell::new());
    // Few functions compare ids with what the group knows.
    let forms = || {
        let loops = loops.get_or_init(|| Loops::new(func, &cfg, &dom));
        affine.get_or_init(|| Affine::new(func, &cfg, loops, facts))
    };
    let is_id = |p: &Param| matches!(p, Param::LocalId(_) | Param::Subgroup(Query::SubgroupId));
    let has_ids = params.iter().any(is_id);
    let search = Search { func, params, has_ids, shared: &shared, forms: &forms };
    // An empty list is the strongest bound: without effects, the first vector is enough.
    let mut bounds: ActiveBounds = std::array::from_fn(|_| Some(Vec::new()));
    // What is known in each block: from the branch to it, and from its dominators.
    let mut known: FxHashMap<Block, [Option<Bound>; 3]> = FxHashMap::default();
    for &b in cfg.rpo() {
        let mut found: [Option<Bound>; 3] = Default::default();
        // With another way in, the condition need not hold in the block.
        if let [p] = *cfg.preds(b)
            && let Term::Branch { cond, then, els } = &func.blocks[p].term
            && then.block != els.block
        {
            search.condition(*cond, then.block == b, &mut found);
        }
        if let Some(before) = dom.idom(b).and_then(|d| known.get(&d)) {
            // The nearest condition counts. Those further out hold as well, but one bound for a dimension is enough.
            found.iter_mut().zip(before).for_each(|(new, old)| *new = new.take().or_else(|| old.clone()));
        }
        // The bound of a dimension must hold for all effects; so one block with an effect and without a bound ends it.
        if func.blocks[b].insts.iter().any(|&i| search.has_effect(&func.insts[i])) {
            for (all, new) in bounds.iter_mut().zip(&found) {
                match (all.as_mut(), new) {
                    (Some(list), Some(new)) if !list.contains(new) => list.push(new.clone()),
                    (_, None) => *all = None,
                    _ => {}
                }
            }
        }
        // Most functions store in a block without conditions, and end here soon.
        if bounds.iter().all(Option::is_none) {
            break;
        }
        known.insert(b, found);
    }
    bounds
}

/// What a value stands for, if it is a parameter of the function.
fn param(func: &Function, params: &[Param], v: Value) -> Option<Param> {
    match func.values[v].def {
        ValueDef::Param(b, k) if b == func.entry() => Some(params[k as usize]),
        _ => None,
    }
}

/// Values that the group can compute: from what is the same for it and known before its work-items run, by operations
/// that may run anywhere.
pub struct Shared<'a> {
    func: &'a Function,
    params: &'a [Param],
    /// The height of each value's expression; none: the group cannot compute it.
    height: FxHashMap<Value, Option<u32>>,
}

impl<'a> Shared<'a> {
    /// Of a function with these parameters.
    pub fn new(func: &'a Function, params: &'a [Param]) -> Shared<'a> {
        Shared { func, params, height: FxHashMap::default() }
    }

    /// Whether a value is one of them.
    pub fn has(&mut self, v: Value) -> bool {
        self.height(v, MAX_HEIGHT).is_some()
    }

    fn height(&mut self, v: Value, depth: u32) -> Option<u32> {
        if let Some(&known) = self.height.get(&v) {
            return known;
        }
        let func = self.func;
        // Memoised without the depth: a value that is too high from one user is taken to be so from all.
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
        let height = height.filter(|&h| h <= MAX_HEIGHT);
        self.height.insert(v, height);
        height
    }
}

/// Expressions of the function, and what the group can compute of them.
struct Search<'a, 'f> {
    func: &'f Function,
    params: &'f [Param],
    /// Whether there are ids at all that may have bounds.
    has_ids: bool,
    shared: &'a RefCell<Shared<'f>>,
    forms: &'a dyn Fn() -> &'a Affine<'a>,
}

impl Search<'_, '_> {
    fn param(&self, v: Value) -> Option<Param> {
        param(self.func, self.params, v)
    }

    fn is_shared(&self, v: Value) -> bool {
        self.shared.borrow_mut().has(v)
    }

    /// Whether an instruction has an effect that is not the group's alone, beside its result.
    fn has_effect(&self, data: &InstData) -> bool {
        match data.op {
            Op::Load { .. } => data.flags.contains(Flags::VOLATILE),
            // All work-items store the same value to a slot of the group, and the first vector always runs.
            Op::Store { .. } => !matches!(self.param(data.args[0]), Some(Param::GroupSlot(_))),
            // A fence orders accesses of its own work-item, and one without effects has none to order.
            Op::Fence { .. } | Op::Poll => false,
            ref op => op.has_effect() && !op.is_subgroup(),
        }
    }

    /// What a condition, which holds or does not, says about ids.
    fn condition(&self, cond: Value, holds: bool, found: &mut [Option<Bound>; 3]) {
        let func = self.func;
        let mut seen = FxHashSet::from_iter([(cond, holds)]);
        let mut stack = vec![(cond, holds)];
        while let Some((cond, holds)) = stack.pop() {
            let Some(i) = func.def_inst(cond) else { continue };
            let data = &func.insts[i];
            let constant = |k: usize| func.const_bits(data.args[k]);
            let (parts, holds) = match data.op {
                Op::Binary(BinOp::And) if holds => (&data.args[..], true),
                Op::Binary(BinOp::Or) if !holds => (&data.args[..], false),
                Op::Binary(BinOp::Xor) if constant(1) == Some(1) => (&data.args[..1], !holds),
                Op::Unary(UnOp::Not) => (&data.args[..], !holds),
                // `a ? b : false` is `a && b`.
                Op::Select if holds && constant(2) == Some(0) => (&data.args[..2], true),
                Op::Icmp(cc) => {
                    let cc = if holds { cc } else { cc.negated() };
                    self.comparison(cc, data.args[0], data.args[1], found);
                    // The id may be on either side.
                    self.comparison(cc.swapped(), data.args[1], data.args[0], found);
                    continue;
                }
                _ => continue,
            };
            // In order: the first bound of a dimension counts.
            stack.extend(parts.iter().rev().map(|&a| (a, holds)).filter(|&part| seen.insert(part)));
        }
    }

    /// What a comparison that holds says about ids, if they are on its left side.
    fn comparison(&self, cc: IntCc, id: Value, limit: Value, found: &mut [Option<Bound>; 3]) {
        let (signed, closed) = match cc {
            IntCc::Ult => (false, false),
            IntCc::Ule | IntCc::Eq => (false, true),
            IntCc::Slt => (true, false),
            IntCc::Sle => (true, true),
            _ => return,
        };
        // In narrower types, ids wrap before the largest `int`, which the test for wraps compares with.
        let may_bound = self.has_ids && self.func.ty(limit).scalar.bits() >= 32;
        if !may_bound || self.is_shared(id) || !self.is_shared(limit) {
            return;
        }
        // The forms of values are made here at the earliest: most comparisons have failed the cheap tests by now.
        let form = self.form(id);
        // `if (get_sub_group_id() == 0)`.
        if cc == IntCc::Eq && self.func.const_bits(limit) == Some(0) && self.is_vector_number(&form) {
            found.iter_mut().filter(|f| f.is_none()).for_each(|f| *f = Some(Bound::First));
            return;
        }
        let Some(sum) = self.sum(&form).map(Box::new) else { return };
        // The other ids are not below zero.
        for (found, _) in found.iter_mut().zip(&sum.factors).filter(|(found, by)| found.is_none() && by.is_some()) {
            *found = Some(Bound::Below { sum: sum.clone(), limit, signed, closed });
        }
    }

    /// The form of a number. If it is extended, and that is not known to be exact, it is the form before: the test
    /// that the sum is at most the largest `int` is that it is exact.
    fn form(&self, v: Value) -> Form {
        let affine = (self.forms)();
        let mut form = affine.form(v, Ext::Own);
        while let Some((1, Symbol::Value(x, Ext::Signed | Ext::Unsigned))) = form.as_symbol()
            && self.func.ty(x).scalar.bits() >= 32
        {
            let inner = affine.form(x, Ext::Own);
            if matches!(inner.as_symbol(), Some((1, Symbol::Value(y, _))) if y == x) {
                break;
            }
            form = inner;
        }
        form
    }

    /// Whether a form is the number of the vector.
    fn is_vector_number(&self, form: &Form) -> bool {
        form.as_value().and_then(|v| self.param(v)) == Some(Param::Subgroup(Query::SubgroupId))
    }

    /// The form as a sum of ids with factors, if it is one.
    fn sum(&self, form: &Form) -> Option<Sum> {
        let dim = |s: Symbol| match s {
            Symbol::Value(v, _) => match self.param(v) {
                Some(Param::LocalId(d)) => Some(usize::from(d)),
                _ => None,
            },
            _ => None,
        };
        let is_known = |s: Symbol| matches!(s, Symbol::Value(v, _) if self.func.ty(v).is_int() && self.is_shared(v));
        // Without negative terms, the sum is largest for the largest ids: one test for wraps serves all work-items.
        let is_usable = |form: &Form| form.terms().all(|(m, c)| c > 0 && m.iter().all(|&s| is_known(s)));
        let (ids, rest) = form.coefficients(|s| dim(s).is_some())?;
        let mut factors = [const { None }; 3];
        for (s, factor) in ids {
            // An id has one symbol: it is not negative, however it is extended.
            let slot = &mut factors[dim(s)?];
            if slot.is_some() || !is_usable(&factor) {
                return None;
            }
            *slot = Some(factor);
        }
        // A negative constant goes to the other side of the comparison, so that the rest has no negative term.
        let less = u32::try_from(rest.constant_part().min(0).unsigned_abs()).ok().filter(|&c| c <= i32::MAX as u32)?;
        let rest = rest.plus(&Form::constant(rest.bits(), i64::from(less)));
        is_usable(&rest).then_some(Sum { factors, rest, less })
    }
}
