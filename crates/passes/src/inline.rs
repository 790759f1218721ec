//! Inlining: callees into callers, bottom-up, until the kernel is one function.
//!
//! OpenCL C has no recursion, so this ends. Where the result would be larger than a budget, a callee stays a call if it can: not if it
//! asks for the work-item's place, waits at a barrier, prints, or uses local memory, which only `spmd` gives it.

use cloom_ir::{Arena, Block, Edge, Entity, FuncRef, Function, Linkage, Module, Op, Space, Term, Value};

/// Instructions that a function may have after inlining, before callees stay calls.
const BUDGET: usize = 60_000;
/// Callees of this size are inlined regardless.
const SMALL: usize = 40;

/// Inlines into everything that `root` reaches, and into `root`.
pub fn run(module: &mut Module, root: FuncRef) {
    let order = bottom_up(module, root);
    for f in order {
        let mut func = std::mem::replace(&mut module.funcs[f], Function::new(String::new(), Vec::new(), None));
        inline_into(&mut func, module);
        module.funcs[f] = func;
    }
}

/// Functions reachable from `root`, callees first.
fn bottom_up(module: &Module, root: FuncRef) -> Vec<FuncRef> {
    let mut seen = vec![false; module.funcs.len()];
    let mut order = Vec::new();
    let mut stack = vec![(root, module.funcs[root].callees(), 0usize)];
    seen[root.index()] = true;
    while let Some((f, callees, next)) = stack.last_mut() {
        if let Some(&callee) = callees.get(*next) {
            *next += 1;
            if !std::mem::replace(&mut seen[callee.index()], true) {
                stack.push((callee, module.funcs[callee].callees(), 0));
            }
        } else {
            order.push(*f);
            stack.pop();
        }
    }
    order
}

fn must(module: &Module, callee: &Function) -> bool {
    callee.layout.iter().flat_map(|&b| &callee.blocks[b].insts).any(|&i| match callee.insts[i].op {
        Op::Query { .. } | Op::Barrier | Op::Printf(_) => true,
        Op::GlobalAddr(g) => module.globals[g].space == Space::Local,
        _ => false,
    })
}

fn inline_into(func: &mut Function, module: &Module) {
    let mut size = func.size();
    let mut i = 0;
    while i < func.layout.len() {
        let block = func.layout[i];
        let mut at = 0;
        while at < func.blocks[block].insts.len() {
            let inst = func.blocks[block].insts[at];
            at += 1;
            let Op::Call(f) = func.insts[inst].op else { continue };
            let callee = &module.funcs[f];
            let grown = size + callee.size();
            let wanted = callee.linkage == Linkage::Builtin || grown <= BUDGET || callee.size() <= SMALL;
            if callee.is_declaration() || !(wanted && !callee.noinline || must(module, callee)) {
                continue;
            }
            size = grown;
            // What follows the call is in a block of its own, later in the order: it is looked at then.
            inline_call(func, callee, block, at - 1);
            break;
        }
        i += 1;
    }
}

/// Replaces the call at `block[at]` by a copy of the callee.
fn inline_call(func: &mut Function, callee: &Function, block: Block, at: usize) {
    let call = func.blocks[block].insts[at];
    let after = func.add_block();
    let rest = func.blocks[block].insts.split_off(at + 1);
    func.blocks[block].insts.pop();
    func.blocks[after].insts = rest;
    let (term, span) =
        (std::mem::replace(&mut func.blocks[block].term, Term::Unreachable), func.blocks[block].term_span);
    func.set_term(after, term, span);
    let call_span = func.insts[call].span;
    let args = func.insts[call].args.clone();
    let result = func.insts[call].result;

    let mut blocks: Vec<Option<Block>> = vec![None; callee.blocks.len()];
    let mut values: Vec<Option<Value>> = vec![None; callee.values.len()];
    for &b in &callee.layout {
        let new = func.add_block();
        blocks[b.index()] = Some(new);
        for &p in &callee.blocks[b].params {
            values[p.index()] = Some(func.add_block_param(new, callee.ty(p)));
        }
    }
    // Clone all instructions first, then rename: a use may be printed before its definition's block.
    let mut cloned = Vec::new();
    let entry = func.entry();
    let mut allocas = Vec::new();
    for &b in &callee.layout {
        let Some(new) = blocks[b.index()] else { continue };
        for &i in &callee.blocks[b].insts {
            let data = &callee.insts[i];
            let ty = data.result.map(|r| callee.ty(r));
            let inst = func.make_inst(data.op.clone(), data.args.clone(), ty, data.flags, data.span);
            if let (Some(old), Some(r)) = (data.result, func.insts[inst].result) {
                values[old.index()] = Some(r);
            }
            cloned.push(inst);
            if matches!(data.op, Op::Alloca { .. }) { allocas.push(inst) } else { func.blocks[new].insts.push(inst) }
        }
    }
    let rename = |v: Value| values[v.index()].unwrap_or(v);
    for inst in cloned {
        for a in &mut func.insts[inst].args {
            *a = rename(*a);
        }
    }
    func.blocks[entry].insts.splice(0..0, allocas);
    // The call's value becomes the parameter of what follows.
    let returned = result.map(|r| func.add_block_param(after, func.ty(r)));
    for &b in &callee.layout {
        let Some(new) = blocks[b.index()] else { continue };
        let span = callee.blocks[b].term_span;
        let term = match &callee.blocks[b].term {
            Term::Return(v) => Term::Jump(Edge::new(after, returned.and(*v).map(rename))),
            other => {
                let mut term = other.clone();
                term.map_uses(rename);
                for e in term.edges_mut() {
                    e.block = blocks[e.block.index()].unwrap_or(e.block);
                }
                term
            }
        };
        func.set_term(new, term, span);
    }
    if let Some(first) = callee.layout.first().and_then(|b| blocks[b.index()]) {
        func.set_term(block, Term::Jump(Edge::new(first, args)), call_span);
    }
    if let (Some(old), Some(new)) = (result, returned) {
        func.map_uses(|v| if v == old { new } else { v });
    }
}

/// Removes the bodies of functions that no kernel and no other external function reaches.
pub fn drop_unreachable(module: &mut Module, roots: &[FuncRef]) {
    let mut keep = vec![false; module.funcs.len()];
    for &root in roots {
        for f in bottom_up(module, root) {
            keep[f.index()] = true;
        }
    }
    for (i, f) in module.funcs.values_mut().enumerate() {
        if !keep[i] {
            f.layout.clear();
            f.blocks = Arena::new();
            f.insts = Arena::new();
            f.values = Arena::new();
        }
    }
}
