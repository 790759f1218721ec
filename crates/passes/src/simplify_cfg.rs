//! Simplifies control flow: unreachable blocks, branches on constants, chains of jumps, parameters that are always the same.

use cloom_ir::cfg::Cfg;
use cloom_ir::{Block, Edge, Entity, Function, Term, Value};

/// Runs until nothing changes; each round removes a block, an edge or a parameter, and rounds are few in practice.
pub fn run(func: &mut Function) {
    for _ in 0..16 {
        let before = (func.layout.len(), func.size());
        constant_branches(func);
        skip_empty(func);
        drop_unreachable(func);
        same_parameters(func);
        merge_chains(func);
        if (func.layout.len(), func.size()) == before {
            break;
        }
    }
}

/// Takes blocks that cannot run out of the order.
pub fn drop_unreachable(func: &mut Function) {
    let cfg = Cfg::new(func);
    let mut dead = Vec::new();
    func.layout.retain(|&b| {
        let keep = cfg.is_reachable(b);
        if !keep {
            dead.push(b);
        }
        keep
    });
    for b in dead {
        func.blocks[b].insts.clear();
        func.blocks[b].term = Term::Unreachable;
    }
}

fn constant_branches(func: &mut Function) {
    for k in 0..func.layout.len() {
        let b = func.layout[k];
        let taken = match &func.blocks[b].term {
            Term::Branch { cond, then, els } => match func.const_bits(*cond) {
                Some(0) => Some(els.clone()),
                Some(_) => Some(then.clone()),
                None => (then == els).then(|| then.clone()),
            },
            Term::Switch { value, cases, default } => match func.const_bits(*value) {
                Some(bits) => Some(cases.iter().find(|c| c.0 == bits).map_or(default, |c| &c.1).clone()),
                None => cases.iter().all(|c| c.1 == *default).then(|| default.clone()),
            },
            _ => None,
        };
        if let Some(edge) = taken {
            func.blocks[b].term = Term::Jump(edge);
        }
    }
}

/// An edge to a block that only jumps on goes to where that leads.
fn skip_empty(func: &mut Function) {
    for k in 0..func.layout.len() {
        let b = func.layout[k];
        let mut term = std::mem::replace(&mut func.blocks[b].term, Term::Unreachable);
        for e in term.edges_mut() {
            // A chain of empty blocks may be a cycle: stop after a few.
            for _ in 0..8 {
                let next = &func.blocks[e.block];
                let Term::Jump(onward) = &next.term else { break };
                if !next.insts.is_empty() || !next.params.is_empty() || onward.block == e.block || e.block == b {
                    break;
                }
                *e = onward.clone();
            }
        }
        func.blocks[b].term = term;
    }
}

/// Removes a parameter if every edge brings the same value, or the parameter itself.
fn same_parameters(func: &mut Function) {
    let cfg = Cfg::new(func);
    let entry = func.entry();
    let mut replaced: Vec<Option<Value>> = vec![None; func.values.len()];
    let resolve = |replaced: &[Option<Value>], mut v: Value| {
        while let Some(next) = replaced[v.index()] {
            v = next;
        }
        v
    };
    let mut changed = false;
    for &b in cfg.rpo() {
        if b == entry {
            continue;
        }
        for n in (0..func.blocks[b].params.len()).rev() {
            let p = func.blocks[b].params[n];
            let mut only: Option<Value> = None;
            let mut same = true;
            let mut preds = cfg.preds(b).to_vec();
            preds.dedup();
            for pred in preds {
                for e in func.blocks[pred].term.edges().into_iter().filter(|e| e.block == b) {
                    let v = resolve(&replaced, e.args[n]);
                    if v != p {
                        same &= only.is_none_or(|o| o == v);
                        only = Some(v);
                    }
                }
            }
            if let (true, Some(v)) = (same, only) {
                replaced[p.index()] = Some(v);
                func.remove_block_param(b, n);
                changed = true;
            }
        }
    }
    if changed {
        func.map_uses(|v| resolve(&replaced, v));
    }
}

/// A block whose only way leads to a block that has no other way in takes it over.
fn merge_chains(func: &mut Function) {
    let cfg = Cfg::new(func);
    let mut gone = vec![false; func.blocks.len()];
    let mut replaced: Vec<Option<Value>> = vec![None; func.values.len()];
    for &b in cfg.rpo() {
        if gone[b.index()] {
            continue;
        }
        while let Term::Jump(Edge { block: next, args }) = &func.blocks[b].term {
            let (next, args) = (*next, args.clone());
            if next == b || next == func.entry() || cfg.preds(next).len() != 1 {
                break;
            }
            for (&p, &a) in func.blocks[next].params.clone().iter().zip(&args) {
                replaced[p.index()] = Some(a);
            }
            let insts = std::mem::take(&mut func.blocks[next].insts);
            func.blocks[b].insts.extend(insts);
            let term = std::mem::replace(&mut func.blocks[next].term, Term::Unreachable);
            let span = func.blocks[next].term_span;
            func.set_term(b, term, span);
            gone[next.index()] = true;
        }
    }
    if gone.contains(&true) {
        func.layout.retain(|b: &Block| !gone[b.index()]);
        func.map_uses(|mut v| {
            while let Some(next) = replaced[v.index()] {
                v = next;
            }
            v
        });
    }
}
