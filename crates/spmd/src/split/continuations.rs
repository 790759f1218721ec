//! The continuation graph: the kernel cut at its barriers.
//!
//! In comes a kernel; [`split_at_barriers`] ends a block at each barrier, and [`build`] finds, for each continuation
//! (the entry, and what follows each barrier), the blocks that a work-item may run before its next barrier or its end.
//! Continuations overlap where barriers are in loops or branches; each is cloned from its own start, so that a
//! work-item's control flow is that of the source. Then: which values live across a barrier, and which of these are
//! rematerialised instead of kept.
//!
//! Karrenberg and Hack, "Improving Performance of OpenCL on CPUs", CC 2012, section 5.

use crate::analysis::divergence::{self, Divergence};
use crate::passes;
use crate::split::remat;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::{BinOp, Block, CastOp, Edge, Entity, Flags, Function, Op, Span, Term, Value, ValueDef};
use cloom_passes::PassManager;

/// A barrier: the block that ends at it, and the one that follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Barrier {
    /// Ends at the barrier.
    pub before: Block,
    /// Begins after it; has no parameters and no other predecessor.
    pub after: Block,
    /// Where the barrier stands in the source.
    pub span: Span,
    /// Whether it is a synthetic barrier, see [`crate::transform::grid_stride`].
    pub synthetic: bool,
}

/// Where a continuation may go.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Exit {
    /// To the barrier before this continuation.
    Barrier(usize),
    /// To the end.
    Return,
}

/// One continuation.
#[derive(Clone, Debug)]
pub struct Continuation {
    /// Where it begins.
    pub start: Block,
    /// Its blocks in reverse postorder, `start` first.
    pub blocks: Vec<Block>,
    /// Where it may go, each once, sorted.
    pub exits: Vec<Exit>,
    /// Kept or rematerialised values and arrays that it needs from before.
    pub live_in: Vec<Value>,
}

/// The whole kernel.
#[derive(Clone, Debug)]
pub struct ContinuationGraph {
    /// Number 0 is the entry; number i + 1 follows barrier i.
    pub continuations: Vec<Continuation>,
    /// Which continuation follows the block, if it ends at a barrier.
    pub barrier_after: Vec<Option<usize>>,
    /// Whether the value can be computed anywhere from parameters, queries and constants.
    pub remat_anywhere: Vec<bool>,
    /// Whether the value of a work-item can be computed from such and what the group keeps ([`remat`]).
    pub remat_from_group: Vec<bool>,
    /// Private arrays that must keep their contents across barriers.
    pub kept_arrays: Vec<Value>,
    /// Whether each work-item keeps its own next continuation, because a branch that may differ decides it.
    pub divergent_dispatch: bool,
    /// Which continuations the work-items of several groups may run together: the first and those after synthetic
    /// barriers, if there are such and all groups agree where to go on.
    pub batched: Vec<bool>,
}

impl ContinuationGraph {
    /// Whether work-items wait for each other because the kernel says so.
    pub fn waits(&self) -> bool {
        self.batched.iter().skip(1).any(|&together| !together)
    }

    /// Whether the work-items of several groups may run together at first.
    pub fn begins_batched(&self) -> bool {
        self.batched[0]
    }
}

/// Ends a block at each barrier. The barriers are returned in order of place.
pub fn split_at_barriers(func: &mut Function) -> Vec<Barrier> {
    let mut barriers = Vec::new();
    let mut i = 0;
    while i < func.layout.len() {
        let before = func.layout[i];
        let at = func.blocks[before].insts.iter().position(|&x| func.insts[x].op == Op::Barrier);
        if let Some(at) = at {
            let span = func.insts[func.blocks[before].insts[at]].span;
            let after = func.add_block();
            let rest = func.blocks[before].insts.split_off(at + 1);
            func.blocks[before].insts.pop();
            func.blocks[after].insts = rest;
            let (term, term_span) = (func.blocks[before].term.clone(), func.blocks[before].term_span);
            func.set_term(after, term, term_span);
            func.set_term(before, Term::Jump(Edge::new(after, [])), span);
            barriers.push(Barrier { before, after, span, synthetic: false });
        }
        i += 1;
    }
    barriers
}

/// How deep an expression may be to be computed again after a barrier.
const REMAT_DEPTH: u32 = 8;

