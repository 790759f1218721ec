//! Canonical form: what linearisation needs of a function. For masked loops it is LLVM's loop-simplify form and
//! LCSSA.
//!
//! * One block returns.
//! * No `switch` is masked: it becomes a chain of branches. No branch has two edges to one block.
//! * Every masked loop has one latch and one exit edge, from the header (top-tested) or from the latch
//!   (bottom-tested), to a block that has no other predecessor. A loop with more exits (`break`, `return`, several
//!   `continue`) gets a new latch, to which all of them jump with a flag for whether the work-item stays in the loop,
//!   and an exit number if there are several exits. After the loop, a chain of branches dispatches on that number.
//! * A value that is defined in such a loop and used after it passes a parameter of the exit block (LCSSA): lanes
//!   have values of different iterations, which are blended there.
//!
//! Irreducible graphs and endless loops are limits ([`NotVectorised`]): such kernels run one work-item at a time.

use crate::analysis::divergence::{self, Divergence};
use crate::analysis::loop_form::{Unspecified, form};
use crate::analysis::masked::{self, Masked};
use crate::error::{NotVectorised, Stop};
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::{Loop, Loops};
use cloom_ir::ssa::Ssa;
use cloom_ir::{Block, Builder, Edge, Entity, Function, IntCc, Op, Space, Term, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// The most loops and switches to restructure.
const MAX_LOOPS: usize = 100;

/// The result.
#[derive(Default)]
pub struct Canonical {
    /// Values that may be anything.
    pub unspecified: Unspecified,
    /// How many loops and switches were restructured.
    pub changes: usize,
}

/// The canonical form of a function's copy, for an analysis. `varying` are the values that differ between lanes.
pub fn form_of_copy(func: &Function, varying: &[Value]) -> Result<(Function, Canonical), Stop> {
    let mut copy = func.clone();
    let canonical = run(&mut copy, &|f| divergence::between_lanes(f, varying))?;
    Ok((copy, canonical))
}

/// Brings the function of one work-item, which returns its exit number, into canonical form.
pub fn run(func: &mut Function, analyse: &dyn Fn(&Function) -> Divergence) -> Result<Canonical, Stop> {
    let mut unspecified = Unspecified::default();
    // Before the loops: a return in a loop becomes one more exit of it.
    merge_returns(func);
    // Before LCSSA, which would pass these addresses on as parameters.
    sink_addresses(func);
    let mut changes = 0;
    // Each turn restructures loops that do not contain each other, inner loops first, and analyses anew.
    while changes <= MAX_LOOPS {
        // In each turn, as lowering a switch may make such edges.
        split_twin_edges(func);
        let cfg = Cfg::new(func);
        let dom = DomTree::new(func, &cfg);
        let post = DomTree::post(func, &cfg);
        let loops = Loops::new(func, &cfg, &dom);
        if !loops.is_reducible() {
            return Err(Stop::Limit(NotVectorised::Irreducible));
        }
        // Without a path to the return there is no post-dominator, where a masked region could end.
        check_endless_loops(func, &cfg)?;
        // Anew in each turn: the parameters of new blocks may vary, and so may branches on them.
        let divergence = analyse(func);
        let masked = masked::find(func, &cfg, &dom, &post, &|b| divergence.is_divergent_branch(b));
        if lower_masked_switches(func, &cfg, &masked) {
            changes += 1;
            continue;
        }
        // In reverse, so that inner loops come before those around them.
        let masked_loops: Vec<&Loop> = loops.loops.iter().rev().filter(|l| masked.is_masked(l.header)).collect();
        let mut not_canonical = masked_loops.clone();
        not_canonical.retain(|l| form(func, &cfg, l).is_none());
        // Loops that are not masked keep their branches, whatever their form.
        if !not_canonical.is_empty() {
            let mut restructured: FxHashSet<Block> = FxHashSet::default();
            for l in not_canonical {
                // The blocks of a loop around one that was restructured are no longer those found.
                if l.blocks.iter().all(|b| !restructured.contains(b)) {
                    restructure(func, l, &mut unspecified);
                    restructured.extend(&l.blocks);
                    changes += 1;
                }
            }
            continue;
        }
        // Parameters that pass a value on vary as the value did outside of its loop: all loops in one turn.
        let closed = masked_loops.into_iter().filter(|l| make_lcssa(func, l)).count();
        if closed == 0 {
            return Ok(Canonical { unspecified, changes });
        }
        changes += closed;
    }
    Err(Stop::Limit(NotVectorised::TooManyLoops))
}

/// Merges all returns into one block.
fn merge_returns(func: &mut Function) {
    let ends: Vec<Block> = func.layout.iter().copied().filter(|&b| func.blocks[b].term.edges().is_empty()).collect();
    if let [only] = ends[..]
        && matches!(func.blocks[only].term, Term::Return(_))
        && only != func.entry()
    {
        return;
    }
    let end = func.add_block();
    // The exit number; of a library function, its result.
    let ty = func.ret.unwrap_or(Type::I32);
    let result = func.add_block_param(end, ty);
    Builder::new(func, end).ret(Some(result));
    for b in ends {
        let value = match func.blocks[b].term {
            Term::Return(Some(v)) => v,
            // An unreachable end may return anything.
            _ => Builder::new(func, b).iconst(ty, 0),
        };
        let span = func.blocks[b].term_span;
        func.set_term(b, Term::Jump(Edge::new(end, [value])), span);
    }
}

/// Recomputes addresses in private arrays after the loop that defines them, from their offsets. As LCSSA parameters
/// they would hide which array they point into, which could then not be laid out by unit
/// ([`crate::analysis::private_layout`]).
fn sink_addresses(func: &mut Function) {
    let cfg = Cfg::new(func);
    let dom = DomTree::new(func, &cfg);
    let loops = Loops::new(func, &cfg, &dom);
    let mut loop_of: FxHashMap<Value, usize> = FxHashMap::default();
    for &b in cfg.rpo() {
        let Some(l) = loops.innermost(b) else { continue };
        for data in func.blocks[b].insts.iter().map(|&i| &func.insts[i]) {
            if let (Op::PtrAdd, Some(r)) = (&data.op, data.result)
                && func.ty(r).space() == Some(Space::Private)
            {
                loop_of.insert(r, l);
            }
        }
    }
    if loop_of.is_empty() {
        return;
    }
    for &b in cfg.rpo() {
        // `p = a + x` in a loop, read behind it: `a + x` is computed again there, and `x` passes the exit instead of
        // `p`.
        let is_left = |v: Value| loop_of.get(&v).is_some_and(|&l| !loops.loops[l].blocks.contains(&b));
        for i in std::mem::take(&mut func.blocks[b].insts) {
            for k in 0..func.insts[i].args.len() {
                // Back from the use to a value defined outside of loops that were left, then forth again.
                let mut chain = Vec::new();
                let mut at = func.insts[i].args[k];
                while is_left(at)
                    && let Some(def) = func.def_inst(at)
                {
                    chain.push(def);
                    at = func.insts[def].args[0];
                }
                for &def in chain.iter().rev() {
                    let (by, span) = (func.insts[def].args[1], func.insts[def].span);
                    let mut builder = Builder::new(func, b);
                    builder.span = span;
                    at = builder.ptr_add(at, by);
                }
                // The address in the loop, if nothing else uses it, is left to dead code elimination.
                func.insts[i].args[k] = at;
            }
            func.blocks[b].insts.push(i);
        }
    }
}

/// Splits one edge of each branch whose two edges lead to one block.
fn split_twin_edges(func: &mut Function) {
    for k in 0..func.layout.len() {
        let b = func.layout[k];
        let Term::Branch { cond, then, els } = func.blocks[b].term.clone() else { continue };
        if then.block == els.block {
            let span = func.blocks[b].term_span;
            // `br c, J(x), J(y)`: a mask belongs to a block with one edge, so that each edge needs a block to tell it
            // by.
            let between = func.add_block();
            func.set_term(between, Term::Jump(els), span);
            func.set_term(b, Term::Branch { cond, then, els: Edge::new(between, []) }, span);
        }
    }
}

fn check_endless_loops(func: &Function, cfg: &Cfg) -> Result<(), Stop> {
    // Backward from the blocks without successors.
    let mut reaches = vec![false; func.blocks.len()];
    let mut stack: Vec<Block> = cfg.rpo().iter().copied().filter(|&b| func.blocks[b].term.edges().is_empty()).collect();
    while let Some(b) = stack.pop() {
        if !std::mem::replace(&mut reaches[b.index()], true) {
            stack.extend(cfg.preds(b).iter().copied());
        }
    }
    if cfg.rpo().iter().all(|&b| reaches[b.index()]) { Ok(()) } else { Err(Stop::Limit(NotVectorised::EndlessLoop)) }
}

/// Turns masked switches into chains of branches. Returns whether there were any.
fn lower_masked_switches(func: &mut Function, cfg: &Cfg, masked: &Masked) -> bool {
    let mut lowered = false;
    for &b in cfg.rpo() {
        let Term::Switch { value, cases, default } = func.blocks[b].term.clone() else { continue };
        if !masked.is_masked(b) && !masked.is_linear(b) {
            continue;
        }
        lowered = true;
        let ty = func.ty(value);
        let span = func.blocks[b].term_span;
        let mut at = b;
        // The default is the last `else`; without a case there is no branch at all.
        let last = cases.len().wrapping_sub(1);
        if cases.is_empty() {
            func.set_term(b, Term::Jump(default), span);
            continue;
        }
        for (i, (bits, edge)) in cases.into_iter().enumerate() {
            let mut builder = Builder::new(func, at);
            builder.span = span;
            // One comparison after the other; under masks, all of them run anyway.
            let case = builder.iconst(ty, bits);
            let cond = builder.icmp(IntCc::Eq, value, case);
            let els = if i == last { default.clone() } else { Edge::new(func.add_block(), []) };
            let next = els.block;
            func.set_term(at, Term::Branch { cond, then: edge, els }, span);
            at = next;
        }
    }
    lowered
}

/// Gives a loop one latch and one exit edge.
fn restructure(func: &mut Function, l: &Loop, unspecified: &mut Unspecified) {
    let inside: FxHashSet<Block> = l.blocks.iter().copied().collect();
    // Then only the exit block is missing.
    let simple = l.latches.len() == 1 && l.exits.len() == 1 && {
        let (from, latch) = (l.exits[0].0, l.latches[0]);
        let branch = matches!(func.blocks[from].term, Term::Branch { .. });
        let jump = matches!(func.blocks[latch].term, Term::Jump(_));
        branch && (from == latch || from == l.header && jump)
    };
    if simple {
        let (from, _) = l.exits[0];
        let exit = func.add_block();
        let mut old = None;
        for e in func.blocks[from].term.edges_mut() {
            if !inside.contains(&e.block) {
                old = Some(std::mem::replace(e, Edge::new(exit, [])));
            }
        }
        if let Some(old) = old {
            let span = func.blocks[from].term_span;
            func.set_term(exit, Term::Jump(old), span);
        }
        return;
    }
    // From here on: all edges to the header and out of the loop go to a new latch, with what the header takes, whether
    // the work-item stays, and which exit it takes otherwise. The latch has the only exit edge; behind it, a chain of
    // branches takes the work-items where they wanted to go.
    let (latch, exit) = (func.add_block(), func.add_block());
    let types: Vec<Type> = func.blocks[l.header].params.iter().map(|&p| func.ty(p)).collect();
    // The new latch takes what the header takes, and passes it on if the work-item stays.
    let carried: Vec<Value> = types.iter().map(|&ty| func.add_block_param(latch, ty)).collect();
    let mut exit_edges: Vec<Edge> = Vec::new();
    for &b in &l.blocks {
        for e in func.blocks[b].term.edges() {
            // Equal edges (the same block and arguments) share an exit number.
            if !inside.contains(&e.block) && !exit_edges.contains(e) {
                exit_edges.push(e.clone());
            }
        }
    }
    // The flag for staying is a mask, which a divergent loop needs anyway; the exit number is needed only for several
    // exits.
    let stays_flag = func.add_block_param(latch, Type::I1);
    let exit_var = (exit_edges.len() > 1).then(|| func.add_block_param(latch, Type::I32));
    for &b in &l.blocks {
        let mut term = func.blocks[b].term.clone();
        let span = func.blocks[b].term_span;
        let mut changed = false;
        for e in term.edges_mut() {
            let mut unspecified_arg = |func: &mut Function, ty: Type| {
                let zero = Builder::new(func, b).iconst(ty, 0);
                unspecified.insert(zero);
                zero
            };
            // Edges to the header and edges out of the loop go to the latch; the others stay.
            let stays = e.block == l.header;
            let (mut args, exit_number) = if stays {
                (e.args.to_vec(), exit_var.map(|_| unspecified_arg(func, Type::I32)))
            } else if inside.contains(&e.block) {
                continue;
            } else {
                // Who leaves does not enter the header again. Unspecified, so that these arguments need no blend and no
                // one shape.
                let args = types.iter().map(|&ty| unspecified_arg(func, ty)).collect();
                let exit_number = exit_edges.iter().position(|exit| exit == e).unwrap_or_default();
                (args, exit_var.map(|_| Builder::new(func, b).iconst(Type::I32, exit_number as u64)))
            };
            args.push(Builder::new(func, b).iconst(Type::I1, stays.into()));
            *e = Edge::new(latch, args.into_iter().chain(exit_number));
            changed = true;
        }
        if changed {
            func.set_term(b, term, span);
        }
    }
    let mut b = Builder::new(func, latch);
    // The only exit, from the only latch: a bottom-tested loop.
    b.term(Term::Branch { cond: stays_flag, then: Edge::new(l.header, carried), els: Edge::new(exit, []) });
    // Arguments of the exit edges that are defined in the loop are passed through parameters later, like all values
    // used after it.
    let mut at = exit;
    let count = exit_edges.len();
    for (i, edge) in exit_edges.into_iter().enumerate() {
        // The last exit needs no test.
        let Some(exit_var) = exit_var.filter(|_| i + 1 < count) else {
            func.set_term(at, Term::Jump(edge), cloom_ir::Span::NONE);
            break;
        };
        let mut b = Builder::new(func, at);
        let index = b.iconst(Type::I32, i as u64);
        let cond = b.icmp(IntCc::Eq, exit_var, index);
        let next = func.add_block();
        func.set_term(at, Term::Branch { cond, then: edge, els: Edge::new(next, []) }, cloom_ir::Span::NONE);
        at = next;
    }
    repair_ssa(func, &inside, l.header, latch, exit, unspecified);
}

/// Repairs SSA form after restructuring: definitions in the loop no longer dominate the latch, so values used after
/// the loop reach the latch through parameters, and leave through parameters of the exit block.
fn repair_ssa(
    func: &mut Function,
    inside: &FxHashSet<Block>,
    header: Block,
    latch: Block,
    exit: Block,
    unspecified: &mut Unspecified,
) {
    let mut blocks = inside.clone();
    // The latch is in the loop, but its values are parameters, which dominate the exit.
    blocks.insert(latch);
    let used = used_outside(func, &blocks);
    let cfg = Cfg::new(func);
    let mut ssa = Ssa::default();
    let reachable: Vec<Block> = cfg.rpo().to_vec();
    for &b in &reachable {
        let mut preds = cfg.preds(b).to_vec();
        preds.sort();
        preds.dedup();
        // All edges exist already, so that each block can be sealed at once.
        ssa.seal(func, b, preds);
    }
    let mut renamed = FxHashMap::default();
    // A variable for each value: anything at the header, the value where it is defined. Read at the latch, the variable
    // has the value if the iteration's path has come to the definition.
    for (v, def_block) in used {
        let ty = func.ty(v);
        let var = ssa.var(ty);
        // In an iteration that has not reached the definition, the value is not used.
        if def_block != header {
            let zero = Builder::new(func, header).iconst(ty, 0);
            func.move_last_to_front(header);
            unspecified.insert(zero);
            ssa.write(header, var, zero);
        }
        ssa.write(def_block, var, v);
        let value = ssa.read(func, latch, var);
        let p = func.add_block_param(exit, ty);
        for e in func.blocks[latch].term.edges_mut() {
            if e.block == exit {
                e.args.push(value);
            }
        }
        renamed.insert(v, p);
    }
    rename_outside(func, &blocks, &renamed);
}

/// The values defined in these blocks and used outside of them, with the block of each.
fn used_outside(func: &Function, blocks: &FxHashSet<Block>) -> Vec<(Value, Block)> {
    let mut def_block = FxHashMap::default();
    for &b in &func.layout {
        if blocks.contains(&b) {
            def_block.extend(func.blocks[b].params.iter().map(|&p| (p, b)));
            def_block.extend(func.blocks[b].insts.iter().filter_map(|&i| func.insts[i].result).map(|r| (r, b)));
        }
    }
    // In the order of their uses: the parameters that are made of them must not depend on the order of a hash map.
    let mut found = Vec::new();
    let mut seen = FxHashSet::default();
    for &b in func.layout.iter().filter(|b| !blocks.contains(b)) {
        let mut visit = |v: Value| {
            if let Some(&h) = def_block.get(&v)
                && seen.insert(v)
            {
                found.push((v, h));
            }
        };
        for &i in &func.blocks[b].insts {
            func.insts[i].args.iter().copied().for_each(&mut visit);
        }
        func.blocks[b].term.for_each_use(visit);
    }
    found
}

fn rename_outside(func: &mut Function, blocks: &FxHashSet<Block>, renamed: &FxHashMap<Value, Value>) {
    let map = |v: Value| renamed.get(&v).copied().unwrap_or(v);
    for k in 0..func.layout.len() {
        let b = func.layout[k];
        if blocks.contains(&b) {
            continue;
        }
        for i in func.blocks[b].insts.clone() {
            for a in &mut func.insts[i].args {
                *a = map(*a);
            }
        }
        func.blocks[b].term.map_uses(map);
    }
}

/// Brings a loop into LCSSA form: values used after it pass parameters of its exit block. Returns whether there were
/// any.
fn make_lcssa(func: &mut Function, l: &Loop) -> bool {
    let blocks: FxHashSet<Block> = l.blocks.iter().copied().collect();
    let (from, exit) = l.exits[0];
    let mut renamed = FxHashMap::default();
    for (v, _) in used_outside(func, &blocks) {
        let p = func.add_block_param(exit, func.ty(v));
        for e in func.blocks[from].term.edges_mut() {
            if e.block == exit {
                e.args.push(v);
            }
        }
        renamed.insert(v, p);
    }
    if renamed.is_empty() {
        return false;
    }
    rename_outside(func, &blocks, &renamed);
    true
}
