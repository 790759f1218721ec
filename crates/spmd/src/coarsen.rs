//! Coarsening: neighbouring work-items joined into one, for targets whose work-items are threads.
//!
//! In comes a kernel; out comes a second kernel, one work-item of which does the work of [`Coarse::factor`] of them.
//! Kernels with barriers are the affair of [`groups`]. Of others, whose work-items read and write consecutive numbers,
//! neighbours along dimension 0 are joined, with one wide access in place of theirs. A thread of a GPU that moves 16
//! bytes at a time keeps four times as much of the memory's bandwidth busy as one that moves 4 (Volkov, "Better
//! Performance at Lower Occupancy", GTC 2010), so that a plain kernel gets what people write `float4` for.
//!
//! ```text
//! item(id)          b[id] = a[id] + 1
//! coarse(q)         v = load f32x4 &a[4·q];  store &b[4·q], (v.0 + 1, v.1 + 1, v.2 + 1, v.3 + 1)
//! ```
//!
//! The work-items are joined in lockstep: each instruction that varies becomes one for each of them before the next one
//! (unroll and jam). They have no order and share nothing but memory without races, so that no result depends on it.
//! A branch that varies is taken if all agree. If they do not, as at the edge of a guard `if (id < n)`, each runs by
//! itself, in a call of the function for one work-item; that is right only as long as none has stored anything, so
//! branches that vary come before all stores, and not in loops. So do comparisons of indices that may wrap.

mod check;
mod groups;
mod jam;
mod regions;

use crate::analysis::divergence;
use crate::passes::COARSEN;
use crate::remarks::{Remark, RemarkCode};
use crate::split::grouping::depends_on_groups;
use check::Ids;
use cloom_ir::abi::gpu::Joined;
use cloom_ir::{BinOp, Builder, Flags, FuncRef, Function, InstData, Linkage, Module, Op, Query, Span, Type, Value};
use cloom_passes::{PassManager, SELECT, select};
use jam::{Apart, Jam, Lanes};
use rustc_hash::FxHashMap;

/// Bytes of the widest access of a thread.
const WIDEST: u32 = 16;
/// Work-items that are joined at most.
const MAX_FACTOR: u32 = 4;
/// What the id of a work-item among its neighbours is.
const ID: Op = Op::Query { what: Query::GlobalId, dim: 0 };
/// Instructions of a kernel that is coarsened at most: beyond it arithmetic counts, and registers become scarce.
const MAX_SIZE: usize = 150;

/// A coarse kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Coarse {
    /// The kernel.
    pub func: FuncRef,
    /// The work-items of the original that one of it is.
    pub factor: u32,
    /// Which work-items these are.
    pub joined: Joined,
}

/// Why the work-items stay apart, and where that shows.
struct Unjoined {
    span: Span,
    why: &'static str,
}

impl Unjoined {
    fn new(why: &'static str) -> Unjoined {
        Unjoined { span: Span::NONE, why }
    }
}

/// Coarsens a kernel after the scalar passes, if that is profitable, and says why or why not. Global ids have at most
/// 31 bits.
pub fn coarsen(module: &mut Module, kernel: FuncRef, manager: &PassManager<'_>) -> (Option<Coarse>, Remark) {
    let made = manager.step(COARSEN, || {
        let made = match groups::has_barriers(&module.funcs[kernel]) {
            true => groups::attempt(module, kernel),
            false => attempt(module, kernel, manager),
        };
        (usize::from(made.is_ok()), made)
    });
    let made = made.unwrap_or(Err(Unjoined::new("the pass `coarsen` is switched off")));
    if let Ok(coarse) = &made {
        manager.made(module, coarse.func, COARSEN);
    }
    let code = RemarkCode::Coarse;
    match made {
        Ok(coarse) => {
            let what = format!("{} work-items are one thread", coarse.factor);
            let why = match coarse.joined {
                Joined::WorkItems => format!("their numbers follow each other: an access moves up to {WIDEST} bytes"),
                Joined::Groups { dim, .. } => {
                    format!("those of as many groups, along dimension {dim}: their loads do not wait for each other")
                }
            };
            (Some(coarse), Remark { code, span: Span::NONE, what, why })
        }
        Err(Unjoined { span, why }) => {
            (None, Remark { code, span, what: "a work-item is a thread".into(), why: why.into() })
        }
    }
}

