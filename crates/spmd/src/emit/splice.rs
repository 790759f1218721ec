//! Copies a continuation's function into the work-group function, at the end of a block (inlining without a call).

use cloom_ir::cfg::Cfg;
use cloom_ir::{Block, CloneMap, Function, Inst, Op, Term, Value};

/// Copies `item` in. Gives the blocks where it returned, with the returned values; their terminators are for the caller
/// to replace.
pub fn splice(item: &Function, func: &mut Function, start: Block, params: &[Value]) -> Vec<(Block, Value)> {
    let mut map = CloneMap::new(item.param_values().iter().copied().zip(params.iter().copied()));
    // The entry is not copied to a block of its own: its instructions go to the end of `start`.
    map.blocks.insert(item.entry(), start);
    let copies = map.clone_blocks_from(item, func, Cfg::new(item).rpo());
    func.layout.extend(copies.iter().filter(|&&b| b != start));
    // Private arrays belong to the function, whatever its block.
    let entry = func.entry();
    // In the loop over work-items, an `alloca` would take more of the stack in each iteration.
    for &b in &copies {
        let insts = std::mem::take(&mut func.blocks[b].insts).into_iter();
        let (allocas, others): (Vec<Inst>, _) = insts.partition(|&i| matches!(func.insts[i].op, Op::Alloca { .. }));
        func.blocks[b].insts = others;
        func.blocks[entry].insts.splice(0..0, allocas);
    }
    let ends = copies.into_iter().filter_map(|b| match func.blocks[b].term {
        Term::Return(Some(v)) => Some((b, v)),
        _ => None,
    });
    ends.collect()
}
