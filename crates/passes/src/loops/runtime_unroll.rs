//! Runtime unrolling of loops whose step is known at run time only, as those are in which work-items take turns.
//!
//! ```text
//! for (uint i = l; i < n; i += size)        last = n > 3·size ? n - 3·size : 0;
//!     sum += a[i];                     ▸    for (; i < last; i += 4·size)
//!                                               sum = sum + a[i] + a[i + size] + a[i + 2·size] + a[i + 3·size];
//!                                           for (; i < n; i += size)
//!                                               sum += a[i];
//! ```
//!
//! The loads of an unrolled iteration are in flight together. It is for machines that do not look ahead over branches:
//! on an H200, the sum of a grid-stride loop took a sixth of the time with eight iterations at once and a third with
//! four, a histogram with a load of 16 bytes an iteration half with four. LLVM, whose runtime unrolling computes the
//! trip count, leaves such loops alone: the counter may wrap, and the trip count is a division. What is checked here is
//! only that so many iterations follow, which is one comparison: if `i < n - 3·step` then `i + 3·step < n`, and no sum
//! on the way wraps.
//!
//! A loop is a header, which tests the counter against a bound, and a body without branches, over which the compiler of
//! a GPU's driver would not move loads. Loads of memory that the loop does not write are hoisted to the begin of the
//! unrolled iteration: that compiler moves some of them over writes of other memory, and leaves others where they are.
//! The order of all else is kept.

use crate::pass::Pass;
use cloom_ir::affine::{Ext, HeaderTest};
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::{Loop, Loops};
use cloom_ir::{
    BinOp, Block, Builder, CloneMap, Edge, Effects, Flags, Function, Inst, InstData, IntCc, Op, Order, Space, Span,
    Term, Value, ValueDef,
};
use rustc_hash::FxHashSet;

/// The pass.
pub const PASS: Pass = Pass::new("runtime-unroll", "loops with loads whose step only running them shows", run);

/// Larger loops are not unrolled, in operations.
const SIZE: usize = 160;
/// How many iterations become one.
const COUNT: usize = 4;
/// Of smaller loops twice as many do, and then what is left over by [`COUNT`].
const SMALL_SIZE: usize = 40;
/// The most operations added to a function.
const GROWTH: usize = 4_000;

/// How a loop counts.
pub(super) struct Steps {
    /// The block that enters the loop.
    pub before: Block,
    /// The test in the header.
    pub test: HeaderTest,
    /// As which numbers the counter and its bound are read.
    reading: Ext,
    /// What the counter grows by, or what it is reduced by.
    pub step: Value,
}

/// A loop to unroll.
struct Plan {
    header: Block,
    body: Block,
    /// The step is defined outside of the loop.
    steps: Steps,
    /// How many iterations become one, in each of the loops in front of it, the last one first.
    counts: &'static [usize],
    /// The operations that are added.
    growth: usize,
}

/// Runs the pass. Returns how often it changed something.
pub fn run(func: &mut Function) -> usize {
    let cfg = Cfg::new(func);
    let dom = DomTree::new(func, &cfg);
    let loops = Loops::new(func, &cfg, &dom);
    let mut growth = 0;
    let mut fits = |plan: &Plan| {
        growth += plan.growth;
        growth <= GROWTH
    };
    // All plans first, since the analyses know the function as it is now. Innermost loops share no block.
    let plans = loops.without_inner().filter_map(|l| plan(func, &cfg, l));
    let plans: Vec<Plan> = plans.take_while(|plan| fits(plan)).collect();
    plans.iter().for_each(|plan| carry_out(func, plan));
    plans.len()
}

