//! Versioning of continuations on group-uniform conditions: one function for each value of a condition that is the
//! same for the whole group.
//!
//! In comes the function of a continuation; out go, if it is profitable, two of them and the condition that chooses.
//!
//! ```c
//! for (int n = TILE_W; n > 1; n = (n + 1) / 2) {
//!     barrier(CLK_LOCAL_MEM_FENCE);
//!     if (lx < n - n / 2) tile[lx] += tile[lx + n / 2];
//! }
//! out[i] = tile[0];
//! ```
//!
//! The continuation after the barrier is either another iteration, which needs few work-items, or the rest of the
//! kernel, which needs all. Only with separate functions does the loop over the vectors of the group have a bound on
//! active work-items in the first case ([`crate::analysis::active_bound`]). This is loop unswitching, applied to the
//! implicit loop over work-items.

use crate::analysis::active_bound::{self, Shared};
use crate::params::Param;
use cloom_ir::cfg::Cfg;
use cloom_ir::{Function, Term, Value};

/// How many conditions a version may depend on.
const DEPTH: u32 = 3;

/// Larger functions get one version: their common code would be duplicated.
const MAX_INSTS: usize = 400;

/// How many branches are tried.
const MAX_BRANCHES: usize = 8;

/// The dimensions of a group.
const DIMENSIONS: usize = 3;

/// Kernels with more continuations get one version of each.
pub const MAX_CONTINUATIONS: usize = 64;

/// Something in one version, or in two that a group-uniform condition chooses between.
pub enum Versioned<T> {
    /// No further condition.
    One(T),
    /// Two versions and their condition.
    Two {
        /// The function in which the condition is computed.
        func: Box<Function>,
        /// The parameters of that function.
        params: Vec<Param>,
        /// The condition.
        cond: Value,
        /// The version where it holds, and the one where it does not.
        versions: Box<[Versioned<T>; 2]>,
    },
}

impl<T> Versioned<T> {
    /// Replaces each version by one or more. `f` also gets the version's index; version 0 is where all conditions hold.
    pub fn try_expand<U, E>(self, f: &mut dyn FnMut(usize, T) -> Result<Versioned<U>, E>) -> Result<Versioned<U>, E> {
        self.try_expand_at(&mut 0, f)
    }

    fn try_expand_at<U, E>(
        self,
        number: &mut usize,
        f: &mut dyn FnMut(usize, T) -> Result<Versioned<U>, E>,
    ) -> Result<Versioned<U>, E> {
        Ok(match self {
            // Numbered from the left: version 0 is where all conditions hold.
            Versioned::One(one) => {
                *number += 1;
                f(*number - 1, one)?
            }
            Versioned::Two { func, params, cond, versions } => {
                let [then, els] = *versions;
                let versions = [then.try_expand_at(number, f)?, els.try_expand_at(number, f)?];
                Versioned::Two { func, params, cond, versions: Box::new(versions) }
            }
        })
    }

    /// Leaves only the second of two versions where `is_spare` says that it is one for all cases.
    pub fn drop_first(self, is_spare: &dyn Fn(&T) -> bool) -> Versioned<T> {
        match self {
            Versioned::Two { func, params, cond, versions } => {
                let [then, els] = *versions;
                match els {
                    // The spare version is right in all cases, so that the condition is not needed either.
                    Versioned::One(spare) if is_spare(&spare) => Versioned::One(spare),
                    els => {
                        let versions = [then.drop_first(is_spare), els.drop_first(is_spare)];
                        Versioned::Two { func, params, cond, versions: Box::new(versions) }
                    }
                }
            }
            one => one,
        }
    }

    /// All versions.
    pub fn leaves(&self) -> Vec<&T> {
        match self {
            Versioned::One(one) => vec![one],
            Versioned::Two { versions, .. } => versions.iter().flat_map(Versioned::leaves).collect(),
        }
    }

    /// All versions, mutable.
    pub fn leaves_mut(&mut self) -> Vec<&mut T> {
        match self {
            Versioned::One(one) => vec![one],
            Versioned::Two { versions, .. } => versions.iter_mut().flat_map(Versioned::leaves_mut).collect(),
        }
    }
}

/// Makes the versions of a function. `clean_up` removes code that has become dead. The continuation after a synthetic
/// barrier ([`crate::transform::grid_stride`]) always gets two versions: some further iterations, and the rest of the
/// kernel, which often needs the saved values in another form.
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
    // With bounds in all dimensions, a version could gain nothing more.
    let bounded = bounded_dimensions(&func, params);
    if depth == 0 || !synthetic && (func.size() > MAX_INSTS || bounded == DIMENSIONS) {
        return Versioned::One(func);
    }
    let mut shared = Shared::new(&func, params);
    // Only conditions that the group can compute before its vectors run.
    let branches: Vec<_> = Cfg::new(&func)
        .rpo()
        .iter()
        .filter_map(|&b| match func.blocks[b].term {
            Term::Branch { cond, .. } if shared.has(cond) => Some((b, cond)),
            _ => None,
        })
        // Each attempt copies the function twice and cleans both up.
        .take(MAX_BRANCHES)
        .collect();
    for (b, cond) in branches {
        let versions_of_branch = [true, false].map(|holds| {
            let mut version = func.clone();
            if let Term::Branch { then, els, .. } = version.blocks[b].term.clone() {
                let span = version.blocks[b].term_span;
                // `clean_up` then removes what is not reachable any more.
                version.set_term(b, Term::Jump(if holds { then } else { els }), span);
            }
            clean_up(&mut version);
            version
        });
        // One version must have a bound that the whole has not, else there is twice the code for nothing.
        if synthetic || versions_of_branch.iter().any(|version| bounded_dimensions(version, params) > bounded) {
            let versions_of_branch =
                versions_of_branch.map(|version| versions(version, params, false, clean_up, depth - 1));
            return Versioned::Two {
                func: Box::new(func),
                params: params.to_vec(),
                cond,
                versions: Box::new(versions_of_branch),
            };
        }
    }
    Versioned::One(func)
}

/// In how many dimensions the active work-items are bounded.
fn bounded_dimensions(func: &Function, params: &[Param]) -> usize {
    active_bound::find(func, params).iter().flatten().count()
}
