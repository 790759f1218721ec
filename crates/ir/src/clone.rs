//! Copies of code: instructions and blocks, with a map from what is copied to its copies.
//!
//! In come pieces of a function, of the same or of another one; out come their copies, in which every value and block
//! that the map knows is replaced. That is what inlining, unrolling, peeling and hoisting have in common (LLVM's
//! `CloneBasicBlock` with its `ValueToValueMap`):
//!
//! ```text
//! let mut map = CloneMap::default();
//! map.values.insert(param, argument);            // what is known beforehand
//! let copies = map.clone_blocks(func, &l.blocks); // in no place of the order yet
//! func.layout.extend(copies);
//! ```
//!
//! Spans and flags stay as they are. A pass that moves a copy to where promises do not hold must clear them.

use crate::entity::{Block, Inst, Value};
use crate::function::{BlockData, Function, ValueData, ValueDef};
use crate::inst::{InstData, Term};
use crate::module::Span;
use crate::types::Type;
use rustc_hash::FxHashMap;

/// Maps values and blocks to their copies. Entities that it does not have are kept.
#[derive(Clone, Default, Debug)]
pub struct CloneMap {
    /// Values of the original, and theirs in the copy.
    pub values: FxHashMap<Value, Value>,
    /// Blocks of the original, and theirs in the copy.
    pub blocks: FxHashMap<Block, Block>,
}

/// A block that is about to be copied.
struct Original {
    block: Block,
    params: Vec<(Value, Type)>,
    insts: Vec<(InstData, Option<Type>)>,
    term: Term,
    term_span: Span,
}

impl Original {
    fn of(func: &Function, block: Block) -> Original {
        let data = &func.blocks[block];
        Original {
            block,
            params: data.params.iter().map(|&p| (p, func.ty(p))).collect(),
            insts: data.insts.iter().map(|&i| with_type(func, i)).collect(),
            term: data.term.clone(),
            term_span: data.term_span,
        }
    }
}

fn with_type(func: &Function, inst: Inst) -> (InstData, Option<Type>) {
    let data = func.insts[inst].clone();
    let ty = data.result.map(|r| func.ty(r));
    (data, ty)
}

impl CloneMap {
    /// A map that knows these values.
    pub fn new(values: impl IntoIterator<Item = (Value, Value)>) -> CloneMap {
        CloneMap { values: values.into_iter().collect(), blocks: FxHashMap::default() }
    }

    /// What a value is in the copy.
    pub fn value(&self, v: Value) -> Value {
        self.values.get(&v).copied().unwrap_or(v)
    }

    /// What a block is in the copy.
    pub fn block(&self, b: Block) -> Block {
        self.blocks.get(&b).copied().unwrap_or(b)
    }

    /// A terminator for the copy: its values and the blocks that it leads to.
    pub fn term(&self, term: &Term) -> Term {
        let mut term = term.clone();
        term.map_uses(|v| self.value(v));
        for e in term.edges_mut() {
            e.block = self.block(e.block);
        }
        term
    }

    /// Copies an instruction of a function to the end of one of its blocks. Its result is mapped from then on.
    pub fn clone_inst(&mut self, func: &mut Function, inst: Inst, to: Block) -> Inst {
        let (data, ty) = with_type(func, inst);
        let copy = self.append(func, data, ty, to);
        self.rename_args(func, copy);
        copy
    }

    /// Copies the instructions of a block to the end of another one. They use each other in their order.
    pub fn clone_insts(&mut self, func: &mut Function, from: Block, to: Block) {
        for k in 0..func.blocks[from].insts.len() {
            self.clone_inst(func, func.blocks[from].insts[k], to);
        }
    }

    /// Copies blocks with their terminators. Edges between them lead to the copies. Returns the copies in the same
    /// order; they are not in the function's layout.
    ///
    /// A block that the map has already is copied to the end of its counterpart, and a parameter that the map has is
    /// replaced and not copied: the caller must then adapt the edges.
    pub fn clone_blocks(&mut self, func: &mut Function, blocks: &[Block]) -> Vec<Block> {
        // Taken before anything is written, because the copies go to the same arenas, and perhaps to the end of a block
        // that is copied.
        let originals: Vec<Original> = blocks.iter().map(|&b| Original::of(func, b)).collect();
        self.write(func, originals)
    }

    /// The same, of blocks of another function. Calls, globals and strings must be of one module, and spans of one
    /// table of inlined calls: else the caller maps them ([`crate::InlinedSpans`]).
    pub fn clone_blocks_from(&mut self, from: &Function, into: &mut Function, blocks: &[Block]) -> Vec<Block> {
        let originals: Vec<Original> = blocks.iter().map(|&b| Original::of(from, b)).collect();
        self.write(into, originals)
    }

