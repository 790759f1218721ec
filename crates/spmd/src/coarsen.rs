//! Coarsening: one work-item does the work of several neighbours, for targets whose work-items are threads.
//!
//! The input is a kernel; the output is a second kernel, one work-item of which does the work of [`Coarse::factor`]
//! work-items of the first. Kernels with barriers are coarsened by [`groups`]. In other kernels, whose work-items read
//! and write consecutive elements, neighbours along dimension 0 are coarsened, and one wide access replaces theirs. A
//! thread of a GPU that moves 16 bytes at a time uses four times as much of the memory's bandwidth as one that moves 4
//! (Volkov, "Better Performance at Lower Occupancy", GTC 2010), so that a plain kernel is as fast as one written with
//! `float4`.
//!
//! ```text
//! item(id)          b[id] = a[id] + 1
//! coarse(q)         v = load f32x4 &a[4·q];  store &b[4·q], (v.0 + 1, v.1 + 1, v.2 + 1, v.3 + 1)
//! ```
//!
//! The work-items run in lockstep (unroll and jam): each varying instruction is repeated for each of them before the
//! next instruction. OpenCL gives work-items no order, and they share only memory without data races, so that no result
//! depends on this order. A varying branch is taken if all work-items agree. If they do not, as at the edge of a guard
//! `if (id < n)`, each runs by itself, from its beginning, in a call of the function for one work-item. That is right
//! only as long as none has stored anything. So varying branches must come before all stores and must not be in loops,
//! and the same holds for comparisons of indices that may wrap.

mod check;
mod groups;
mod jam;
mod regions;

use crate::analysis::divergence;
use crate::decisions::coarsening::CoarsenReason;
use crate::decisions::{Decision, Form, Operation, Reason};
use crate::passes::COARSEN;
use crate::split::grouping::depends_on_groups;
use check::Ids;
use cloom_ir::abi::gpu::Coarsening;
use cloom_ir::{BinOp, Builder, Flags, FuncRef, Function, InstData, Linkage, Module, Op, Query, Span, Type, Value};
use cloom_passes::{PassManager, SELECT, select};
use jam::{Jam, Lanes, Uncoarsened};
use rustc_hash::FxHashMap;

/// Bytes of the widest access of a thread.
const WIDEST: u32 = 16;
/// The most work-items that are coarsened into one.
const MAX_FACTOR: u32 = 4;
/// The query that gives neighbouring work-items consecutive numbers.
const ID: Op = Op::Query { what: Query::GlobalId, dim: 0 };
/// The most instructions of a kernel that is coarsened. In longer kernels arithmetic dominates, and registers become
/// scarce.
const MAX_SIZE: usize = 150;

/// A coarsened kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Coarse {
    /// The kernel.
    pub func: FuncRef,
    /// The work-items of the original kernel that one work-item of this one stands for.
    pub factor: u32,
    /// Which work-items those are.
    pub coarsening: Coarsening,
}

/// The reason why a kernel is not coarsened, and the source line that shows it.
struct NotCoarsened {
    span: Span,
    why: CoarsenReason,
}

impl NotCoarsened {
    fn new(why: CoarsenReason) -> NotCoarsened {
        NotCoarsened { span: Span::NONE, why }
    }
}

/// Coarsens a kernel after the scalar passes, if that is profitable, and says why or why not. It assumes that global
/// ids have at most 31 bits.
pub fn coarsen(module: &mut Module, kernel: FuncRef, manager: &PassManager<'_>) -> (Option<Coarse>, Decision) {
    let made = manager.step(COARSEN, || {
        let made = match groups::has_barriers(&module.funcs[kernel]) {
            true => groups::attempt(module, kernel),
            false => attempt(module, kernel, manager),
        };
        (usize::from(made.is_ok()), made)
    });
    let made = made.unwrap_or(Err(NotCoarsened::new(CoarsenReason::SwitchedOff)));
    if let Ok(coarse) = &made {
        manager.made(module, coarse.func, COARSEN);
    }
    let decision = |threads: u32, reason: Reason| Decision::new(Operation::Coarsening, Form::Threads(threads), reason);
    match made {
        Ok(coarse) => {
            let reason = match coarse.coarsening {
                Coarsening::WorkItems => Reason::WideAccess(WIDEST),
                Coarsening::Groups { dim, .. } => Reason::GroupsOverlap { dim },
            };
            (Some(coarse), decision(coarse.factor, reason))
        }
        Err(NotCoarsened { span, why }) => {
            (None, decision(1, Reason::NotCoarsened(why)).at(span, &module.funcs[kernel]))
        }
    }
}

