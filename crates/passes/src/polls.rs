//! Polls: loops end when the launcher asks them to.
//!
//! In comes a kernel with what it calls inlined; out goes the same kernel with a hidden parameter, the address of a
//! word of the launcher ([`Hidden::Stop`]), which the exit of each loop reads anew ([`Op::Poll`]): once the word is not
//! 0, all loops end at their next exit, and so does the kernel, with any results. All work-items of a group may take
//! the answer that one of them got. It is for kernels that nobody trusts: they must not run for ever. (A safepoint
//! poll, as virtual machines have it.)
//!
//! ```text
//! while (cond) body;         while (cond && !poll) body;
//! ```
//!
//! The condition of an exit is changed, and no other control flow: an exit that is the same for all work-items of a
//! group stays so. A loop without such an exit gets an edge to the end of the kernel.
//!
//! An innermost loop that counts one by one, with 32 bits, to a number that it does not change needs no poll: it ends
//! by itself, within seconds. But each work-item of the launch may take these seconds, so that a kernel with such loops
//! polls where it begins. What comes behind a barrier begins without: in a kernel with barriers, only loops of few
//! iterations, by constants, go without a poll.

use crate::pass::PassId;
use cloom_ir::affine::HeaderTest;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::{Loop, Loops};
use cloom_ir::{BinOp, Block, Builder, Edge, FuncRef, Function, Hidden, IntCc, Module, Op, Span, Term, UnOp, Value};
use rustc_hash::FxHashSet;

/// On or off as a whole: the launcher asks for it.
pub const POLLS: PassId = PassId::required("polls", "loops end when the launcher asks them to");

/// Adds polls to a kernel. Returns how many.
pub fn run(module: &mut Module, kernel: FuncRef) -> usize {
    let func = &mut module.funcs[kernel];
    let cfg = Cfg::new(func);
    let dom = DomTree::new(func, &cfg);
    let loops = Loops::new(func, &cfg, &dom);
    let has_barriers = func.insts_in_layout().any(|(_, data)| matches!(data.op, Op::Barrier(_)));
    let ends_by_itself = |l: &&Loop| counts_one_by_one(func, l) && (!has_barriers || is_short(func, &cfg, l));
    let spared: FxHashSet<Block> = loops.without_inner().filter(ends_by_itself).map(|l| l.header).collect();
    let address = func.add_hidden_param(Hidden::Stop);
    let mut end = None;
    let mut count = 0;
    for l in loops.loops.iter().filter(|l| !spared.contains(&l.header)) {
        count += 1;
        match exit_of_each_iteration(func, &dom, l) {
            Some((block, leaves_if)) => poll_at_exit(func, address, block, leaves_if),
            None => l.latches.iter().for_each(|&latch| poll_on_edge(func, address, &mut end, latch, l.header)),
        }
    }
    for &(from, to) in &loops.irreducible {
        count += 1;
        poll_on_edge(func, address, &mut end, from, to);
    }
    if !spared.is_empty() {
        count += 1;
        let entry = func.entry();
        let mut starts: Vec<Block> = func.blocks[entry].term.edges().iter().map(|edge| edge.block).collect();
        starts.dedup();
        starts.into_iter().for_each(|to| poll_on_edge(func, address, &mut end, entry, to));
    }
    count
}

fn inside(l: &Loop, block: Block) -> bool {
    l.blocks.contains(&block)
}

/// A block that each iteration passes and that leaves the loop if its condition is this.
fn exit_of_each_iteration(func: &Function, dom: &DomTree, l: &Loop) -> Option<(Block, bool)> {
    l.exits.iter().find_map(|&(block, _)| {
        let Term::Branch { then, els, .. } = &func.blocks[block].term else { return None };
        let leaves = (!inside(l, then.block), !inside(l, els.block));
        let is_one = leaves.0 != leaves.1;
        (is_one && l.latches.iter().all(|&latch| dom.dominates(block, latch))).then_some((block, leaves.0))
    })
}

