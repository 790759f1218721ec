//! The form of a loop in canonical form, which `transform::canonicalize` brings functions into.

use cloom_ir::cfg::Cfg;
use cloom_ir::loops::Loop;
use cloom_ir::{Function, Term, Value};
use rustc_hash::FxHashSet;

/// Values that may be anything (like LLVM's `freeze poison`): arguments on edges after which the parameter is not
/// used.
pub type Unspecified = FxHashSet<Value>;

/// Where the exit edge of a canonical loop starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// At the header; the latch jumps back.
    TopTested,
    /// At the latch, whose other edge is the back edge.
    BottomTested,
}

/// The form of a loop, if it is canonical.
pub fn form(func: &Function, cfg: &Cfg, l: &Loop) -> Option<Form> {
    let ([latch], [(from, exit)]) = (&l.latches[..], &l.exits[..]) else { return None };
    // The parameters of the exit block must be those of the loop alone: lanes write them as they leave.
    if cfg.preds(*exit).len() != 1 || !matches!(func.blocks[*from].term, Term::Branch { .. }) {
        return None;
    }
    let back_edges = func.blocks[*latch].term.edges().iter().filter(|e| e.block == l.header).count();
    match () {
        () if from == latch && back_edges == 1 => Some(Form::BottomTested),
        () if *from == l.header && matches!(func.blocks[*latch].term, Term::Jump(_)) => Some(Form::TopTested),
        () => None,
    }
}
