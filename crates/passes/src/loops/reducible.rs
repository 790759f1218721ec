//! Makes control flow reducible: cycles with several entries (`goto` into a loop, Duff's device) get one.
//!
//! ```c
//! switch (n % 4) {
//!     for (; i < n; ) {
//! case 0: sum += a[i++];
//! case 3: sum += a[i++];      // entered in its middle
//! ...
//! ```
//!
//! Input: any function. Output: a function whose cycles are natural loops. All edges to the entries of such a cycle go
//! to a new block, the header of a natural loop, which switches to the entry that a block parameter numbers. The new
//! block has paths through it that no execution takes, so a definition may no longer dominate its uses: values used in
//! other blocks go through private memory, and `mem2reg` makes them SSA values again. (Erosa and Hendren's elimination
//! of `goto` selects the target by a variable in the same way; node splitting, the alternative, may double the code
//! with each entry.)

use crate::pass::Pass;
use crate::util;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{
    Block, Builder, CastOp, Edge, Entity, Flags, Function, Inst, IntCc, Op, Scalar, Term, Type, Value, ValueDef,
};
use rustc_hash::FxHashMap;

/// The pass.
pub const PASS: Pass = Pass::new("reducible", "cycles with several entries get one", run);

/// So many cycles get one entry; the rest of a function with more is left as it is. Inlining copies the cycles of a
/// helper. As many loops are what the vectoriser restructures at most.
const MAX_CYCLES: usize = 100;

/// Runs the pass. Returns how often it changed something.
pub fn run(func: &mut Function) -> usize {
    let mut changed = 0;
    for _ in 0..MAX_CYCLES {
        let cfg = Cfg::new(func);
        let dom = DomTree::new(func, &cfg);
        if Loops::new(func, &cfg, &dom).is_reducible() {
            break;
        }
        // Unreachable blocks would be rewritten with the others, and their uses would need slots.
        if changed == 0 {
            util::remove_unreachable(func);
        }
        // One cycle at a time: the new blocks make the analyses stale.
        let Some(cycle) = find(func, &cfg) else { break };
        give_one_entry(func, &cycle);
        changed += 1;
    }
    changed
}

/// A cycle: its blocks, and those of them to which edges lead from outside.
struct Cycle {
    blocks: Vec<Block>,
    entries: Vec<Block>,
}

/// An outermost cycle with several entries, among those that do not pass the headers of the loops around it.
fn find(func: &Function, cfg: &Cfg) -> Option<Cycle> {
    // First all blocks, then what each natural loop has besides its header.
    let mut parts = vec![cfg.rpo().to_vec()];
    while let Some(blocks) = parts.pop() {
        for cycle in cycles(func, cfg, &blocks) {
            let inside: Vec<bool> = membership(&cycle);
            let is_in = |b: &Block| inside.get(b.index()).is_some_and(|&x| x);
            let entered = |b: &&Block| cfg.preds(**b).iter().any(|p| !is_in(p));
            let entries: Vec<Block> = cycle.iter().filter(entered).copied().collect();
            match entries[..] {
                // One entry: a natural loop. Without its header, the rest of the component may have cycles.
                [header] => parts.push(cycle.into_iter().filter(|&b| b != header).collect()),
                _ => return Some(Cycle { blocks: cycle, entries }),
            }
        }
    }
    None
}

fn membership(blocks: &[Block]) -> Vec<bool> {
    let mut inside = Vec::new();
    for b in blocks {
        if inside.len() <= b.index() {
            inside.resize(b.index() + 1, false);
        }
        inside[b.index()] = true;
    }
    inside
}

/// The strongly connected components of some blocks that are cycles. (Kosaraju's algorithm: in descending order of
/// finishing times of a depth-first search, all blocks that a backward search reaches.)
fn cycles(func: &Function, cfg: &Cfg, blocks: &[Block]) -> Vec<Vec<Block>> {
    let mut open = membership(blocks);
    let mut order = Vec::new();
    for &root in blocks {
        if !std::mem::replace(&mut open[root.index()], false) {
            continue;
        }
        // An explicit stack: a path may be as long as the function.
        let mut stack = vec![(root, 0)];
        while let Some((b, next)) = stack.last_mut() {
            match func.blocks[*b].term.edges().get(*next).map(|e| e.block) {
                Some(s) => {
                    *next += 1;
                    if open.get_mut(s.index()).is_some_and(std::mem::take) {
                        stack.push((s, 0));
                    }
                }
                None => {
                    order.push(*b);
                    stack.pop();
                }
            }
        }
    }
    // The second search of Kosaraju's algorithm, against the edges.
    let mut left = membership(blocks);
    let mut found = Vec::new();
    for &root in order.iter().rev() {
        if !std::mem::replace(&mut left[root.index()], false) {
            continue;
        }
        let mut part = vec![root];
        let mut at = 0;
        while let Some(&b) = part.get(at) {
            at += 1;
            let new = cfg.preds(b).iter().filter(|p| left.get_mut(p.index()).is_some_and(std::mem::take));
            part.extend(new.copied().collect::<Vec<_>>());
        }
        // A block alone is a cycle only if it jumps to itself.
        if part.len() > 1 || func.blocks[root].term.edges().iter().any(|e| e.block == root) {
            found.push(part);
        }
    }
    found
}

