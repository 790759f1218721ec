//! Control-flow simplification: constant branches, empty blocks, and chains of blocks.
//!
//! Repeats until nothing changes: fold terminators, drop unreachable blocks, thread edges past empty blocks, merge a
//! block with its only successor. Jump threading also skips a block whose branch is decided by the edge's arguments (`a
//! && b` as an `int`, tested again).

use crate::fold;
use crate::pass::Pass;
use crate::util::{self, Renames};
use cloom_ir::cfg::Cfg;
use cloom_ir::{Block, Edge, Entity, Function, Op, Term, UnOp, Value};
use rustc_hash::FxHashMap;

/// The pass.
pub const PASS: Pass = Pass::new("simplify-cfg", "decided branches, empty blocks, straight lines", run);

/// Few iterations suffice in practice; each leaves a valid function.
const MAX_ROUNDS: usize = 16;
/// How many blocks an edge is threaded past in one iteration.
const MAX_HOPS: usize = 8;
/// The most instructions of a block that edges are threaded past.
const MAX_DECIDING: usize = 4;

/// Runs the pass. Returns how often it changed something.
pub fn run(func: &mut Function) -> usize {
    let mut changed = 0;
    for _ in 0..MAX_ROUNDS {
        let mut again = decide(func);
        again += util::remove_unreachable(func);
        again += thread(func);
        again += util::remove_unreachable(func);
        again += join(func);
        changed += again;
        if again == 0 {
            break;
        }
    }
    changed
}

/// Terminators with one possible target become jumps.
fn decide(func: &mut Function) -> usize {
    let mut changed = 0;
    for k in 0..func.layout.len() {
        let b = func.layout[k];
        let new = match &func.blocks[b].term {
            // Edges are equal only with their arguments: with other arguments the branch selects values, and is left to
            // the pass `select`.
            Term::Branch { then, els, .. } if then == els => Some(Term::Jump(then.clone())),
            Term::Branch { cond, then, els } => match func.def_inst(*cond).map(|i| &func.insts[i]) {
                Some(data) => match data.op {
                    Op::Const(bits) => Some(Term::Jump(if bits == 1 { then.clone() } else { els.clone() })),
                    Op::Unary(UnOp::Not) => {
                        // Turned round, the branch needs no negation, which may have no other use.
                        Some(Term::Branch { cond: data.args[0], then: els.clone(), els: then.clone() })
                    }
                    _ => None,
                },
                None => None,
            },
            Term::Switch { value, cases, default } => {
                if let Some(bits) = func.const_bits(*value) {
                    let taken = cases.iter().find(|c| c.0 == bits).map_or(default, |c| &c.1);
                    Some(Term::Jump(taken.clone()))
                } else if cases.iter().all(|c| c.1 == *default) {
                    Some(Term::Jump(default.clone()))
                } else {
                    None
                }
            }
            _ => None,
        };
        if let Some(term) = new {
            func.blocks[b].term = term;
            changed += 1;
        }
    }
    changed
}

/// Threads edges past blocks without effect for them.
fn thread(func: &mut Function) -> usize {
    let cfg = Cfg::new(func);
    let used_elsewhere = util::used_elsewhere(func);
    let passable: Vec<bool> = func
        .blocks
        .iter()
        .map(|(b, data)| {
            let own = data.params.iter().copied().chain(data.insts.iter().filter_map(|&i| func.insts[i].result));
            let small = data.insts.len() <= MAX_DECIDING && data.insts.iter().all(|&i| func.insts[i].op.is_pure());
            let header = || cfg.preds(b).iter().any(|&p| cfg.rpo_index(p) >= cfg.rpo_index(b));
            // Threading past a loop's header would give the loop a second entry, unless all edges are threaded.
            let kind = match data.term {
                Term::Jump(_) => data.insts.is_empty(),
                Term::Branch { .. } | Term::Switch { .. } => small && !header(),
                _ => false,
            };
            // A block whose values others use must run before them, on every path.
            kind && cfg.is_reachable(b) && b != func.entry() && own.into_iter().all(|v| !used_elsewhere[v.index()])
        })
        .collect();
    let mut changed = 0;
    for &b in cfg.rpo() {
        let mut term = func.blocks[b].term.clone();
        let mut moved = false;
        for e in term.edges_mut() {
            for _ in 0..MAX_HOPS {
                // A block that jumps to itself is left: threading would not end.
                if e.block == b || !passable[e.block.index()] {
                    break;
                }
                let Some(next) = past(func, e).filter(|next| next.block != e.block) else { break };
                *e = next;
                moved = true;
            }
        }
        if moved {
            func.blocks[b].term = term;
            changed += 1;
        }
    }
    changed
}

