//! Joined groups, for kernels with barriers.
//!
//! In comes a kernel whose groups share local memory; out comes a second kernel, a group of which does the work of
//! several neighbours along a dimension: each work-item is that of the same local id in each of them. It has the local
//! memory of all, and a barrier is one barrier for all. (Block coarsening, of Ivanov et al., "Retargeting and
//! Respecializing GPU Workloads for Performance Portability", CGO 2024.)
//!
//! ```text
//! tile[l] = in[g·n + l]                 tile0[l] = in[4·q·n + l];  tile1[l] = in[(4·q + 1)·n + l];  …
//! barrier                               barrier
//! ```
//!
//! Where variables are all of the local memory, it is one variable for all groups. Where arguments say how much there
//! is, each has the same part of what the launch has, and finds it at run time.
//!
//! What it is for: the loads of the joined groups are under way together. A kernel that moves four bytes a work-item
//! keeps half of a GPU's bandwidth busy, and neither wide accesses nor loads of neighbours can be had where local ids
//! say what a work-item does.
//!
//! Whatever depends on local ids alone is the same for all joined groups: loops from a local id on, trees of
//! reductions. A branch that depends on the group, as at the edge of a picture, is taken if all agree; if they do not,
//! each goes its way to where they meet ([`super::regions`]). Groups have no order among them, so that no result
//! depends on it.

use super::jam::{Apart, Jam, Lanes};
use super::regions::{Region, region};
use super::{Coarse, MAX_FACTOR, MAX_SIZE, Unjoined, item_function, numbers_from};
use crate::analysis::divergence::{self, Divergence};
use crate::work::{executed, known_trips};
use cloom_ir::abi::BLOCK_ALIGN;
use cloom_ir::abi::gpu::Joined;
use cloom_ir::affine::{Affine, Facts};
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{
    BinOp, Block, Builder, Flags, FuncRef, Function, Global, GlobalLinkage, GlobalRef, InstData, Module, Op, ParamKind,
    Query, Space, Type, Value,
};
use rustc_hash::FxHashMap;

/// Bytes that a work-item loads which keeps as much of the bandwidth busy as several joined ones.
const ENOUGH: u64 = 12;

/// Iterations of a loop that is over soon.
const SHORT: u64 = 32;

/// Whether the work-items of a group wait for each other.
pub(super) fn has_barriers(func: &Function) -> bool {
    func.insts_in_layout().any(|(_, data)| data.op == Op::Barrier)
}

/// Joins groups of a kernel, or says why not.
pub(super) fn attempt(module: &mut Module, kernel: FuncRef) -> Result<Coarse, Unjoined> {
    let func = &module.funcs[kernel];
    if func.size() > MAX_SIZE {
        return Err(Unjoined::new("the kernel is large: what it computes takes longer than its accesses"));
    }
    if let Some((_, data)) = func.insts_in_layout().find(|(_, data)| !may_join(data)) {
        return Err(Unjoined { span: data.span, why: "this operation is each work-item's own, or its group's" });
    }
    let dim = dimension(func).ok_or_else(|| Unjoined::new("its groups all do the same"))?;
    let params = func.kernel.iter().flat_map(|kernel| &kernel.params).enumerate();
    let arguments: Vec<usize> = params.filter(|(_, p)| p.kind == ParamKind::Local).map(|(i, _)| i).collect();
    let locals = match arguments.is_empty() {
        true => Some(Locals::of(module, func).ok_or_else(|| Unjoined::new("its groups share no local memory"))?),
        false => None,
    };
    let is_local = |op: &Op| matches!(op, Op::GlobalAddr(g) if module.globals[*g].space == Space::Local);
    let (item, asked) = item_function(func, |op| matches!(op, Op::Query { .. }) || is_local(op));
    let params = item.param_values()[func.params.len()..].iter().zip(&asked);
    let varying = params.filter(|(_, op)| is_local(op) || is_of_group(op, dim)).map(|(&p, _)| p);
    let varying: Vec<Value> = varying.chain(arguments.iter().map(|&i| item.param_values()[i])).collect();
    let cfg = Cfg::new(&item);
    let loops = Loops::new(&item, &cfg, &DomTree::new(&item, &cfg));
    let affine = Affine::new(&item, &cfg, &loops, Facts::default());
    if bytes_loaded(&item, &loops, &affine) >= ENOUGH {
        return Err(Unjoined::new("each of its work-items has several loads, or wide ones, under way"));
    }
    if computes_from_tiles(&item, &loops, &affine) {
        return Err(Unjoined::new("its loops compute long from local memory: loads are not what takes the time"));
    }
    let (divergence, regions) = regions(&item, &cfg, varying)?;
    let factor = MAX_FACTOR;
    let mut coarse = Function::new(format!("{}.g{factor}", func.name), func.params.clone(), None);
    (coarse.linkage, coarse.kernel) = (func.linkage, func.kernel.clone());
    let local_size = locals.as_ref().map(|locals| locals.stride * u64::from(factor));
    let variables = locals.zip(local_size).map(|(locals, size)| {
        let memory = module.globals.push(Global {
            name: coarse.name.clone(),
            linkage: GlobalLinkage::Internal,
            space: Space::Local,
            size,
            align: BLOCK_ALIGN,
            init: Vec::new(),
            relocs: Vec::new(),
            place: None,
        });
        (memory, locals)
    });
    let joining = Joining { dim, factor, variables };
    let own = |b: &mut Builder<'_>, i: usize, p: Value| match arguments.contains(&i) {
        true => joining.copies(b, p),
        false => Lanes::from_elem(p, 1),
    };
    let nothing = (FxHashMap::default(), FxHashMap::default());
    let jam = Jam::new((&item, Apart::Copies(&regions)), &divergence, (&nothing.0, &nothing.1), factor, coarse);
    let coarse = jam.run(own, &asked, |b, op| joining.lanes(b, op));
    Ok(Coarse { func: module.funcs.push(coarse), factor, joined: Joined::Groups { dim, local_size } })
}

