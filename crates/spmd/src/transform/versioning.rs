//! Continuations that do one of several things, by what the whole group knows, as one function for each.
//!
//! In comes the function of a continuation; out go, if it pays, two of them and the condition between them.
//!
//! ```c
//! for (int n = TILE_W; n > 1; n = (n + 1) / 2) {
//!     barrier(CLK_LOCAL_MEM_FENCE);
//!     if (lx < n - n / 2) tile[lx] += tile[lx + n / 2];
//! }
//! out[i] = tile[0];
//! ```
//!
//! What follows the barrier is either another step, for which few work-items are needed, or the end, for which all are. The loops over the
//! vectors of a group can end early only where these are apart ([`crate::analysis::active_bound`]).

use crate::Limit;
use crate::analysis::active_bound::{self, Shared};
use crate::emit::group::{Part, Tree};
use crate::split::continuation_fn::Param;
use cloom_ir::cfg::Cfg;
use cloom_ir::{Function, Term, Value};

/// How often a continuation is divided.
const DEPTH: u32 = 3;

/// Larger functions are left whole: what both have in common is there twice.
const MAX_INSTS: usize = 400;

/// So many branches are tried.
const MAX_BRANCHES: usize = 8;

/// The dimensions of a group.
const ALL: usize = 3;

/// Kernels with more continuations are left whole.
pub const MAX_CONTINUATIONS: usize = 64;

/// One function, or a choice.
pub enum Choice {
    /// No further choice.
    One(Function),
    /// By a value that the group computes before.
    By {
        /// The function whose value it is.
        func: Box<Function>,
        /// The condition.
        cond: Value,
        /// Where it holds, and where it does not.
        ways: Box<[Choice; 2]>,
    },
}

impl Choice {
    /// Makes a part of each function.
    pub fn into_tree(
        self,
        params: &[Param],
        part: &mut dyn FnMut(Function) -> Result<Part, Limit>,
    ) -> Result<Tree, Limit> {
        Ok(match self {
            Choice::One(func) => Tree::Leaf(Box::new(part(func)?)),
            Choice::By { func, cond, ways } => {
                let [then, els] = *ways;
                let ways = [then.into_tree(params, part)?, els.into_tree(params, part)?];
                Tree::Choice { func, params: params.to_vec(), cond, ways: Box::new(ways) }
            }
        })
    }
}

/// Divides a function. `clean_up` takes away what cannot run any more. What follows a stop ([`crate::transform::grid_stride`]) is either some rounds more or
/// all the rest of the kernel, which often needs what was kept in another form: they are divided in any case.
pub fn divide(func: Function, params: &[Param], stop: bool, clean_up: &dyn Fn(&mut Function)) -> Choice {
    divide_at(func, params, stop, clean_up, DEPTH)
}

fn divide_at(func: Function, params: &[Param], stop: bool, clean_up: &dyn Fn(&mut Function), depth: u32) -> Choice {
    let known = limits(&func, params);
    if depth == 0 || !stop && (func.size() > MAX_INSTS || known == ALL) {
        return Choice::One(func);
    }
    let mut shared = Shared::new(&func, params);
    let branches: Vec<_> = Cfg::new(&func)
        .rpo()
        .iter()
        .filter_map(|&b| match func.blocks[b].term {
            Term::Branch { cond, .. } if shared.has(cond) => Some((b, cond)),
            _ => None,
        })
        .take(MAX_BRANCHES)
        .collect();
    for (b, cond) in branches {
        let ways = [true, false].map(|holds| {
            let mut way = func.clone();
            if let Term::Branch { then, els, .. } = way.blocks[b].term.clone() {
                let span = way.blocks[b].term_span;
                way.set_term(b, Term::Jump(if holds { then } else { els }), span);
            }
            clean_up(&mut way);
            way
        });
        if stop || ways.iter().any(|way| limits(way, params) > known) {
            let ways = Box::new(ways.map(|way| divide_at(way, params, false, clean_up, depth - 1)));
            return Choice::By { func: Box::new(func), cond, ways };
        }
    }
    Choice::One(func)
}

/// In how many dimensions something is known about how far work-items reach.
fn limits(func: &Function, params: &[Param]) -> usize {
    active_bound::find(func, params).iter().flatten().count()
}
