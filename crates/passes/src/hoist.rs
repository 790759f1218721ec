//! Loop-invariant loads: a load whose address does not change in a loop, and whose memory the loop does not write,
//! moves before the loop.
//!
//! Only addresses that depend on the work-item's ids count, as in `for (j…) sum += f(a[j], a[get_global_id(0)])`:
//! vectorised, such a load may take longer than the rest of the loop. Others are cheap scalar loads, and hoisting them
//! would cost registers.
//!
//! A load moves only if every entered loop executes it: otherwise its address may be invalid. A loop whose header may
//! leave at once gets a copy of the test before it, and the load goes after that copy; the loop itself keeps its form.
//! Only innermost loops are handled, after [`crate::licm`], which gives each a preheader. Memory that a barrier, a call
//! or an atomic operation in the loop may change counts as written.

use crate::pass::Pass;
use crate::util::{self, Renames};
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::{Loop, Loops};
use cloom_ir::{
    Block, Builder, CloneMap, Edge, Entity, Flags, Function, Inst, Op, Query, Space, Span, Term, Type, Value,
    ValueData, ValueDef,
};

/// The pass.
pub const PASS: Pass = Pass::new("hoist", "loop-invariant loads leave loops", run);

/// At most so many values are hoisted for a loop: each takes a vector register.
const MAX_HOISTED_VALUES: u16 = 8;

/// The largest header test, in operations, that is copied before the loop.
const TEST: usize = 8;

/// The loads to hoist out of a loop.
struct Plan {
    before: Block,
    loads: Vec<(Inst, Block)>,
    /// The header's condition, and the value for which the loop continues, if the test must be copied.
    test: Option<(Value, bool)>,
    header: Block,
}

/// Runs the pass. Returns how often it changed something.
pub fn run(func: &mut Function) -> usize {
    let cfg = Cfg::new(func);
    let dom = DomTree::new(func, &cfg);
    let loops = Loops::new(func, &cfg, &dom);
    if loops.loops.is_empty() {
        return 0;
    }
    let own = made_of_ids(func, &cfg);
    let home = util::homes(func);
    let plans: Vec<Plan> = loops.without_inner().filter_map(|l| plan(func, &cfg, &dom, l, &own, &home)).collect();
    for plan in &plans {
        carry_out(func, plan);
    }
    plans.len()
}

/// Which values have a data dependence on a work-item's id.
fn made_of_ids(func: &Function, cfg: &Cfg) -> Vec<bool> {
    let mut own = vec![false; func.values.len()];
    // Until nothing changes, since a loop may carry an id around to a parameter that was visited before.
    loop {
        let mut changed = false;
        for &b in cfg.rpo() {
            for &i in &func.blocks[b].insts {
                let data = &func.insts[i];
                let Some(r) = data.result.filter(|r| !own[r.index()]) else { continue };
                let id = matches!(data.op, Op::Query { what: Query::GlobalId | Query::LocalId, .. });
                own[r.index()] = id || data.args.iter().any(|a| own[a.index()]);
                changed |= own[r.index()];
            }
            for e in func.blocks[b].term.edges() {
                for (&p, a) in func.blocks[e.block].params.iter().zip(&e.args) {
                    changed |= own[a.index()] && !own[p.index()];
                    own[p.index()] |= own[a.index()];
                }
            }
        }
        if !changed {
            return own;
        }
    }
}

/// The address spaces that a loop may write to; `None`: all of them.
fn written(func: &Function, l: &Loop) -> Option<Vec<Space>> {
    let mut spaces = Vec::new();
    for (_, data) in func.insts_in(&l.blocks) {
        match data.op {
            Op::Store { .. } => spaces.push(func.ty(data.args[0]).space()?),
            // An effect other than a store, such as a barrier, may let other work-items' writes appear in any space.
            _ if data.op.has_effect() || data.flags.contains(Flags::VOLATILE) => return None,
            _ => {}
        }
    }
    Some(spaces)
}

