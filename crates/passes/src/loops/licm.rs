//! Loop-invariant code motion: pure operations whose operands do not change in a loop move before it.
//!
//! Pure operations are total, so speculating them is safe; those with promises are marked (`speculated`). Pure calls
//! are not cheap, though: they only move from blocks that every iteration runs (a slow path stays in its branch). Loads
//! stay: the loop may write the memory, or guard the load ([`crate::hoist`] moves some). Each loop first gets a
//! preheader.

use crate::pass::Pass;
use crate::util;
use cloom_ir::affine::HeaderTest;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::{Loop, Loops};
use cloom_ir::{Block, Edge, Entity, Function, Op, Term, Value, ValueData, ValueDef, eval};

/// The pass.
pub const PASS: Pass = Pass::new("licm", "loop-invariant operations leave loops", run);

/// Runs the pass. Returns how often it changed something.
pub fn run(func: &mut Function) -> usize {
    let cfg = Cfg::new(func);
    let dom = DomTree::new(func, &cfg);
    let headers: Vec<Block> = Loops::new(func, &cfg, &dom).loops.iter().map(|l| l.header).collect();
    if headers.is_empty() {
        return 0;
    }
    // What moves goes to the end of a block that runs exactly when the loop is entered.
    for &h in &headers {
        add_preheader(func, &cfg, &dom, h);
    }
    // The preheaders are new blocks.
    let cfg = Cfg::new(func);
    let dom = DomTree::new(func, &cfg);
    let mut home = util::homes(func);
    let mut inside = vec![usize::MAX; func.blocks.len()];
    let mut changed = 0;
    // Inner loops first: an operation may move out of several loops.
    for (n, l) in Loops::new(func, &cfg, &dom).loops.iter().enumerate().rev() {
        // The blocks of inner loops get the number of this loop again: they are inside of it too.
        l.blocks.iter().for_each(|b| inside[b.index()] = n);
        let Some(&before) = cfg.preds(l.header).iter().find(|&&p| inside[p.index()] != n) else { continue };
        let begins = begins(func, &cfg, l);
        // In reverse postorder: what an instruction needs has moved before the instruction is looked at.
        for &b in &l.blocks {
            let always_runs = l.latches.iter().all(|&latch| dom.dominates(b, latch));
            let is_before = |from: Block| dom.dominates(b, from) || from == l.header && begins;
            let is_executed = always_runs && l.exits.iter().all(|&(from, _)| is_before(from));
            let mut insts = std::mem::take(&mut func.blocks[b].insts);
            insts.retain(|&i| {
                let data = &func.insts[i];
                let outside = |v: &Value| home[v.index()].is_some_and(|b| inside[b.index()] != n);
                let speculatable = always_runs || !matches!(data.op, Op::PureCall(_));
                let movable = data.op.is_pure() && speculatable && data.args.iter().all(outside);
                let Some(r) = data.result.filter(|_| movable) else { return true };
                // Operations that use the result may follow in this same sweep.
                home[r.index()] = Some(before);
                // The preheader executes the operation also where the source does not, so its promises are limited to
                // the uses.
                if !is_executed {
                    func.insts[i].flags = func.insts[i].flags.speculated();
                }
                func.blocks[before].insts.push(i);
                changed += 1;
                false
            });
            func.blocks[b].insts = insts;
        }
    }
    changed
}

/// Whether the header's test lets the first iteration begin, as far as constants tell.
fn begins(func: &Function, cfg: &Cfg, l: &Loop) -> bool {
    let first = || {
        let test = HeaderTest::of(func, l)?;
        let edges = func.blocks[l.predecessor(cfg)?].term.edges();
        let start = edges.iter().find(|e| e.block == l.header)?.args[test.index];
        let scalar = func.ty(start).scalar;
        Some(eval::icmp(test.cc, scalar, func.const_bits(start)?, func.const_bits(test.bound)?))
    };
    first().unwrap_or(false)
}

/// Gives the loop a preheader: one block that enters it and has no other successor.
fn add_preheader(func: &mut Function, cfg: &Cfg, dom: &DomTree, header: Block) {
    let outside: Vec<Block> = cfg.preds(header).iter().copied().filter(|&p| !dom.dominates(header, p)).collect();
    // It has one already: a block that goes nowhere else.
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
        // The arguments of the edge stay: the new block has the same parameters.
        func.blocks[p].term.redirect(header, new);
    }
    let at = func.layout.iter().position(|&b| b == header).unwrap_or(func.layout.len());
    func.layout.insert(at, new);
}
