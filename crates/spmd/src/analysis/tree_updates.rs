//! Tree updates: few work-items of a group that update local memory at a distance which grows from step to step.
//!
//! ```c
//! for (int step = 1; step < size; step *= 2) {
//!     const int at = (lid + 1) * step * 2 - 1;
//!     if (at < size)
//!         sums[at] += sums[at - step];
//!     barrier(CLK_LOCAL_MEM_FENCE);
//! }
//! ```
//!
//! In comes the function of one continuation; out goes whether it is such a step: a store to local memory at a varying
//! address, where a condition bounds a multiple of an id whose factor only the running program knows. The work-items
//! that are left are the first ones. Vectors without any of them do not run ([`crate::analysis::active_bound`]), so
//! that short ones have less to do in most steps: a gather or scatter takes as long for one lane as for all. (A scan of
//! 256 numbers, on AVX-512: 1.0 ms with 32 lanes, 0.69 with 16, 0.48 with 8, 0.5 with 4.)

use crate::analysis::input::VectorInput;
use crate::analysis::shape::Shape;
use cloom_ir::{BinOp, IntCc, Op, Space, Term, Value};

/// The depth to which operands are followed.
const DEPTH: u32 = 6;

/// Whether a function is such a step.
pub fn is_step(item: &VectorInput) -> bool {
    let func = &item.func;
    let is_update = |&i: &cloom_ir::Inst| {
        let data = &func.insts[i];
        matches!(data.op, Op::Store { .. })
            && item.shapes.of(data.args[0]) == Shape::Varying
            && func.ty(data.args[0]).space() == Some(Space::Local)
    };
    item.cfg.rpo().iter().any(|&b| {
        // The update is guarded by one condition.
        let [from] = *item.cfg.preds(b) else { return false };
        let Term::Branch { cond, .. } = &func.blocks[from].term else { return false };
        item.masked.is_masked(b) && func.blocks[b].insts.iter().any(is_update) && bounds_multiple(item, *cond)
    })
}

/// Whether a condition compares a multiple of an id, with a factor that is not constant, with what is uniform.
fn bounds_multiple(item: &VectorInput, cond: Value) -> bool {
    let Some(data) = item.func.def_inst(cond).map(|i| &item.func.insts[i]) else { return false };
    // An equality bounds no set of first work-items.
    if !matches!(data.op, Op::Icmp(cc) if !matches!(cc, IntCc::Eq | IntCc::Ne)) {
        return false;
    }
    let (a, b) = (data.args[0], data.args[1]);
    item.shapes.is_uniform(b) && is_multiple(item, a, DEPTH) || item.shapes.is_uniform(a) && is_multiple(item, b, DEPTH)
}

fn is_multiple(item: &VectorInput, v: Value, depth: u32) -> bool {
    let Some(data) = item.func.def_inst(v).map(|i| &item.func.insts[i]).filter(|_| depth > 0) else { return false };
    // A factor that is constant gives a stride. Those here are only known at run time.
    if item.shapes.of(v) != Shape::Varying {
        return false;
    }
    let is_strided = |v: Value| matches!(item.shapes.of(v), Shape::Strided { .. });
    let is_uniform = |v: Value| item.shapes.is_uniform(v);
    match (&data.op, &data.args[..]) {
        (Op::Binary(BinOp::Mul), &[a, b]) if is_uniform(a) => is_strided(b) || is_multiple(item, b, depth - 1),
        (Op::Binary(BinOp::Mul | BinOp::Shl), &[a, b]) if is_uniform(b) => {
            is_strided(a) || is_multiple(item, a, depth - 1)
        }
        // A constant added or taken away, as in `(l + 1) * step - 1`, leaves it a multiple for this purpose.
        (Op::Binary(BinOp::Add), &[a, b]) if is_uniform(a) => is_multiple(item, b, depth - 1),
        (Op::Binary(BinOp::Add | BinOp::Sub), &[a, b]) if is_uniform(b) => is_multiple(item, a, depth - 1),
        (Op::Cast(_), &[a]) => is_multiple(item, a, depth - 1),
        _ => false,
    }
}