fn plan(func: &Function, cfg: &Cfg, dom: &DomTree, l: &Loop, own: &[bool], home: &[Option<Block>]) -> Option<Plan> {
    let inside = |b: Block| l.blocks.contains(&b);
    let outer: Vec<Block> = cfg.preds(l.header).iter().copied().filter(|&p| !inside(p)).collect();
    // The preheader that `licm` makes. A loop without one is left alone.
    let &[before] = outer.as_slice() else { return None };
    if !matches!(func.blocks[before].term, Term::Jump(_)) {
        return None;
    }
    let written = written(func, l)?;
    let kept = |p: Value| {
        let Some(space) = func.ty(p).space() else { return false };
        written.iter().all(|w| !w.may_alias(space))
    };
    let outside = |v: Value| home[v.index()].is_some_and(|b| !inside(b));
    // The first block that always runs once the header has entered the loop.
    let test = stay(func, l);
    let sure = |b: Block| {
        // A block that dominates all latches and exits runs in every iteration that ends or leaves the loop.
        let all = l.latches.iter().all(|&x| dom.dominates(b, x));
        // The exit of the header does not count if the test is copied: the load then goes after the copy.
        let out = |from: Block| from == l.header && test.is_some() || dom.dominates(b, from);
        all && l.exits.iter().all(|&(from, _)| out(from))
    };
    let mut loads = Vec::new();
    let mut room = MAX_HOISTED_VALUES;
    for &b in &l.blocks {
        for &i in &func.blocks[b].insts {
            let data = &func.insts[i];
            let (Op::Load { .. }, Some(r)) = (&data.op, data.result) else { continue };
            let (p, ty) = (data.args[0], func.ty(r));
            // No pointers: a select or a parameter would hide which object they point into.
            let plain = !ty.is_ptr() && !data.flags.contains(Flags::VOLATILE);
            if plain && ty.lanes <= room && own[p.index()] && outside(p) && kept(p) && sure(b) {
                room -= ty.lanes;
                loads.push((i, b));
            }
        }
    }
    // The header is executed at least once, so its loads need no test.
    let guarded = loads.iter().any(|&(_, b)| b != l.header);
    if loads.is_empty() {
        return None;
    }
    Some(Plan { before, loads, test: test.filter(|_| guarded), header: l.header })
}

/// The condition of a header that may exit the loop, if few operations without effects compute it, and its value for
/// continuing.
fn stay(func: &Function, l: &Loop) -> Option<(Value, bool)> {
    let Term::Branch { cond, then, els } = &func.blocks[l.header].term else { return None };
    let (then, els) = (l.blocks.contains(&then.block), l.blocks.contains(&els.block));
    (then != els && needs(func, l.header, *cond).is_some()).then_some((*cond, then))
}

/// The instructions of a block that a value is computed with, in order.
fn needs(func: &Function, block: Block, v: Value) -> Option<Vec<Inst>> {
    let mut wanted = vec![v];
    let mut list = Vec::new();
    for &i in func.blocks[block].insts.iter().rev() {
        let data = &func.insts[i];
        if data.result.is_some_and(|r| wanted.contains(&r)) {
            if !data.op.is_pure() || list.len() == TEST {
                return None;
            }
            wanted.extend(&data.args);
            list.push(i);
        }
    }
    list.reverse();
    Some(list)
}

fn carry_out(func: &mut Function, plan: &Plan) {
    for &(i, b) in &plan.loads {
        func.blocks[b].insts.retain(|&x| x != i);
    }
    // The header's loads run whenever the loop is reached, and their values may be used after the loop.
    let (always, behind): (Vec<_>, Vec<_>) = plan.loads.iter().partition(|&&(_, b)| b == plan.header);
    func.blocks[plan.before].insts.extend(always.iter().map(|&(i, _)| i));
    let insts: Vec<Inst> = behind.iter().map(|&(i, _)| i).collect();
    let Some((cond, stays)) = plan.test.filter(|_| !insts.is_empty()) else {
        func.blocks[plan.before].insts.extend(insts);
        return;
    };
    // The test, on the initial values of the header's parameters.
    let Term::Jump(entry) = func.blocks[plan.before].term.clone() else { return };
    let mut map = CloneMap::new(func.blocks[plan.header].params.iter().copied().zip(entry.args.iter().copied()));
    for i in needs(func, plan.header, cond).unwrap_or_default() {
        map.clone_inst(func, i, plan.before);
    }
    let cond = map.value(cond);
    let (read, after) = (func.add_loose_block(), func.add_loose_block());
    let results: Vec<Value> = insts.iter().filter_map(|&i| func.insts[i].result).collect();
    let mut nothing = Vec::new();
    let mut renames = Renames::default();
    for (k, &r) in results.iter().enumerate() {
        let ty: Type = func.ty(r);
        // The value if the loop is not entered; nobody uses it.
        nothing.push(Builder::new(func, plan.before).iconst(ty, 0));
        let p = func.values.push(ValueData { ty, def: ValueDef::Param(after, k as u32) });
        func.blocks[after].params.push(p);
        renames.set(r, p);
    }
    // Before the loads are in a block again: the edge to `after` must hand on their own results, not the parameters.
    renames.apply(func);
    func.blocks[read].insts = insts;
    func.set_term(read, Term::Jump(Edge::new(after, results)), Span::NONE);
    // After the renaming: none of these values is an initial value of the loop.
    let Term::Jump(entry) = func.blocks[plan.before].term.clone() else { return };
    func.set_term(after, Term::Jump(entry), Span::NONE);
    let (yes, no) = (Edge::new(read, Vec::new()), Edge::new(after, nothing));
    let (then, els) = if stays { (yes, no) } else { (no, yes) };
    func.set_term(plan.before, Term::Branch { cond, then, els }, Span::NONE);
    let at = func.layout.iter().position(|&b| b == plan.header).unwrap_or(func.layout.len());
    func.layout.splice(at..at, [read, after]);
}