fn attempt(module: &mut Module, kernel: FuncRef, manager: &PassManager<'_>) -> Result<Coarse, Unjoined> {
    let func = &module.funcs[kernel];
    if func.size() > MAX_SIZE {
        return Err(Unjoined::new("the kernel is large: what it computes takes longer than its accesses"));
    }
    if depends_on_groups(module, func) {
        return Err(Unjoined::new("it asks for its group, or shares something with it"));
    }
    if let Some((_, data)) = func.insts_in_layout().find(|(_, data)| !may_join(data)) {
        return Err(Unjoined { span: data.span, why: "this operation is each work-item's own" });
    }
    let (mut item, asked) = item_function(func, |op| matches!(op, Op::Query { .. }));
    // A branch over next to nothing, `x = x > max ? max : x`, would keep the work-items apart.
    manager.function(module, &mut item, SELECT.id, select::run_in_loop);
    let id = asked.iter().position(|op| *op == ID);
    let id = id.ok_or_else(|| Unjoined::new("it does not ask for the global id of dimension 0"))?;
    let id = item.param_values()[func.params.len() + id];
    // What varies by data alone tells which branches may be guards; then nothing may depend on any other branch.
    let by_data = divergence::between_agreeing_lanes(&item, &[id], &|_| true);
    let facts = |divergence| Ids { item: &item, id, kernel_params: func.params.len(), divergence };
    let guards = facts(&by_data).guards();
    let divergence = divergence::between_agreeing_lanes(&item, &[id], &|b| guards.contains(&b));
    let (accesses, unwrapped) = facts(&divergence).check(&guards)?;
    let bytes = accesses.values().filter(|a| a.is_consecutive).map(|a| a.bytes).max();
    let factor = bytes.map_or(0, |bytes| (WIDEST / bytes).min(MAX_FACTOR));
    if factor < 2 {
        return Err(Unjoined::new("no access is of consecutive numbers of up to 8 bytes"));
    }
    let mut coarse = Function::new(format!("{}.x{factor}", func.name), func.params.clone(), None);
    coarse.linkage = func.linkage;
    coarse.kernel.clone_from(&func.kernel);
    if let Some(meta) = &mut coarse.kernel {
        // Its groups are the launcher's to choose.
        meta.reqd_group_size = None;
    }
    let item_ref = module.funcs.push(item);
    let item = (&module.funcs[item_ref], Apart::Calls(item_ref));
    let jam = Jam::new(item, &divergence, (&accesses, &unwrapped), factor, coarse);
    let coarse = jam.run(|_, _, p| Lanes::from_elem(p, 1), &asked, |b, op| neighbours(b, op, factor));
    Ok(Coarse { func: module.funcs.push(coarse), factor, joined: Joined::WorkItems })
}

/// What the joined work-items query.
fn neighbours(b: &mut Builder<'_>, op: &Op, factor: u32) -> Lanes {
    let Op::Query { what, dim } = *op else { return Lanes::new() };
    let value = b.query(what, dim);
    match *op == ID {
        true => numbers_from(b, value, factor),
        false => Lanes::from_elem(value, 1),
    }
}

/// The numbers of the joined ones, of which `joined` is the number.
fn numbers_from(b: &mut Builder<'_>, joined: Value, factor: u32) -> Lanes {
    let times = b.iconst(Type::I64, factor.into());
    let first = b.binary_flags(BinOp::Mul, joined, times, Flags::NSW | Flags::NUW);
    let number = |k: u32| {
        let k = b.iconst(Type::I64, k.into());
        b.binary_flags(BinOp::Add, first, k, Flags::NSW | Flags::NUW)
    };
    (0..factor).map(number).collect()
}

/// Whether an instruction may be joined with those of the neighbours.
fn may_join(data: &InstData) -> bool {
    let is_plain = !data.flags.contains(Flags::VOLATILE);
    match data.op {
        Op::Load { .. } | Op::Store { .. } => is_plain,
        Op::Query { what, .. } => {
            matches!(what, Query::GlobalId | Query::GlobalSize | Query::GlobalOffset | Query::WorkDim)
        }
        Op::PureCall(_) | Op::GlobalAddr(_) => true,
        // Addresses of private memory differ between work-items in a way that nobody sees.
        Op::Alloca { .. } => false,
        ref op => op.is_pure(),
    }
}

/// The function of one work-item: what it asks for are parameters, after those of the kernel, in the order returned.
fn item_function(kernel: &Function, is_asked: impl Fn(&Op) -> bool) -> (Function, Vec<Op>) {
    let mut item = kernel.clone();
    item.name = format!("{}.item", kernel.name);
    (item.kernel, item.linkage, item.noinline) = (None, Linkage::Internal, true);
    let mut asked: Vec<Op> = Vec::new();
    let mut params: Vec<Value> = Vec::new();
    let mut renamed: FxHashMap<Value, Value> = FxHashMap::default();
    let entry = item.entry();
    for (inst, data) in kernel.insts_in_layout().filter(|(_, data)| is_asked(&data.op)) {
        let Some(result) = item.insts[inst].result else { continue };
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
