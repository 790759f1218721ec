//! What passes share that write all iterations of a loop one after another: the trip count, and the copies.
//!
//! In comes a loop with one latch and a block that leaves it: a block that runs once in each iteration and that decides
//! by constants. Out goes the trip count ([`count`], by evaluating iteration after iteration), and the function without
//! the loop ([`unroll`]). Other blocks may leave the loop too: their branches stay in each copy.
//!
//! ```text
//! loop { if i == 3 break;  A;  if a[i] < x break;  i += 1 }
//!     ▸  A;  if a[0] < x goto out;  A;  if a[1] < x goto out;  A;  if a[2] < x goto out;
//! ```

use crate::{fold, util};
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::{Loop, Loops};
use cloom_ir::{Block, CloneMap, Edge, Function, Op, Span, Ssa, Term, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Values of which the bits are known.
pub(crate) type Known = FxHashMap<Value, u64>;

/// Gives loops with several latches, as after an `if` at the end of the body, a single latch: an iteration is copied
/// with one end. Only those loops that `is_candidate` accepts; returns how many changed.
pub(crate) fn join_latches(func: &mut Function, is_candidate: impl Fn(&Function, &Loop) -> bool) -> usize {
    let cfg = Cfg::new(func);
    let loops = Loops::new(func, &cfg, &DomTree::new(func, &cfg));
    let several = loops.loops.iter().filter(|l| l.latches.len() > 1);
    let candidates: Vec<&Loop> = several.filter(|l| is_candidate(func, l)).collect();
    for l in &candidates {
        let back = |func: &Function| -> Vec<Edge> {
            let edges = l.latches.iter().flat_map(|&b| func.blocks[b].term.edges());
            edges.filter(|e| e.block == l.header).cloned().collect()
        };
        let edges = back(func);
        let Some((first, rest)) = edges.split_first() else { continue };
        // Only what differs between the back edges needs a parameter of the new block.
        let differs: Vec<bool> =
            (0..first.args.len()).map(|k| rest.iter().any(|e| e.args[k] != first.args[k])).collect();
        // A new latch to which all the old ones go.
        let end = func.add_loose_block();
        let mut args = first.args.clone();
        for (k, arg) in args.iter_mut().enumerate().filter(|(k, _)| differs[*k]) {
            let ty = func.ty(first.args[k]);
            *arg = func.add_block_param(end, ty);
        }
        for &b in &l.latches {
            for e in func.blocks[b].term.edges_mut().into_iter().filter(|e| e.block == l.header) {
                let passed = e.args.iter().zip(&differs).filter(|&(_, &differs)| differs).map(|(&a, _)| a);
                *e = Edge::new(end, passed.collect::<Vec<_>>());
            }
        }
        func.set_term(end, Term::Jump(Edge::new(l.header, args)), Span::NONE);
        // Behind the blocks of the loop in the layout, so that definitions come before uses in the text.
        let last = l.blocks.iter().filter_map(|b| func.layout.iter().position(|x| x == b)).max();
        func.layout.insert(last.map_or(func.layout.len(), |at| at + 1), end);
    }
    candidates.len()
}

/// The two edges of a branch that leaves a loop or stays in it: first the one that stays, with the condition's value.
fn stays(func: &Function, l: &Loop, leaving: Block) -> Option<(Value, u64, Edge, Edge)> {
    let Term::Branch { cond, then, els } = &func.blocks[leaving].term else { return None };
    match (l.blocks.contains(&then.block), l.blocks.contains(&els.block)) {
        (true, false) => Some((*cond, 1, then.clone(), els.clone())),
        (false, true) => Some((*cond, 0, els.clone(), then.clone())),
        _ => None,
    }
}

/// How often a loop stays in the loop at `leaving`, if constants decide it and it is not more than `most`. `leaving`
/// runs once in each iteration.
///
/// `outside` has known values from outside of the loop. `each` is called for each iteration with what is known in it.
pub(crate) fn count(
    func: &Function,
    cfg: &Cfg,
    (l, leaving): (&Loop, Block),
    most: usize,
    outside: Known,
    each: &mut dyn FnMut(&Known),
) -> Option<usize> {
    let &[latch] = l.latches.as_slice() else { return None };
    // Each copy of an `alloca` would be an object of its own.
    if func.insts_in(&l.blocks).any(|(_, data)| matches!(data.op, Op::Alloca { .. })) {
        return None;
    }
    let (cond, staying, ..) = stays(func, l, leaving)?;
    let edges_to_header = |from: Block| {
        let edges = func.blocks[from].term.edges();
        edges.into_iter().filter(|e| e.block == l.header).cloned().collect::<Vec<_>>()
    };
    let before: Vec<_> =
        cfg.preds(l.header).iter().filter(|p| !l.blocks.contains(p)).flat_map(|&p| edges_to_header(p)).collect();
    let after = edges_to_header(latch);
    // One edge into the loop and one back: otherwise the initial values, or the next ones, would depend on the way.
    let ([first], [next]) = (before.as_slice(), after.as_slice()) else { return None };
    let params = &func.blocks[l.header].params;
    let constant = |known: &Known, v: Value| known.get(&v).copied().or_else(|| func.const_bits(v));
    let mut known = outside.clone();
    known.extend(params.iter().zip(&first.args).filter_map(|(&p, &a)| Some((p, constant(&outside, a)?))));
    for trip in 0..=most {
        // A value computed from constants is the same on every path.
        for (_, data) in func.insts_in(&l.blocks) {
            let Some(r) = data.result.filter(|&r| !func.ty(r).is_vector() && !data.args.is_empty()) else { continue };
            let args: Option<Vec<u64>> = data.args.iter().map(|&a| constant(&known, a)).collect();
            let bits = args.and_then(|args| fold::lane(&data.op, func.ty(data.args[0]), func.ty(r), &args));
            known.extend(bits.map(|b| (r, b & func.ty(r).scalar.mask())));
        }
        // `None`: the condition is not made of constants alone in this iteration.
        if constant(&known, cond)? != staying {
            return Some(trip);
        }
        each(&known);
        // All arguments are read before any parameter changes, as on an edge.
        let values: Vec<_> = params.iter().zip(&next.args).map(|(&p, &a)| (p, constant(&known, a))).collect();
        // Everything else is forgotten: what the last iteration computed is another value in the next one.
        known = outside.clone();
        known.extend(values.into_iter().filter_map(|(p, bits)| Some((p, bits?))));
    }
    None
}

/// Writes the iterations one after the other: `trips` that stay in the loop at `leaving`, and one that leaves it there.
/// The blocks of the loop become the first of them. What no longer runs stays in the layout.
pub(crate) fn unroll(func: &mut Function, l: &Loop, leaving: Block, trips: usize) {
    let Some((.., exit)) = stays(func, l, leaving) else { return };
    // The loop is left in the first iteration: there is nothing to copy.
    if trips == 0 {
        func.set_term(leaving, Term::Jump(exit), Span::NONE);
        return;
    }
    let Some(&latch) = l.latches.first() else { return };
    let Some(next) = func.blocks[latch].term.edges().into_iter().find(|e| e.block == l.header).cloned() else { return };
    let blocks = l.blocks.clone();
    // After the loop in block order, so that definitions come before uses in the text.
    let in_order = blocks.iter().filter_map(|b| func.layout.iter().position(|x| x == b)).max().unwrap_or(0);
    let params = func.blocks[l.header].params.clone();
    // The last iteration ends at `leaving`, so that what follows there need not be copied.
    let last_blocks = until(func, l, leaving);
    // The copies of values and blocks in each iteration: in the first, they themselves.
    let mut maps = vec![CloneMap::default()];
    let mut new = Vec::new();
    for trip in 1..=trips {
        let before = &maps[trip - 1];
        // A header's parameter is, in this copy, what the iteration before handed to it, so the copies have no
        // parameters.
        let begin = next.args.iter().map(|&a| before.value(a)).collect::<Vec<_>>();
        let mut map = CloneMap::new(params.iter().copied().zip(begin));
        new.extend(map.clone_blocks(func, if trip == trips { &last_blocks } else { &blocks }));
        maps.push(map);
    }
    // Each copy but the last one goes on to the next one, and no longer leaves the loop at `leaving`.
    for (map, after) in maps.iter().zip(&maps[1..]) {
        let header = map.block(l.header);
        for e in func.blocks[map.block(latch)].term.edges_mut().into_iter().filter(|e| e.block == header) {
            *e = Edge::new(after.block(l.header), []);
        }
        // Found after that: the block that leaves may be the latch.
        let from = map.block(leaving);
        let stay = func.blocks[from].term.edges().into_iter().find(|e| e.block != exit.block).cloned();
        stay.into_iter().for_each(|stay| func.set_term(from, Term::Jump(stay), Span::NONE));
    }
    // What is left of the loop in the last copy: the edge out of it.
    let last = &maps[trips];
    func.set_term(last.block(leaving), last.term(&Term::Jump(exit)), Span::NONE);
    let outside: Vec<Block> = func.layout.iter().copied().filter(|b| !blocks.contains(b)).collect();
    func.layout.splice(in_order + 1..in_order + 1, new);
    match l.exits.iter().all(|&(from, _)| from == leaving) {
        // Uses after the loop get the values of the last iteration.
        true => outside.into_iter().for_each(|b| rename(func, b, last)),
        false => restore_ssa(func, l, &maps, outside),
    }
}

/// The blocks of an iteration up to the one that leaves the loop, in the loop's order.
fn until(func: &Function, l: &Loop, leaving: Block) -> Vec<Block> {
    let mut reached = FxHashSet::from_iter([l.header]);
    let mut stack = vec![l.header];
    while let Some(b) = stack.pop() {
        if b != leaving {
            let next = func.blocks[b].term.edges().into_iter().map(|e| e.block).filter(|b| l.blocks.contains(b));
            stack.extend(next.filter(|&b| reached.insert(b)));
        }
    }
    l.blocks.iter().copied().filter(|b| reached.contains(b)).collect()
}

/// Uses after a loop that several iterations may leave get the values of the one that does.
fn restore_ssa(func: &mut Function, l: &Loop, maps: &[CloneMap], outside: Vec<Block>) {
    util::remove_unreachable(func);
    let mut home = FxHashMap::default();
    for &b in &l.blocks {
        home.extend(func.blocks[b].params.iter().map(|&p| (p, b)));
        home.extend(func.blocks[b].insts.iter().filter_map(|&i| Some((func.insts[i].result?, b))));
    }
    let cfg = Cfg::new(func);
    let mut ssa = Ssa::default();
    for &b in cfg.rpo() {
        let mut preds = cfg.preds(b).to_vec();
        // A block with two edges to the same one is listed twice among its predecessors; `Ssa` wants each once.
        preds.sort();
        preds.dedup();
        ssa.seal(func, b, preds);
    }
    let mut vars = FxHashMap::default();
    for b in outside.into_iter().filter(|&b| cfg.is_reachable(b)) {
        let mut used: Vec<Value> = func.blocks[b].insts.iter().flat_map(|&i| func.insts[i].args.to_vec()).collect();
        func.blocks[b].term.for_each_use(|v| used.push(v));
        used.retain(|v| home.contains_key(v));
        used.sort();
        used.dedup();
        let now: Vec<(Value, Value)> = used
            .into_iter()
            .map(|v| {
                // Each value of the loop that is used outside is a variable, which each iteration assigns at its block.
                let var = *vars.entry(v).or_insert_with(|| {
                    let var = ssa.var(func.ty(v));
                    for (number, map) in maps.iter().enumerate() {
                        if number == 0 {
                            ssa.write(home[&v], var, v);
                        } else if let Some(&copy) = map.blocks.get(&home[&v]) {
                            ssa.write(copy, var, map.value(v));
                        }
                    }
                    var
                });
                (v, ssa.read(func, b, var))
            })
            .collect();
        // Also the arguments that were added meanwhile: they are the values at the end of the block.
        rename(func, b, &CloneMap::new(now));
    }
}

/// Replaces what a block uses.
fn rename(func: &mut Function, b: Block, map: &CloneMap) {
    for k in 0..func.blocks[b].insts.len() {
        let i = func.blocks[b].insts[k];
        func.insts[i].args.iter_mut().for_each(|a| *a = map.value(*a));
    }
    func.blocks[b].term.map_uses(|v| map.value(v));
}
