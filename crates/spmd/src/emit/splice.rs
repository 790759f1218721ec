//! Copies a function into another one, at the end of a block.

use cloom_ir::{Block, Edge, Function, Op, Term, Value};
use rustc_hash::FxHashMap;

/// Copies `item` in. Gives the blocks where it returned, still without an end, with the returned values.
pub fn splice(item: &Function, func: &mut Function, start: Block, params: &[Value]) -> Vec<(Block, Value)> {
    let mut values: FxHashMap<Value, Value> = item.param_values().iter().copied().zip(params.iter().copied()).collect();
    let mut blocks = FxHashMap::default();
    let order = cloom_ir::cfg::Cfg::new(item).rpo().to_vec();
    for &b in &order {
        if b == item.entry() {
            blocks.insert(b, start);
            continue;
        }
        let new = func.add_block();
        blocks.insert(b, new);
        for &p in &item.blocks[b].params {
            let v = func.add_block_param(new, item.ty(p));
            values.insert(p, v);
        }
    }
    let entry = func.entry();
    let mut ends = Vec::new();
    for &b in &order {
        let to = blocks[&b];
        for &i in &item.blocks[b].insts {
            let data = &item.insts[i];
            let args = data.args.iter().map(|a| values[a]).collect();
            let ty = data.result.map(|r| item.ty(r));
            let new = func.make_inst(data.op.clone(), args, ty, data.flags, data.span);
            match data.op {
                Op::Alloca { .. } => func.blocks[entry].insts.insert(0, new),
                _ => func.blocks[to].insts.push(new),
            }
            if let (Some(r), Some(v)) = (data.result, func.insts[new].result) {
                values.insert(r, v);
            }
        }
        let mut term = item.blocks[b].term.clone();
        if let Term::Return(Some(v)) = term {
            ends.push((to, values[&v]));
            continue;
        }
        term.map_uses(|v| values[&v]);
        for e in term.edges_mut() {
            *e = Edge { block: blocks[&e.block], args: std::mem::take(&mut e.args) };
        }
        func.set_term(to, term, item.blocks[b].term_span);
    }
    ends
}
