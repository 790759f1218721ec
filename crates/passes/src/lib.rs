//! Scalar optimisation passes over the IR, and the pass manager.
//!
//! In comes a verified module with built-ins linked; out comes the same module with a kernel in the form that the
//! work-item vectoriser needs: no calls that depend on the work-item, variables as SSA values, no needless control
//! flow. What LLVM can do later as well (scheduling, strength reduction, load forwarding) is left to LLVM.
//!
//! One pass a file. A pass over a function is a [`RunPass`] that returns how often it changed something;
//! [`PASSES`] has each with its name, for the [`manager`], `cloom show` and file tests. No pass recurses on the depth
//! of the IR, and each is close to linear in the size of the function.

#![forbid(unsafe_code)]

pub mod address_recurrences;
pub mod bounds;
mod checks;
pub mod compact;
pub mod const_arrays;
pub mod cse;
pub mod dce;
mod drop_marks;
pub mod fold;
pub mod hoist;
pub mod infer_alignment;
pub mod infer_spaces;
pub mod inline;
pub mod lane_params;
pub mod loops;
pub mod manager;
pub mod mask_chains;
pub mod mem2reg;
pub mod merge_branches;
pub mod narrow_loads;
pub mod near_addresses;
pub mod pass;
pub mod polls;
pub mod promote_arrays;
pub mod redundant_params;
pub mod select;
pub mod simplify_cfg;
pub mod switch_tables;
mod util;

use cloom_ir::{Entity, FuncRef, Module};
use loops::{licm, reducible, runtime_unroll, unroll, unroll_barrier_loops, unwrapped_loops};
use std::time::Instant;

pub use checks::BoundsChecks;
pub use manager::{Disabled, PassManager, PassOptions, PassStatistics, Statistics, UnknownPass};
pub use pass::{ModulePass, Pass, PassId, RunOthers, RunPass};
pub use polls::POLLS;

/// Inlining works on a module; without it only those calls are inlined that must be.
pub const INLINE: PassId = PassId::optional("inline", "calls replaced by what they call");
/// [`const_arrays`] works on a module.
pub const CONST_ARRAYS: PassId = PassId::optional("const-arrays", "private arrays of constants become shared data");
/// [`switch_tables`] works on a module.
pub const SWITCH_TABLES: PassId =
    PassId::optional("switch-tables", "switches that choose constants load them from tables");
/// [`infer_alignment::aligned_copy`] adds a function to the module.
pub const ALIGNED_COPY: PassId =
    PassId::optional("aligned-copy", "a kernel for GPUs has a copy for buffers that are aligned");

pub use address_recurrences::PASS as ADDRESS_RECURRENCES;
pub use bounds::{BOUNDS_CHECKS, BOUNDS_REPORTS};
pub use compact::PASS as COMPACT;
pub use cse::PASS as CSE;
pub use dce::PASS as DCE;
pub use drop_marks::PASS as DROP_MARKS;
pub use fold::PASS as FOLD;
pub use hoist::PASS as HOIST;
pub use infer_alignment::PASS as INFER_ALIGNMENT;
pub use infer_spaces::LOWER_GENERIC;
pub use infer_spaces::PASS as INFER_SPACES;
pub use lane_params::PASS as LANE_PARAMS;
pub use licm::PASS as LICM;
pub use mask_chains::PASS as MASK_CHAINS;
pub use mem2reg::PASS as MEM2REG;
pub use merge_branches::PASS as MERGE_BRANCHES;
pub use narrow_loads::PASS as NARROW_LOADS;
pub use near_addresses::PASS as NEAR_ADDRESSES;
pub use promote_arrays::PASS as PROMOTE_ARRAYS;
pub use reducible::PASS as REDUCIBLE;
pub use redundant_params::PASS as REDUNDANT_PARAMS;
pub use runtime_unroll::PASS as RUNTIME_UNROLL;
pub use select::MERGE_CONDITIONS;
pub use select::PASS as SELECT;
pub use simplify_cfg::PASS as SIMPLIFY_CFG;
pub use unroll::PASS as UNROLL;
pub use unroll_barrier_loops::PASS as UNROLL_BARRIER_LOOPS;
pub use unwrapped_loops::PASS as UNWRAPPED_LOOPS;