    fn write(&mut self, func: &mut Function, originals: Vec<Original>) -> Vec<Block> {
        // All blocks and parameters before any code: an edge may lead to any block of the copy.
        let copies: Vec<Block> = originals.iter().map(|o| self.head(func, o)).collect();
        // All definitions first: in block order, a use may come before its definition.
        let mut terms = Vec::with_capacity(copies.len());
        let mut made = Vec::new();
        for (o, &to) in originals.into_iter().zip(&copies) {
            made.extend(o.insts.into_iter().map(|(data, ty)| self.append(func, data, ty, to)));
            terms.push((o.term, o.term_span));
        }
        made.into_iter().for_each(|inst| self.rename_args(func, inst));
        for ((term, span), &to) in terms.iter().zip(&copies) {
            func.set_term(to, self.term(term), *span);
        }
        copies
    }

    fn head(&mut self, func: &mut Function, o: &Original) -> Block {
        let copy = *self.blocks.entry(o.block).or_insert_with(|| func.add_loose_block());
        for &(p, ty) in &o.params {
            self.values.entry(p).or_insert_with(|| func.add_block_param(copy, ty));
        }
        copy
    }

    fn append(&mut self, func: &mut Function, mut data: InstData, ty: Option<Type>, to: Block) -> Inst {
        // The result is the original's value; the copy gets one of its own.
        let result = data.result.take();
        let inst = func.insts.push(data);
        if let (Some(old), Some(ty)) = (result, ty) {
            let new = func.values.push(ValueData { ty, def: ValueDef::Inst(inst) });
            func.insts[inst].result = Some(new);
            self.values.insert(old, new);
        }
        func.blocks[to].insts.push(inst);
        inst
    }

    fn rename_args(&self, func: &mut Function, inst: Inst) {
        for a in &mut func.insts[inst].args {
            // A value from outside of what is copied stays the same.
            *a = self.values.get(a).copied().unwrap_or(*a);
        }
    }
}

impl Function {
    /// A new block that is not in the layout yet.
    pub fn add_loose_block(&mut self) -> Block {
        self.blocks.push(BlockData {
            params: Vec::new(),
            insts: Vec::new(),
            term: Term::Unreachable,
            term_span: Span::NONE,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Entity, FuncRef, parse, verify};

    const LOOP: &str = "
        func internal @f(i32) -> i32 {
        bb0(v0: i32):
            v1: i32 = const 0x0
            jump bb1(v1)
        bb1(v2: i32):
            v3: i1 = icmp slt v2, v0
            br v3, bb2, bb3
        bb2:
            v4: i32 = const 0x1
            v5: i32 = add nsw v2, v4 !0:7:3
            jump bb1(v5)
        bb3:
            ret v2
        }
        func internal @g() -> i32 {
        bb0:
            v0: i32 = const 0x9
            ret v0
        }";

    #[test]
    fn a_loop_is_copied_with_its_edges_flags_and_spans() {
        let mut module = parse(LOOP).unwrap();
        let func = &mut module.funcs[FuncRef::new(0)];
        let blocks = func.layout[1..3].to_vec();
        let mut map = CloneMap::default();
        let copies = map.clone_blocks(func, &blocks);
        func.layout.extend(&copies);
        // The copy goes first, and then the original.
        let (start, first) = (func.layout[0], func.blocks[func.layout[1]].params[0]);
        func.blocks[start].term.edges_mut()[0].block = copies[0];
        func.blocks[copies[0]].term.edges_mut()[1].block = blocks[0];
        func.blocks[copies[0]].term.edges_mut()[1].args.push(map.value(first));
        assert_eq!(verify(&module), []);
        let text = module.to_string();
        assert!(text.contains("bb4(v6: i32):\n    v7: i1 = icmp slt v6, v0\n    br v7, bb5, bb1(v6)"), "{text}");
        assert!(
            text.contains("bb5:\n    v8: i32 = const 0x1\n    v9: i32 = add nsw v6, v8 !0:7:3\n    jump bb4(v9)"),
            "{text}"
        );
    }

    #[test]
    fn what_the_map_knows_is_replaced() {
        let mut module = parse(LOOP).unwrap();
        let func = &mut module.funcs[FuncRef::new(0)];
        let [start, header, body, _] = func.layout[..] else { panic!("four blocks") };
        let (param, begin) = (func.blocks[header].params[0], func.insts[func.blocks[start].insts[0]].result.unwrap());
        // Peels the first iteration of the loop into the block before it.
        let mut map = CloneMap::new([(param, begin)]);
        map.clone_insts(func, header, start);
        map.clone_insts(func, body, start);
        let next = map.value(func.blocks[body].term.edges()[0].args[0]);
        func.blocks[start].term.edges_mut()[0].args[0] = next;
        assert_eq!(verify(&module), []);
        let text = module.to_string();
        assert!(text.contains("icmp slt v1, v0\n    v3: i32 = const 0x1\n    v4: i32 = add nsw v1, v3"), "{text}");
    }

    #[test]
    fn blocks_come_from_another_function() {
        let mut module = parse(LOOP).unwrap();
        let (callee, func) = (module.funcs[FuncRef::new(1)].clone(), &mut module.funcs[FuncRef::new(0)]);
        let copies = CloneMap::default().clone_blocks_from(&callee, func, &callee.layout);
        func.layout.extend(copies);
        assert_eq!(verify(&module), []);
        assert!(module.to_string().contains("bb4:\n    v6: i32 = const 0x9\n    ret v6"));
    }
}
