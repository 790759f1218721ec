//! Store streams: the cache lines that each lane keeps open in a loop over a row of its own.
//!
//! In comes an analysed function; out goes, if lanes write far apart from each other but close to where they wrote in
//! the iteration before, in the loops where the time goes, how many lines each lane has open:
//!
//! ```c
//! for (int i = 1; i < n; i++)
//!     row[i] = a * row[i] + b * row[i - 1];   // row: the work-item's
//! ```
//!
//! Every lane then has a cache line of its own, which it writes to iteration after iteration. Rows of a matrix are
//! often a power of two apart, so that all these lines map to one set of the first-level cache; with more lines than
//! that has ways, each iteration fetches them all again. (Such a filter over 2048 by 2048 numbers, on AVX-512: 44 ms
//! with 64 lanes, 17 with 16, 8 with 8, 15 with 4, too few to hide the latency. Sums along the rows of one such
//! matrix into another one: 1.4 ms with 8 lanes, 1.0 with 4.)
//!
//! How far an address moves in an iteration is its slope ([`Affine::const_slope`]). It only selects the width of
//! vectors, so that wraps are taken not to happen: a wrong slope costs time, not results.

use crate::analysis::input::{FAR, VectorInput};
use crate::analysis::latency;
use crate::analysis::write_only::base;
use cloom_ir::affine::Facts;
use cloom_ir::loops::Loop;
use cloom_ir::{InstData, Op, Space, Value};
use std::cell::OnceCell;

/// The latency of each element of a row, in half cycles, if a loop does no more than add to a sum. In loops that wait
/// longer, more lanes are worth more open lines. (A filter of three steps back from one matrix into another: 8.9 ms
/// with 8 lanes, 16 with 4.)
const SUM: i64 = 8;

/// The lines that a lane has open in such a loop, if there is one among the deepest: one for each buffer, or, where
/// iterations wait for each other, one for all.
pub fn written(item: &VectorInput) -> Option<u32> {
    let func = &item.func;
    // Most functions have no such access, and need no analysis.
    let affine = OnceCell::new();
    let slope = |l: &Loop, p: Value| {
        let facts = Facts { no_wrap: &|_, _| true, ..Facts::default() };
        let affine = affine.get_or_init(|| item.affine(facts));
        affine.const_slope(*item.loop_of.get(&l.header)?, p)
    };
    let open = |l: &Loop| {
        let insts = l.blocks.iter().flat_map(|&b| &func.blocks[b].insts).map(|&i| &func.insts[i]);
        let is_access = |data: &&InstData| matches!(data.op, Op::Load { .. } | Op::Store { .. });
        let is_global = |data: &&InstData| func.ty(data.args[0]).space() == Some(Space::Global);
        let is_far = |data: &&InstData| item.is_far(data.args[0]);
        let accesses: Vec<&InstData> = insts.filter(is_access).filter(is_global).filter(is_far).collect();
        if !accesses.iter().any(|data| matches!(data.op, Op::Store { .. })) {
            return None;
        }
        let (mut buffers, mut elements) = (Vec::new(), None);
        for data in accesses {
            let p = data.args[0];
            // An access that moves by a line or more in each iteration leaves no line open.
            let Some(by) = slope(l, p).filter(|by| (1..FAR.unsigned_abs()).contains(&by.unsigned_abs())) else {
                continue;
            };
            if let Some(&written) = data.args.get(1) {
                elements = Some((by.abs() / i64::from(func.ty(written).bytes())).max(1));
            }
            let buffer = base(func, p);
            if !buffers.contains(&buffer) {
                buffers.push(buffer);
            }
        }
        // An iteration that handles several elements of a row may wait as much longer.
        let waits = i64::from(latency::iteration(item, l).latency) > SUM * elements?;
        Some(if waits { 1 } else { buffers.len() as u32 })
    };
    latency::deepest(item).into_iter().filter_map(open).max()
}
