//! Group intervals: between which numbers the integers of a group's work-items lie, as expressions that the group
//! computes before they run.
//!
//! In comes the function of a continuation; out goes, for an offset that is checked against a size, a *claim*: what
//! must hold so that the check does ([`GroupIntervals::claim`]).
//!
//! ```c
//! int x = get_global_id(0), y = get_global_id(1);
//! if (x > 0 && y > 0 && x < w && y < h) out[y * w + x] = in[(y - 1) * w + x - 1];
//! ```
//!
//! Here `y - 1` lies between `max(first_y, 1) - 1` and `min(last_y, h - 1) - 1`, and so on up to the offset.
//!
//! [`group_bounds`](crate::analysis::group_bounds) has upper ends alone, of numbers read without a sign, for indices
//! that must not wrap. Here numbers have a sign, and both ends: a number is below zero only if its lower end is. A
//! value is looked at from the block that uses it, so that the conditions of branches on the way there count for all
//! that it is made of: they hold for the same execution of the instructions that it was computed by, as a definition
//! dominates its uses.
//!
//! Operations wrap. So each one has a *need*: that its ends lie within its type. Needs that constants do not satisfy
//! are checked by the group, beside the claim. Numbers of 64 bits are kept within 40, so that the group's own
//! arithmetic does not wrap: where an end exceeds that, a need of what it is made of fails first.
//!
//! While the parameter of a loop's header is being looked at, it counts as unknown where it is used; the conditions of
//! branches still bound it. A counter that only grows is never below its start: its next value is not above the ends of
//! its type where a condition bounds it before it is increased.

mod ends;
mod facts;
mod operations;

use crate::analysis::active_bound::Shared;
use crate::analysis::bounds::Bounds;
use crate::analysis::branch_facts::{self, Fact};
use crate::analysis::group_code::GroupCode;
use crate::params::Param;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::{BinOp, Block, Function, IntCc, Op, Type, Value, ValueDef};
use ends::{End, Ends, Writer};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Numbers of 64 bits must not be larger, so that sums of some and products with small ones do not wrap.
const MOST: i64 = 1 << 40;

/// The depth of definitions that an interval is made of.
const MAX_DEPTH: u32 = 24;

/// How many definitions are looked at for one claim, and for all.
const FUEL: u32 = 400;
const FUEL_OF_ALL: u32 = 20_000;

/// Conditions of a branch that are looked at.
const MAX_COMPARISONS: u32 = 16;

/// Needs of one claim.
const MAX_NEEDS: usize = 32;

/// That an end lies between two numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Need {
    end: End,
    min: i64,
    max: i64,
}

/// The needs of an interval, each once, in order.
type Needs = Rc<Vec<Need>>;

/// Between which numbers a value lies; an end that is not known is none.
#[derive(Clone, Debug)]
struct Interval {
    low: Option<End>,
    high: Option<End>,
    needs: Needs,
}

impl Interval {
    fn unknown() -> Interval {
        Interval { low: None, high: None, needs: Needs::default() }
    }
}

/// What must hold so that an offset is below a size.
pub struct Claim {
    low: End,
    high: End,
    limit: Value,
    needs: Needs,
}

/// The intervals of a function's integers, found on demand.
pub struct GroupIntervals<'a> {
    func: &'a Function,
    params: &'a [Param],
    cfg: &'a Cfg,
    dom: &'a DomTree,
    constant: &'a Bounds,
    shared: Shared<'a>,
    /// Whether ends are constants alone, and nothing has needs.
    only_constants: bool,
    facts: Rc<FxHashMap<Value, Vec<Fact>>>,
    ends: Ends,
    known: FxHashMap<(Value, Block), Interval>,
    /// Header parameters that are being looked at.
    open: FxHashSet<Value>,
    fuel: u32,
    fuel_of_all: u32,
}

