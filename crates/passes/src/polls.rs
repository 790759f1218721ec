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
//! group stays so. A loop without such an exit gets an edge to the end of the kernel. An innermost loop that counts one
//! by one, with 32 bits, to a number that it does not change needs no poll: it ends by itself, within seconds.

use crate::pass::PassId;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::{Loop, Loops};
use cloom_ir::{
    BinOp, Block, Builder, Edge, FuncRef, Function, Hidden, IntCc, Module, Op, Span, Term, UnOp, Value, ValueDef,
};

/// On or off as a whole: the launcher asks for it.
pub const POLLS: PassId = PassId::required("polls", "loops end when the launcher asks them to");

/// Adds polls to a kernel. Returns how many.
pub fn run(module: &mut Module, kernel: FuncRef) -> usize {
    let func = &mut module.funcs[kernel];
    let cfg = Cfg::new(func);
    let dom = DomTree::new(func, &cfg);
    let loops = Loops::new(func, &cfg, &dom);
    let has_inner = |l: &Loop| loops.loops.iter().any(|inner| inner.depth == l.depth + 1 && inside(l, inner.header));
    let needs = |l: &&Loop| has_inner(l) || !counts_one_by_one(func, &dom, l);
    let polled: Vec<Loop> = loops.loops.iter().filter(needs).cloned().collect();
    let address = func.add_hidden_param(Hidden::Stop);
    let mut end = None;
    let mut count = 0;
    for l in &polled {
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

/// Whether a loop counts one by one, with 32 bits or less, and leaves at a number that it does not change.
fn counts_one_by_one(func: &Function, dom: &DomTree, l: &Loop) -> bool {
    let Some((block, leaves_if)) = exit_of_each_iteration(func, dom, l) else { return false };
    let Term::Branch { cond, .. } = func.blocks[block].term else { return false };
    let Some(data) = func.def_inst(cond).map(|i| &func.insts[i]) else { return false };
    let Op::Icmp(cc) = data.op else { return false };
    let stays = if leaves_if { cc.negated() } else { cc };
    let (x, y) = (data.args[0], data.args[1]);
    let is_fixed = |v: Value| !func.is_defined_in(v, &l.blocks);
    let is_narrow = |v: Value| func.ty(v).is_int() && !func.ty(v).is_vector() && func.ty(v).scalar.bits() <= 32;
    let counts = |v: Value, end: Value, stays: IntCc| {
        let up = matches!(stays, IntCc::Ult | IntCc::Slt | IntCc::Ne);
        let down = matches!(stays, IntCc::Ugt | IntCc::Sgt | IntCc::Ne);
        let step = step(func, l, v);
        is_narrow(v) && is_fixed(end) && (up && step == Some(true) || down && step == Some(false))
    };
    counts(x, y, stays) || counts(y, x, stays.swapped())
}

/// Whether a counter of a loop, or the next number of one, goes up by one; or down.
fn step(func: &Function, l: &Loop, v: Value) -> Option<bool> {
    let one = |v: Value| -> Option<(Value, bool)> {
        let data = &func.insts[func.def_inst(v)?];
        let Op::Binary(op @ (BinOp::Add | BinOp::Sub)) = data.op else { return None };
        let bits = func.const_bits(data.args[1])?;
        let up = match bits {
            1 => op == BinOp::Add,
            bits if bits == func.ty(v).scalar.mask() => op == BinOp::Sub,
            _ => return None,
        };
        Some((data.args[0], up))
    };
    let of_header = |v: Value| match func.values[v].def {
        ValueDef::Param(block, k) if block == l.header => Some(k as usize),
        _ => None,
    };
    let counter = match of_header(v) {
        Some(_) => v,
        None => one(v)?.0,
    };
    let k = of_header(counter)?;
    let mut found = None;
    for &latch in &l.latches {
        for edge in func.blocks[latch].term.edges().into_iter().filter(|e| e.block == l.header) {
            let (from, up) = one(edge.args[k])?;
            if from != counter || found.is_some_and(|found| found != up) {
                return None;
            }
            found = Some(up);
        }
    }
    found
}
