//! Sub-group operations in scalar code, where each work-item is a sub-group of its own.
//!
//! In comes the function of one work-item; out goes the same without sub-group operations. In vector code,
//! `widen::subgroup` emits them.

use cloom_ir::{CastOp, Function, Op, Value, subgroup};
use rustc_hash::FxHashMap;

/// Replaces sub-group operations by their results for a sub-group of one. Returns how many there were.
pub fn lower_to_single(func: &mut Function) -> usize {
    let mut count = 0;
    let mut replaced_by: FxHashMap<Value, Value> = FxHashMap::default();
    for k in 0..func.layout.len() {
        let b = func.layout[k];
        let insts = std::mem::take(&mut func.blocks[b].insts);
        let mut remaining = Vec::with_capacity(insts.len());
        for i in insts {
            let data = &func.insts[i];
            let (Some(r), true) = (data.result, data.op.is_subgroup()) else {
                remaining.push(i);
                continue;
            };
            count += 1;
            match data.op {
                // The only lane has number 0: the ballot is its bit.
                Op::SubgroupBallot => {
                    func.insts[i].op = Op::Cast(CastOp::Zext);
                    remaining.push(i);
                }
                // No work-item comes before.
                Op::SubgroupScan { op, exclusive: true } => {
                    let bits = subgroup::identity(op, func.ty(r).scalar).unwrap_or(0);
                    func.insts[i].op = Op::Const(bits);
                    func.insts[i].args.clear();
                    remaining.push(i);
                }
                // With one work-item, these return its own value.
                _ => {
                    replaced_by.insert(r, data.args[0]);
                }
            }
        }
        func.blocks[b].insts = remaining;
    }
    if !replaced_by.is_empty() {
        let origin = |mut v: Value| {
            // A chain: the operand may itself be the result of such an operation.
            while let Some(&next) = replaced_by.get(&v) {
                v = next;
            }
            v
        };
        func.map_uses(origin);
    }
    count
}