impl<'a> GroupIntervals<'a> {
    /// Of a function with these parameters. `constant`: the largest values that its numbers can have at all.
    pub fn new(
        func: &'a Function,
        params: &'a [Param],
        cfg: &'a Cfg,
        dom: &'a DomTree,
        constant: &'a Bounds,
    ) -> GroupIntervals<'a> {
        let mut facts: FxHashMap<Value, Vec<Fact>> = FxHashMap::default();
        branch_facts::comparisons(func, cfg, MAX_COMPARISONS, |v, fact| facts.entry(v).or_default().push(fact));
        GroupIntervals {
            func,
            params,
            cfg,
            dom,
            constant,
            shared: Shared::new(func, params),
            only_constants: false,
            facts: Rc::new(facts),
            ends: Ends::default(),
            known: FxHashMap::default(),
            open: FxHashSet::default(),
            fuel: 0,
            fuel_of_all: FUEL_OF_ALL,
        }
    }

    /// Of the same function, with ends that are constants and no needs: what is found holds in every group.
    pub fn of_constants(&self) -> GroupIntervals<'a> {
        GroupIntervals {
            shared: Shared::new(self.func, self.params),
            only_constants: true,
            facts: self.facts.clone(),
            ends: Ends::default(),
            known: FxHashMap::default(),
            open: FxHashSet::default(),
            fuel: 0,
            fuel_of_all: FUEL_OF_ALL,
            ..*self
        }
    }

    /// What must hold so that `offset <u limit` does where a block ends. The group knows `limit`, a size of 64 bits.
    pub fn claim(&mut self, offset: Value, limit: Value, at: Block) -> Option<Claim> {
        self.fuel = FUEL.min(self.fuel_of_all);
        self.fuel_of_all -= self.fuel;
        let Interval { low, high, needs } = self.of(offset, at, MAX_DEPTH);
        self.fuel_of_all += self.fuel;
        let (low, high) = (low?, high?);
        // It never holds.
        let is_hopeless = self.ends.range(low).1 < 0 || needs.iter().any(|need| self.is_hopeless(need));
        (!is_hopeless && needs.len() <= MAX_NEEDS).then_some(Claim { low, high, limit, needs })
    }

    fn is_hopeless(&self, need: &Need) -> bool {
        let (least, most) = self.ends.range(need.end);
        most < need.min || least > need.max
    }

    /// What must hold for these claims, each comparison once: the needs, of each end one, and the upper ends with their
    /// limits.
    fn comparisons(&self, claims: &[&Claim]) -> (Vec<Need>, Vec<(End, Value)>) {
        let mut by_end: BTreeMap<End, Need> = BTreeMap::new();
        let lows = claims.iter().map(|c| Need { end: c.low, min: 0, max: i64::MAX });
        for need in claims.iter().flat_map(|c| c.needs.iter().copied()).chain(lows) {
            let both = by_end.entry(need.end).or_insert(need);
            (both.min, both.max) = (both.min.max(need.min), both.max.min(need.max));
        }
        let mut highs: Vec<(End, Value)> = claims.iter().map(|c| (c.high, c.limit)).collect();
        highs.sort_unstable();
        highs.dedup();
        (by_end.into_values().collect(), highs)
    }

    /// How many comparisons these claims take.
    pub fn count_checks(&self, claims: &[&Claim]) -> usize {
        let (needs, highs) = self.comparisons(claims);
        let count = |need: &Need| {
            let (least, most) = self.ends.range(need.end);
            usize::from(least < need.min) + usize::from(most > need.max)
        };
        needs.iter().map(count).sum::<usize>() + highs.len()
    }

    /// Whether `offset <u limit` holds where a block ends, in every group.
    pub fn holds(&mut self, offset: Value, v: Value, at: Block) -> bool {
        let Some(limit) = self.func.const_bits(v) else { return false };
        let Some(claim) = self.claim(offset, v, at) else { return false };
        let (least, most) = (self.ends.range(claim.low).0, self.ends.range(claim.high).1);
        claim.needs.is_empty() && least >= 0 && most >= 0 && (most as u64) < limit
    }

    /// Writes what must hold for these claims: conditions, of which each must.
    pub fn emit(&self, claims: &[&Claim], code: &mut GroupCode<'_>) -> Vec<Value> {
        let (needs, highs) = self.comparisons(claims);
        let mut writer = Writer { ends: &self.ends, code, done: FxHashMap::default() };
        let mut conditions = Vec::new();
        for need in needs {
            let (least, most) = self.ends.range(need.end);
            if least >= need.min && most <= need.max {
                continue;
            }
            let x = writer.end(need.end);
            let mut b = writer.code.b();
            if least < need.min {
                let min = b.iconst(Type::I64, need.min as u64);
                conditions.push(b.icmp(IntCc::Sge, x, min));
            }
            if most > need.max {
                let max = b.iconst(Type::I64, need.max as u64);
                conditions.push(b.icmp(IntCc::Sle, x, max));
            }
        }
        for (high, limit) in highs {
            let (x, limit) = (writer.end(high), writer.code.value(limit));
            // Without a sign: of an upper end below zero, which no work-item reaches, this is not known.
            conditions.push(writer.code.b().icmp(IntCc::Ult, x, limit));
        }
        conditions
    }

    fn is_shared(&mut self, v: Value) -> bool {
        self.func.ty(v).is_int() && !self.func.ty(v).is_vector() && self.shared.has(v)
    }

    /// The interval of a value where a block runs.
    fn of(&mut self, v: Value, at: Block, depth: u32) -> Interval {
        let ty = self.func.ty(v);
        if depth == 0 || self.fuel == 0 || !ty.is_int() || ty.is_vector() {
            return Interval::unknown();
        }
        if let Some(known) = self.known.get(&(v, at)) {
            return known.clone();
        }
        self.fuel -= 1;
        // A number of the group is one that nothing is known of, if only constants are.
        if self.is_shared(v) && !(self.only_constants && self.func.const_bits(v).is_none()) {
            let end = self.ends.value(self.func, self.constant, v);
            let own = Interval { low: Some(end), high: Some(end), needs: Needs::default() };
            return if ty == Type::I64 { self.within(own, -MOST, MOST) } else { own };
        }
        let own = match self.func.values[v].def {
            ValueDef::Param(b, k) if b == self.func.entry() => self.of_entry(k as usize),
            // What it is elsewhere is not known while it is being looked at; facts about it are.
            ValueDef::Param(..) if self.open.contains(&v) => Interval::unknown(),
            ValueDef::Param(b, k) => {
                self.open.insert(v);
                let found = self.of_param(v, b, k as usize, depth);
                self.open.remove(&v);
                found
            }
            ValueDef::Inst(i) => self.of_inst(i, v, at, depth),
        };
        let own = if self.only_constants && !own.needs.is_empty() { Interval::unknown() } else { own };
        let own = self.or_by_type(own, v);
        let found = self.with_facts(own, v, at, depth);
        // What was found while a parameter counted as unknown is right, but may be better later.
        if self.open.is_empty() {
            self.known.insert((v, at), found.clone());
        }
        found
    }

    /// Small numbers have ends by their type, or by what the interval analysis found.
    fn or_by_type(&mut self, own: Interval, v: Value) -> Interval {
        let bits = self.func.ty(v).scalar.bits();
        let most = self.constant.max(v);
        if own.low.is_some() && own.high.is_some() || bits < 32 || most > self.sign(v) as u64 || most > MOST as u64 {
            return own;
        }
        let (zero, most) = (self.ends.constant(0), self.ends.constant(most as i64));
        Interval { low: own.low.or(Some(zero)), high: own.high.or(Some(most)), needs: own.needs }
    }

    /// The largest number of a value's type, with a sign.
    fn sign(&self, v: Value) -> i64 {
        (u64::MAX >> (64 - self.func.ty(v).scalar.bits()) >> 1) as i64
    }

    /// An interval that must lie between two numbers. Its upper end may be below the smaller one: then no work-item has
    /// such a value, and what is said of it is not used.
    fn within(&mut self, of: Interval, min: i64, max: i64) -> Interval {
        let (mut low, mut high, mut new) = (of.low, of.high, Vec::new());
        if let Some(end) = low.filter(|&end| self.ends.range(end).0 < min) {
            new.push(Need { end, min, max: i64::MAX });
            low = Some(self.ends.limited(end, min, i64::MAX));
        }
        if let Some(end) = high.filter(|&end| self.ends.range(end).1 > max) {
            new.push(Need { end, min: i64::MIN, max });
            high = Some(self.ends.limited(end, i64::MIN, max));
        }
        Interval { low, high, needs: joined(&of.needs, &new) }
    }

    /// An interval whose ends must lie within the type of a value: the operation that makes it does not wrap.
    fn within_type(&mut self, of: Interval, v: Value) -> Interval {
        let sign = self.sign(v);
        let most = sign.min(MOST);
        let least = if sign <= MOST { -sign - 1 } else { -MOST };
        self.within(of, least, most)
    }

    fn of_entry(&mut self, k: usize) -> Interval {
        let (low, high) = match self.params[k] {
            Param::LocalId(d) => (self.ends.constant(0), self.ends.last_local(d)),
            Param::GlobalId(_) if self.only_constants => return Interval::unknown(),
            Param::GlobalId(d) => (self.ends.first_global(d), self.ends.last_global(d)),
            _ => return Interval::unknown(),
        };
        Interval { low: Some(low), high: Some(high), needs: Needs::default() }
    }

    /// The interval of a block's parameter: of all its arguments. The lower end of a counter that only grows is that of
    /// its start, and the other way round.
    fn of_param(&mut self, v: Value, b: Block, k: usize, depth: u32) -> Interval {
        let func = self.func;
        let mut preds = self.cfg.preds(b).to_vec();
        preds.sort_unstable();
        preds.dedup();
        let (mut start, mut all): (Option<Interval>, Option<Interval>) = (None, None);
        let (mut grows, mut falls) = (true, true);
        let mut steps = Vec::new();
        for p in preds {
            let is_back = self.dom.dominates(b, p);
            for arg in func.blocks[p].term.edges().iter().filter(|e| e.block == b).map(|e| e.args[k]) {
                // A path through the loop that leaves the value as it is.
                if arg == v {
                    continue;
                }
                let found = self.of(arg, p, depth - 1);
                if is_back {
                    let (up, down) = self.direction(v, arg, p, depth, &mut steps);
                    (grows, falls) = (grows && up, falls && down);
                } else {
                    start = Some(self.join(start, found.clone()));
                }
                all = Some(self.join(all, found));
            }
        }
        let (Some(start), Some(all)) = (start, all) else { return Interval::unknown() };
        let low = if grows { start.low } else { all.low };
        let high = if falls { start.high } else { all.high };
        // Each next value was found without an end of its own: one that is not known makes no claim, and has no need.
        let needs = joined(&joined(&start.needs, &all.needs), &steps);
        Interval { low, high, needs }
    }

    /// Whether the next value of a counter is never smaller, and never larger.
    fn direction(&mut self, v: Value, next: Value, at: Block, depth: u32, steps: &mut Vec<Need>) -> (bool, bool) {
        const NEITHER: (bool, bool) = (false, false);
        let Some(data) = self.func.def_inst(next).map(|i| &self.func.insts[i]) else { return NEITHER };
        let (is_add, by) = match (&data.op, data.args.as_slice()) {
            (Op::Binary(BinOp::Add), &[x, y]) if x == v => (true, y),
            (Op::Binary(BinOp::Add), &[x, y]) if y == v => (true, x),
            (Op::Binary(BinOp::Sub), &[x, y]) if x == v => (false, y),
            _ => return NEITHER,
        };
        // The next value itself does not wrap: a condition bounds the counter before the step.
        let found = self.of(next, at, depth - 1);
        let by = self.of(by, at, depth - 1);
        let (Some(low), Some(high)) = (by.low, by.high) else { return NEITHER };
        steps.extend(by.needs.iter().copied());
        let is_up = match (self.ends.range(low), self.ends.range(high)) {
            ((0.., _), _) => is_add,
            (_, (_, ..=0)) => !is_add,
            _ => {
                steps.push(Need { end: low, min: 0, max: i64::MAX });
                is_add
            }
        };
        match is_up {
            true => (found.high.is_some(), false),
            false => (false, found.low.is_some()),
        }
    }

    /// What lies in one of two intervals, if there is a first.
    fn join(&mut self, x: Option<Interval>, y: Interval) -> Interval {
        let Some(x) = x else { return y };
        let low = x.low.zip(y.low).map(|(a, b)| self.ends.min(a, b));
        let high = x.high.zip(y.high).map(|(a, b)| self.ends.max(a, b));
        Interval { low, high, needs: joined(&x.needs, &y.needs) }
    }
}

