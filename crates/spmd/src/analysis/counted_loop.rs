//! Counted loops: a header that tests a counter, and a body with one latch.
//!
//! Most loops of kernels have this form, and most of these one block beside the header after if-conversion.
//! Transformations that unroll them copy the blocks, with a map from an iteration's values to their copies.

use cloom_ir::loops::Loop;
use cloom_ir::{Args, Block, Builder, Function, Inst, IntCc, Op, Term, Value, ValueDef};
use rustc_hash::FxHashMap;

/// Such a loop.
#[derive(Clone, Debug)]
pub struct Counted {
    /// Decides; nothing else leaves the loop.
    pub header: Block,
    /// Goes back to the header: all the work, in a loop of two blocks.
    pub body: Block,
    /// All blocks in reverse postorder, the header first.
    pub blocks: Vec<Block>,
    /// Number of the header's parameter that counts.
    pub counter: usize,
    /// The loop goes on while the counter is less than this, or equal to it: the same in all rounds,
    pub bound: Value,
    /// compared in this way.
    pub less: IntCc,
}

impl Counted {
    /// The loop, if it is one.
    pub fn find(func: &Function, l: &Loop) -> Option<Counted> {
        let (header, &[body]) = (l.header, &l.latches[..]) else { return None };
        let Term::Branch { cond, then, els } = &func.blocks[header].term else { return None };
        let inside = |b: Block| l.blocks.contains(&b);
        let leaves_once = l.exits.iter().all(|&(from, _)| from == header) && inside(then.block) != inside(els.block);
        if !leaves_once || !matches!(func.blocks[body].term, Term::Jump(_)) || body == header {
            return None;
        }
        // The condition, turned so that the loop goes on while the counter is less.
        let compare = &func.insts[func.def_inst(*cond)?];
        let Op::Icmp(mut less) = compare.op else { return None };
        let (mut counter, mut bound) = (compare.args[0], compare.args[1]);
        if !inside(then.block) {
            less = less.negated();
        }
        if matches!(func.values[bound].def, ValueDef::Param(b, _) if b == header) {
            (counter, bound, less) = (bound, counter, less.swapped());
        }
        let counts = matches!(less, IntCc::Ult | IntCc::Slt | IntCc::Ule | IntCc::Sle);
        let ValueDef::Param(at, k) = func.values[counter].def else { return None };
        let found = Counted { header, body, blocks: l.blocks.clone(), counter: k as usize, bound, less };
        (counts && at == header && !found.is_inside(func, bound)).then_some(found)
    }

    /// Whether a value is computed in the loop.
    pub fn is_inside(&self, func: &Function, v: Value) -> bool {
        func.is_defined_in(v, &self.blocks)
    }

    /// Its instructions.
    pub fn insts<'f>(&'f self, func: &'f Function) -> impl Iterator<Item = Inst> + 'f {
        self.blocks.iter().flat_map(|&b| &func.blocks[b].insts).copied()
    }

    /// What parameter `k` of the header has for the next round.
    pub fn next(&self, func: &Function, k: usize) -> Option<Value> {
        func.blocks[self.body].term.edge(0).map(|e| e.args[k])
    }

    /// Copies a block's instructions to the end of another block, with the values that `map` has for theirs.
    pub fn copy(func: &mut Function, from: Block, to: Block, map: &mut FxHashMap<Value, Value>) {
        for k in 0..func.blocks[from].insts.len() {
            copy_inst(func, func.blocks[from].insts[k], to, map);
        }
    }
}

/// Copies an instruction to the end of a block, with the values that `map` has for its operands, and maps its result.
pub fn copy_inst(func: &mut Function, i: Inst, to: Block, map: &mut FxHashMap<Value, Value>) {
    let data = func.insts[i].clone();
    let args: Args = data.args.iter().map(|a| map.get(a).copied().unwrap_or(*a)).collect();
    let ty = data.result.map(|r| func.ty(r));
    let mut b = Builder::new(func, to);
    b.span = data.span;
    if let (Some(new), Some(old)) = (b.push(data.op, args, ty, data.flags), data.result) {
        map.insert(old, new);
    }
}