/// Every pass over a function.
pub const PASSES: &[Pass] = &[
    DROP_MARKS,
    SIMPLIFY_CFG,
    MEM2REG,
    INFER_SPACES,
    LOWER_GENERIC,
    FOLD,
    REDUNDANT_PARAMS,
    LANE_PARAMS,
    CSE,
    DCE,
    LICM,
    UNROLL,
    HOIST,
    MERGE_BRANCHES,
    SELECT,
    MERGE_CONDITIONS,
    NARROW_LOADS,
    PROMOTE_ARRAYS,
    RUNTIME_UNROLL,
    UNROLL_BARRIER_LOOPS,
    UNWRAPPED_LOOPS,
    NEAR_ADDRESSES,
    ADDRESS_RECURRENCES,
    INFER_ALIGNMENT,
    REDUCIBLE,
    MASK_CHAINS,
    COMPACT,
];

/// The pipeline of every function after inlining. The second [`MEM2REG`] sees addresses that the passes before it made
/// constant. What it leaves in memory is for [`CONST_ARRAYS`], and switches between blocks that are empty now are for
/// [`SWITCH_TABLES`], which come after these.
const CLEAN_UP: &[Pass] = &[
    DROP_MARKS,
    SIMPLIFY_CFG,
    MEM2REG,
    INFER_SPACES,
    FOLD,
    REDUNDANT_PARAMS,
    LANE_PARAMS,
    CSE,
    DCE,
    SIMPLIFY_CFG,
    UNROLL,
    MEM2REG,
];
/// The passes that need the module, after these.
const WITH_MODULE: &[(PassId, ModulePass)] = &[(SWITCH_TABLES, switch_tables::run), (CONST_ARRAYS, const_arrays::run)];
/// What follows [`WITH_MODULE`].
const CLEAN_UP_VALUES: &[Pass] = &[FOLD, CSE, DCE];
/// What comes before [`BOUNDS_CHECKS`] in a kernel that has them.
const BEFORE_CHECKS: &[Pass] = &[INFER_SPACES, LICM, HOIST, FOLD, CSE, DCE];
/// What follows for a kernel.
const FINISH: &[Pass] = &[
    // The last `mem2reg` of `CLEAN_UP` may have made values of pointers that were in memory.
    INFER_SPACES,
    // Only what is generic after that needs a tag.
    LOWER_GENERIC,
    LICM,
    // It needs the preheaders that `licm` makes.
    HOIST,
    MERGE_BRANCHES,
    FOLD,
    REDUNDANT_PARAMS,
    CSE,
    DCE,
    SIMPLIFY_CFG,
    COMPACT,
];
/// What follows for any other function: few passes, as a callee is optimised again after inlining.
const FINISH_CALLEE: &[Pass] = &[COMPACT];

/// What follows for the kernels of a GPU, after coarsening.
pub const FINISH_GPU: &[Pass] = &[
    PROMOTE_ARRAYS,
    RUNTIME_UNROLL,
    UNROLL_BARRIER_LOOPS,
    // Its promises let the affine analysis of the passes over addresses see through extensions.
    UNWRAPPED_LOOPS,
    INFER_ALIGNMENT,
    NEAR_ADDRESSES,
    // One recurrence then serves all addresses of a loop that are a constant apart.
    ADDRESS_RECURRENCES,
    MERGE_CONDITIONS,
];

/// The name under which [`run`] reports its work on functions other than the kernel.
pub const CALLEES: &str = "callees";

/// The names of all passes of this crate, for switches.
pub fn ids() -> impl Iterator<Item = PassId> {
    PASSES.iter().map(|p| p.id).chain(MODULE_PASSES.iter().map(|p| p.0))
}

/// Every pass that needs the module of its function.
pub const MODULE_PASSES: &[(PassId, ModulePass)] = &[
    (INLINE, inline::run),
    (SWITCH_TABLES, switch_tables::run),
    (CONST_ARRAYS, const_arrays::run),
    (ALIGNED_COPY, infer_alignment::aligned_copy),
    (BOUNDS_CHECKS, bounds::run),
    (BOUNDS_REPORTS, bounds::run_with_reports),
    (POLLS, polls::run),
];

