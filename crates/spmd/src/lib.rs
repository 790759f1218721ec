//! The work-item vectoriser: from a kernel of one work-item to a function that runs a work-group.
//!
//! In comes a verified kernel whose calls that ask for ids or wait at barriers are inlined; out comes, beside it, the function
//! `<kernel>.wg` with the parameters of [`cloom_ir::abi`], verified again. Data flows through the modules in this order:
//!
//! 1. [`divergence`]: which values and branches are the same for all work-items of a group, and what first made a value differ.
//! 2. [`regions`]: the kernel is cut at its barriers into continuations; which values live across them, and which of these are cheaper
//!    to compute again.
//! 3. [`context`]: where the others are kept: once per group if uniform, else per work-item; also private arrays that live across.
//! 4. [`emit`]: each continuation becomes a loop nest over the work-items; a dispatcher goes from one to the next.
//!
//! The vector width is 1 here. Lanes will come between 3 and 4: shapes of addresses, masks and linearisation work on one
//! continuation at a time and leave its exits alone, so barriers, contexts and work-item loops stay as they are.
//!
//! A barrier costs no stack switch: a work-item runs to the barrier, what it needs later is in the context, and the next
//! work-item runs. That makes every local size right by construction, also 1 and partial groups (pocl's "work-item loops" and
//! Karrenberg's continuations are the known forms; regions are cloned from each barrier, so that barriers in loops and branches
//! need no special case). Work-items that have returned count as arrived.

pub mod context;
pub mod divergence;
pub mod emit;
pub mod regions;
pub mod remarks;

use cloom_ir::{FuncRef, Module, Op};
pub use remarks::Remark;

/// What the launcher must know about a work-group function.
#[derive(Clone, PartialEq, Debug)]
pub struct WorkGroup {
    /// The function, `<kernel>.wg`.
    pub func: FuncRef,
    /// Bytes of scratch of a group, whatever its size,
    pub scratch_fixed: u64,
    /// and for each work-item of the group.
    pub scratch_per_item: u64,
    /// Bytes of static local memory.
    pub local_size: u64,
    /// What was decided and why.
    pub remarks: Vec<Remark>,
}

/// Why a kernel cannot be compiled.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Limit {
    /// Not a kernel with a body.
    #[error("{0} is not a kernel with a body")]
    NotAKernel(String),
    /// A callee that should have been inlined.
    #[error("{0} waits at a barrier or asks for its place but was not inlined")]
    NotInlined(String),
    /// Too many continuations or too much code.
    #[error("the kernel has {0} barriers after inlining, {1} are the limit")]
    Barriers(usize, usize),
}

/// A kernel with more barriers than this has been unrolled beyond reason.
const MAX_BARRIERS: usize = 2000;

/// Makes the work-group function of a kernel and adds it to the module.
pub fn work_group_function(module: &mut Module, kernel: FuncRef) -> Result<WorkGroup, Limit> {
    let func = &module.funcs[kernel];
    if func.is_declaration() || func.kernel.is_none() {
        return Err(Limit::NotAKernel(func.name.clone()));
    }
    check_callees(module, kernel)?;
    let mut split = func.clone();
    let barriers = regions::split_at_barriers(&mut split);
    if barriers.len() > MAX_BARRIERS {
        return Err(Limit::Barriers(barriers.len(), MAX_BARRIERS));
    }
    let divergence = divergence::analyse(&split);
    let plan = regions::plan(&split, barriers, &divergence);
    let context = context::lay_out(&split, &plan, &divergence);
    let (func, local_size) = emit::work_group(module, &split, &plan, &context);
    let remarks = remarks::collect(&split, &plan, &context, &divergence);
    let func = module.funcs.push(func);
    Ok(WorkGroup { func, scratch_fixed: context.fixed, scratch_per_item: context.per_item, local_size, remarks })
}

/// Functions that stay calls must not depend on the work-item's place: only the work-group function knows it.
fn check_callees(module: &Module, kernel: FuncRef) -> Result<(), Limit> {
    let mut seen = vec![false; module.funcs.len()];
    let mut list = module.funcs[kernel].callees();
    while let Some(f) = list.pop() {
        if std::mem::replace(&mut seen[cloom_ir::Entity::index(f)], true) {
            continue;
        }
        let func = &module.funcs[f];
        let mut ops = func.layout.iter().flat_map(|&b| &func.blocks[b].insts).map(|&i| &func.insts[i].op);
        let local = |op: &Op| matches!(op, Op::GlobalAddr(g) if module.globals[*g].space == cloom_ir::Space::Local);
        if ops.any(|op| matches!(op, Op::Query { .. } | Op::Barrier | Op::Printf(_)) || local(op)) {
            return Err(Limit::NotInlined(func.name.clone()));
        }
        list.extend(func.callees());
    }
    Ok(())
}
