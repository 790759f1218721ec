//! Redundant block parameters: one that has the same argument on every edge is replaced by that value.
//!
//! Such parameters come from variables that a loop does not change. The parameters themselves are left to `dce`.

use crate::pass::Pass;
use crate::util::Renames;
use cloom_ir::cfg::Cfg;
use cloom_ir::{Block, Function, Value};

/// The pass.
pub const PASS: Pass = Pass::new("redundant-params", "block parameters that are always one value", run);

/// Runs the pass. Returns how often it changed something.
pub fn run(func: &mut Function) -> usize {
    let cfg = Cfg::new(func);
    let mut renames = Renames::default();
    // Replacing one parameter may make another one redundant; chains are short in practice.
    for _ in 0..8 {
        let mut again = false;
        // Not the entry, whose parameters are the function's.
        for &b in &cfg.rpo()[1..] {
            for k in 0..func.blocks[b].params.len() {
                let p = func.blocks[b].params[k];
                if renames.get(p) != p {
                    continue;
                }
                if let Some(v) = only_value(func, &cfg, b, k, &mut renames) {
                    renames.set(p, v);
                    again = true;
                }
            }
        }
        if !again {
            break;
        }
    }
    renames.apply(func)
}

/// The one value, other than the parameter itself, that edges to `b` give for parameter `k`.
fn only_value(func: &Function, cfg: &Cfg, b: Block, k: usize, renames: &mut Renames) -> Option<Value> {
    let p = func.blocks[b].params[k];
    let mut only = None;
    for (_, e) in cfg.incoming(func, b) {
        let v = renames.get(e.args[k]);
        // A back edge that hands the parameter on to itself changes nothing.
        if v == p || only == Some(v) {
            continue;
        }
        if only.is_some() {
            return None;
        }
        only = Some(v);
    }
    only
}