/// The pass of this name, for file tests and tools: what people write.
pub fn pass(name: &str) -> Option<&'static Pass> {
    PASSES.iter().find(|p| p.id.name == name)
}

/// Inlines and optimises a kernel (any function) and what it calls, with all passes; see [`run_with`].
pub fn run(module: &mut Module, kernel: FuncRef, observe: impl FnMut(&str, &Module)) {
    let options = PassOptions::default();
    run_with(module, kernel, &PassManager::new(&options), observe);
}

/// Inlines and optimises a kernel (any function) and what it calls. `observe` sees the module after each pass over the
/// kernel itself, and after all passes over a function that it calls ([`CALLEES`]). In debug builds the verifier runs
/// after each pass.
pub fn run_with(
    module: &mut Module,
    kernel: FuncRef,
    manager: &PassManager<'_>,
    mut observe: impl FnMut(&str, &Module),
) {
    let budget = if manager.is_on(INLINE) { manager.options().budget } else { inline::Budget::NONE };
    let order = inline::bottom_up(module, kernel);
    let must = inline::must_inline(module, &order, manager.options().native_generic, manager.options().bounds_checks);
    for &f in &order {
        if module.funcs[f].is_declaration() {
            continue;
        }
        let since = Instant::now();
        // Bottom up: the callees are optimised already, so their sizes for the budget are final.
        let inlined = inline::inline_calls(module, f, &must, budget);
        manager.record(INLINE, inlined, since.elapsed());
        manager::verify(module, &module.funcs[f], INLINE);
        if f == kernel {
            observe(INLINE.name, module);
        }
        let finish = if f == kernel { FINISH } else { FINISH_CALLEE };
        let checks = manager.options().bounds_checks;
        let is_checked = f == kernel && checks.are_on();
        for (with_module, passes) in [(false, CLEAN_UP), (true, CLEAN_UP_VALUES), (false, finish)] {
            // These change the module, so they are no entries of the lists of passes over one function.
            for &(id, run) in WITH_MODULE.iter().filter(|_| with_module) {
                manager.with_module(module, f, id, run);
                if f == kernel {
                    observe(id.name, module);
                }
            }
            if is_checked && std::ptr::eq(passes, finish) {
                // What is invariant leaves its loop before it is behind a branch.
                for &pass in BEFORE_CHECKS {
                    manager.in_module(module, f, pass);
                }
                let (id, run): (PassId, ModulePass) = match checks {
                    BoundsChecks::Reported => (BOUNDS_REPORTS, bounds::run_with_reports),
                    _ => (BOUNDS_CHECKS, bounds::run),
                };
                manager.with_module(module, f, id, run);
                observe(id.name, module);
                if manager.options().polls {
                    manager.with_module(module, f, POLLS, polls::run);
                    observe(POLLS.name, module);
                }
            }
            for &pass in passes {
                if pass.id == LOWER_GENERIC.id && manager.options().native_generic {
                    continue;
                }
                manager.in_module(module, f, pass);
                if f == kernel {
                    observe(pass.id.name, module);
                }
            }
        }
        if f != kernel {
            observe(CALLEES, module);
        }
    }
}

/// Inlines and cleans up in every function of a library, once, so that the kernels that take them need not.
pub fn prepare(module: &mut Module) {
    let options = PassOptions::default();
    let manager = PassManager::new(&options);
    let mut done = vec![false; module.funcs.len()];
    for root in module.funcs.keys() {
        let order = inline::bottom_up(module, root);
        let must = inline::must_inline(module, &order, false, BoundsChecks::Off);
        for f in order {
            // Kernels share callees; each function is prepared once.
            if std::mem::replace(&mut done[f.index()], true) || module.funcs[f].is_declaration() {
                continue;
            }
            inline::inline_calls(module, f, &must, inline::Budget::LIBRARY);
            CLEAN_UP.iter().for_each(|&pass| manager.in_module(module, f, pass));
            WITH_MODULE.iter().for_each(|&(id, run)| manager.with_module(module, f, id, run));
            CLEAN_UP_VALUES.iter().chain(FINISH_CALLEE).for_each(|&pass| manager.in_module(module, f, pass));
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_two_passes_have_one_name() {
        let mut names: Vec<&str> = super::ids().map(|id| id.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