fn give_one_entry(func: &mut Function, cycle: &Cycle) {
    let inside = membership(&cycle.blocks);
    // First of all, because the new block takes away that definitions dominate their uses.
    spill(func, &inside);
    // The entries lose their parameters: the new header passes nothing, and an edge stores its arguments instead.
    let slots: FxHashMap<Block, (u64, Vec<Slot>)> = cycle
        .entries
        .iter()
        .zip(0..)
        .map(|(&entry, number)| {
            let params = std::mem::take(&mut func.blocks[entry].params);
            (entry, (number, params.into_iter().map(|p| Slot::of_param(func, entry, p)).collect()))
        })
        .collect();
    let chosen = Slot::new(func, Type::I32);
    let door = func.add_block();
    for b in func.layout.clone() {
        // It has no terminator yet.
        if b == door {
            continue;
        }
        let mut term = func.blocks[b].term.clone();
        if !term.edges().iter().any(|e| slots.contains_key(&e.block)) {
            continue;
        }
        let span = func.blocks[b].term_span;
        for edge in term.edges_mut() {
            // Edges from inside of the cycle too: the new block is the only way to an entry.
            let Some((number, params)) = slots.get(&edge.block) else { continue };
            // Each edge gets a block of its own, for the stores of its arguments.
            let way = func.add_block();
            for (slot, &arg) in params.iter().zip(&edge.args) {
                slot.store(&mut Builder::new(func, way), arg);
            }
            let mut at = Builder::new(func, way);
            let number = at.iconst(Type::I32, *number);
            chosen.store(&mut at, number);
            at.jump(door, &[]);
            *edge = Edge::new(way, []);
        }
        func.set_term(b, term, span);
    }
    let value = chosen.load(&mut Builder::new(func, door));
    let to = |b: &Block| Edge::new(*b, []);
    if let [first, rest @ ..] = &cycle.entries[..] {
        let cases = (1..).zip(rest.iter().map(to)).collect();
        // The first entry is the default, so that the `switch` needs no way for numbers that do not occur.
        Builder::new(func, door).term(Term::Switch { value, cases, default: to(first) });
    }
}

/// Values that a block of the cycle defines and another block uses go through memory. Constants move to the function's
/// start.
fn spill(func: &mut Function, inside: &[bool]) {
    let is_in = |b: Block| inside.get(b.index()).is_some_and(|&x| x);
    let entry = func.entry();
    let mut home: FxHashMap<Value, Block> = FxHashMap::default();
    for b in func.layout.clone().into_iter().filter(|&b| is_in(b)) {
        // Constants need no memory: at the start of the function they dominate all uses.
        let (constants, rest): (Vec<Inst>, Vec<Inst>) =
            func.blocks[b].insts.iter().partition(|&&i| matches!(func.insts[i].op, Op::Const(_)));
        home.extend(rest.iter().filter_map(|&i| Some((func.insts[i].result?, b))));
        home.extend(func.blocks[b].params.iter().map(|&p| (p, b)));
        func.blocks[b].insts = rest;
        func.blocks[entry].insts.splice(0..0, constants);
    }
    let mut slots: FxHashMap<Value, Slot> = FxHashMap::default();
    for b in func.layout.clone() {
        // One load for each value and block.
        let mut here: FxHashMap<Value, Value> = FxHashMap::default();
        for i in std::mem::take(&mut func.blocks[b].insts) {
            for k in 0..func.insts[i].args.len() {
                let v = func.insts[i].args[k];
                func.insts[i].args[k] = reload(func, b, v, &home, &mut slots, &mut here);
            }
            func.blocks[b].insts.push(i);
        }
        let mut term = func.blocks[b].term.clone();
        // The arguments of edges are uses at the end of this block.
        term.map_uses(|v| reload(func, b, v, &home, &mut slots, &mut here));
        let span = func.blocks[b].term_span;
        func.set_term(b, term, span);
    }
    let mut spilled: Vec<(Value, Slot)> = slots.into_iter().collect();
    // The order of a hash map must not show in the code.
    spilled.sort_by_key(|(v, _)| *v);
    for (v, slot) in spilled {
        // A parameter is stored at the start of its block, an instruction's result right behind the instruction.
        let ValueDef::Inst(def) = func.values[v].def else {
            slot.store_at(func, home[&v], 0, v);
            continue;
        };
        let at = func.blocks[home[&v]].insts.iter().position(|&i| i == def);
        slot.store_at(func, home[&v], at.map_or(0, |at| at + 1), v);
    }
}