fn poll_at_exit(func: &mut Function, address: Value, block: Block, leaves_if: bool) {
    let Term::Branch { cond, .. } = func.blocks[block].term else { return };
    let mut b = Builder::new(func, block);
    let stops = b.poll(address);
    let new = match leaves_if {
        true => b.binary(BinOp::Or, cond, stops),
        false => {
            let goes_on = b.unary(UnOp::Not, stops);
            b.binary(BinOp::And, cond, goes_on)
        }
    };
    if let Term::Branch { cond, .. } = &mut func.blocks[block].term {
        *cond = new;
    }
}

/// Puts a block with a poll on the edges from a block to another; where the launcher asks to stop, the kernel ends.
fn poll_on_edge(func: &mut Function, address: Value, end: &mut Option<Block>, from: Block, to: Block) {
    let end = *end.get_or_insert_with(|| {
        let end = func.add_block();
        func.set_term(end, Term::Return(None), Span::NONE);
        end
    });
    let mut term = std::mem::replace(&mut func.blocks[from].term, Term::Unreachable);
    let span = func.blocks[from].term_span;
    for edge in term.edges_mut() {
        if edge.block == to {
            let between = func.add_block();
            let cond = Builder::new(func, between).poll(address);
            let on = std::mem::replace(edge, Edge::new(between, []));
            func.set_term(between, Term::Branch { cond, then: Edge::new(end, []), els: on }, span);
        }
    }
    func.set_term(from, term, span);
}

/// Iterations that take no time to speak of.
const FEW: i128 = 1 << 16;

/// Whether a loop that counts one by one does so from one constant to another, and they are not far from each other.
fn is_short(func: &Function, cfg: &Cfg, l: &Loop) -> bool {
    let Some(test) = HeaderTest::of(func, l) else { return false };
    let Some(bound) = func.const_bits(test.bound) else { return false };
    let unused = 64 - func.ty(test.counter).scalar.bits();
    let number = |bits: u64| match test.cc {
        IntCc::Slt | IntCc::Sgt => i128::from((bits << unused) as i64 >> unused),
        _ => i128::from(bits),
    };
    let entering = cfg.preds(l.header).iter().filter(|&&p| !inside(l, p));
    let edges = entering.flat_map(|&p| func.blocks[p].term.edges()).filter(|e| e.block == l.header);
    let mut starts = edges.map(|edge| func.const_bits(edge.args[test.index]));
    let is_near = |start: u64| {
        let up = number(bound) - number(start);
        match test.cc {
            IntCc::Ult | IntCc::Slt => up <= FEW,
            IntCc::Ugt | IntCc::Sgt => -up <= FEW,
            _ => false,
        }
    };
    starts.all(|start| start.is_some_and(is_near))
}

/// Whether a loop counts one by one, with 32 bits or less, up or down to a number that it does not change.
fn counts_one_by_one(func: &Function, l: &Loop) -> bool {
    let Some(test) = HeaderTest::of(func, l) else { return false };
    let ty = func.ty(test.counter);
    let (up, down) = match test.cc {
        IntCc::Ult | IntCc::Slt => (true, false),
        IntCc::Ugt | IntCc::Sgt => (false, true),
        IntCc::Ne => (true, true),
        _ => return false,
    };
    // The step, if it is one: 1, or -1.
    let step = |next: Value| {
        let data = &func.insts[func.def_inst(next)?];
        let bits = func.const_bits(*data.args.get(1)?).filter(|_| data.args[0] == test.counter)?;
        match data.op {
            Op::Binary(BinOp::Add) => Some(bits),
            Op::Binary(BinOp::Sub) => Some(bits.wrapping_neg() & ty.scalar.mask()),
            _ => None,
        }
    };
    let edges = l.latches.iter().flat_map(|&latch| func.blocks[latch].term.edges());
    let mut steps = edges.filter(|e| e.block == l.header).map(|e| step(e.args[test.index]));
    let first = steps.next().flatten();
    let is_narrow = ty.is_int() && !ty.is_vector() && ty.scalar.bits() <= 32;
    let is_one = up && first == Some(1) || down && first == Some(ty.scalar.mask());
    is_narrow && is_one && steps.all(|step| step == first)
}
