//! Loop-invariant code motion: pure operations whose operands do not change in a loop move before it.
//!
//! Pure operations are total, so speculating them is safe. Pure calls are not cheap, though: they only move from blocks
//! that every iteration runs (a slow path stays in its branch). Loads stay: the loop may write the memory, or guard the
//! load ([`crate::hoist`] moves some). Each loop first gets a preheader.

use crate::util;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{Block, Edge, Entity, Function, Op, Term, Value, ValueData, ValueDef};

/// Runs the pass. Returns how often it changed something.
pub fn run(func: &mut Function) -> usize {
    let cfg = Cfg::new(func);
    let dom = DomTree::new(func, &cfg);
    let headers: Vec<Block> = Loops::new(func, &cfg, &dom).loops.iter().map(|l| l.header).collect();
    if headers.is_empty() {
        return 0;
    }
    for &h in &headers {
        add_preheader(func, &cfg, &dom, h);
    }
    let cfg = Cfg::new(func);
    let dom = DomTree::new(func, &cfg);
    let mut home = util::homes(func);
    let mut inside = vec![usize::MAX; func.blocks.len()];
    let mut changed = 0;
    // Inner loops first: an operation may move out of several loops.
    for (n, l) in Loops::new(func, &cfg, &dom).loops.iter().enumerate().rev() {
        l.blocks.iter().for_each(|b| inside[b.index()] = n);
        let Some(&before) = cfg.preds(l.header).iter().find(|&&p| inside[p.index()] != n) else { continue };
        for &b in &l.blocks {
            let always_runs = l.latches.iter().all(|&latch| dom.dominates(b, latch));
            let mut insts = std::mem::take(&mut func.blocks[b].insts);
            insts.retain(|&i| {
                let data = &func.insts[i];
                let outside = |v: &Value| home[v.index()].is_some_and(|b| inside[b.index()] != n);
                let speculatable = always_runs || !matches!(data.op, Op::PureCall(_));
                let movable = data.op.is_pure() && speculatable && data.args.iter().all(outside);
                let Some(r) = data.result.filter(|_| movable) else { return true };
                home[r.index()] = Some(before);
                func.blocks[before].insts.push(i);
                changed += 1;
                false
            });
            func.blocks[b].insts = insts;
        }
    }
    changed
}

/// Gives the loop a preheader: one block that enters it and has no other successor.
fn add_preheader(func: &mut Function, cfg: &Cfg, dom: &DomTree, header: Block) {
    let outside: Vec<Block> = cfg.preds(header).iter().copied().filter(|&p| !dom.dominates(header, p)).collect();
    if let &[only] = outside.as_slice()
        && matches!(func.blocks[only].term, Term::Jump(_))
    {
        return;
    }
    let new = func.add_loose_block();
    let params: Vec<Value> = func.blocks[header].params.clone();
    let args: Vec<Value> = params
        .iter()
        .enumerate()
        .map(|(k, &p)| {
            let ty = func.ty(p);
            let v = func.values.push(ValueData { ty, def: ValueDef::Param(new, k as u32) });
            func.blocks[new].params.push(v);
            v
        })
        .collect();
    func.set_term(new, Term::Jump(Edge::new(header, args)), cloom_ir::Span::NONE);
    for p in outside {
        func.blocks[p].term.redirect(header, new);
    }
    let at = func.layout.iter().position(|&b| b == header).unwrap_or(func.layout.len());
    func.layout.insert(at, new);
}
