//! The continuation graph: the kernel split at its barriers.
//!
//! In comes a kernel. [`split_at_barriers`] ends a block at each barrier. [`build`] finds the blocks of each
//! continuation: those that a work-item may run from the entry, or from the end of a barrier, up to its next barrier
//! or return. Continuations overlap where barriers are in loops or branches; each is cloned from its own start, so
//! that a work-item follows the control flow of the source. `build` also finds which values live across a barrier,
//! and which of these are rematerialised rather than saved in the frame.
//!
//! Karrenberg and Hack, "Improving Performance of OpenCL on CPUs", CC 2012, section 5.

use crate::analysis::divergence::{self, Divergence};
use crate::passes;
use crate::split::remat;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::{BinOp, Block, CastOp, Edge, Entity, Flags, Function, Op, Span, Term, Value, ValueDef};
use cloom_passes::PassManager;

/// A barrier: the block that ends at it, and the block that follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Barrier {
    /// The block that ends at the barrier.
    pub before: Block,
    /// The block after it; has no parameters and no other predecessor.
    pub after: Block,
    /// The position in the source.
    pub span: Span,
    /// Whether it is a synthetic barrier, see [`crate::transform::grid_stride`].
    pub synthetic: bool,
}

/// An exit of a continuation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Exit {
    /// To the barrier in front of this continuation.
    Barrier(usize),
    /// To the end of the kernel.
    Return,
}

/// One continuation.
#[derive(Clone, Debug)]
pub struct Continuation {
    /// Its first block.
    pub start: Block,
    /// Its blocks in reverse postorder, `start` first.
    pub blocks: Vec<Block>,
    /// Its exits, each once, sorted.
    pub exits: Vec<Exit>,
    /// The values and private arrays that live into it from an earlier continuation.
    pub live_in: Vec<Value>,
}

/// The continuations of a kernel, and what is common to them.
#[derive(Clone, Debug)]
pub struct ContinuationGraph {
    /// Number 0 is the entry; number i + 1 follows barrier i.
    pub continuations: Vec<Continuation>,
    /// For each block, the continuation that follows if the block ends at a barrier.
    pub barrier_after: Vec<Option<usize>>,
    /// For each value, whether it can be rematerialised anywhere from parameters, queries and constants.
    pub remat_anywhere: Vec<bool>,
    /// For each value, whether it can be rematerialised from those and from group slots ([`remat`]).
    pub remat_from_group: Vec<bool>,
    /// Private arrays whose contents live across a barrier.
    pub kept_arrays: Vec<Value>,
    /// Whether each work-item saves its own next-continuation id, because a divergent branch decides which barrier is
    /// reached.
    pub divergent_dispatch: bool,
    /// For each continuation, whether a batch of groups may run it: the entry and those after synthetic barriers, if
    /// there are any and all groups take the same exits.
    pub batched: Vec<bool>,
}

impl ContinuationGraph {
    /// Whether the kernel itself has barriers, beside synthetic ones.
    pub fn has_source_barriers(&self) -> bool {
        self.batched.iter().skip(1).any(|&is_batched| !is_batched)
    }

    /// Whether a batch of groups may run the entry continuation.
    pub fn begins_batched(&self) -> bool {
        self.batched[0]
    }
}

/// Ends a block at each barrier. Returns the barriers in the order of their blocks.
pub fn split_at_barriers(func: &mut Function) -> Vec<Barrier> {
    let mut barriers = Vec::new();
    // An index, not an iterator: the rest of a block is a new block at the end of the layout, and may have more
    // barriers.
    let mut i = 0;
    while i < func.layout.len() {
        let before = func.layout[i];
        let at = func.blocks[before].insts.iter().position(|&x| matches!(func.insts[x].op, Op::Barrier(_)));
        if let Some(at) = at {
            let span = func.insts[func.blocks[before].insts[at]].span;
            let after = func.add_block();
            let tail = func.blocks[before].insts.split_off(at + 1);
            // The barrier itself: from here on, the end of the block stands for it.
            func.blocks[before].insts.pop();
            func.blocks[after].insts = tail;
            let (term, term_span) = (func.blocks[before].term.clone(), func.blocks[before].term_span);
            func.set_term(after, term, term_span);
            func.set_term(before, Term::Jump(Edge::new(after, [])), span);
            barriers.push(Barrier { before, after, span, synthetic: false });
        }
        i += 1;
    }
    barriers
}