fn plan(func: &Function, cfg: &Cfg, l: &Loop) -> Option<Plan> {
    let (header, body) = l.header_and_body(func)?;
    let steps = Steps::of(func, cfg, l, body).filter(|steps| !steps.descends())?;
    let flags = func.insts[func.def_inst(args_of(func, body, header)[steps.test.index])?].flags;
    // LLVM computes the trip count of others.
    let is_known = func.const_bits(steps.step).is_some_and(|step| step == 1 || flags.contains(steps.promise()));

    let insts = || func.insts_in(&l.blocks).map(|(_, data)| data);
    // Work-items that do different numbers of iterations would no longer meet.
    let meets = |op: &Op| matches!(op, Op::Barrier(_)) || op.effects().intersects(Effects::SUBGROUP | Effects::CALL);
    let reads = |data: &InstData| matches!(data.op, Op::Load { .. }) && is_global(func, data.args[0]);
    let size = insts().count();
    let is_fit = size <= SIZE && insts().any(reads) && !insts().any(|data| meets(&data.op));
    let counts: &[usize] = if size <= SMALL_SIZE { &[COUNT, 2 * COUNT] } else { &[COUNT] };
    let growth = size * counts.iter().sum::<usize>();
    let is_outside = !func.is_defined_in(steps.step, &l.blocks);
    let plan = Plan { header, body, steps, counts, growth };
    (is_outside && !is_known && is_fit).then_some(plan)
}

impl Steps {
    /// How a loop counts, whose latch this is: by what is a constant or defined outside of the loop.
    pub fn of(func: &Function, cfg: &Cfg, l: &Loop, latch: Block) -> Option<Steps> {
        let test = HeaderTest::of(func, l)?;
        let reading = test.reading().or_else(|| test.reading_down())?;
        let before = l.predecessor(cfg)?;
        let next = *args_of(func, latch, l.header).get(test.index)?;
        let sum = &func.insts[func.def_inst(next)?];
        let step = match (&sum.op, &sum.args[..]) {
            (Op::Binary(BinOp::Add), &[a, b]) if a == test.counter => b,
            (Op::Binary(BinOp::Add), &[a, b]) if b == test.counter => a,
            _ => return None,
        };
        let steps = Steps { before, test, reading, step };
        let is_outside = || !steps.descends() && !func.is_defined_in(step, &l.blocks);
        (func.const_bits(step).is_some() || is_outside()).then_some(steps)
    }

    /// Whether the counter is reduced, until it is no longer greater than the bound.
    pub fn descends(&self) -> bool {
        self.test.reading().is_none()
    }

    /// The promise that a sum does not wrap. As an unsigned number, one with a negative step always does.
    pub fn promise(&self) -> Flags {
        match self.reading {
            Ext::Signed => Flags::NSW,
            _ if self.descends() => Flags::default(),
            _ => Flags::NUW,
        }
    }

    /// The edge by which the header stays in the loop.
    pub fn stay(&self, func: &Function, l: &Loop) -> Edge {
        let edges = func.blocks[l.header].term.edges();
        let stay = edges.into_iter().find(|e| l.blocks.contains(&e.block)).cloned();
        stay.unwrap_or_else(|| Edge::new(self.test.stay, []))
    }

