//! A sub-group of one: what its operations are where work-items run one at a time.
//!
//! In comes the function of one work-item; out goes the same without operations on sub-groups. With vectors,
//! `widen::subgroup` writes them.

use cloom_ir::{CastOp, Function, Op, Value, subgroup};
use rustc_hash::FxHashMap;

/// Replaces the operations on sub-groups by what they give a work-item on its own. Returns how many there were.
pub fn alone(func: &mut Function) -> usize {
    let mut count = 0;
    let mut same: FxHashMap<Value, Value> = FxHashMap::default();
    for k in 0..func.layout.len() {
        let b = func.layout[k];
        let insts = std::mem::take(&mut func.blocks[b].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for i in insts {
            let data = &func.insts[i];
            let (Some(r), true) = (data.result, data.op.is_subgroup()) else {
                kept.push(i);
                continue;
            };
            count += 1;
            match data.op {
                Op::SubgroupBallot => {
                    func.insts[i].op = Op::Cast(CastOp::Zext);
                    kept.push(i);
                }
                Op::SubgroupScan { op, exclusive: true } => {
                    let bits = subgroup::identity(op, func.ty(r).scalar).unwrap_or(0);
                    func.insts[i].op = Op::Const(bits);
                    func.insts[i].args.clear();
                    kept.push(i);
                }
                // There is one number, one value and one cluster.
                _ => {
                    same.insert(r, data.args[0]);
                }
            }
        }
        func.blocks[b].insts = kept;
    }
    if !same.is_empty() {
        let origin = |mut v: Value| {
            while let Some(&next) = same.get(&v) {
                v = next;
            }
            v
        };
        func.map_uses(origin);
    }
    count
}
