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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_on_values_that_may_be_negative_stay_signed() {
        let text = "func internal @f(i32, i32) -> i32 {
bb0(v0: i32, v1: i32):
    v2: i32 = const 0x10
    v3: i32 = sdiv v0, v2
    v4: i32 = srem v1, v2
    v5: i32 = srem v0, v1
    v6: i32 = sub v0, v2
    v7: i32 = ashr v6, v2
    v8: i32 = ashr v3, v2
    v9: i32 = add v4, v5
    v10: i32 = add v9, v7
    v11: i32 = add v10, v8
    ret v11
}";
        let mut module = cloom_ir::parse(text).unwrap();
        let func = module.funcs.values_mut().next().unwrap();
        assert_eq!(run(func, &[1 << 20, u64::MAX]), 2);
        let after = module.to_string();
        for line in ["udiv v0, v2", "srem v1, v2", "srem v0, v1", "ashr v6, v2", "lshr v3, v2"] {
            assert!(after.contains(line), "{line} in\n{after}");
        }
    }
}
