//! Loops in which each lane writes along a line of its own.
//!
//! In comes an analysed function; out goes, if lanes write far from each other, but near to where they wrote in the
//! round before, where the time goes, how many lines each of them has open:
//!
//! ```c
//! for (int i = 1; i < n; i++)
//!     row[i] = a * row[i] + b * row[i - 1];   // row: the work-item's
//! ```
//!
//! Every lane has a cache line open then, which it comes back to round after round. Rows of a matrix are often a power
//! of two apart, so that all these lines compete for one set of the first cache; with more lines than that has ways,
//! each round fetches them all again. (Such a filter over 2048 by 2048 numbers, on AVX-512: 44 ms with 64 lanes, 17
//! with 16, 8 with 8, 15 with 4, which wait for each other. Sums along the rows of one such matrix into another one:
//! 1.4 ms with 8 lanes, 1.0 with 4.)

use crate::analysis::latency;
use crate::analysis::shape::signed_const;
use crate::analysis::write_only::base;
use crate::emit::widen::{FAR, VectorInput};
use cloom_ir::loops::Loop;
use cloom_ir::{BinOp, Function, Op, Space, Value, ValueDef};

/// How far back sums are followed.
const DEPTH: u32 = 10;

/// What a loop waits for in each element of a row if it does no more than add to a sum, in half cycles. More lanes are worth more lines in
/// loops that wait longer. (A filter of three steps back from one matrix into another: 8.9 ms with 8 lanes, 16 with 4.)
const SUM: i64 = 8;

/// The lines that a lane has open in such a loop, if there is one among the deepest: one for each buffer, or, where lanes wait for
/// themselves, one for all.
pub fn written(item: &VectorInput) -> Option<u32> {
    let func = &item.func;
    let open = |l: &Loop| {
        let (mut buffers, mut elements) = (Vec::new(), None);
        for data in l.blocks.iter().flat_map(|&b| &func.blocks[b].insts).map(|&i| &func.insts[i]) {
            let (Op::Load { .. } | Op::Store { .. }) = data.op else { continue };
            let p = data.args[0];
            let walks = |by: i64| by != 0 && by.unsigned_abs() < FAR.unsigned_abs();
            let outside = func.ty(p).space() == Some(Space::Global);
            let by = slope(func, l, p, DEPTH).filter(|&by| outside && item.is_far(p) && walks(by));
            if let Some(by) = by {
                if let Some(&written) = data.args.get(1) {
                    elements = Some((by.abs() / i64::from(func.ty(written).bytes())).max(1));
                }
                let buffer = base(func, p);
                if !buffers.contains(&buffer) {
                    buffers.push(buffer);
                }
            }
        }
        let waits = i64::from(latency::iteration(item, l).latency) > SUM * elements?;
        Some(if waits { 1 } else { buffers.len() as u32 })
    };
    latency::deepest(item).into_iter().filter_map(open).max()
}

/// By how much a value grows from round to round, if that is a constant and nothing wraps.
fn slope(func: &Function, l: &Loop, v: Value, depth: u32) -> Option<i64> {
    let inst = match func.values[v].def {
        ValueDef::Param(b, k) if b == l.header => return added(func, l, v, k as usize),
        ValueDef::Param(b, _) => return (!l.blocks.contains(&b)).then_some(0),
        ValueDef::Inst(i) => i,
    };
    if !func.is_defined_in(v, &l.blocks) {
        return Some(0);
    }
    let data = &func.insts[inst];
    let of = |k: usize| slope(func, l, data.args[k], depth.checked_sub(1)?);
    match data.op {
        Op::Const(_) => Some(0),
        Op::PtrAdd | Op::Binary(BinOp::Add) => of(0)?.checked_add(of(1)?),
        Op::Binary(BinOp::Sub) => of(0)?.checked_sub(of(1)?),
        Op::Binary(BinOp::Mul) => of(0)?.checked_mul(signed_const(func, data.args[1])?),
        Op::Binary(BinOp::Shl) => {
            of(0)?.checked_mul(1i64.checked_shl(signed_const(func, data.args[1])?.try_into().ok()?)?)
        }
        Op::Cast(_) => of(0),
        _ => None,
    }
}

/// What is added to a parameter of the loop's header in each round.
fn added(func: &Function, l: &Loop, param: Value, k: usize) -> Option<i64> {
    let &[latch] = l.latches.as_slice() else { return None };
    let edges = func.blocks[latch].term.edges();
    let next = *edges.iter().find(|e| e.block == l.header)?.args.get(k)?;
    let data = &func.insts[func.def_inst(next)?];
    let by = signed_const(func, *data.args.get(1)?);
    match data.op {
        Op::PtrAdd | Op::Binary(BinOp::Add) if data.args[0] == param => by,
        Op::Binary(BinOp::Sub) if data.args[0] == param => by?.checked_neg(),
        _ => None,
    }
}
