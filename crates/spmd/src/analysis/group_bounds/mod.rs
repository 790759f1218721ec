//! Group bounds: what no work-item of a group exceeds, as expressions that the group computes before its work-items
//! run.
//!
//! In comes the function of a continuation; out goes, for an integer read without a sign, an expression of kernel
//! arguments, sizes and the group's largest ids that it does not exceed ([`GroupBounds::of`]).
//!
//! ```c
//! uint r = get_global_id(0);
//! for (uint c = 0; c < n; c++) s += a[r * n + c];     // r * n + c is at most last_id * n + (n - 1)
//! ```
//!
//! It is the interval analysis of [`crate::analysis::bounds`] with upper ends that are not constants, and with the
//! conditions of branches: where `c < n` dominates, `c` is at most `n - 1`. A parameter of a loop's header is bounded
//! by induction over the iterations: its argument from the latch is bounded where the condition to stay holds.
//!
//! Operations wrap. So each expression has a *limit*, the largest number of 32 bits or less: a bound holds only if it
//! and all bounds that it is made of are within their limits. What is not within the limits by constants is a check for
//! run time ([`GroupBounds::emit`] writes it). No check overflows 64 bits: operands within 32 bits have products of 64.
//!
//! A bound holds where its value is defined and the conditions hold that it is made of, for lanes that are on: as a
//! promise of the source does.

mod condition;

use crate::analysis::active_bound::Shared;
use crate::analysis::bounds::Bounds;
use crate::analysis::branch_facts::{self, Fact};
use crate::params::Param;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::{BinOp, Block, CastOp, Entity, Function, Inst, IntCc, Op, Type, Value, ValueDef};
use rustc_hash::{FxHashMap, FxHashSet};

/// The largest number of a bound: such numbers can be multiplied in 64 bits.
const MAX_BOUND: u64 = u32::MAX as u64;

/// The largest number that is the same with and without a sign, in 32 bits.
pub const MAX_SIGNED: u64 = MAX_BOUND >> 1;

/// Larger factors are those of hashes, which are meant to wrap.
const MAX_FACTOR: u64 = 1 << 24;

/// The depth of definitions that a bound is made of.
const MAX_DEPTH: u32 = 24;

/// How many definitions are looked at.
const FUEL: u32 = 2000;

/// Conditions of a branch that are looked at.
const MAX_COMPARISONS: u32 = 8;

/// A bound: an index into [`GroupBounds::bounds`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Bound(u32);

/// How a bound is computed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Expr {
    Const(u64),
    /// A value that the group knows, without a sign.
    Value(Value),
    /// The largest local id of a dimension,
    LastLocal(u8),
    /// and the largest global id of the group.
    LastGlobal(u8),
    Add(Bound, Bound),
    Mul(Bound, Bound),
    Max(Bound, Bound),
    Shr(Bound, u32),
    /// One less; nothing is below zero.
    Below(Bound),
    /// The first, if the second holds too.
    Given(Bound, Bound),
    /// The first, if the second does not exceed it.
    NotBelow(Bound, Bound),
}

struct Entry {
    expr: Expr,
    /// It is never smaller,
    least: u64,
    /// nor larger.
    most: u64,
    /// It must not be larger, where that is not known.
    limit: Option<u64>,
}

/// The bounds of a function's integers, found on demand.
pub struct GroupBounds<'a> {
    func: &'a Function,
    params: &'a [Param],
    cfg: &'a Cfg,
    dom: &'a DomTree,
    /// The constant bounds.
    constant: &'a Bounds,
    shared: Shared<'a>,
    /// The block of each instruction's result.
    home: Vec<Option<Block>>,
    facts: FxHashMap<Value, Vec<Fact>>,
    entries: Vec<Entry>,
    numbers: FxHashMap<(Expr, Option<u64>), Bound>,
    known: FxHashMap<Value, Option<Bound>>,
    /// The values in `known`, in the order in which they came.
    log: Vec<Value>,
    /// Header parameters that are being bounded,
    open: FxHashSet<Value>,
    /// those of them that were taken not to be negative,
    assumed_signed: FxHashSet<Value>,
    /// and those not to be above the number at which they end, with the block in which they are below it.
    assumed_below: FxHashMap<Value, (Bound, Block)>,
    /// Bounds that must hold whatever is asked: assumptions were made on them.
    obligations: Vec<Bound>,
    fuel: u32,
}