/// What varies among groups that differ in these values, and what is behind each branch that they may take differently.
///
/// Behind such a branch they go on together only if all took it the same way, so that nothing depends on it there. What
/// does is what the ways pass to the block where they meet.
fn regions(
    item: &Function,
    cfg: &Cfg,
    mut varying: Vec<Value>,
) -> Result<(Divergence, FxHashMap<Block, Region>), Unjoined> {
    let post = DomTree::post(item, cfg);
    let mut regions: FxHashMap<Block, Region> = FxHashMap::default();
    loop {
        let divergence = divergence::between_agreeing_lanes(item, &varying, &|_| true);
        let is_new = |b: &Block| divergence.is_divergent_branch(*b) && !regions.contains_key(b);
        let branches: Vec<Block> = cfg.rpo().iter().copied().filter(is_new).collect();
        if branches.is_empty() {
            return Ok((divergence, regions));
        }
        for b in branches {
            let region = region(item, cfg, &post, b);
            let region = region.map_err(|why| Unjoined { span: item.blocks[b].term_span, why })?;
            varying.extend(region.join.iter().flat_map(|&join| &item.blocks[join].params));
            regions.insert(b, region);
        }
    }
}

/// Whether an instruction may be joined with those of other groups.
fn may_join(data: &InstData) -> bool {
    match data.op {
        Op::Query { what: Query::LocalId | Query::GroupId | Query::NumGroups, .. } => true,
        Op::Query { what: Query::LocalSize | Query::EnqueuedLocalSize, .. } => true,
        Op::Barrier | Op::Fence { .. } => true,
        _ => super::may_join(data),
    }
}

/// Whether joined groups differ in what is asked for.
fn is_of_group(op: &Op, along: u8) -> bool {
    matches!(*op, Op::Query { what: Query::GlobalId | Query::GroupId, dim } if dim == along)
}

/// The dimension along which groups are joined: the last one whose ids are asked for. If all are, as by
/// `get_global_linear_id()`, it is the one that each range has.
fn dimension(func: &Function) -> Option<u8> {
    let is_asked = |dim: &u8| func.insts_in_layout().any(|(_, data)| is_of_group(&data.op, *dim));
    if (0..3).all(|dim| is_asked(&dim)) { Some(0) } else { (0..3).rev().find(is_asked) }
}

/// Bytes that a work-item loads from global memory at most, where loops of which that is not known iterate once.
fn bytes_loaded(func: &Function, loops: &Loops, affine: &Affine<'_>) -> u64 {
    let trips = |l| Some(known_trips(affine, l).unwrap_or(1));
    let bytes = |data: &InstData| match (&data.op, data.result) {
        (Op::Load { .. }, Some(v)) if func.ty(data.args[0]).space() == Some(Space::Global) => func.ty(v).bytes(),
        _ => 0,
    };
    executed(func, loops, trips, |b| func.blocks[b].insts.iter().map(|&i| u64::from(bytes(&func.insts[i]))).sum())
}