/// The value for use in a block: loaded there, once, if another block of the cycle defines it.
fn reload(
    func: &mut Function,
    b: Block,
    v: Value,
    home: &FxHashMap<Value, Block>,
    slots: &mut FxHashMap<Value, Slot>,
    here: &mut FxHashMap<Value, Value>,
) -> Value {
    match home.get(&v) {
        Some(&h) if h != b => {
            let slot = slots.entry(v).or_insert_with(|| Slot::new(func, func.ty(v)));
            *here.entry(v).or_insert_with(|| slot.load(&mut Builder::new(func, b)))
        }
        _ => v,
    }
}

/// A stack slot for a value.
struct Slot {
    address: Value,
    ty: Type,
}

impl Slot {
    fn new(func: &mut Function, ty: Type) -> Slot {
        let entry = func.entry();
        // Before all other instructions of the entry, so that the address dominates every use.
        let behind = std::mem::take(&mut func.blocks[entry].insts);
        let size = u64::from(in_memory(ty).bytes());
        let address = Builder::new(func, entry).alloca(size, size.next_power_of_two() as u32);
        func.blocks[entry].insts.extend(behind);
        Slot { address, ty }
    }

    /// A block parameter becomes a load that defines the same value.
    fn of_param(func: &mut Function, block: Block, p: Value) -> Slot {
        let slot = Slot::new(func, func.ty(p));
        let behind = std::mem::take(&mut func.blocks[block].insts);
        let new = slot.load(&mut Builder::new(func, block));
        func.blocks[block].insts.extend(behind);
        func.map_uses(|v| if v == p { new } else { v });
        slot
    }

    fn load(&self, b: &mut Builder<'_>) -> Value {
        let ty = in_memory(self.ty);
        let v = b.load(ty, self.address, ty.bytes().next_power_of_two(), Flags::empty());
        if ty == self.ty {
            return v;
        }
        let zero = b.iconst(ty, 0);
        b.icmp(IntCc::Ne, v, zero)
    }

    fn store(&self, b: &mut Builder<'_>, v: Value) {
        let ty = in_memory(self.ty);
        let v = if ty == self.ty { v } else { b.cast(CastOp::Zext, v, ty) };
        b.store(self.address, v, ty.bytes().next_power_of_two(), Flags::empty());
    }

    fn store_at(&self, func: &mut Function, block: Block, at: usize, v: Value) {
        let behind = func.blocks[block].insts.split_off(at);
        self.store(&mut Builder::new(func, block), v);
        func.blocks[block].insts.extend(behind);
    }
}

/// Truth values are bytes in memory.
fn in_memory(ty: Type) -> Type {
    if ty.scalar == Scalar::I1 { ty.with_scalar(Scalar::I8) } else { ty }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many cycles with two entries, one after the other.
    fn chain(cycles: usize) -> Function {
        let mut text = "func internal @f(i1) {\nbb0(v0: i1):\n    jump bb1\n".to_owned();
        for k in 0..cycles {
            let [enter, a, b, next] = std::array::from_fn(|j| 3 * k + 1 + j);
            text += &format!("bb{enter}:\n    br v0, bb{a}, bb{b}\n");
            text += &format!("bb{a}:\n    br v0, bb{b}, bb{next}\n");
            text += &format!("bb{b}:\n    br v0, bb{a}, bb{next}\n");
        }
        text += &format!("bb{}:\n    ret\n}}\n", 3 * cycles + 1);
        let module = cloom_ir::parse(&text).unwrap();
        module.funcs.values().next().unwrap().clone()
    }

    #[test]
    fn the_cycles_of_a_helper_that_is_inlined_often_get_one_entry() {
        let mut func = chain(60);
        assert_eq!(run(&mut func), 60);
        let cfg = Cfg::new(&func);
        assert!(Loops::new(&func, &cfg, &DomTree::new(&func, &cfg)).is_reducible());
        assert_eq!(run(&mut func), 0);
        assert_eq!(run(&mut chain(MAX_CYCLES + 5)), MAX_CYCLES);
    }
}