/// The block that an edge to such a block goes on to, if that is known.
fn past(func: &Function, e: &Edge) -> Option<Edge> {
    let block = &func.blocks[e.block];
    // What the block's instructions compute if control comes by this edge.
    let mut known: FxHashMap<Value, u64> = FxHashMap::default();
    let bits = |v: Value, known: &FxHashMap<Value, u64>| {
        // A parameter of the block is known by what this edge hands over.
        let v = util::param_of(func, v, e.block).map_or(v, |k| e.args[k]);
        func.const_bits(v).or_else(|| known.get(&v).copied())
    };
    for &i in &block.insts {
        let data = &func.insts[i];
        let args: Option<Vec<u64>> = data.args.iter().map(|&a| bits(a, &known)).collect();
        if let (Some(args), Some(r), Some(&first)) = (args, data.result, data.args.first())
            && let Some(result) = fold::lane(&data.op, func.ty(first), func.ty(r), &args)
            && !func.ty(r).is_vector()
        {
            known.insert(r, result);
        }
    }
    let taken = match &block.term {
        Term::Jump(next) => next,
        Term::Branch { cond, then, els } => {
            if bits(*cond, &known)? == 1 {
                then
            } else {
                els
            }
        }
        Term::Switch { value, cases, default } => {
            let bits = bits(*value, &known)?;
            cases.iter().find(|c| c.0 == bits).map_or(default, |c| &c.1)
        }
        _ => return None,
    };
    let mut next = taken.clone();
    for v in &mut next.args {
        if let Some(k) = util::param_of(func, *v, e.block) {
            *v = e.args[k];
        } else if block.insts.iter().any(|&i| func.insts[i].result == Some(*v)) {
            // The block's values are not available on the threaded edge.
            return None;
        }
    }
    Some(next)
}

/// Merges a block with its only successor, if that has no other predecessor.
fn join(func: &mut Function) -> usize {
    let cfg = Cfg::new(func);
    let mut ways: Vec<usize> = func.blocks.keys().map(|b| cfg.preds(b).len()).collect();
    if let Some(&entry) = func.layout.first() {
        // The function's entry has an edge from outside and is never merged into another block.
        ways[entry.index()] += 2;
    }
    let mut gone = vec![false; func.blocks.len()];
    let mut renames = Renames::default();
    for k in 0..func.layout.len() {
        let b = func.layout[k];
        if gone[b.index()] {
            continue;
        }
        // A whole chain at once: after each merge the block ends as the merged one did.
        while let Term::Jump(e) = &func.blocks[b].term {
            let (next, args) = (e.block, e.args.clone());
            if ways[next.index()] != 1 || next == b {
                break;
            }
            for (&p, &a) in func.blocks[next].params.iter().zip(&args) {
                renames.set(p, a);
            }
            let insts = std::mem::take(&mut func.blocks[next].insts);
            func.blocks[b].insts.extend(insts);
            let term = std::mem::replace(&mut func.blocks[next].term, Term::Unreachable);
            let span = func.blocks[next].term_span;
            func.set_term(b, term, span);
            gone[next.index()] = true;
        }
    }
    let joined = gone.iter().filter(|&&g| g).count();
    func.layout.retain(|&b: &Block| !gone[b.index()]);
    renames.apply(func);
    joined
}