/// Finds the continuations of a kernel that was split.
pub fn build(
    func: &Function,
    barriers: Vec<Barrier>,
    divergence: &Divergence,
    manager: &PassManager<'_>,
) -> ContinuationGraph {
    let cfg = Cfg::new(func);
    let barriers: Vec<Barrier> = barriers.into_iter().filter(|b| cfg.is_reachable(b.before)).collect();
    let mut barrier_after = vec![None; func.blocks.len()];
    for (i, b) in barriers.iter().enumerate() {
        barrier_after[b.before.index()] = Some(i + 1);
    }
    let starts = [func.entry()].into_iter().chain(barriers.iter().map(|b| b.after));
    let mut continuations: Vec<Continuation> = starts.map(|start| region(func, start, &barrier_after)).collect();
    let remat_anywhere = rematerialisable(func, &cfg);
    let kept_arrays =
        if barriers.is_empty() { Vec::new() } else { live_across(func, &cfg, &mut continuations, &remat_anywhere) };
    let divergent_dispatch = continuations.len() > 1 && exits_differ(func, cfg.rpo(), &cfg, &barrier_after, divergence);
    let mut batched = vec![false; continuations.len()];
    if !divergent_dispatch && barriers.iter().any(|b| b.synthetic) {
        let synthetic = || [true].into_iter().chain(barriers.iter().map(|b| b.synthetic));
        let first: Vec<Block> =
            continuations.iter().zip(synthetic()).filter(|c| c.1).flat_map(|c| c.0.blocks.clone()).collect();
        let groups = divergence::between_groups(func);
        if !exits_differ(func, &first, &cfg, &barrier_after, &groups) && !may_wait(func, &first) {
            batched = synthetic().collect();
        }
    }
    // Where work-items wait at different barriers, what the group keeps may be another one's.
    let found = (!divergent_dispatch).then(|| {
        manager.step(passes::REMAT, || {
            let remat_from_group = remat::find(func, divergence, &remat_anywhere, &mut continuations);
            (remat_from_group.iter().filter(|&&r| r).count(), remat_from_group)
        })
    });
    let remat_from_group = found.flatten().unwrap_or_else(|| vec![false; func.values.len()]);
    ContinuationGraph {
        continuations,
        barrier_after,
        remat_anywhere,
        remat_from_group,
        kept_arrays,
        divergent_dispatch,
        batched,
    }
}

/// Whether a branch at the end of one of these blocks that sends work-items different ways has a barrier or an end on only some of these
/// ways, before they meet.
fn exits_differ(
    func: &Function,
    blocks: &[Block],
    cfg: &Cfg,
    barrier_after: &[Option<usize>],
    divergence: &Divergence,
) -> bool {
    let post = DomTree::post(func, cfg);
    let mut stamp = vec![usize::MAX; func.blocks.len()];
    blocks.iter().filter(|&&b| divergence.is_divergent_branch(b)).any(|&branch| {
        let meet = post.idom(branch);
        let mut stack: Vec<Block> = func.blocks[branch].term.edges().iter().map(|e| e.block).collect();
        while let Some(b) = stack.pop() {
            if Some(b) == meet || std::mem::replace(&mut stamp[b.index()], branch.index()) == branch.index() {
                continue;
            }
            let edges = func.blocks[b].term.edges();
            if barrier_after[b.index()].is_some() || edges.is_empty() {
                return true;
            }
            stack.extend(edges.iter().map(|e| e.block));
        }
        false
    })
}

/// Whether these blocks may wait for other groups, as in scans that hand sums on: nobody promises that it works, but it does where groups
/// run one after the other. Such a wait looks at memory by atomic operations or as volatile.
fn may_wait(func: &Function, blocks: &[Block]) -> bool {
    blocks.iter().flat_map(|&b| &func.blocks[b].insts).map(|&i| &func.insts[i]).any(|data| {
        let looks = data.op.is_atomic() || matches!(data.op, Op::Fence { .. } | Op::Call(_));
        looks || data.flags.contains(Flags::VOLATILE)
    })
}

fn region(func: &Function, start: Block, barrier_after: &[Option<usize>]) -> Continuation {
    let mut seen = vec![false; func.blocks.len()];
    let (mut exits, mut stack) = (Vec::new(), vec![start]);
    while let Some(b) = stack.pop() {
        if std::mem::replace(&mut seen[b.index()], true) {
            continue;
        }
        if let Some(next) = barrier_after[b.index()] {
            exits.push(Exit::Barrier(next));
            continue;
        }
        let edges = func.blocks[b].term.edges();
        if edges.is_empty() {
            exits.push(Exit::Return);
        }
        stack.extend(edges.iter().map(|e| e.block));
    }
    exits.sort();
    exits.dedup();
    Continuation { start, blocks: region_order(func, start, barrier_after), exits, live_in: Vec::new() }
}

/// Reverse postorder of a region from its start: each definition comes before the uses that it dominates.
fn region_order(func: &Function, start: Block, barrier_after: &[Option<usize>]) -> Vec<Block> {
    let mut seen = vec![false; func.blocks.len()];
    let mut post = Vec::new();
    let mut stack = vec![(start, 0usize)];
    seen[start.index()] = true;
    while let Some((b, next)) = stack.last_mut() {
        let b = *b;
        let edges = func.blocks[b].term.edges();
        let target = edges.get(*next).map(|e| e.block).filter(|_| barrier_after[b.index()].is_none());
        *next += 1;
        match target {
            Some(t) if !std::mem::replace(&mut seen[t.index()], true) => stack.push((t, 0)),
            Some(_) => {}
            None => {
                post.push(b);
                stack.pop();
            }
        }
    }
    post.reverse();
    post
}