/// Whether there is a loop that reads local memory, and neither waits nor stores anything in global memory: it computes
/// from a tile, as a product of matrices does, which keeps a GPU as busy as it can be. Few iterations do not, as those
/// over the numbers of a small filter.
fn computes_from_tiles(func: &Function, loops: &Loops, affine: &Affine<'_>) -> bool {
    loops.loops.iter().enumerate().any(|(l, of)| {
        let ops = || of.blocks.iter().flat_map(|&b| &func.blocks[b].insts).map(|&i| &func.insts[i]);
        let accesses = |data: &InstData, space| func.ty(data.args[0]).space() == Some(space);
        let reads = |data: &InstData| matches!(data.op, Op::Load { .. }) && accesses(data, Space::Local);
        let stores = |data: &InstData| matches!(data.op, Op::Store { .. }) && accesses(data, Space::Global);
        let is_short = || of.parent.is_none() && known_trips(affine, l).is_some_and(|trips| trips <= SHORT);
        ops().any(reads) && !ops().any(|data| data.op == Op::Barrier || stores(data)) && !is_short()
    })
}

/// The local memory of one group, if variables are all of it.
struct Locals {
    at: FxHashMap<GlobalRef, u64>,
    /// Bytes from group to group.
    stride: u64,
}

impl Locals {
    /// None if there is none, or more than there can be.
    fn of(module: &Module, func: &Function) -> Option<Locals> {
        let (mut at, mut size) = (FxHashMap::default(), 0u64);
        for (_, data) in func.insts_in_layout() {
            let Op::GlobalAddr(g) = data.op else { continue };
            let global = &module.globals[g];
            if global.space == Space::Local && !at.contains_key(&g) {
                let begin = size.checked_next_multiple_of(global.align.max(1).into())?;
                at.insert(g, begin);
                size = begin.checked_add(global.size)?;
            }
        }
        let stride = size.checked_next_multiple_of(BLOCK_ALIGN.into())?;
        (!at.is_empty() && stride.checked_mul(MAX_FACTOR.into()).is_some()).then_some(Locals { at, stride })
    }
}

/// What the joined groups have in place of what a work-item asks for.
struct Joining {
    dim: u8,
    factor: u32,
    /// The local memory of all, and where variables lie in it. None if arguments say how much there is.
    variables: Option<(GlobalRef, Locals)>,
}

impl Joining {
    /// The addresses of what the first group has at this one, where the launch says how much local memory there is:
    /// each group has the same part of it.
    fn copies(&self, b: &mut Builder<'_>, first: Value) -> Lanes {
        let size = b.query(Query::LocalMemorySize, 0);
        let shift = b.iconst(Type::I64, self.factor.trailing_zeros().into());
        let stride = b.binary(BinOp::Lshr, size, shift);
        let of = |k: u32| {
            let k = b.iconst(Type::I64, k.into());
            let before = b.binary_flags(BinOp::Mul, stride, k, Flags::NSW | Flags::NUW);
            b.ptr_add(first, before)
        };
        (0..self.factor).map(of).collect()
    }

    fn lanes(&self, b: &mut Builder<'_>, op: &Op) -> Lanes {
        match *op {
            Op::GlobalAddr(g) => {
                let Some((memory, locals)) = &self.variables else {
                    let first = b.global_addr(g, Space::Local);
                    return self.copies(b, first);
                };
                let address = b.global_addr(*memory, Space::Local);
                let of = |k: u32| b.ptr_offset(address, locals.at[&g] + u64::from(k) * locals.stride);
                (0..self.factor).map(of).collect()
            }
            Op::Query { what, dim } if is_of_group(op, self.dim) => {
                let joined = b.query(Query::GroupId, dim);
                let groups = numbers_from(b, joined, self.factor);
                if what == Query::GroupId {
                    return groups;
                }
                let size = b.query(Query::LocalSize, dim);
                let (local, offset) = (b.query(Query::LocalId, dim), b.query(Query::GlobalOffset, dim));
                let in_group = b.binary_flags(BinOp::Add, offset, local, Flags::NSW | Flags::NUW);
                let id = |group| {
                    let before = b.binary_flags(BinOp::Mul, group, size, Flags::NSW | Flags::NUW);
                    b.binary_flags(BinOp::Add, before, in_group, Flags::NSW | Flags::NUW)
                };
                groups.into_iter().map(id).collect()
            }
            Op::Query { what, dim } => Lanes::from_elem(b.query(what, dim), 1),
            _ => Lanes::new(),
        }
    }
}