impl<'a> GroupBounds<'a> {
    /// Of a function with these parameters.
    pub fn new(
        func: &'a Function,
        params: &'a [Param],
        cfg: &'a Cfg,
        dom: &'a DomTree,
        constant: &'a Bounds,
    ) -> GroupBounds<'a> {
        let shared = Shared::new(func, params);
        let mut home = vec![None; func.values.len()];
        for &b in &func.layout {
            // Operands of an instruction are bounded by the facts that hold in its block.
            let results = func.blocks[b].insts.iter().filter_map(|&i| func.insts[i].result);
            results.for_each(|r| home[r.index()] = Some(b));
        }
        let mut g = GroupBounds {
            func,
            params,
            cfg,
            dom,
            constant,
            shared,
            home,
            facts: FxHashMap::default(),
            entries: Vec::new(),
            numbers: FxHashMap::default(),
            known: FxHashMap::default(),
            log: Vec::new(),
            open: FxHashSet::default(),
            assumed_signed: FxHashSet::default(),
            assumed_below: FxHashMap::default(),
            obligations: Vec::new(),
            fuel: FUEL,
        };
        branch_facts::comparisons(func, cfg, MAX_COMPARISONS, |v, fact| g.fact(v, fact));
        g
    }

    /// The bound of a value at its definition, if it is at most `limit`: as a check, unless it is known to be.
    pub fn within(&mut self, v: Value, limit: u64) -> Option<Bound> {
        let bound = self.of_definition(v, MAX_DEPTH)?;
        self.limited(bound, limit)
    }

    /// That a value is below a number of 64 bits that the group knows, where a block ends: as a check.
    pub fn below(&mut self, v: Value, limit: Value, at: Block) -> Option<Bound> {
        let limit = match self.func.const_bits(limit) {
            Some(limit) => self.add(Expr::Const(limit.min(MAX_BOUND)))?,
            // Its own size is no matter: it is compared, and nothing is computed from it.
            None if self.is_shared(limit) => self.number(Expr::Value(limit), 0, MAX_BOUND, None),
            None => return None,
        };
        let bound = self.of(v, at, MAX_DEPTH)?;
        let one = self.add(Expr::Const(1))?;
        let above = self.add(Expr::Add(bound, one))?;
        self.add(Expr::NotBelow(limit, above))
    }

    /// Whether a bound is known to hold, without a check.
    pub fn is_known(&self, bound: Bound) -> bool {
        self.checks(&[bound]).is_empty()
    }

    /// How many checks these bounds need.
    pub fn count_checks(&self, bounds: &[Bound]) -> usize {
        let mut all = bounds.to_vec();
        // Bounds were taken for granted by induction; without their checks, the others prove nothing.
        all.extend(&self.obligations);
        self.checks(&all).len()
    }

    /// The bounds with checks that these are made of, and they themselves.
    fn checks(&self, bounds: &[Bound]) -> Vec<Bound> {
        let mut seen: FxHashSet<Bound> = bounds.iter().copied().collect();
        let mut stack: Vec<Bound> = seen.iter().copied().collect();
        let mut found = Vec::new();
        while let Some(b) = stack.pop() {
            let Entry { expr, limit, .. } = self.entries[b.0 as usize];
            // The other bounds are exact by constants, if their operands hold.
            if limit.is_some() || matches!(expr, Expr::NotBelow(..)) {
                found.push(b);
            }
            let (x, y) = operands(expr);
            stack.extend([x, y].into_iter().flatten().filter(|&p| seen.insert(p)));
        }
        // By number, so that the code does not depend on the order of a hash set.
        found.sort_by_key(|b| b.0);
        found
    }

    /// A new bound, if it may be within the limits.
    fn add(&mut self, expr: Expr) -> Option<Bound> {
        let most = |b: Bound| self.entries[b.0 as usize].most;
        let is_const = |b: Bound| match self.entries[b.0 as usize].expr {
            Expr::Const(c) => Some(c),
            _ => None,
        };
        // `x + 0xffffffff` is `x - 1`, and a product with a hash's factor is meant to wrap: a check would fail for
        // every group.
        if let Expr::Add(x, y) | Expr::Mul(x, y) = expr {
            let large = if matches!(expr, Expr::Mul(..)) { MAX_FACTOR } else { MAX_SIGNED };
            if [x, y].into_iter().filter_map(is_const).any(|c| c > large) {
                return None;
            }
        }
        // The largest number that the expression may have, by constants alone. (Operands are at most `MAX_BOUND`, so
        // that sums do not overflow 64 bits.)
        let all = match expr {
            Expr::Const(c) => c,
            Expr::Value(v) => self.constant.max(v),
            Expr::LastLocal(_) => crate::params::MAX_LOCAL_SIZE,
            Expr::LastGlobal(_) => crate::params::MAX_ID,
            Expr::Add(x, y) => most(x) + most(y),
            Expr::Mul(x, y) => most(x).saturating_mul(most(y)),
            Expr::Max(x, y) => most(x).max(most(y)),
            Expr::Shr(x, by) => most(x) >> by,
            Expr::Below(x) => most(x).saturating_sub(1),
            Expr::Given(x, _) | Expr::NotBelow(x, _) => most(x),
        };
        let folded = match expr {
            Expr::Add(x, y) => is_const(x).zip(is_const(y)).map(|(x, y)| x + y),
            Expr::Mul(x, y) => is_const(x).zip(is_const(y)).map(|(x, y)| x.saturating_mul(y)),
            Expr::Max(x, y) => is_const(x).zip(is_const(y)).map(|(x, y)| x.max(y)),
            Expr::Shr(x, by) => is_const(x).map(|x| x >> by),
            Expr::Below(x) => is_const(x).map(|x| x.saturating_sub(1)),
            // A constant that is below what may be subtracted: the check might never hold.
            Expr::NotBelow(x, y) if is_const(x).is_some_and(|x| most(y) > x && is_const(y).is_some()) => return None,
            Expr::NotBelow(x, y) if is_const(y) == Some(0) => return Some(x),
            _ => None,
        };
        let expr = folded.map_or(expr, Expr::Const);
        // The bound never holds: no check, no promise.
        if matches!(expr, Expr::Const(c) if c > MAX_BOUND) {
            return None;
        }
        // The smallest number that the expression may have: if that is above the limit, the check never holds.
        let least = |b: Bound| self.entries[b.0 as usize].least;
        let least = match expr {
            Expr::Const(c) => c,
            Expr::Value(_) | Expr::LastLocal(_) | Expr::LastGlobal(_) => 0,
            Expr::Add(x, y) => least(x) + least(y),
            Expr::Mul(x, y) => least(x).saturating_mul(least(y)),
            Expr::Max(x, y) => least(x).max(least(y)),
            Expr::Shr(x, by) => least(x) >> by,
            Expr::Below(x) => least(x).saturating_sub(1),
            Expr::Given(x, _) | Expr::NotBelow(x, _) => least(x),
        };
        // A check is needed only where constants do not keep the expression within 32 bits.
        let limit = (all > MAX_BOUND).then_some(MAX_BOUND);
        (least <= MAX_BOUND).then(|| self.number(expr, least, all.min(MAX_BOUND), limit))
    }

    fn number(&mut self, expr: Expr, least: u64, most: u64, limit: Option<u64>) -> Bound {
        // Equal expressions have one number, so that they are computed and checked once.
        let entries = &mut self.entries;
        *self.numbers.entry((expr, limit)).or_insert_with(|| {
            entries.push(Entry { expr, least, most, limit });
            Bound(entries.len() as u32 - 1)
        })
    }

    /// The bound with a lower limit.
    fn limited(&mut self, bound: Bound, limit: u64) -> Option<Bound> {
        let Entry { least, most, .. } = self.entries[bound.0 as usize];
        if most <= limit {
            return Some(bound);
        }
        // A check that never holds would cost a copy, and all groups the vectors.
        (least <= limit).then(|| self.number(Expr::Given(bound, bound), least, limit, Some(limit)))
    }

    /// Whether the group knows a value, so that it is the same in all lanes and iterations.
    pub fn is_shared(&mut self, v: Value) -> bool {
        self.func.ty(v).is_int() && !self.func.ty(v).is_vector() && self.shared.has(v)
    }

    /// The bound of a value where a block runs.
    fn of(&mut self, v: Value, at: Block, depth: u32) -> Option<Bound> {
        let own = self.of_definition(v, depth);
        let is_const = own.is_some_and(|own| matches!(self.entries[own.0 as usize].expr, Expr::Const(_)));
        let facts = self.facts.get(&v).cloned().unwrap_or_default();
        if is_const || depth == 0 {
            return own;
        }
        // The innermost condition first: facts are collected in reverse postorder, and a dominator comes before what it
        // dominates.
        for fact in facts.into_iter().rev().filter(|fact| self.dom.dominates(fact.block, at)) {
            if let Some(bound) = self.by_fact(v, own, fact, depth) {
                return Some(bound);
            }
        }
        own
    }

    /// The bound that a condition gives.
    fn by_fact(&mut self, v: Value, own: Option<Bound>, fact: Fact, depth: u32) -> Option<Bound> {
        let is_open = self.open.contains(&v);
        if fact.cc == IntCc::Ne {
            // Of a counter that ends at a number: see `of_param`.
            if !is_open || !self.is_shared(fact.other) || self.func.ty(fact.other) != self.func.ty(v) {
                return None;
            }
            let end = self.of_definition(fact.other, depth - 1)?;
            // One end for each counter: the induction is over one number.
            if self.assumed_below.entry(v).or_insert((end, fact.block)).0 != end {
                return None;
            }
            return self.add(Expr::Below(end));
        }
        // Where the branch is, not where the fact is used: what bounds `other` there holds at the comparison.
        let other = self.of(fact.other, fact.before, depth - 1)?;
        let bound = match fact.cc {
            // `Below` gives 0 for 0: no number without a sign is below that.
            IntCc::Ult | IntCc::Slt => self.add(Expr::Below(other))?,
            _ => other,
        };
        if matches!(fact.cc, IntCc::Ult | IntCc::Ule | IntCc::Eq) || self.constant.max(v) <= self.sign(v) {
            return Some(bound);
        }
        // With a sign, it must not be negative.
        if is_open {
            self.assumed_signed.insert(v);
            return Some(bound);
        }
        // `v < n` with a sign also holds for a negative `v`, which is a large number without one. So it must have a
        // bound of its own, of 31 bits.
        let own = own?;
        let sign = self.sign(v);
        let own = self.limited(own, sign)?;
        self.add(Expr::Given(bound, own))
    }

    /// The largest number of a value's type that is the same with and without a sign, if bounds can be that large.
    fn sign(&self, v: Value) -> u64 {
        self.func.ty(v).scalar.mask() >> 1
    }

    /// The bound of a value at its definition.
    fn of_definition(&mut self, v: Value, depth: u32) -> Option<Bound> {
        if let Some(&known) = self.known.get(&v) {
            return known;
        }
        if depth == 0 || self.fuel == 0 || self.open.contains(&v) || !self.func.ty(v).is_int() {
            return None;
        }
        // Chains of definitions may branch at each step: the depth alone does not bound the time.
        self.fuel -= 1;
        let found = match self.func.values[v].def {
            // A value that the group computes is its own bound, and the best one.
            _ if self.is_shared(v) => match self.func.const_bits(v) {
                Some(c) => self.add(Expr::Const(c)),
                None => self.add(Expr::Value(v)),
            },
            ValueDef::Param(b, k) if b == self.func.entry() => match self.params[k as usize] {
                Param::LocalId(d) => self.add(Expr::LastLocal(d)),
                Param::GlobalId(d) => self.add(Expr::LastGlobal(d)),
                _ => None,
            },
            ValueDef::Param(b, k) => self.of_param(v, b, k as usize, depth),
            ValueDef::Inst(i) => self.of_inst(i, v, depth),
        };
        let constant = self.constant.max(v);
        // The interval analysis knows of operations that have no case here.
        let found = found.or_else(|| if constant < MAX_BOUND { self.add(Expr::Const(constant)) } else { None });
        self.known.insert(v, found);
        self.log.push(v);
        found
    }

    /// The bound of a block's parameter: of all its arguments, and by induction if it is a loop's.
    fn of_param(&mut self, v: Value, b: Block, k: usize, depth: u32) -> Option<Bound> {
        // Remembers what was found before, so that all that follows can be taken back.
        let (mark, obliged) = (self.log.len(), self.obligations.len());
        // While it is open, its own bound is unknown: `of_definition` returns nothing for it, and facts about it alone
        // count.
        self.open.insert(v);
        let found = self.of_arguments(v, b, k, depth);
        self.open.remove(&v);
        let (signed, end) = (self.assumed_signed.remove(&v), self.assumed_below.remove(&v));
        let found = found.and_then(|(start, all)| {
            let mut bound = match end {
                // From `start` up to `end`, one by one.
                Some((end, _)) => self.add(Expr::NotBelow(end, start))?,
                None => all,
            };
            if signed {
                bound = self.limited(bound, self.sign(v))?;
            }
            Some(bound)
        });
        // The induction rests on this bound, also where nobody asks for it again.
        if signed || end.is_some() {
            self.obligations.extend(found);
        }
        // What was found while the parameter was open is wrong if an assumption was, and else may be better.
        for x in self.log.split_off(mark) {
            match (found, self.known.get(&x)) {
                // A bound that was found is right now that the induction is. A value without one may have lacked only
                // this parameter's.
                (Some(_), Some(Some(_))) => self.log.push(x),
                _ => drop(self.known.remove(&x)),
            }
        }
        if found.is_none() {
            // Checks for inner assumptions, which are dropped with the bounds that needed them.
            self.obligations.truncate(obliged);
        }
        found
    }

    /// The bound of what a parameter gets from outside of its loop, and from everywhere.
    fn of_arguments(&mut self, v: Value, b: Block, k: usize, depth: u32) -> Option<(Bound, Bound)> {
        let func = self.func;
        // The neutral element of the maximum.
        let zero = self.add(Expr::Const(0))?;
        let (mut start, mut all, mut back) = (zero, zero, Vec::new());
        // From outside first, as that fails soon.
        let mut preds = self.cfg.preds(b).to_vec();
        preds.sort_by_key(|&p| (self.dom.dominates(b, p), p));
        preds.dedup();
        for p in preds {
            let is_back = self.dom.dominates(b, p);
            for arg in func.blocks[p].term.edges().iter().filter(|e| e.block == b).map(|e| e.args[k]) {
                // A path through the loop that leaves the value as it is.
                if arg == v {
                    continue;
                }
                let bound = self.of(arg, p, depth - 1)?;
                all = self.add(Expr::Max(all, bound))?;
                if is_back {
                    back.push((p, arg));
                } else {
                    start = self.add(Expr::Max(start, bound))?;
                }
            }
        }
        // A counter does not pass the number at which it ends if each iteration that goes on is below it, and adds one.
        let is_below = |end: Block| back.iter().all(|&(p, arg)| self.dom.dominates(end, p) && is_next(func, v, arg));
        let is_sound = self.assumed_below.get(&v).is_none_or(|&(_, block)| is_below(block));
        is_sound.then_some((start, all))
    }

    fn of_inst(&mut self, i: Inst, v: Value, depth: u32) -> Option<Bound> {
        let func = self.func;
        let data = &func.insts[i];
        // A value of a block that is not in the layout has no home.
        let at = self.home[v.index()]?;
        if func.ty(v).is_vector() {
            return None;
        }
        let constant = |k: usize| func.const_bits(data.args[k]);
        match data.op {
            Op::Binary(BinOp::Add) => {
                let (x, y) = self.both(data.args[0], data.args[1], at, depth)?;
                self.add(Expr::Add(x, y))
            }
            // Bits of neither are carried.
            Op::Binary(BinOp::Or | BinOp::Xor) => {
                let (x, y) = self.both(data.args[0], data.args[1], at, depth)?;
                self.add(Expr::Add(x, y))
            }
            Op::Binary(BinOp::Mul) => {
                let (x, y) = self.both(data.args[0], data.args[1], at, depth)?;
                self.add(Expr::Mul(x, y))
            }
            // What is subtracted from must be known exactly.
            Op::Binary(BinOp::Sub) if self.is_shared(data.args[0]) => {
                let x = self.of_definition(data.args[0], depth - 1)?;
                let y = self.of(data.args[1], at, depth - 1)?;
                self.add(Expr::NotBelow(x, y))
            }
            Op::Binary(BinOp::Shl) => {
                // Longer shifts are those of hashes, as factors above `MAX_FACTOR` are.
                let by = constant(1).filter(|&by| by < 24)?;
                let (x, by) = (self.of(data.args[0], at, depth - 1)?, self.add(Expr::Const(1 << by))?);
                self.add(Expr::Mul(x, by))
            }
            Op::Binary(BinOp::Lshr) => {
                let by = constant(1).filter(|&by| by < u64::from(func.ty(v).scalar.bits()))?;
                let x = self.of(data.args[0], at, depth - 1)?;
                self.add(Expr::Shr(x, by as u32))
            }
            // Division by zero divides by one (`ranges`), so that a quotient is never above the dividend.
            Op::Binary(BinOp::Udiv) => self.of(data.args[0], at, depth - 1),
            // A remainder by zero is zero.
            Op::Binary(BinOp::Urem) => match self.of(data.args[1], at, depth - 1) {
                Some(n) => self.add(Expr::Below(n)),
                None => self.of(data.args[0], at, depth - 1),
            },
            Op::Binary(BinOp::And | BinOp::Umin) => {
                // Either operand is a bound. The second first: in canonical form that is where constants are.
                let y = self.of(data.args[1], at, depth - 1);
                y.or_else(|| self.of(data.args[0], at, depth - 1))
            }
            Op::Binary(BinOp::Umax) => {
                let (x, y) = self.both(data.args[0], data.args[1], at, depth)?;
                self.add(Expr::Max(x, y))
            }
            Op::Select => {
                let (x, y) = self.both(data.args[1], data.args[2], at, depth)?;
                self.add(Expr::Max(x, y))
            }
            // A bound of 32 bits keeps its number in as many.
            Op::Cast(CastOp::Trunc) if func.ty(v) == Type::I32 => self.of(data.args[0], at, depth - 1),
            Op::Cast(CastOp::Zext) if func.ty(data.args[0]) != Type::I1 => self.of(data.args[0], at, depth - 1),
            Op::Cast(CastOp::Sext) if func.ty(data.args[0]) == Type::I32 => {
                let x = self.of(data.args[0], at, depth - 1)?;
                self.limited(x, MAX_SIGNED)
            }
            _ => None,
        }
    }

    fn both(&mut self, x: Value, y: Value, at: Block, depth: u32) -> Option<(Bound, Bound)> {
        Some((self.of(x, at, depth - 1)?, self.of(y, at, depth - 1)?))
    }

    fn fact(&mut self, v: Value, fact: Fact) {
        let cc = fact.cc;
        if !matches!(cc, IntCc::Ult | IntCc::Ule | IntCc::Slt | IntCc::Sle | IntCc::Eq | IntCc::Ne) {
            return;
        }
        self.facts.entry(v).or_default().push(fact);
        // A number that was widened is the number before, if it is not negative.
        if let Some(&Op::Cast(op @ (CastOp::Zext | CastOp::Sext))) = self.func.def_op(v)
            && let Some(i) = self.func.def_inst(v)
            && cc != IntCc::Ne
        {
            let cc = match (op, cc) {
                // A zero-extended number has no sign bit, so that the comparison reads it without a sign either way.
                (CastOp::Zext, IntCc::Slt) => IntCc::Ult,
                (CastOp::Zext, IntCc::Sle) => IntCc::Ule,
                (CastOp::Sext, IntCc::Ult) => IntCc::Slt,
                (CastOp::Sext, IntCc::Ule | IntCc::Eq) => IntCc::Sle,
                (_, cc) => cc,
            };
            let x = self.func.insts[i].args[0];
            self.facts.entry(x).or_default().push(Fact { cc, ..fact });
        }
    }
}

/// Whether a counter's next number is one more.
fn is_next(func: &Function, counter: Value, next: Value) -> bool {
    let Some(data) = func.def_inst(next).map(|i| &func.insts[i]) else { return false };
    data.op == Op::Binary(BinOp::Add) && data.args[0] == counter && func.const_bits(data.args[1]) == Some(1)
}

fn operands(expr: Expr) -> (Option<Bound>, Option<Bound>) {
    match expr {
        Expr::Const(_) | Expr::Value(_) | Expr::LastLocal(_) | Expr::LastGlobal(_) => (None, None),
        Expr::Shr(x, _) | Expr::Below(x) => (Some(x), None),
        Expr::Add(x, y) | Expr::Mul(x, y) | Expr::Max(x, y) | Expr::Given(x, y) | Expr::NotBelow(x, y) => {
            (Some(x), Some(y))
        }
    }
}