/// Values that parameters, queries and constants give through a few cheap operations.
fn rematerialisable(func: &Function, cfg: &Cfg) -> Vec<bool> {
    let mut depth: Vec<Option<u32>> = vec![None; func.values.len()];
    for &p in func.param_values() {
        depth[p.index()] = Some(0);
    }
    for &b in cfg.rpo() {
        for &i in &func.blocks[b].insts {
            let data = &func.insts[i];
            let Some(r) = data.result else { continue };
            if is_cheap(&data.op) {
                let deepest = data.args.iter().map(|&a| depth[a.index()]).try_fold(0, |m, d| Some(m.max(d?)));
                depth[r.index()] = deepest.map(|d| d + 1).filter(|&d| d <= REMAT_DEPTH);
            }
        }
    }
    depth.into_iter().map(|d| d.is_some()).collect()
}

/// Whether an operation takes no longer than to keep its result.
pub fn is_cheap(op: &Op) -> bool {
    match op {
        Op::Const(_) | Op::Query { .. } | Op::GlobalAddr(_) | Op::PtrAdd | Op::Icmp(_) | Op::Splat => true,
        Op::Binary(op) => matches!(
            op,
            BinOp::Add
                | BinOp::Sub
                | BinOp::Mul
                | BinOp::Shl
                | BinOp::Lshr
                | BinOp::Ashr
                | BinOp::And
                | BinOp::Or
                | BinOp::Xor
                | BinOp::Smin
                | BinOp::Smax
                | BinOp::Umin
                | BinOp::Umax
        ),
        Op::Cast(op) => matches!(
            op,
            CastOp::Trunc
                | CastOp::Zext
                | CastOp::Sext
                | CastOp::Bitcast
                | CastOp::Space
                | CastOp::PtrToInt
                | CastOp::IntToPtr
        ),
        _ => false,
    }
}

/// Fills `live_in` of each continuation, and returns the private arrays that live across a barrier.
fn live_across(func: &Function, cfg: &Cfg, continuations: &mut [Continuation], remat_anywhere: &[bool]) -> Vec<Value> {
    let n = func.blocks.len();
    let mut start_of = vec![None; n];
    for (i, c) in continuations.iter().enumerate().skip(1) {
        start_of[c.start.index()] = Some(i);
    }
    // Blocks that use each value, and the block that defines it.
    let mut uses: Vec<Vec<Block>> = vec![Vec::new(); func.values.len()];
    let mut def = vec![None; func.values.len()];
    let mut escapes = vec![false; func.values.len()];
    for &b in cfg.rpo() {
        for &p in &func.blocks[b].params {
            def[p.index()] = Some(b);
        }
        for &i in &func.blocks[b].insts {
            let data = &func.insts[i];
            if let Some(r) = data.result {
                def[r.index()] = Some(b);
            }
            for (k, &a) in data.args.iter().enumerate() {
                if uses[a.index()].last() != Some(&b) {
                    uses[a.index()].push(b);
                }
                // The address itself goes where it cannot be followed.
                escapes[a.index()] |= match data.op {
                    Op::Load { .. } | Op::MemCopy { .. } | Op::MemSet { .. } => false,
                    Op::Store { .. } => k == 1,
                    _ => true,
                };
            }
        }
        func.blocks[b].term.for_each_use(|v| {
            uses[v.index()].push(b);
            escapes[v.index()] = true;
        });
    }
    let mut arrays = Vec::new();
    let mut stamp = vec![usize::MAX; n];
    for v in func.values.keys() {
        let (Some(home), false) = (def[v.index()], remat_anywhere[v.index()]) else { continue };
        let array = matches!(func.def_op(v), Some(Op::Alloca { .. }));
        let mut across = false;
        let mut stack: Vec<Block> = uses[v.index()].iter().copied().filter(|&b| b != home).collect();
        while let Some(b) = stack.pop() {
            if std::mem::replace(&mut stamp[b.index()], v.index()) == v.index() {
                continue;
            }
            if let Some(i) = start_of[b.index()] {
                across = true;
                continuations[i].live_in.push(v);
            }
            stack.extend(cfg.preds(b).iter().copied().filter(|&p| p != home));
        }
        // An array whose derived addresses may live on keeps its contents, whether or not its own address is used later.
        if array && (across || escapes[v.index()]) {
            arrays.push(v);
        }
    }
    arrays
}

/// Whether a value is defined by a parameter of the function.
pub fn is_param(func: &Function, v: Value) -> bool {
    matches!(func.values[v].def, ValueDef::Param(b, _) if b == func.entry())
}
