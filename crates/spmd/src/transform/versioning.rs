//! Versioning of continuations on group-uniform conditions: one function for each value of a condition that the whole
//! group knows.
//!
//! In comes the function of a continuation; out go, if it is profitable, two of them and the condition between them.
//!
//! ```c
//! for (int n = TILE_W; n > 1; n = (n + 1) / 2) {
//!     barrier(CLK_LOCAL_MEM_FENCE);
//!     if (lx < n - n / 2) tile[lx] += tile[lx + n / 2];
//! }
//! out[i] = tile[0];
//! ```
//!
//! What follows the barrier is either another iteration, for which few work-items are needed, or the end, for which
//! all are. The loops over the vectors of a group have a bound on active work-items only where these are separate
//! functions ([`crate::analysis::active_bound`]). (Loop unswitching, applied to the implicit loop over work-items.)

use crate::analysis::active_bound::{self, Shared};
use crate::split::continuation_fn::Param;
use cloom_ir::cfg::Cfg;
use cloom_ir::{Function, Term, Value};

/// How many conditions lead to a version.
const DEPTH: u32 = 3;

/// Larger functions have one version: what all versions have in common is there as often.
const MAX_INSTS: usize = 400;

/// So many branches are tried.
const MAX_BRANCHES: usize = 8;

/// The dimensions of a group.
const ALL: usize = 3;

/// Kernels with more continuations have one version of each.
pub const MAX_CONTINUATIONS: usize = 64;

/// A thing in one version, or in two that a group-uniform condition chooses between.
pub enum Versioned<T> {
    /// No further condition.
    One(T),
    /// By a value that the group computes before.
    Two {
        /// The function whose value it is,
        func: Box<Function>,
        /// and its parameters.
        params: Vec<Param>,
        /// The condition.
        cond: Value,
        /// Where it holds, and where it does not.
        versions: Box<[Versioned<T>; 2]>,
    },
}

impl<T> Versioned<T> {
    /// The same with something else in each version; `f` also gets the version's number, counted from where all conditions hold.
    pub fn try_map<U, E>(self, f: &mut dyn FnMut(usize, T) -> Result<U, E>) -> Result<Versioned<U>, E> {
        self.try_map_from(&mut 0, f)
    }

    fn try_map_from<U, E>(
        self,
        number: &mut usize,
        f: &mut dyn FnMut(usize, T) -> Result<U, E>,
    ) -> Result<Versioned<U>, E> {
        Ok(match self {
            Versioned::One(one) => {
                *number += 1;
                Versioned::One(f(*number - 1, one)?)
            }
            Versioned::Two { func, params, cond, versions } => {
                let [then, els] = *versions;
                let versions = [then.try_map_from(number, f)?, els.try_map_from(number, f)?];
                Versioned::Two { func, params, cond, versions: Box::new(versions) }
            }
        })
    }

    /// All versions.
    pub fn leaves(&self) -> Vec<&T> {
        match self {
            Versioned::One(one) => vec![one],
            Versioned::Two { versions, .. } => versions.iter().flat_map(Versioned::leaves).collect(),
        }
    }

    /// All versions, to be changed.
    pub fn leaves_mut(&mut self) -> Vec<&mut T> {
        match self {
            Versioned::One(one) => vec![one],
            Versioned::Two { versions, .. } => versions.iter_mut().flat_map(Versioned::leaves_mut).collect(),
        }
    }
}

/// The versions of a function. `clean_up` removes what cannot run any more. What follows a synthetic barrier
/// ([`crate::transform::grid_stride`]) is either some iterations more or all the rest of the kernel, which often needs what was kept in
/// another form: it has two versions in any case.
pub fn run(func: Function, params: &[Param], synthetic: bool, clean_up: &dyn Fn(&mut Function)) -> Versioned<Function> {
    versions(func, params, synthetic, clean_up, DEPTH)
}

fn versions(
    func: Function,
    params: &[Param],
    synthetic: bool,
    clean_up: &dyn Fn(&mut Function),
    depth: u32,
) -> Versioned<Function> {
    let bounded = bounded_dimensions(&func, params);
    if depth == 0 || !synthetic && (func.size() > MAX_INSTS || bounded == ALL) {
        return Versioned::One(func);
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
        let two = [true, false].map(|holds| {
            let mut version = func.clone();
            if let Term::Branch { then, els, .. } = version.blocks[b].term.clone() {
                let span = version.blocks[b].term_span;
                version.set_term(b, Term::Jump(if holds { then } else { els }), span);
            }
            clean_up(&mut version);
            version
        });
        if synthetic || two.iter().any(|version| bounded_dimensions(version, params) > bounded) {
            let two = two.map(|version| versions(version, params, false, clean_up, depth - 1));
            return Versioned::Two { func: Box::new(func), params: params.to_vec(), cond, versions: Box::new(two) };
        }
    }
    Versioned::One(func)
}

/// In how many dimensions a bound on the active work-items is known.
fn bounded_dimensions(func: &Function, params: &[Param]) -> usize {
    active_bound::find(func, params).iter().flatten().count()
}