/// The needs of both, in order and each once.
fn joined(x: &Needs, y: &[Need]) -> Needs {
    if y.is_empty() {
        return x.clone();
    }
    let mut all: Vec<Need> = x.iter().chain(y).copied().collect();
    all.sort_unstable();
    all.dedup();
    Rc::new(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::group_code::Condition;
    use cloom_ir::Query;

    /// A group of a launch: its ids, and how many work-items it has in each dimension.
    #[derive(Clone, Copy)]
    struct Group {
        id: [u64; 2],
        size: u64,
    }

    /// The condition for `v20 <u v4` in block `bb9`, which is in `body`. v2 and v3 are the global ids as `i32`, v10 and
    /// v11 the arguments `w` and `h`, v4 is a size; v30 to v33 are 0, 1, -1 and 4.
    fn condition(body: &str) -> Option<Condition> {
        let text = format!(
            "func internal @f(i64, i64, i32, i32, i64) {{
bb0(v0: i64, v1: i64, v10: i32, v11: i32, v4: i64):
    v2: i32 = trunc v0
    v3: i32 = trunc v1
    v30: i32 = const 0x0
    v31: i32 = const 0x1
    v32: i32 = const 0xffffffff
    v33: i64 = const 0x4
{body}
}}"
        );
        let module = cloom_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let func = module.funcs.values().next().unwrap();
        let (cfg, params) = (
            Cfg::new(func),
            [Param::GlobalId(0), Param::GlobalId(1), Param::Kernel(0), Param::Kernel(1), Param::Kernel(2)],
        );
        let dom = DomTree::new(func, &cfg);
        let largest = [crate::params::MAX_ID, crate::params::MAX_ID, u64::MAX, u64::MAX, u64::MAX];
        let constant = Bounds::new(func, &largest);
        let mut intervals = GroupIntervals::new(func, &params, &cfg, &dom, &constant);
        // The check is the only comparison without a sign of two numbers of 64 bits.
        let is_check = |op: &Op, args: &[Value]| *op == Op::Icmp(IntCc::Ult) && func.ty(args[0]) == Type::I64;
        let check =
            |b: &Block| func.blocks[*b].insts.iter().find(|&&i| is_check(&func.insts[i].op, &func.insts[i].args));
        let (at, &inst) = func.layout.iter().find_map(|b| Some((*b, check(b)?))).unwrap();
        let args = &func.insts[inst].args;
        let claim = intervals.claim(args[0], args[1], at)?;
        let mut code = GroupCode::new("f.check", func, &params);
        let conditions = intervals.emit(&[&claim], &mut code);
        Some(code.condition(conditions))
    }

    /// Whether the condition holds for a group in groups of 16 by 16.
    fn holds(condition: &Condition, group: Group, [w, h, size]: [i64; 3]) -> bool {
        let holds = condition.holds(|p| match p {
            Param::Kernel(0) => w as u32 as u64,
            Param::Kernel(1) => h as u32 as u64,
            Param::Kernel(_) => size as u64,
            Param::Query(Query::GroupId, d) => group.id[usize::from(d)],
            Param::Query(Query::GlobalOffset, _) => 0,
            Param::Query(Query::EnqueuedLocalSize, _) => 16,
            Param::Query(Query::LocalSize, _) => group.size,
            p => panic!("{p:?}"),
        });
        holds.unwrap()
    }

    fn at(x: u64, y: u64) -> Group {
        Group { id: [x, y], size: 16 }
    }

    /// The neighbour above and to the left, where there is one.
    const NEIGHBOUR: &str = "    v12: i1 = icmp sgt v2, v30
    br v12, bb1, bb8
