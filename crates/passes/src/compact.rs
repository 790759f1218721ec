//! Compaction: removes dead entries from a function's arenas, so that later passes cost time in its present size, not
//! its past one.

use crate::pass::Pass;
use cloom_ir::{Arena, Block, Entity, Function, Inst, Value, ValueData, ValueDef};

/// The pass.
pub const PASS: Pass = Pass::new("compact", "arenas without dead entries", run);

/// Runs the pass. Returns how many entities were dropped.
pub fn run(func: &mut Function) -> usize {
    if func.is_declaration() {
        return 0;
    }
    // Unreachable blocks are still in the layout, and would be kept.
    crate::util::remove_unreachable(func);
    let before = func.values.len() + func.insts.len() + func.blocks.len();
    let mut block_map: Vec<Option<Block>> = vec![None; func.blocks.len()];
    let mut value_map: Vec<Option<Value>> = vec![None; func.values.len()];
    let (mut values, mut insts, mut blocks) = (Arena::new(), Arena::new(), Arena::new());
    for (n, &b) in func.layout.iter().enumerate() {
        block_map[b.index()] = Some(Block::new(n));
    }
    // Definitions first: in block order, a use may come before its definition.
    for (n, &b) in func.layout.iter().enumerate() {
        let mut block = func.blocks[b].clone();
        for (k, p) in block.params.iter_mut().enumerate() {
            let def = ValueDef::Param(Block::new(n), k as u32);
            let new = values.push(ValueData { ty: func.values[*p].ty, def });
            value_map[p.index()] = Some(new);
            *p = new;
        }
        for i in &mut block.insts {
            let mut data = func.insts[*i].clone();
            let new = Inst::new(insts.len());
            if let Some(r) = data.result {
                let v = values.push(ValueData { ty: func.values[r].ty, def: ValueDef::Inst(new) });
                value_map[r.index()] = Some(v);
                data.result = Some(v);
            }
            *i = insts.push(data);
        }
        blocks.push(block);
    }
    let map = |v: Value| value_map[v.index()].unwrap_or(v);
    for data in insts.values_mut() {
        for a in &mut data.args {
            *a = map(*a);
        }
    }
    for block in blocks.values_mut() {
        block.term.map_uses(map);
        for e in block.term.edges_mut() {
            if let Some(target) = block_map[e.block.index()] {
                e.block = target;
            }
        }
    }
    func.layout = blocks.keys().collect();
    (func.values, func.insts, func.blocks) = (values, insts, blocks);
    before - (func.values.len() + func.insts.len() + func.blocks.len())
}