    /// What the counter is less than if so many iterations follow: computed before the loop, and the least number, of
    /// which none is less, where it would wrap. For a counter that descends, the number that it is greater than: as
    /// `i > n` means `~i < ~n`, and `~(i - step)` is `~i + step`, the complement of such a counter ascends.
    fn limit(&self, func: &mut Function, count: u64) -> Value {
        let known = func.const_bits(self.step);
        let mut b = Builder::new(func, self.before);
        let (descends, ty) = (self.descends(), b.ty(self.test.bound));
        let mask = ty.scalar.mask();
        // The complement, where the counter descends; it is its own inverse.
        let ascending = |b: &mut Builder<'_>, x: Value| {
            if !descends {
                return x;
            }
            let ones = b.iconst(ty, mask);
            b.binary(BinOp::Xor, x, ones)
        };
        let bound = ascending(&mut b, self.test.bound);
        let known = known.map(|step| if descends { step.wrapping_neg() & mask } else { step });
        let step = known.map_or(self.step, |step| b.iconst(ty, step));
        let is_signed = self.reading == Ext::Signed;
        let most = if is_signed { mask >> 1 } else { mask };
        // 0 < step <= most / count
        let (one, largest) = (b.iconst(ty, 1), b.iconst(ty, most / count));
        // One comparison for both sides: a step of 0 becomes the largest number.
        let less = b.binary(BinOp::Sub, step, one);
        let is_small = b.icmp(IntCc::Ult, less, largest);
        let others = b.iconst(ty, count - 1);
        let distance = b.binary(BinOp::Mul, step, others);
        let least = b.iconst(ty, if is_signed { most + 1 } else { 0 });
        let is_far = match (is_signed, descends) {
            (false, _) => b.icmp(IntCc::Uge, bound, distance),
            // A distance of at most `most` can be taken from a bound that is not negative without overflow.
            (true, false) => {
                let zero = b.iconst(ty, 0);
                b.icmp(IntCc::Sge, bound, zero)
            }
            // The complement of a bound is negative if the bound is not, as it is in most of these loops.
            (true, true) => {
                let first = b.binary(BinOp::Add, least, distance);
                b.icmp(IntCc::Sge, bound, first)
            }
        };
        let mut limit = b.binary(BinOp::Sub, bound, distance);
        if self.test.is_inclusive() {
            limit = b.binary(BinOp::Add, limit, one);
        }
        let fits = b.binary(BinOp::And, is_small, is_far);
        // No counter is less than `least`, so that all iterations are left to the loop after this one.
        let limit = b.select(fits, limit, least);
        ascending(&mut b, limit)
    }

    /// Begins an unrolled loop of so many iterations in front of `rest`, which does those that are left over. It writes
    /// the header without its terminator. Returns the header, its parameters, which are those of the loop's, and
    /// whether so many iterations follow.
    pub fn begin(&self, func: &mut Function, header: Block, rest: Block, count: usize) -> (Block, Vec<Value>, Value) {
        let limit = self.limit(func, count as u64);
        let unrolled = func.add_loose_block();
        let in_header = func.blocks[header].params.clone();
        let params: Vec<Value> = in_header.iter().map(|&p| func.add_block_param(unrolled, func.ty(p))).collect();
        // With two counts, `rest` is the second time the header of the loop that was unrolled first.
        func.blocks[self.before].term.redirect(rest, unrolled);
        let cc = if self.reading == Ext::Signed { IntCc::Slt } else { IntCc::Ult };
        let cc = if self.descends() { cc.swapped() } else { cc };
        let cond = Builder::new(func, unrolled).icmp(cc, params[self.test.index], limit);
        (unrolled, params, cond)
    }
}

fn carry_out(func: &mut Function, plan: &Plan) {
    let hoisted = hoisted(func, plan);
    let mut rest = plan.header;
    // The larger counts come last and go in front, so that they run first.
    for &count in plan.counts {
        rest = unroll(func, plan, count, &hoisted, rest);
    }
}

/// Puts an unrolled loop in front of what does the iterations that are left over. Returns its header.
fn unroll(func: &mut Function, plan: &Plan, count: usize, hoisted: &FxHashSet<Inst>, rest: Block) -> Block {
    let (unrolled, params, cond) = plan.steps.begin(func, plan.header, rest, count);
    let in_header = func.blocks[plan.header].params.clone();
    let body = func.add_loose_block();
    let (then, els) = (Edge::new(body, []), Edge::new(rest, params.iter().copied()));
    func.set_term(unrolled, Term::Branch { cond, then, els }, Span::default());

    let handed = args_of(func, plan.header, plan.body);
    let in_body = func.blocks[plan.body].params.clone();
    let back = args_of(func, plan.body, plan.header);
    let insts = Vec::from_iter(func.insts_in(&[plan.header, plan.body]).map(|(i, _)| i));
    // Two rounds over all iterations: first what is hoisted, for each of them, then the rest, in the order of the
    // source. A map keeps what the first round has copied for the second one.
    let mut maps = vec![CloneMap::default(); count];
    for is_hoisted in [true, false] {
        let mut args = params.clone();
        for (number, map) in maps.iter_mut().enumerate() {
            // What is hoisted uses nothing of what is not, which is known in the second round only.
            map.values.extend(in_header.iter().copied().zip(args));
            let handed = handed.iter().map(|&v| map.value(v));
            let handed = Vec::from_iter(in_body.iter().copied().zip(handed));
            map.values.extend(handed);
            for &i in insts.iter().filter(|i| hoisted.contains(i) == is_hoisted) {
                map.clone_inst(func, i, body);
            }
            args = back.iter().map(|&v| map.value(v)).collect();
            // The counter is hoisted. What follows is less than the bound.
            if number + 1 < count
                && is_hoisted
                && let Some(sum) = func.def_inst(args[plan.steps.test.index])
            {
                func.insts[sum].flags |= plan.steps.promise();
            }
        }
        if !is_hoisted {
            func.set_term(body, Term::Jump(Edge::new(unrolled, args)), Span::default());
        }
    }
    let at = func.layout.iter().position(|&b| b == rest).unwrap_or(func.layout.len());
    func.layout.splice(at..at, [unrolled, body]);
    unrolled
}

