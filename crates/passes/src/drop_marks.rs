//! Removes the marks of programs that are built for the checker of kernels ([`Mark`](cloom_ir::Mark)).
//!
//! In comes a function as the front end made it; out goes the same function for code generation. Marks change no
//! result, and the interpreter alone looks at them. The event of an asynchronous copy becomes the one that it is added
//! to, as in programs without marks.

use crate::pass::Pass;
use cloom_ir::{Function, Op, Value};
use rustc_hash::FxHashMap;

/// The pass.
pub const PASS: Pass = Pass::required("drop-marks", "marks for the checker go before code is generated", run);

fn run(func: &mut Function) -> usize {
    let mut events: FxHashMap<Value, Value> = FxHashMap::default();
    let mut dropped = 0;
    for block in func.layout.clone() {
        let insts = std::mem::take(&mut func.blocks[block].insts);
        let (marks, rest) = insts.into_iter().partition::<Vec<_>, _>(|&i| matches!(func.insts[i].op, Op::Mark(_)));
        func.blocks[block].insts = rest;
        dropped += marks.len();
        for i in marks {
            let data = &func.insts[i];
            if let (Some(result), Some(&event)) = (data.result, data.args.first()) {
                events.insert(result, event);
            }
        }
    }
    if !events.is_empty() {
        func.map_uses(|v| {
            let mut v = v;
            // An event may be added to one that is added to another. The definitions are in order: there is no cycle.
            while let Some(&event) = events.get(&v) {
                v = event;
            }
            v
        });
    }
    dropped
}