fn attempt(module: &mut Module, kernel: FuncRef, manager: &PassManager<'_>) -> Result<Coarse, NotCoarsened> {
    let func = &module.funcs[kernel];
    if func.size() > MAX_SIZE {
        return Err(NotCoarsened::new(CoarsenReason::Large));
    }
    // The coarsened kernel has other groups than the program asks for.
    if depends_on_groups(module, func) {
        return Err(NotCoarsened::new(CoarsenReason::DependsOnGroup));
    }
    if let Some((_, data)) = func.insts_in_layout().find(|(_, data)| !may_join(data)) {
        return Err(NotCoarsened { span: data.span, why: CoarsenReason::OwnOperation });
    }
    // With queries as parameters, the function can be called for any of the coarsened work-items.
    let (mut item, asked) = item_function(func, |op| matches!(op, Op::Query { .. }));
    // A branch over a few instructions, as of `x = x > max ? max : x`, becomes a select. Otherwise it would be a
    // varying branch.
    manager.function(module, &mut item, SELECT.id, select::run_in_loop);
    let id = asked.iter().position(|op| *op == ID);
    let id = id.ok_or_else(|| NotCoarsened::new(CoarsenReason::NoId))?;
    // Parameters for queries come after those of the kernel.
    let id = item.param_values()[func.params.len() + id];
    // The first analysis ignores control dependence, and finds the branches that may be guards. The second one ignores
    // it for guards only.
    let by_data = divergence::between_agreeing_lanes(&item, &[id], &|_| true);
    let facts = |divergence| Ids { item: &item, id, kernel_params: func.params.len(), divergence };
    let guards = facts(&by_data).guards();
    let divergence = divergence::between_agreeing_lanes(&item, &[id], &|b| guards.contains(&b));
    // The module is still as it was: functions are added to it once nothing speaks against coarsening.
    let (accesses, unwrapped) = facts(&divergence).check(&guards)?;
    // The widest element decides: with smaller ones, an access of all work-items is narrower than `WIDEST`.
    let bytes = accesses.values().filter(|a| a.is_consecutive).map(|a| a.bytes).max();
    let factor = bytes.map_or(0, |bytes| (WIDEST / bytes).min(MAX_FACTOR));
    if factor < 2 {
        return Err(NotCoarsened::new(CoarsenReason::NoNarrowAccess));
    }
    let mut coarse = func.new_for_code_of(format!("{}.x{factor}", func.name), func.params.clone(), None);
    coarse.linkage = func.linkage;
    coarse.kernel.clone_from(&func.kernel);
    if let Some(meta) = &mut coarse.kernel {
        // The launcher chooses the groups.
        meta.reqd_group_size = None;
    }
    // The function of one work-item stays in the module, for work-items that do not agree.
    let item_ref = module.funcs.push(item);
    let item = (&module.funcs[item_ref], Uncoarsened::Calls(item_ref));
    let jam = Jam::new(item, &divergence, (&accesses, &unwrapped), factor, coarse);
    let coarse = jam.run(|_, _, p| Lanes::from_elem(p, 1), &asked, |b, op| neighbours(b, op, factor));
    Ok(Coarse { func: module.funcs.push(coarse), factor, coarsening: Coarsening::WorkItems })
}

/// The values of a query for each of the coarsened work-items.
fn neighbours(b: &mut Builder<'_>, op: &Op, factor: u32) -> Lanes {
    let Op::Query { what, dim } = *op else { return Lanes::new() };
    let value = b.query(what, dim);
    match *op == ID {
        true => numbers_from(b, value, factor),
        false => Lanes::from_elem(value, 1),
    }
}

/// The numbers of the coarsened ones; `id` is the number of the one that stands for them.
fn numbers_from(b: &mut Builder<'_>, id: Value, factor: u32) -> Lanes {
    let times = b.iconst(Type::I64, factor.into());
    // No id of the original launch reaches 2^31, and these are such ids.
    let first = b.binary_flags(BinOp::Mul, id, times, Flags::NSW | Flags::NUW);
    let number = |k: u32| {
        let k = b.iconst(Type::I64, k.into());
        b.binary_flags(BinOp::Add, first, k, Flags::NSW | Flags::NUW)
    };
    (0..factor).map(number).collect()
}

/// Whether an instruction may be repeated for each of the coarsened work-items.
fn may_join(data: &InstData) -> bool {
    let is_plain = !data.flags.contains(Flags::VOLATILE);
    match data.op {
        Op::Load { .. } | Op::Store { .. } => is_plain,
        Op::Query { what, .. } => {
            matches!(what, Query::GlobalId | Query::GlobalSize | Query::GlobalOffset | Query::WorkDim)
        }
        Op::PureCall(_) | Op::GlobalAddr(_) => true,
        // Private memory has another address for each work-item, but no program can depend on that.
        Op::Alloca { .. } => false,
        ref op => op.is_pure(),
    }
}

/// The function of one work-item. Its queries become parameters after those of the kernel, in the order of the returned
/// list.
fn item_function(kernel: &Function, is_asked: impl Fn(&Op) -> bool) -> (Function, Vec<Op>) {
    let mut item = kernel.clone();
    item.name = format!("{}.item", kernel.name);
    // Inlined, the rare calls would multiply the code of the kernel.
    (item.kernel, item.linkage, item.noinline) = (None, Linkage::Internal, true);
    let mut asked: Vec<Op> = Vec::new();
    let mut params: Vec<Value> = Vec::new();
    let mut renamed: FxHashMap<Value, Value> = FxHashMap::default();
    let entry = item.entry();
    for (inst, data) in kernel.insts_in_layout().filter(|(_, data)| is_asked(&data.op)) {
        let Some(result) = item.insts[inst].result else { continue };
        // Equal queries have one parameter.
        let at = asked.iter().position(|known| *known == data.op).unwrap_or_else(|| {
            let ty = item.ty(result);
            asked.push(data.op.clone());
            item.params.push(ty);
            params.push(item.add_block_param(entry, ty));
            params.len() - 1
        });
        renamed.insert(result, params[at]);
    }
    for block in item.layout.clone() {
        let insts = std::mem::take(&mut item.blocks[block].insts);
        item.blocks[block].insts = insts.into_iter().filter(|&i| !is_asked(&item.insts[i].op)).collect();
    }
    item.map_uses(|v| renamed.get(&v).copied().unwrap_or(v));
    (item, asked)
}