/// What is hoisted: the counter, and loads of memory that the loop does not write, with what they need.
fn hoisted(func: &Function, plan: &Plan) -> FxHashSet<Inst> {
    let blocks = [plan.header, plan.body];
    let insts = || func.insts_in(&blocks);
    // Only local and private memory is written, which no load of global or constant memory reads.
    let writes_elsewhere = insts().all(|(_, data)| match data.op {
        Op::Store { .. } | Op::AtomicRmw { order: Order::Relaxed, .. } => {
            matches!(func.ty(data.args[0]).space(), Some(Space::Local | Space::Private))
        }
        ref op => !op.has_effect(),
    });
    let is_movable = |data: &InstData| match data.op {
        Op::Load { .. } => writes_elsewhere && is_global(func, data.args[0]) && !data.flags.contains(Flags::VOLATILE),
        ref op => op.is_pure(),
    };
    let inside: FxHashSet<Inst> = insts().map(|(i, _)| i).collect();
    let (handed, back) = (args_of(func, plan.header, plan.body), args_of(func, plan.body, plan.header));
    // The instruction of the loop that makes a value, maybe iterations before.
    let maker = |mut v: Value| {
        for _ in 0..=handed.len() + back.len() {
            v = match func.values[v].def {
                ValueDef::Param(b, k) if b == plan.header => back[k as usize],
                ValueDef::Param(b, k) if b == plan.body => handed[k as usize],
                _ => return func.def_inst(v).filter(|i| inside.contains(i)),
            };
        }
        None
    };
    let needs = |i: Inst| func.insts[i].args.iter().filter_map(|&v| maker(v));

    let mut movable: FxHashSet<Inst> = insts().filter(|(_, data)| is_movable(data)).map(|(i, _)| i).collect();
    // A greatest fixed point: an instruction whose operand must stay stays too, until no more are found.
    loop {
        let waits = |i: &Inst| needs(*i).any(|needed| !movable.contains(&needed));
        let waiting = Vec::from_iter(movable.iter().copied().filter(waits));
        if waiting.is_empty() {
            break;
        }
        movable.retain(|i| !waiting.contains(i));
    }
    let loads = movable.iter().copied().filter(|&i| matches!(func.insts[i].op, Op::Load { .. }));
    // Of what could move, only what the loads and the counter need: other early values would occupy registers for
    // nothing.
    let mut stack = Vec::from_iter(loads.chain(func.def_inst(back[plan.steps.test.index])));
    let mut hoisted = FxHashSet::default();
    while let Some(i) = stack.pop() {
        if hoisted.insert(i) {
            stack.extend(needs(i));
        }
    }
    hoisted
}

fn is_global(func: &Function, v: Value) -> bool {
    matches!(func.ty(v).space(), Some(Space::Global | Space::Constant))
}

/// What an edge hands to the block that it leads to.
pub(super) fn args_of(func: &Function, from: Block, to: Block) -> Vec<Value> {
    let edge = func.blocks[from].term.edges().into_iter().find(|edge| edge.block == to);
    edge.map(|edge| edge.args.to_vec()).unwrap_or_default()
}