/// The depth of an expression tree that may be rematerialised after a barrier.
const REMAT_DEPTH: u32 = 8;

/// Builds the graph of a kernel that was split. Each continuation has a copy of its own of the `carried` arrays
/// ([`crate::split::carried_arrays`]).
pub fn build(
    func: &Function,
    barriers: Vec<Barrier>,
    carried: &[Value],
    divergence: &Divergence,
    manager: &PassManager<'_>,
) -> ContinuationGraph {
    let cfg = Cfg::new(func);
    // A barrier in dead code would be a continuation that nothing enters.
    let barriers: Vec<Barrier> = barriers.into_iter().filter(|b| cfg.is_reachable(b.before)).collect();
    let mut barrier_after = vec![None; func.blocks.len()];
    for (i, b) in barriers.iter().enumerate() {
        barrier_after[b.before.index()] = Some(i + 1);
    }
    // Number 0 is the entry, so that barrier `i` has number `i + 1`. Numbers are the cases of the dispatch.
    let starts = [func.entry()].into_iter().chain(barriers.iter().map(|b| b.after));
    let mut continuations: Vec<Continuation> = starts.map(|start| region(func, start, &barrier_after)).collect();
    let remat_anywhere = rematerialisable(func, &cfg, carried);
    // After `rematerialisable`, as such values need no slot.
    let kept_arrays =
        if barriers.is_empty() { Vec::new() } else { live_across(func, &cfg, &mut continuations, &remat_anywhere) };
    let divergent_dispatch = continuations.len() > 1 && exits_differ(func, cfg.rpo(), &cfg, &barrier_after, divergence);
    let mut batched = vec![false; continuations.len()];
    if !divergent_dispatch && barriers.iter().any(|b| b.synthetic) {
        // The entry counts as one: a batch begins there.
        let synthetic = || [true].into_iter().chain(barriers.iter().map(|b| b.synthetic));
        // A batch has one next continuation for all its groups, so these blocks are not to have exits that groups
        // choose differently.
        let batchable: Vec<Block> =
            continuations.iter().zip(synthetic()).filter(|c| c.1).flat_map(|c| c.0.blocks.clone()).collect();
        // Batched groups must agree on exits, too, and the divergence at hand is among the work-items of one group.
        let across_groups = divergence::between_groups(func);
        if !exits_differ(func, &batchable, &cfg, &barrier_after, &across_groups) && !may_wait(func, &batchable) {
            batched = synthetic().collect();
        }
    }
    // With divergent dispatch, a group slot may hold the value of another iteration when a work-item reads it.
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

/// Whether one of these blocks ends in a divergent branch from which only some paths reach a barrier or a return
/// before they join.
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
        let join = post.idom(branch);
        // All blocks up to the post-dominator: if none of them ends at a barrier or returns, all work-items meet there
        // first.
        let mut stack: Vec<Block> = func.blocks[branch].term.edges().iter().map(|e| e.block).collect();
        while let Some(b) = stack.pop() {
            // A stamp instead of a set for each branch: a long kernel has many, and clearing sets would take quadratic
            // time.
            if Some(b) == join || std::mem::replace(&mut stamp[b.index()], branch.index()) == branch.index() {
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

/// Whether these blocks may wait for other groups, as single-pass scans do (decoupled look-back). OpenCL does not
/// guarantee that this works, but it does if groups run one after the other. Such a wait polls memory by atomic
/// operations or volatile loads.
fn may_wait(func: &Function, blocks: &[Block]) -> bool {
    blocks.iter().flat_map(|&b| &func.blocks[b].insts).map(|&i| &func.insts[i]).any(|data| {
        // `while (atomic_load(&flag[group - 1]) == 0);`: in a batch, the group before would never come to set its flag.
        let may_poll = data.op.is_atomic() || matches!(data.op, Op::Fence { .. } | Op::Call(_) | Op::DeviceCall(_));
        may_poll || data.flags.contains(Flags::VOLATILE)
    })
}

fn region(func: &Function, start: Block, barrier_after: &[Option<usize>]) -> Continuation {
    let mut seen = vec![false; func.blocks.len()];
    let (mut exits, mut stack) = (Vec::new(), vec![start]);
    while let Some(b) = stack.pop() {
        if std::mem::replace(&mut seen[b.index()], true) {
            continue;
        }
        // The edge out of the block leads into the next continuation.
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
    // The same barrier may be reached from several blocks.
    exits.sort();
    exits.dedup();
    Continuation { start, blocks: region_order(func, start, barrier_after), exits, live_in: Vec::new() }
}

/// The blocks of a continuation in reverse postorder: each definition comes before the uses that it dominates.
fn region_order(func: &Function, start: Block, barrier_after: &[Option<usize>]) -> Vec<Block> {
    let mut seen = vec![false; func.blocks.len()];
    let mut post = Vec::new();
    // A stack of its own: kernels have chains of blocks too long for recursion.
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

/// The values that a few cheap operations compute from parameters, queries, constants and these values.
pub(super) fn rematerialisable(func: &Function, cfg: &Cfg, known: &[Value]) -> Vec<bool> {
    let mut depth: Vec<Option<u32>> = vec![None; func.values.len()];
    for &p in func.param_values().iter().chain(known) {
        // Each continuation loads the arguments that it needs, and has its own copy of a carried array.
        depth[p.index()] = Some(0);
    }
    for &b in cfg.rpo() {
        for &i in &func.blocks[b].insts {
            let data = &func.insts[i];
            let Some(r) = data.result else { continue };
            if is_cheap(&data.op) {
                // In reverse postorder operands have their depth already; block parameters never get one.
                let deepest = data.args.iter().map(|&a| depth[a.index()]).try_fold(0, |m, d| Some(m.max(d?)));
                depth[r.index()] = deepest.map(|d| d + 1).filter(|&d| d <= REMAT_DEPTH);
            }
        }
    }
    depth.into_iter().map(|d| d.is_some()).collect()
}

/// Whether an operation is no more expensive than saving and reloading its result.
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

/// Fills `live_in` of each continuation. Returns the private arrays that live across a barrier.
fn live_across(func: &Function, cfg: &Cfg, continuations: &mut [Continuation], remat_anywhere: &[bool]) -> Vec<Value> {
    let n = func.blocks.len();
    let mut start_of = vec![None; n];
    for (i, c) in continuations.iter().enumerate().skip(1) {
        start_of[c.start.index()] = Some(i);
    }
    // The blocks that use each value, and the block that defines it.
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
                // Blocks come one after the other, so that a repeated one is the last in the list.
                if uses[a.index()].last() != Some(&b) {
                    uses[a.index()].push(b);
                }
                // The address escapes unless the use is a direct access.
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
        // A value of a block that is not reachable has no definition here.
        let (Some(def_block), false) = (def[v.index()], remat_anywhere[v.index()]) else { continue };
        let array = matches!(func.def_op(v), Some(Op::Alloca { .. }));
        let mut across = false;
        // Backward from the uses to the definition. In SSA form the walk ends there, as the definition dominates its
        // uses.
        let mut stack: Vec<Block> = uses[v.index()].iter().copied().filter(|&b| b != def_block).collect();
        while let Some(b) = stack.pop() {
            if std::mem::replace(&mut stamp[b.index()], v.index()) == v.index() {
                continue;
            }
            // The value is live at the start of this block, which is behind a barrier.
            if let Some(i) = start_of[b.index()] {
                across = true;
                continuations[i].live_in.push(v);
            }
            stack.extend(cfg.preds(b).iter().copied().filter(|&p| p != def_block));
        }
        // An array whose derived addresses may live across a barrier lives too, whether or not its own address is
        // used later.
        if array && (across || escapes[v.index()]) {
            arrays.push(v);
        }
    }
    arrays
}

/// Whether a value is a parameter of the function.
pub fn is_param(func: &Function, v: Value) -> bool {
    matches!(func.values[v].def, ValueDef::Param(b, _) if b == func.entry())
}
