//! Signed division and right shifts of values that are never negative become unsigned.
//!
//! In comes a function with bounds of its parameters; out goes the same with unsigned operations where the results
//! are equal.
//!
//! ```c
//! int l = get_local_id(1) * 16 + get_local_id(0);
//! tile[l % 16][l / 16]     // signed: rounds toward zero, four instructions; unsigned: a mask and a shift
//! ```
//!
//! Programs compute indices in `int`, but ids are never negative.

use crate::analysis::bounds::Bounds;
use cloom_ir::{BinOp, Function, Op};

/// Replaces such operations. Returns how many there were.
pub fn run(func: &mut Function, bounds: &[u64]) -> usize {
    let is_signed_division = |op: &Op| matches!(op, Op::Binary(BinOp::Sdiv | BinOp::Srem | BinOp::Ashr));
    let insts: Vec<_> = func.insts_in_layout().map(|(i, _)| i).collect();
    if !insts.iter().any(|&i| is_signed_division(&func.insts[i].op)) {
        return 0;
    }
    // Most functions have no such operation and need no bounds.
    let bounds = Bounds::new(func, bounds);
    let mut changed = 0;
    for i in insts {
        let data = &func.insts[i];
        if is_signed_division(&data.op)
            && let Some(op) = bounds.unsigned(func, &data.op, &data.args)
        {
            func.insts[i].op = Op::Binary(op);
            changed += 1;
        }
    }
    changed
}