bb1:
    v13: i1 = icmp ne v3, v30
    br v13, bb2, bb8
bb2:
    v14: i1 = icmp slt v2, v10
    br v14, bb3, bb8
bb3:
    v15: i1 = icmp slt v3, v11
    br v15, bb9, bb8
bb9:
    v16: i32 = add v3, v32
    v17: i32 = mul v16, v10
    v18: i32 = add v17, v2
    v19: i32 = sub v18, v31
    v21: i64 = sext v19
    v20: i64 = mul v21, v33
    v22: i1 = icmp ult v20, v4
    br v22, bb8, bb8
bb8:
    ret";

    #[test]
    fn neighbours_are_inside_where_conditions_say_so() {
        let condition = condition(NEIGHBOUR).unwrap();
        // The group in the corner has no neighbours outside, because its first ids are excluded. The largest offset is
        // 4 * ((h - 2) * w + w - 2) in the last group.
        for (group, w, h, last) in [(at(0, 0), 64, 64, 14 * 64 + 14), (at(3, 3), 64, 64, 62 * 64 + 62)] {
            assert!(holds(&condition, group, [w, h, 4 * last + 1]));
            assert!(!holds(&condition, group, [w, h, 4 * last]));
        }
        // A picture that ends within the group.
        assert!(holds(&condition, at(3, 3), [50, 50, 4 * (48 * 50 + 48) + 1]));
        assert!(!holds(&condition, at(3, 3), [50, 50, 4 * (48 * 50 + 48)]));
        // Products that wrap, and a width below zero.
        assert!(!holds(&condition, at(0, 4096), [1 << 16, 1 << 17, 1 << 62]));
        assert!(!holds(&condition, at(0, 0), [-5, 64, 1 << 40]));
    }

    #[test]
    fn without_a_condition_a_neighbour_may_lie_before_the_object() {
        let body = NEIGHBOUR.replace("icmp ne v3, v30", "icmp ne v3, v31");
        let condition = condition(&body).unwrap();
        assert!(!holds(&condition, at(0, 0), [64, 64, 1 << 20]));
        assert!(holds(&condition, at(0, 1), [64, 64, 1 << 20]));
    }

    #[test]
    fn a_number_that_differs_from_its_upper_end_is_below() {
        let body = "    v5: i32 = sub v10, v31
    v12: i1 = icmp slt v2, v10
    br v12, bb1, bb8
bb1:
    v13: i1 = icmp eq v2, v5
    br v13, bb8, bb9
bb9:
    v18: i32 = add v2, v31
    v20: i64 = zext v18
    v22: i1 = icmp ult v20, v4
    br v22, bb8, bb8
bb8:
    ret";
        let condition = condition(body).unwrap();
        assert!(holds(&condition, at(3, 0), [60, 0, 60]) && !holds(&condition, at(3, 0), [60, 0, 59]));
    }

    /// A loop over v6 that starts with `start`, runs while `test`, and goes on with `next`.
    fn looped(start: &str, test: &str, next: &str) -> Option<Condition> {
        condition(&format!(
            "    jump bb1({start})
bb1(v6: i32):
    v12: i1 = icmp {test}
    br v12, bb9, bb8
bb9:
    v20: i64 = sext v6
    v22: i1 = icmp ult v20, v4
    br v22, bb2, bb2
bb2:
    v7: i32 = {next}
    jump bb1(v7)
bb8:
    ret"
        ))
    }

    #[test]
    fn counters_lie_between_their_start_and_their_end() {
        let up = looped("v30", "slt v6, v10", "add v6, v31").unwrap();
        assert!(holds(&up, at(0, 0), [100, 0, 100]) && !holds(&up, at(0, 0), [101, 0, 100]));
        let down = looped("v10", "sge v6, v30", "add v6, v32").unwrap();
        assert!(holds(&down, at(0, 0), [100, 0, 101]) && !holds(&down, at(0, 0), [100, 0, 100]));
        // A step that the host gives must not be below zero.
        let by = looped("v30", "slt v6, v10", "add v6, v11").unwrap();
        assert!(holds(&by, at(0, 0), [100, 8, 200]) && !holds(&by, at(0, 0), [100, -8, 200]));
        // The next value might wrap.
        assert!(!holds(&by, at(0, 0), [i64::from(i32::MAX), 8, 1 << 40]));
    }

    #[test]
    fn counters_without_an_end_have_none() {
        for (start, test, next) in [
            ("v30", "ne v6, v10", "add v6, v31"),
            ("v30", "slt v6, v10", "add v6, v32"),
            ("v10", "sge v6, v30", "add v6, v31"),
            ("v30", "slt v6, v10", "mul v6, v11"),
            ("v30", "slt v2, v10", "add v6, v31"),
        ] {
            let found = looped(start, test, next);
            assert!(found.is_none_or(|c| !holds(&c, at(0, 0), [100, 2, 1 << 20])), "{start} {test} {next}");
        }
    }

    #[test]
    fn a_clamped_index_has_both_ends() {
        let clamped = |how: &str| {
            condition(&format!(
                "    v12: i32 = add v2, v32
    v13: i1 = icmp sgt v2, v30
{how}
    v20: i64 = sext v14
    v22: i1 = icmp ult v20, v4
    br v22, bb8, bb8
bb8:
    ret"
            ))
            .unwrap()
        };
        for how in ["    v14: i32 = smax v12, v30", "    v14: i32 = select v13, v12, v30"] {
            let condition = clamped(how);
            assert!(holds(&condition, at(0, 0), [0, 0, 15]) && !holds(&condition, at(0, 0), [0, 0, 14]), "{how}");
        }
        // The other way round, it is not clamped.
        let wrong = clamped("    v14: i32 = select v13, v30, v12");
        assert!(!holds(&wrong, at(0, 0), [0, 0, 1 << 20]));
    }

    #[test]
    fn an_index_into_an_array_that_is_clamped_holds_in_every_group() {
        let text = |width: &str, limit: u64| {
            format!(
                "func internal @f(i32) {{
bb0(v1: i32):
    v2: i32 = const 0x0
    v3: i32 = const 0x1
    v4: i32 = const 0x10
    v5: i64 = const {limit:#x}
    v6: i32 = {width}
    jump bb1(v2)
bb1(v7: i32):
    v8: i1 = icmp sle v7, v6
    br v8, bb2, bb4
bb2:
    v9: i64 = sext v7
    v10: i1 = icmp ult v9, v5
    br v10, bb3, bb3
bb3:
    v11: i32 = add v7, v3
    jump bb1(v11)
bb4:
    ret
}}"
            )
        };
        let holds = |width: &str, limit: u64| {
            let module = cloom_ir::parse(&text(width, limit)).unwrap();
            let func = module.funcs.values().next().unwrap();
            let (cfg, params) = (Cfg::new(func), [Param::Kernel(0)]);
            let (dom, constant) = (DomTree::new(func, &cfg), Bounds::new(func, &[u64::MAX]));
            let mut intervals = GroupIntervals::new(func, &params, &cfg, &dom, &constant).of_constants();
            let check = |b: &Block| {
                let is_check = |&&i: &&cloom_ir::Inst| func.insts[i].op == Op::Icmp(IntCc::Ult);
                func.blocks[*b].insts.iter().find(is_check).map(|&i| (*b, &func.insts[i].args))
            };
            let (at, args) = func.layout.iter().find_map(check).unwrap();
            intervals.holds(args[0], args[1], at)
        };
        // Up to 16, whatever the argument is.
        assert!(holds("smin v1, v4", 17) && !holds("smin v1, v4", 16));
        assert!(!holds("smax v1, v4", 1 << 20) && !holds("add v1, v4", 1 << 20));
    }
}
