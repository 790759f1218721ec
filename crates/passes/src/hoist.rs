//! Invariant loads: what a loop reads anew from one place that it does not write moves before it.
//!
//! That is for addresses that are made of the ids of the work-item, as in `for (j…) sum += f(a[j],
//! a[get_global_id(0)])`: in lanes such a load may take longer than all the rest. Others are cheap where they are, and
//! a register that is kept free serves the lanes.
//!
//! A load moves only if the loop, once entered, surely comes to it, for its place may not be there otherwise. Where
//! the loop begins with a test that may leave it at once, the test is made before it too, and the load stands behind
//! it; the loop itself keeps its form. Only innermost loops are looked at, after [`crate::licm`], which gives each a
//! block before its header. What a barrier, a call or an atomic operation in the loop may change stays.

use crate::util::{self, Renames};
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::{Loop, Loops};
use cloom_ir::{
    Block, Builder, CloneMap, Edge, Entity, Flags, Function, Inst, Op, Query, Space, Span, Term, Type, Value,
    ValueData, ValueDef,
};

/// So many numbers, at most, are kept for a loop: each takes a register for the lanes.
const MOST: u16 = 8;

/// A test of so many operations, at most, is made before the loop too.
const TEST: usize = 8;

/// What is to be done about a loop.
struct Plan {
    before: Block,
    loads: Vec<(Inst, Block)>,
    /// The condition of the header and whether it holds for staying, if it must be asked first.
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

/// Which values are computed from the number of the work-item, as far as data goes.
fn made_of_ids(func: &Function, cfg: &Cfg) -> Vec<bool> {
    let mut own = vec![false; func.values.len()];
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

/// The spaces that a loop may write to; none: all of them.
fn written(func: &Function, l: &Loop) -> Option<Vec<Space>> {
    let mut spaces = Vec::new();
    for (_, data) in func.insts_in(&l.blocks) {
        match data.op {
            Op::Store { .. } => spaces.push(func.ty(data.args[0]).space()?),
            _ if data.op.has_effect() || data.flags.contains(Flags::VOLATILE) => return None,
            _ => {}
        }
    }
    Some(spaces)
}

fn plan(func: &Function, cfg: &Cfg, dom: &DomTree, l: &Loop, own: &[bool], home: &[Option<Block>]) -> Option<Plan> {
    let inside = |b: Block| l.blocks.contains(&b);
    let outer: Vec<Block> = cfg.preds(l.header).iter().copied().filter(|&p| !inside(p)).collect();
    let &[before] = outer.as_slice() else { return None };
    if !matches!(func.blocks[before].term, Term::Jump(_)) {
        return None;
    }
    let written = written(func, l)?;
    let kept = |p: Value| {
        let space = func.ty(p).space();
        space.is_some() && written.iter().all(|&w| Some(w) != space)
    };
    let outside = |v: Value| home[v.index()].is_some_and(|b| !inside(b));
    // The first block that the loop surely comes to, once its header has let it in.
    let test = stay(func, l);
    let sure = |b: Block| {
        let all = l.latches.iter().all(|&x| dom.dominates(b, x));
        let out = |from: Block| from == l.header && test.is_some() || dom.dominates(b, from);
        all && l.exits.iter().all(|&(from, _)| out(from))
    };
    let mut loads = Vec::new();
    let mut room = MOST;
    for &b in &l.blocks {
        for &i in &func.blocks[b].insts {
            let data = &func.insts[i];
            let (Op::Load { .. }, Some(r)) = (&data.op, data.result) else { continue };
            let (p, ty) = (data.args[0], func.ty(r));
            let plain = !ty.is_ptr() && !data.flags.contains(Flags::VOLATILE);
            if plain && ty.lanes <= room && own[p.index()] && outside(p) && kept(p) && sure(b) {
                room -= ty.lanes;
                loads.push((i, b));
            }
        }
    }
    let guarded = loads.iter().any(|&(_, b)| b != l.header);
    if loads.is_empty() {
        return None;
    }
    Some(Plan { before, loads, test: test.filter(|_| guarded), header: l.header })
}

/// The condition at the end of a header that decides whether the loop goes on, if little that has no effect computes
/// it, and whether it holds then.
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
    // What the header reads, it reads in any case, and values of it may be used after the loop.
    let (always, behind): (Vec<_>, Vec<_>) = plan.loads.iter().partition(|&&(_, b)| b == plan.header);
    func.blocks[plan.before].insts.extend(always.iter().map(|&(i, _)| i));
    let insts: Vec<Inst> = behind.iter().map(|&(i, _)| i).collect();
    let Some((cond, stays)) = plan.test.filter(|_| !insts.is_empty()) else {
        func.blocks[plan.before].insts.extend(insts);
        return;
    };
    // The test, on what the loop begins with.
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
        nothing.push(Builder::new(func, plan.before).iconst(ty, 0));
        let p = func.values.push(ValueData { ty, def: ValueDef::Param(after, k as u32) });
        func.blocks[after].params.push(p);
        renames.set(r, p);
    }
    renames.apply(func);
    func.blocks[read].insts = insts;
    func.set_term(read, Term::Jump(Edge::new(after, results)), Span::NONE);
    // After the renaming, since the loop may begin with none of these values.
    let Term::Jump(entry) = func.blocks[plan.before].term.clone() else { return };
    func.set_term(after, Term::Jump(entry), Span::NONE);
    let (yes, no) = (Edge::new(read, Vec::new()), Edge::new(after, nothing));
    let (then, els) = if stays { (yes, no) } else { (no, yes) };
    func.set_term(plan.before, Term::Branch { cond, then, els }, Span::NONE);
    let at = func.layout.iter().position(|&b| b == plan.header).unwrap_or(func.layout.len());
    func.layout.splice(at..at, [read, after]);
}
